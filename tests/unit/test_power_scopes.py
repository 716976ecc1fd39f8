"""What a reading covers: modules, instances, dies, means and instants; in kernels and through a ledger."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import ledger, rows, take
from reading_helpers import read_text

from energy.errors import EnergyError, PowerError, UnknownNameError
from energy.power.accelerators import device, device_power
from energy.power.scopes import (
    FIELDS,
    board_power_once,
    package_power,
    processor_power,
    reading_scope,
    share_among_instances,
    superchip,
)
from energy.power.states import States
from energy.power.utilisation import levels_of

SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "amd-1", chip: AMD Instinct MI250X, chips: 4}
      - {pattern: "gh-1", chip: nvidia_gh200_96, chips: 1}
"""
ENERGY = (
    "SELECT device_index, tier, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM device_coverage "
    "WHERE tier <> 'missing' GROUP BY ALL ORDER BY ALL"
)


# --- superchips ---


@pytest.mark.parametrize("name", ["nvidia_gh200_96", "nvidia_gh200_144", "nvidia_gb200", "nvidia_gb300"])
def test_a_module_holds_its_gpus_and_a_processor(name):
    found = superchip(name)
    assert found.gpus * found.gpu_limit_w.value < found.module_limit_w.value
    assert found.processor_limit_w.value > 0


def test_the_catalogues_power_of_gh200_is_the_modules_and_of_gb200_a_gpus():
    assert device("nvidia_gh200_96").device == "module"
    assert device("nvidia_gh200_96").limit_w.value == superchip("nvidia_gh200_96").module_limit_w.value
    assert device("nvidia_gb200").limit_w.value == superchip("nvidia_gb200").gpu_limit_w.value


def test_watts_of_the_gpu_of_a_superchip_take_its_own_limit():
    busy = States(busy=1.0, compute=0.6, memory=0.3)
    gpu = superchip("nvidia_gh200_96").gpu_limit_w.value
    alone = device_power("nvidia_gh200_96", busy, power_limit_w=gpu)
    module = device_power("nvidia_gh200_96", busy)
    assert float(alone.power_w) <= gpu < float(module.power_w)


def test_what_is_no_superchip_is_refused():
    with pytest.raises(PowerError, match="nvidia_gh200_96"):
        superchip("nvidia_h100_sxm5_80")


def test_exchanged_columns_of_module_and_gpu_are_refused():
    assert processor_power("nvidia_gh200_96", [905.0, 720.0], [610.1, 560.0]) == pytest.approx([294.9, 160.0])
    with pytest.raises(PowerError, match="Reading 1"):
        processor_power("nvidia_gh200_96", [905.0, 560.0], [610.1, 720.0])


def test_readings_of_a_module_are_not_added_and_means_count_before_instants(tmp_path):
    """The board's mean is what counts: instants swing, and the module holds the board."""
    head = "timestamp, index, uuid, name, power.draw.instant [W], power.draw.average [W], module.power.draw.average [W]"
    lines = [
        f"2026/01/05 08:{minute:02}:00.000, 0, GPU-g, NVIDIA GH200 480GB, {(300, 640)[minute % 2]} W, 560 W, 720 W"
        for minute in range(60)
    ]
    path = tmp_path / "smi.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    folder = ledger(tmp_path / "ledger", SITE)
    done = take(folder, "nvidia-smi", path, host="gh-1", timezone="UTC")
    assert any("modules" in note for note in done.notes)
    assert rows(folder, ENERGY) == [{"device_index": 0, "tier": "integrated", "kwh": pytest.approx(0.56)}]


@pytest.mark.parametrize("fields", [("power.draw", "power.draw.instant"), ("power.draw.average", "power.draw")])
def test_the_first_of_average_draw_and_instant_is_read(tmp_path, fields):
    head = "timestamp, index, uuid, " + ", ".join(f"{name} [W]" for name in reversed(fields))
    text = f"{head}\n2026/01/05 08:00:00.000, 0, GPU-g, 300.00 W, 560.00 W\n"
    found, rejects, _ = read_text("nvidia_smi", tmp_path, text)
    assert rejects == []
    assert [row["power_milliw"] for row in found] == [560_000]


