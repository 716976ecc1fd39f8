"""``energy estimate``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from energy.cli._app import JsonOption, app, print_json, say
from energy.cli._estimate_options import ScenarioArgument, overrides, with_flags


@app.command()
@with_flags
def estimate(
    scenario: ScenarioArgument = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show states, memory, power, money.")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of scenarios.")] = False,
    as_json: JsonOption = False,
    **options: Any,
) -> None:
    """Estimate a training run: time, energy, emissions, cost.

    From a scenario file, flags, or both: flags take the place of keys. Without a layout the fastest that fits is
    chosen, and named. Numbers may carry their unit, such as '2e12 token'.
    """
    from energy.cli._estimate_text import lines_of, lines_of_levers
    from energy.scenario import read_scenario, scenario_of, training_run
    from energy.scenario.uncertainty import headline, tornado

    if schema:
        from energy.scenario.json_schema import text

        say(text().rstrip())
        return
    said = overrides(options)
    if scenario is not None:
        run = training_run(read_scenario(scenario, said), scenario.parent)
    else:
        run = training_run(scenario_of(said))
    named = headline(run)
    levers = () if named is None else tornado(run, named)
    if as_json:
        print_json("estimate/1", **run.document(), levers_of=named, levers=[one.document() for one in levers])
        return
    say("\n".join([*lines_of(run, explain=explain), *(lines_of_levers(named, levers) if explain else [])]))
