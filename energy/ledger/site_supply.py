"""Where the energy of each site comes from by hour: the grid, or own plants behind the meter, modelled or metered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import EnergyError, SiteFileError, SupplyError, did_you_mean
from energy.importers.yaml_text import parse_yaml, read_text
from energy.ledger.site_facility import digest, site_facility, weather_of_site, weather_words
from energy.ledger.site_file import FILE_NAME, Site, SiteFile
from energy.ledger.site_hours import Origin
from energy.ledger.site_meters import Metered, metered
from energy.ledger.tables import insert, instants

if TYPE_CHECKING:
    import duckdb

    from energy.supply.dispatch import Dispatch
    from energy.supply.specification import SupplyFile
    from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]
Hours = NDArray[np.datetime64]
PLANTS = ("name", "load", "weather", "photovoltaics", "wind", "battery")
_NO_PLANT = "no own plant is named in site.yaml: all energy is bought"
_LOAD = """
SELECT epoch_ms(line.hour_utc) // 3600000 AS hour_number,
    CAST(sum(CAST(line.energy_chip_kwh * line.node_overhead * site_hour.pue AS DECIMAL(38, 12))) AS DOUBLE) AS load_kwh,
    count(*) FILTER (line.energy_chip_kwh IS NULL) AS unknown
FROM core.energy_hour AS line
JOIN core.pue_hour AS site_hour ON site_hour.site_id = line.site_id AND site_hour.hour_utc = line.hour_utc
WHERE line.site_id = ?
GROUP BY 1
ORDER BY 1
"""


@dataclass(frozen=True, slots=True, eq=False)
class _Load:
    """The ledger's own energy at the meter by hour with energy, kWh, and whether all of it is known."""

    hours: Hours
    facility_kwh: Numbers
    is_known: NDArray[np.bool_]


def fill_supply_hours(
    connection: duckdb.DuckDBPyConnection, site_file: SiteFile, folder: Path, hours: Mapping[str, Hours]
) -> None:
    """Set for each site and hour with energy what share of it is bought from the grid.

    Parameters
    ----------
    connection : DuckDBPyConnection
        The version that is built; PUE by hour is there.
    site_file : SiteFile
    folder : Path
        The ledger's; files that a site names lie there.
    hours : mapping of site id to array of datetime64, shape (n,)
        Starts of UTC hours with energy.

    Raises
    ------
    SiteFileError
        Plants, weather or meter readings cannot be read, or the load of an hour is not known.

    """
    for site_id, of_site in hours.items():
        supply = site_file.sites[site_id].supply
        columns: dict[str, Any] = {"site_id": [site_id] * of_site.size, "hour_utc": instants(of_site)}
        if supply is None:
            share = np.ones(of_site.size)
            columns |= {"grid_share": share} | Origin(_NO_PLANT, "given").columns(of_site.size)
        else:
            try:
                columns |= _of_site(connection, site_id, site_file.sites[site_id], folder, of_site)
            except EnergyError as error:
                raise _at(site_id, error) from None
        insert(connection, "core.supply_hour", columns)


def _at(site_id: str, error: EnergyError) -> SiteFileError:
    where, text = f"{FILE_NAME}: sites.{site_id}", str(error)
    return SiteFileError(text if text.startswith(where) else f"{where}: {text}")


def _of_site(
    connection: duckdb.DuckDBPyConnection, site_id: str, site: Site, folder: Path, hours: Hours
) -> dict[str, Any]:
    """Return the columns of one site that names ``supply``."""
    keys, words = _keys(site_id, site.supply, folder)
    if "metered" in keys:
        found = metered(keys["metered"], f"{FILE_NAME}: sites.{site_id}.supply.metered", folder, hours)
        return _metered_columns(found, hours.size)
    asked = _asked(site_id, keys)
    stated_kw = asked.load.constant if "load" in keys else None
    spanned = np.arange(hours[0], hours[-1] + 1)
    at_meter = _at_meter(_load(connection, site_id), spanned, stated_kw, has_battery=asked.battery is not None)
    weather, of_weather = _weather(site_id, site, asked, folder)
    generation, notes = _generation(asked, weather, spanned, folder)
    dispatch = _dispatch(asked, at_meter, generation)
    rows = np.searchsorted(spanned, hours)
    own = np.zeros(hours.size, dtype=bool) if weather is None else weather.has(hours)
    sources = {flag: _source(asked, stated_kw, words, of_weather, own_weather=flag) for flag in (True, False)}
    return _flows(dispatch, rows) | Origin([sources[flag] for flag in own.tolist()], "estimate", notes).columns(
        own.size
    )


