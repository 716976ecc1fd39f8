"""Text of ``energy estimate`` for people: figures with their bands, layout, and with ``--explain`` what made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from energy.cost.estimates import Estimate, Figure
    from energy.scenario.costing import Money
    from energy.scenario.training import TrainingRun
    from energy.scenario.uncertainty import Lever

#: Units as people read them: the power of a chip needs no "per chip".
_SHOWN = {
    "W_chip/chip": "W (chip)",
    "J_chip/token": "J (chip)/token",
    "USD/kWh_facility": "USD/kWh",
    "kWh_it/kWh_chip": "",
    "kWh_facility/kWh_it": "",
    "L/kWh_it": "L/kWh (IT)",
    "gCO2e/kWh_facility": "g/kWh (facility)",
}
#: Units that people see in the step of a ladder that fits the value.
_ON_LADDER = ("kWh_chip", "kWh_it", "kWh_facility", "kgCO2e", "L", "USD")


def lines_of(run: TrainingRun, *, explain: bool) -> list[str]:
    """Return the figures as a table, the layout, and with ``explain`` states, memory, power and money."""
    lines = [f"{'':32}{'value':>24}  {'80 % of such runs':<27}95 %"]
    lines += [_line(name, figure) for name, figure in run.figures.items()]
    if run.estimate is not None:
        shown = ", ".join(f"{name} {_plain(value)}" for name, value in run.estimate.layout.items())
        lines += ["", f"layout: {shown}"]
        if explain:
            lines += [*_states(run.estimate), *_memory(run.estimate), *_power(run)]
    lines += _factors(run)
    if run.money is not None and run.money.cost.value is not None:
        lines += _money(run.money, explain=explain)
    notes = [one for one in run.notes if run.money is None or one not in run.money.notes]
    lines += ["", *(f"note: {note}" for note in notes)] if notes else []
    return lines


def lines_of_levers(result: str | None, levers: Sequence[Lever]) -> list[str]:
    """Return what moves a result most, each input at the ends of its 95 % range with the others at their middle."""
    if result is None or not levers:
        return []
    head = f"{'what matters most':32}{'low':>12}{'high':>12}  {result.replace('_', ' ')} at low, at high"
    rows = [
        f"{one.name.replace('_', ' '):32}{_plain(one.low):>12}{_plain(one.high):>12}  "
        f"{_plain(one.result_at_low)} to {_plain(one.result_at_high)}"
        for one in levers
    ]
    return ["", head, *rows]


def _factors(run: TrainingRun) -> list[str]:
    rows = [f"factor, {one['method']}: {one['factor_id']} ({one['year']})" for one in run.factors]
    return ["", *rows] if rows else []


def _states(estimate: Estimate) -> list[str]:
    states = estimate.states_s
    total = sum(states.values())
    rows = [f"{name.replace('_', ' '):32}{_plain(value):>12}{value / total:>9.1%}" for name, value in states.items()]
    return ["", f"{'state of a step':32}{'s':>12}{'share':>9}", *rows]


def _memory(estimate: Estimate) -> list[str]:
    held = estimate.memory_gib
    rows = [f"{name.replace('_', ' '):32}{value:>12.2f}" for name, value in held.items() if value > 0]
    return ["", f"{'memory of a chip':32}{'GiB':>12}", *rows]


def _power(run: TrainingRun) -> list[str]:
    if not run.power_phases:
        return []
    head = f"{'power of a chip while':32}{'W (chip)':>12}{'share':>9}{'compute':>9}{'memory':>9}"
    rows = [
        f"{name.replace('_', ' '):32}{one['power_chip_w']:>12.0f}{one['share']:>9.1%}"
        f"{one['compute_load']:>9.2f}{one['memory_load']:>9.2f}"
        for name, one in run.power_phases.items()
    ]
    return ["", head, *rows, f"power from {'; '.join(run.figures['power_per_chip'].sources)}"]


def _money(money: Money, *, explain: bool) -> list[str]:
    lines = ["", f"{'cost, ' + str(money.kind):32}{money.currency:>24}"]
    lines += [f"{name:32}{_plain(value):>24}" for name, value in money.parts_usd.items() if value]
    lowest, highest = money.cost_lowest_price_usd, money.cost_highest_price_usd
    if lowest is not None and highest is not None and lowest < highest:
        lines.append(f"{'at lowest, highest price':32}{_plain(lowest) + ' to ' + _plain(highest):>24}")
    for one in money.prices:
        said = "" if one.direction == "given" else f"{_plain(one.usd)} {_SHOWN.get(one.unit, one.unit)}; "
        lines.append(f"price: {said}{one.note.replace('_facility', '')}")
        rows = one.rows if explain else one.rows[:3]
        lines += [
            f"  row {row['price_id']} of {row['date'] or 'no date'}: {row['of']} ({row['source']})" for row in rows
        ]
        if len(rows) < len(one.rows):
            lines.append(f"  rows left out: {len(one.rows) - len(rows)}; --explain lists them.")
    notes = [note for note in money.notes if note not in {one.note for one in money.prices}]
    return [*lines, *(f"money: {note}" for note in notes)]


def _line(name: str, figure: Figure) -> str:
    label = f"{name.replace('_', ' '):32}"
    if figure.value is None:
        return f"{label}{'not known':>24}  {figure.reason}"
    shown, unit = _on_ladder(figure)
    value = f"{_plain(shown.value)} {unit}"
    near = _range(shown.low80, shown.high80)
    return f"{label}{value:>24}  {near:<26} {_range(shown.low, shown.high)}".rstrip()


def _on_ladder(figure: Figure) -> tuple[Figure, str]:
    """Return a figure in the unit in which people see it, and that unit in words."""
    from energy.units import on_ladder, quantity, unit_text, words

    if figure.unit not in _ON_LADDER or not figure.known:
        return figure, _SHOWN.get(figure.unit, figure.unit)
    best = on_ladder(quantity(figure.known, figure.unit))
    return figure.times(float(best.magnitude) / figure.known, unit_text(best.units)), words(best.units)


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None or low == high else f"{_plain(low)} to {_plain(high)}"


def _plain(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
