"""Cost of a run: chips rented or owned, interruptions, electricity. US dollars of the dates that the answer names.

    rented = chips x elapsed hours x price                     spot: elapsed with interruptions
    owned = chips x elapsed hours x purchase price / (lifetime hours x share in use) + kWh_facility x price of a kWh

Prices of rented chips hold the machine around them and its electricity. Of owned chips only the purchase price of the
chip counts, unless the caller gives that of a whole machine per chip; staff, building and network are not counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.interruptions import checkpoint_interval, elapsed_time, job_mean_time
from energy.cost.prices import DatedPrice, electricity_price_on, given_price, purchase_price, rental_price, span
from energy.errors import CostError
from energy.units import takes

Numbers = NDArray[np.float64]

#: Hours that an owned chip is written off over, and the share of them in which it works: conventions, not facts.
LIFETIME_H, IN_USE = 5 * 8766.0, 0.8


@takes("USD", chips="chip", elapsed="h", price="USD/chip/h")
def rental_cost(chips: Any, elapsed: Any, price: Any) -> Any:
    """Return chips x hours x price.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(rental_cost(64, quantity(2, "d"), quantity(3.25, "USD/chip/h")))
    9984.0 USD

    """
    return chips * elapsed * price


@takes("USD", energy_facility="kWh_facility", price="USD/kWh_facility")
def electricity_cost(energy_facility: Any, price: Any) -> Any:
    """Return energy at the site's meter x price. Energy of a node is refused: multiply it by the PUE first.

    Examples
    --------
    >>> from energy.units import quantity
    >>> print(electricity_cost(quantity(2, "MWh_facility"), quantity(0.0892, "USD/kWh_facility")))
    178.4 USD

    """
    return energy_facility * price


@takes("USD", chips="chip", elapsed="h", purchase="USD/chip", lifetime="h", in_use="")
def amortised_cost(chips: Any, elapsed: Any, purchase: Any, lifetime: Any, in_use: Any) -> Any:
    """Return the part of a purchase that a run uses up: chips x hours x purchase / (lifetime x share in use).

    Raises
    ------
    CostError
        When the lifetime is not positive, or the share is not above 0 and at most 1.

    Examples
    --------
    >>> from energy.units import quantity
    >>> cost = amortised_cost(8, quantity(100, "h"), quantity(30000, "USD/chip"), quantity(5, "year"), 0.8)
    >>> round(float(cost.magnitude))
    685

    """
    life, share = np.asarray(lifetime, np.float64), np.asarray(in_use, np.float64)
    if not np.all(life > 0):
        raise CostError(f"A lifetime of {float(life.min()):g} h: give a number above zero.")
    if not np.all((share > 0) & (share <= 1)):
        raise CostError(f"A share in use of {float(share.flat[0]):g}: give a number above 0, at most 1.")
    return chips * elapsed * purchase / (life * share)


@dataclass(frozen=True, slots=True)
class Interruptions:
    """How often one machine is taken away, and what that takes; times in seconds."""

    machine_mean_time_s: float
    chips_per_machine: int
    checkpoint_time_s: float
    restart_time_s: float


@dataclass(frozen=True, slots=True)
class ExchangeRate:
    """Units of a currency for one US dollar on a date, given by the caller: none is assumed."""

    currency: str
    per_usd: float
    date: str


@dataclass(frozen=True, slots=True, eq=False)
class RunCost:
    """Cost of runs, arrays of one length, in ``currency``; ``parts`` add up to ``cost``.

    ``low`` and ``high`` come from the lowest and highest price that counts, not from the time; ``notes`` name dates.
    """

    cost: Numbers
    low: Numbers
    high: Numbers
    parts: dict[str, Numbers]
    elapsed_h: Numbers
    currency: str
    prices: tuple[DatedPrice, ...]
    notes: tuple[str, ...]

    def converted(self, rate: ExchangeRate) -> RunCost:
        """Return the same in another currency.

        Raises
        ------
        CostError
            When it is not in US dollars, or the rate or its date makes no sense.

        Examples
        --------
        >>> run = rented("nvidia_h100_sxm5_80", 8, 10, "on_demand", "2025-03", provider="RunPod")
        >>> euro = run.converted(ExchangeRate("EUR", 0.92, "2025-03-03"))
        >>> euro.cost.round(2).tolist(), euro.notes[-1]
        ([220.06], '1 USD = 0.92 EUR on 2025-03-03.')

        """
        if self.currency != "USD":
            raise CostError(f"The cost is in {self.currency} already: convert the one in USD.")
        if not rate.per_usd > 0 or not np.isfinite(rate.per_usd):
            raise CostError(f"An exchange rate of {rate.per_usd:g} {rate.currency}/USD: give a number above zero.")
        span(rate.date)
        note = f"1 USD = {rate.per_usd:g} {rate.currency} on {rate.date}."
        return RunCost(
            self.cost * rate.per_usd,
            self.low * rate.per_usd,
            self.high * rate.per_usd,
            {name: part * rate.per_usd for name, part in self.parts.items()},
            self.elapsed_h,
            rate.currency,
            self.prices,
            (*self.notes, note),
        )


def rented(
    chip: str,
    chips: ArrayLike,
    useful_h: ArrayLike,
    kind: str,
    date: str,
    *,
    provider: str | None = None,
    region: str | None = None,
    undated: bool = False,
    interruptions: Interruptions | None = None,
    price_usd_per_chip_h: float | None = None,
) -> RunCost:
    """Return the cost of runs on rented chips.

    Parameters
    ----------
    chip : str
        Any exact name of a chip.
    chips, useful_h : array_like
        How many, and for how many hours of work.
    kind, date, provider, region, undated
        See :func:`energy.cost.prices.rental_price`.
    interruptions : Interruptions, optional
        Needed for ``spot``; taken for other kinds where it is given. Checkpoints are as often as Young says.
    price_usd_per_chip_h : float, optional
        Price of one chip, instead of that of the catalogue; the date does not matter then.

    Raises
    ------
    UnknownNameError
        When no price fits; the message says what there is.
    CostError
        When a number is not positive, spot lacks its interruptions, or the run never ends with them.

    Examples
    --------
    >>> often = Interruptions(48 * 3600, chips_per_machine=8, checkpoint_time_s=60, restart_time_s=600)
    >>> run = rented("nvidia_h100_sxm5_80", [8, 64], 100, "spot", "2023-11", interruptions=often)
    >>> run.elapsed_h.round(1).tolist(), run.prices[0].dates
    ([103.0, 110.9], ('2023-11',))

    """
    count, useful = _numbers(chips=chips, hours=useful_h)
    if price_usd_per_chip_h is None:
        price = rental_price(chip, kind, date, provider=provider, region=region, undated=undated)
    else:
        price = given_price(price_usd_per_chip_h, "USD/chip/h", kind)
    notes = [price.note]
    elapsed = useful
    if interruptions is not None:
        elapsed, text = with_interruptions(useful, count, interruptions)
        notes.append(text)
    elif kind == "spot":
        raise CostError("Spot machines are taken away: say how often and what that takes (Interruptions).")
    values = [rental_cost.kernel(count, elapsed, usd) for usd in (price.usd, price.low_usd, price.high_usd)]
    work = rental_cost.kernel(count, useful, price.usd)
    parts = {"work": work, "interruptions": values[0] - work}
    return RunCost(values[0], values[1], values[2], parts, elapsed, "USD", (price,), tuple(notes))


def with_interruptions(useful_h: ArrayLike, chips: ArrayLike, given: Interruptions) -> tuple[Numbers, str]:
    """Return the hours of runs with checkpoints and interruptions, and how often a checkpoint is written.

    Parameters
    ----------
    useful_h, chips : array_like
        Hours of the work itself, and how many chips.
    given : Interruptions
        Of one machine; checkpoints are as often as Young says.

    Raises
    ------
    CostError
        When a number is not positive, or the run never ends.

    Examples
    --------
    >>> often = Interruptions(48 * 3600, chips_per_machine=8, checkpoint_time_s=60, restart_time_s=600)
    >>> hours, text = with_interruptions(100, [8, 64], often)
    >>> hours.round(1).tolist(), text[:29]
    ([103.0, 110.9], 'Checkpoints each 26.8 to 75.9')

    """
    useful, count = _numbers(hours=useful_h, chips=chips)
    if given.chips_per_machine < 1:
        raise CostError(f"{given.chips_per_machine} chips in a machine: give one or more.")
    machines = np.ceil(count / given.chips_per_machine)
    mean = job_mean_time.kernel(given.machine_mean_time_s, machines)
    interval = checkpoint_interval.kernel(given.checkpoint_time_s, mean)
    seconds = elapsed_time.kernel(useful * 3600.0, given.checkpoint_time_s, interval, given.restart_time_s, mean)
    shown = np.atleast_1d(interval) / 60.0
    text = f"Checkpoints each {shown.min():.3g} min of work (Young 1974)"
    if shown.max() > shown.min() * 1.001:
        text = f"Checkpoints each {shown.min():.3g} to {shown.max():.3g} min of work (Young 1974)"
    return np.asarray(seconds) / 3600.0, f"{text}; an interruption loses half of that and the restart."


def owned(
    chip: str,
    chips: ArrayLike,
    elapsed_h: ArrayLike,
    energy_facility_kwh: ArrayLike,
    region: str | None,
    date: str,
    *,
    consumer: str = "industrial",
    electricity_usd_per_kwh_facility: float | None = None,
    purchase_usd_per_chip: float | None = None,
    lifetime_h: float = LIFETIME_H,
    in_use: float = IN_USE,
    undated: bool = False,
) -> RunCost:
    """Return the cost of runs on owned chips: electricity and the part of the purchase that they use up.

    Parameters
    ----------
    chip : str
        Any exact name of a chip.
    chips, elapsed_h, energy_facility_kwh : array_like
        How many, hours that they are taken, energy at the site's meter.
    region, date, consumer : str
        See :func:`energy.cost.prices.electricity_price_on`; the date also chooses the purchase price.
    electricity_usd_per_kwh_facility : float, optional
        Price of electricity, instead of that of a region, which may be None then.
    purchase_usd_per_chip : float, optional
        What was paid, machine included if meant so. Without it the price of the catalogue, of the chip alone.
    lifetime_h, in_use : float
        Hours that it is written off over and the share of them in use; the defaults, five years and 0.8, are noted.
    undated : bool
        Whether a purchase price without a date may stand in.

    Raises
    ------
    UnknownNameError
        When a price is not known.
    CostError
        When a number makes no sense.

    Examples
    --------
    >>> run = owned("nvidia_h100_sxm5_80", 8, 100, 1000.0, "US-VA", "2023")
    >>> run.parts["electricity"].round(2).tolist(), bool(run.parts["hardware"][0] > 500)
    ([89.2], True)

    """
    count, hours, energy = _numbers(chips=chips, hours=elapsed_h, kWh_facility=energy_facility_kwh)
    kilowatt_hour = _electricity(region, date, consumer, electricity_usd_per_kwh_facility)
    if purchase_usd_per_chip is None:
        bought = purchase_price(chip, date, undated=undated)
        bought = replace(bought, note=f"{bought.note} Chips only, without the machine around them.")
    else:
        bought = given_price(purchase_usd_per_chip, "USD/chip", "purchase")
    notes = [kilowatt_hour.note, bought.note, f"Written off over {lifetime_h:g} h, of which {in_use:.0%} are in use."]
    prices = [kilowatt_hour, bought]
    bounds = (bought.usd, bought.low_usd, bought.high_usd)
    hardware = [amortised_cost.kernel(count, hours, usd, lifetime_h, in_use) for usd in bounds]
    ends = (kilowatt_hour.usd, kilowatt_hour.low_usd, kilowatt_hour.high_usd)
    power = [electricity_cost.kernel(energy, usd) for usd in ends]
    totals = [np.asarray(one + other) for one, other in zip(hardware, power, strict=True)]
    parts = {"hardware": np.asarray(hardware[0]), "electricity": np.asarray(power[0])}
    return RunCost(totals[0], totals[1], totals[2], parts, hours, "USD", tuple(prices), tuple(notes))


def _electricity(region: str | None, date: str, consumer: str, given: float | None) -> DatedPrice:
    if given is not None:
        return given_price(given, "USD/kWh_facility", "electricity")
    if region is None:
        raise CostError("No price of electricity: give a region, or the price of a kWh at the site's meter.")
    return electricity_price_on(region, date, consumer)


def _numbers(**given: ArrayLike) -> tuple[Numbers, ...]:
    """Return numbers as arrays of one length.

    Raises
    ------
    CostError
        When one is not above zero, or their lengths differ.
    """
    arrays = [np.atleast_1d(np.asarray(one, np.float64)) for one in given.values()]
    for name, values in zip(given, arrays, strict=True):
        bad = ~((values > 0) & np.isfinite(values))
        if bad.any():
            raise CostError(f"{float(values[bad][0]):g} {name}: give a number above zero.")
    try:
        return tuple(np.broadcast_arrays(*arrays))
    except ValueError:
        raise CostError(f"{' and '.join(given)} have different lengths: give one or as many of each.") from None
