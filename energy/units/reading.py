"""Reading a number with its unit from users' text: one regular expression, a list of spellings, the field's boundary.

pint's own ``Quantity(text)`` never sees it: it reads "1,5 kWh" as 15 kWh, loses the sign of "5 $/h", and evaluates
"9**9**9 kWh" for ever.
"""

from __future__ import annotations

import math
import numbers
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import pint

from energy.errors import QuantityTextError, UnitError
from energy.units.registry import (
    TAGS,
    Quantity,
    UnitLike,
    dimension,
    is_offset,
    parse_unit,
    quantity,
    root_factor,
    takes_bare_number,
    tidy_ratio,
    unit_text,
    without_tags,
)
from energy.units.spellings import is_co2_only, remedy, spellings
from energy.units.steps import missing_step
from energy.units.words import words

_TEXT = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(?P<unit>[^\s].*)?"
)
_COMMA = re.compile(r"[0-9],[0-9]")
_TWO_NUMBERS = re.compile(r"[0-9]\s+(?:[^\W\d]+\s+)?[0-9]|[0-9][^\W\d]+\s+[0-9]")
_DIVISION = re.compile(r"\s*/\s*|(?:^|\s+)per\s+")
_PRODUCT = re.compile(r"\s*[*·]\s*")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text said.

    Attributes
    ----------
    value : Quantity
        In the field's unit.
    boundary_from_field : bool
        The text named no measurement boundary, the field gave it; show "boundary from the field".
    co2_only : bool
        The text said CO2, not CO2e; show "CO2 only".
    given_text : str
        The text as it was given.
    """

    value: Quantity
    boundary_from_field: bool
    co2_only: bool
    given_text: str

    @property
    def marks(self) -> tuple[str, ...]:
        """What has to be shown beside the value."""
        said = ((self.boundary_from_field, "boundary from the field"), (self.co2_only, "CO2 only"))
        return tuple(words_ for is_so, words_ in said if is_so)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit as users wrote it: the parsed unit, and whether it said CO2 alone."""

    parsed: pint.Unit
    co2_only: bool


def _shown(text: str) -> str:
    """Return users' text fit for one line of a message."""
    line = "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
    return repr(line if len(line) <= 60 else line[:57] + "...")


def _example(field_unit: UnitLike) -> str:
    """Return the field's unit as a user would write it, without boundary."""
    return re.sub(r"_(chip|it|facility|generation)\b", "", unit_text(field_unit)).replace("**", "")


@lru_cache(maxsize=2048)
def _unit_of(text: str) -> _Unit:
    """Return the unit of a text; raise `QuantityTextError` with the remedy alone, the caller adds field and value."""
    cleaned = " ".join(text.replace("₂", "2").replace("μ", "µ").split())
    known = spellings()
    if cleaned in known:
        return _Unit(parse_unit(known[cleaned]), is_co2_only(cleaned))
    above, *below = _DIVISION.split(cleaned)
    if len(below) > 3:
        raise QuantityTextError("has too many divisions for a unit")
    tops = _PRODUCT.split(above) if above else []
    bottoms = [part[1:-1] if part.startswith("(") and part.endswith(")") else part for part in below]
    if not tops and not bottoms:
        raise QuantityTextError(f"has the unit {cleaned!r}, which is not a spelling we accept: {remedy(cleaned)}")
    for part in (*tops, *bottoms):
        if not part:
            raise QuantityTextError(f"has the unit {cleaned!r}, which is no product or quotient of units")
        if part not in known:
            raise QuantityTextError(f"has the unit {part!r}, which is not a spelling we accept: {remedy(part)}")
        if known[part] == "degC":
            raise QuantityTextError("uses degC inside a compound unit: a difference of temperature is written K")
    unit = parse_unit("")
    for part in tops:
        unit = unit * parse_unit(known[part])
    for part in bottoms:
        unit = unit / parse_unit(known[part])
    return _Unit(unit, any(is_co2_only(part) for part in (*tops, *bottoms)))


def read(text: str | float | Quantity, field_unit: UnitLike, *, field: str = "value") -> Reading:
    """Read users' text as a quantity in the field's unit.

    Parameters
    ----------
    text : str, int, float or Quantity
        Number (digits, point, exponent, ``_``; no comma), then a unit. A bare number, as text or as number, only where
        the field is a plain ratio, a pure count (chip, token, request) or a ratio of boundaries such as PUE.
    field_unit : str or pint.Unit
        Declared unit of the field, with its boundary: the text need not repeat it.
    field : str
        Name of the field for messages.

    Returns
    -------
    Reading
        ``value`` in ``field_unit``, with the marks "boundary from the field" and "CO2 only".

    Raises
    ------
    QuantityTextError
        The text is not one number with one unit in a spelling that we accept.
    UnitError
        The unit measures another thing, or names another boundary, than the field.

    Examples
    --------
    >>> reading = read("385 gCO2e/kWh", "gCO2e/kWh_facility", field="grid_intensity")
    >>> print(reading.value, reading.marks)
    385.0 gCO2e/kWh_facility ('boundary from the field',)

    """
    wanted = parse_unit(field_unit)
    if isinstance(text, Quantity):
        _refuse_other_dimension(text.units, wanted, field, f"{text:~P}", as_text=False)
        return Reading(text.to(wanted), False, False, f"{text:~P}")
    if not isinstance(text, str):
        return _from_number(text, wanted, field)
    number_text, unit_part = _split(text, wanted, field)
    number = _finite(number_text, field, text)
    if not unit_part:
        return _from_number(number, wanted, field, text)
    try:
        found = _unit_of(unit_part)
    except QuantityTextError as error:
        fault = _money_hint(number_text, unit_part) or str(error)
        raise QuantityTextError(f"{field}: {_shown(text)} {fault}") from None
    from_field = _check_boundary(found.parsed, wanted, field, text)
    value = _converted(number, found.parsed, wanted)
    if not math.isfinite(value) or (value == 0.0) != (number == 0.0):
        raise QuantityTextError(
            f"{field}: {_shown(text)} is out of range in {words(wanted)}: use another power of ten."
        )
    return Reading(quantity(value, wanted), from_field, found.co2_only, text)


