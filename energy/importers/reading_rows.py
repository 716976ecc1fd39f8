"""What the known formats of readings share: text of any encoding, amounts with units, times, and rows in batches.

An amount is a number, or ``None`` where the tool says that it has no value (a gap, never zero), or the reason in words
why it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

from energy.errors import InputFileError, UnknownNameError
from energy.importers.base import Batch, Context, Reject, rejects_table
from energy.importers.kinds import columns_of
from energy.importers.power import MOST_OF_TDP, MOST_W
from energy.importers.text_input import clean
from energy.importers.times import EARLIEST_MS, LATEST_MS, parse_instant

POWER_TO_MILLIW = {
    "w": 1000.0,
    "watt": 1000.0,
    "watts": 1000.0,
    "mw": 1.0,
    "milliwatt": 1.0,
    "milliwatts": 1.0,
    "kw": 1e6,
    "uw": 1e-3,
    "µw": 1e-3,
}
ENERGY_TO_MICROJ = {
    "j": 1e6,
    "joule": 1e6,
    "joules": 1e6,
    "mj": 1e3,
    "uj": 1.0,
    "µj": 1.0,
    "kj": 1e9,
    "wh": 3.6e9,
    "kwh": 3.6e12,
}
TO_PERCENT = {"%": 1.0, "percent": 1.0}
MOST_NODE_W = 1_000_000.0  # a whole row of racks; a node's plug draws a hundredth of it
LEAST_CODE = 9.2e18  # 2^63 less a little: DCGM, Slurm and AMD write "no value" as whole numbers from here up
MOST_MICROJ = 9.2e18  # whole numbers of 64 bits
ROWS_PER_BATCH = 1 << 16
_MOST_REJECTS = 1 << 14
LEAST_BOARD_W = 1.0  # mW read as W, or W as mW, are a factor of a thousand apart; idle accelerators draw several watts
_CODE_OF_16_BITS_W = 65_535.0
_NO_VALUE = {
    *("", "-", "--", "n/a", "na", "nan", "-nan", "+nan", "null", "none", "nil", "unknown", "err!", "error", "absent"),
    *("not supported", "unknown error", "not available", "no reading", "disabled", "(null)"),
}
_AMOUNT = re.compile(r"([+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,4})?)\s*([A-Za-zµμ%]*)\Z")
_COMMA = re.compile(r"[+-]?[0-9]*,([0-9]*)")
_INFINITE = re.compile(r"[+-]?inf(inity)?\Z", re.IGNORECASE)
_NAME_TIME = re.compile(
    r"(?<![0-9])(20[0-9]{2})-?([01][0-9])-?([0-3][0-9])[T_ -]?([0-2][0-9])[:_-]?([0-5][0-9])(?:[:_-]?([0-5][0-9]))?"
    r"(Z|[+-][01][0-9]:?[0-5][0-9])?(?![0-9])"
)
_NAME_EPOCH = re.compile(r"(?<![0-9])(1[0-9]{9})(?:([0-9]{3}))?(?![0-9])")


def amount(value: object, units: Mapping[str, float], unit: str | None) -> float | str | None:
    """Return an amount in the unit that ``units`` scales to; ``None`` for no value; or the reason in words.

    ``unit`` is that of a number that carries none; with ``None`` such a number is refused.

    Examples
    --------
    >>> amount("640.00 W", POWER_TO_MILLIW, None), amount(302176, POWER_TO_MILLIW, "mw")
    (640000.0, 302176.0)
    >>> amount("[N/A]", POWER_TO_MILLIW, "w") is None, amount("18446744073709551614", POWER_TO_MILLIW, "w") is None
    (True, True)
    >>> amount("640,5", POWER_TO_MILLIW, "w")
    640500.0
    >>> amount("1,234", POWER_TO_MILLIW, "w")
    '`1,234` may be a thousand or a fraction: write the number with a decimal point'

    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"`{clean(value, 60)}` is no number: give the value, or N/A where there is none"
    if isinstance(value, int) and abs(value) >= 10**300:
        return "a whole number of over 300 digits is beyond every range: correct it"
    return _amount_of_text(str(value)[:400].strip().strip("\"'"), units, unit)


