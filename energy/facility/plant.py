"""Parameters of a cooling plant and its system, each a number or an array that broadcasts over hours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from energy.errors import FacilityError, did_you_mean

Numbers = NDArray[np.float64]
Value = float | Numbers

Chiller = Literal["water_cooled", "air_cooled", "direct_expansion", "none"]
Economiser = Literal["none", "airside", "waterside", "dry_cooler"]


@dataclass(frozen=True, slots=True)
class System:
    """Which machines a hall has: chiller, economiser, and whether dry outside air is moistened at constant enthalpy."""

    chiller: Chiller
    economiser: Economiser = "none"
    adiabatic: bool = False

    def __post_init__(self) -> None:
        """Refuse a combination that is none."""
        for name, value, known in (
            ("chiller", self.chiller, get_args(Chiller)),
            ("economiser", self.economiser, get_args(Economiser)),
        ):
            if value not in known:
                raise FacilityError(
                    f"Cooling: there is no {name} {value!r}: {', '.join(known)}.{did_you_mean(str(value), known)}"
                )
        if self.adiabatic and self.economiser != "airside":
            raise FacilityError("Cooling: adiabatic moistening needs the economiser airside.")
        if self.chiller == "none" and self.economiser in ("none", "airside"):
            raise FacilityError(
                f"Cooling: economiser {self.economiser!r} without a chiller leaves hours without cooling: "
                "name a chiller, or the economiser waterside or dry_cooler with a warm-water loop."
            )
        if self.chiller == "direct_expansion" and self.economiser in ("waterside", "dry_cooler"):
            raise FacilityError(
                f"Cooling: direct expansion has no chilled water for the economiser {self.economiser}: use "
                "airside or none."
            )

    @property
    def has_tower(self) -> bool:
        """Whether heat leaves by evaporation in a tower."""
        return self.chiller == "water_cooled" or self.economiser == "waterside"

    @property
    def needed(self) -> tuple[str, ...]:
        """Parameters of :class:`Plant` that this system reads."""
        names = ["sensible_heat_ratio", "air_rise_k", "supply_high_c", "air_fan_pressure_pa", "air_fan_efficiency"]
        if self.economiser == "airside":
            names += ["supply_low_c", "dew_point_low_c", "dew_point_high_c", "humidity_low", "humidity_high"]
        if self.chiller == "direct_expansion":
            names += ["supply_low_c"]
        else:
            names += ["chilled_water_rise_k", "chilled_pump_pressure_pa", "chilled_pump_efficiency"]
            names += ["humidifier_pump_pressure_pa", "humidifier_pump_efficiency"]
        if self.chiller != "none":
            names += ["cop_spread"]
        if self.chiller in ("water_cooled", "air_cooled"):
            names += ["chiller_part_load"]
        if self.has_tower:
            names += ["tower_range_k", "tower_approach_k", "tower_water_to_air", "tower_fan_pressure_pa"]
            names += ["tower_fan_efficiency", "tower_pump_pressure_pa", "tower_pump_efficiency"]
            names += ["drift_fraction", "cycles_of_concentration"]
        if self.economiser in ("waterside", "dry_cooler"):
            names += ["coil_effectiveness", "exchanger_approach_k", "economiser_pump_pressure_pa"]
            names += ["economiser_pump_efficiency"]
        if self.economiser == "dry_cooler":
            names += ["dry_cooler_approach_k", "dry_cooler_fan_fraction"]
        return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """Parameters of a plant; None where a system has no such part.

    Attributes
    ----------
    supply_low_c, supply_high_c : C
        Set points of the supply air; the chiller supplies at the upper one.
    dew_point_low_c, dew_point_high_c : C; humidity_low, humidity_high : fraction
        Window of the supply air's humidity.
    sensible_heat_ratio : fraction
        Sensible over all heat at the coil.
    air_rise_k, chilled_water_rise_k, tower_range_k : K
        Rise of the hall's air, of chilled water and of tower water.
    tower_approach_k, exchanger_approach_k, dry_cooler_approach_k : K
        Tower water over wet bulb, economiser water over tower water, dry cooler water over dry bulb.
    coil_effectiveness : fraction
        Of the coil from water to the hall's air.
    chiller_part_load : fraction
        Load of the running chillers over their rating.
    cop_spread : fraction
        Coefficient of performance over that of the fitted curve, less 1.
    tower_water_to_air : kg/kg
        Evaporated water over air of the tower.
    drift_fraction : fraction
        Droplets lost over tower water.
    cycles_of_concentration : ratio
        Salt in blow-down over that in make-up.
    fan_heat_fraction : fraction
        Of the air fans' power that ends as heat in the hall. The published cases leave it out: 0.
    fan_exponent, fan_floor : ratio
        Power against flow, and the lowest flow over the design flow.

    """

    supply_low_c: Value | None = None
    supply_high_c: Value | None = None
    dew_point_low_c: Value | None = None
    dew_point_high_c: Value | None = None
    humidity_low: Value | None = None
    humidity_high: Value | None = None
    sensible_heat_ratio: Value | None = None
    air_rise_k: Value | None = None
    chilled_water_rise_k: Value | None = None
    tower_range_k: Value | None = None
    air_fan_pressure_pa: Value | None = None
    air_fan_efficiency: Value | None = None
    tower_fan_pressure_pa: Value | None = None
    tower_fan_efficiency: Value | None = None
    humidifier_pump_pressure_pa: Value | None = None
    humidifier_pump_efficiency: Value | None = None
    chilled_pump_pressure_pa: Value | None = None
    chilled_pump_efficiency: Value | None = None
    tower_pump_pressure_pa: Value | None = None
    tower_pump_efficiency: Value | None = None
    economiser_pump_pressure_pa: Value | None = None
    economiser_pump_efficiency: Value | None = None
    tower_approach_k: Value | None = None
    exchanger_approach_k: Value | None = None
    dry_cooler_approach_k: Value | None = None
    dry_cooler_fan_fraction: Value | None = None
    chiller_part_load: Value | None = None
    tower_water_to_air: Value | None = None
    cop_spread: Value | None = None
    coil_effectiveness: Value | None = None
    drift_fraction: Value | None = None
    cycles_of_concentration: Value | None = None
    fan_heat_fraction: Value | None = None
    fan_exponent: Value | None = None
    fan_floor: Value | None = None

    def of(self, name: str) -> Numbers:
        """Return one parameter as an array.

        Raises
        ------
        FacilityError
            The plant does not state it.

        """
        value = getattr(self, name)
        if value is None:
            raise FacilityError(f"Cooling: the plant does not state {name}, which this system needs. Add it.")
        return np.asarray(value, dtype=np.float64)

    def changed(self, **values: Any) -> Plant:
        """Return the plant with other values of some parameters.

        Raises
        ------
        FacilityError
            There is no such parameter.

        """
        known = {field.name for field in fields(self)}
        for name in values:
            if name not in known:
                raise FacilityError(f"Cooling: there is no parameter {name!r}.{did_you_mean(name, known)}")
        return replace(self, **values)


# name or its end: (least, most); the first that fits holds
_BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("cop_spread", -0.95, 3.0),
    ("cycles_of_concentration", 1.01, 100.0),
    ("tower_water_to_air", 1e-4, 10.0),
    ("fan_exponent", 1.0, 3.5),
    ("sensible_heat_ratio", 0.05, 1.0),
    ("chiller_part_load", 0.01, 1.0),
    ("distribution_loss_fraction", 0.0, 0.9),
    ("_efficiency", 0.05, 1.0),
    ("_effectiveness", 0.05, 1.0),
    ("_fraction", 0.0, 1.0),
    ("_floor", 0.0, 1.0),
    ("humidity_low", 0.0, 1.0),
    ("humidity_high", 0.0, 1.0),
    ("_approach_k", 0.0, 50.0),
    ("_k", 0.1, 60.0),
    ("_pa", 0.0, 1e8),
    ("_c", -60.0, 100.0),
)


def check_bounds(values: Mapping[str, float], where: str) -> None:
    """Refuse stated figures that no plant has, such as percent for a fraction.

    Parameters
    ----------
    values : mapping of str to float
        Parameters by name, with unit as suffix.
    where : str
        For the message.

    Raises
    ------
    FacilityError
        A value lies outside its bounds, or is not finite.

    Examples
    --------
    >>> check_bounds({"ups_efficiency": 96.0}, "a hall")
    Traceback (most recent call last):
    ...
    energy.errors.FacilityError: a hall: ups_efficiency 96 lies outside 0.05 to 1. A fraction is not in percent.

    """
    for name, value in values.items():
        least, most = next((low, high) for end, low, high in _BOUNDS if name.endswith(end))
        if not least <= value <= most:
            hint = " A fraction is not in percent." if most == 1.0 and 1.0 < value <= 100.0 else ""
            raise FacilityError(f"{where}: {name} {value:g} lies outside {least:g} to {most:g}.{hint}")
