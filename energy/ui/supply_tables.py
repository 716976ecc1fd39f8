"""What the page Supply says: headline figures, months, greedy rule beside optimum, and the hours of a week."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from energy.report import Step
from energy.report.model import Cell, Column, Figure, Row, TableBlock
from energy.report.numbers import THIN, plain, share
from energy.supply.dispatch import Dispatch
from energy.supply.matching import matching_of
from energy.supply.optimum import Optimum
from energy.ui.site_tables import hourly_rows
from energy.ui.site_weather import MONTHS, local, month_sums, months_of
from energy.ui.supply_data import OWN, SupplyFound

Numbers = NDArray[np.float64]

_KWH = "kWh_facility"
WEEK_H, WEEKS = 168, 52


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.9g}")


def _cell(name: str, value: float | None, unit: str = "", reason: str = "") -> Cell:
    if value is None:
        return Cell(f"supply.{name}", None, unit, mark="no data", reason=reason)
    return Cell(f"supply.{name}", _exact(value), unit)


def cost_usd(found: SupplyFound, dispatch: Dispatch) -> float | None:
    """Return the year's cost of energy from the grid less what is sold; None where no price is known."""
    if found.price is None:
        return None
    sold = max(found.asked.sold_price or 0.0, 0.0) * float(dispatch.excess_facility_kwh.sum())
    return float(found.price @ dispatch.grid_facility_kwh[0]) - sold


def emissions_kgco2e(found: SupplyFound, dispatch: Dispatch) -> float | None:
    """Return the emissions of energy from the grid by average intensity; None where no intensity is known."""
    return None if found.intensity is None else float(found.intensity @ dispatch.grid_facility_kwh[0])


def score_text(value: float) -> str:
    """Write a fraction as percent."""
    return share(_exact(value), 1)


def figures_of(found: SupplyFound) -> list[Figure]:
    """Return the headline figures: 24/7 score beside annual matching, excess apart."""
    one, asked = found.dispatch, found.asked
    made, excess = (float(part.sum()) for part in (one.generation_facility_kwh, one.excess_facility_kwh))
    best = found.own if found.with_grid is None else found.with_grid
    whose = "own plants alone" if found.with_grid is None else f"with the grid; own {score_text(found.own.score)}"
    yields = f"PV {plain(found.pv_kw.sum().item() / asked.pv_kw, 0)}{THIN}kWh per kW" if asked.pv_kw else "no PV"
    used = Cell("supply.used", score_text(1.0 - excess / made)) if made else _cell("used", None, "", "no plants")
    cycles = float(one.full_cycles[0])
    out = [
        Figure("24/7 score", Cell("supply.score", score_text(best.score)), "hollow", f"hour by hour, {whose}"),
        Figure(
            "Annual matching",
            Cell("supply.annual", score_text(found.own.annual_matching)),
            "hollow",
            "own generation over load of the year: another figure",
        ),
        Figure("Excess", _cell("excess", excess, _KWH), "hollow", "neither used nor stored: fed in or curtailed"),
        Figure("Own generation", _cell("generation", made, _KWH), "hollow", yields),
        Figure("Generation used on site", used, "hollow", "directly or through the battery"),
    ]
    cell = _cell("cycles", cycles if np.isfinite(cycles) else None, "", "no battery")
    text = cell if cell.value is None else Cell("supply.cycles", plain(cycles, 0 if cycles >= 10.0 else 1))
    out.append(Figure("Full cycles of the battery", text, "hollow", "energy released over capacity, in the year"))
    cost, emitted = cost_usd(found, one), emissions_kgco2e(found, one)
    out.append(Figure("Cost of energy", _cell("cost", cost, "USD", "no price is stated"), "hollow", "from the grid"))
    out.append(
        Figure(
            "Emissions of grid energy",
            _cell("emissions", emitted, "kgCO2e", "no intensity is stated"),
            "hollow",
            f"by average intensity: {found.intensity_of}",
        )
    )
    return out


def steps_of(found: SupplyFound) -> dict[str, list[Step]]:
    """Return the ways back of own generation, cost and emissions, by the id of their figure."""
    one = found.dispatch
    grid = float(one.grid_facility_kwh.sum())
    bought = Step("Energy from the grid", _cell("", grid, _KWH), "derived", "greedy rule over the hours of the weather")
    place = f"{found.weather.place}, {found.weather.kind} year"
    light = "none" if found.sun is None else f"{place}; PVWatts' chain, irradiance {found.sun.source}"
    made = [
        Step("PV", _cell("", float(found.pv_kw.sum()), _KWH), "estimate", light),
        Step("Wind", _cell("", float(found.wind_kw.sum()), _KWH), "estimate", f"{place}; cubic curve (recalled)"),
    ]
    total = float(one.generation_facility_kwh.sum())
    out = {"supply.generation": [*made, Step("Own generation", _cell("", total, _KWH), "derived", "sum", True)]}
    cost, emitted = cost_usd(found, one), emissions_kgco2e(found, one)
    if cost is not None:
        source = "each hour at its price, less what is paid for excess"
        out["supply.cost"] = [bought, Step("Cost of energy", _cell("", cost, "USD"), "given", source, True)]
    if emitted is not None and grid:
        mean = Step(
            "Mean intensity, weighted by that energy",
            _cell("", 1000.0 * emitted / grid, "gCO2e/kWh_facility"),
            "given" if found.asked.zone == OWN or found.intensity_of != found.asked.zone else "catalogue",
            found.intensity_of,
        )
        last = Step("Emissions of grid energy", _cell("", emitted, "kgCO2e"), "derived", "each hour by its own", True)
        out["supply.emissions"] = [bought, mean, last]
    return out


