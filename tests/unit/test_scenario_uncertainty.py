"""Draws of a run's inputs: one draw moves everything that uses it, and bands are those of the figures."""

from __future__ import annotations

import numpy as np
import pytest

from energy.errors import ScenarioError
from energy.scenario.compare import compare
from energy.scenario.specification import parse_scenario
from energy.scenario.training import training_run
from energy.scenario.uncertainty import draws, headline, results_of, tornado

TEXT = """
work: {model: Llama 3.1 8B, tokens: 1e11}
system: {chip: CHIP, chips: 64, node_overhead: modelled}
site: {pue: PUE, intensity: 300 gCO2e/kWh}
"""


def run_of(chip="H100 SXM", pue="1.2"):
    return training_run(parse_scenario(TEXT.replace("CHIP", chip).replace("PUE", pue)))


@pytest.fixture(scope="module")
def run():
    return run_of()


def test_draws_have_the_middle_and_the_bands_of_the_figures(run):
    (found,) = draws([run], 40_000)
    for name in ("energy_chips", "energy_it", "energy_facility", "emissions_location"):
        figure = run.figures[name]
        low, middle, high = np.percentile(found[name], (2.5, 50, 97.5))
        assert middle == pytest.approx(figure.known, rel=0.03)
        assert (low, high) == pytest.approx((figure.low, figure.high), rel=0.06)


def test_results_that_share_their_inputs_go_together(run):
    (found,) = draws([run])
    ratio = found["emissions_location"] / found["energy_facility"]
    assert np.ptp(ratio) <= 1e-12 * ratio[0]
    assert np.corrcoef(found["chip_hours"], found["energy_facility"])[0, 1] > 0.5


def test_the_same_seed_gives_the_same_draws(run):
    one, two, other = draws([run], 50)[0], draws([run], 50)[0], draws([run], 50, seed=2)[0]
    assert (one["energy_it"] == two["energy_it"]).all() and not (one["energy_it"] == other["energy_it"]).any()


def test_a_difference_in_pue_alone_is_surer_than_either_run(run):
    one = next(item for item in compare(run, run_of(pue="1.5")).differences if item.name == "energy_facility")
    assert 0 < one.low < one.second - one.first < one.high
    apart = run.figures["energy_facility"]
    assert one.high - one.low < 0.5 * (apart.high - apart.low)


def test_runs_on_other_chips_do_not_share_their_errors(run):
    found = draws([run, run_of("A100 SXM4 80GB")])
    logs = [np.log(one["chip_hours"]) for one in found]
    assert abs(np.corrcoef(*logs)[0, 1]) < 0.1


def test_levers_are_the_wide_inputs_first_and_exact_ones_are_none(run):
    levers = tornado(run, "emissions_location")
    assert [one.width for one in levers] == sorted((one.width for one in levers), reverse=True)
    assert {one.name for one in levers} == {"chip_hours", "power_per_chip", "node_overhead"}
    for one in levers:
        middle = run.figures["emissions_location"].known
        assert one.result_at_low < middle < one.result_at_high
        assert one.result_at_low / middle == pytest.approx(one.low / run.figures[one.name].known)


def test_the_headline_is_the_end_of_the_chain(run):
    assert headline(run) == "emissions_location"
    short = training_run(parse_scenario("{work: {model: Llama 3.1 8B}, system: {chip: H100 SXM, chips: 8}}"))
    assert headline(short) is None and results_of(short) == ()


def test_what_is_not_there_is_named(run):
    with pytest.raises(ScenarioError, match=r"no result water_site_consumed: it has chip_hours"):
        tornado(run, "water_site_consumed")
    with pytest.raises(ScenarioError, match=r"0 draws: give 1 or more"):
        draws([run], 0)
