"""The modelled facility of a site of ``site.yaml``: its design, its weather, and words that say what it rests on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy.errors import EnergyError, FacilityError, SiteFileError, did_you_mean
from energy.importers.yaml_text import parse_yaml, read_text
from energy.resources import resource

if TYPE_CHECKING:
    from energy.facility.design import Design
    from energy.weather.year import WeatherYear

_FILE_NAME = "site.yaml"
_WORKED = "examples/facilities"


@dataclass(frozen=True, slots=True, eq=False)
class SiteFacility:
    """Design and weather of one site, and what they are called."""

    design: Design
    weather: WeatherYear
    design_words: str
    weather_words: str

    def source(self, *, own_weather: bool) -> str:
        """Return what an hour's figures rest on, in one line."""
        how = "of that very hour" if own_weather else "of the same month, day and hour"
        return f"modelled: {self.design_words}; weather {how} of {self.weather_words}"


def site_facility(site_id: str, facility: Any, weather: Any, folder: Path, where: str | None = None) -> SiteFacility:
    """Return the facility that a site names.

    Parameters
    ----------
    site_id : str
        For messages, and the design's name where none is given.
    facility : str or mapping
        A worked design, a file of the ledger's folder, or the keys of such a file.
    weather : str, mapping or None
        A place, or the keys of ``weather``; None: that of the design's own file.
    folder : Path
        What relative paths start from: the ledger's.
    where : str, optional
        What to call the place of the keys in messages; the site in ``site.yaml`` without it.

    Raises
    ------
    SiteFileError
        The design or the weather cannot be read; one line with the site.

    """
    where = f"{_FILE_NAME}: sites.{site_id}" if where is None else where
    values, of, base = _values(facility, where, folder)
    group, base_of_weather = _weather_group(values, weather, where, base, folder)
    design = _design(site_id, values, of, where)
    try:
        found = weather_of_site(group, where, base_of_weather)
    except EnergyError as error:
        raise _at(where, error) from None
    words = f"{design.case_id} at {float(design.it_load):g} of {design.rated_it_kw:g} kW (IT)"
    if isinstance(facility, str):
        words += f", from {of}{digest(base / of)}"
    return SiteFacility(design, found, words, weather_words(found, group, base_of_weather))


def weather_of_site(group: Any, where: str, folder: Path) -> WeatherYear:
    """Return the weather that a name of a place, or the keys of ``weather``, stand for.

    Raises
    ------
    FacilityError, WeatherError, UnknownNameError
        It cannot be read.

    """
    from energy.facility.description import weather_of

    keys = {"place": group} if isinstance(group, str) else group
    return weather_of({"weather": keys}, where, folder)


def weather_words(weather: WeatherYear, group: Any, folder: Path) -> str:
    """Return what a year of weather is, in words: place, kind, year, source."""
    year = f" {weather.start_utc[weather.hours // 2].astype('datetime64[Y]')}" if weather.kind == "historical" else ""
    file = group.get("file") if isinstance(group, Mapping) else None
    of_file = f"; {Path(str(file)).name}{digest(folder / Path(str(file)).expanduser())}" if file is not None else ""
    return f"{weather.place}, {weather.kind}{year} ({weather.source}{of_file})"


def digest(path: Path) -> str:
    """Return the beginning of a file's SHA-256 in brackets: which content was used."""
    return f" (sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:12]})"


def check_keys(where: str, site_id: str, facility: Mapping[str, Any], weather: Any) -> None:
    """Refuse keys of ``facility`` that cannot be read, before anything is built.

    Raises
    ------
    SiteFileError
        One line with the key.

    """
    _weather_group(facility, weather, where, Path(), Path())
    _design(site_id, facility, f"{where}.facility", where)


def _weather_group(values: Mapping[str, Any], weather: Any, where: str, base: Path, folder: Path) -> tuple[Any, Path]:
    """Return what names the weather, and what paths in it start from: a worked design's own may be replaced."""
    if weather is None and values.get("weather") is None:
        raise SiteFileError(f"{where}: facility needs weather: name a place, such as weather: Frankfurt, or a file.")
    if weather is not None and "weather" in values and base == folder:
        raise SiteFileError(f"{where}: weather stands in facility and beside it: give one.")
    return (values["weather"], base) if weather is None else (weather, folder)


def _design(site_id: str, values: Mapping[str, Any], of: str, where: str) -> Design:
    from energy.facility.description import design_of

    try:
        return design_of({"name": site_id, **values}, of)
    except EnergyError as error:
        raise _at(where, error) from None


def _at(where: str, error: EnergyError) -> SiteFileError:
    text = str(error)
    return SiteFileError(text if text.startswith(where) else f"{where}: {text}")


def _values(facility: Any, where: str, folder: Path) -> tuple[dict[str, Any], str, Path]:
    """Return the keys of a design, the name of where they stand, and what paths in them start from."""
    if not isinstance(facility, str):
        return dict(facility), f"{where}.facility", folder
    path = folder / facility
    if not path.is_file():
        worked = {one.stem: one for one in sorted(resource("datasets").joinpath(_WORKED).glob("*.yaml"))}
        if facility not in worked:
            raise SiteFileError(
                f"{where}.facility: {facility} is neither a file in the ledger's folder nor a worked design: "
                f"{', '.join(worked)}.{did_you_mean(facility, worked)}"
            )
        path = worked[facility]
    values = parse_yaml(read_text(path, FacilityError), path.name, FacilityError)
    if not isinstance(values, dict):
        raise SiteFileError(f"{where}.facility: {path.name} has no keys: see docs/facility.md.")
    return values, path.name, path.parent