def _amount_of_text(text: str, units: Mapping[str, float], unit: str | None) -> float | str | None:
    if text.casefold() in _NO_VALUE or (text.startswith("[") and text.endswith("]")):
        return None
    found = _AMOUNT.match(text)
    if found is None:
        if _INFINITE.match(text):
            return f"{text} is not finite: leave it out, or give the value"
        return f"`{clean(text, 60)}` is no number: write a number with a decimal point, or N/A where there is none"
    digits = found[1]
    comma = _COMMA.match(digits)
    if comma is not None:
        if len(comma[1]) == 3:
            return f"`{clean(text, 60)}` may be a thousand or a fraction: write the number with a decimal point"
        digits = digits.replace(",", ".")
    plain = float(digits)
    if plain == float("inf"):
        return f"{clean(text, 60)} is beyond every range: correct it"
    if plain >= LEAST_CODE:
        return None
    if found[2] in ("MW", "MJ"):  # a billion times mW and mJ, which have the same letters
        plain *= 1e9
    return _scaled(plain, found[2].casefold().replace("μ", "µ") or unit, text, units)


def _scaled(plain: float, unit: str | None, text: str, units: Mapping[str, float]) -> float | str:
    if unit is None:
        return f"`{clean(text, 60)}` has no unit: write it, such as {next(iter(units))}"
    if unit not in units:
        return f"`{clean(text, 60)}`: {unit} is not among the units {', '.join(units)}: correct the unit"
    if plain < 0:
        return f"{clean(text, 60)} is below zero: correct it or leave it out"
    return plain * units[unit]


def without_trailing(cells: list[str], width: int) -> list[str]:
    """Return the cells of a line without empty ones beyond its header, as a separator at the end of each line gives.

    Examples
    --------
    >>> without_trailing(["1", "640 W", ""], 2), without_trailing(["1", "640 W", "2"], 2)
    (['1', '640 W'], ['1', '640 W', '2'])

    """
    return cells if len(cells) <= width or any(cell.strip() for cell in cells[width:]) else cells[:width]


def whole_index(value: object) -> int | str | None:
    """Return a device index (from 0), ``None`` where there is none, or the reason why it is refused.

    Examples
    --------
    >>> whole_index("3"), whole_index(None), whole_index("x")
    (3, None, '`x` is no device index: write a whole number from 0 to 65535')

    """
    text = "" if value is None else str(value)[:80].strip()
    if text.casefold() in _NO_VALUE:
        return None
    if re.fullmatch(r"[0-9]{1,5}", text) and int(text) <= 65_535:
        return int(text)
    return f"`{clean(text, 60)}` is no device index: write a whole number from 0 to 65535"


def text_or_none(value: object) -> str | None:
    """Return a trimmed text, or ``None`` where it is empty or says that there is none.

    Examples
    --------
    >>> text_or_none(" GPU-1 "), text_or_none("N/A")
    ('GPU-1', None)

    """
    if value is None or isinstance(value, dict | list):
        return None
    text = clean(value, 300).strip()
    return None if text.casefold() in _NO_VALUE or (text[:1], text[-1:]) == ("[", "]") else text


def host_of(context: Context, path: Path) -> str:
    """Return the host that the caller named for a file that names none.

    Raises
    ------
    InputFileError
        No host was named.
    """
    named = text_or_none(getattr(context, "host", None))
    if named is None:
        raise InputFileError(f"{path.name} names no host: name it with --host HOST. Nothing was stored.")
    return named


def time_of_file(context: Context, path: Path) -> int:
    """Return the time of a file whose readings carry none: what the caller named, else what the file's name says.

    Raises
    ------
    InputFileError
        Neither says a time.
    """
    given = getattr(context, "time", None)
    zone = context.timezone
    moment = _time_in_name(path.name, zone) if given is None else _given_time(given, zone)
    if isinstance(moment, str):
        raise InputFileError(f"{path.name}: {moment}. Nothing was stored.")
    return moment


def _given_time(given: object, timezone: str | None) -> int | str:
    if isinstance(given, datetime):
        given = given.isoformat()
    if isinstance(given, int) and not isinstance(given, bool):
        return checked_time(given)
    moment = parse_instant(str(given), timezone)
    return f"the time {clean(given, 60)} {moment}" if isinstance(moment, str) else checked_time(moment)