def energy_unit(found: SupplyFound) -> str:
    """Return one unit for all energies of the page's tables: the one that fits the load of a month."""
    month_kwh = float(found.dispatch.load_facility_kwh.sum()) / 12.0
    return "kWh" if month_kwh < 1e4 else "MWh" if month_kwh < 1e7 else "GWh"


def months_table(found: SupplyFound) -> TableBlock:
    """Return energy by month; the last row is the year."""
    one = found.dispatch
    months = months_of(found.weather.start_utc, found.weather.standard_offset_h)
    flows = {
        "load": one.load_facility_kwh[0],
        "pv": found.pv_kw,
        "wind": found.wind_kw,
        "direct": found.direct_kwh,
        "charge": one.charge_facility_kwh[0],
        "discharge": one.discharge_facility_kwh[0],
        "grid": one.grid_facility_kwh[0],
        "excess": one.excess_facility_kwh[0],
    }
    sums = {name: month_sums(months, values) for name, values in flows.items()}
    met = month_sums(months, found.own.contracted_used_facility_kwh[0])
    money = None if found.price is None else _money(found, found.price, months)
    gas = None if found.intensity is None else month_sums(months, found.intensity * one.grid_facility_kwh[0])
    rows = [
        _month_row(name, {key: float(values[at]) for key, values in sums.items()}, float(met[at]), *(
            None if values is None else float(values[at]) for values in (money, gas)))
        for at, name in enumerate(MONTHS)
    ]  # fmt: skip
    whole = {key: float(values.sum()) for key, values in flows.items()}
    year = (None if values is None else float(values.sum()) for values in (money, gas))
    rows.append(_month_row("Year", whole, float(met.sum()), *year, kind="sum"))
    labels = ("Load", "PV", "Wind", "Used directly", "Into the battery", "Out of it", "From the grid", "Excess")
    columns = (
        Column("month", "Month", kind="text"),
        *(Column(name, label, _KWH) for name, label in zip(flows, labels, strict=True)),
        Column("score", "24/7 score, own plants", kind="share"),
        Column("cost", "Cost", "USD"),
        Column("emissions", "Emissions", "kgCO2e", decimals=3),
    )
    notes = (
        "Totals are sums of unrounded values. PV + wind + out of the battery + grid = load + into the battery + "
        f"excess in every hour; the largest error of any hour is {one.balance_error_kwh:.1e}{THIN}kWh.",
    )
    return TableBlock(
        "supply.months", "Energy by month", "At the site's meter, by the greedy rule", columns, tuple(rows), notes
    )


def _money(found: SupplyFound, price: Numbers, months: NDArray[np.int64]) -> Numbers:
    one = found.dispatch
    sold = max(found.asked.sold_price or 0.0, 0.0)
    return month_sums(months, price * one.grid_facility_kwh[0] - sold * one.excess_facility_kwh[0])


def _month_row(
    name: str, flows: dict[str, float], met: float, cost: float | None, emitted: float | None, *, kind: str = "row"
) -> Row:
    load = flows["load"]
    score = _cell(f"months.{name}.score", met / load if load else None, "", "no load")
    cells = (
        Cell(f"supply.months.{name}", name),
        *(_cell(f"months.{name}.{key}", value, _KWH) for key, value in flows.items()),
        score,
        _cell(f"months.{name}.cost", cost, "USD", "no price is stated"),
        _cell(f"months.{name}.emissions", emitted, "kgCO2e", "no intensity is stated"),
    )
    return Row(name, cells, "sum" if kind == "sum" else "row")


def against_table(found: SupplyFound, best: Optimum) -> TableBlock:
    """Return the greedy rule beside the optimum; the last row is the optimum less the rule."""
    lines = [("Greedy rule", _side(found, found.dispatch)), ("Optimum", _side(found, best.dispatch))]
    pairs = zip(lines[0][1], lines[1][1], strict=True)
    lines.append(("Optimum less rule", [_less(a, b) for a, b in pairs]))
    columns = (
        Column("side", "Dispatch", kind="text"),
        Column("grid", "From the grid", _KWH),
        Column("excess", "Excess", _KWH),
        Column("charge", "Into the battery", _KWH),
        Column("discharge", "Out of it", _KWH),
        Column("score", "24/7 score, own plants, %", "%", decimals=1),
        Column("cost", "Cost", "USD"),
        Column("emissions", "Emissions", "kgCO2e"),
    )
    rows = tuple(
        Row(name, (Cell(f"supply.against.{name}", name), *(
            _cell(f"against.{name}.{column.key}", value, column.unit, "not stated")
            for column, value in zip(columns[1:], values, strict=True))))
        for name, values in lines
    )  # fmt: skip
    error = best.dispatch.balance_error_kwh
    notes = (f"The optimum balances in every hour as well; the largest error is {error:.1e}{THIN}kWh.",)
    sub = "Year, at the site's meter; the optimum leaves as much in the cells as the rule does"
    return TableBlock("supply.against", "Greedy rule and optimum", sub, columns, rows, notes)


