"""Flags of ``energy estimate``: one line each with the key of the scenario file that it stands for.

A flag whose name carries a unit takes a bare number, or a number with a unit; the others take what the key takes. So
the file and the flags are read by the same rules and cannot differ.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

_NUMBER = re.compile(r"\s*[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")


class Flag(NamedTuple):
    """One flag: name, key with its section, help, unit of a bare number, whether it is a switch."""

    name: str
    key: str
    help: str
    unit: str = ""
    is_switch: bool = False
    metavar: str = "TEXT"


def _searched(name: str, key: str) -> Flag:
    return Flag(name, f"software.{key}", "Searched if not given.", metavar="N")


FLAGS = (
    Flag("--model", "work.model", "Language model of the catalogue."),
    Flag("--config", "work.config", "Its config.json of Hugging Face instead.", metavar="FILE"),
    Flag("--chip", "system.chip", "Chip of the catalogue."),
    Flag("--chips", "system.chips", "Number of chips.", metavar="N"),
    Flag("--tokens", "work.tokens", "Tokens to train on, for the whole run.", metavar="N"),
    Flag("--chip-hours", "work.chip_hours", "Or of a run that is known.", "chip*h", metavar="N"),
    Flag("--precision", "software.precision", "fp32, tf32, fp16, bf16, fp8, fp4, int8."),
    Flag("--framework", "software.framework", "Software, as it calls itself."),
    Flag("--sequence-length", "work.sequence_length", "Tokens of a sequence.", metavar="N"),
    Flag("--global-batch", "work.global_batch", "Sequences of a step.", metavar="N"),
    _searched("--micro-batch", "micro_batch"),
    _searched("--tensor-parallel", "tensor_parallel"),
    _searched("--pipeline-parallel", "pipeline_parallel"),
    _searched("--virtual-stages", "virtual_stages"),
    _searched("--data-parallel", "data_parallel"),
    _searched("--context-parallel", "context_parallel"),
    _searched("--expert-parallel", "expert_parallel"),
    Flag("--zero-stage", "software.zero_stage", "0 to 3; 3 is fully sharded.", metavar="N"),
    Flag("--recompute", "software.recompute", "none, selective, alternate, full."),
    Flag("--schedule", "software.schedule", "1f1b, zb-h1, zbv, v-half, v-min."),
    Flag("--offload", "software.offload", "optimizer, optimizer+parameters, activations."),
    Flag("--offload-to", "software.offload_to", "host, cxl2, cxl3."),
    Flag("--expert-imbalance", "work.expert_imbalance", "Busiest expert rank over mean.", metavar="N"),
    Flag("--lora", "work.adapters", "Train adapters only.", is_switch=True),
    Flag("--chips-per-node", "system.chips_per_node", "Chips of a server.", metavar="N"),
    Flag("--network-gbit-per-s", "system.network", "One way, of each chip.", "Gbit/s", metavar="N"),
    Flag("--network-link", "system.network_link", "Or a link of the catalogue: ib_ndr.", metavar="NAME"),
    Flag("--power-limit-w", "system.power_limit", "Cap of a chip.", "W", metavar="N"),
    Flag("--power-per-chip-w", "system.power_per_chip", "A known mean.", "W", metavar="N"),
    Flag("--node-overhead", "system.node_overhead", "Energy of node over chips, or modelled.", metavar="N"),
    Flag("--cooling", "system.cooling", "Of a modelled node: air, liquid, immersion."),
    Flag("--pue", "site.pue", "Energy of site over IT.", metavar="N"),
    Flag("--facility", "site.facility", "Or a worked design or file: PUE, water by hour."),
    Flag("--weather", "site.weather", "Place of its weather, for another."),
    Flag("--wue-withdrawn", "site.wue_withdrawn", "Such as '1.8 L/kWh'."),
    Flag("--wue-consumed", "site.wue_consumed", "Such as '1.4 L/kWh'."),
    Flag("--grid-water", "site.grid_water", "Consumed at power stations."),
    Flag("--zone", "site.zone", "Of the grid: emissions. Such as DE, CAMX."),
    Flag("--hourly-zone", "site.hourly_zone", "Zone with hours, beside it."),
    Flag("--residual-zone", "site.residual_zone", "Of the residual mix."),
    Flag("--boundary", "site.boundary", "direct or lifecycle."),
    Flag("--factor-policy", "site.factor_policy", "exact, nearest earlier, nearest any."),
    Flag("--intensity", "site.intensity", "Or your own factor.", "gCO2e/kWh", metavar="N"),
    Flag("--market", "site.market", "Of contracts, such as US."),
    Flag("--reporter", "site.reporter", "Whom contracts must name."),
    Flag("--supply", "supply", "File of own plants and battery.", metavar="FILE"),
    Flag("--start", "dates.start", "First UTC hour, such as 2026-03-01T14:00Z.", metavar="TIME"),
    Flag("--year", "dates.year", "When it runs: software gets faster.", metavar="YEAR"),
    Flag("--price", "prices.kind", "on-demand, reserved, spot, owned.", metavar="KIND"),
    Flag("--price-date", "dates.prices", "Such as 2025-03 or 2025-Q1.", metavar="DATE"),
    Flag("--provider", "prices.provider", "Of rented chips."),
    Flag("--price-region", "prices.region", "Of rented chips."),
    Flag("--undated-prices", "prices.undated", "Allow prices without a date.", is_switch=True),
    Flag("--price-usd-per-chip-hour", "prices.chip_hour", "Your own.", "USD/chip/h", metavar="N"),
    Flag("--purchase-usd-per-chip", "prices.purchase", "Of owned chips.", "USD/chip", metavar="N"),
    Flag("--lifetime-years", "prices.lifetime", "Of owned chips; 5.", "yr", metavar="N"),
    Flag("--in-use", "prices.in_use", "Share of it in use; 0.8.", metavar="N"),
    Flag("--electricity-zone", "prices.electricity_zone", "Such as US-VA or DE."),
    Flag("--electricity-consumer", "prices.electricity_consumer", "industrial if not given."),
    Flag("--electricity-price", "prices.electricity", "Such as '0.08 USD/kWh'."),
    Flag("--interruptions-per-day", "prices.interruptions_per_day", "Of one machine.", metavar="N"),
    Flag("--checkpoint-s", "prices.checkpoint_time", "Time that one takes.", "s", metavar="N"),
    Flag("--checkpoint-gb-per-s", "prices.checkpoint_rate", "Or rate of writing.", "GB/s", metavar="N"),
    Flag("--restart-s", "prices.restart_time", "After an interruption.", "s", metavar="N"),
)


def parameter_of(flag: Flag) -> str:
    """Return the Python name of a flag.

    Examples
    --------
    >>> parameter_of(Flag("--power-limit-w", "system.power_limit", ""))
    'power_limit_w'

    """
    return flag.name.removeprefix("--").replace("-", "_")


def overrides(options: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return what flags say: key with its section -> (value, flag); what was not given is left out.

    Examples
    --------
    >>> overrides({"chips": "64", "power_limit_w": "400", "lora": False})
    {'system.chips': ('64', '--chips'), 'system.power_limit': ('400 W', '--power-limit-w')}

    """
    found: dict[str, tuple[Any, str]] = {}
    for flag in FLAGS:
        value = options.get(parameter_of(flag))
        if value is None or value is False:
            continue
        bare = isinstance(value, str) and flag.unit and _NUMBER.fullmatch(value)
        found[flag.key] = (f"{value.strip()} {flag.unit}" if bare else value, flag.name)
    return found


def with_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes ``scenario``, switches of its own and ``**options`` a parameter for each flag."""
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.kind != one.VAR_KEYWORD]
    made = [
        inspect.Parameter(
            parameter_of(flag),
            inspect.Parameter.KEYWORD_ONLY,
            default=False if flag.is_switch else None,
            annotation=Annotated[bool, typer.Option(flag.name, help=flag.help)]
            if flag.is_switch
            else Annotated[str | None, typer.Option(flag.name, help=flag.help, metavar=flag.metavar)],
        )
        for flag in FLAGS
    ]
    first, *rest = own
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [first, *made, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in rest)]
    )
    command.__annotations__ = {one.name: one.annotation for one in (first, *made, *rest)}
    return command


ScenarioArgument = Annotated[
    Path | None, typer.Argument(metavar="SCENARIO.yaml", help="Scenario file; flags take the place of its keys.")
]
