"""The best first hour: each start equals the run that begins there, and the best is the least of them."""

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
from energy.scenario.specification import parse_scenario
from energy.scenario.training import training_run
from energy.scenario.when import _sliding, started, starts_of

ROOT = Path(__file__).parents[2]
TEXT = """
work: {model: Llama 3.1 8B, chip_hours: HOURS chip*h}
system: {chip: H100 SXM, chips: 64, power_per_chip: 600 W, node_overhead: 1.5}
site: {facility: ashburn, zone: SRVC, hourly_zone: US-MIDA-PJM, factor_policy: nearest any}
dates: {start: 2022-12-30T05:00Z}
"""


def scenario_of(hours=6432.5):
    return parse_scenario(TEXT.replace("HOURS", str(hours)))


@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.floats(0, 1e6), min_size=1, max_size=60), count=st.integers(1, 60), last=st.floats(0, 1))
def test_sliding_sums_are_the_sums(values, count, last):
    row = np.array(values)
    if count > row.size:
        return
    found = _sliding(row, count, last)
    expected = [row[at : at + count - 1].sum() + last * row[at + count - 1] for at in range(row.size - count + 1)]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-3 * 1e-6 * max(row.max(), 1.0))


@pytest.mark.parametrize("hours", [6432.5, 64.0, 32.0])
def test_each_start_is_the_run_that_begins_there(hours):
    scenario = scenario_of(hours)
    found = starts_of(scenario, 60)
    for place in (0, 17, 59):
        figures = training_run(started(scenario, found.start_utc[place])).figures
        for name, values in found.values.items():
            assert values[place] == pytest.approx(figures[name].known, rel=1e-9), name


def test_the_best_start_is_the_least_of_all():
    found = starts_of(scenario_of(64.0), 48)
    hourly = found.values["emissions_hourly"]
    assert hourly[found.best("emissions_hourly")] == hourly.min() < hourly[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("dates: {start: 2022-12-30T05:00Z}", "dates: {year: 2022}"), "dates.start is missing"),
        ((", node_overhead: 1.5", ""), "give its work, power and system.node_overhead"),
        (("facility: ashburn, ", ""), "give its work, power and site.pue or a facility"),
    ],
)
def test_what_is_lacking_is_named(change, said):
    text = TEXT.replace("HOURS", "64").replace(*change)
    with pytest.raises(ScenarioError, match=re.escape(said)):
        starts_of(parse_scenario(text), 24)


def test_own_plants_and_empty_windows_are_refused():
    plants = "supply: {photovoltaics: {capacity: 1 MW, mounting: roof, tilt_deg: 0, azimuth_deg: 180}}"
    with pytest.raises(ScenarioError, match="battery ties each hour"):
        starts_of(parse_scenario(TEXT.replace("HOURS", "64") + plants), 24)
    for within in (0, 9000):
        with pytest.raises(ScenarioError, match=r"give 1 to 8784 first hours"):
            starts_of(scenario_of(), within)


@pytest.fixture
def energy(capsys, monkeypatch):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["energy", "when", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as error:
            code = int(error.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_the_command_puts_the_best_site_first_and_describes_its_document(energy, tmp_path):
    text = TEXT.replace("HOURS", "640")
    (tmp_path / "virginia.yaml").write_text(text, encoding="utf-8")
    phoenix = text.replace("facility: ashburn", "facility: ashburn, weather: Phoenix")
    (tmp_path / "phoenix.yaml").write_text(phoenix, encoding="utf-8")
    files = [tmp_path / "phoenix.yaml", tmp_path / "virginia.yaml"]
    code, out, _ = energy(*files, "--within-h", "48", "--by", "energy_facility", "--json")
    document = json.loads(out)
    assert code == 0
    best = [site["best"]["energy_facility"] for site in document["sites"]]
    assert best == sorted(best) and len(best) == 2
    described = set(re.findall(r"`([a-z0-9_/]+)`", (ROOT / "docs" / "json.md").read_text(encoding="utf-8")))
    assert document["schema"] in described and set(document) - {"schema"} <= described
    for site in document["sites"]:
        assert set(site) | set(site["best"]) <= described
        assert (
            site["best"]["energy_facility"] <= site["earliest"]["energy_facility"] <= site["worst"]["energy_facility"]
        )
    code, out, _ = energy(*files, "--within-h", "48")
    assert code == 0 and "least emissions hourly" in out and "marginal" in out
    code, _, error = energy(*files, "--by", "cost")
    assert code == 1 and "has no cost: it has energy_facility" in error
