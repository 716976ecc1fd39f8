"""Which rows of CodeCarbon's file are one run, and which are copies of one measurement."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from energy.errors import InputFileError
from energy.importers.base import Context, Reject
from energy.importers.text_input import note_open_end, whole_text

WHAT = "CodeCarbon's emissions.csv"
NEEDED = ("timestamp", "duration")
SAME_MS = 2_000  # time stamps are whole seconds, and a row is written a little after it was measured
SAME_SHARE = 0.01
MOST_NOTES = 20
MOST_ACTIVE = 64  # trackers at once on machines that look alike; more are not compared with the first
_TELLING = {"emissions", "energy_consumed", "country_iso_code", "project_name"}
_COUNTRY = re.compile(r"[A-Z]{3}\Z")
_NUMBERS = ("duration", "emissions", "gpu_energy", "energy_consumed", "cpu_energy", "ram_energy")
_SHOWN = 200


@dataclass(slots=True)
class Row:
    """One line: its cells by column; ``short`` rows have lost empty cells, so that only their first cells hold."""

    line: int
    cells: dict[str, str]
    short: bool = False


@dataclass(slots=True)
class Measured:
    """What is known of one row when runs are told apart."""

    place: int
    line: int
    run: Hashable
    host: str | None
    machine: Hashable
    whole_machine: bool
    start_ms: int
    end_ms: int
    energy_kwh: float
    cells: tuple[str, ...]
    task: bool = False
    short: bool = False


@dataclass(slots=True)
class Choice:
    """Rows that count, reasons to refuse rows, and what is to be said."""

    kept: list[Measured] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _counts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def count(self, what: str, line: int) -> None:
        """Count a line of which the same is to be said; the first is named."""
        number, first = self._counts.get(what, (0, line))
        self._counts[what] = (number + 1, min(first, line))

    def say(self, what: str) -> None:
        """Say something of two lines, up to a number that people read."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(what)
        elif len(self.notes) == MOST_NOTES:
            self.notes.append("more of the same kind are not listed")

    def finish(self) -> None:
        """Put what was counted before what was said."""
        self.notes[:0] = [
            f"{n:,} lines left out, the first is line {line}: {w}" for w, (n, line) in self._counts.items()
        ]


def is_header(cells: Sequence[str]) -> bool:
    """Tell whether a line is CodeCarbon's header, of any version.

    Examples
    --------
    >>> is_header(["timestamp", "project_name", "duration", "emissions", "energy_consumed"])
    True

    """
    return set(NEEDED) <= set(cells) and len(_TELLING & set(cells)) >= 2


def read_rows(path: Path, context: Context) -> tuple[list[Row], list[Reject]]:
    """Return the lines under the header, and those that cannot be cut into columns.

    Raises
    ------
    InputFileError
        No header, no rows, or no text.
    """
    text = whole_text(path, WHAT, context)
    header: list[str] = []
    rows: list[Row] = []
    rejects: list[Reject] = []
    first = text.lstrip().split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count))
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if not any(stripped):
                continue
            if is_header(stripped):  # also again, where files were joined
                header = _checked(stripped, path, reader.line_num)
            elif header:
                found = _row(stripped, header, reader.line_num)
                if isinstance(found, Row):
                    rows.append(found)
                else:
                    rejects.append(found)
    except csv.Error as error:
        raise InputFileError(
            f"{path.name}, line {reader.line_num}: cannot be cut into columns ({error}). Nothing was stored."
        ) from error
    if not header:
        raise InputFileError(
            f"{path.name}: no line names timestamp, duration and emissions: this is not {WHAT}. Nothing was stored."
        )
    if not text.endswith(("\n", "\r")):
        note_open_end(path, reader.line_num, context)
    if not rows and not rejects:
        raise InputFileError(f"{path.name} has a header and no rows: nothing to ingest, nothing was stored.")
    return rows, rejects


def _checked(names: list[str], path: Path, line: int) -> list[str]:
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise InputFileError(f"{path.name}, line {line}: column {twice[0]} occurs twice. Nothing was stored.")
    return names


def _row(cells: list[str], header: list[str], line: int) -> Row | Reject:
    if len(cells) > len(header) and not any(cells[len(header) :]):
        cells = cells[: len(header)]
    if len(cells) == len(header):
        return Row(line, dict(zip(header, cells, strict=True)))
    place = header.index("country_iso_code") if "country_iso_code" in header else len(cells)
    known = dict(zip(header[: place + 1], cells[: place + 1], strict=False))
    # Rows that were appended without their empty cells keep the cells before the first one that may be empty
    if place < len(cells) < len(header) and _COUNTRY.match(cells[place]) and _all_numbers(known):
        return Row(line, known, short=True)
    shown = ",".join(cells)[:_SHOWN].replace("\n", " ")
    return Reject(line, f"{len(cells)} values where the header names {len(header)}: complete or remove the line", shown)