def _flows(dispatch: Dispatch, rows: NDArray[np.int64]) -> dict[str, Numbers]:
    load, grid = dispatch.load_facility_kwh[0, rows], dispatch.grid_facility_kwh[0, rows]
    return {
        "load_facility_kwh": load,
        "generation_facility_kwh": dispatch.generation_facility_kwh[0, rows],
        "self_consumed_facility_kwh": load - grid,
        "grid_facility_kwh": grid,
        "excess_facility_kwh": dispatch.excess_facility_kwh[0, rows],
        "grid_share": grid_share(grid, load),
    }


def grid_share(grid_facility_kwh: Numbers, load_facility_kwh: Numbers) -> Numbers:
    """Return the share of a site's energy that is bought, by hour.

    Parameters
    ----------
    grid_facility_kwh, load_facility_kwh : array, shape (n,), kWh_facility

    Returns
    -------
    array, shape (n,), fraction
        1 where the site takes nothing: nothing of it comes from own plants.

    Examples
    --------
    >>> grid_share(np.array([30.0, 0.0]), np.array([40.0, 0.0])).tolist()
    [0.75, 1.0]

    """
    share: Numbers = np.divide(
        grid_facility_kwh, load_facility_kwh, out=np.ones(load_facility_kwh.size), where=load_facility_kwh > 0.0
    )
    return share


def _metered_columns(found: Metered, size: int) -> dict[str, Any]:
    load = found.grid_facility_kwh + found.self_consumed_facility_kwh
    columns = {
        "load_facility_kwh": load,
        "generation_facility_kwh": found.generation_facility_kwh,
        "self_consumed_facility_kwh": found.self_consumed_facility_kwh,
        "grid_facility_kwh": found.grid_facility_kwh,
        "excess_facility_kwh": found.excess_facility_kwh,
        "grid_share": grid_share(found.grid_facility_kwh, load),
    }
    known = {name: values for name, values in columns.items() if values is not None}
    return known | Origin(found.source, "given").columns(size)


def _keys(site_id: str, supply: Any, folder: Path) -> tuple[dict[str, Any], str]:
    """Return the keys of ``supply``, and the file that they were read from in words."""
    where = f"{FILE_NAME}: sites.{site_id}.supply"
    words = ""
    if isinstance(supply, str):
        path = folder / supply
        if not path.is_file():
            raise SiteFileError(f"{where}: {supply} is no file in the ledger's folder: put it there, or write keys.")
        supply, words = (
            parse_yaml(read_text(path, SupplyError), path.name, SupplyError),
            f", from {supply}{digest(path)}",
        )
    if not isinstance(supply, dict):
        raise SiteFileError(f"{where}: give keys with their values, such as photovoltaics or metered.")
    known = (*PLANTS, "metered")
    for key in supply:
        if key in ("grid", "dispatch", "shifting", "generators"):
            raise SiteFileError(
                f"{where}: {key} has no effect here: a ledger counts what ran, by the greedy rule of the battery. "
                "Leave it out, or ask `energy supply`."
            )
        if key not in known:
            raise SiteFileError(f"{where}: {key}: no such key.{did_you_mean(str(key), known)}")
    if "metered" in supply and len(supply) > 1:
        other = next(key for key in supply if key != "metered")
        raise SiteFileError(f"{where}: metered and {other}: what was metered is not modelled besides. Give one.")
    if not {"photovoltaics", "wind", "metered"} & set(supply):
        raise SiteFileError(f"{where}: no plant: name photovoltaics, wind or metered.")
    return supply, words


def _asked(site_id: str, keys: Mapping[str, Any]) -> SupplyFile:
    """Return the checked keys; where ``load`` is not among them, the one here is not used."""
    from energy.supply.specification import supply_file

    where = f"{FILE_NAME}: sites.{site_id}.supply"
    asked = supply_file({"load": "0 kW", **keys}, where)
    if asked.load.constant is None:
        raise SiteFileError(f"{where}: load from a file has no times: give one value, or leave it out.")
    if asked.wind is not None and asked.wind.profile is not None and asked.wind.profile.constant is None:
        raise SiteFileError(f"{where}: wind.profile from a file has no times: give metered readings instead.")
    return asked


