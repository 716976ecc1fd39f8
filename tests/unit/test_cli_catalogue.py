"""``energy catalogue chips NAME``: the watts by state, the curve as a text plot, and the estimate from below."""

from __future__ import annotations

import json
import re

import pytest

from energy import cli
from energy.catalogue.chips import all_chips
from energy.power.card import card_lines, power_card


@pytest.fixture
def energy(capsys, monkeypatch):
    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["energy", *words])
        code = 0
        try:
            cli.main()
        except SystemExit as error:
            code = int(error.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_chip_comes_with_its_states_its_curve_and_its_floor(energy):
    code, out, _ = energy("catalogue", "chips", "NVIDIA H100 80GB HBM3")
    assert code == 0
    assert "Power of a board, counted inside a node (chip): 700 W" in out
    for state in ("idle", "idle with context", "stall", "communication", "memory-bound", "compute-bound"):
        assert re.search(rf"^{state} +[\d,.]+ +[\d,.]+ to [\d,.]+ +[\d,.]+ to [\d,.]+", out, re.MULTILINE), state
    plot = re.findall(r"^ *(\d+) % +([\d,.]+)  ([ o=-]+)$", out, re.MULTILINE)
    assert [int(load) for load, _, _ in plot] == list(range(0, 101, 10))
    places = [bars.index("o") for _, _, bars in plot]
    assert places == sorted(places), "the value moves to the right with the load"
    assert re.search(r"From below, at 70 % .* a floor", out)
    assert "CXL" in out and "optics" in out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("WSE-3 (CS-3)", "Power of a system, counted at its plug (IT): 23,000 W"),
        ("TPU v5p", "540 W at most for long (360 to 810, 95 %)"),
        ("aws_trainium3", "no power is published"),
        ("nvidia_gh200_96", "Power of a module"),
        ("apple_m2_ultra", "Power of a package"),
        ("Loihi 2", "by share of the highest rate of events"),
        ("Mythic M1076", "by share of the highest rate of products"),
        ("AMD EPYC 7742", "Power of a socket"),
    ],
)
def test_what_draws_the_power_and_where_it_is_counted_is_said(energy, name, words):
    code, out, _ = energy("catalogue", "chips", name)
    assert code == 0
    assert words in out


def test_programs_get_the_same_watts_with_their_boundary(energy):
    _, out, _ = energy("catalogue", "chips", "nvidia_b200_sxm", "--json")
    found = json.loads(out)
    assert found["schema"] == "catalogue-entry/1"
    power = found["power"]
    assert power["unit"] == "W_chip/chip"
    assert [point["load"] for point in power["curve"]] == [step / 10 for step in range(11)]
    for point in [*power["states"], *power["curve"]]:
        assert (
            point["power_low_w"]
            <= point["power_low80_w"]
            <= point["power_w"]
            <= point["power_high80_w"]
            <= point["power_high_w"]
        )
    below = power["from_below"]
    assert below["difference_chip_w"] == pytest.approx(below["top_down_chip_w"] - below["bottom_up_chip_w"])


def test_other_entries_have_no_watts(energy):
    for kind, name in (("memories", "HBM3"), ("nodes", "DGX H100")):
        code, out, _ = energy("catalogue", kind, name, "--json")
        assert code == 0
        assert "power" not in json.loads(out)


@pytest.mark.parametrize("name", [one.chip_id for one in all_chips()])
def test_every_chip_has_a_card_that_fits_a_terminal(name):
    card = power_card(name)
    json.dumps(card)
    lines = card_lines(card)
    assert all(len(line) <= 110 for line in lines if not line.startswith(("Source", "Note", "Not told")))
    assert lines[0].startswith("Power of ")