def time_text_in_name(name: str) -> str:
    """Return what a file's name says of a time, as it is written; empty where it says none.

    Examples
    --------
    >>> time_text_in_name("scrape_2026-01-05T080000Z.prom"), time_text_in_name("scrape.prom")
    ('2026-01-05T080000Z', '')

    """
    found = _NAME_EPOCH.search(name) or _NAME_TIME.search(name)
    return found[0] if found else ""


def _time_in_name(name: str, timezone: str | None) -> int | str:
    """Read ``scrape_2026-01-05T080000Z.prom`` and ``scrape_1767600000.prom``."""
    epoch = _NAME_EPOCH.search(name)
    if epoch is not None:
        return checked_time(int(epoch[1]) * 1000 + int(epoch[2] or 0))
    found = _NAME_TIME.search(name)
    remedy = "name it with --time TIME, such as 2026-01-05T08:00:00Z, or in the file's name"
    if found is None:
        return f"the readings carry no time: {remedy}"
    year, month, day, hour, minute, second, zone = found.groups()
    moment = parse_instant(f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{zone or ''}", timezone)
    return f"the time in the file's name {moment}; {remedy}" if isinstance(moment, str) else checked_time(moment)


def checked_time(time_ms: float) -> int | str:
    """Return a time in whole ms, or why it is refused: it must be between 2010 and 2100.

    Examples
    --------
    >>> checked_time(1_767_600_000_000)
    1767600000000
    >>> checked_time(1_767_600_000)
    'the time is not between 2010 and 2100: correct it, or check its unit (s or ms)'

    """
    if not EARLIEST_MS <= time_ms < LATEST_MS:
        return "the time is not between 2010 and 2100: correct it, or check its unit (s or ms)"
    return round(time_ms)


def epoch_ms(text: str) -> int | str | None:
    """Return a counted Unix time, in s or ms by its size, as ms; ``None`` where the text counts nothing.

    Examples
    --------
    >>> epoch_ms("1767600000"), epoch_ms("1767600000500"), epoch_ms("2026-01-05")
    (1767600000000, 1767600000500, None)

    """
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", text):
        return None
    value = float(text)
    return checked_time(value if value >= 1e11 else value * 1000)


def local_time(text: str, context: Context, path: Path) -> int | str:
    """Return ms of a time written as ISO 8601, with / between day, month and year, or counted; or why it is refused.

    Raises
    ------
    InputFileError
        The time carries no zone and none was named: no line of the file can be read.
    """
    text = text.strip()
    counted = epoch_ms(text)
    if counted is not None:
        return counted
    moment = parse_instant(text.replace("/", "-", 2), context.timezone)
    if not isinstance(moment, str):
        return checked_time(moment)
    if moment.startswith("carries no zone"):
        raise InputFileError(
            f"times in {path.name} carry no zone: name it with --timezone ZONE (IANA, such as Europe/Berlin or UTC). "
            "Nothing was stored."
        )
    return f"the time {clean(text, 60)} {moment}"


class Rows:
    """Collects rows of one kind and refused samples, and gives them as batches.

    A gap is counted, never stored as zero; ``finish`` says how many there were.
    """

    def __init__(self, kind: str, context: Context) -> None:
        self._schema = columns_of(kind)
        self._context = context
        self._columns: dict[str, list[Any]] = {name: [] for name in self._schema.names}
        self._rejects: list[Reject] = []
        self._gaps = 0
        self._stored = 0
        self._refused = 0
        self._most: dict[str | None, tuple[float, str]] = {}

    def add(self, row_number: int, **values: Any) -> None:
        """Add a row; columns that are not named are null."""
        for name, column in self._columns.items():
            column.append(values.get(name))
        self._columns["row_number"][-1] = row_number

    def refuse(self, row_number: int, reason: str, row_text: object = "") -> None:
        """Refuse a sample with its line, the reason with the remedy, and what it said."""
        self._rejects.append(Reject(row_number, clean(reason, 400), clean(row_text)))

    def gap(self) -> None:
        """Count a reading without value."""
        self._gaps += 1

    def power(self, value: float | str | None, chip_name: str | None = None, most_w: float | None = None) -> Any:
        """Return whole mW, ``None``, or the reason: no device draws 0 W or more than ``most_w``.

        What answers, draws power: 0 W is what drivers write where they cannot tell.
        """
        if value is None or isinstance(value, str):
            return value
        if value <= 0:
            return "0 W of a device that answers is no reading: leave it out; a gap is not zero"
        if most_w is None and value < LEAST_BOARD_W * 1000:
            return f"{value / 1000:g} W is less than any board draws that answers ({LEAST_BOARD_W:g} W): check its unit"
        if most_w is not None and value == _CODE_OF_16_BITS_W * 1000:
            return "65535 W is what 16 bits hold at most, and what controllers write for no value: a gap is not power"
        most, rule = self.limit(chip_name) if most_w is None else (most_w, f"more than any node draws ({most_w:g} W)")
        if value > most * 1000:
            return f"{value / 1000:g} W is {rule}: check its unit"
        return round(value)

    def counter(self, value: float | str | None) -> Any:
        """Return a counter in whole µJ, ``None``, or the reason."""
        if value is None or isinstance(value, str):
            return value
        return round(value) if value < MOST_MICROJ else "the counter is over 2.5 GWh: check its unit"

    def percent(self, value: float | str | None) -> Any:
        """Return a utilisation, ``None``, or the reason."""
        if isinstance(value, float) and value > 100:
            return f"utilisation {value:g} is over 100 %: correct it"
        return value

    def limit(self, chip_name: str | None) -> tuple[float, str]:
        """Return the most W that a board of that name can draw, and the rule in words."""
        if chip_name not in self._most:
            self._most[chip_name] = self._find_limit(chip_name)
        return self._most[chip_name]

    def _find_limit(self, chip_name: str | None) -> tuple[float, str]:
        from energy.catalogue.chips import chip

        try:
            chip_id = None if chip_name is None else self._context.chip_of_name(chip_name, None)
            tdp_w = None if chip_id is None else chip(chip_id).tdp_w
        except UnknownNameError:
            tdp_w = None  # the ledger says so where it needs the chip
        if tdp_w is None:
            return MOST_W, f"more than any device draws ({MOST_W:g} W)"
        return MOST_OF_TDP * tdp_w, f"over twice the board's maximum of {tdp_w:g} W"

    def full(self) -> Iterator[Batch]:
        """Yield a batch when enough has been collected."""
        if len(self._columns["row_number"]) >= ROWS_PER_BATCH or len(self._rejects) >= _MOST_REJECTS:
            yield self._batch()

    def finish(self, path: Path, what: str, *, may_be_empty: bool = False) -> Iterator[Batch]:
        """Yield what is left, and note gaps.

        Raises
        ------
        InputFileError
            The file held neither a row nor a refused sample nor a gap.
        """
        batch = self._batch()
        if self._gaps:
            self._context.notes.append(
                f"{path.name}: {self._gaps} readings without value (N/A, NaN or a code) are gaps, not zero."
            )
        if not (self._stored or self._refused or self._gaps or may_be_empty):
            raise InputFileError(f"{path.name} holds no {what}. Nothing was stored.")
        yield batch

    def _batch(self) -> Batch:
        import pyarrow as pa

        columns = [pa.array(self._columns[field.name], field.type) for field in self._schema]
        table = pa.Table.from_arrays(columns, schema=self._schema)
        rejects, refused = rejects_table(self._rejects), len(self._rejects)
        self._stored += table.num_rows
        self._refused += refused
        self._columns = {name: [] for name in self._columns}
        self._rejects = []
        return Batch(table, rejects, table.num_rows + refused)


@lru_cache(maxsize=1024)
def utc_text(time_ms: int) -> str:
    """Return a time for people.

    Examples
    --------
    >>> utc_text(1_767_600_000_000)
    '2026-01-05T08:00:00Z'

    """
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def refuse_file(path: Path, what: str) -> NoReturn:
    """Raise the one-line error of a file that is not of the format."""
    raise InputFileError(f"{path.name} {what} Nothing was stored.")
