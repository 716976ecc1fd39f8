"""Prices of electricity by region, period and class of consumer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import Verified, build
from energy.errors import UnknownNameError, did_you_mean


@dataclass(frozen=True, slots=True)
class ElectricityPrice(Verified):
    """One price. ``period`` is a year, month, half-year or quarter: ``2023``, ``2025-04``, ``2025-H1``, ``2025-Q2``.

    ``wholesale`` has neither network charges, levies nor taxes: a large site pays about 1.2 to 2 times it. The local
    price is None where only dollars were printed; dollars of a euro price rest on recalled yearly rates.
    """

    price_id: str
    region: str
    region_code: str
    region_kind: str
    period: str
    consumer: str
    price_usd_per_kwh: float
    price_local_per_kwh: float | None
    currency: str
    taxes: str
    basis: str
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str


@cache
def all_electricity_prices() -> tuple[ElectricityPrice, ...]:
    """Return all prices, in the order of the table.

    Examples
    --------
    >>> all_electricity_prices()[0].region
    'Alabama'

    """
    return tuple(build(ElectricityPrice, row) for row in _tables.rows("electricity_prices"))


@cache
def _by_id() -> Mapping[str, ElectricityPrice]:
    return {one.price_id: one for one in all_electricity_prices()}


def electricity_price(price_id: str) -> ElectricityPrice:
    """Return the price with this identifier.

    Raises
    ------
    UnknownNameError
        When there is none; :func:`electricity_prices_for` finds prices by region.

    Examples
    --------
    >>> electricity_price("e0001").consumer
    'residential'

    """
    if price_id not in _by_id():
        hint = did_you_mean(price_id, _by_id())
        raise UnknownNameError(f"The electricity price {price_id!r} is not in the catalogue.{hint}")
    return _by_id()[price_id]


def electricity_prices_for(
    region: str, *, consumer: str | None = None, period: str | None = None
) -> tuple[ElectricityPrice, ...]:
    """Return the prices of a region, in the order of the table.

    Parameters
    ----------
    region : str
        Name or code as the table has it: ``Virginia``, ``US-VA``, ``DE``. NA is Namibia, of which no price is known.
    consumer : str, optional
        Such as ``industrial`` or ``wholesale``.
    period : str, optional
        Exact period.

    Raises
    ------
    UnknownNameError
        When no price of the region is known; the message gives the nearest names.

    Examples
    --------
    >>> [one.price_usd_per_kwh for one in electricity_prices_for("US-VA", consumer="industrial", period="2023")]
    [0.0892]

    """
    key = region.casefold().strip()
    found = [one for one in all_electricity_prices() if key in (one.region.casefold(), one.region_code.casefold())]
    if not found:
        known = dict.fromkeys(text for one in all_electricity_prices() for text in (one.region, one.region_code))
        raise UnknownNameError(f"No price of electricity in {region!r} is known.{did_you_mean(region, known)}")
    return tuple(one for one in found if consumer in (None, one.consumer) and period in (None, one.period))
