"""What the value of an expression may be, and the arithmetic of units.

A number is (base dimensions, set of possible scales). A literal factor may rescale: ``x / 1000`` is a thousandth of it,
or the same in kilo. Both stay possible until a name, a declared unit, a union or a sum decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from energy import units
from energy.errors import UnitError
from energy.ledger.unit_check.measure import (
    CELSIUS,
    KELVIN,
    Measure,
    Powers,
    close,
    measure,
    scale_of_parts,
    text_of_parts,
    tidy,
    times,
    usual_units,
)

Additive: TypeAlias = Literal["yes", "within method", "lost", "no"]
"""As in the field registry; ``lost``: within method, and the row no longer says which method it is."""

Kind: TypeAlias = Literal["text", "string", "instant", "date", "boolean", "key", "interval", "null"]

_MOST_SCALES = 64  # more than this many literal factors in one product are not followed
_WORST_FIRST: tuple[Additive, ...] = ("no", "lost", "within method", "yes")
_WORDS: dict[Kind, str] = {
    "text": "a text",
    "string": "a text",
    "instant": "an instant",
    "date": "a date",
    "boolean": "a truth value",
    "key": "a key or year",
    "interval": "an interval",
    "null": "null",
}


class ClashError(Exception):
    """Units do not fit; the message has no place in the text yet."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its unit.

    Attributes
    ----------
    dimensions : tuple
        Base dimensions with powers; empty: a bare number.
    scales : tuple of float
        How many base units it may count in.
    parts : tuple
        Named units that it came from, for a readable text.
    additive : str
        Whether it may be summed.
    literal : float or None
        Value where the text states it.
    ratio : bool
        Whether it is a quotient of amounts; a mean of it needs a weight.
    weight : str or None
        Column by which the field registry weights its mean.
    one_basis : bool
        Whether its rows keep to one accounting basis, although no column says so any more.
    """

    dimensions: Powers = ()
    scales: tuple[float, ...] = (1.0,)
    parts: Powers = ()
    additive: Additive = "yes"
    literal: float | None = None
    ratio: bool = False
    weight: str | None = None
    one_basis: bool = False


@dataclass(frozen=True, slots=True)
class NoUnit:
    """A text, instant, key or truth value; ``apart`` marks the column that says the Scope 2 method, or the basis."""

    kind: Kind
    apart: Literal["", "method", "basis"] = ""


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A value whose unit the checker does not know; it is shown as such and never guessed."""


Value: TypeAlias = Number | NoUnit | NotChecked

BARE: Final = Number()
RATIO: Final = Number(additive="no")
NULL: Final = NoUnit("null")
TRUTH: Final = NoUnit("boolean")
NOT_CHECKED: Final = NotChecked()


def number(text: str, additive: Additive = "yes", weight: str | None = None) -> Number:
    """Return a number in one unit.

    Examples
    --------
    >>> describe(number("kWh_it"))
    'kWh_it'

    """
    found = measure(text)
    ratio = additive == "no" and any(power < 0 for _, power in found.dimensions)
    return Number(found.dimensions, (found.scale,), found.parts, additive, ratio=ratio, weight=weight)


def literal(value: float) -> Number:
    """Return a number that the text states."""
    return Number(literal=value)


def text_at(value: Number, scale: float) -> str | None:
    """Return how a number is spelled when it counts in ``scale`` base units; None when no unit is named so."""
    known = usual_units().get((value.dimensions, tidy(scale)))
    if known is not None:
        return known
    if close(scale_of_parts(value.parts), scale):
        return text_of_parts(value.parts)
    return None


def possible_units(value: Number) -> list[str]:
    """Return the spellings of all scales that have one; more than one means that the name must decide."""
    found = [text_at(value, scale) for scale in value.scales]
    return list(dict.fromkeys(text for text in found if text is not None))


def describe(value: Value) -> str:
    """Return a value in words for a message.

    Examples
    --------
    >>> describe(NoUnit("instant")), describe(literal(3))
    ('an instant', 'a bare number')

    """
    if isinstance(value, NotChecked):
        return "something not checked"
    if isinstance(value, NoUnit):
        return _WORDS[value.kind]
    if not value.dimensions:
        return "%" if value.scales == (0.01,) else "a bare number"
    found = possible_units(value)
    return found[0] if found else text_of_parts(value.parts)


def step(given: Value, wanted: Value) -> str:
    """Return the missing step between two numbers as ": do this", or an empty text."""
    if not isinstance(given, Number) or not isinstance(wanted, Number):
        return ""
    try:
        found = units.missing_step(describe(given), describe(wanted))
    except UnitError:
        return ""
    return "" if not found or found.startswith("it measures another thing") else f": {found}"


def worst(first: Additive, second: Additive) -> Additive:
    """Return the stricter of two rules for summing."""
    return min(first, second, key=_WORST_FIRST.index)


