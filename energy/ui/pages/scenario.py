"""Scenario: a training run from work and chips to emissions, water and money; form left, result right."""

from __future__ import annotations

import json

import streamlit as st

from energy.errors import EnergyError
from energy.report.display import bar_scale
from energy.report.numbers import THIN
from energy.ui import figures, scenario_form, scenario_run, scenario_view, shell, tables
from energy.ui.notices import heading, notes, notice
from energy.ui.scenario_data import Keys, ScenarioFound, csv_of, figures_of, figures_table, label, steps_of
from energy.ui.site_filters import PlantFilters
from energy.ui.site_view import download


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = PlantFilters("scenario")
    left, right = st.columns([3, 9], gap="large")
    with left:
        name, keys, moved = scenario_form.asked(filters)
    with right:
        filters.done()
        if filters.resets:
            notice("", filters.resets)
        title.title(name)
        start = _start(keys)
        try:
            found = scenario_run.found(scenario_run.text_of(keys, moved))
        except EnergyError as error:
            notice("Not computed.", [str(error), "Move a value on the left, or start from another scenario."])
        else:
            _show(found, start if moved else None)
            _take(found, keys, moved)
    with left:
        scenario_form.uploader()


def _start(keys: Keys) -> ScenarioFound | None:
    """Return the run of the start, to set what was moved against it; a start that cannot run is none."""
    try:
        return scenario_run.found(scenario_run.text_of(keys, {}))
    except EnergyError:
        return None


def _show(found: ScenarioFound, start: ScenarioFound | None) -> None:
    shown = figures_of(found, start)
    scale = bar_scale(figure.cell for figure in shown)
    ways = steps_of(found)
    body = "".join(figures.html(one, scale, "", ways.get(one.cell.id, ())) for one in shown)
    st.html(f'<div class="en"><div class="en-figs">{body}</div></div>')
    notes([f"Bars: 95{THIN}% range, all on one scale of ±{scale}{THIN}% around the value; hollow: nothing measured."])
    scenario_view.strip(found.run)
    figures.first()
    if "energy_chips" in found.run.figures and found.run.figures["energy_chips"].value is not None:
        heading(_chips_share(found), "Energy from the boards of the chips to the meter of the site")
        scenario_view.waterfall(found.run)
    if found.run.estimate is not None:
        heading(
            "What the chips do in a step", "Seconds of one step; darker: the work itself, lighter: waiting and moving"
        )
        scenario_view.states(found.run)
        room = found.run.estimate.layout.get("memory_of_chip_gb")
        heading("What a chip holds", "" if room is None else f"Of {room:g}{THIN}GB")
        scenario_view.memory(found.run)
    if found.levers and found.lever_of is not None:
        one = found.run.figures[found.lever_of]
        heading(
            f"What matters most for {label(found.lever_of)}",
            f"The result with one input at the ends of its 95{THIN}% range, the others at their middle",
        )
        scenario_view.levers(found.levers, found.lever_of, one.unit, one.known)
    with st.expander("Every figure, with range, status and source"):
        tables.block(figures_table(found))
    factors = [
        f"{one['method']}: factor {one['factor_id']}, {one['year']}. {one['note']}".strip() for one in found.run.factors
    ]
    methods = tuple(f"{one['method']}:" for one in found.run.factors)
    notes([*factors, *(note for note in found.run.notes if not note.startswith(methods or ("\0",)))])


def _chips_share(found: ScenarioFound) -> str:
    """Say which share of the furthest energy the chips take."""
    run = found.run.figures
    furthest = next((name for name in ("energy_facility", "energy_it") if name in run), None)
    if furthest is None:
        return "Energy of the chips; nodes and site are not told"
    part = 100.0 * run["energy_chips"].known / run[furthest].known
    where = "at the meter" if furthest == "energy_facility" else "at the plugs of the nodes"
    return f"Chips take {part:.0f}{THIN}% of the energy {where}"


def _take(found: ScenarioFound, keys: Keys, moved: Keys) -> None:
    heading("Take it with you", "The scenario as a file for `energy estimate`, and every figure")
    text = scenario_run.text_of(keys, moved)
    one, two, three = st.columns(3)
    with one:
        download(lambda: text, "Scenario (YAML)", "scenario.yaml", "scenario.yaml", mime="application/yaml")
    with two:
        download(lambda: csv_of(found), "Figures (CSV)", "scenario.csv", "scenario.csv")
    with three:
        document = found.run.document()
        download(
            lambda: json.dumps({"schema": "estimate/1", **document}, ensure_ascii=False, indent=2, default=str),
            "Everything (JSON)",
            "scenario.json",
            "scenario.json",
            mime="application/json",
        )
    notes(["The same figures: `energy estimate scenario.yaml --explain`."])


shell.run_free(page)
