"""Compare & sweep: two scenarios by cause, and many at once with what is best within limits."""

from __future__ import annotations

import streamlit as st

from energy.errors import EnergyError
from energy.scenario.compare import Comparison
from energy.ui import compare_data, compare_view, figures, scenario_data, scenario_run, shell, tables
from energy.ui.compare_data import SweepFound
from energy.ui.filters import row
from energy.ui.notices import heading, notes, notice
from energy.ui.scenario_data import label
from energy.ui.site_filters import PlantFilters
from energy.ui.site_view import download

_FIRST, _SECOND, _SWEEP = "llama-3.1-70b-air", "llama-3.1-70b-direct-to-chip", "deadline-and-budget"
_FILE = "compare.file"
_USUAL = ("emissions_location", "energy_facility", "energy_it", "energy_chips")


def page() -> None:
    """Show the page."""
    title = st.empty()
    filters = PlantFilters("compare")
    options = dict(scenario_data.starts())
    first, second, third = row([5, 5, 4])
    with first:
        one = filters.choice("Scenario A", "a", options, _FIRST)
    with second:
        two = filters.choice("Scenario B", "b", options, _SECOND)
    try:
        found = compare_data.compared(one, two)
    except EnergyError as error:
        title.title("Two scenarios, and many")
        notice("Not compared.", [str(error), "Choose another scenario."])
    else:
        results = {each.name: label(each.name) for each in found.differences}
        with third:
            name = filters.choice("Result", "result", results, next(one for one in _USUAL if one in results))
        title.title(_answer(found, name))
        _difference(found, name)
    figures.first()
    _sweep(filters)
    filters.done()
    if filters.resets:
        notice("", filters.resets)


def _answer(found: Comparison, name: str) -> str:
    one = next(each for each in found.differences if each.name == name)
    change = one.second - one.first
    if not change or not one.first:
        return f"{label(name)}: both take the same"
    return f"{label(name)}: B takes {abs(change / one.first):.1%} {'less' if change < 0 else 'more'}"


def _difference(found: Comparison, name: str) -> None:
    one = next(each for each in found.differences if each.name == name)
    heading(
        "From A to B by cause", "First and last bar: what each takes; between them what each cause adds or takes away"
    )
    compare_view.bridge(one, found.names)
    tables.block(compare_data.parts_table(one))
    notes([*found.notes, "The same: `energy compare A.yaml B.yaml`."])


def _sweep(filters: PlantFilters) -> None:
    heading("Many scenarios: what is best within limits", "A worked sweep, or a file of your own; `energy sweep`")
    name = filters.choice("Sweep", "sweep", dict(compare_data.sweeps()), _SWEEP)
    file = st.session_state.get(_FILE)
    try:
        text = compare_data.text_of(name) if file is None else file.getvalue().decode("utf-8")
        found = scenario_run.swept(text)
    except (EnergyError, UnicodeDecodeError) as error:
        notice("Not computed.", [str(error) if isinstance(error, EnergyError) else "The file is no UTF-8 text."])
    else:
        if file is not None:
            notice("", [f"{file.name} is shown. A link to this page does not carry the file."])
        _rows(filters, found)
        download(lambda: text, "The sweep (YAML)", "sweep.yaml", "sweep.yaml", mime="application/yaml")
    with st.expander("A sweep of your own (YAML)"):
        st.file_uploader("Sweep file", key=_FILE, type=["yaml", "yml"], max_upload_size=1)


def _rows(filters: PlantFilters, found: SweepFound) -> None:
    notes([compare_data.sentence(found), *compare_data.limits_of(found)])
    known = {name: label(name) for name in found.figures}
    if len(known) < 2:
        return
    wanted = [name for name in (*found.sweep.pareto, found.sweep.best, *known) if name is not None and name in known]
    across_usual, up_usual = list(dict.fromkeys(wanted))[:2]
    left, right = row(2)
    with left:
        across = filters.choice("Across", "across", known, across_usual)
    with right:
        up = filters.choice("Up", "up", known, up_usual)
    heading("Every row", "Filled: keeps all limits; the line joins rows of which no other is as good in both")
    compare_view.scatter(found, across, up)
    if found.outcome.best:
        best = [at for _, at in found.outcome.best]
        said = f"Least of: {label(str(found.sweep.best))}"
        tables.block(compare_data.rows_table(found, best[: compare_data.SHOWN_ROWS], said, "sweep.best"))
    if found.sweep.pareto:
        rows = found.outcome.front[: compare_data.SHOWN_ROWS].tolist()
        said = f"On the front of: {'; '.join(label(one) for one in found.sweep.pareto)}"
        tables.block(compare_data.rows_table(found, rows, said, "sweep.front"))


shell.run_free(page)