def _load(connection: duckdb.DuckDBPyConnection, site_id: str) -> _Load:
    found = connection.execute(_LOAD, [site_id]).fetchnumpy()
    values = np.ma.filled(np.ma.asarray(found["load_kwh"], dtype=np.float64), 0.0)  # no part known: is_known says so
    return _Load(found["hour_number"].astype("datetime64[h]"), values, found["unknown"] == 0)


def _at_meter(load: _Load, spanned: Hours, stated_kw: float | None, *, has_battery: bool) -> Numbers:
    """Return what the site takes in each hour of the span.

    Raises
    ------
    SupplyError
        It is not known, or what is stated is less than the ledger's own energy.
    """
    if stated_kw is not None:
        over = load.facility_kwh > stated_kw * (1.0 + 1e-9)
        if over.any():
            raise SupplyError(
                f"supply.load of {stated_kw:g} kW is less than the ledger's own energy of the site, "
                f"{load.facility_kwh[over][0]:g} kWh in the hour {load.hours[over][0]}Z: it is the whole site's load."
            )
        return np.full(spanned.size, stated_kw)
    unknown = load.hours[~load.is_known]
    if unknown.size:
        raise SupplyError(
            f"supply: the load is not known in {unknown.size} h (first {unknown[0]}Z), since the energy of some chips "
            "is not: state supply.load."
        )
    gaps = np.setdiff1d(spanned, load.hours)
    if gaps.size and has_battery:
        raise SupplyError(
            f"supply: the ledger has no energy of the site in {gaps.size} h (first {gaps[0]}Z), and what a battery "
            "holds depends on all hours before: state supply.load."
        )
    at_meter = np.zeros(spanned.size)  # without a battery no hour depends on those without energy, which have no row
    at_meter[np.searchsorted(spanned, load.hours)] = load.facility_kwh
    return at_meter


def _weather(site_id: str, site: Site, asked: SupplyFile, folder: Path) -> tuple[WeatherYear | None, str]:
    """Return the weather of the plants and what it is called: of supply, else of the site, else of its facility."""
    from energy.supply.site_supply import weather_of_file

    if asked.photovoltaics is None and (asked.wind is None or asked.wind.profile is not None):
        return None, ""
    where = f"{FILE_NAME}: sites.{site_id}"
    found = weather_of_file(asked, folder)
    if found is not None and asked.weather is not None:
        return found, weather_words(found, {"file": asked.weather.file} if asked.weather.file else None, folder)
    if site.weather is not None:
        found = weather_of_site(site.weather, where, folder)
        return found, weather_words(found, site.weather, folder)
    if site.facility is not None:
        of_facility = site_facility(site_id, site.facility, site.weather, folder)
        return of_facility.weather, of_facility.weather_words
    raise SupplyError("supply: plants need weather: name a place, such as weather: Frankfurt, or a file.")


def _generation(
    asked: SupplyFile, weather: WeatherYear | None, spanned: Hours, folder: Path
) -> tuple[Numbers, str | None]:
    from energy.supply.site_supply import plants

    found = plants(asked, None if weather is None else weather.at(spanned), spanned.size, folder)
    return found.generation_facility_kwh, "; ".join(found.notes) or None


def _dispatch(asked: SupplyFile, load: Numbers, generation: Numbers) -> Dispatch:
    from energy.supply.dispatch import greedy
    from energy.supply.site_supply import battery_of

    return greedy(load, generation, [battery_of(asked)]).checked()


def _source(asked: SupplyFile, stated_kw: float | None, words: str, of_weather: str, *, own_weather: bool) -> str:
    """Return what the flows of an hour rest on, in one line."""
    parts = []
    if asked.photovoltaics is not None:
        parts.append(f"photovoltaics {asked.photovoltaics.capacity:g} kW {asked.photovoltaics.mounting}")
    if asked.wind is not None:
        parts.append(f"wind {asked.wind.capacity:g} kW")
    if asked.battery is not None:
        parts.append(f"battery {asked.battery.capacity:g} kWh by the greedy rule")
    load = "the ledger's own energy" if stated_kw is None else f"load {stated_kw:g} kW"
    how = "that very hour" if own_weather else "the same month, day and hour"
    weather = f"; weather of {how} of {of_weather}" if of_weather else ""
    return f"modelled: {', '.join(parts)}, {load}{words}{weather}"
