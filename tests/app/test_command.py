"""``energy app`` and ``streamlit run app.py``: what is started, and what is said when it cannot be."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from energy.cli import main

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def energy(monkeypatch, capsys):
    """Run a command; return its exit code and what it wrote to stderr."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["energy", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return int(left.value.code or 0), capsys.readouterr().err

    return run


@pytest.fixture
def started(monkeypatch):
    """What would be started in place of the command."""
    found: dict[str, object] = {}

    def execve(path, words, environment):
        found.update(path=path, words=words, environment=environment)
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", execve)
    return found


def test_the_server_sends_nothing_and_listens_here_only(energy, started, tmp_path):
    (tmp_path / "ledger").mkdir()
    assert energy("app", "--ledger", str(tmp_path / "ledger"), "--port", "9000", "--no-browser")[0] == 0
    words = started["words"]
    settings = dict(zip(words[5::2], words[6::2], strict=True))
    assert words[1:4] == ["-m", "energy.ui", "run"]
    assert Path(words[4]).is_file()
    assert settings == {
        "--server.port": "9000",
        "--server.address": "localhost",
        "--server.headless": "true",
        "--browser.gatherUsageStats": "false",
    }
    assert started["environment"]["ENERGY_LEDGER"] == str(tmp_path / "ledger")


def test_without_the_extra_one_line_says_how_to_get_it(energy, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "plotly" else real(name))
    code, said = energy("app")
    assert code == 1
    assert said.count("\n") == 1
    assert "needs plotly: install with `pip install 'energy[app]'`" in said


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [(["--ledger", "/nowhere"], 1, "No ledger at /nowhere"), (["--port", "0"], 2, "--port")],
)
def test_a_wrong_word_is_refused_before_anything_starts(energy, started, words, code, part):
    left, said = energy("app", *words)
    assert left == code
    assert part in said
    assert started == {}


def test_the_settings_lie_beside_the_entry_in_a_checkout_and_in_a_wheel():
    import tomllib

    from energy.resources import resource

    entry = resource("app.py")
    assert (entry.parent / ".streamlit" / "config.toml").is_file()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert carried["app.py"] == "energy/_bundled/app.py"
    assert carried[".streamlit/config.toml"] == "energy/_bundled/.streamlit/config.toml"
