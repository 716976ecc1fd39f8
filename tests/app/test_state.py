"""Which ledger is opened: the given one, those opened before, those at hand; and never a half-read list."""

from __future__ import annotations

import os
import time

import pytest

from energy.ui import state


@pytest.fixture(autouse=True)
def own_state(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ENERGY_LEDGER", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(state, "may_choose", lambda: True)


def made(folder):
    folder.mkdir(parents=True)
    (folder / "site.yaml").write_text("sites: []\n")
    return folder


def test_the_given_ledger_comes_before_those_opened_before(monkeypatch, tmp_path):
    earlier, given = made(tmp_path / "earlier"), made(tmp_path / "given")
    state.remember(str(earlier))
    monkeypatch.setenv("ENERGY_LEDGER", str(given))
    assert state.folders() == [str(given), str(earlier)]


def test_the_example_at_hand_is_found(tmp_path):
    made(tmp_path / "here" / "energy-demo")
    assert state.folders() == [str(tmp_path / "here" / "energy-demo")]


def test_ledgers_that_are_gone_are_not_offered(tmp_path):
    state.remember(str(tmp_path / "gone"))
    assert state.folders() == []


def test_the_last_one_opened_comes_first_and_each_once(tmp_path):
    names = [str(made(tmp_path / f"ledger-{number}")) for number in range(12)]
    for name in [*names, names[5]]:
        state.remember(name)
    seen = state.recent()
    assert seen[0] == names[5]
    assert len(seen) == len(set(seen)) == 8


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}', "[1, 2]", "null"])
def test_a_spoilt_list_is_an_empty_list(text):
    path = state.recent_file()
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert state.recent() == []


def test_a_list_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    state.remember(str(made(tmp_path / "ledger")))
    assert state.recent() == []


def test_a_ledger_made_anew_with_the_same_number_is_another_key(own_ledger):
    first = state.published(own_ledger)
    later = time.time() + 5
    os.utime(own_ledger / "ledger-1.duckdb", (later, later))
    assert state.published(own_ledger) != first
    assert state.newer(first) == state.published(own_ledger)
    assert state.newer(state.published(own_ledger)) is None
