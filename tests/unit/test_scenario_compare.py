"""The difference of two runs by cause: parts add up, and each is nothing where its driver is the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy import cli
from energy.errors import ScenarioError
from energy.scenario.compare import compare, parts_of_product
from energy.scenario.specification import parse_scenario
from energy.scenario.training import training_run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "datasets" / "examples" / "scenarios"
FACTORS = st.lists(st.tuples(st.floats(0.0, 1e4), st.floats(0.0, 1e4)), min_size=1, max_size=9)


@settings(max_examples=100, deadline=None)
@given(pairs=FACTORS)
def test_parts_add_up_to_the_difference_of_the_products(pairs):
    one, two = np.array(pairs).T
    parts = parts_of_product(one, two)
    scale = max(one.prod(), two.prod(), np.maximum(one, two).prod(), 1e-300)
    assert abs(parts.sum() - (two.prod() - one.prod())) <= 1e-9 * scale


@settings(max_examples=50, deadline=None)
@given(pairs=FACTORS, order=st.randoms(use_true_random=False))
def test_parts_do_not_depend_on_the_order_and_turn_with_the_direction(pairs, order):
    one, two = np.array(pairs).T
    places = list(range(one.size))
    order.shuffle(places)
    scale = max(np.maximum(one, two).prod(), 1e-300)
    assert parts_of_product(one[places], two[places]) == pytest.approx(
        parts_of_product(one, two)[places], rel=1e-9, abs=1e-9 * scale
    )
    assert parts_of_product(two, one) == pytest.approx(-parts_of_product(one, two), rel=1e-9, abs=1e-9 * scale)


def test_a_factor_that_stays_has_no_part():
    assert parts_of_product([2.0, 3.0, 5.0], [4.0, 3.0, 1.0])[1] == 0.0


TEXT = """
work: {model: Llama 3.1 8B, tokens: 1e11}
system: {chip: CHIP, chips: 64, node_overhead: OVERHEAD}
software: {precision: PRECISION}
site: {pue: PUE, intensity: INTENSITY gCO2e/kWh}
"""
USUAL = {"CHIP": "H100 SXM", "OVERHEAD": "1.5", "PRECISION": "bf16", "PUE": "1.2", "INTENSITY": "300"}


def run_of(**changes):
    text = TEXT
    for name, word in (USUAL | changes).items():
        text = text.replace(name, word)
    return training_run(parse_scenario(text))


@pytest.mark.parametrize(
    ("changes", "moved"),
    [
        ({"PUE": "1.6"}, {"PUE"}),
        ({"OVERHEAD": "1.9"}, {"node overhead"}),
        ({"INTENSITY": "30"}, {"grid"}),
        ({"PRECISION": "fp8"}, {"peak of the chips", "utilisation", "power of a chip"}),
        ({"CHIP": "A100 SXM4 80GB"}, {"peak of the chips", "utilisation", "power of a chip"}),
    ],
)
def test_only_what_differs_has_a_part(changes, moved):
    first, second = run_of(), run_of(**changes)
    found = compare(first, second)
    one = next(item for item in found.differences if item.name == "emissions_location")
    change = second.figures["emissions_location"].known - first.figures["emissions_location"].known
    assert sum(one.parts.values()) == pytest.approx(change, rel=1e-9)
    assert {name for name, part in one.parts.items() if abs(part) > 1e-9 * abs(change)} == moved


def test_each_result_is_that_of_the_run():
    first, second = run_of(), run_of(CHIP="A100 SXM4 80GB", PUE="1.5")
    for one in compare(first, second).differences:
        assert one.first == pytest.approx(first.figures[one.name].known, rel=1e-12)
        assert one.second == pytest.approx(second.figures[one.name].known, rel=1e-12)
        assert one.unit == first.figures[one.name].unit


def test_interruptions_and_own_plants_are_causes():
    worked = training_run(parse_scenario((EXAMPLES / "desert-sun-and-battery.yaml").read_text(encoding="utf-8")))
    text = (EXAMPLES / "desert-sun-and-battery.yaml").read_text(encoding="utf-8")
    without = re.sub(r"supply:\n(  .*\n)+", "", text)
    stops = "prices: {interruptions_per_day: 0.5, checkpoint_time: 60 s, restart_time: 600 s}\n"
    other = training_run(parse_scenario(without + stops))
    parts = {one.name: one.parts for one in compare(worked, other).differences}
    assert parts["emissions_location"]["share bought"] > 0 and parts["energy_chips"]["interruptions"] > 0
    assert "share bought" not in parts["energy_facility"]


def test_a_run_without_its_whole_energy_is_refused():
    short = training_run(parse_scenario("{work: {model: Llama 3.1 8B}, system: {chip: H100 SXM, chips: 8}}"))
    with pytest.raises(ScenarioError, match=r"B has no energy of a whole run: give work\.tokens"):
        compare(run_of(), short)


@pytest.fixture
def energy(capsys, monkeypatch):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["energy", "compare", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as error:
            code = int(error.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_command_prints_parts_that_add_up_and_describes_its_document(energy):
    files = [EXAMPLES / f"llama-2-70b-{name}.yaml" for name in ("as-published", "own-power-and-host")]
    code, out, _ = energy(*files)
    assert code == 0 and "node overhead" in out and "not compared" in out
    code, out, _ = energy(*files, "--json")
    document = json.loads(out)
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([a-z0-9_/]+)`", text))
    assert document["schema"] in described and set(document) - {"schema"} <= described
    for one in document["differences"]:
        assert set(one) <= described
        assert sum(one["parts"].values()) == pytest.approx(one["second"] - one["first"], rel=1e-9, abs=1e-6)


def test_a_file_that_is_not_there_is_one_line(energy):
    code, _, error = energy(EXAMPLES / "llama-2-70b-as-published.yaml", EXAMPLES / "llama-2-70b-as-publisht.yaml")
    assert code == 1 and error.count("\n") == 1 and "Nearest: llama-2-70b-as-published.yaml" in error
