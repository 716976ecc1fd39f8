"""Money of a training run: from its chip-hours and chip energy to US dollars, by how the chips are paid for.

The bands of a cost are those of the time (and of owned chips the energy) at the middle price; what the lowest and the
highest price that count would make of it stands beside them, since prices are a list and no error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from energy.catalogue.electricity_prices import electricity_price, electricity_prices_for
from energy.catalogue.prices import price as price_row
from energy.cost.counts import parameters
from energy.cost.estimates import Figure
from energy.cost.interruptions import checkpoint_size, checkpoint_time
from energy.cost.links import Fabric
from energy.cost.money import IN_USE, LIFETIME_H, Interruptions, RunCost, owned, rented, with_interruptions
from energy.cost.prices import DatedPrice
from energy.cost.requests import Request
from energy.errors import PriceNotKnownError, ScenarioError
from energy.provenance import weakest
from energy.scenario.specification import Prices, Scenario

#: Kind of price of a scenario -> kind of the table of rentals.
_RENTED = {
    "on-demand": "on_demand",
    "reserved": "reserved_1y",
    "reserved-3y": "reserved_3y",
    "spot": "spot",
    "block": "block",
}
_GIVEN = "given price"
#: Keys that only one way of paying knows, with the flag of each.
_OF_RENTED = {
    "provider": "--provider",
    "region": "--price-region",
    "chip_hour_usd": "--price-usd-per-chip-hour",
}
_OF_OWNED = {
    "purchase_usd_per_chip": "--purchase-usd-per-chip",
    "lifetime_h": "--lifetime-years",
    "in_use": "--in-use",
    "electricity_zone": "--electricity-zone",
    "electricity_consumer": "--electricity-consumer",
    "electricity_usd_per_kwh_facility": "--electricity-price",
}
_OF_INTERRUPTIONS = ("interruptions_per_day", "checkpoint_time_s", "checkpoint_byte_per_s", "restart_time_s")
#: Servers are at most as large as this; a larger domain is a rack or a torus, of which a part is taken away.
_LARGEST_SERVER = 16


@dataclass(frozen=True, slots=True)
class PriceUsed:
    """One price behind a cost: its value and range, dates and rows with their sources; ``days_apart`` is its age."""

    usd: float
    low_usd: float
    high_usd: float
    unit: str
    asked_date: str
    dates: tuple[str, ...]
    direction: str
    days_apart: int | None
    status: str
    rows: tuple[dict[str, str], ...]
    note: str


@dataclass(frozen=True, slots=True)
class Money:
    """Cost of a run in ``currency``, what it consists of, and the prices that made it; null where not known.

    ``cost_lowest_price_usd`` and ``cost_highest_price_usd`` take the middle time with the lowest and highest price.
    """

    kind: str | None
    currency: str
    cost: Figure
    cost_lowest_price_usd: float | None = None
    cost_highest_price_usd: float | None = None
    parts_usd: dict[str, float] = field(default_factory=dict)
    prices: tuple[PriceUsed, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Elapsed:
    """Hours of a run with its interruptions: factor on the useful time, and what was assumed."""

    factor: float = 1.0
    interruptions: Interruptions | None = None
    notes: tuple[str, ...] = ()


def elapsed_of(scenario: Scenario, request: Request, useful_h: float) -> Elapsed:
    """Return what interruptions and checkpoints add to the time of a run.

    Parameters
    ----------
    scenario : Scenario
        Its ``prices`` say how often a machine is taken away, and what that takes; nothing said: factor 1.
    request : Request
        Its chips make the machines.
    useful_h : float
        Hours of the work itself.

    Raises
    ------
    ScenarioError
        When a part is missing.
    CostError
        When the run never ends.
    """
    prices = scenario.prices
    given = [name for name in _OF_INTERRUPTIONS if getattr(prices, name) is not None]
    if not given:
        return Elapsed()
    lacking = []
    if prices.interruptions_per_day is None:
        lacking.append("--interruptions-per-day (of one machine)")
    if prices.checkpoint_time_s is None and prices.checkpoint_byte_per_s is None:
        lacking.append("--checkpoint-s or --checkpoint-gb-per-s")
    if prices.restart_time_s is None:
        lacking.append("--restart-s")
    if lacking or prices.interruptions_per_day is None or prices.restart_time_s is None:
        raise ScenarioError(f"Interruptions are known in part: give {' and '.join(lacking)} too, or none of them.")
    notes: list[str] = []
    stops = Interruptions(
        machine_mean_time_s=86400.0 / prices.interruptions_per_day,
        chips_per_machine=int(_chips_per_machine(request, notes)),
        checkpoint_time_s=_checkpoint_s(prices, request, notes),
        restart_time_s=prices.restart_time_s,
    )
    hours, text = with_interruptions(useful_h, request.chips, stops)
    return Elapsed(float(hours[0]) / useful_h, stops, (*notes, text))


def _chips_per_machine(request: Request, notes: list[str]) -> float:
    if request.chips_per_node is not None:
        return request.chips_per_node
    usual = float(Fabric.of([request.chip]).domain_size[0])
    if usual > _LARGEST_SERVER:
        raise ScenarioError(
            f"{usual:g} chips of {request.chip} share a link, which is no one machine: give --chips-per-node."
        )
    notes.append(f"{usual:g} chips are taken away together, as many as share a server.")
    return usual


def _checkpoint_s(prices: Prices, request: Request, notes: list[str]) -> float:
    if prices.checkpoint_time_s is not None and prices.checkpoint_byte_per_s is not None:
        raise ScenarioError("A checkpoint has a time and a rate: give --checkpoint-s or --checkpoint-gb-per-s.")
    if prices.checkpoint_time_s is not None:
        return prices.checkpoint_time_s
    if request.is_lora:
        raise ScenarioError("The size of a checkpoint of adapters is not known: give --checkpoint-s instead of a rate.")
    size = float(checkpoint_size.kernel(float(parameters(request.architecture).total[0])))
    taken = float(checkpoint_time.kernel(size, prices.checkpoint_byte_per_s))
    notes.append(f"A checkpoint of {size / 1e9:,.0f} GB (14 bytes a parameter) stops the work for {taken:.3g} s.")
    return taken


def money_of(scenario: Scenario, request: Request, figures: dict[str, Figure], elapsed: Elapsed) -> Money:
    """Return the cost of a run.

    Parameters
    ----------
    scenario : Scenario
        Its ``prices``, ``dates``, ``system.node_overhead`` and ``site.pue``.
    request : Request
        Chip and number.
    figures : dict of Figure
        ``chip_hours`` of the work itself; ``energy_chips``, and ``energy_facility`` where node overhead and PUE are
        given, with all that interruptions add.
    elapsed : Elapsed
        Of :func:`elapsed_of`.

    Returns
    -------
    Money
        Without a value where a price is not known: the reason says what to give.

    Raises
    ------
    ScenarioError
        When keys contradict each other.
    UnknownNameError
        When a provider, region or consumer is not known.
    """
    kind = _kind(scenario.prices)
    if "chip_hours" not in figures:
        return _nothing(kind, "give --tokens")
    if kind is None:
        return _nothing(kind, "give --price on-demand, reserved, spot or owned, or --price-usd-per-chip-hour")
    try:
        if kind == "owned":
            return _owned(scenario, request, figures, elapsed)
        return _rented(scenario, request, figures, elapsed, kind)
    except PriceNotKnownError as error:
        remedy = "--purchase-usd-per-chip" if kind == "owned" else "--price-usd-per-chip-hour"
        return _nothing(kind, f"{error} Give {remedy}.")


def _kind(prices: Prices) -> str | None:
    kind = prices.kind or (_GIVEN if prices.chip_hour_usd is not None else None)
    if prices.chip_hour_usd is not None and (prices.provider is not None or prices.region is not None):
        raise ScenarioError(
            "--provider and --price-region choose among the prices of the catalogue, and --price-usd-per-chip-hour is "
            "given: leave one of them out."
        )
    wrong = _OF_RENTED if kind == "owned" else _OF_OWNED
    whose = "rented" if kind == "owned" else "owned"
    for name, flag in wrong.items():
        if getattr(prices, name) is not None:
            said = "no --price is given" if kind is None else f"the price is {kind}"
            raise ScenarioError(f"{flag} is of {whose} chips, and {said}: leave one of them out.")
    return kind


def _nothing(kind: str | None, reason: str) -> Money:
    return Money(kind, "USD", Figure.not_known("USD", reason))


def _date(scenario: Scenario, notes: list[str]) -> str | None:
    if scenario.dates.prices is not None:
        return scenario.dates.prices
    if scenario.dates.year is None:
        return None
    year = str(int(scenario.dates.year))
    notes.append(f"No date of prices is given: {year}, the year of the run, is taken.")
    return year


def _rented(scenario: Scenario, request: Request, figures: dict[str, Figure], elapsed: Elapsed, kind: str) -> Money:
    prices = scenario.prices
    notes: list[str] = []
    if kind == "spot" and elapsed.interruptions is None:
        return _nothing(
            kind,
            "spot machines are taken away: give --interruptions-per-day, --restart-s and --checkpoint-s or "
            "--checkpoint-gb-per-s",
        )
    date = "" if prices.chip_hour_usd is not None else _date(scenario, notes)
    if date is None:
        return _nothing(kind, "prices have dates: give --price-date or --year")
    if kind == "reserved" and prices.chip_hour_usd is None:
        notes.append("Reserved is taken as for one year.")
    hours = figures["chip_hours"]
    run = rented(
        request.chip,
        request.chips,
        hours.known / request.chips,
        _RENTED.get(kind, kind),
        date,
        provider=prices.provider,
        region=prices.region,
        undated=prices.undated,
        interruptions=elapsed.interruptions,
        price_usd_per_chip_h=prices.chip_hour_usd,
    )
    cost = _priced(hours, run)
    notes += [*run.notes, "A rented chip's price holds the machine around it and its electricity."]
    return _money(kind, cost, run, notes)


def _owned(scenario: Scenario, request: Request, figures: dict[str, Figure], elapsed: Elapsed) -> Money:
    prices = scenario.prices
    notes: list[str] = []
    lacking = _lacking_of_owned(scenario, figures)
    if lacking:
        return _nothing("owned", f"give {' and '.join(lacking)}")
    energy = figures["energy_chips"]
    if energy.value is None:
        return _nothing("owned", f"the energy of the chips is not known ({energy.reason})")
    needs_date = prices.purchase_usd_per_chip is None or prices.electricity_usd_per_kwh_facility is None
    date = _date(scenario, notes) if needs_date else ""
    if date is None:
        return _nothing("owned", "prices have dates: give --price-date or --year")
    facility, consumer = figures["energy_facility"], _consumer(prices, notes)
    hours = figures["chip_hours"].times(elapsed.factor, "h")
    run = owned(
        request.chip,
        request.chips,
        hours.known / request.chips,
        facility.known,
        prices.electricity_zone,
        date,
        consumer=consumer,
        electricity_usd_per_kwh_facility=prices.electricity_usd_per_kwh_facility,
        purchase_usd_per_chip=prices.purchase_usd_per_chip,
        lifetime_h=prices.lifetime_h or LIFETIME_H,
        in_use=prices.in_use or IN_USE,
        undated=prices.undated,
    )
    share = float(run.parts["electricity"][0] / run.cost[0])
    # Hardware costs its hours, electricity its hours and watts.
    watts = figures["power_per_chip"]
    cost = _priced(hours.joined(watts, 1.0 / watts.known, "h", share=share), run)
    return _money("owned", cost, run, [*notes, *run.notes, *elapsed.notes])


def _lacking_of_owned(scenario: Scenario, figures: dict[str, Figure]) -> list[str]:
    prices = scenario.prices
    lacking = []
    if scenario.system.node_overhead is None and "energy_it" not in figures:
        lacking.append("--node-overhead (energy at the node's plug over that of its chips)")
    if scenario.site.pue is None and "energy_facility" not in figures:
        lacking.append("--pue")
    if prices.electricity_zone is None and prices.electricity_usd_per_kwh_facility is None:
        lacking.append("--electricity-zone or --electricity-price")
    elif prices.electricity_zone is not None and prices.electricity_usd_per_kwh_facility is not None:
        raise ScenarioError("Electricity has a price and a zone: give --electricity-price or --electricity-zone.")
    return lacking


def _consumer(prices: Prices, notes: list[str]) -> str:
    """Return the class of consumer: as given, else the industrial one of the zone, which is noted."""
    if prices.electricity_consumer is not None or prices.electricity_zone is None:
        return prices.electricity_consumer or ""
    there = list(dict.fromkeys(one.consumer for one in electricity_prices_for(prices.electricity_zone)))
    usual = next((one for one in there if one.startswith("industrial")), None)
    if usual is None:
        raise ScenarioError(
            f"{prices.electricity_zone} has no price for industrial consumers: give --electricity-consumer "
            f"{' or '.join(there)}."
        )
    notes.append(f"No class of consumer is given: {usual} is taken.")
    return usual


def _priced(amount: Figure, run: RunCost) -> Figure:
    """Return the cost with the bands of the hours (and watts) that it goes with."""
    usual = amount.times(float(run.cost[0]) / amount.known, run.currency)
    rows = tuple(f"prices {', '.join(one.price_ids)}" for one in run.prices if one.price_ids)
    status = weakest((usual.status, *(one.status for one in run.prices))).value
    return Figure.with_ends(usual.known, run.currency, usual.ends, status, (*usual.sources, *rows))


def _money(kind: str, cost: Figure, run: RunCost, notes: list[str]) -> Money:
    return Money(
        kind,
        run.currency,
        cost,
        float(run.low[0]),
        float(run.high[0]),
        {name: float(np.atleast_1d(value)[0]) for name, value in run.parts.items()},
        tuple(_used(one) for one in run.prices),
        tuple(dict.fromkeys(notes)),
    )


def _used(one: DatedPrice) -> PriceUsed:
    return PriceUsed(
        one.usd,
        one.low_usd,
        one.high_usd,
        one.unit,
        one.asked_date,
        one.dates,
        one.direction,
        one.days_apart,
        one.status,
        tuple(_row(price_id) for price_id in one.price_ids),
        one.note,
    )


def _row(price_id: str) -> dict[str, str]:
    """Return what names one row of a price table: its id, date, place and source."""
    if price_id.startswith("e"):
        power = electricity_price(price_id)
        of = f"{power.region}, {power.consumer}"
        return {"price_id": price_id, "date": power.period, "of": of, "source": ", ".join(power.source)}
    row = price_row(price_id)
    seller = ", ".join(part for part in (row.provider, row.region) if part)
    return {"price_id": price_id, "date": row.price_date, "of": seller, "source": ", ".join(row.source)}