def _as_number(value: Value) -> Value:
    """Return a truth value as the 0 or 1 that it is in arithmetic."""
    return BARE if isinstance(value, NoUnit) and value.kind == "boolean" else value


def multiply(first: Value, second: Value) -> Value:
    """Return the unit of a product.

    Examples
    --------
    >>> describe(multiply(number("kWh_it"), number("kWh_facility/kWh_it", "no")))
    'kWh_facility'

    """
    a, b = _as_number(first), _as_number(second)
    if not (isinstance(a, Number) and isinstance(b, Number)):
        return _without_unit(a, b)
    if a.literal is not None and b.literal is not None:
        return literal(a.literal * b.literal)
    if a.literal is not None:
        return _rescaled(b, a.literal)
    if b.literal is not None:
        return _rescaled(a, b.literal)
    return _product(a, b, 1, _additive_of_product(a, b), ratio=False)


def divide(first: Value, second: Value) -> Value:
    """Return the unit of a quotient.

    Examples
    --------
    >>> describe(divide(number("kWh_facility"), number("kWh_it")))
    'kWh_facility/kWh_it'

    """
    a, b = _as_number(first), _as_number(second)
    if not (isinstance(a, Number) and isinstance(b, Number)):
        return _without_unit(a, b)
    if b.literal is not None:
        if b.literal == 0:
            return NULL
        return literal(a.literal / b.literal) if a.literal is not None else _rescaled(a, 1 / b.literal)
    if a.literal is not None:
        inverse = _product(BARE, b, -1, "no", ratio=True)
        return _rescaled(inverse, a.literal) if isinstance(inverse, Number) else inverse
    summable = a.additive != "no" and b.additive == "no"
    return _product(a, b, -1, a.additive if summable else "no", ratio=not summable)


def _product(a: Number, b: Number, power: int, additive: Additive, *, ratio: bool) -> Value:
    dimensions = times(a.dimensions, b.dimensions, power)
    if any(name == CELSIUS[0][0] for name, _ in dimensions):
        return NOT_CHECKED  # 2 x 20 °C has no meaning
    scales = dict.fromkeys(tidy(x * y**power) for x in a.scales for y in b.scales)
    if len(scales) > _MOST_SCALES:
        return NOT_CHECKED
    if additive == "no" and not ratio:
        return Number(
            dimensions,
            tuple(scales),
            times(a.parts, b.parts, power),
            additive,
            ratio=a.ratio or b.ratio,
            weight=a.weight or b.weight,
        )
    return Number(dimensions, tuple(scales), times(a.parts, b.parts, power), additive, ratio=ratio)


def _additive_of_product(a: Number, b: Number) -> Additive:
    """Return whether a product may be summed: PUE times energy may, an amount again; PUE times PUE may not."""
    if "no" in (a.additive, b.additive):
        return b.additive if a.additive == "no" else a.additive
    return worst(a.additive, b.additive)


def _rescaled(value: Number, factor: float) -> Value:
    """Apply a literal factor: a multiple in the old unit, or the same amount in another one; both stay possible."""
    size = abs(factor)
    if size in (0.0, 1.0):
        return value
    if value.dimensions == CELSIUS:
        return NOT_CHECKED
    scales = dict.fromkeys([*value.scales, *(tidy(scale / size) for scale in value.scales)])
    return NOT_CHECKED if len(scales) > _MOST_SCALES else replace(value, scales=tuple(scales))


def _without_unit(a: Value, b: Value) -> Value:
    """Return the product or quotient with something that is no number."""
    if NULL in (a, b):
        return NULL
    for one, other in ((a, b), (b, a)):
        if isinstance(one, NoUnit) and one.kind in {"key", "interval"}:
            bare = isinstance(other, Number) and not other.dimensions
            if bare or (isinstance(other, NoUnit) and other.kind == one.kind == "key"):
                return one
    return NOT_CHECKED


def add(first: Value, second: Value, verb: str = "add") -> Value:
    """Return the unit of a sum or difference.

    Raises
    ------
    ClashError
        The two are not in the same unit.

    Examples
    --------
    >>> add(number("kWh_facility"), number("kg"))
    Traceback (most recent call last):
    energy.ledger.unit_check.values.ClashError: Cannot add kWh_facility and kg.

    """
    a, b = _as_number(first), _as_number(second)
    if isinstance(a, Number) and isinstance(b, Number):
        if a.literal is not None and b.literal is not None:
            return literal(a.literal + b.literal if verb == "add" else a.literal - b.literal)
        if CELSIUS in (a.dimensions, b.dimensions):
            return _temperatures(a, b, verb)
        return same_unit(a, b, verb)
    return _moved(a, b, verb)


def _temperatures(a: Number, b: Number, verb: str) -> Value:
    if verb == "subtract" and a.dimensions == b.dimensions:
        return number("K", "no")
    if a.dimensions == CELSIUS and b.dimensions == KELVIN:
        return a
    return same_unit(a, b, verb)


