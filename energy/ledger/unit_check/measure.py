"""What a unit text measures, as plain tuples: base dimensions, scale, and the units that it is made of.

Pint is asked once for each text; a query then multiplies and compares tuples, which takes microseconds.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple, cast

from energy import units

Powers = tuple[tuple[str, float], ...]
"""Names with powers, sorted by name; a name with power 0 is left out."""

CELSIUS: Powers = (("[temperature above 0 °C]", 1),)
KELVIN: Powers = (("[temperature]", 1),)
TAGS = tuple(f"[at_{word}]" for word in ("chip", "it", "facility", "generation"))
_COUNTED = {"[chip]", "[token]", "[request]"}

_DIGITS = 12  # scales are rounded so: prefixes stored as binary fractions would differ in the last digit


class Measure(NamedTuple):
    """A unit: base dimensions, how many base units it is, and the named units that it is made of."""

    dimensions: Powers
    scale: float
    parts: Powers


def tidy(scale: float) -> float:
    """Return a scale without last-digit noise.

    Examples
    --------
    >>> tidy(0.1 + 0.2)
    0.3

    """
    return float(f"{scale:.{_DIGITS}g}")


def close(first: float, second: float) -> bool:
    """Return whether two scales are the same but for rounding."""
    return math.isclose(first, second, rel_tol=1e-9)


@lru_cache(maxsize=4096)
def times(first: Powers, second: Powers, power: float = 1) -> Powers:
    """Return the powers of ``first * second ** power``.

    Examples
    --------
    >>> times((("[at_it]", 1), ("[energy]", 1)), (("[at_it]", 1),), -1)
    (('[energy]', 1),)

    """
    found = dict(first)
    for name, own in second:
        found[name] = found.get(name, 0) + own * power
    return tuple(sorted((name, whole) for name, whole in found.items() if whole))


@lru_cache(maxsize=4096)
def measure(text: str) -> Measure:
    """Return what a trusted unit text measures.

    Examples
    --------
    >>> measure("kWh_it").dimensions, measure("kWh_it").scale
    ((('[at_it]', 1), ('[energy]', 1)), 3600000.0)

    """
    unit = units.parse_unit(text)
    # Pint allows any kind of number as a power; those of units.txt are whole.
    parts = tuple(sorted((str(name), cast("float", power)) for name, power in unit._units.items()))
    if units.is_offset(unit):
        # No factor leads to kelvin, so degC is a dimension of its own; a difference of two is in kelvin.
        return Measure(CELSIUS, 1.0, parts)
    return Measure(units.dimension(unit), tidy(units.root_factor(unit)), parts)


@lru_cache(maxsize=4096)
def scale_of_parts(parts: Powers) -> float:
    """Return how many base units a product of named units is."""
    return tidy(math.prod(measure(name).scale ** power for name, power in parts))


@lru_cache(maxsize=4096)
def text_of_parts(parts: Powers) -> str:
    """Return the canonical text of a product of named units."""
    # Not by text: roots have powers that no unit text may have.
    return str(units.unit_text(units.ureg.Unit(units.ureg.UnitsContainer(dict(parts)))))


def without_tags(dimensions: Powers) -> Powers:
    """Return dimensions without measurement boundaries."""
    return tuple(item for item in dimensions if item[0] not in TAGS)


def one_boundary(dimensions: Powers) -> bool:
    """Return whether the electricity in it is measured at one boundary, or at none."""
    tags = [power for name, power in dimensions if name in TAGS]
    return not tags or tags == [dict(dimensions).get("[energy]")]


def is_power(dimensions: Powers) -> bool:
    """Return whether it is energy by time; a mean of equal intervals is then right without a weight."""
    found = dict(dimensions)
    return found.get("[energy]") == 1 and found.get("[time]") == -1


def is_carbon(dimensions: Powers) -> bool:
    """Return whether it is an amount of CO2e, or CO2e per something."""
    return dict(dimensions).get("[carbon]") == 1


def is_count_of_things(dimensions: Powers) -> bool:
    """Return whether it counts chips, tokens or requests: ``count(*)`` may take such a name."""
    return len(dimensions) == 1 and dimensions[0][0] in _COUNTED and dimensions[0][1] == 1


@lru_cache(maxsize=1)
def usual_units() -> dict[tuple[Powers, float], str]:
    """Return the spellings that results are named with, by dimension and scale; the first that fits is kept."""
    places = ("", "_chip", "_it", "_facility", "_generation")
    electrical = ("kWh", "MWh", "GWh", "TWh", "Wh", "J", "kJ", "MJ", "µJ", "mJ", "W", "kW", "MW", "GW", "mW")
    carbon = ("kgCO2e", "gCO2e", "tCO2e")
    plain = "s h min d ms µs chip*h chip chip*s g kg t L m**3 USD EUR token Mtoken request FLOP B kB MB GB TB GiB K %"
    texts = [step + place for step, place in product(electrical, places)]
    texts += [*carbon, *plain.split(), ""]
    texts += [
        f"{above}/{below}{place}"
        for above in ("gCO2e", "kgCO2e", "L", "USD")
        for below in ("kWh", "MWh")
        for place in places
    ]
    found: dict[tuple[Powers, float], str] = {}
    for text in texts:
        found.setdefault(measure(text)[:2], text)
    return found
