"""Prices of chips: rental and purchase, each on its date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import Verified, build
from energy.catalogue.chips import chip
from energy.errors import UnknownNameError, did_you_mean

KINDS = ("rental", "rental_block", "purchase")


@dataclass(frozen=True, slots=True)
class Price(Verified):
    """One price of one chip, in US dollars of its date. None is unknown, never zero.

    An instance price was divided by ``chips_in_instance``. ``rental_block`` is a prepaid block of days.
    ``is_estimate``: list or street roundings and analysts' values. Prices fall fast: show ``price_date`` (empty: the
    source is undated).
    """

    price_id: str
    kind: str
    provider: str
    region: str
    chip_id: str
    instance: str
    chips_in_instance: int | None
    usd_on_demand_per_chip_hour: float | None
    usd_spot_per_chip_hour: float | None
    usd_reserved_1y_per_chip_hour: float | None
    usd_reserved_3y_per_chip_hour: float | None
    usd_purchase_per_chip: float | None
    price_date: str
    is_estimate: bool
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str

    @property
    def status(self) -> str:
        """Return ``catalogue``, or ``estimate`` where the value is recalled or an estimate of its source."""
        return "estimate" if self.is_estimate or self.confidence == "recalled" else "catalogue"


@cache
def all_prices() -> tuple[Price, ...]:
    """Return all prices, in the order of the table.

    Examples
    --------
    >>> {one.kind for one in all_prices()} == set(KINDS)
    True

    """
    return tuple(build(Price, row) for row in _tables.rows("prices"))


@cache
def _by_id() -> Mapping[str, Price]:
    return {one.price_id: one for one in all_prices()}


def price(price_id: str) -> Price:
    """Return the price with this identifier.

    Raises
    ------
    UnknownNameError
        When there is none; :func:`prices_for` finds prices by chip.

    Examples
    --------
    >>> price("p0001").chip_id
    'google_tpu_v2'

    """
    if price_id not in _by_id():
        raise UnknownNameError(f"The price {price_id!r} is not in the catalogue.{did_you_mean(price_id, _by_id())}")
    return _by_id()[price_id]


def prices_for(
    chip_id: str, *, kind: str | None = None, provider: str | None = None, estimates: bool = True
) -> tuple[Price, ...]:
    """Return the prices of a chip by date, undated ones first; empty where none is known.

    Parameters
    ----------
    chip_id : str
        Any exact name of a chip.
    kind : str, optional
        ``rental``, ``rental_block`` or ``purchase``.
    provider : str, optional
        As the table writes it.
    estimates : bool
        Whether to include values that are recalled or estimates.

    Raises
    ------
    UnknownNameError
        When the chip or the kind is not known.

    Examples
    --------
    >>> last = prices_for("NVIDIA H100 80GB HBM3", kind="rental", estimates=False)[-1]
    >>> last.price_date >= "2024"
    True

    """
    if kind is not None and kind not in KINDS:
        raise UnknownNameError(f"The kind of price {kind!r} is not known: {', '.join(KINDS)}.")
    wanted = chip(chip_id).chip_id
    found = [
        one
        for one in all_prices()
        if one.chip_id == wanted
        and kind in (None, one.kind)
        and provider in (None, one.provider)
        and (estimates or one.status == "catalogue")
    ]
    return tuple(sorted(found, key=lambda one: (one.price_date, one.price_id)))
