"""Many rows at once: each row is what one run of the same scenario gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy.cost.rows import NO_LAYOUT, NO_MEMORY
from energy.errors import CostError, EnergyError, ScenarioError
from energy.scenario import parse_scenario, read_scenario, training_run
from energy.scenario.chain import VARIED, chain
from energy.scenario.specification import Scenario, _keys, _sections

EXAMPLES = Path(__file__).parents[2] / "datasets" / "examples" / "scenarios"
PLACED = """
work: {model: MODEL, tokens: 1e12, sequence_length: 4096 token, global_batch: 1024}
system: {chip: CHIP, chips: 64, node_overhead: modelled}
software: {framework: megatron-core, precision: bf16}
site: {pue: 1.2, intensity: 400 gCO2e/kWh, wue_withdrawn: 1.5 L/kWh, grid_water: 1 L/kWh}
prices: {chip_hour: 2 USD/chip/h}
"""


def put(scenario: Scenario, key: str, value: float) -> Scenario:
    section, name = key.split(".")
    part = getattr(scenario, section)
    field = next(one for one, info in type(part).model_fields.items() if (info.alias or one) == name)
    return scenario.model_copy(update={section: part.model_copy(update={field: value})})


def one_row(scenario: Scenario, varied: dict[str, np.ndarray], at: int) -> Scenario:
    for key, values in varied.items():
        scenario = put(scenario, key, float(values[at]))
    return scenario


def agree(scenario: Scenario, varied: dict[str, np.ndarray], folder: Path = EXAMPLES) -> int:
    """Hold every figure of every row against a run of its own; return how many rows can run."""
    found = chain(one_row(scenario, varied, 0), varied, folder)
    place = {int(row): at for at, row in enumerate(found.rows)}
    for row in range(len(next(iter(varied.values())))):
        try:
            run = training_run(one_row(scenario, varied, row), folder)
        except CostError:
            assert row not in place and found.reasons[row] in (NO_LAYOUT, NO_MEMORY)
            continue
        at = place[row]
        assert set(found.figures) == {name for name, figure in run.figures.items() if figure.value is not None}
        for name, column in found.figures.items():
            figure = run.figures[name]
            assert column.unit == figure.unit
            assert (column.ends is None) == (figure.low is None)
            mine = [column.value[at], *(() if column.ends is None else (end[at] for end in column.ends))]
            its = [figure.known, *(() if figure.low is None else figure.ends)]
            assert mine == pytest.approx(its, rel=1e-9, abs=1e-12), name
    return len(found.rows)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_rows_of_each_worked_file_are_its_runs(path: Path):
    scenario = read_scenario(path)
    work = "work.tokens" if scenario.work.tokens is not None else "work.chip_hours"
    amount = scenario.work.tokens or scenario.work.chip_hours
    varied = {
        work: amount * np.array([1.0, 0.5, 1.5]),
        "system.chips": scenario.system.chips * np.array([1.0, 1.0, 2.0]),
    }
    if scenario.site.pue is not None:
        varied["site.pue"] = np.array([1.1, 1.4, 1.0])
    assert agree(scenario, varied) >= 2


SIZES = {
    "system.chips": st.sampled_from([8.0, 24.0, 64.0, 100.0, 256.0, 2048.0]),
    "work.sequence_length": st.sampled_from([1024.0, 4096.0, 10000.0, 32768.0]),
    "work.global_batch": st.sampled_from([64.0, 96.0, 512.0, 1024.0]),
    "work.tokens": st.floats(1e6, 1e13),
    "software.tensor_parallel": st.sampled_from([1.0, 2.0, 8.0, 3.0]),
    "software.pipeline_parallel": st.sampled_from([1.0, 2.0, 4.0]),
    "software.micro_batch": st.sampled_from([1.0, 2.0, 5.0]),
    "system.power_per_chip": st.floats(50.0, 1000.0),
    "system.node_overhead": st.floats(1.0, 2.0),
    "site.pue": st.floats(1.0, 2.0),
    "site.wue_withdrawn": st.floats(0.0, 3.0),
    "site.grid_water": st.floats(0.0, 3.0),
    "site.intensity": st.floats(0.0, 1000.0),
    "prices.chip_hour": st.floats(0.1, 10.0),
}


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_random_rows_are_their_runs(data: st.DataObject):
    model, chip = data.draw(
        st.sampled_from(
            [("Llama 3.1 8B", "H100 SXM"), ("DeepSeek-V3", "H100 SXM"), ("Llama 3.1 70B", "A100 SXM4 80GB")]
        )
    )
    keys = data.draw(st.lists(st.sampled_from(sorted(SIZES)), min_size=1, max_size=5, unique=True))
    count = data.draw(st.integers(1, 4))
    varied = {key: np.array(data.draw(st.lists(SIZES[key], min_size=count, max_size=count))) for key in keys}
    agree(parse_scenario(PLACED.replace("MODEL", model).replace("CHIP", chip)), varied)


@settings(max_examples=6, deadline=None)
@given(
    hours=st.lists(st.floats(0.3, 900.0), min_size=1, max_size=4),
    supply=st.booleans(),
    when=st.sampled_from(["start: 2023-12-20T05:00Z", "year: 2023"]),
)
def test_rows_take_the_hours_of_their_own_time(hours: list[float], supply: bool, when: str):
    text = (
        "work: {model: Llama 3.1 8B, chip_hours: 1 chip*h}\n"
        "system: {chip: H100 SXM, chips: 512, power_per_chip: 600 W, node_overhead: 1.3}\n"
        "site: {facility: ashburn, zone: SRVC, hourly_zone: US-MIDA-PJM, factor_policy: nearest any}\n"
        f"dates: {{{when}}}\n"
    )
    if supply:
        text += (
            "supply: {weather: Phoenix, battery: {capacity: 1 MWh, charge_power: 1 MW, discharge_power: 1 MW, "
            "charge_efficiency: 0.95, discharge_efficiency: 0.95}, "
            "photovoltaics: {capacity: 1 MW, mounting: open rack, tilt_deg: 30, azimuth_deg: 180}}\n"
        )
    agree(parse_scenario(text), {"work.chip_hours": 512.0 * np.array(hours)})


@pytest.mark.parametrize(
    "kind",
    [
        "{kind: owned, purchase: 30000 USD/chip, electricity: 0.1 USD/kWh}",
        "{kind: spot, chip_hour: 1 USD/chip/h, interruptions_per_day: 0.1, checkpoint_rate: 9 GB/s, restart_time: 9 s}",
    ],
)
def test_money_of_rows_is_that_of_runs(kind: str):
    text = (
        PLACED.replace("MODEL", "Llama 3.1 8B").replace("CHIP", "H100 SXM").replace("{chip_hour: 2 USD/chip/h}", kind)
    )
    assert (
        agree(parse_scenario(text), {"system.chips": np.array([8.0, 64.0, 512.0]), "site.pue": np.array([1, 1.1, 1.5])})
        == 3
    )


def test_a_row_that_cannot_run_says_why_and_the_others_stand():
    text = (
        "work: {model: Llama 3.1 70B, tokens: 1e12}\nsystem: {chip: H100 SXM, chips: 8}\nsoftware: {tensor_parallel: 1}"
    )
    found = chain(
        parse_scenario(text), {"system.chips": np.array([1.0, 64.0]), "software.tensor_parallel": np.array([1.0, 7.0])}
    )
    assert found.reasons == {0: NO_MEMORY, 1: NO_LAYOUT} and not len(found.rows)


def test_contracts_are_refused_since_they_cover_one_purchase():
    scenario = read_scenario(EXAMPLES / "llama-2-70b-as-published.yaml")
    contract = parse_scenario(
        "work: {model: a}\nsystem: {chip: b, chips: 1}\ncontracts: [{id: a, kind: certificate, energy: 1 MWh, "
        "intensity: 0 gCO2e/kWh, vintage_from: 2023-01-01, vintage_to: 2024-01-01}]"
    ).contracts
    with pytest.raises(ScenarioError, match="many rows at once"):
        chain(scenario.model_copy(update={"contracts": contract}), {"site.pue": np.array([1.1])})


def test_varied_keys_are_keys_of_a_scenario():
    known = {f"{name}.{key}" for name, model in _sections() for key in _keys(model)}
    assert set(VARIED) <= known


def test_what_no_row_can_be_is_one_line():
    text = "work: {model: Llama 3.1 8B, tokens: 1e12, expert_imbalance: 1.5}\nsystem: {chip: H100 SXM, chips: 8}"
    with pytest.raises(EnergyError, match="no experts"):
        chain(parse_scenario(text), {"system.chips": np.array([8.0, 16.0])})