def _split(text: str, wanted: pint.Unit, field: str) -> tuple[str, str]:
    """Return number and unit of a text, or say which rule it breaks."""
    stripped = text.strip()
    example = _example(wanted)
    if len(stripped) > _LONGEST:
        raise QuantityTextError(
            f"{field}: {_shown(text)} is longer than {_LONGEST} characters: write one number and one unit."
        )
    if any(unicodedata.category(letter)[0] == "C" for letter in stripped):
        raise QuantityTextError(f"{field}: {_shown(text)} has hidden letters or several lines: write it on one line.")
    if _COMMA.search(stripped):
        raise QuantityTextError(
            f"{field}: {_shown(text)} has a comma: write 1.5 for a decimal and 1_500 for thousands."
        )
    match = _TEXT.fullmatch(stripped)
    if match is None:
        raise QuantityTextError(
            f"{field}: {_shown(text)} does not start with a finite number: write the number first, like '5 {example}'."
        )
    if _TWO_NUMBERS.search(stripped):
        raise QuantityTextError(f"{field}: {_shown(text)} has several numbers: write one, like 2.5 h or 1_200 kWh.")
    return match["number"], match["unit"] or ""


def _finite(number_text: str, field: str, text: str) -> float:
    number = float(number_text)
    digits = re.split(r"[eE]", number_text)[0]
    if not math.isfinite(number) or (number == 0.0 and re.search(r"[1-9]", digits)):
        raise QuantityTextError(
            f"{field}: {_shown(text)} is out of the range of numbers: use another prefix or power of ten."
        )
    return number


def _from_number(number: float, wanted: pint.Unit, field: str, text: str | None = None) -> Reading:
    """Return the reading of a bare number, where the field allows one."""
    given = str(number) if text is None else text
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise QuantityTextError(f"{field}: {_shown(given)} is a {type(number).__name__}, not a number with a unit.")
    if not takes_bare_number(wanted):
        example = _example(wanted)
        raise QuantityTextError(
            f"{field}: {_shown(given)} has no unit: write it with one, like '{given.strip()[:20]} {example}'."
        )
    value = float(number)
    if not math.isfinite(value):
        raise QuantityTextError(f"{field}: {_shown(given)} is not finite: leave the field out where nothing is known.")
    return Reading(quantity(value, wanted), without_tags(dimension(wanted)) != dimension(wanted), False, given)


def _check_boundary(found: pint.Unit, wanted: pint.Unit, field: str, text: str) -> bool:
    """Return whether the field gave the boundary; refuse another dimension or another boundary."""
    named = any(tag in found.dimensionality for tag in (f"[{tag}]" for tag in TAGS))
    if found.dimensionality == wanted.dimensionality and is_offset(found) == is_offset(wanted):
        return False
    if (
        not named
        and without_tags(dimension(found)) == without_tags(dimension(wanted))
        and not (is_offset(found) or is_offset(wanted))
    ):
        return True
    _refuse_other_dimension(found, wanted, field, text)
    return False


def _refuse_other_dimension(
    found: pint.Unit, wanted: pint.Unit, field: str, text: str, *, as_text: bool = True
) -> None:
    if found.dimensionality == wanted.dimensionality and is_offset(found) == is_offset(wanted):
        return
    if is_offset(found) or is_offset(wanted):
        step = "a temperature is written degC, a difference of temperatures K"
    else:
        # A text without boundary takes the field's: then only the difference of kind is left to be told.
        boundary_is_clear = as_text and without_tags(dimension(found)) == dimension(found)
        step = missing_step(found, _example(wanted) if boundary_is_clear else wanted)
    raise UnitError(
        f"{field}: {_shown(text)} is in {words(found) or 'no unit'}, "
        f"the field is in {words(wanted) or 'no unit'}: {step}."
    )


def _converted(number: float, found: pint.Unit, wanted: pint.Unit) -> float:
    if found._units == wanted._units or is_offset(found):
        return number
    above, below = root_factor(found), root_factor(wanted)
    # Dividing by a whole number is exact where multiplying by its inverse is not: 3 Wh are 0.003 kWh.
    return number * tidy_ratio(above, below) if above >= below else number / tidy_ratio(below, above)


def _money_hint(number_text: str, unit_part: str) -> str:
    """Return what to write when the only fault is the sign of the currency."""
    rewritten = re.sub(r"(?:US)?\$", "USD", unit_part).replace("€", "EUR")
    if rewritten == unit_part:
        return ""
    try:
        _unit_of(rewritten)
    except QuantityTextError:
        return ""
    return f"has the sign of a currency, of which there are several: write '{number_text} {rewritten}'."
