"""``energy estimate``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from energy.cli._app import JsonOption, app, print_json, say

if TYPE_CHECKING:
    from energy.cost.estimates import Estimate, Figure


Size = Annotated[float | None, typer.Option(help="Searched if not given.", metavar="N")]


@app.command()
def estimate(
    chip: Annotated[str, typer.Option(help="Chip of the catalogue.")],
    chips: Annotated[float, typer.Option(help="Number of chips.")],
    model: Annotated[str | None, typer.Option(help="Language model of the catalogue.")] = None,
    config: Annotated[Path | None, typer.Option(help="Its config.json of Hugging Face instead.")] = None,
    tokens: Annotated[float | None, typer.Option(help="Tokens to train on, for the whole run.")] = None,
    precision: Annotated[
        str | None, typer.Option(help="fp32, tf32, fp16, bf16, fp8, fp4, int8; the chip's 16-bit format if not given.")
    ] = None,
    framework: Annotated[str, typer.Option(help="Software, as it calls itself.")] = "",
    sequence_length: Annotated[float | None, typer.Option(help="Tokens of a sequence.")] = None,
    global_batch: Annotated[float | None, typer.Option(help="Sequences of a step.")] = None,
    micro_batch: Size = None,
    tensor_parallel: Size = None,
    pipeline_parallel: Size = None,
    virtual_stages: Size = None,
    data_parallel: Size = None,
    context_parallel: Size = None,
    expert_parallel: Size = None,
    zero_stage: Annotated[float | None, typer.Option(help="0 to 3; 3 is fully sharded.")] = None,
    recompute: Annotated[str | None, typer.Option(help="none, selective, alternate, full.")] = None,
    expert_imbalance: Annotated[float, typer.Option(help="Busiest expert rank over the mean.")] = 1.0,
    network_gbit_per_s: Annotated[float | None, typer.Option(help="One way, of each chip.")] = None,
    power_limit_w: Annotated[float | None, typer.Option(help="Cap of a chip.")] = None,
    lora: Annotated[bool, typer.Option("--lora", help="Train adapters only.")] = False,
    year: Annotated[float | None, typer.Option(help="When it runs: software gets faster.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the states of a step.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate a training run: time, utilisation, memory.

    Without a layout the fastest that fits is chosen, and named.
    """
    from energy import catalogue
    from energy.cost.architecture import Architecture
    from energy.cost.estimates import estimate as estimated
    from energy.cost.requests import Request, kind_of, usual_precision
    from energy.errors import CostError

    if (model is None) == (config is None):
        raise CostError("Give either --model, a name of the catalogue, or --config, a config.json.")
    shape = Architecture.of_model(model) if model is not None else Architecture.of_config(config or Path())
    named = catalogue.chip(chip).chip_id
    request = Request(
        architecture=shape,
        kind="adapters" if lora else kind_of(shape),
        chip=named,
        chips=chips,
        precision=precision or usual_precision(named),
        framework=framework,
        sequence_length=sequence_length,
        global_batch_size=global_batch,
        micro_batch_size=micro_batch,
        tensor_parallel_size=tensor_parallel,
        pipeline_parallel_size=pipeline_parallel,
        virtual_stages=virtual_stages,
        data_parallel_size=data_parallel,
        context_parallel_size=context_parallel,
        expert_parallel_size=expert_parallel,
        zero_stage=zero_stage,
        recompute=recompute,
        expert_imbalance=expert_imbalance,
        outside_gbit_per_s_per_chip=network_gbit_per_s,
        power_limit_w=power_limit_w,
        is_lora=lora,
        year=year,
    )
    found = estimated(request, tokens=tokens)
    if as_json:
        print_json(
            "estimate/1", work="training", model=model or str(config), chip=request.chip, chips=chips, **asdict(found)
        )
        return
    say("\n".join(_lines(found, explain)))


def _lines(found: Estimate, explain: bool) -> list[str]:
    """Return the figures as a table, the layout, and with ``explain`` the states and what fills the memory."""
    lines = [f"{'':32}{'value':>14}  {'80 % of such runs':<26}95 %"]
    lines += [_line(name, figure) for name, figure in found.figures.items()]
    shown = ", ".join(f"{name} {_plain(value)}" for name, value in found.layout.items())
    lines += ["", f"layout: {shown}"]
    if explain:
        total = sum(found.states_s.values())
        lines += ["", f"{'state of a step':32}{'s':>12}{'share':>9}"]
        lines += [
            f"{name.replace('_', ' '):32}{_plain(value):>12}{value / total:>9.1%}"
            for name, value in found.states_s.items()
        ]
        lines += ["", f"{'memory of a chip':32}{'GiB':>12}"]
        lines += [f"{name.replace('_', ' '):32}{value:>12.2f}" for name, value in found.memory_gib.items() if value > 0]
    lines += ["", *(f"note: {note}" for note in found.notes)] if found.notes else []
    return lines


def _line(name: str, figure: Figure) -> str:
    value = f"{_plain(figure.value)} {figure.unit}"
    near = _range(figure.low80, figure.high80)
    return f"{name.replace('_', ' '):32}{value:>14}  {near:<26}{_range(figure.low, figure.high)}".rstrip()


def _range(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{_plain(low)} to {_plain(high)}"


def _plain(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.4g}"
