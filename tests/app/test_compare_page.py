"""The page Compare & sweep: parts add up to the difference, rows are those of the command, bad input is one line."""

from __future__ import annotations

import numpy as np
import pytest
from app_helpers import words

from energy.errors import EnergyError
from energy.report.numbers import THIN
from energy.scenario.pareto import front
from energy.scenario.sweep import run
from energy.ui import compare_data, scenario_data

PAGE = "compare.py"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


def choice(test, label):
    (found,) = [one for one in test.selectbox if one.label == label]
    return found


def test_the_first_view_says_which_takes_less_and_why(start):
    seen = plain(start(None, PAGE))
    assert "Scope 2, location-based: B takes 2.9% less" in seen
    assert "Node overhead" in seen and "PUE" in seen and "B less A" in seen
    assert "450 rows, 450 can run, 120 keep all limits" in seen and "it does not bind" in seen


def test_the_table_adds_up_to_what_lies_between():
    for difference in compare_data.compared("llama-3.1-8b-bf16", "llama-3.1-8b-fp8").differences:
        *parts, whole = compare_data.parts_table(difference).rows
        values = [float(row.cells[-1].value) for row in parts]
        assert sum(values) == pytest.approx(float(whole.cells[-1].value), rel=1e-6, abs=1e-6 * difference.first)


def test_other_scenarios_and_results_move_the_answer_and_stand_in_the_address(start):
    test = start(None, PAGE)
    before = test.title[0].value
    choice(test, "Result").set_value("energy_it").run()
    assert test.title[0].value != before and test.query_params["result"] == "energy_it"
    choice(test, "Scenario B").set_value("llama-3.1-70b-air").run()
    assert "both take the same" in test.title[0].value
    choice(test, "Scenario A").set_value("llama-2-70b-as-published").run()
    assert not test.exception and test.query_params["a"] == "llama-2-70b-as-published"


@pytest.mark.parametrize("name", sorted(compare_data.sweeps()))
def test_every_worked_sweep_is_shown_with_what_the_command_finds(start, name):
    test = start(None, PAGE, sweep=name)
    assert "Not computed" not in plain(test)
    found = compare_data.swept(compare_data.text_of(name))
    outcome = run(found.sweep)
    assert found.outcome.best[:10] == outcome.best and found.outcome.front.tolist() == outcome.front.tolist()
    rows = [row for _, row in outcome.best]
    table = compare_data.rows_table(found, rows, "", "best")
    place = [column.key for column in table.columns].index(found.sweep.best)
    best = [float(row.cells[place].value) for row in table.rows]
    assert best == pytest.approx([value for value, _ in outcome.best], rel=1e-8)


def test_the_front_of_the_drawing_is_one_of_rows_that_keep_the_limits():
    found = compare_data.swept(compare_data.text_of("deadline-and-budget"))
    keeps = (found.figures["training_time"] <= 60) & (found.figures["cost"] <= 15e6)
    both = np.stack([np.where(keeps, found.figures[name], np.nan) for name in ("training_time", "cost")], axis=1)
    assert len(front(both)) >= 2 and keeps[front(both)].all()


def test_a_bad_link_names_what_it_could_not_read(start):
    seen = plain(start(None, PAGE, a="nothing", sweep="none", result="smell", across="x"))
    for said in ("No a named nothing", "No sweep named none", "No result named smell", "No across named x"):
        assert said in seen


def test_what_is_no_sweep_or_too_long_is_one_line():
    base = "base: {work: {model: Llama 3.1 8B, tokens: 1e12}, system: {chip: H100 SXM, chips: 64}}\n"
    for text in ("[1]", base, base + "axes: {work.tokens: {from: 1e9, to: 1e12, steps: 30000}}"):
        with pytest.raises(EnergyError) as caught:
            compare_data.swept(text)
        assert "\n" not in str(caught.value)


def test_every_scenario_can_be_set_against_itself():
    for name in scenario_data.starts():
        try:
            found = compare_data.compared(name, name)
        except EnergyError as error:
            assert "\n" not in str(error)
        else:
            assert all(one.first == one.second for one in found.differences)
