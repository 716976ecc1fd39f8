"""The one registry, and look-ups of trusted unit texts in it.

Built when ``energy.units`` is imported: the import lock makes that safe under threads, pint's lazy default is not.
Nothing here uses pint contexts, whose active state is shared by all threads.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import pint

from energy.errors import UnitError, did_you_mean

DEFINITION_FILE = Path(__file__).with_name("units.txt")
TAGS = ("at_chip", "at_it", "at_facility", "at_generation")
"""Measurement boundaries in the direction in which electricity is counted up: chip, node, meter, plant."""

ureg: pint.UnitRegistry[Any] = pint.UnitRegistry(str(DEFINITION_FILE))
ureg.formatter.default_format = "~P"
pint.set_application_registry(ureg)  # type: ignore[no-untyped-call]  # pickled quantities come back to this registry

if TYPE_CHECKING:

    class Quantity(pint.Quantity[Any]):
        """A number or array with its unit."""

        @property
        def units(self) -> pint.Unit:
            """Unit of the number."""

else:
    Quantity = ureg.Quantity

UnitLike: TypeAlias = str | pint.Unit
Dimension: TypeAlias = tuple[tuple[str, float], ...]

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_NAME = r"(?:[A-Za-zµ°%][A-Za-z0-9_]*)"
_FACTOR = rf"(?:1|{_NAME}(?:\*\*-?[0-9]{{1,2}})?)"
_UNIT_TEXT = re.compile(rf"{_FACTOR}(?:\s*[*/]\s*{_FACTOR}){{0,11}}")
_STEP = re.compile(rf"(?P<sign>[*/])\s*(?P<name>1|{_NAME})(?:\*\*(?P<power>-?[0-9]{{1,2}}))?\s*")
_LENGTH_WITH_POWER = re.compile(r"\b([cmknµu]?m)([23])\b")  # people write m3, pint wants m**3


def _normalised(text: str) -> str:
    """Rewrite raised digits, dots and lengths such as m3 with ``**`` and ``*``."""
    raised = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda match: "**" + match[0].translate(_SUPERSCRIPTS), text)
    return _LENGTH_WITH_POWER.sub(r"\1**\2", raised.replace("·", "*").replace("^", "**").replace("°C", "degC"))


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> pint.Unit:
    stripped = text.strip()
    if stripped in {"", "1", "dimensionless"}:
        return ureg.Unit("")
    # pint's parser never sees the text: it evaluates "9**9**9" and does not come back, and "nan" is a number to it.
    normalised = _normalised(stripped[:200])
    if len(stripped) > 200 or not _UNIT_TEXT.fullmatch(normalised):
        raise UnitError(f"{stripped[:60]!r} is not a unit text: names joined by * and /, with whole powers.")
    steps = [step for step in _STEP.finditer(f"*{normalised}") if step["name"] != "1"]
    container = ureg.UnitsContainer({})
    for step in steps:
        name = _full_name(step["name"], stripped)
        power = int(step["power"] or 1) * (1 if step["sign"] == "*" else -1)
        if name == "degree_Celsius" and (len(steps) > 1 or power != 1):
            name = "kelvin"  # inside a compound it can only be a difference
        container = container.add(name, power)  # type: ignore[arg-type]
    return ureg.Unit(container)


def _full_name(symbol: str, text: str) -> str:
    """Return pint's own name of one unit, prefix included."""
    try:
        return str(ureg.get_name("percent" if symbol == "%" else symbol))
    except pint.UndefinedUnitError:
        raise UnitError(f"No unit {symbol!r} in units.txt (in {text!r}).{did_you_mean(symbol, ureg)}") from None


def parse_unit(unit: UnitLike) -> pint.Unit:
    """Return the unit of a trusted text, such as a declared unit; users' text goes through :func:`read`.

    Parameters
    ----------
    unit : str or pint.Unit
        Text as in ``units.txt``: ``"kWh_it"``, ``"gCO2e/kWh_facility"``, ``"chip*h"``, ``"m3"``; ``""`` is a plain
        ratio or count. A unit is returned as it is.

    Returns
    -------
    pint.Unit
        Unit of the one registry; cached by text.

    Raises
    ------
    UnitError
        The text is no product of known units.

    Examples
    --------
    >>> print(parse_unit("gCO2e/kWh_facility"))
    gCO2e/kWh_facility

    """
    return _parse_text(unit) if isinstance(unit, str) else unit