def _less(first: float | None, second: float | None) -> float | None:
    """Return second less first; the solver is right to a millionth, so less than that is no difference."""
    if first is None or second is None:
        return None
    return 0.0 if math.isclose(first, second, rel_tol=1e-6) else second - first


def _side(found: SupplyFound, one: Dispatch) -> list[float | None]:
    flows = (one.grid_facility_kwh, one.excess_facility_kwh, one.charge_facility_kwh, one.discharge_facility_kwh)
    return [
        *(float(part.sum()) for part in flows),
        100.0 * matching_of(one, 0.0).score,
        cost_usd(found, one),
        emissions_kgco2e(found, one),
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Week:
    """168 hours from a midnight of standard time; energies of each hour in kWh_facility.

    ``direct`` is what the load takes of own generation beside battery and grid: the three make the load, and what the
    battery takes from the grid where it may.
    """

    clock: NDArray[np.datetime64]
    load: Numbers
    direct: Numbers
    discharge: Numbers
    grid: Numbers
    charge: Numbers
    excess: Numbers
    night: NDArray[np.bool_]

    @property
    def words(self) -> str:
        """Write its first and last day."""
        first, last = (date.fromisoformat(str(one)[:10]) for one in (self.clock[0], self.clock[-1]))
        return f"{first:%-d %b} to {last:%-d %b}"


def week_of(found: SupplyFound, dispatch: Dispatch, number: int) -> Week:
    """Return a week of a dispatch; week 1 begins at the year's first midnight of standard time.

    Parameters
    ----------
    found : SupplyFound
    dispatch : Dispatch
    number : int
        From 1 to 52.
    """
    clock = local(found.weather.start_utc, found.weather.standard_offset_h)
    hour = clock.astype("datetime64[h]").astype(np.int64) % 24
    first = int(np.argmax(hour == 0)) + WEEK_H * (number - 1)
    rows = slice(first, first + WEEK_H)
    flows = (dispatch.discharge_facility_kwh, dispatch.grid_facility_kwh)
    left = np.maximum(dispatch.load_facility_kwh - sum(flows), 0.0)
    own = np.minimum(left, dispatch.generation_facility_kwh)[0]
    return Week(
        clock=clock[rows],
        load=dispatch.load_facility_kwh[0, rows],
        direct=own[rows],
        discharge=dispatch.discharge_facility_kwh[0, rows],
        grid=dispatch.grid_facility_kwh[0, rows],
        charge=dispatch.charge_facility_kwh[0, rows],
        excess=dispatch.excess_facility_kwh[0, rows],
        night=found.pv_kw[rows] <= 0.0 if found.sun is not None else np.zeros(WEEK_H, dtype=bool),
    )


def week_options(found_clock: NDArray[np.datetime64], offset_h: float) -> dict[str, str]:
    """Return the weeks to choose from, by number."""
    clock = local(found_clock, offset_h)
    hour = clock.astype("datetime64[h]").astype(np.int64) % 24
    first = clock[int(np.argmax(hour == 0))]
    days = (first + np.timedelta64(WEEK_H * 3600, "s") * number for number in range(WEEKS))
    return {
        str(number): f"{number}, from {date.fromisoformat(str(day)[:10]):%-d %b}" for number, day in enumerate(days, 1)
    }


def hour_rows(found: SupplyFound, dispatch: Dispatch) -> list[list[str]]:
    """Return every hour as texts with a head; what is not known is empty."""
    columns = {
        "load_facility_kwh": dispatch.load_facility_kwh[0],
        "photovoltaics_facility_kwh": found.pv_kw,
        "wind_facility_kwh": found.wind_kw,
        "charge_facility_kwh": dispatch.charge_facility_kwh[0],
        "discharge_facility_kwh": dispatch.discharge_facility_kwh[0],
        "grid_facility_kwh": dispatch.grid_facility_kwh[0],
        "excess_facility_kwh": dispatch.excess_facility_kwh[0],
        "stored_kwh": dispatch.stored_kwh[0, :-1],
        "score_24_7_own_plants": found.own.score_by_hour[0],
    }
    unknown = np.full(found.weather.hours, np.nan)
    columns["price_usd_per_kwh_facility"] = unknown if found.price is None else found.price
    columns["intensity_kgco2e_per_kwh_facility"] = unknown if found.intensity is None else found.intensity
    return hourly_rows(found.weather.start_utc, columns)


def unmatched_hours(values: Sequence[float] | Numbers) -> int:
    """Return how many hours are not wholly matched; hours without load do not count."""
    found = np.asarray(values, dtype=np.float64)
    return int(np.count_nonzero(found < 1.0 - 1e-9))
