"""The quarter of a report: how it is written, and which quarters a ledger holds."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from energy.errors import ReportError

_FORM = re.compile(r"(\d{4})Q([1-4])")


class Reader(Protocol):
    """What a report needs of a ledger: rows of a query, and the number of the version that answers.

    ``energy.ledger.Ledger`` is one.
    """

    @property
    def version(self) -> int:
        """Number of the published version that the rows come from."""
        ...

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Return the rows of a query, each as a dictionary by column."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class Quarter:
    """A calendar quarter in the reporting time zone.

    Examples
    --------
    >>> quarter = Quarter(2026, 1)
    >>> quarter.key, quarter.text, quarter.previous.key, quarter.year_earlier.key
    ('2026Q1', '2026 Q1', '2025Q4', '2025Q1')

    """

    year: int
    number: int

    @property
    def key(self) -> str:
        """As the ledger writes it: ``2026Q1``."""
        return f"{self.year}Q{self.number}"

    @property
    def text(self) -> str:
        """As people read it: ``2026 Q1``."""
        return f"{self.year} Q{self.number}"

    @property
    def previous(self) -> Quarter:
        """The quarter before."""
        return Quarter(self.year - 1, 4) if self.number == 1 else Quarter(self.year, self.number - 1)

    @property
    def year_earlier(self) -> Quarter:
        """The same quarter of the year before."""
        return Quarter(self.year - 1, self.number)

    @property
    def months(self) -> tuple[str, str, str]:
        """The three months, as ``2026-01``."""
        first = 3 * self.number - 2
        return (f"{self.year}-{first:02}", f"{self.year}-{first + 1:02}", f"{self.year}-{first + 2:02}")

    @property
    def hours(self) -> int:
        """Hours in UTC; a change of the clock inside it takes or gives one."""
        return 24 * ((self.last_day - self.first_day).days + 1)

    @property
    def first_day(self) -> date:
        """First day, included."""
        return date(self.year, 3 * self.number - 2, 1)

    @property
    def last_day(self) -> date:
        """Last day, included."""
        month = 3 * self.number
        return date(self.year, month, calendar.monthrange(self.year, month)[1])


def day_text(day: date) -> str:
    """Write a date for people.

    Examples
    --------
    >>> day_text(date(2026, 3, 31))
    '31 Mar 2026'

    """
    return f"{day.day} {calendar.month_abbr[day.month]} {day.year}"


def parse_quarter(text: str, held: Sequence[str] = ()) -> Quarter:
    """Read a quarter.

    Parameters
    ----------
    text : str
        A year, the letter Q and 1 to 4, as ``2026Q1``.
    held : sequence of str
        Quarters that the ledger holds; the message names them.

    Raises
    ------
    ReportError
        When the text has another form.

    Examples
    --------
    >>> parse_quarter("2026Q1")
    Quarter(year=2026, number=1)
    >>> parse_quarter("2026-1", ["2026Q1"])
    Traceback (most recent call last):
    energy.errors.ReportError: "2026-1" is not a quarter. Write it as 2026Q1. The ledger holds 2026Q1.

    """
    match = _FORM.fullmatch(text.strip().upper())
    if match is None:
        known = f" The ledger holds {', '.join(held)}." if held else " The ledger holds no quarter yet."
        raise ReportError(f'"{text}" is not a quarter. Write it as 2026Q1.{known}')
    return Quarter(int(match[1]), int(match[2]))


# Hours with lines, and hours for which the ledger accounts for every installed chip.
_HELD = """
SELECT calendar.quarter, min(calendar.local_date) AS first_date, max(calendar.local_date) AS last_date,
    count(line.hour_utc) AS line_hours, count(chips.hour_utc) AS installed_hours
FROM (SELECT DISTINCT hour_utc FROM core.energy_hour) AS line
JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = line.hour_utc
LEFT JOIN (SELECT DISTINCT hour_utc FROM core.installed_hour) AS chips ON chips.hour_utc = line.hour_utc
GROUP BY calendar.quarter
ORDER BY calendar.quarter
"""

# A quarter counts as whole from this share of its hours: a change of the clock must not make it partial.
_WHOLE = 0.99


@dataclass(frozen=True, slots=True)
class Held:
    """The quarters of a ledger, oldest first, and its first and last day with rows.

    ``hours`` counts for each quarter the hours for which the ledger accounts for every installed chip, or, in a ledger
    without inventory, the hours with lines: jobs that began before the log leave traces in a quarter that is not held.
    """

    quarters: tuple[str, ...]
    first_date: str | None
    last_date: str | None
    hours: tuple[int, ...] = ()

    def hours_of(self, quarter: Quarter) -> int:
        """Return the hours of a quarter that the ledger holds."""
        return dict(zip(self.quarters, self.hours, strict=True)).get(quarter.key, 0)

    def whole(self, quarter: Quarter) -> bool:
        """Tell whether the ledger holds the whole quarter, so that its sums may be compared."""
        return self.hours_of(quarter) >= _WHOLE * quarter.hours

    def empty_message(self, quarter: Quarter) -> str:
        """Say that a quarter has no rows, and what the ledger covers."""
        if self.first_date is None or self.last_date is None:
            return f"{quarter.text} has no rows. The ledger holds no rows at all; ingest a file first."
        first, last = (day_text(date.fromisoformat(day)) for day in (self.first_date, self.last_date))
        return f"{quarter.text} has no rows. The ledger covers {first} to {last}."


def held_quarters(reader: Reader) -> Held:
    """Ask the ledger which quarters have rows."""
    rows = reader.rows(_HELD)
    if not rows:
        return Held((), None, None)
    column = "installed_hours" if any(row["installed_hours"] for row in rows) else "line_hours"
    return Held(
        tuple(str(row["quarter"]) for row in rows),
        str(rows[0]["first_date"]),
        str(rows[-1]["last_date"]),
        tuple(int(row[column]) for row in rows),
    )
