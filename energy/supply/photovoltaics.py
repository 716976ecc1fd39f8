"""Photovoltaics: an hourly year of power from a year of weather, by the chain of PVWatts, with its closure checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError, did_you_mean
from energy.supply.cell_temperature import fuentes_c, sandia_c
from energy.supply.irradiance import Irradiance, Source, irradiance_of
from energy.weather.year import WeatherYear

Numbers = NDArray[np.float64]
Mounting = Literal["open rack", "roof", "single axis"]
Module = Literal["standard", "premium", "thin film"]
CellModel = Literal["fuentes", "sandia"]

#: Heat above the air at the nominal point, as PVWatts has it (pvlib.temperature.fuentes names the same).
_NOCT_C: Mapping[str, float] = MappingProxyType({"open rack": 45.0, "roof": 49.0, "single axis": 45.0})
#: Power lost per kelvin, and the index of an anti-reflective coating. Standard is confirmed by PVWatts' own hours, the
#: others are recalled from the manual of its version 5, and a note says so.
_MODULES: Mapping[str, tuple[float, float | None]] = MappingProxyType(
    {"standard": (-0.0047, None), "premium": (-0.0035, 1.3), "thin film": (-0.0020, None)}
)
PVWATTS_LOSSES = 0.1408
_PARTS_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PhotovoltaicSystem:
    """One array with its inverter.

    Attributes
    ----------
    capacity_dc_kw : float, kW
        Of the modules at 1000 W/m2 and 25 C.
    mounting : open rack, roof or single axis
    tilt_deg : float
        Of a fixed array; of the axis of a tracker, 0 for most.
    azimuth_deg : float
        Where a fixed array faces, clockwise from north: 180 is south; direction of a tracker's axis.
    dc_ac_ratio : float
        Capacity over the inverter's rated output.
    inverter_efficiency : float
        At full load.
    losses : float
        Soiling, shading, wiring, mismatch and the rest as one share of the DC power. 0.1408 is PVWatts' own.
    module : standard, premium or thin film
    cell_model : fuentes or sandia
        Of the cell's temperature: that of PVWatts, or that of Sandia for glass and polymer on an open rack.
    albedo : float
        Of the ground.
    maximum_rotation_deg, ground_cover : float
        Of a tracker, which turns back to avoid shade.
    """

    capacity_dc_kw: float
    mounting: Mounting
    tilt_deg: float
    azimuth_deg: float
    dc_ac_ratio: float = 1.2
    inverter_efficiency: float = 0.96
    losses: float = PVWATTS_LOSSES
    module: Module = "standard"
    cell_model: CellModel = "fuentes"
    albedo: float = 0.2
    maximum_rotation_deg: float = 45.0
    ground_cover: float = 0.4

    def __post_init__(self) -> None:
        words = {"mounting": get_args(Mounting), "module": get_args(Module), "cell_model": get_args(CellModel)}
        for name, kinds in words.items():
            if (word := getattr(self, name)) not in kinds:
                raise SupplyError(f"The {name} {word!r} is none of {', '.join(kinds)}.{did_you_mean(word, kinds)}")
        limits = {
            "capacity_dc_kw": (1e-6, 1e9),
            "tilt_deg": (0.0, 90.0),
            "azimuth_deg": (0.0, 360.0),
            "dc_ac_ratio": (0.1, 10.0),
            "inverter_efficiency": (0.5, 1.0),
            "losses": (0.0, 0.99),
            "albedo": (0.0, 1.0),
            "maximum_rotation_deg": (0.0, 90.0),
            "ground_cover": (0.01, 1.0),
        }
        for name, (least, most) in limits.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise SupplyError(f"Photovoltaics: {name} is {value:g}; it lies from {least:g} to {most:g}.")


@dataclass(frozen=True, slots=True, eq=False)
class PhotovoltaicYear:
    """Power of one array hour by hour.

    Attributes
    ----------
    start_utc : array of datetime64, shape (n,)
    power_facility_kw : array, shape (n,), kW
        Mean of the hour at the AC side, which is also kWh of the hour; NaN where the weather lacks a value.
    power_dc_kw : array, shape (n,), kW
        After the losses, before the inverter.
    plane_w_per_m2, cell_c : array, shape (n,), W/m2 and C
    energy_parts_kwh : mapping of str to float
        Where the sun's energy went, at the efficiency of the modules under test conditions: reflection, temperature,
        losses, conversion, clipping, delivered. They add up to ``plane``.
    plane_parts_kwh_per_m2 : mapping of str to float
        Beam, sky, ground.
    is_upper_bound : bool
        The sun of a sky without clouds: never a forecast.
    missing_h : int
        Hours without power for want of weather.
    source : measured, from global, from clouds or clear sky
        What the irradiance rests on.
    notes : tuple of str
    """

    start_utc: NDArray[np.datetime64]
    power_facility_kw: Numbers
    power_dc_kw: Numbers
    plane_w_per_m2: Numbers
    cell_c: Numbers
    energy_parts_kwh: Mapping[str, float]
    plane_parts_kwh_per_m2: Mapping[str, float]
    is_upper_bound: bool
    missing_h: int
    source: Source
    notes: tuple[str, ...]

    @property
    def energy_facility_kwh(self) -> float:
        """Energy of the hours that have weather."""
        return float(np.nansum(self.power_facility_kw))


def photovoltaic_year(weather: WeatherYear, system: PhotovoltaicSystem, *, clear_sky: bool = False) -> PhotovoltaicYear:
    """Return the hourly power of one array: see :func:`photovoltaic_years`."""
    return photovoltaic_years([weather], [system], clear_sky=clear_sky)[0]


def photovoltaic_years(
    weathers: Sequence[WeatherYear], systems: Sequence[PhotovoltaicSystem], *, clear_sky: bool = False
) -> list[PhotovoltaicYear]:
    """Return the hourly power of arrays, each under its own weather, all hours with sun at once.

    Parameters
    ----------
    weathers : sequence of WeatherYear
        With place. Irradiance is taken as it is; global alone is split by Erbs, clouds alone make a rough one.
    systems : sequence of PhotovoltaicSystem
        As many.
    clear_sky : bool
        The sun of a sky without clouds instead: an upper bound.

    Returns
    -------
    list of PhotovoltaicYear

    Raises
    ------
    SupplyError
        A place or the irradiance is not known; beam, diffuse and global do not fit the sun, which tells of a wrong time
        zone or interval; or an hour came out as no number.

    Notes
    -----
    Sun in the middle of the hour (of its part with sun). Sky: Perez 1990. Ground: isotropic. Reflection of the beam:
    Fresnel and glass (physical). Cells: Fuentes. DC: P = P0 G/1000 (1 + gamma (T - 25)) (1 - losses). Inverter:
    PVWatts. Against PVWatts' own hours: ``energy validate pv``. The functions of pvlib are called with the hours that
    have sun only, since below the horizon some answer NaN, which others make zero.

    """
    if len(weathers) != len(systems) or not systems:
        raise SupplyError(f"There are {len(weathers)} years of weather for {len(systems)} systems: one each is needed.")
    light = irradiance_of(weathers, clear_sky=clear_sky)
    counts = [int(span.stop - span.start) for span in light.spans]

    def each(values: Sequence[float]) -> Numbers:
        return np.repeat(np.array(values, dtype=np.float64), counts)

    plane = _on_plane(light, systems, each)
    total = plane["beam"] + plane["sky"] + plane["ground"]
    cell = _cell_c(light, total, systems, each)
    steps = _power(plane, total, cell, systems, each)
    if light.lit.size and not all(np.isfinite(part).all() for part in steps.values()):
        raise SupplyError(
            "Photovoltaics: an hour with sun and weather came out as no number; report the place and hour."
        )
    return [
        _year(weather, system, light, index, {**steps, "cell": cell, **plane, "total": total})
        for index, (weather, system) in enumerate(zip(weathers, systems, strict=True))
    ]


def _on_plane(light: Irradiance, systems: Sequence[PhotovoltaicSystem], each: Any) -> dict[str, Numbers]:
    """Return beam, sky and ground irradiance on the modules in W/m2, and the share of the beam that passes the glass.

    Perez is 0 / 0 where there is no diffuse light: there is none from the sky then.
    """
    from pvlib import atmosphere, iam, irradiance

    tilt, azimuth = _orientation(light, systems, each)
    incidence = irradiance.aoi(tilt, azimuth, light.zenith_deg, light.azimuth_deg)
    mass = atmosphere.get_relative_airmass(light.zenith_deg)
    sky = irradiance.perez(
        tilt, azimuth, light.diffuse, light.beam, light.extraterrestrial, light.zenith_deg, light.azimuth_deg, mass
    )
    sky = np.where(light.diffuse > 0.0, sky, 0.0)
    passed = iam.physical(incidence, n=1.526, K=4.0, L=0.002)
    coated = np.array([_MODULES[one.module][1] is not None for one in systems])
    if coated.any():
        with_coat = iam.physical(incidence, n=1.526, K=4.0, L=0.002, n_ar=_MODULES["premium"][1])
        passed = np.where(each(coated) > 0.0, with_coat, passed)
    ground = irradiance.get_ground_diffuse(tilt, light.horizontal, each([one.albedo for one in systems]))
    beam = light.beam * np.maximum(np.cos(np.radians(incidence)), 0.0)
    return {"beam": beam, "sky": sky, "ground": ground, "passed": np.where(beam > 0.0, passed, 0.0)}


def _cell_c(light: Irradiance, total: Numbers, systems: Sequence[PhotovoltaicSystem], each: Any) -> Numbers:
    """Return the temperature of the cells."""
    before = np.where(light.before >= 0, total[light.before], 0.0) if total.size else total
    noct = each([_NOCT_C[one.mounting] for one in systems])
    air = (light.dry_bulb_c, light.dry_bulb_before_c, light.wind_m_per_s)
    cell = fuentes_c(total, before, *air, light.before, noct)
    for span, one in zip(light.spans, systems, strict=True):
        if one.cell_model == "sandia":
            cell[span] = sandia_c(total[span], light.dry_bulb_c[span], light.wind_m_per_s[span])
    return cell


def _orientation(light: Irradiance, systems: Sequence[PhotovoltaicSystem], each: Any) -> tuple[Numbers, Numbers]:
    """Return tilt and azimuth of the modules in each hour."""
    from pvlib import tracking

    tilt, azimuth = each([one.tilt_deg for one in systems]), each([one.azimuth_deg for one in systems])
    for index, one in enumerate(systems):
        span = light.spans[index]
        if one.mounting == "single axis" and span.stop > span.start:
            turned = tracking.singleaxis(
                light.zenith_deg[span],
                light.azimuth_deg[span],
                axis_tilt=one.tilt_deg,
                axis_azimuth=one.azimuth_deg,
                max_angle=one.maximum_rotation_deg,
                backtrack=True,
                gcr=one.ground_cover,
            )
            # no answer is given where the sun is at the horizon: the tracker rests flat there
            flat = np.isnan(turned["surface_tilt"])
            tilt[span] = np.where(flat, one.tilt_deg, turned["surface_tilt"])
            azimuth[span] = np.where(flat, one.azimuth_deg, turned["surface_azimuth"])
    return tilt, azimuth


def _power(
    plane: Mapping[str, Numbers], total: Numbers, cell: Numbers, systems: Sequence[PhotovoltaicSystem], each: Any
) -> dict[str, Numbers]:
    """Return power of each step in kW."""
    from pvlib import inverter, pvsystem

    capacity = each([one.capacity_dc_kw for one in systems])
    gamma = each([_MODULES[one.module][0] for one in systems])
    effective = plane["beam"] * plane["passed"] + plane["sky"] + plane["ground"]
    at_cell = pvsystem.pvwatts_dc(effective, cell, capacity, gamma)
    direct = at_cell * (1.0 - each([one.losses for one in systems]))
    efficiency = each([one.inverter_efficiency for one in systems])
    rated = capacity / each([one.dc_ac_ratio for one in systems])
    alternating = inverter.pvwatts(direct, rated / efficiency, efficiency)
    unclipped = _unclipped(direct, rated / efficiency, efficiency)
    return {
        "plane_kw": capacity * total / 1000.0,
        "effective_kw": capacity * effective / 1000.0,
        "cell_kw": at_cell,
        "direct_kw": direct,
        "unclipped_kw": np.maximum(unclipped, alternating),
        "alternating_kw": alternating,
    }


def _unclipped(direct: Numbers, rated_dc: Numbers, efficiency: Numbers) -> Numbers:
    """Return what the inverter would give without its limit, by the same curve (PVWatts version 5)."""
    load = direct / rated_dc
    share = np.divide(0.0059, load, out=np.zeros_like(load), where=load > 0.0)
    curve = efficiency / 0.9637 * (-0.0162 * load - share + 0.9858)
    return np.maximum(curve * direct, 0.0)


def _year(
    weather: WeatherYear, system: PhotovoltaicSystem, light: Irradiance, index: int, found: Mapping[str, Numbers]
) -> PhotovoltaicYear:
    """Return one place's year, its parts added up and checked."""
    span, missing = light.spans[index], light.missing[index]
    at = light.lit[span]

    def spread(name: str, dark: Numbers) -> Numbers:
        whole = np.where(missing, np.nan, dark)
        whole[at] = found[name][span]
        return whole

    dark = np.zeros(weather.hours)
    sums = {name: float(found[name][span].sum()) for name in found if name.endswith("_kw")}
    parts = {
        "plane": sums["plane_kw"],
        "reflection": sums["plane_kw"] - sums["effective_kw"],
        "temperature": sums["effective_kw"] - sums["cell_kw"],
        "losses": sums["cell_kw"] - sums["direct_kw"],
        "conversion": sums["direct_kw"] - sums["unclipped_kw"],
        "clipping": sums["unclipped_kw"] - sums["alternating_kw"],
        "delivered": sums["alternating_kw"],
    }
    power = spread("alternating_kw", dark)
    if abs(float(np.nansum(power)) - parts["delivered"]) > _PARTS_TOLERANCE * max(parts["plane"], 1.0):
        raise SupplyError(f"Photovoltaics at {weather.place}: hours and parts of the year differ; report it.")
    return PhotovoltaicYear(
        start_utc=weather.start_utc,
        power_facility_kw=power,
        power_dc_kw=spread("direct_kw", dark),
        plane_w_per_m2=spread("total", dark),
        cell_c=spread("cell", weather.dry_bulb_c),
        energy_parts_kwh=MappingProxyType(parts),
        plane_parts_kwh_per_m2=MappingProxyType(
            {name: float(found[name][span].sum()) / 1000.0 for name in ("beam", "sky", "ground")}
        ),
        is_upper_bound=light.sources[index] == "clear sky",
        missing_h=int(np.count_nonzero(missing)),
        source=light.sources[index],
        notes=(*light.notes[index], *_notes_of(system)),
    )


def _notes_of(system: PhotovoltaicSystem) -> tuple[str, ...]:
    losses = f"system losses of {system.losses:.2%} of the DC power are in the figure"
    if system.module == "standard":
        return (losses,)
    return losses, f"temperature coefficient and coating of a {system.module} module are recalled, unverified"
