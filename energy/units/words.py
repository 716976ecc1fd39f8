"""Units and quantities in words for people: "1.2 MWh (IT)", never ``kWh_it``; and the step that is missing."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, cast

from energy.errors import UnitError
from energy.units.registry import (
    TAGS,
    Quantity,
    UnitLike,
    dimension,
    parse_unit,
    quantity,
    unit_text,
    ureg,
    without_tags,
)

BOUNDARY_WORDS = {"chip": "chip", "it": "IT", "facility": "facility", "generation": "generation"}
_BOUNDARY_SUFFIX = re.compile(r"_(chip|it|facility|generation)$")
_SUPERSCRIPTS = str.maketrans("0123456789-.", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻·")
GROUP_SPACE, MINUS = "\u202f", "\u2212"  # the number rules: narrow no-break space, real minus

# One fixed ladder per family, small to large. pint's to_compact is not used: it prints MgCO2e and mm³.
_LADDERS: dict[tuple[tuple[str, float], ...], tuple[str, ...]] = {
    (("[carbon]", 1),): ("mgCO2e", "gCO2e", "kgCO2e", "tCO2e", "ktCO2e", "MtCO2e"),
    (("[mass]", 1),): ("mg", "g", "kg", "t", "kt", "Mt"),
    (("[length]", 3),): ("mL", "L", "m**3"),
    (("[time]", 1),): ("ns", "µs", "ms", "s", "min", "h", "d"),
    (("[currency_USD]", 1),): ("USD", "MUSD", "GUSD"),
    (("[currency_EUR]", 1),): ("EUR", "MEUR", "GEUR"),
    (("[token]", 1),): ("token", "Mtoken", "Gtoken", "Ttoken"),
    (("[request]", 1),): ("request", "Mrequest", "Grequest"),
    (("[operation]", 1),): ("FLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP", "YFLOP"),
    (("[operation]", 1), ("[time]", -1)): ("MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"),
    (("[energy]", 1), ("[time]", -1)): ("mW", "W", "kW", "MW", "GW"),
}
_WATT_HOURS = ("mWh", "Wh", "kWh", "MWh", "GWh", "TWh")
_JOULES = ("pJ", "nJ", "µJ", "mJ", "J", "kJ", "MJ", "GJ", "TJ")
_BYTES = ("B", "kB", "MB", "GB", "TB", "PB")


def _symbol_in_words(symbol: str) -> str:
    """Return one symbol for people: boundary in brackets, CO₂ with its index, prefixes of words set apart."""
    if symbol in TAGS:
        return f"({BOUNDARY_WORDS[symbol.removeprefix('at_')]})"
    text = _BOUNDARY_SUFFIX.sub(lambda match: f" ({BOUNDARY_WORDS[match[1]]})", symbol).replace("CO2", "CO₂")
    return re.sub(r"^([kMGT])(USD|EUR|token|request)$", r"\1 \2", text)


def words(unit: UnitLike) -> str:
    """Return a unit in words for people.

    Parameters
    ----------
    unit : str or pint.Unit
        Trusted unit text.

    Returns
    -------
    str
        Such as ``gCO₂e per kWh (facility)``; an empty text for a plain ratio or count.

    Raises
    ------
    UnitError
        The unit is not known.

    Examples
    --------
    >>> words("gCO2e/kWh_facility"), words("W_chip/chip")
    ('gCO₂e per kWh (facility)', 'W (chip) per chip')

    """
    above: list[str] = []
    below: list[str] = []
    powers = cast("dict[str, float]", parse_unit(unit)._units)
    for name, power in sorted(powers.items(), key=lambda item: item[0].casefold()):
        symbol = _symbol_in_words(str(ureg.get_symbol(name)))
        size = abs(power)
        raised = symbol if size == 1 else symbol + f"{size:g}".translate(_SUPERSCRIPTS)
        (above if power > 0 else below).append(raised)
    return " per ".join(["·".join(above), *below]).strip()


def _ladder_of(unit: UnitLike) -> tuple[str, ...]:
    """Return the unit texts among which people see a quantity of this unit; only its own when no ladder fits."""
    own = unit_text(unit)
    dimensions = dimension(unit)
    tags = [(name.strip("[]").removeprefix("at_"), power) for name, power in dimensions if name.strip("[]") in TAGS]
    if len(tags) > 1 or any(power != 1 for _, power in tags) or "Btu" in own or own == "yr":
        return (own,)
    suffix = f"_{tags[0][0]}" if tags else ""
    family = without_tags(dimensions)
    if family == (("[energy]", 1),):
        steps: tuple[str, ...] = _JOULES if re.search(r"J(_|$)", own) else _WATT_HOURS
    elif family == (("[information]", 1),) and own.endswith("B") and "i" not in own:
        steps = _BYTES
    elif family == (("[information]", 1), ("[time]", -1)) and own.endswith("B/s") and "i" not in own:
        steps = tuple(f"{step}/s" for step in _BYTES)
    else:
        steps = _LADDERS.get(family, ())
    return tuple(step + suffix for step in steps) or (own,)


def on_ladder(amount: Quantity) -> Quantity:
    """Return a scalar quantity in the unit in which people see it: the largest step that is not above the value.

    Examples
    --------
    >>> print(on_ladder(quantity(1200.0, "kWh_it")))
    1.2 MWh_it

    """
    steps = _ladder_of(amount.units)
    if len(steps) == 1 or not math.isfinite(amount.magnitude) or amount.magnitude == 0:
        return amount
    chosen = steps[0]
    for step in steps:
        if abs(amount.m_as(parse_unit(step))) >= 0.9995:  # 999.6 kWh reads 1 MWh, not 1000 kWh
            chosen = step
    return amount.to(parse_unit(chosen))


def _number_in_words(value: float, digits: int) -> str:
    """Return a number with so many significant digits, half away from zero, thousands apart, no idle zeros."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    rounded = Decimal(repr(value)).quantize(Decimal(1).scaleb(-max(decimals, 0)), ROUND_HALF_UP)
    text = f"{abs(rounded):,f}".replace(",", GROUP_SPACE)
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return (MINUS if rounded < 0 else "") + text


