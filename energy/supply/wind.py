"""Wind power from the speed at a measuring mast and a turbine's power curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.errors import SupplyError
from energy.units import takes

Numbers = NDArray[np.float64]
_STANDARD_DENSITY_KG_PER_M3 = 1.225
_GAS_CONSTANT_J_PER_KG_K = 287.05


@dataclass(frozen=True, slots=True, eq=False)
class PowerCurve:
    """Power of a turbine over its rated power by wind speed at the hub, in air of 1.225 kg/m3.

    Attributes
    ----------
    speed_m_per_s : array, shape (n,)
        Rising; below the first the turbine stands, above the last it is cut out.
    share : array, shape (n,), fraction
    source : str
        Who says so.
    """

    speed_m_per_s: Numbers
    share: Numbers
    source: str

    def __post_init__(self) -> None:
        speed, share = self.speed_m_per_s, self.share
        if speed.shape != share.shape or speed.ndim != 1 or speed.size < 2 or not np.all(np.diff(speed) > 0.0):
            raise SupplyError("A power curve needs two or more rising speeds and as many shares.")
        if not np.all((share >= 0.0) & (share <= 1.0)):
            raise SupplyError("The shares of a power curve lie from 0 to 1: divide by the rated power.")


def cubic_curve(cut_in_m_per_s: float, rated_m_per_s: float, cut_out_m_per_s: float) -> PowerCurve:
    """Return a curve that rises with the cube of the speed, where the maker's is not known.

    Parameters
    ----------
    cut_in_m_per_s, rated_m_per_s, cut_out_m_per_s : float, m/s

    Returns
    -------
    PowerCurve

    Raises
    ------
    SupplyError
        The speeds do not rise.

    Notes
    -----
    share = (v3 - in3) / (rated3 - in3) between cut-in and rated speed, 1 up to cut-out: a textbook form (recalled), an
    estimate of any one turbine.

    Examples
    --------
    >>> curve = cubic_curve(3.0, 12.0, 25.0)
    >>> float(curve.share[0]), float(curve.share[-1])
    (0.0, 1.0)

    """
    if not 0.0 <= cut_in_m_per_s < rated_m_per_s < cut_out_m_per_s:
        raise SupplyError(
            f"Wind: cut-in {cut_in_m_per_s:g}, rated {rated_m_per_s:g} and cut-out {cut_out_m_per_s:g} m/s must rise."
        )
    rising = np.linspace(cut_in_m_per_s, rated_m_per_s, 91)
    share = (rising**3 - cut_in_m_per_s**3) / (rated_m_per_s**3 - cut_in_m_per_s**3)
    return PowerCurve(np.append(rising, cut_out_m_per_s), np.append(share, 1.0), "cubic form (recalled): an estimate")


@takes(
    "kW_facility",
    capacity="kW_facility",
    wind_speed="m/s",
    measured_height="m",
    hub_height="m",
    dry_bulb="degC",
    pressure="Pa",
)
def wind_power(
    capacity: Any,
    wind_speed: Any,
    measured_height: Any,
    hub_height: Any,
    shear_exponent: Any,
    curve: PowerCurve,
    dry_bulb: Any = None,
    pressure: Any = None,
    losses: Any = 0.0,
) -> Any:
    """Return the power of turbines from the wind at a mast.

    Parameters
    ----------
    capacity : Quantity, kW_facility
        Rated power of all turbines.
    wind_speed : Quantity, array of shape (n,), m/s
    measured_height, hub_height : Quantity, m
        10 m is the height of weather files.
    shear_exponent : float
        0.143 over open land is the textbook's (recalled); 0.1 at sea, 0.25 over forest.
    curve : PowerCurve
    dry_bulb, pressure : Quantity, degC and Pa, optional
        With both the speed is restated for the air's density.
    losses : float, fraction
        Wake, availability, wiring.

    Returns
    -------
    Quantity, array of shape (n,), kW_facility
        NaN where the wind is not known.

    Raises
    ------
    UnitError
        An argument has another dimension.
    SupplyError
        A height or the losses make no sense, or a speed is below zero.

    Notes
    -----
    v_hub = v (z_hub / z)^a; v' = v_hub (rho / 1.225)^(1/3), as IEC 61400-12-1 restates speeds (recalled). Hourly mean
    speeds leave out gusts: the curve of a mean is not the mean of the curve, a few percent of a year.

    Examples
    --------
    >>> from energy.units import quantity
    >>> mast, hub = quantity(10.0, "m"), quantity(100.0, "m")
    >>> speed = quantity(np.array([0.0, 10.0, 40.0]), "m/s")
    >>> print(wind_power(quantity(1000.0, "kW_facility"), speed, mast, hub, 0.143, cubic_curve(3.0, 12.0, 25.0)))
    [0.0 1000.0 0.0] kW_facility

    """
    speed = np.asarray(wind_speed, dtype=np.float64)
    if not (measured_height > 0.0 and hub_height > 0.0 and 0.0 <= losses < 1.0):
        raise SupplyError(
            f"Wind: heights of {measured_height:g} and {hub_height:g} m must be over 0, losses of {losses:g} from 0 to "
            "below 1."
        )
    if np.any(speed < 0.0):
        raise SupplyError(f"Wind: a speed of {np.nanmin(speed):g} m/s is below zero.")
    speed = speed * (hub_height / measured_height) ** shear_exponent
    if dry_bulb is not None and pressure is not None:
        density = pressure / (_GAS_CONSTANT_J_PER_KG_K * (dry_bulb + 273.15))
        speed = speed * (density / _STANDARD_DENSITY_KG_PER_M3) ** (1.0 / 3.0)
    share = np.interp(speed, curve.speed_m_per_s, curve.share, left=0.0, right=0.0)
    share = np.where(np.isnan(speed), np.nan, share)
    return capacity * share * (1.0 - losses)
