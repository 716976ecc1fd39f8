"""Sweeps: rows are the runs of their scenarios; best, limits and front are what a plain look at all rows says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from typer.testing import CliRunner

from energy.cli import app
from energy.errors import EnergyError, ScenarioError
from energy.scenario import read_scenario, training_run
from energy.scenario.figure_units import UNITS, column_of
from energy.scenario.pareto import front
from energy.scenario.sweep import blocks, moved_of, run, scenario_of_row
from energy.scenario.sweep_file import parse_sweep, read_sweep
from energy.scenario.sweep_table import METADATA, axis_column, writing

EXAMPLES = Path(__file__).parents[2] / "datasets" / "examples"
BASE = """
base:
  work: {model: Llama 3.1 8B, tokens: 1e12 token, sequence_length: 8192 token, global_batch: 512}
  system: {chip: H100 SXM, chips: 64, node_overhead: modelled}
  software: {framework: megatron-core, precision: bf16}
  site: {pue: 1.2, zone: DE, factor_policy: nearest any}
  dates: {year: 2023}
  prices: {chip_hour: 2 USD/chip/h}
"""
MIXED = (
    BASE
    + """
axes:
  system.chips: [8, 64, 100, 256]
  site.zone: [DE, FR]
  system.power_limit: [400 W, 700 W]
together:
  - {site.pue: [1.1, 1.3], prices.chip_hour: [1 USD/chip/h, 3 USD/chip/h]}
