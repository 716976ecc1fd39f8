"""``energy sweep``."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from energy.cli._app import JsonOption, app, end_reading, print_json, say, show_reading

if TYPE_CHECKING:
    from energy.scenario.sweep import Block, Outcome
    from energy.scenario.sweep_file import Sweep


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.yaml", help="Base scenario, axes, limits.")],
    out: Annotated[Path | None, typer.Option(help="All rows: .parquet or .csv.")] = None,
    best: Annotated[str, typer.Option(metavar="FIGURE", help="What to have least of; or a key that moves.")] = "",
    limit: Annotated[list[str] | None, typer.Option(help="Such as 'cost <= 5e6 USD'; again for more.")] = None,
    pareto: Annotated[str, typer.Option(metavar="A,B", help="Figures of a front, all to be small.")] = "",
    top: Annotated[int, typer.Option(min=1, max=1000, help="Best rows to show.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Run many scenarios: the best within limits, the front.

    Rows that cannot run are kept, with the reason. Flags add to what the file says.
    """
    from energy.scenario.sweep import run
    from energy.scenario.sweep_file import check_figure, limit_of, read_sweep
    from energy.scenario.sweep_table import writing

    said = read_sweep(file)
    front = tuple(name.strip() for name in pareto.split(",") if name.strip())
    moving = {key for axis in said.axes for key in axis.values}
    for name in (*front, *([best] if best else [])):
        if name not in moving:
            check_figure(name, "--pareto" if name in front else "--best")
    more = tuple(limit_of(text) for text in limit or ())
    said = replace(said, best=best or said.best, limits=(*said.limits, *more), pareto=front or said.pareto)
    done = 0
    with ExitStack() as stack:
        write = stack.enter_context(writing(said, out)) if out is not None else None

        def each(block: Block) -> None:
            nonlocal done
            done += len(block.rows)
            show_reading(f"{done:,} of {len(said):,} rows")
            if write is not None:
                write(block)

        found = run(said, top=top, each=each)
    end_reading()
    document = _document(said, found, top)
    if as_json:
        print_json("sweep/1", **document, file=str(file), out=None if out is None else str(out))
        return
    say("\n".join(_lines(said, document)))
    if out is not None:
        say(f"written: {out}")


def _document(said: Sweep, found: Outcome, top: int) -> dict[str, Any]:
    from energy.scenario.figure_units import UNITS
    from energy.scenario.sweep import moved_of

    named = dict.fromkeys((said.best, *(one.figure for one in said.limits), *said.pareto))
    shown = [name for name in named if name in UNITS]  # a key that moves stands among the moved ones

    def entry(row: int) -> dict[str, Any]:
        return {"row": row, "moved": moved_of(said, row), "figures": _figures(said, row, shown)}

    nearest = None if found.feasible else found.nearest
    return {
        "name": said.name,
        "rows": found.rows,
        "ran": found.ran,
        "feasible": found.feasible,
        "reasons": found.reasons,
        "not_told": found.not_told,
        "units": {name: UNITS[name] for name in shown},
        "limits": [
            {"text": one.text, "kept": found.kept.get(one.text, 0), "best_without": found.without.get(one.text)}
            for one in said.limits
        ],
        "best_value": found.best[0][0] if found.best else None,
        "best": [entry(row) for _, row in found.best],
        "nearest": None if nearest is None else {"over": nearest[0], **entry(nearest[1])},
        "front": [entry(row) for row in found.front[:top].tolist()],
        "front_rows": len(found.front),
    }


def _figures(said: Sweep, row: int, shown: list[str]) -> dict[str, float | None]:
    from energy.scenario import training_run
    from energy.scenario.sweep import scenario_of_row

    run = training_run(scenario_of_row(said, row), said.folder)
    return {name: run.figures[name].value if name in run.figures else None for name in shown}


def _lines(said: Sweep, found: dict[str, Any]) -> list[str]:
    lines = [f"{said.name}: {found['rows']:,} rows, {found['ran']:,} can run, {found['feasible']:,} keep all limits"]
    common = sorted(found["reasons"].items(), key=lambda one: -one[1])[:3]
    lines += [f"  {count:,} cannot: {text}" for text, count in common]
    lines += [f"  {name.replace('_', ' ')} is not known: {text}" for name, text in found["not_told"].items()]
    for one in found["limits"]:
        lines.append(f"  limit {one['text']}: {one['kept']:,} rows keep it{_without(said, found, one)}")
    if said.best is not None:
        lines += ["", f"least {said.best.replace('_', ' ')}:"]
        lines += [_line(one, found["units"]) for one in found["best"]] or ["  none: no row keeps all limits"]
    if found["nearest"] is not None:
        lines.append(f"  nearest row is {found['nearest']['over']:.3g} times over a limit:")
        lines.append(_line(found["nearest"], found["units"]))
    if said.pareto:
        lines += ["", f"front of {', '.join(said.pareto)}: {found['front_rows']:,} rows"]
        lines += [_line(one, found["units"]) for one in found["front"]]
    return lines


def _without(said: Sweep, found: dict[str, Any], limit: dict[str, Any]) -> str:
    """Return how far the best row would move without one limit."""
    least, now = limit["best_without"], found["best_value"]
    if said.best is None or least is None or now is None:
        return ""
    if least >= now * (1 - 1e-12):
        return "; it does not bind"
    return f"; without it {said.best.replace('_', ' ')} would be {least / now - 1:+.1%}"


def _line(one: dict[str, Any], units: dict[str, str]) -> str:
    figures = ", ".join(
        f"{name.replace('_', ' ')} {'not known' if value is None else f'{value:,.4g} {_unit(units[name])}'.rstrip()}"
        for name, value in one["figures"].items()
    )
    moved = ", ".join(f"{key} {value}" for key, value in one["moved"].items())
    return f"  row {one['row']}: {moved}: {figures}"


def _unit(unit: str) -> str:
    from energy.units import quantity, words

    return words(quantity(1.0, unit).units)