# --- instances of a board ---


def test_instances_that_repeat_their_board_are_one_board():
    names, watts = board_power_once(["b", "a", "a", "a"], [60.0, 214.5, 214.5, 214.5])
    assert (names.tolist(), watts.tolist()) == (["a", "b"], [214.5, 60.0])


def test_readings_that_differ_are_no_repeats():
    with pytest.raises(PowerError, match="instances repeat"):
        board_power_once(["a", "a"], [214.5, 80.0])


@given(
    slices=st.lists(st.integers(1, 3), min_size=1, max_size=7).filter(lambda found: sum(found) <= 7),
    active=st.lists(st.floats(0.0, 1.0), min_size=7, max_size=7),
    board=st.floats(80.0, 400.0),
)
def test_shares_and_what_is_unassigned_make_the_board(slices, active, board):
    shares, rest = share_among_instances(board, slices, active[: len(slices)], power_idle_w=62.0)
    assert float(shares.sum()) + rest == pytest.approx(board)
    assert np.all(shares > 0.0)
    assert rest == pytest.approx(62.0 * (1 - sum(slices) / 7), abs=1e-9)


@pytest.mark.parametrize(
    ("slices", "active", "idle", "words"),
    [
        ([4, 4], [0.5, 0.5], 60.0, "hold 8 slices"),
        ([1, 0], [0.5, 0.5], 60.0, "above 0"),
        ([1], [1.5], 60.0, "between 0 and 1"),
        ([1], [0.5], 300.0, "less than its idle power"),
    ],
)
def test_impossible_instances_are_refused(slices, active, idle, words):
    with pytest.raises(PowerError, match=words):
        share_among_instances(214.5, slices, active, power_idle_w=idle)


def test_the_case_of_instances_by_the_kernels(shared_folder):
    case = shared_folder / "data/cases/mig_instances_repeat_board_power"
    told = json.loads((case / "case.json").read_text(encoding="utf-8"))
    lines = [line.split(",") for line in (case / "samples.csv").read_text(encoding="utf-8").splitlines()[1:]]
    times = sorted({line[0].removesuffix("Z") for line in lines})
    boards, shares = [], []
    for time in times:
        at = [line for line in lines if line[0] == f"{time}Z"]
        _, watts = board_power_once([line[2] for line in at], [float(line[6]) for line in at])
        slices = [int(line[4][0]) for line in at]
        parts, rest = share_among_instances(float(watts[0]), slices, [float(line[7]) for line in at], power_idle_w=62.0)
        boards.append(float(watts[0]))
        shares.append(float(parts.sum()) + rest)
    hours = (np.array(times, dtype="datetime64[s]") - np.datetime64(times[0])) / np.timedelta64(3600, "s")
    assert np.trapezoid(boards, hours) / 1e3 == pytest.approx(told["expected"]["board_kwh"])
    assert np.trapezoid(shares, hours) / 1e3 == pytest.approx(told["expected"]["sum_of_shares_plus_unassigned_kwh"])


# --- dies ---


@pytest.mark.parametrize("nothing", [float("nan"), 0.0])
def test_one_die_reports_for_its_package(nothing):
    names, watts = package_power(["a", "a", "b", "b"], [480.0, nothing, nothing, 210.0])
    assert (names.tolist(), watts.tolist()) == (["a", "b"], [480.0, 210.0])
    assert np.isnan(package_power(["a", "a"], [nothing, nothing])[1][0])


def test_two_dies_that_report_are_not_guessed_at():
    with pytest.raises(PowerError, match="give it once"):
        package_power(["a", "a"], [480.0, 470.0])


def test_the_second_die_of_a_package_adds_no_energy(tmp_path):
    """Two packages of two dies, each of 480 W for an hour, which the first die reports."""
    documents = [
        {
            "gpu": die,
            "timestamp": f"2026-01-05T08:{minute:02}:00Z",
            "power": {"socket_power": {"value": 480, "unit": "W"} if die % 2 == 0 else "N/A"},
            "usage": {"gfx_activity": {"value": 95, "unit": "%"}},
        }
        for minute in range(60)
        for die in range(4)
    ]
    path = tmp_path / "amd.json"
    path.write_text(json.dumps(documents), encoding="utf-8")
    folder = ledger(tmp_path / "ledger", SITE)
    take(folder, "amd-smi", path, host="amd-1", timezone="UTC")
    assert sum(row["kwh"] for row in rows(folder, ENERGY)) == pytest.approx(0.96)


