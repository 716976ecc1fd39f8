"""Amounts of fuel as invoices state them: litres, US gallons, cubic metres, mass, or heat, as volume or as heat (HHV).

What a litre, cubic metre or tonne holds of heat is printed in no table that is held, but follows from one: the United
Kingdom's well-to-tank factors of 2025 state the same fuel per litre, per cubic metre, per tonne, per kWh (HHV) and per
kWh (LHV). Their quotients are the heat contents of that publication.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from energy.catalogue.fuels import Fuel, fuel, upstream
from energy.errors import FactorError, did_you_mean
from energy.units import Quantity, quantity

_STAGE, _HHV = "well to tank", "kWh HHV"


@cache
def _spellings() -> dict[str, tuple[str, float]]:
    """Return what people write: spelling -> unit of the table, and how many of it."""
    litre_of_gallon = float(quantity(1.0, "gal").to("L").magnitude)
    kwh_of_mmbtu = float(quantity(1.0, "MMBtu").to("kWh").magnitude)
    return {
        **dict.fromkeys(("l", "liter", "litre", "liters", "litres"), ("L", 1.0)),
        **dict.fromkeys(("gal", "gal us", "us gal", "gallon us", "us gallon", "us gallons"), ("L", litre_of_gallon)),
        **dict.fromkeys(("m3", "m³"), ("m3", 1.0)),
        **dict.fromkeys(("t", "tonne", "tonnes"), ("t", 1.0)),
        "kg": ("t", 1e-3),
        **dict.fromkeys(("mmbtu", "mmbtu hhv"), (_HHV, kwh_of_mmbtu)),
        **dict.fromkeys(("therm", "therms"), (_HHV, kwh_of_mmbtu / 10.0)),
        **{
            f"{prefix}wh {word}": (f"kWh {value}", scale)
            for prefix, scale in (("k", 1.0), ("m", 1e3), ("g", 1e6))
            for word, value in (("hhv", "HHV"), ("gross", "HHV"), ("lhv", "LHV"), ("net", "LHV"))
        },
    }


_REFUSED = {
    **dict.fromkeys(("kwh", "mwh", "gwh"), "does not say the heating value: write kWh HHV (gross) or kWh LHV (net)"),
    **dict.fromkeys(("gal uk", "uk gal", "gal imp", "imp gal"), "is no US gallon: write 4.54609 L for each"),
    **dict.fromkeys(("ton", "tons", "short ton"), "may be 907 or 1,016 kg: write t (1,000 kg) or kg"),
    "gallon": "may be of the US or the UK: write gal (US), or L",
    "gallons": "may be of the US or the UK: write gal (US), or L",
}
UNITS = "L, gal (US), m3, t, kg, MMBtu, therm, kWh HHV, kWh LHV"


@dataclass(frozen=True, slots=True)
class FuelAmount:
    """What was bought of a fuel, as :func:`energy.carbon.combustion.combustion` takes it.

    Attributes
    ----------
    fuel : Fuel
    amount : Quantity, L or kWh
        Volume where emissions are known per litre of the fuel; else heat by the higher heating value.
    note : str
        How heat was reckoned; empty where the document states it, or states litres.
    """

    fuel: Fuel
    amount: Quantity
    note: str

    @property
    def is_volume(self) -> bool:
        """Whether the amount is a volume; else it is heat."""
        return self.amount.dimensionality == quantity(1.0, "L").dimensionality


def heat_content(name: str, per_unit: str) -> float:
    """Return the heat (HHV) in a unit of a fuel, by the quotient of two printed well-to-tank factors.

    Parameters
    ----------
    name : str
        Fuel of the catalogue.
    per_unit : str
        ``L``, ``m3``, ``t`` or ``kWh LHV``.

    Returns
    -------
    float
        kWh (HHV) per unit.

    Raises
    ------
    FactorError
        The publication does not state the fuel in this unit.

    Notes
    -----
    h = f(unit) / f(kWh HHV). UK Government GHG Conversion Factors 2025, well to tank: derived, good to 0.1 %.

    Examples
    --------
    >>> round(heat_content("natural gas", "m3"), 2), round(heat_content("natural gas", "kWh LHV"), 3)
    (11.14, 1.108)

    """
    whole, part = upstream(name, _STAGE, per_unit), upstream(name, _STAGE, _HHV)
    return whole.value_kgco2e_per_unit / part.value_kgco2e_per_unit


def fuel_amount(name: str, value: float, unit: str) -> FuelAmount:
    """Return an amount of fuel as volume or heat.

    Parameters
    ----------
    name : str
        Fuel of the catalogue.
    value : float
        Zero or more.
    unit : str
        As a document writes it: one of L, gal (US), m3, t, kg, MMBtu, therm, kWh HHV, kWh LHV.

    Returns
    -------
    FuelAmount

    Raises
    ------
    FactorError
        The unit is not known or may mean two things, or the heat of this fuel in it is not held.
    UnknownNameError
        The fuel is not in the catalogue.

    Examples
    --------
    >>> print(fuel_amount("diesel", 100.0, "gal (US)").amount.to("L"))
    378.5411784 L
    >>> round(float(fuel_amount("natural gas", 100.0, "m3").amount.to("kWh").magnitude), 1)
    1114.2

    """
    row = fuel(name)
    base, scale = _unit(unit)
    if base == _HHV:
        return FuelAmount(row, quantity(value * scale, "kWh"), "")
    if base == "m3" and not _is_held(row.fuel, "m3"):
        base, scale = "L", scale * 1000.0
    if base == "L" and row.co2_kg_per_l is not None:
        return FuelAmount(row, quantity(value * scale, "L"), "")
    if base == "L" and not _is_held(row.fuel, "L") and _is_held(row.fuel, "m3"):
        base, scale = "m3", scale / 1000.0
    if not _is_held(row.fuel, base):
        raise FactorError(
            f"The heat of {row.fuel} per {base} is not held: give its heat as kWh HHV, MMBtu or therm, as the supplier "
            "states it."
        )
    content = heat_content(row.fuel, base)
    shown = float(f"{content:.4g}")
    note = f"{shown:,g} kWh (HHV) per {base} by the quotient of two printed factors (desnz_2025), derived"
    return FuelAmount(row, quantity(value * scale * content, "kWh"), note)


def _is_held(name: str, per_unit: str) -> bool:
    try:
        heat_content(name, per_unit)
    except FactorError:
        return False
    return True


def _unit(text: str) -> tuple[str, float]:
    spelt: Any = " ".join(text.casefold().replace("(", " ").replace(")", " ").replace(".", " ").split())
    if spelt in _REFUSED:
        raise FactorError(f"unit {text!r} {_REFUSED[spelt]}.")
    known = _spellings()
    if spelt not in known:
        raise FactorError(f"unit {text!r} is not known: use {UNITS}.{did_you_mean(spelt, known)}")
    return known[spelt]
