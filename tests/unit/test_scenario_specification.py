"""Scenario files: what is read, and what is said of what cannot be."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.cli._estimate_options import FLAGS, overrides, parameter_of
from energy.errors import EnergyError, ScenarioError
from energy.scenario import parse_scenario, read_scenario, request_of, scenario_of, training_run
from energy.scenario.specification import Scenario, _keys, _sections

EXAMPLES = Path(__file__).parents[2] / "datasets" / "examples" / "scenarios"
LEAST = "work: {model: Llama 3.1 8B}\nsystem: {chip: H100 SXM, chips: 8}\n"


def test_values_carry_their_units():
    found = parse_scenario(
        "work: {model: Llama 3.1 8B, tokens: 2e12 token, sequence_length: 8192 token}\n"
        "system: {chip: H100 SXM, chips: 8, network: 50 GB/s, power_limit: 0.4 kW, node_overhead: 1.3}\n"
        "site: {pue: 1.1}\n"
        "prices: {chip_hour: 2.5 USD/chip/h, lifetime: 4 yr, in_use: 80 %, electricity: 80 USD/MWh,"
        " checkpoint_rate: 20 GB/s, restart_time: 10 min}\n"
    )
    assert found.work.tokens == 2e12
    assert found.system.network_bit_per_s == 400e9
    assert found.system.power_limit_w == 400.0
    assert found.prices.lifetime_h == 4 * 8760.0
    assert found.prices.in_use == pytest.approx(0.8)
    assert found.prices.electricity_usd_per_kwh_facility == pytest.approx(0.08)
    assert found.prices.restart_time_s == 600.0


def test_dates_that_yaml_turns_into_other_things_are_dates():
    for text, wanted in (
        ("2025", "2025"),
        ("2025-03-17", "2025-03-17"),
        ("2025-Q1", "2025-Q1"),
        ("2025-03", "2025-03"),
    ):
        assert parse_scenario(f"{LEAST}dates: {{prices: {text}}}").dates.prices == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no scenario"),
        ("hello", "no scenario"),
        ("[1, 2]", "no scenario"),
        ("a: [", "not valid YAML"),
        ("work:\n  model: a\n  model: b", "the key model is written twice"),
        ("wrok: {}", "wrok: no such key. Nearest: work."),
        ("work: {modle: x}", "work.modle: no such key. Nearest: model."),
        ("model: x", "Write it under work:"),
        ("work: {chip: x}", "It stands under system."),
        ("work: 5", "work: give keys under it"),
        ("work:\nsystem:", "work: give keys under it"),
        ("1: 2", "1: no such key"),
        ("work: {1: 2}", "work.1: no such key"),
        (LEAST.replace(", chips: 8", ""), "the number of chips is missing"),
        (LEAST.replace("8}", ".nan}"), "system.chips is nan: give a whole number"),
        (LEAST.replace("8}", ".inf}"), "system.chips is inf"),
        (LEAST.replace("8}", "-8}"), "system.chips is -8: give a whole number, 1 or more."),
        (LEAST.replace("8}", "0}"), "system.chips is 0"),
        (LEAST.replace("8}", "2.5}"), "system.chips is 2.5"),
        (LEAST.replace("8}", "true}"), "not a number"),
        (LEAST.replace("8}", "[8]}"), "system.chips is a list: give one value."),
        (LEAST.replace("8}", "{n: 8}}"), "system.chips is a group of keys"),
        (LEAST.replace("8}", "}"), "system.chips is empty"),
        (LEAST.replace("8}", "8 W}"), "measures another thing"),
        (LEAST.replace("8B}", "8B, tokens: 2e12 W}"), "measures another thing"),
        (LEAST.replace("8B}", "8B, tokens: '2,000'}"), "has a comma"),
        (LEAST.replace("8B}", "8B, tokens: 2 kg token}"), "not a spelling"),
        (LEAST.replace("8B}", "8B, tokens: 1e400}"), "out of the range"),
        (LEAST.replace("8B}", "8B, adapters: maybe}"), "give true or false"),
        (LEAST.replace("Llama 3.1 8B", "8"), "work.model is 8: give a name"),
        (LEAST.replace("8}", "8, power_limit: 700}"), "has no unit: write it with one, like '700 W'"),
        (LEAST.replace("8}", "8, power_limit: 7 kW_it}"), "system.power_limit"),
        (LEAST.replace("8}", "8, node_overhead: 0.9}"), "1 or more, since"),
        (LEAST + "site: {pue: 0.9}", "1 or more, since"),
        (LEAST + "prices: {kind: cheap}", "give on-demand, reserved"),
        (LEAST + "prices: {in_use: 1.5}", "above 0, at most 1"),
        (LEAST + "prices: {electricity: 0.1 EUR/kWh}", "exchange rate"),
        (LEAST + "dates: {prices: soon}", "is no date"),
        (LEAST + "dates: {prices: 2025-13-01}", "cannot be read"),
        (LEAST + "dates: {year: 12}", "give a year"),
        (LEAST + "software: {zero_stage: 4}", "whole number, 0 to 3"),
        (LEAST + "name:", "name is empty"),
        (LEAST + "source: [a]", "source is a list"),
    ],
)
def test_what_cannot_be_read_is_one_line_that_names_the_place(text, said):
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text, "s.yaml")
    message = str(caught.value)
    assert said in message and "s.yaml" in message and "\n" not in message and "{key}" not in message


def test_files_that_are_none_are_said(tmp_path):
    (tmp_path / "scene.yaml").write_text(LEAST, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"no such file. Nearest: scene.yaml"):
        read_scenario(tmp_path / "scen.yaml")
    with pytest.raises(ScenarioError, match="is a folder"):
        read_scenario(tmp_path)
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\x00 work")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        read_scenario(tmp_path / "bad.yaml")


def test_a_configuration_lies_beside_its_scenario(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "s.yaml").write_text(LEAST.replace("model: Llama 3.1 8B", "config: c.json"), encoding="utf-8")
    assert Path(read_scenario(tmp_path / "in" / "s.yaml").work.config) == tmp_path / "in" / "c.json"
    own = read_scenario(tmp_path / "in" / "s.yaml", {"work.config": ("c.json", "--config")})
    assert own.work.config == "c.json"


def test_flags_take_the_place_of_keys():
    flags = {"system.chips": ("16", "--chips"), "work.config": ("x.json", "--config")}
    found = parse_scenario(LEAST, "s.yaml", flags)
    assert found.system.chips == 16
    assert (found.work.model, found.work.config) == (None, "x.json")
    with pytest.raises(ScenarioError, match=r"^--chips is 0"):
        parse_scenario(LEAST, "s.yaml", {"system.chips": ("0", "--chips")})


def test_every_key_has_a_flag_and_every_flag_a_key():
    keys = {f"{name}.{key}" for name, model in _sections() for key in _keys(model)}
    keys = keys - {"site.published"} | {"supply"}  # a group of keys; a file
    assert {flag.key for flag in FLAGS} == keys
    assert len({flag.name for flag in FLAGS}) == len(FLAGS)


NUMBERS = {
    "work.tokens": st.integers(1, 10**13),
    "work.sequence_length": st.sampled_from([1024, 4096, 8192]),
    "work.global_batch": st.sampled_from([64, 256]),
    "system.network": st.floats(10, 3200),
    "system.power_limit": st.floats(150, 900),
    "system.node_overhead": st.floats(1, 2),
    "site.pue": st.floats(1, 2),
    "software.micro_batch": st.sampled_from([1, 2]),
    "software.zero_stage": st.integers(0, 3),
    "dates.year": st.integers(2020, 2026),
    "prices.chip_hour": st.floats(0.1, 20),
}
_UNITS = {"system.network": " Gbit/s", "system.power_limit": " W", "prices.chip_hour": " USD/chip/h"}
SAID = st.fixed_dictionaries({}, optional=NUMBERS)


def by_flags(said):
    names = {flag.key: parameter_of(flag) for flag in FLAGS}
    given_ = {names[key]: repr(value) for key, value in said.items()}
    return overrides({"model": "Llama 3.1 8B", "chip": "H100 SXM", "chips": "8", **given_})


def by_file(said):
    text = {"work": ["model: Llama 3.1 8B"], "system": ["chip: H100 SXM", "chips: 8"]}
    for key, value in said.items():
        section, name = key.split(".")
        text.setdefault(section, []).append(f"{name}: {value!r}{_UNITS.get(key, '')}")
    return "\n".join(f"{section}: {{{', '.join(lines)}}}" for section, lines in text.items())


def same(one, other):
    """Tell whether two requests are equal; architectures are compared by their arrays."""
    for field in dataclasses.fields(one):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        if field.name == "architecture":
            assert all(
                np.array_equal(getattr(mine, name), getattr(its, name), equal_nan=True) for name in mine.__slots__
            )
        else:
            assert mine == its, field.name
    return True


@given(SAID)
def test_a_file_and_flags_mean_the_same_request(said):
    one, other = scenario_of(by_flags(said)), parse_scenario(by_file(said))
    assert one == other
    assert same(request_of(one), request_of(other))


@settings(max_examples=8, deadline=None)
@given(SAID)
def test_a_file_and_flags_have_the_same_answer(said):
    try:
        one = training_run(scenario_of(by_flags(said))).document()
    except EnergyError as error:
        with pytest.raises(type(error)) as caught:
            training_run(parse_scenario(by_file(said)))
        assert str(caught.value) == str(error)
        return
    other = training_run(parse_scenario(by_file(said))).document()
    assert repr(one) == repr(other)


def test_scenarios_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        parse_scenario(LEAST).work.tokens = 1.0


# --- the worked files ---

#: Published chip-hours; of GPT-3 derived by its source from an assumed number of chips.
PUBLISHED_H = {"llama2_70b_a100": 1_720_320.0, "gpt3_175b_v100": 3_552_000.0, "llama31_405b_h100": 30_840_000.0}


@pytest.mark.parametrize("name", sorted(PUBLISHED_H))
def test_published_chip_hours_are_inside_the_80_band_of_the_worked_files(name):
    found = read_scenario(EXAMPLES / f"{name}.yaml")
    assert found.source and found.name
    figures = training_run(found).figures
    hours = figures["chip_hours"]
    assert hours.low80 < PUBLISHED_H[name] < hours.high80
    assert figures["cost"].value is not None and figures["energy_chips"].value > 0


#: Files that name a site: test_scenario_site runs them.
OF_A_SITE = {
    "desert-sun-and-battery",
    "gpt-3-h100",
    "llama-2-70b-as-published",
    "llama-2-70b-own-power-and-host",
    "llama-3.1-405b-frankfurt",
    "llama-3.1-405b-phoenix",
    "llama-3.1-405b-virginia",
    "llama-3.1-70b-air",
    "llama-3.1-70b-direct-to-chip",
    "llama-3.1-8b-bf16",
    "llama-3.1-8b-fp8",
    "llama-3.1-8b-tpu-v5p",
    "llama-3.2-1b-laptop",
    "llama-3.2-1b-wafer-scale",
}


def test_llama_2_is_within_an_eighth():
    hours = training_run(read_scenario(EXAMPLES / "llama2_70b_a100.yaml")).figures["chip_hours"].value
    assert hours == pytest.approx(PUBLISHED_H["llama2_70b_a100"], rel=0.125)


def test_every_worked_file_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.yaml")} == set(PUBLISHED_H) | OF_A_SITE


def test_the_sections_are_those_of_the_scenario():
    assert {name for name, _ in _sections()} == set(Scenario.model_fields) - {"name", "source", "supply", "contracts"}


def test_the_page_lists_every_key():
    page = (Path(__file__).parents[2] / "docs" / "cost.md").read_text(encoding="utf-8")
    for section, model in _sections():
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{section}` |")]
        assert [key for key in _keys(model) if f"`{key}`" not in row] == []
