"""Values of a scenario: numbers with their units as text, names, dates; one rule each, one line for what breaks it.

Messages start with ``{key}``, which the reader of the whole scenario replaces by the key or the flag that was written.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, StrictBool, WithJsonSchema

from energy.errors import EnergyError, did_you_mean
from energy.units import read, takes_bare_number

KEY = "{key}"
_NOT_FINITE = re.compile(r"\s*[+-]?(nan|inf|infinity)\b", re.IGNORECASE)
_YEARS = range(1950, 2101)


def _fault(text: str) -> ValueError:
    """Return what pydantic takes as a value that does not hold."""
    return ValueError(text)


def _shown_as(schema: dict[str, Any]) -> Any:
    """Return a type whose JSON Schema is that of what people write, not that of what is kept."""
    return Annotated[Any, WithJsonSchema(schema)]


def _written(unit: str, low: float | None, most: float | None, whole: bool) -> dict[str, Any]:
    """Return the JSON Schema of an amount: text with its unit, or a bare number where the unit is clear."""
    text = {"type": "string", "pattern": r"^\s*[+]?[\d._]+([eE][+-]?\d+)?\s*\S*", "x-unit": unit}
    if not takes_bare_number(unit):
        return text
    bounds = {"exclusiveMinimum": 0} if low is None else {"minimum": low}
    bounds |= {} if most is None else {"maximum": most}
    return {"anyOf": [{"type": "integer" if whole else "number", **bounds}, text]}


def _one(value: Any) -> Any:
    """Return a single value; refuse what holds several or none."""
    if isinstance(value, list | tuple | dict | set):
        kind = "a group of keys" if isinstance(value, dict) else "a list"
        raise _fault(f"{KEY} is {kind}: give one value.")
    if value is None or (isinstance(value, str) and not value.strip()):
        raise _fault(f"{KEY} is empty: give a value, or leave the key out where nothing is known.")
    return value


def amount(
    unit: str, *, whole: bool = False, least: float | None = None, most: float | None = None, why: str = ""
) -> BeforeValidator:
    """Return the reader of a number in a unit: a finite number above zero, or from ``least`` on, up to ``most``.

    Parameters
    ----------
    unit : str
        Of the field, with its boundary; the text need not repeat the boundary. Only counts and ratios may be bare.
    whole : bool
        Whether it is a count, 1 or more unless ``least`` says another.
    least, most : float, optional
        Bounds that are allowed themselves.
    why : str
        Reason of the bounds, for the message.

    Examples
    --------
    >>> amount("W_chip").func("0.4 kW")
    400.0

    """
    low = 1.0 if whole and least is None else least

    def reader(value: Any) -> float:
        given = _one(value)
        if (isinstance(given, float) and not math.isfinite(given)) or (
            isinstance(given, str) and _NOT_FINITE.match(given)
        ):
            raise _fault(f"{KEY} is {given}: give {_rule(low, most, whole)}.")
        try:
            number = float(read(given, unit, field=KEY).value.magnitude)
        except EnergyError as error:
            raise _fault(str(error).replace("like '5 '", "like 5")) from None
        broken = number < low if low is not None else number <= 0
        if broken or (most is not None and number > most) or (whole and number != math.floor(number)):
            shown = f"{number:g}" if isinstance(given, int | float) else given.strip()
            raise _fault(f"{KEY} is {shown}: give {_rule(low, most, whole)}{why}.")
        return number

    return BeforeValidator(reader, json_schema_input_type=_shown_as(_written(unit, low, most, whole)))


def amount_or(word: str, unit: str, **rules: Any) -> BeforeValidator:
    """Return the reader of a number in a unit, or of one word that asks for a model.

    Examples
    --------
    >>> amount_or("modelled", "kWh_it/kWh_chip", least=1.0).func("modelled")
    'modelled'

    """
    numbers = amount(unit, **rules)
    number = numbers.func

    def reader(value: Any) -> Any:
        if isinstance(value, str) and value.strip().casefold() == word:
            return word
        return number(value)  # type: ignore[call-arg]  # of the two kinds of functions pydantic takes, it is the short

    return BeforeValidator(reader, json_schema_input_type=Literal[word] | numbers.json_schema_input_type)


def _rule(low: float | None, most: float | None, whole: bool) -> str:
    if whole:
        return f"a whole number, {low:g} or more" if most is None else f"a whole number, {low:g} to {most:g}"
    if low is None:
        return "a finite number above zero" if most is None else f"a number above 0, at most {most:g}"
    return f"a finite number, {low:g} or more" if most is None else f"a number from {low:g} to {most:g}"


def _text(value: Any) -> str:
    given = _one(value)
    if not isinstance(given, str):
        raise _fault(f"{KEY} is {given}: give a name; one that YAML reads as another thing stands in quotes.")
    return " ".join(given.split())


def _date(value: Any) -> str:
    """Return a date as text; YAML reads 2025-03-17 as a date and 2025 as a number."""
    from energy.cost.prices import span

    given = _one(value)
    if isinstance(given, datetime.datetime):
        given = given.date()
    text = given.isoformat() if isinstance(given, datetime.date) else str(given).strip()
    try:
        span(text)
    except EnergyError as error:
        raise _fault(f"{KEY}: {error}") from None
    return text


def _year(value: Any) -> float:
    given = _one(value)
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(given, bool) or not _YEARS.start <= number < _YEARS.stop:
        raise _fault(f"{KEY} is {given}: give a year, such as 2024 or 2024.5 for its middle.")
    return number


def _hour(value: Any) -> datetime.datetime:
    """Return the beginning of a UTC hour; YAML reads 2026-03-01 as a date, and a time without a zone is UTC."""
    given = _one(value)
    rule = "give the UTC hour that it begins in, such as 2026-03-01 or 2026-03-01T14:00Z"
    if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        given = datetime.datetime(given.year, given.month, given.day)
    if not isinstance(given, datetime.datetime):
        try:
            given = datetime.datetime.fromisoformat(str(given).strip())
        except ValueError:
            raise _fault(f"{KEY} is {given}: {rule}.") from None
    found = given.astimezone(datetime.UTC).replace(tzinfo=None) if given.tzinfo is not None else given
    if found.minute or found.second or found.microsecond or found.year not in _YEARS:
        raise _fault(f"{KEY} is {value}: {rule}.")
    return found


def _name_or_keys(value: Any) -> Any:
    if isinstance(value, dict):
        if not value:
            raise _fault(f"{KEY} is empty: give a name, a file, or keys.")
        return value
    return _text(value)


def _whole_year(value: Any) -> int:
    number = _year(value)
    if number != math.floor(number):
        raise _fault(f"{KEY} is {value}: give a whole year, such as 2024.")
    return int(number)


def _flag(value: Any) -> Any:
    if not isinstance(_one(value), bool):
        raise _fault(f"{KEY} is {value}: give true or false.")
    return value


def one_of(*names: str) -> BeforeValidator:
    """Return the reader of a name out of a few, in any case, with ``_`` for ``-``.

    Examples
    --------
    >>> one_of("on-demand", "spot").func("On_Demand")
    'on-demand'

    """

    def reader(value: Any) -> str:
        given = _text(value)
        folded = given.casefold().replace("_", "-")
        if folded not in names:
            raise _fault(f"{KEY} is {given!r}: give {', '.join(names)}.{did_you_mean(given, names)}")
        return folded

    return BeforeValidator(reader, json_schema_input_type=_shown_as({"enum": list(names)}))


_YEAR = {"type": "number", "minimum": _YEARS.start, "exclusiveMaximum": _YEARS.stop}
_DATE = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
_HOUR = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d([T ]\d\d(:00)*(Z|[+-]\d\d:?\d\d)?)?$"}

Text = Annotated[str, BeforeValidator(_text)]
Date = Annotated[str, BeforeValidator(_date, json_schema_input_type=_shown_as(_DATE))]
Year = Annotated[float, BeforeValidator(_year, json_schema_input_type=_shown_as(_YEAR))]
Whole = Annotated[int, BeforeValidator(_whole_year, json_schema_input_type=_shown_as(_YEAR | {"type": "integer"}))]
Hour = Annotated[datetime.datetime, BeforeValidator(_hour, json_schema_input_type=_shown_as(_HOUR))]
NameOrKeys = Annotated[str | dict[str, Any], BeforeValidator(_name_or_keys)]
Flag = Annotated[StrictBool, BeforeValidator(_flag)]
Count = Annotated[float, amount("", whole=True)]