limits: [training_time <= 60 day, cost <= 1e6 USD]
best: emissions_location
pareto: [training_time, cost, emissions_location]
"""
)


def whole(sweep):
    """Return all rows of a sweep by figure, in their order."""
    found = {name: np.full(len(sweep), np.nan) for name in UNITS}
    for block in blocks(sweep, 3):
        for name, column in block.figures.items():
            found[name][block.rows] = column.value
    return found


def test_each_row_is_the_run_of_its_scenario_and_comes_once():
    sweep = parse_sweep(MIXED)
    seen = []
    for block in blocks(sweep, 5):
        for at, row in enumerate(block.rows.tolist()):
            seen.append(row)
            try:
                own = training_run(scenario_of_row(sweep, row)).figures
            except EnergyError:
                assert row in block.reasons
                continue
            for name, column in block.figures.items():
                assert column.value[at] == pytest.approx(own[name].known, rel=1e-9), name
    assert sorted(seen) == list(range(len(sweep))) and len(sweep) == 4 * 2 * 2 * 2


def test_best_limits_and_front_are_those_of_all_rows():
    sweep = parse_sweep(MIXED)
    rows, found = whole(sweep), run(sweep, top=3, rows_at_once=3)
    kept = (rows["training_time"] <= 60) & (rows["cost"] <= 1e6)
    assert found.rows == len(sweep) and found.ran == int((~np.isnan(rows["cost"])).sum())
    assert found.feasible == int(kept.sum()) > 3
    order = sorted((value, row) for row, value in enumerate(rows["emissions_location"]) if kept[row])
    assert found.best == pytest.approx(np.array(order[:3]))
    assert found.kept["cost <= 1e6 USD"] == int((rows["cost"] <= 1e6).sum())
    assert found.without["cost <= 1e6 USD"] == np.nanmin(rows["emissions_location"][rows["training_time"] <= 60])
    figures = np.stack([np.where(kept, rows[name], np.nan) for name in sweep.pareto], axis=1)
    assert found.front.tolist() == front(figures).tolist()


def test_where_no_row_keeps_the_limits_the_nearest_says_by_how_much():
    found = run(parse_sweep(BASE + "axes: {system.chips: [8, 64]}\nlimits: [training_time <= 1 day]\nbest: cost"))
    assert found.feasible == 0 and not found.best and found.nearest is not None
    over, row = found.nearest
    assert row == 1 and over > 1


def test_the_fewest_chips_for_a_deadline_are_found():
    text = BASE + "axes: {system.chips: [256, 8, 64, 128]}\nlimits: [training_time <= 30 day]\nbest: system.chips"
    sweep = parse_sweep(text)
    rows, found = whole(sweep), run(sweep)
    fewest = min(chips for chips, days in zip((256, 8, 64, 128), rows["training_time"], strict=True) if days <= 30)
    assert found.best[0][0] == fewest and moved_of(sweep, found.best[0][1]) == {"system.chips": fewest}
    with pytest.raises(ScenarioError, match=r"system.chip: no such figure"):
        parse_sweep(text.replace("best: system.chips", "best: system.chip"))


def test_rows_that_cannot_run_stay_with_their_reason():
    sweep = parse_sweep(BASE + "axes: {work.model: [Llama 3.1 8B, Llama 3.1 70B], system.chips: [4, 64]}")
    found = run(sweep)
    assert found.rows == 4 and found.ran == 3 and list(found.reasons.values()) == [1]


def test_a_template_that_contradicts_itself_is_a_reason_and_no_end():
    text = BASE + "axes: {site.zone: [DE, NOWHERE]}"
    found = run(parse_sweep(text))
    assert found.ran == 1 and "NOWHERE" in next(iter(found.reasons))


def test_contracts_are_run_row_by_row():
    contract = (
        "  contracts: [{id: a, kind: certificate, energy: 1 MWh, intensity: 0 gCO2e/kWh, vintage_from: 2023-01-01, "
        "vintage_to: 2024-01-01, registry: r, cancellation_id: c, beneficiary: Me}]\n"
    )
    text = BASE.replace("factor_policy", "market: DE, reporter: Me, factor_policy") + contract
    sweep = parse_sweep(text + "axes: {system.chips: [64, 128]}")
    rows = whole(sweep)
    for row in range(2):
        own = training_run(scenario_of_row(sweep, row)).figures
        assert rows["emissions_market"][row] == own["emissions_market"].known


# --- the file ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("axes: {system.chips: [1]}", "base is missing"),
        (BASE, "no axes"),
        (BASE + "axis: {system.chips: [1]}", "axis: no such key. Nearest: axes"),
        (BASE + "axes: {system.chips: 64}", "give a list of values"),
        (BASE + "axes: {system.chips: []}", "give a list of values"),
        (BASE + "axes: {system.chip_count: [64]}", "system.chip_count: no such key. Nearest: chip, chips"),
        (BASE + "axes: {system.chips: [64, 0]}", "system.chips is 0: give a whole number"),
        (BASE + "axes: {site.pue: [1.1, 0.9]}", "site.pue is 0.9: give a finite number, 1 or more"),
        (BASE + "axes: {site.pue: {from: 1.1, to: 1.5}}", "steps is missing"),
        (BASE + "axes: {site.pue: {from: 1.1, to: 1.5, step: 3}}", "site.pue.step: no such key. Nearest: steps"),
        (BASE + "axes: {site.pue: {from: 1.1, to: 1.5, steps: 1}}", "give a whole number, 2 to"),
        (BASE + "axes: {system.power_limit: {from: 300 W, to: 0.7 kW, steps: 3}}", "in the same unit"),
        (BASE + "axes: {system.chips: {from: 0, to: 8, steps: 3, scale: log}}", "log between numbers above zero"),
        (BASE + "axes: {site.pue: [1.1]}\ntogether: [{site.pue: [1.2], site.zone: [DE]}]", "site.pue moves twice"),
        (BASE + "together: [{site.pue: [1.2, 1.3], site.zone: [DE]}]", "lists have different lengths"),
        (BASE + "axes: {site.pue: [1.1]}\nbest: emissions", "emissions: no such figure. Nearest: emissions_"),
        (BASE + "axes: {site.pue: [1.1]}\npareto: cost", "give a list of figures"),
        (BASE + "axes: {site.pue: [1.1]}\nlimits: [cost < 5]", "is no limit"),
        (BASE + "axes: {site.pue: [1.1]}\nlimits: [cost <= 5 kWh]", "cost"),
        (
            BASE + "axes: {site.pue: {from: 1, to: 2, steps: 90000}, work.tokens: {from: 1, to: 9e9, steps: 9000}}",
            "rows",
        ),
        ("base: nothing.yaml\naxes: {site.pue: [1.1]}", "nothing.yaml is no file beside the sweep"),
        ("[1, 2]", "no sweep"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_a_remedy(text: str, said: str):
    with pytest.raises(EnergyError) as caught:
        parse_sweep(text, "a.yaml")
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_steps_are_even_in_steps_or_ratios_and_whole_between_whole_numbers():
    found = parse_sweep(
        BASE
        + "axes: {system.chips: {from: 8, to: 512, steps: 4, scale: log}, site.pue: {from: 1.0, to: 1.5, steps: 3}, "
        "system.power_limit: {from: 300 W, to: 700 W, steps: 3}}"
    )
    assert [axis.values for axis in found.axes] == [
        {"system.chips": (8, 32, 128, 512)},
        {"site.pue": (1.0, 1.25, 1.5)},
        {"system.power_limit": ("300 W", "500 W", "700 W")},
    ]


@pytest.mark.parametrize("path", sorted((EXAMPLES / "sweeps").glob("*.yaml")), ids=lambda path: path.stem)
def test_worked_sweeps_run(path: Path):
    sweep = read_sweep(path)
    found = run(sweep, top=1)
    assert found.ran == found.rows == len(sweep) and found.feasible and found.best and len(found.front)


def test_a_base_file_lies_beside_the_sweep(tmp_path: Path):
    (tmp_path / "base.yaml").write_text((EXAMPLES / "scenarios" / "llama-2-70b-as-published.yaml").read_text())
    (tmp_path / "sweep.yaml").write_text("base: base.yaml\naxes: {site.pue: [1.1, 1.2]}\nbest: emissions_location")
    found = run(read_sweep(tmp_path / "sweep.yaml"))
    assert found.best[0][0] / 1000 == pytest.approx(291.42, abs=0.005)


# --- units and columns ---


def test_units_are_those_of_runs():
    for path in sorted((EXAMPLES / "scenarios").glob("*.yaml")):
        for name, figure in training_run(read_scenario(path), path.parent).figures.items():
            if name not in ("energy_covered_by_contracts",):
                assert UNITS[name] == figure.unit, name


def test_columns_are_distinct():
    every = [column_of(name, end) for name in UNITS for end in ("", "low", "high")]
    assert len(set(every)) == len(every)


def test_rows_are_written_with_units_and_empty_columns_left_out(tmp_path: Path):
    sweep = parse_sweep(MIXED)
    out = tmp_path / "rows.parquet"
    with writing(sweep, out) as each:
        run(sweep, each=each, rows_at_once=7)
    table = pyarrow.parquet.read_table(out).sort_by("row")
    rows = whole(sweep)
    assert table["row"].to_pylist() == list(range(len(sweep)))
    assert table["site_zone"].to_pylist() == [moved_of(sweep, row)["site.zone"] for row in range(len(sweep))]
    assert set(table["system_power_limit_w"].to_pylist()) == {400.0, 700.0}
    wanted = [None if np.isnan(one) else one for one in rows["emissions_location"]]
    assert table["emissions_location_kgco2e"].to_pylist() == wanted
    assert "emissions_hourly_kgco2e" not in table.column_names
    assert table.field("cost_usd").metadata[b"unit"] == b"USD"
    assert json.loads(table.schema.metadata[METADATA])["sweep"] == MIXED
    assert [path.name for path in tmp_path.iterdir()] == ["rows.parquet"]


def test_nothing_half_written_is_left(tmp_path: Path):
    sweep = parse_sweep(MIXED)
    out = tmp_path / "rows.csv"
    with pytest.raises(RuntimeError), writing(sweep, out) as each:
        each(next(blocks(sweep)))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    for name, said in (("rows.txt", ".parquet or .csv"), ("no/rows.csv", "no such folder")):
        with pytest.raises(ScenarioError, match=said), writing(sweep, tmp_path / name):
            pass
    out.write_text("")
    with pytest.raises(ScenarioError, match="exists"), writing(sweep, out):
        pass


def test_names_of_axes_carry_units():
    assert axis_column("system.network") == "system_network_bit_per_s"


# --- the front ---


@settings(deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, 40), st.integers(1, 4)),
        elements=st.sampled_from([0.0, 1.0, 2.0, 3.0, np.nan]) | st.floats(-1e6, 1e6),
    )
)
def test_no_row_of_the_front_is_dominated_and_each_other_is(figures):
    on = set(front(figures).tolist()) if figures.shape[1] else set()
    known = [row for row in range(len(figures)) if not np.isnan(figures[row]).any()]

    def dominated(row):
        return any((figures[one] <= figures[row]).all() and (figures[one] < figures[row]).any() for one in known)

    assert on == {row for row in known if not dominated(row)}


@given(st.permutations(range(12)), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_no_front(order, seed):
    figures = np.random.default_rng(seed).integers(0, 4, (12, 3)).astype(float)
    moved = figures[list(order)]
    assert sorted(figures[front(figures)].tolist()) == sorted(moved[front(moved)].tolist())


def test_a_front_of_nothing_is_refused():
    with pytest.raises(ScenarioError, match="one figure or more"):
        front(np.zeros((3, 0)))


# --- the command ---


def test_the_command_prints_the_best_and_writes_all(tmp_path: Path):
    file, out = tmp_path / "sweep.yaml", tmp_path / "rows.csv"
    file.write_text(MIXED)
    found = CliRunner().invoke(app, ["sweep", str(file), "--out", str(out), "--top", "2"])
    assert found.exit_code == 0, found.output
    assert "least emissions location" in found.stdout and "front of training_time" in found.stdout
    assert pyarrow.csv.read_csv(out).num_rows == 32
    shown = CliRunner().invoke(
        app, ["sweep", str(file), "--json", "--best", "cost", "--limit", "training_time <= 1 h", "--pareto", "cost"]
    )
    content = json.loads(shown.stdout)
    assert content["schema"] == "sweep/1" and content["feasible"] == 0 and content["nearest"]["over"] > 1
    assert {one["text"] for one in content["limits"]} == {
        "training_time <= 60 day",
        "cost <= 1e6 USD",
        "training_time <= 1 h",
    }


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path, capsys, monkeypatch):
    from energy.cli import main

    file = tmp_path / "sweep.yaml"
    file.write_text(BASE + "axes: {system.chips: [0]}")
    monkeypatch.setattr("sys.argv", ["energy", "sweep", str(file)])
    with pytest.raises(SystemExit) as caught:
        main()
    error = capsys.readouterr().err
    assert caught.value.code == 1 and error.count("\n") == 1 and "system.chips is 0" in error
