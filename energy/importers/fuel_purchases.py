"""Fuel invoices and delivery notes in a plain table: what was bought, by whom it is stated, when it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from energy.errors import EnergyError, InputFileError, did_you_mean
from energy.importers.base import Batch, Context
from energy.importers.instrument_rows import Line, RowError, Typed, lines_of

if TYPE_CHECKING:
    import pyarrow as pa

_AMOUNT = re.compile(r"amount ?\((.+)\)")
_NEEDED = ("document_id", "fuel")
_OPTIONAL = ("document_line", "supplier", "site", "date", "from", "to", "amount", "unit")


@dataclass(frozen=True, slots=True)
class Purchase:
    """One line of a document. One of ``fuel_volume_l`` and ``fuel_heat_kwh`` (HHV) is given, the other is None."""

    document_id: str
    document_line: str | None
    supplier: str | None
    site_id: str
    fuel: str
    from_date: str
    to_date: str
    period_kind: str
    amount_given: float
    unit_given: str
    fuel_volume_l: float | None
    fuel_heat_kwh: float | None
    note: str


class FuelPurchasesImporter:
    """Fuel that was bought, one line of a document a row."""

    name = "fuel-purchases"
    meaning = "fuel invoices or deliveries: document, fuel, amount with unit, and the date or the period of its use"
    shape = "fuel-purchases"

    def read(self, path: Path, mapping: None, context: Context) -> Iterator[Batch]:
        """Yield one batch of purchases; a row that does not say what it needs is refused.

        Raises
        ------
        InputFileError
            The header lacks a column, or two columns state the amount.
        """
        del mapping
        header, lines = lines_of(path, "a table of fuel purchases", context)
        column, unit = _amount_column(path, header)
        typed = Typed()
        kinds = set()
        for line in lines:
            try:
                row = _purchase(line, context, column, unit)
            except RowError as error:
                typed.refuse(line, error)
                continue
            kinds.add(row.period_kind)
            typed.rows.append((line.number, row))
        if "delivery" in kinds:
            context.notes.append(
                "what has a date and no period counts as burnt on the day of its delivery: give from and to where fuel "
                "goes into stock"
            )
        yield typed.batch(_schema())


def _amount_column(path: Path, header: Sequence[str]) -> tuple[str, str | None]:
    """Return the column of the amount, and its unit where the header says it."""
    stated = [(name, match[1]) for name in header if (match := _AMOUNT.fullmatch(name))]
    have_plain = "amount" in header
    if len(stated) + have_plain > 1:
        names = ", ".join([*(["amount"] if have_plain else []), *(name for name, _ in stated)])
        raise InputFileError(f"{path.name}: {names} all state the amount: leave one. Nothing was stored.")
    missing = [name for name in _NEEDED if name not in header]
    if not stated and not have_plain:
        missing.append("amount (with a column unit, or as `amount (L)`)")
    elif have_plain and "unit" not in header:
        missing.append("unit (or write it into the header, as `amount (L)`)")
    if "date" not in header and not {"from", "to"} <= set(header):
        missing.append("date (or from and to)")
    if missing:
        hint = did_you_mean(missing[0].split(" ")[0], header)
        raise InputFileError(
            f"{path.name}: a table of fuel purchases needs the column {', '.join(missing)}.{hint} Nothing was stored."
        )
    unknown = [name for name in header if name and name not in (*_NEEDED, *_OPTIONAL) and not _AMOUNT.fullmatch(name)]
    near = next((text for name in unknown if (text := did_you_mean(name, ("date", "from", "to", "site")))), "")
    if near and not {"date", "from"} & set(header):
        raise InputFileError(f"{path.name}: column {unknown[0]}.{near} Nothing was stored.")
    return stated[0] if stated else ("amount", None)


def _purchase(line: Line, context: Context, column: str, unit: str | None) -> Purchase:
    from energy.carbon.fuel_amounts import fuel_amount

    value = line.number_of(column)
    if value is None:
        raise RowError(f"{column} is empty: leave the row out where the amount is not known, and never write 0")
    said = unit or line.needed("unit")
    try:
        found = fuel_amount(line.needed("fuel"), value, said)
    except EnergyError as error:
        raise RowError(str(error).rstrip(".")) from None
    start, end, kind = _period(line)
    amount = float(found.amount.to("L" if found.is_volume else "kWh").magnitude)
    return Purchase(
        line.needed("document_id"),
        line.text("document_line"),
        line.text("supplier"),
        _site(line, context),
        found.fuel.fuel,
        start.isoformat(),
        end.isoformat(),
        kind,
        value,
        said,
        round(amount, 9) if found.is_volume else None,
        None if found.is_volume else round(amount, 9),
        found.note or "as the document states it",
    )


def _site(line: Line, context: Context) -> str:
    site_id = line.text("site") or context.site_id
    if site_id is None:
        raise RowError(f"no site: fill the column site or pass --site (sites: {', '.join(context.sites)})")
    if site_id not in context.sites:
        raise RowError(f"site {site_id} is not in site.yaml.{did_you_mean(site_id, context.sites)} Correct it")
    if context.site_id is not None and site_id != context.site_id:
        raise RowError(f"the row is of site {site_id}, and --site says {context.site_id}: leave --site out")
    return site_id


def _period(line: Line) -> tuple[date, date, str]:
    """Return the half-open days that an amount counts for, and how they were told."""
    has_period = line.text("from") is not None or line.text("to") is not None
    if has_period and line.text("date") is not None:
        raise RowError("it has a date and a period: leave one of them empty")
    if has_period:
        start, end = line.date_of("from"), line.date_of("to")
        if end <= start:
            raise RowError(f"to {end} is not after from {start}: the end is the day after the last")
        return start, end, "use"
    day = line.date_of("date")
    return day, day + timedelta(days=1), "delivery"


def _schema() -> pa.Schema:
    import pyarrow as pa

    real = ("amount_given", "fuel_volume_l", "fuel_heat_kwh")
    names = list(Purchase.__slots__)
    kinds = dict.fromkeys(real, pa.float64())
    return pa.schema([("row_number", pa.int64()), *((name, kinds.get(name, pa.string())) for name in names)])


importer = FuelPurchasesImporter()
