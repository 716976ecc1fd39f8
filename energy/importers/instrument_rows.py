"""What the readers of certificates and contracts share: rows of a CSV file, typed cells, rows of instruments."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy.errors import InputFileError, did_you_mean
from energy.importers.base import Batch, Context, Reject, rejects_table
from energy.importers.text_input import whole_text

if TYPE_CHECKING:
    import pyarrow as pa

PLAIN_TABLE = (
    "instrument_id",
    "instrument_kind",
    "energy_mwh",
    "intensity_gco2e_per_kwh",
    "vintage_from",
    "vintage_to",
    "market",
)
_DELIMITERS = ",;\t|"
_SHOWN = 200
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class RowError(Exception):
    """Why one row is refused, with the remedy; never leaves the importers."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of a file: its line and its cells by column; an absent cell is empty."""

    number: int
    cells: Mapping[str, str]

    def text(self, column: str) -> str | None:
        """Return a cell, or None where it is empty or the file has no such column."""
        return self.cells.get(column, "").strip() or None

    def needed(self, column: str) -> str:
        """Return a cell that must be there."""
        found = self.text(column)
        if found is None:
            raise RowError(f"{column} is empty: complete the row")
        return found

    def number_of(self, column: str, *, grouped: bool = False) -> float | None:
        """Return a cell as a number of zero or more; ``grouped``: commas between thousands are the format's."""
        found = self.text(column)
        if found is None:
            return None
        try:
            value = float(found.replace(",", "") if grouped else found)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= 0) or "_" in found:
            raise RowError(f"{column} {found!r} is no number of zero or more: correct it")
        return value

    def date_of(self, column: str) -> date:
        """Return a cell as a date."""
        found = self.needed(column)
        try:
            return date.fromisoformat(found)
        except ValueError:
            raise RowError(f"{column} {found!r} is no date: write it as 2026-01-31") from None

    def instant_of(self, column: str) -> datetime:
        """Return a cell as an instant; it must carry its offset."""
        found = self.needed(column)
        try:
            moment = datetime.fromisoformat(found)
        except ValueError:
            raise RowError(f"{column} {found!r} is no ISO 8601 time: write it as 2026-01-31T14:00:00Z") from None
        if moment.tzinfo is None:
            raise RowError(f"{column} {found!r} carries no zone: write its offset, such as Z")
        return moment.astimezone(UTC)

    def moment_of(self, column: str, *, end: bool = False) -> datetime | None:
        """Return a date (UTC midnight; as an inclusive end the midnight after it) or an instant; None where empty."""
        found = self.text(column)
        if found is None:
            return None
        if len(found) > len("2026-01-31"):
            return self.instant_of(column)
        return midnight(self.date_of(column) + timedelta(days=1 if end else 0))

    def yes_or_no(self, column: str) -> bool | None:
        """Return yes or no; None where it is not stated."""
        found = self.text(column)
        if found is None:
            return None
        if found.casefold() not in _YES:
            raise RowError(f"{column} {found!r}: write yes or no, or leave it empty where it is not stated")
        return _YES[found.casefold()]


def midnight(day: date) -> datetime:
    """Return the UTC midnight at which a day begins.

    Examples
    --------
    >>> midnight(date(2026, 1, 31)).isoformat()
    '2026-01-31T00:00:00+00:00'

    """
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Instrument:
    """One row of ``raw.instrument``: a certificate, contract or supplier's rate as the file states it.

    ``None`` is "not stated". Energy at the site's meter in MWh; the rate is of combustion, g CO2e per kWh there.
    """

    instrument_id: str
    instrument_kind: str
    energy_facility_mwh: float | None
    intensity_gco2e_per_kwh_facility: float | None
    vintage_from_utc: datetime
    vintage_to_utc: datetime
    market: str | None = None
    site_id: str | None = None
    registry: str | None = None
    cancellation_id: str | None = None
    beneficiary: str | None = None
    register_status: str | None = None
    technology: str | None = None
    claimed_from_utc: datetime | None = None
    claimed_to_utc: datetime | None = None
    conveys_rate: bool | None = None
    is_sole_claim: bool | None = None
    is_delivered: bool | None = None
    goes_to_reporter: bool | None = None

    def __post_init__(self) -> None:
        if self.energy_facility_mwh is not None and self.energy_facility_mwh <= 0:
            raise RowError(f"it covers {self.energy_facility_mwh:g} MWh: give what was bought, above zero")
        if self.vintage_from_utc >= self.vintage_to_utc:
            raise RowError("its generation ends before it begins: correct the dates")


