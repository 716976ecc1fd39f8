"""``energy estimate`` as a stranger uses it: figures, money, power, and a line for each wrong input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from energy import cli
from energy.cli._estimate_options import FLAGS
from energy.errors import EnergyError
from energy.scenario.specification import scenario_of
from energy.scenario.training import request_of

ROOT = Path(__file__).parents[2]
SMALL = {
    "--model": "llama31_8b",
    "--chip": "nvidia_h100_sxm5_80",
    "--chips": "8",
    "--tokens": "1e10",
    "--framework": "nemo",
    "--tensor-parallel": "1",
    "--pipeline-parallel": "1",
}
OWNED = {"--price": "owned", "--node-overhead": "1.3", "--pue": "1.2", "--electricity-price": "0.1 USD/kWh"}
OWNED |= {"--purchase-usd-per-chip": "30000"}
PLACED = {"--zone": "SRVC", "--hourly-zone": "US-MIDA-PJM", "--factor-policy": "nearest any", "--grid-water": "1 L/kWh"}
STOPS = {"--interruptions-per-day": "0.5", "--checkpoint-s": "60", "--restart-s": "600"}


@pytest.fixture
def energy(capsys, monkeypatch):
    def run(*words):
        monkeypatch.setattr("sys.argv", ["energy", "estimate", *map(str, words)])
        code = 0
        try:
            cli.main()
        except SystemExit as error:
            code = int(error.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def words(*parts):
    merged = {key: value for part in parts for key, value in part.items()}
    return [word for pair in merged.items() for word in pair if word is not True]


@pytest.fixture
def document(energy):
    def of(*parts):
        code, out, error = energy(*words(SMALL, *parts), "--json")
        assert code == 0, error
        return json.loads(out)

    return of


# --- the document ---


def test_the_document_is_described_key_by_key(document):
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| `estimate/1`")]
    found = document(OWNED, STOPS)
    assert set(found) - {"schema"} == set(re.findall(r"`([a-z_]+)`", row.split("|")[3])) - {"training"}
    described = set(re.findall(r"`([a-z0-9_]+)`", text))
    placed = document({"--node-overhead": "modelled", "--facility": "ashburn", "--year": "2023"} | PLACED)
    assert set(found["figures"]) | set(placed["figures"]) <= described
    assert {name for one in placed["factors"] for name in one} <= described
    assert {name for one in found["figures"].values() for name in one} <= described
    assert set(found["money"]) | set(found["money"]["prices"][0]) <= described
    assert set(found["power_phases"]) | set(found["power_phases"]["compute"]) <= described


def test_every_figure_has_unit_status_and_sources_or_a_reason(document):
    for parts in ({}, OWNED, {"--price": "on-demand"}, {"--price": "on-demand", "--price-date": "2025"}):
        for name, one in document(parts)["figures"].items():
            assert one["unit"] and one["status"], name
            assert (one["value"] is None) == (one["reason"] is not None) == (one["status"] == "no data"), name
            assert one["value"] is None or one["sources"], name


# --- power and energy ---


def test_energy_of_chips_is_watts_times_hours_at_the_boards(document):
    figures = document()["figures"]
    power, hours, chips = (figures[name] for name in ("power_per_chip", "chip_hours", "energy_chips"))
    assert (power["unit"], chips["unit"]) == ("W_chip/chip", "kWh_chip")
    assert chips["value"] == pytest.approx(power["value"] * hours["value"] / 1000)
    assert figures["energy_chips_per_token"]["value"] == pytest.approx(chips["value"] * 3.6e6 / 1e10)
    for one, two in (("low80", "high80"), ("low", "high")):
        # wider than either alone, narrower than both ends at once
        assert power[one] * hours[one] / 1000 < chips[one] < hours[one] / hours["value"] * chips["value"]
        assert hours[two] / hours["value"] * chips["value"] < chips[two] < power[two] * hours[two] / 1000
    assert "energy_facility" not in figures and "energy_it" not in figures


def test_energy_at_the_meter_only_with_both_factors(document):
    figures = document({"--node-overhead": "1.3", "--pue": "1.2"})["figures"]
    assert figures["energy_facility"]["unit"] == "kWh_facility"
    assert figures["energy_facility"]["value"] == pytest.approx(figures["energy_chips"]["value"] * 1.56)
    alone = document({"--pue": "1.2"})
    assert "energy_facility" not in alone["figures"]
    assert any("node overhead (--node-overhead, a number or modelled) is not given" in note for note in alone["notes"])


def test_a_line_says_what_the_energy_of_chips_leaves_out(energy):
    _, out, _ = energy(*words(SMALL))
    assert "kWh (chip)" in out and "cooling (PUE) are not in it" in out
    assert "kWh_chip" not in out


def test_a_chip_whose_limit_nobody_published_gets_a_wide_range(energy):
    from energy import catalogue

    small = {"--model": "Llama 3.2 1B", "--chips": "8", "--tokens": "1e9"}
    seen = 0
    for chip in catalogue.all_chips():
        if chip.tdp_w is not None:
            continue
        code, out, _ = energy(*words(small, {"--chip": chip.chip_id}), "--json")
        if code == 0:
            figures = json.loads(out)["figures"]
            power = figures["power_per_chip"]
            assert power["high"] > 1.2 * power["value"] > 1.4 * power["low"] > 0
            assert figures["energy_chips"]["value"] > 0
            seen += 1
    assert seen


def test_the_overhead_of_the_node_is_named_and_not_applied(document):
    alone, given = document(), document({"--node-overhead": "1.3", "--pue": "1.1"})
    line = next(note for note in alone["notes"] if "node overhead" in note)
    named = float(re.search(r"--node-overhead ([0-9.]+) or modelled, not applied", line)[1])
    assert 1.0 < named < 4.0 and "nvidia_h100_sxm5_80" in line
    assert "energy_facility" not in alone["figures"]
    assert not any("not applied" in note for note in given["notes"])


def test_a_system_at_its_plug_takes_no_node_overhead(energy):
    one = {"--model": "Llama 3.2 1B", "--chips": "8", "--tokens": "1e9", "--chip": "cerebras_wse3"}
    code, out, _ = energy(*words(one, {"--pue": "1.2"}), "--json")
    figures = json.loads(out)["figures"]
    assert code == 0
    assert figures["energy_facility"]["value"] == pytest.approx(1.2 * figures["energy_chips"]["value"])
    code, _, said = energy(*words(one, {"--pue": "1.2", "--node-overhead": "1.3"}))
    assert code == 1 and "at its plug" in said


def test_a_power_limit_lowers_watts_and_takes_longer(document):
    free, held = document()["figures"], document({"--power-limit-w": "400"})["figures"]
    assert held["power_per_chip"]["value"] < free["power_per_chip"]["value"]
    assert held["step_time"]["value"] > free["step_time"]["value"]
    above = document({"--power-limit-w": "900"})
    assert above["figures"]["power_per_chip"] == free["power_per_chip"]
    assert any("changes nothing" in note for note in above["notes"])


# --- money ---


def test_rented_chips_cost_their_hours(document):
    found = document({"--price": "on-demand", "--price-date": "2025-03", "--provider": "RunPod"})
    figures, money = found["figures"], found["money"]
    (price,) = money["prices"]
    assert figures["cost"]["value"] == pytest.approx(figures["chip_hours"]["value"] * price["usd"])
    assert (figures["cost"]["unit"], money["currency"]) == ("USD", "USD")
    assert (
        price["rows"][0]["price_id"] and price["rows"][0]["date"].startswith("2025-03") and price["rows"][0]["source"]
    )


def test_the_age_of_a_price_and_its_row_are_shown(energy):
    _, out, _ = energy(*words(SMALL, {"--price": "on-demand", "--price-date": "2025-06", "--provider": "RunPod"}))
    assert "days earlier than asked" in out and "row p" in out and "epoch_prices" in out


def test_a_price_without_a_date_takes_the_year_of_the_run_and_says_so(document):
    found = document({"--price": "on-demand", "--year": "2024.5"})
    assert any("2024, the year of the run" in note for note in found["money"]["notes"])


def test_spot_costs_its_interruptions(document):
    found = document({"--price": "spot", "--price-date": "2023-11"}, STOPS)
    parts, figures = found["money"]["parts_usd"], found["figures"]
    assert parts["interruptions"] > 0
    assert sum(parts.values()) == pytest.approx(figures["cost"]["value"])
    assert figures["elapsed_time"]["value"] > figures["training_time"]["value"]
    calm = document()["figures"]
    longer = figures["elapsed_time"]["value"] / figures["training_time"]["value"]
    assert figures["energy_chips"]["value"] == pytest.approx(calm["energy_chips"]["value"] * longer)


def test_a_checkpoint_can_be_told_by_its_rate(document):
    by_rate = {key: value for key, value in STOPS.items() if key != "--checkpoint-s"} | {"--checkpoint-gb-per-s": "10"}
    found = document(by_rate)
    assert any("14 bytes a parameter" in note for note in found["notes"])


def test_owned_chips_cost_their_write_off_and_electricity_at_the_meter(document):
    found = document(OWNED)
    figures, parts = found["figures"], found["money"]["parts_usd"]
    assert parts["electricity"] == pytest.approx(figures["energy_facility"]["value"] * 0.1)
    assert parts["hardware"] == pytest.approx(figures["chip_hours"]["value"] * 30_000 / (5 * 8766 * 0.8))
    cost, hours = figures["cost"], figures["chip_hours"]
    assert cost["high80"] / cost["value"] >= hours["high80"] / hours["value"]


def test_electricity_is_that_of_a_place_on_a_date(document):
    place = {key: value for key, value in OWNED.items() if key != "--electricity-price"}
    found = document(place, {"--electricity-zone": "US-VA", "--price-date": "2023"})
    electricity = found["money"]["prices"][0]
    assert (electricity["usd"], electricity["unit"]) == (0.0892, "USD/kWh_facility")
    assert any("No class of consumer is given: industrial" in note for note in found["money"]["notes"])


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({}, "give --price on-demand"),
        ({"--price": "on-demand"}, "give --price-date"),
        ({"--price": "on-demand", "--price-date": "2025", "--chip": "amd_mi250x"}, "--price-usd-per-chip-hour"),
        ({"--price": "spot", "--price-date": "2023"}, "give --interruptions-per-day"),
        ({"--price": "owned"}, "--node-overhead"),
        ({**OWNED, "--chip": "nvidia_gb300", "--price-date": "2025"} | {"--purchase-usd-per-chip": None}, "give"),
        ({"--price": "on-demand", "--price-date": "2025", "--provider": "Salad"}, "Known of it"),
    ],
)
def test_a_price_that_nobody_knows_leaves_the_other_figures(energy, parts, said):
    merged = {key: value for key, value in {**SMALL, **parts}.items() if value is not None}
    code, out, _ = energy(*words(merged), "--json")
    cost = json.loads(out)["figures"]["cost"]
    assert code == 0 and cost["value"] is None and said in cost["reason"]
    code, out, _ = energy(*words(merged))
    (line,) = [one for one in out.splitlines() if one.startswith("cost")]
    assert code == 0 and "not known" in line and "training time" in out


def test_explain_shows_states_memory_power_and_money(energy):
    _, out, _ = energy(*words(SMALL, OWNED), "--explain")
    for head in ("state of a step", "memory of a chip", "power of a chip while", "cost, owned", "price: "):
        assert head in out
    _, plain, _ = energy(*words(SMALL, OWNED))
    assert "power of a chip while" not in plain and "cost, owned" in plain


# --- files and flags ---


def test_flags_take_the_place_of_keys_of_the_file(energy):
    path = ROOT / "datasets/examples/scenarios/llama2_70b_a100.yaml"
    code, out, _ = energy(path, "--tokens", "1e12 token", "--json")
    found = json.loads(out)
    assert code == 0 and found["model"] == "Llama 2 70B"
    _, whole, _ = energy(path, "--json")
    half = found["figures"]["chip_hours"]["value"] / json.loads(whole)["figures"]["chip_hours"]["value"]
    assert half == pytest.approx(0.5)


def test_numbers_of_flags_may_carry_their_unit(document):
    one, two = document({"--power-limit-w": "500"}), document({"--power-limit-w": "0.5 kW"})
    assert one["figures"] == two["figures"]


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"--chips": "2.5"}, "--chips is 2.5: give a whole number"),
        ({"--chips": "abc"}, "--chips: 'abc' does not start with a finite number"),
        ({"--chips": "inf"}, "--chips is inf"),
        ({"--tokens": "0"}, "--tokens is 0"),
        ({"--tokens": "2e12 W"}, "--tokens: '2e12 W' is in W"),
        ({"--tokens": ""}, "--tokens is empty"),
        ({"--sequence-length": "4096.5"}, "--sequence-length is 4096.5"),
        ({"--micro-batch": "0"}, "--micro-batch is 0"),
        ({"--zero-stage": "4"}, "--zero-stage is 4: give a whole number, 0 to 3."),
        ({"--expert-imbalance": "0.5"}, "--expert-imbalance is 0.5"),
        ({"--network-gbit-per-s": "-4"}, "--network-gbit-per-s is -4"),
        ({"--network-gbit-per-s": "4 kWh"}, "measures another thing"),
        ({"--power-limit-w": "nan"}, "--power-limit-w is nan"),
        ({"--power-limit-w": "20"}, "give a limit above"),
        ({"--node-overhead": "0.9"}, "1 or more"),
        ({"--pue": "0.5"}, "1 or more"),
        ({"--year": "12"}, "give a year"),
        ({"--price": "cheap"}, "give on-demand, reserved"),
        ({"--price": "on-demand", "--price-date": "soon"}, "is no date"),
        ({"--price": "on-demand", "--price-date": "2025", "--provider": "Lamda"}, "Nearest: Lambda"),
        ({"--price": "on-demand", "--electricity-zone": "DE"}, "is of owned chips"),
        ({"--price": "owned", "--provider": "RunPod"}, "is of rented chips"),
        ({"--price-usd-per-chip-hour": "2", "--provider": "RunPod"}, "leave one of them out"),
        ({"--price-usd-per-chip-hour": "0"}, "above zero"),
        ({**OWNED, "--electricity-zone": "DE"}, "give --electricity-price or --electricity-zone"),
        ({**OWNED, "--electricity-price": "0.1"}, "has no unit"),
        ({**OWNED, "--electricity-price": "0.1 EUR/kWh"}, "exchange rate"),
        ({**OWNED, "--in-use": "1.5"}, "at most 1"),
        ({**OWNED, "--lifetime-years": "0"}, "--lifetime-years is 0"),
        ({"--interruptions-per-day": "1"}, "known in part"),
        ({**STOPS, "--checkpoint-gb-per-s": "1"}, "a time and a rate"),
        ({**STOPS, "--interruptions-per-day": "500", "--restart-s": "6000"}, "never ends"),
        ({"--chip": "nvidia_gb200", **STOPS}, "give --chips-per-node"),
        ({"--schedule": "some"}, "'some' is not known"),
        ({"--offload": "some"}, "'some' is not known"),
        ({"--offload-to": "host"}, "give --offload"),
        ({"--config": "x.json"}, "either --model"),
    ],
)
def test_wrong_input_is_one_line_and_names_the_flag(energy, parts, said):
    code, out, error = energy(*words(SMALL, parts))
    assert code == 1 and out == ""
    assert said in error and error.count("\n") == 1 and "{key}" not in error


@pytest.mark.parametrize(
    ("given", "said"), [([], "--chip"), (["--model", "x"], "--chip"), (["absent.yaml"], "no such")]
)
def test_what_is_missing_is_one_line(energy, given, said):
    code, out, error = energy(*given)
    assert code == 1 and out == "" and said in error and error.count("\n") == 1


def test_help_has_one_line_for_each_flag(energy):
    _, out, _ = energy("--help")
    lines = out.splitlines()
    for flag in FLAGS:
        (line,) = [one for one in lines if one.strip().startswith(f"{flag.name} ")]
        assert line.rstrip().endswith(flag.help), flag.name
        assert len(line) <= 80


@pytest.mark.parametrize(
    ("link", "rate"), [("ib_ndr", "400"), ("InfiniBand XDR 4x", "800"), ("tpu_dcn_v5p", "50"), ("efa_v2", "400")]
)
def test_a_link_by_name_is_its_rate_in_bits(link, rate):
    words = {
        "work.model": ("Llama 3.1 8B", "--model"),
        "system.chip": ("H100 SXM", "--chip"),
        "system.chips": ("64", ""),
    }
    node = {"system.chips_per_node": ("8", "")}
    by_name = request_of(scenario_of({**words, **node, "system.network_link": (link, "")}))
    by_rate = request_of(scenario_of({**words, **node, "system.network": (f"{rate} Gbit/s", "")}))
    assert by_name.outside_gbit_per_s_per_chip == pytest.approx(by_rate.outside_gbit_per_s_per_chip)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"system.network_link": "ib_ndx"}, "Nearest"),
        ({"system.network_link": "optics_cpo"}, "--network-gbit-per-s"),
        ({"system.network_link": "efa_v2"}, "--chips-per-node"),
        ({"system.network_link": "ib_ndr", "system.network": "400 Gbit/s"}, "not both"),
    ],
)
def test_a_link_without_a_rate_for_a_chip_is_refused(given, says):
    words = {"work.model": "Llama 3.1 8B", "system.chip": "H100 SXM", "system.chips": "64", **given}
    with pytest.raises(EnergyError, match=says):
        request_of(scenario_of({key: (value, key) for key, value in words.items()}))


# --- numbers and files out of the usual ---


@pytest.mark.parametrize("tokens", ["1e3", "1e18", "1e300"])
def test_no_line_of_figures_is_longer_than_a_screen(energy, tokens):
    code, out, _ = energy(*words(SMALL, {"--tokens": tokens}))
    assert code == 0
    figures = out.split("layout:")[0].splitlines()
    assert max(map(len, figures)) < 160


@pytest.mark.parametrize("command", ["supply", "facility", "estimate"])
@pytest.mark.parametrize(
    ("name", "said"), [("scene.yaml", "no such file|neither a file"), ("folder", "folder|neither")]
)
def test_a_file_that_is_absent_or_a_folder_is_named_as_such(capsys, monkeypatch, tmp_path, command, name, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "scenes.yaml").write_text("a: 1", encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["energy", command, str(tmp_path / name)])
    with pytest.raises(SystemExit) as left:
        cli.main()
    error = capsys.readouterr().err
    assert left.value.code == 1 and error.count("\n") == 1
    assert re.search(said, error) and "allow reading" not in error
