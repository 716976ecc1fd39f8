"""Contracts and supplier rates in a plain table, and what a contract's plant delivered by hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from energy.errors import InputFileError
from energy.importers.base import Batch, Context
from energy.importers.instrument_rows import (
    PLAIN_TABLE,
    Line,
    RowError,
    Typed,
    instrument_schema,
    layout_of,
    lines_of,
    read_own,
)
from energy.importers.times import zone_of

if TYPE_CHECKING:
    import pyarrow as pa

_TO_MWH = {"mwh": 1.0, "kwh": 1e-3, "wh": 1e-6, "gwh": 1e3}


class ContractsImporter:
    """Terms of contracts and supplier rates, one row each."""

    name = "contracts"
    meaning = "contracts (PPA) and supplier rates: one row states energy, rate, vintage, market and quality criteria"
    shape = "instruments"

    def read(self, path: Path, mapping: None, context: Context) -> Iterator[Batch]:
        """Yield one batch of instruments."""
        header, lines = lines_of(path, "a table of contracts", context)
        layout_of(path, header, {"plain table": PLAIN_TABLE})
        typed = Typed()
        for line in lines:
            try:
                typed.rows.append((line.number, read_own(line, context)))
            except RowError as error:
                typed.refuse(line, error)
        yield typed.batch(instrument_schema())


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a contract delivered in one UTC hour, at the site's meter."""

    instrument_id: str
    hour_utc: datetime
    energy_facility_mwh: float
    reading_quality: str | None


class DeliveriesImporter:
    """Energy of a contract by hour: hours named by their end in local time, or by their start with offset."""

    name = "deliveries"
    meaning = "energy that a contract's plant delivered, by hour: hour ending in local time, or hour_utc"
    shape = "deliveries"
    layouts: ClassVar[dict[str, tuple[str, ...]]] = {
        "hour ending": ("delivery_date", "hour_ending", "energy", "unit"),
        "hours in UTC": ("hour_utc", "energy_mwh"),
    }

    def read(self, path: Path, mapping: None, context: Context) -> Iterator[Batch]:
        """Yield one batch of deliveries."""
        header, lines = lines_of(path, "a table of deliveries", context)
        layout = layout_of(path, header, self.layouts)
        zone = None
        if layout == "hour ending":
            if context.timezone is None:
                raise InputFileError(
                    f"{path.name}: hours are named in local time: pass --timezone, such as --timezone Europe/Berlin."
                )
            zone = zone_of(context.timezone)
        if "contract_id" not in header:
            name = path.name.split(".")[0]
            context.notes.append(f"the contract is {name}, by the file's name; a column contract_id names another")
        yield _typed(path, list(lines), zone).batch(_schema())


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            ("row_number", pa.int64()),
            ("instrument_id", pa.string()),
            ("hour_utc", pa.timestamp("ms", "UTC")),
            ("energy_facility_mwh", pa.float64()),
            ("reading_quality", pa.string()),
        ]
    )


def _typed(path: Path, lines: list[Line], zone: tzinfo | None) -> Typed:
    stem = path.name.split(".")[0]
    all_labels = Counter(_label(line, stem) for line in lines)
    met: Counter[tuple[str, ...]] = Counter()
    typed = Typed()
    for line in lines:
        label = _label(line, stem)
        try:
            hour = _hour(line) if zone is None else _ending(line, zone, met[label], all_labels[label])
            typed.rows.append((line.number, Delivery(label[0], hour, _energy(line), line.text("quality"))))
        except RowError as error:
            typed.refuse(line, error)
        met[label] += 1
    return typed


def _label(line: Line, stem: str) -> tuple[str, ...]:
    contract = line.text("contract_id") or stem
    return contract, line.cells.get("delivery_date", ""), line.cells.get("hour_ending", "")


def _energy(line: Line) -> float:
    if "energy_mwh" in line.cells:
        value, scale = line.number_of("energy_mwh"), 1.0
    else:
        unit = line.needed("unit")
        if unit.casefold() not in _TO_MWH:
            raise RowError(f"unit {unit!r}: use Wh, kWh, MWh or GWh")
        value, scale = line.number_of("energy"), _TO_MWH[unit.casefold()]
    if value is None:
        raise RowError("the energy of the hour is empty: leave the row out where it is not known")
    return value * scale


def _hour(line: Line) -> datetime:
    moment = line.instant_of("hour_utc")
    if (moment.minute, moment.second, moment.microsecond) != (0, 0, 0):
        raise RowError(f"hour_utc {moment:%H:%M:%S} is no start of an hour: give energy by whole UTC hours")
    return moment


def _ending(line: Line, zone: tzinfo, place: int, times_in_file: int) -> datetime:
    """Return the start of the hour that ends at a local clock time; an hour named twice is summer time first."""
    day = line.date_of("delivery_date")
    text = line.needed("hour_ending")
    if not (text.isdigit() and 1 <= int(text) <= 24):
        raise RowError(f"hour_ending {text!r}: write the local clock at the end of the hour, 1 to 24")
    found = _ends_of_day(day, zone).get(int(text), ())
    if not found:
        raise RowError(f"no hour of {day} ends at {text} there (clocks go forward): name hours by the local clock")
    if len(found) != times_in_file:
        raise RowError(
            f"{len(found)} hour(s) of {day} end at {text} there, the file names {times_in_file}: name each once"
        )
    return found[place]


@cache
def _ends_of_day(day: date, zone: tzinfo) -> dict[int, tuple[datetime, ...]]:
    """Return the UTC starts of the hours of a local day by the clock at their end; the last one ends at 24."""
    start = datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)
    after = day + timedelta(days=1)
    end = datetime(after.year, after.month, after.day, tzinfo=zone).astimezone(UTC)
    found: dict[int, tuple[datetime, ...]] = {}
    while start < end:
        clock = (start + timedelta(hours=1)).astimezone(zone).hour or 24
        found[clock] = (*found.get(clock, ()), start)
        start += timedelta(hours=1)
    return found


importer = ContractsImporter()
deliveries = DeliveriesImporter()