def _all_numbers(cells: dict[str, str]) -> bool:
    return all(re.fullmatch(r"[0-9.eE+\-]*", cells[name]) for name in _NUMBERS if name in cells)


def choose(rows: Iterable[Measured]) -> Choice:
    """Return the rows that count: the last one of each run, and one for each machine and window.

    With ``flush`` the rows of a run grow: the last holds the whole run. A tracker of the whole machine sees what every
    other tracker on it sees: rows of one machine and window are copies of one measurement.
    """
    choice = Choice()
    last: list[Measured] = []
    ordered = sorted(rows, key=lambda row: (repr(row.run), row.host or "", row.line))
    for _, group in groupby(ordered, key=lambda row: (repr(row.run), row.host or "")):
        last += _last_of_run(list(group), choice)
    alone = [row for row in last if not row.whole_machine]
    choice.kept += alone
    whole = sorted(
        (row for row in last if row.whole_machine), key=lambda row: (repr(row.host or row.machine), row.start_ms)
    )
    for _, group in groupby(whole, key=lambda row: repr(row.host or row.machine)):
        _one_machine(list(group), choice)
    choice.kept.sort(key=lambda row: row.line)
    choice.finish()
    return choice


def _last_of_run(rows: list[Measured], choice: Choice) -> list[Measured]:
    """Return the last row of a run; trackers of several processes may end it at once."""
    if rows[0].task:
        return rows
    length = max(row.end_ms - row.start_ms for row in rows)
    longest = [row for row in rows if row.end_ms - row.start_ms == length]
    end = max(row.end_ms for row in longest)
    chosen: dict[tuple[str, ...], Measured] = {}
    for row in longest:
        if row.end_ms == end:
            chosen.setdefault(row.cells, row)
    kept = {row.line for row in chosen.values()}
    for row in rows:
        if row.line not in kept:
            choice.count("the last row of their run holds all", row.line)
    return list(chosen.values())


def _one_machine(rows: list[Measured], choice: Choice) -> None:
    """Keep one row of each window of one machine; refuse what would count the same energy twice."""
    rows.sort(key=lambda row: (row.start_ms, -row.end_ms, row.line))
    counted: list[Measured] = []
    active: list[int] = []  # places in `counted` of rows that the next ones may overlap
    for row in rows:
        active = [place for place in active if not _apart(row, counted[place])][-MOST_ACTIVE:]
        same = next((place for place in active if _same_window(row, counted[place])), None)
        if same is not None:
            _copy(row, counted, same, choice)
            continue
        over = counted[active[0]] if active else None
        if over is None or row.host is None:
            active.append(len(counted))
            counted.append(row)
            if over is not None:
                choice.say(
                    f"lines {over.line} and {row.line} overlap: if they are of one machine, their energy counts "
                    "twice; name it in a column `host`"
                )
        elif row.end_ms <= over.end_ms + SAME_MS:
            choice.count("another line measured the same machine all that time", row.line)
        else:
            choice.refused[row.place] = (
                f"overlaps line {over.line} on the same machine, and both measured all of it: keep one of them"
            )
    choice.kept += [row for row in counted if row.place not in choice.refused]


def _apart(row: Measured, other: Measured) -> bool:
    shared = min(row.end_ms, other.end_ms) - max(row.start_ms, other.start_ms)
    return shared <= min(SAME_MS, (other.end_ms - other.start_ms) // 2, (row.end_ms - row.start_ms) // 2)


def _same_window(row: Measured, other: Measured) -> bool:
    near = max(SAME_MS, SAME_SHARE * (other.end_ms - other.start_ms))
    return abs(row.start_ms - other.start_ms) <= near and abs(row.end_ms - other.end_ms) <= near


def _copy(row: Measured, counted: list[Measured], same: int, choice: Choice) -> None:
    """Leave out a copy; report it where the two differ, and refuse both where the machine has no name."""
    other = counted[same]
    differ = abs(row.energy_kwh - other.energy_kwh)
    said = f"{row.energy_kwh:g} and {other.energy_kwh:g} kWh"
    if differ <= SAME_SHARE * max(row.energy_kwh, other.energy_kwh):
        choice.count("copies of one measurement (same machine, same window)", row.line)
    elif row.host is None:
        reason = (
            f"lines {other.line} and {row.line} have one window and {said}: two machines, or a conflict of one; name "
            "the machine in a column `host`"
        )
        choice.refused[row.place] = choice.refused[other.place] = reason
    else:
        choice.say(
            f"conflict: lines {other.line} and {row.line} measured the same machine in the same window as {said}; the "
            "larger counts"
        )
        if row.energy_kwh > other.energy_kwh:
            counted[same] = row
