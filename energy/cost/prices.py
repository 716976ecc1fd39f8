"""Prices on a date: rental and purchase of chips, electricity by region; the answer names the date and direction.

Policy: of the prices that fit chip, kind, provider and region, those within the asked month or year count; for a day,
and where none lies within, the nearest one and all within :data:`WINDOW_DAYS` of it. The price is their median, the
range their lowest and highest. A price of a month or a year is at no distance from any of its days. Of two equally near
the earlier counts. Undated prices are used only when the caller allows it. Prices fall fast: a price of another year is
named, never adjusted.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from energy import catalogue
from energy.catalogue.electricity_prices import electricity_prices_for
from energy.catalogue.prices import Price, all_prices, prices_for
from energy.errors import CostError, PriceNotKnownError, UnknownNameError, did_you_mean

#: Kinds of rental and the column that holds them; ``block`` is prepaid for days.
RENTALS = {
    "on_demand": ("rental", "usd_on_demand_per_chip_hour"),
    "reserved_1y": ("rental", "usd_reserved_1y_per_chip_hour"),
    "reserved_3y": ("rental", "usd_reserved_3y_per_chip_hour"),
    "spot": ("rental", "usd_spot_per_chip_hour"),
    "block": ("rental_block", "usd_on_demand_per_chip_hour"),
}
WINDOW_DAYS = 92


@dataclass(frozen=True, slots=True)
class DatedPrice:
    """A price in US dollars of its date, per ``unit``, with the lowest and highest of those that count.

    ``dates`` are those of the prices behind it as printed, ``days_apart`` the distance of the nearest one,
    ``direction`` says where it lies from the asked date: ``same``, ``earlier``, ``later``, ``undated``, or ``given``
    where the caller said it.
    """

    usd: float
    low_usd: float
    high_usd: float
    unit: str
    asked_date: str
    dates: tuple[str, ...]
    direction: str
    days_apart: int | None
    price_ids: tuple[str, ...]
    status: str
    note: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    price_id: str
    date: str
    usd: float
    status: str


def span(text: str) -> tuple[datetime.date, datetime.date]:
    """Return first and last day of a date, month, quarter, half-year or year.

    Raises
    ------
    CostError
        When the text is none of them.

    Examples
    --------
    >>> [one.isoformat() for one in span("2025-Q2")]
    ['2025-04-01', '2025-06-30']

    """
    broken = CostError(f"{text!r} is no date: write 2025-03-17, 2025-03, 2025-Q1, 2025-H1 or 2025.")
    found = re.fullmatch(r"(\d{4})(?:-(?:(\d{2})(?:-(\d{2}))?|Q([1-4])|H([12])))?", text.strip())
    if not found:
        raise broken
    year = int(found[1])
    try:
        if found[3]:
            day = datetime.date(year, int(found[2]), int(found[3]))
            return day, day
        first, last = 1, 12
        if found[2]:
            first = last = int(found[2])
        elif found[4]:
            first, last = 3 * int(found[4]) - 2, 3 * int(found[4])
        elif found[5]:
            first, last = 6 * int(found[5]) - 5, 6 * int(found[5])
        return datetime.date(year, first, 1), datetime.date(year, last, calendar.monthrange(year, last)[1])
    except ValueError:
        raise broken from None


def given_price(usd: float, unit: str, what: str) -> DatedPrice:
    """Return a price that the caller says, without date, row or range.

    Raises
    ------
    CostError
        When it is not a finite number above zero.

    Examples
    --------
    >>> given_price(2.5, "USD/chip/h", "rental").note
    'rental: 2.5 USD/chip/h, as given.'

    """
    if not (usd > 0 and np.isfinite(usd)):
        raise CostError(f"A price of {usd:g} {unit}: give a finite number above zero.")
    return DatedPrice(usd, usd, usd, unit, "", (), "given", None, (), "given", f"{what}: {usd:g} {unit}, as given.")


def rental_price(
    chip: str,
    kind: str,
    date: str,
    *,
    provider: str | None = None,
    region: str | None = None,
    undated: bool = False,
) -> DatedPrice:
    """Return the price of one chip for an hour.

    Parameters
    ----------
    chip : str
        Any exact name of a chip.
    kind : str
        Of :data:`RENTALS`.
    date : str
        Day, month or year that it is for.
    provider, region : str, optional
        As the table writes them; all of them without it.
    undated : bool
        Whether prices without a date may stand in where there is no other.

    Raises
    ------
    UnknownNameError
        When chip, kind, provider or region is not known; the message gives the nearest.
    PriceNotKnownError
        When all are known but no price fits; the message says what there is.

    Examples
    --------
    >>> price = rental_price("nvidia_h100_sxm5_80", "on_demand", "2026-01", provider="Lambda Labs")
    >>> price.usd, price.dates, price.direction
    (3.29, ('2024-11-29', '2025-02-28'), 'earlier')

    """
    if kind not in RENTALS:
        raise UnknownNameError(f"{kind!r} is no kind of rental: {', '.join(RENTALS)}.{did_you_mean(kind, RENTALS)}")
    family, column = RENTALS[kind]
    name = catalogue.chip(chip).chip_id
    of_chip = prices_for(name, kind=family)
    if provider is not None:
        known = dict.fromkeys(one.provider for one in all_prices() if one.provider)
        of_chip = _named(of_chip, "provider", provider, known, f"{name}, {kind}")
    if region is not None:
        known = dict.fromkeys(one.region for one in all_prices() if one.region)
        of_chip = _named(of_chip, "region", region, known, f"{name}, {kind}")
    found = [_candidate(one, column) for one in of_chip if getattr(one, column) is not None]
    if not found:
        there = [one for one, (what, field) in RENTALS.items() if _offered(prices_for(name), what, field)]
        text = f"No {kind} price of {name} is known{_where(provider, region)}."
        raise PriceNotKnownError(f"{text} Known of the chip: {', '.join(there) or 'no rental'}.")
    return _nearest(found, date, "USD/chip/h", f"{kind} of {name}", undated=undated)


def _offered(rows: Sequence[Price], what: str, field: str) -> bool:
    return any(one.kind == what and getattr(one, field) is not None for one in rows)


def purchase_price(chip: str, date: str, *, undated: bool = False) -> DatedPrice:
    """Return the price of one chip bought.

    Raises
    ------
    UnknownNameError
        When the chip is not known.
    PriceNotKnownError
        When nobody printed a price of it.

    Examples
    --------
    >>> 25_000 < purchase_price("nvidia_h100_sxm5_80", "2025-03").usd < 45_000
    True

    """
    name = catalogue.chip(chip).chip_id
    rows = prices_for(name, kind="purchase")
    found = [_candidate(one, "usd_purchase_per_chip") for one in rows if one.usd_purchase_per_chip is not None]
    if not found:
        raise PriceNotKnownError(f"No purchase price of {name} is known: give it, in USD/chip.")
    return _nearest(found, date, "USD/chip", f"purchase of {name}", undated=undated)


def electricity_price_on(region: str, date: str, consumer: str = "industrial") -> DatedPrice:
    """Return the price of electricity.

    Parameters
    ----------
    region : str
        Name or code: ``Virginia``, ``US-VA``, ``DE``.
    date : str
        Day, month or year that it is for.
    consumer : str
        Class of consumer, such as ``industrial`` or ``wholesale`` (without network charges, levies and taxes).

    Raises
    ------
    UnknownNameError
        When the region is not known, or has no price for that consumer: the message says for which it has.

    Examples
    --------
    >>> price = electricity_price_on("US-VA", "2023")
    >>> price.usd, price.direction, price.unit
    (0.0892, 'same', 'USD/kWh_facility')

    """
    rows = electricity_prices_for(region)
    own = [one for one in rows if one.consumer == consumer]
    if not own:
        there = ", ".join(dict.fromkeys(one.consumer for one in rows))
        raise UnknownNameError(f"No price of electricity for {consumer!r} in {region!r} is known. Known: {there}.")
    found = [
        _Candidate(
            one.price_id,
            one.period,
            one.price_usd_per_kwh,
            "estimate" if one.confidence == "recalled" or "price_usd_per_kwh" in one.recalled_fields else "catalogue",
        )
        for one in own
    ]
    return _nearest(found, date, "USD/kWh_facility", f"electricity, {consumer}, {region}", window=0)


def _named(rows: Sequence[Price], field: str, wanted: str, known: Collection[str], what: str) -> tuple[Price, ...]:
    own = tuple(one for one in rows if getattr(one, field).casefold() == wanted.strip().casefold())
    if own:
        return own
    there = ", ".join(dict.fromkeys(getattr(one, field) for one in rows if getattr(one, field)))
    text = f"No price of {what} with the {field} {wanted!r} is known."
    if any(one.casefold() == wanted.strip().casefold() for one in known):
        raise PriceNotKnownError(f"{text} Known of it: {there or 'none'}.")
    raise UnknownNameError(f"{text}{did_you_mean(wanted, known)} Known of it: {there or 'none'}.")


def _where(provider: str | None, region: str | None) -> str:
    return "".join(f" {word} {name}" for word, name in (("of", provider), ("in", region)) if name is not None)


def _candidate(row: Price, column: str) -> _Candidate:
    return _Candidate(row.price_id, row.price_date, float(getattr(row, column)), row.status)


def _nearest(
    found: Sequence[_Candidate], date: str, unit: str, what: str, *, undated: bool = False, window: int = WINDOW_DAYS
) -> DatedPrice:
    """Return the median of the prices nearest to a date."""
    first, last = span(date)
    dated = [one for one in found if one.date]
    if not dated and not undated:
        raise PriceNotKnownError(
            f"Prices of {what} are known without a date only: allow undated ones, or give a price."
        )
    if not dated:
        return _priced(found, unit, date, "undated", None, f"{what}: the source prints no date.")
    apart = [_distance(*span(one.date), first, last) for one in dated]
    best = min(apart, key=lambda days: (abs(days), days))
    nearest = [span(one.date) for one, days in zip(dated, apart, strict=True) if days == best]
    centre = min(one for one, _ in nearest), max(one for _, one in nearest)
    if best == 0 and first != last:
        window = 0
    chosen = [one for one in dated if abs(_distance(*span(one.date), *centre)) <= window]
    direction = "same" if best == 0 else "earlier" if best < 0 else "later"
    dates = sorted({one.date for one in chosen})
    printed = ", ".join(dates) if len(dates) <= 3 else f"{dates[0]} to {dates[-1]}"
    note = f"{what}: {'price' if len(chosen) == 1 else f'median of {len(chosen)} prices'} of {printed}"
    note += "." if best == 0 else f", {abs(best)} days {direction} than asked."
    return _priced(chosen, unit, date, direction, abs(best), note)


def _distance(low: datetime.date, high: datetime.date, first: datetime.date, last: datetime.date) -> int:
    """Return the days from the asked span to another: negative when it is earlier, 0 when they meet."""
    return (high - first).days if high < first else (low - last).days if low > last else 0


def _priced(
    chosen: Sequence[_Candidate], unit: str, date: str, direction: str, days: int | None, note: str
) -> DatedPrice:
    values = [one.usd for one in chosen]
    sure = all(one.status == "catalogue" for one in chosen)
    return DatedPrice(
        float(np.median(values)),
        min(values),
        max(values),
        unit,
        date,
        tuple(sorted({one.date for one in chosen})),
        direction,
        days,
        tuple(one.price_id for one in chosen),
        "catalogue" if sure else "estimate",
        note if sure else f"{note} Estimates or recalled values are among them.",
    )