def display(amount: Quantity, *, digits: int = 3, space: str = " ") -> str:
    """Return a scalar quantity for people.

    Parameters
    ----------
    amount : Quantity
        A single number with its unit.
    digits : int
        Significant digits below 1000; larger numbers keep all digits before the point.
    space : str
        What stands before the unit; pages set a narrow no-break space.

    Returns
    -------
    str
        Number, unit and boundary; ``no data`` for NaN.

    Raises
    ------
    UnitError
        ``amount`` is an array, infinite, or no quantity.

    Examples
    --------
    >>> display(quantity(1200.0, "kWh_it"))
    '1.2 MWh (IT)'
    >>> display(quantity(385.0, "gCO2e/kWh_facility"))
    '385 gCO₂e per kWh (facility)'

    """
    if not isinstance(amount, Quantity) or getattr(amount.magnitude, "ndim", 0) != 0:
        raise UnitError(
            f"display() takes one number with its unit, got {type(amount).__name__}: show arrays as tables."
        )
    value = float(amount.magnitude)
    if math.isnan(value):
        return "no data"
    if math.isinf(value):
        raise UnitError("display() got an infinite value: a division by zero happened before.")
    shown = on_ladder(quantity(value, amount.units))
    unit = words(shown.units)
    number = _number_in_words(float(shown.magnitude), digits)
    return f"{number}{space}{unit}" if unit else number


def to_json(amount: Quantity) -> dict[str, Any]:
    """Return a quantity as JSON holds it: ``{"value": …, "unit": "kWh_it"}``; NaN becomes null.

    Parameters
    ----------
    amount : Quantity
        Number or array with its unit.

    Returns
    -------
    dict
        ``value`` (number, null or nested list) in ``unit`` (text that :func:`parse_unit` reads).

    Raises
    ------
    UnitError
        ``amount`` has no unit, or a value is infinite: JSON has no infinity.

    Examples
    --------
    >>> to_json(quantity(1.5, "kWh_it"))
    {'value': 1.5, 'unit': 'kWh_it'}

    """
    if not isinstance(amount, Quantity):
        raise UnitError(f"to_json() takes a quantity, got {type(amount).__name__}: make one with units.quantity().")
    magnitude = amount.magnitude
    plain = magnitude.tolist() if hasattr(magnitude, "tolist") else magnitude
    return {"value": _null_for_nan(plain), "unit": unit_text(amount.units)}


def _null_for_nan(value: Any) -> Any:
    if isinstance(value, list):
        return [_null_for_nan(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        raise UnitError("to_json() got an infinite value: JSON has none, and a division by zero happened before.")
    return None if isinstance(value, float) and math.isnan(value) else value