def quantity(value: Any, unit: UnitLike) -> Quantity:
    """Return ``value`` with a unit, by a cached look-up (4 µs; pint's own look-up by text takes 70).

    Parameters
    ----------
    value : float or numpy.ndarray
        Number or array, counted in ``unit``.
    unit : str or pint.Unit
        Trusted unit text.

    Returns
    -------
    Quantity
        The value, not copied, with its unit.

    Raises
    ------
    UnitError
        The unit is not known, or ``value`` is a text.

    Examples
    --------
    >>> print(quantity(100, "kWh_it") * quantity(1.3, "kWh_facility/kWh_it"))
    130.0 kWh_facility

    """
    if isinstance(value, str):
        raise UnitError(f"quantity() takes a number, not the text {value[:60]!r}: use units.read(text, field_unit).")
    return Quantity(value, parse_unit(unit)._units)


def dimension(unit: UnitLike) -> Dimension:
    """Return the base dimensions of a unit, sorted and hashable, boundary tags included.

    Examples
    --------
    >>> dimension("kWh_it")
    (('[at_it]', 1), ('[energy]', 1))

    """
    exponents = cast("dict[str, float]", parse_unit(unit).dimensionality)
    return tuple(sorted(exponents.items()))


def same_dimension(a: UnitLike, b: UnitLike) -> bool:
    """Return whether two units measure the same thing at the same boundary.

    Examples
    --------
    >>> same_dimension("kWh_it", "MJ_it"), same_dimension("kWh_it", "kWh_facility")
    (True, False)

    """
    return parse_unit(a).dimensionality == parse_unit(b).dimensionality


def root_factor(unit: UnitLike) -> float:
    """Return how many base units one ``unit`` is.

    Examples
    --------
    >>> root_factor("kWh_it")
    3600000.0

    """
    return float(cast("float", ureg.get_root_units(parse_unit(unit))[0]))


def is_offset(unit: UnitLike) -> bool:
    """Return whether the unit is a temperature with a shifted zero (degC), which no factor converts.

    Examples
    --------
    >>> is_offset("degC"), is_offset("K")
    (True, False)

    """
    return "degree_Celsius" in parse_unit(unit)._units


def scale(a: UnitLike, b: UnitLike) -> float:
    """Return the factor by which a number in ``a`` is multiplied to be a number in ``b``.

    Raises
    ------
    UnitError
        The dimensions differ, or just one side is degC.

    Examples
    --------
    >>> scale("MWh_it", "kWh_it"), scale("kW_it*h", "kWh_it")
    (1000.0, 1.0)

    """
    first, second = parse_unit(a), parse_unit(b)
    if first._units == second._units:
        return 1.0
    if first.dimensionality != second.dimensionality:
        raise UnitError(f"No factor leads from {unit_text(first)} to {unit_text(second)}: their dimensions differ.")
    if is_offset(first) or is_offset(second):
        raise UnitError(f"No factor leads from {unit_text(first)} to {unit_text(second)}: their zeros differ.")
    return tidy_ratio(root_factor(first), root_factor(second))


def tidy_ratio(numerator: float, denominator: float) -> float:
    """Return the quotient, without the last-digit noise of prefixes stored as binary fractions."""
    ratio = numerator / denominator
    rounded = float(f"{ratio:.12g}")
    return rounded if abs(rounded - ratio) <= 1e-15 * abs(ratio) else ratio


def unit_text(unit: UnitLike) -> str:
    """Return the canonical text of a unit, as JSON and column comments carry it; :func:`parse_unit` reads it back.

    Examples
    --------
    >>> unit_text("chip · h"), unit_text("1")
    ('chip*h', '')

    """
    return f"{parse_unit(unit):~C}"


def without_tags(dimensions: Dimension) -> Dimension:
    """Return dimensions without measurement boundaries.

    Examples
    --------
    >>> without_tags(dimension("kWh_it"))
    (('[energy]', 1),)

    """
    return tuple((name, power) for name, power in dimensions if name.strip("[]") not in TAGS)


def takes_bare_number(unit: UnitLike) -> bool:
    """Return whether a number without unit is clear here: a plain ratio, a pure count, or a ratio of boundaries.

    A percentage is not: 0.3 might be meant as 30 %. Operations and bytes are not: people count them in tera and giga.

    Examples
    --------
    >>> [takes_bare_number(unit) for unit in ("", "chip", "kWh_facility/kWh_it", "%", "kWh_it")]
    [True, True, True, False, False]

    """
    parsed = parse_unit(unit)
    if abs(root_factor(parsed) - 1.0) > 1e-12:
        return False
    rest = without_tags(dimension(parsed))
    return rest == () or rest in ((("[chip]", 1),), (("[token]", 1),), (("[request]", 1),))
