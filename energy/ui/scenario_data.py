"""What the page Scenario says of a run: its figures with their ways back, and what stands beside a start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from energy.cost.estimates import Figure as RunFigure
from energy.errors import ScenarioError
from energy.importers.yaml_text import parse_yaml, read_text
from energy.report import Step
from energy.report.model import Cell, Column, Figure, Row, TableBlock
from energy.report.numbers import THIN
from energy.resources import resource
from energy.scenario import training_run
from energy.scenario.specification import parse_keys
from energy.scenario.sweep_file import with_keys
from energy.scenario.training import TrainingRun
from energy.scenario.uncertainty import Lever, headline, tornado

Keys = Mapping[str, Any]

#: Figures that head the page, with what each is, in order.
HEADLINES = (
    ("elapsed_time", "Time, with interruptions", "from the first hour to the last"),
    ("training_time", "Time of the work", "as many days as the chips are busy"),
    ("energy_facility", "Energy at the meter", "chips, nodes and the site around them"),
    ("energy_it", "Energy of IT", "at the plugs of the nodes"),
    ("energy_chips", "Energy of the chips", "boards alone"),
    ("emissions_location", "Scope 2, location-based", "by the grid where it runs"),
    ("emissions_market", "Scope 2, market-based", "by what is bought"),
    ("emissions_hourly", "By hourly factors", "by the hours in which it runs"),
    ("water_site_withdrawn", "Water withdrawn on site", "all water taken in"),
    ("cost", "Cost", "as the chips are paid for"),
)
_METHODS = {"emissions_location": "location", "emissions_market": "market", "emissions_hourly": "hourly"}
#: Each result with the figures that it is the product of, in words of the chain.
_WAYS = {
    "training_time": ("model_flop_utilisation", "throughput"),
    "elapsed_time": ("training_time",),
    "energy_chips": ("chip_hours", "power_per_chip"),
    "energy_it": ("chip_hours", "power_per_chip", "energy_chips", "node_overhead"),
    "energy_facility": ("chip_hours", "power_per_chip", "energy_chips", "node_overhead", "energy_it", "pue"),
    "emissions_location": ("energy_it", "pue", "energy_facility", "energy_grid", "intensity_location"),
    "emissions_market": ("energy_it", "pue", "energy_facility", "energy_grid", "intensity_market"),
    "emissions_hourly": ("energy_it", "pue", "energy_facility", "energy_grid", "intensity_hourly"),
    "water_site_withdrawn": ("energy_it", "wue_withdrawn"),
    "cost": ("chip_hours", "power_per_chip", "energy_facility"),
}
_WORDS = {
    "pue": "PUE",
    "wue_withdrawn": "WUE, withdrawn",
    "wue_consumed": "WUE, consumed",
    "matmul": "Matrix products",
    "memory_bound": "Moving data in memory",
    "framework": "What the stack adds",
    "imbalance": "Waiting for the slowest stage",
    "bubble": "Pipeline bubble",
    "host": "Waiting for the host",
    "activations_mlp": "Activations, MLP",
    "activations_attention": "Activations, attention",
    "activations_frame": "Activations, norms and residual",
    "activations_scores": "Activations, attention scores",
    "node_overhead": "Node overhead",
    "model_flop_utilisation": "Model FLOP utilisation",
    "hardware_flop_utilisation": "Hardware FLOP utilisation",
    "model_flop_rate_per_chip": "Model FLOP rate of a chip",
    "energy_grid": "Energy bought",
    "energy_own_plants": "Energy of own plants",
}
_SUBTOTALS = ("energy_chips", "energy_it", "energy_facility", "energy_grid")


@dataclass(frozen=True, slots=True)
class ScenarioFound:
    """A run with the levers of its headline result."""

    run: TrainingRun
    lever_of: str | None
    levers: tuple[Lever, ...]


@cache
def folder() -> Path:
    """Return the folder of the worked scenarios."""
    return resource("datasets/examples/scenarios")


@cache
def starts() -> Mapping[str, str]:
    """Return the worked scenarios: name of the file -> what it is called."""
    return {path.stem: str(keys_of(path.stem).get("name") or path.stem) for path in sorted(folder().glob("*.yaml"))}


@cache
def keys_of(name: str) -> Keys:
    """Return the keys of a worked scenario, as written."""
    return read_keys(read_text(folder() / f"{name}.yaml", ScenarioError), f"{name}.yaml")


def read_keys(text: str, file_name: str) -> Keys:
    """Return the keys of a scenario's text.

    Raises
    ------
    ScenarioError
        It is no scenario: one line.
    """
    found = parse_yaml(text, file_name, ScenarioError)
    if not isinstance(found, dict):
        raise ScenarioError(f"{file_name}: no scenario. Write keys under work: and system:.")
    parse_keys(found, file_name)
    return found


def found_of(keys: Keys, moved: Keys) -> ScenarioFound:
    """Return the run of a start with what was moved.

    Raises
    ------
    EnergyError
        It cannot run: one line.
    """
    run = training_run(parse_keys(with_keys(keys, moved)), folder())
    named = headline(run)
    return ScenarioFound(run, named, () if named is None else tornado(run, named))


def label(name: str) -> str:
    """Return a figure in words.

    Examples
    --------
    >>> label("energy_it"), label("pue"), label("data_communication")
    ('Energy of IT', 'PUE', 'Data communication')

    """
    named = next((words for one, words, _ in HEADLINES if one == name), None) or _WORDS.get(name)
    if named is not None:
        return named
    text = name.replace("_", " ")
    return text[:1].upper() + text[1:]


def cell_of(name: str, figure: RunFigure) -> Cell:
    """Return a figure as a cell with its 95 % range."""
    if figure.value is None:
        reason = figure.reason or "not known"
        if "--price" in reason:
            reason = "give the price of a chip-hour, under Software and price"
        return Cell(f"scenario.{name}", None, figure.unit, mark="no data", reason=reason)
    is_exact = figure.low is None or figure.low == figure.high
    ends = (None, None) if is_exact else (_exact(figure.low or 0.0), _exact(figure.high or 0.0))
    return Cell(f"scenario.{name}", _exact(figure.value), figure.unit, *ends)


def _exact(value: float) -> Decimal:
    return Decimal(f"{value:.9g}")


def figures_of(found: ScenarioFound, start: ScenarioFound | None) -> list[Figure]:
    """Return the headline figures; beside each how it changed against the start."""
    figures = found.run.figures
    names = [name for name, _, _ in HEADLINES if name in figures]
    if "elapsed_time" in names:
        names.remove("training_time")
    furthest = next((name for name in ("energy_facility", "energy_it", "energy_chips") if name in names), None)
    names = [name for name in names if not name.startswith("energy_") or name == furthest]
    out = []
    for name in names:
        words, known = next((words, known) for one, words, known in HEADLINES if one == name)
        one = figures[name]
        said = f"{one.status}: {known}" if one.value is not None else known
        changes = () if start is None else _changes(name, one, start)
        out.append(Figure(words, cell_of(name, one), "hollow", said, _METHODS.get(name, ""), changes))
    return out


def _changes(name: str, one: RunFigure, start: ScenarioFound) -> tuple[tuple[str, str], ...]:
    before = start.run.figures.get(name)
    if one.value is None or before is None or not before.value or before.value == one.value:
        return ()
    change = 100.0 * (one.value / before.value - 1.0)
    return (("against the start", f"{change:+.1f}{THIN}%".replace("-", "−")),)


def steps_of(found: ScenarioFound) -> dict[str, list[Step]]:
    """Return the ways back of the headline figures, by the id of their cell."""
    figures = found.run.figures
    out = {}
    for name, parts in _WAYS.items():
        if name not in figures or figures[name].value is None:
            continue
        used = [part for part in parts if part in figures]
        out[f"scenario.{name}"] = [_step(part, figures[part], part in _SUBTOTALS) for part in used] + [
            _step(name, figures[name], True)
        ]
    return out


def _step(name: str, figure: RunFigure, subtotal: bool) -> Step:
    sources = "; ".join(figure.sources) or "of the steps above"
    return Step(label(name), cell_of(name, figure), figure.status, sources, subtotal)


def figures_table(found: ScenarioFound) -> TableBlock:
    """Return every figure of the run with range, status and sources."""
    columns = (
        Column("figure", "Figure", kind="text"),
        Column("value", "Value", kind="text"),
        Column("range", f"Range, 95{THIN}%", kind="text"),
        Column("status", "Status", kind="text"),
        Column("source", "Source", kind="text"),
    )
    rows = []
    for name, figure in found.run.figures.items():
        step = _step(name, figure, False)
        cells = (step.step, step.value, step.range or "", figure.status, step.source)
        rows.append(Row(name, tuple(Cell(f"scenario.{name}.{at}", text) for at, text in enumerate(cells))))
    return TableBlock(
        "scenario.figures", "Every figure of the run", "As `energy estimate --json`", columns, tuple(rows)
    )


def csv_of(found: ScenarioFound) -> list[list[str]]:
    """Return every figure as exact texts with unit, ends, status and sources."""
    out = [["figure", "value", "unit", "low80", "high80", "low", "high", "status", "sources", "reason"]]
    for name, one in found.run.figures.items():
        numbers = ["" if value is None else repr(value) for value in (one.value, *one.ends)]
        out.append([name, numbers[0], one.unit, *numbers[1:], one.status, "; ".join(one.sources), one.reason or ""])
    return out
