"""The JSON Schema of scenarios: editors mark what the reader refuses, and nothing that it takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from energy.cli import app
from energy.cli._estimate_options import FLAGS
from energy.errors import ScenarioError
from energy.scenario import parse_scenario
from energy.scenario.json_schema import places, scenario_schema, text
from energy.scenario.key_words import WORDS

DATASETS = Path(__file__).parents[2] / "datasets"
EXAMPLES = sorted((DATASETS / "examples" / "scenarios").glob("*.yaml"))
LEAST = {"work": {"model": "Llama 3.1 8B"}, "system": {"chip": "H100 SXM", "chips": 8}}


def problems(content: Any) -> list[str]:
    checker = jsonschema.Draft202012Validator(scenario_schema())
    return [one.message for one in checker.iter_errors(content)]


def as_json(file_text: str) -> Any:
    """Return a file as an editor's checker sees it: dates are text."""
    return json.loads(json.dumps(yaml.safe_load(file_text), default=lambda one: one.isoformat()))


def test_the_published_file_is_current_and_a_schema():
    assert (DATASETS / "schemas" / "scenario.schema.json").read_text(encoding="utf-8") == text()
    jsonschema.Draft202012Validator.check_schema(scenario_schema())


def test_every_key_has_words_and_no_words_are_left_over():
    assert sorted(WORDS) == sorted(places())
    assert {flag.key for flag in FLAGS} <= set(WORDS)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_worked_scenarios_hold(path: Path):
    assert problems(as_json(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("site", "puee", 1.1),
        ("site", "pue", 0.9),
        ("site", "pue", [1.1]),
        ("site", "boundary", "indirect"),
        ("site", "intensity", 385),
        ("system", "chips", 0),
        ("system", "power_limit", "many watts"),
        ("software", "zero_stage", 4),
        ("software", "micro_batch", 1.5),
        ("prices", "undated", "perhaps"),
        ("prices", "kind", "free"),
        ("prices", "in_use", 1.2),
        ("dates", "start", "in spring"),
        ("dates", "year", 20),
        ("work", "tokens", None),
    ],
)
def test_schema_and_reader_refuse_the_same(section: str, key: str, value: Any):
    content = {**LEAST, section: {**LEAST.get(section, {}), key: value}}
    assert problems(content)
    with pytest.raises(ScenarioError):
        parse_scenario(yaml.safe_dump(content))


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("site", "pue", "1.1 kWh_facility/kWh_it"),
        ("site", "intensity", "385 gCO2e/kWh"),
        ("system", "node_overhead", "modelled"),
        ("system", "node_overhead", 1.4),
        ("work", "tokens", "2e12 token"),
        ("work", "tokens", 2e12),
        ("dates", "year", 2024.5),
        ("dates", "start", "2026-03-01"),
        ("dates", "start", "2026-03-01T14:00Z"),
        ("site", "facility", {"case": "ashburn"}),
        ("site", "facility", "ashburn"),
    ],
)
def test_schema_and_reader_take_the_same(section: str, key: str, value: Any):
    content = {**LEAST, section: {**LEAST.get(section, {}), key: value}}
    assert problems(content) == []
    parse_scenario(yaml.safe_dump(content))


def test_the_command_prints_it():
    found = CliRunner().invoke(app, ["estimate", "--schema"])
    assert found.exit_code == 0
    assert json.loads(found.stdout) == scenario_schema()
