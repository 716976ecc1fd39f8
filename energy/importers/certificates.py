"""Energy attribute certificates: cancelled guarantees of origin, retired RECs, redeemed I-RECs, hourly granular ones.

Ranges of numbers are inclusive, and hold as many certificates as the stated volume. Only what the register calls
cancelled, retired or redeemed gets the number of its cancellation; the rest is stored, and set aside when assessed.
Field names and codes of technologies are recalled from the registers' own documents, not read in an export of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

from energy.importers.base import Batch, Context
from energy.importers.instrument_rows import (
    PLAIN_TABLE,
    Instrument,
    Line,
    RowError,
    Typed,
    instrument_schema,
    layout_of,
    lines_of,
    midnight,
    read_own,
)

LAYOUTS: dict[str, tuple[str, ...]] = {
    "guarantees of origin": (
        "certificate_id_from",
        "certificate_id_to",
        "volume_mwh",
        "production_start",
        "production_end",
        "issuing_country",
        "status",
    ),
    "I-REC": ("RedemptionID", "CertificateFrom", "CertificateTo", "VolumeMWh", "VintageStart", "VintageEnd", "Country"),
    "REC": ("Serial Number Start", "Serial Number End", "Quantity", "Vintage", "Status"),
    "granular certificates": (
        "certificate_bundle_id_range_start",
        "certificate_bundle_id_range_end",
        "bundle_quantity_wh",
        "face_value",
        "production_starting_interval",
        "production_ending_interval",
        "certificate_status",
    ),
    "plain table": PLAIN_TABLE,
}
_ENDED = ("cancelled", "retired", "redeemed")
# plants that burn nothing have no direct emissions; of all others the rate must be stated
_FREE_WORDS = re.compile(r"solar|photovoltaic|\bpv\b|wind|hydro|marine|tidal|wave|nuclear", re.IGNORECASE)
_FREE_CODES = re.compile(r"T0[12346]\d{4}\Z|ES[123]\d\d\Z")  # EECS technology, I-REC energy source
_TAIL = re.compile(r"(.*?)(\d+)\Z", re.DOTALL)


class CertificatesImporter:
    """Statements of registers, told apart by their header."""

    name = "certificates"
    meaning = "certificates: cancelled guarantees of origin, retired RECs, redeemed I-RECs, granular ones, own table"
    shape = "instruments"

    def read(self, path: Path, mapping: None, context: Context) -> Iterator[Batch]:
        """Yield one batch of instruments; a row that contradicts itself is refused."""
        header, lines = lines_of(path, "the statement of a register", context)
        layout = layout_of(path, header, LAYOUTS)
        typed = Typed()
        for line in lines:
            try:
                typed.rows.append((line.number, _READ[layout](line, context)))
            except RowError as error:
                typed.refuse(line, error)
        context.notes.append(f"read as {layout}")
        yield typed.batch(instrument_schema())


def number_range(first: str, last: str) -> int:
    """Return how many certificates an inclusive range holds.

    Raises
    ------
    RowError
        The two numbers are not of one series, or run backwards.

    Examples
    --------
    >>> number_range("MRETS-US-IA-0001-2026-01-000001", "MRETS-US-IA-0001-2026-01-002000")
    2000

    """
    one, other = _TAIL.match(first), _TAIL.match(last)
    if one is None or other is None or one[1] != other[1]:
        raise RowError(f"{first} and {last} are not numbers of one series: correct the range")
    count = int(other[2]) - int(one[2]) + 1
    if count < 1:
        raise RowError(f"the range runs backwards, from {first} to {last}: correct it")
    return count


def _checked(first: str, last: str, volume: float, unit: str, each: float = 1.0) -> str:
    """Return the range as one identifier; its count must agree with the stated volume."""
    count = number_range(first, last)
    if abs(count * each - volume) > 1e-9 * max(volume, 1.0):
        raise RowError(
            f"the range holds {count * each:,g} {unit} (its end is included), the row says {volume:,g}: correct one"
        )
    return f"{first}..{last}"


def _volume(line: Line, column: str, *, grouped: bool = False) -> float:
    found = line.number_of(column, grouped=grouped)
    if found is None:
        raise RowError(f"{column} is empty: complete the row")
    return found


def _rate(*words: str | None) -> float | None:
    """Return 0 g/kWh for a plant that burns nothing; None for any other: its rate is not stated."""
    given = [word for word in words if word]
    return 0.0 if any(_FREE_CODES.match(word) or _FREE_WORDS.search(word) for word in given) else None


def _technology(*words: str | None) -> str | None:
    return " ".join(word for word in words if word) or None


def _cancelled(status: str, number: str) -> str | None:
    return number if status.casefold() in _ENDED else None


def _guarantee(line: Line, context: Context) -> Instrument:
    first, last = line.needed("certificate_id_from"), line.needed("certificate_id_to")
    volume = _volume(line, "volume_mwh")
    code, status = line.text("technology_code"), line.needed("status")
    return Instrument(
        _checked(first, last, volume, "MWh"),
        "certificate",
        volume,
        _rate(code),
        midnight(line.date_of("production_start")),
        _end(line, "production_end"),
        market=line.needed("issuing_country"),
        site_id=context.site_id,
        registry="guarantees of origin",
        cancellation_id=_cancelled(status, f"{line.text('transaction_date') or 'date not stated'} {first}"),
        beneficiary=line.text("beneficiary"),
        register_status=status,
        technology=_technology(code, line.text("device_name")),
        claimed_from_utc=line.moment_of("consumption_period_start"),
        claimed_to_utc=line.moment_of("consumption_period_end", end=True),
    )


def _end(line: Line, column: str) -> datetime:
    found = line.moment_of(column, end=True)
    if found is None:
        raise RowError(f"{column} is empty: complete the row")
    return found


def _redemption(line: Line, context: Context) -> Instrument:
    first, last = line.needed("CertificateFrom"), line.needed("CertificateTo")
    volume = _volume(line, "VolumeMWh")
    whole = [text.partition(".") for text in (first, last)]
    if any(set(fraction) - {"0"} for _, _, fraction in whole):
        raise RowError("the range begins or ends within a certificate: give it in whole MWh, or in the plain table")
    _checked(whole[0][0], whole[1][0], volume, "MWh")
    return Instrument(
        f"{line.text('DeviceCode') or ''} {first}..{last}".strip(),
        "certificate",
        volume,
        _rate(line.text("Fuel"), line.text("Technology")),
        midnight(line.date_of("VintageStart")),
        _end(line, "VintageEnd"),
        market=line.needed("Country"),
        site_id=context.site_id,
        registry="I-REC",
        cancellation_id=f"{line.needed('RedemptionID')} {first}",
        beneficiary=line.text("Beneficiary"),
        register_status="Redeemed",
        technology=_technology(line.text("Fuel"), line.text("Technology"), line.text("DeviceName")),
        claimed_from_utc=line.moment_of("ReportingStart"),
        claimed_to_utc=line.moment_of("ReportingEnd", end=True),
    )


def _month(text: str) -> tuple[date, date]:
    match = re.fullmatch(r"(0[1-9]|1[0-2])/(\d{4})", text)
    if match is None:
        raise RowError(f"Vintage {text!r}: write month and year as 01/2026")
    month, year = int(match[1]), int(match[2])
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _retirement(line: Line, context: Context) -> Instrument:
    first, last = line.needed("Serial Number Start"), line.needed("Serial Number End")
    volume = _volume(line, "Quantity", grouped=True)
    start, end = _month(line.needed("Vintage"))
    status, parts = line.needed("Status"), first.split("-")
    market = parts[1] if len(parts) > 2 and re.fullmatch(r"[A-Z]{2}", parts[1]) else None
    return Instrument(
        _checked(first, last, volume, "MWh"),
        "certificate",
        volume,
        _rate(line.text("Fuel Type")),
        midnight(start),
        midnight(end),
        market=market,
        site_id=context.site_id,
        registry=parts[0],
        cancellation_id=_cancelled(status, f"{line.text('Retirement Date') or 'date not stated'} {first}"),
        beneficiary=line.text("Beneficiary") or line.text("Account"),
        register_status=status,
        technology=_technology(line.text("Fuel Type"), line.text("Generator Name")),
    )


def _granular(line: Line, context: Context) -> Instrument:
    first, last = (line.needed(f"certificate_bundle_id_range_{end}") for end in ("start", "end"))
    volume_wh, each = _volume(line, "bundle_quantity_wh"), _volume(line, "face_value")
    if line.text("storage_efficiency_factor") or line.text("sdr_allocation_id"):
        raise RowError("a certificate of energy out of storage: its losses are not read; give it in the plain table")
    bundle = _checked(first, last, volume_wh, "Wh", each)
    source, status = line.text("energy_source"), line.needed("certificate_status")
    name = f"{line.text('device_id') or ''} {bundle}".strip()
    return Instrument(
        name,
        "certificate",
        volume_wh / 1e6,
        _rate(source, line.text("device_technology_type")),
        line.instant_of("production_starting_interval"),
        line.instant_of("production_ending_interval"),
        market=line.text("device_location"),
        site_id=context.site_id,
        registry="granular certificates",
        cancellation_id=_cancelled(status, name),
        beneficiary=line.text("beneficiary"),
        register_status=status,
        technology=_technology(source, line.text("device_id")),
    )


_READ: dict[str, Callable[[Line, Context], Instrument]] = {
    "guarantees of origin": _guarantee,
    "I-REC": _redemption,
    "REC": _retirement,
    "granular certificates": _granular,
    "plain table": read_own,
}

importer = CertificatesImporter()