LOGGED = """\
factor_policy: nearest any
sites:
  hall: {{zone: RFCE, pue: 1.2, node_overhead: 1.25, hosts: [{{pattern: amd-1, chip: AMD Instinct MI250X, {chips}}}]}}
"""


def of_dies(first, rest, minutes=60, use=95, dies=4):
    return [
        {
            "gpu": die,
            "timestamp": f"2026-01-05T08:{minute:02}:00Z",
            "power": {"socket_power": first if die % 2 == 0 else rest},
            "usage": {"gfx_activity": {"value": use, "unit": "%"}},
        }
        for minute in range(minutes)
        for die in range(dies)
    ]


def told(tmp_path, chips, documents):
    path = tmp_path / "amd.json"
    path.write_text(json.dumps(documents), encoding="utf-8")
    folder = ledger(tmp_path / "ledger", LOGGED.format(chips=chips))
    done = take(folder, "amd-smi", path, host="amd-1", timezone="UTC")
    return folder, done


@pytest.mark.parametrize("chips", ["chips: 2", "chips: 2, chips_are: packages", "chips: 4, chips_are: dies"])
@pytest.mark.parametrize(
    ("first", "rest"), [("480 W", "N/A"), ("480 W", "0 W"), ("0 W", "480 W"), ("N/A", "480 W"), ("480 W", "480 W")]
)
def test_packages_are_read_once_whichever_die_reports_and_however_they_are_counted(tmp_path, chips, first, rest):
    folder, done = told(tmp_path, chips, of_dies(first, rest))
    assert [row["kwh"] for row in rows(folder, ENERGY)] == [pytest.approx(0.48)] * 2
    (installed,) = rows(folder, "SELECT sum(installed_chip_count) AS chips FROM core.host")
    assert installed["chips"] == 2
    assert not rows(folder, "SELECT * FROM raw.rejects")
    assert any("counts once" in note for note in done.notes)


def test_dies_that_report_different_watts_are_refused_and_told(tmp_path):
    folder, _ = told(tmp_path, "chips: 2", of_dies("480 W", "300 W"))
    refused = rows(folder, "SELECT * FROM raw.rejects")
    assert len(refused) == 120 and "two dies of a package" in refused[0]["reason"]
    assert sum(row["kwh"] for row in rows(folder, ENERGY)) == pytest.approx(0.96)


def test_a_package_of_which_no_die_reports_is_modelled_once(tmp_path):
    folder, _ = told(tmp_path, "chips: 2", of_dies("N/A", "N/A", use=0))
    found = rows(folder, ENERGY)
    assert [row["tier"] for row in found] == ["modelled", "modelled"]
    assert sum(row["kwh"] for row in found) == pytest.approx(2 * levels_of("amd_mi250x").idle.value / 1000)


def test_as_many_dies_as_chips_are_pointed_out(tmp_path):
    _, done = told(tmp_path, "chips: 4", of_dies("480 W", "N/A"))
    assert any("chips_are: dies" in note for note in done.notes)


@pytest.mark.parametrize(
    ("chips", "words"),
    [("chips: 3, chips_are: dies", "no whole packages"), ("chips: 4, chips_are: halves", "chips_are")],
)
def test_dies_that_make_no_packages_are_refused(tmp_path, chips, words):
    with pytest.raises(EnergyError, match=words):
        told(tmp_path, chips, of_dies("480 W", "N/A"))


# --- fields ---


def test_each_field_says_what_it_covers():
    assert {one.covers for one in FIELDS.values()} == {"board", "module", "package"}
    for name, one in FIELDS.items():
        assert (one.covers == "module") == name.startswith("module."), name
    assert reading_scope("power.draw.instant").time == "instant"
    assert "mean" in reading_scope("power.draw.average").time


def test_an_unknown_field_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"power\.draw\.average"):
        reading_scope("power.draw.avg")