def _moved(a: Value, b: Value, verb: str) -> Value:
    """Return the sum or difference with what is no number: instants move by intervals, dates by days."""
    if NULL in (a, b):
        return NULL
    if isinstance(a, NotChecked) or isinstance(b, NotChecked):
        return NOT_CHECKED
    if isinstance(a, NoUnit) and isinstance(b, NoUnit):
        if a.kind == b.kind == "date" and verb == "subtract":
            return number("d")
        if a.kind == b.kind == "instant" and verb == "subtract":
            return NoUnit("interval")
        if b.kind == "interval" and a.kind in {"instant", "date", "interval"}:
            return NoUnit("instant" if a.kind == "date" else a.kind)
        return a if a.kind == b.kind == "key" else NOT_CHECKED
    amount, other = (a, b) if isinstance(a, Number) else (b, a)
    if isinstance(amount, Number) and isinstance(other, NoUnit):
        if amount.dimensions:
            raise ClashError(f"Cannot {verb} {describe(a)} and {describe(b)}.")
        return other if other.kind in {"key", "date"} else NOT_CHECKED
    return NOT_CHECKED


def same_unit(a: Number, b: Number, verb: str) -> Number:
    """Return the one unit that two numbers have in common; literals stand beside bare numbers only, 0 excepted.

    Raises
    ------
    ClashError
        There is none.
    """
    for one, other in ((a, b), (b, a)):
        if one.literal is not None and (one.literal == 0 or (not other.dimensions and 1.0 in other.scales)):
            return replace(other, literal=None) if one.literal == 0 else replace(other, scales=(1.0,), literal=None)
    if a.dimensions != b.dimensions:
        hint = step(a, b) if a.dimensions and b.dimensions else _name_it(a, b)
        raise ClashError(f"Cannot {verb} {describe(a)} and {describe(b)}{hint}.")
    scales = tuple(x for x in a.scales if any(close(x, y) for y in b.scales))
    if not scales:
        factor = tidy(max(a.scales[0], b.scales[0]) / min(a.scales[0], b.scales[0]))
        raise ClashError(f"Cannot {verb} {describe(a)} and {describe(b)}: they differ by a factor of {factor:g}.")
    return Number(
        a.dimensions, scales, a.parts, worst(a.additive, b.additive), None, a.ratio or b.ratio, a.weight or b.weight
    )


def _name_it(a: Number, b: Number) -> str:
    has_literal = a.literal is not None or b.literal is not None
    return ": give the number its unit by a name, as in (SELECT 1.2 AS pue)" if has_literal else ""


def either(first: Value, second: Value, verb: str = "put in one column") -> Value:
    """Return the unit of a value that is one or the other: CASE, coalesce, greatest, a union.

    Raises
    ------
    ClashError
        The two are not in the same unit.
    """
    if first == NULL:
        return second
    if second == NULL:
        return first
    if isinstance(first, NotChecked) or isinstance(second, NotChecked):
        return NOT_CHECKED
    if isinstance(first, NoUnit) and isinstance(second, NoUnit):
        return replace(first, apart=first.apart or second.apart)
    a, b = _as_number(first), _as_number(second)
    if isinstance(a, Number) and isinstance(b, Number):
        if a.literal is not None and b.literal is not None:
            return a if a.literal == b.literal else BARE
        return same_unit(a, b, verb)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, NoUnit) and one.kind == "key" and isinstance(other, Number) and not other.dimensions:
            return one
    raise ClashError(f"Cannot {verb} {describe(first)} and {describe(second)}.")


def comparable(first: Value, second: Value) -> None:
    """Raise when a comparison is between unlike units; literals may be compared with anything.

    Raises
    ------
    ClashError
        The two are not in the same unit.
    """
    a, b = _as_number(first), _as_number(second)
    if isinstance(a, Number) and isinstance(b, Number):
        if a.literal is None and b.literal is None:
            same_unit(a, b, "compare")
        return
    for one, other in ((a, b), (b, a)):
        if not (isinstance(one, Number) and one.dimensions and isinstance(other, NoUnit)):
            continue
        if other.kind not in {"null", "string"}:
            raise ClashError(f"Cannot compare {describe(a)} and {describe(b)}.")


def raised(value: Value, power: float) -> Value:
    """Return the unit of a power."""
    if not isinstance(value, Number):
        return value if value == NULL else NOT_CHECKED
    if value.literal is not None:
        return replace(BARE, literal=float(value.literal**power)) if value.literal > 0 else BARE
    return Number(
        times((), value.dimensions, power),
        tuple(tidy(scale**power) for scale in value.scales),
        times((), value.parts, power),
        "no",
        ratio=value.ratio,
    )


def fixed(value: Number, found: Measure) -> Number:
    """Return the number with its scale decided."""
    parts = found.parts if found.dimensions == value.dimensions else value.parts
    return replace(value, scales=(found.scale,), parts=parts, literal=None)