@dataclass(slots=True)
class Typed:
    """Rows of one file as they are typed, and those that are refused."""

    rows: list[tuple[int, Any]] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)

    def refuse(self, line: Line, why: object) -> None:
        """Refuse one row."""
        shown = ", ".join(f"{name}={value}" for name, value in line.cells.items())[:_SHOWN]
        self.rejects.append(Reject(line.number, str(why), shown))

    def batch(self, schema: pa.Schema) -> Batch:
        """Return all rows as one batch."""
        import pyarrow as pa

        columns = {"row_number": [number for number, _ in self.rows]} | {
            name: [_stored(name, getattr(row, name)) for _, row in self.rows]
            for name in schema.names
            if name != "row_number"
        }
        table = pa.table([pa.array(columns[name], schema.field(name).type) for name in schema.names], schema=schema)
        return Batch(table, rejects_table(self.rejects), len(self.rows) + len(self.rejects))


def _stored(name: str, value: Any) -> Any:
    """Round energy as the ledger stores it, so that the same row of another file is equal to it."""
    return round(value, 12) if name == "energy_facility_mwh" and value is not None else value


def instrument_schema() -> pa.Schema:
    """Return the columns of rows of instruments.

    Examples
    --------
    >>> instrument_schema().names[:3]
    ['row_number', 'instrument_id', 'instrument_kind']

    """
    import pyarrow as pa

    moment = pa.timestamp("ms", "UTC")
    kinds = {
        "energy_facility_mwh": pa.float64(),
        "intensity_gco2e_per_kwh_facility": pa.float64(),
        **dict.fromkeys(("vintage_from_utc", "vintage_to_utc", "claimed_from_utc", "claimed_to_utc"), moment),
        **dict.fromkeys(("conveys_rate", "is_sole_claim", "is_delivered", "goes_to_reporter"), pa.bool_()),
    }
    names = list(Instrument.__slots__)
    return pa.schema([("row_number", pa.int64()), *((name, kinds.get(name, pa.string())) for name in names)])


def lines_of(path: Path, what: str, context: Context) -> tuple[list[str], Iterator[Line]]:
    """Return the header of a CSV file and its rows.

    Raises
    ------
    InputFileError
        The file cannot be read, has no header or no rows, or has a column twice.
    """
    text = whole_text(path, what, context)
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header: list[str] = []
    while not any(header):
        header = [cell.strip() for cell in next(reader, ["(no header)"])]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputFileError(f"{path.name}, line {reader.line_num}: column {twice[0]} occurs twice. Rename one.")
    return header, _rows(reader, header)


def _rows(reader: Any, header: Sequence[str]) -> Iterator[Line]:
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield Line(reader.line_num, dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=False)))


def layout_of(path: Path, header: Sequence[str], layouts: Mapping[str, Sequence[str]]) -> str:
    """Return the layout whose columns a header has.

    Raises
    ------
    InputFileError
        It has those of none; names the nearest layout and what it lacks.
    """
    for name, columns in layouts.items():
        if set(columns) <= set(header):
            return name
    nearest = max(layouts, key=lambda name: len(set(layouts[name]) & set(header)))
    missing = [column for column in layouts[nearest] if column not in header]
    hints = " ".join(did_you_mean(column, header) for column in missing[:1])
    raise InputFileError(
        f"{path.name}: its columns are of no known layout ({', '.join(layouts)}); nearest is {nearest}, which needs "
        f"{', '.join(missing)}.{hints} Nothing was stored."
    )


def read_own(line: Line, context: Context) -> Instrument:
    """Return one row of the plain table, whose columns say what they hold (docs/importers.md)."""
    from energy.carbon.instruments import KINDS

    kind = line.needed("instrument_kind").casefold()
    if kind not in KINDS:
        raise RowError(f"instrument_kind {kind!r}: use {', '.join(KINDS)}.{did_you_mean(kind, KINDS)}")
    energy = line.number_of("energy_mwh")
    if energy is None and kind != "contract":
        raise RowError("energy_mwh is empty: only a contract may leave it to the hours of its deliveries")
    start, end = line.moment_of("vintage_from"), line.moment_of("vintage_to")
    if start is None or end is None:
        raise RowError("vintage_from or vintage_to is empty: give the half-open period of generation")
    site_id = line.text("site") or context.site_id
    if site_id is not None and site_id not in context.sites:
        raise RowError(f"site {site_id} is not in site.yaml.{did_you_mean(site_id, context.sites)} Correct it")
    return Instrument(
        line.needed("instrument_id"),
        kind,
        energy,
        line.number_of("intensity_gco2e_per_kwh"),
        start,
        end,
        market=line.text("market"),
        site_id=site_id,
        registry=line.text("registry"),
        cancellation_id=line.text("cancellation_id"),
        beneficiary=line.text("beneficiary"),
        technology=line.text("technology"),
        claimed_from_utc=line.moment_of("claimed_from"),
        claimed_to_utc=line.moment_of("claimed_to"),
        conveys_rate=line.yes_or_no("conveys_rate"),
        is_sole_claim=line.yes_or_no("is_sole_claim"),
        is_delivered=line.yes_or_no("is_delivered"),
        goes_to_reporter=line.yes_or_no("goes_to_reporter"),
    )
