"""A scenario at its site: PUE, water, own plants, factors and contracts by hour, and a line for each contradiction."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy import cli
from energy.account import chain
from energy.cost.estimates import Figure
from energy.errors import EnergyError, ScenarioError
from energy.scenario.hours import factors_of, ratios_of, span_of
from energy.scenario.meter import at_site
from energy.scenario.specification import parse_scenario, read_scenario
from energy.scenario.training import training_run
from energy.units import quantity

EXAMPLES = Path(__file__).parents[2] / "datasets" / "examples" / "scenarios"
KNOWN = """
work: {model: Llama 2 70B, chip_hours: 1720320 chip*h}
system: {chip: A100 SXM4 80GB, chips: 2048, power_per_chip: 400 W, node_overhead: 1.0}
"""
SUN = """
supply:
  weather: Phoenix
  photovoltaics: {capacity: CAPACITY, mounting: single axis, tilt_deg: 0, azimuth_deg: 180}
"""
WORK = "work: {model: a}\nsystem: {chip: b, chips: 1}\n"
ENERGY = Figure(1.0e6, "kWh_it", 0.9e6, 1.1e6, 0.8e6, 1.2e6)
CERTIFICATE = (
    "{id: R1, kind: certificate, energy: ENERGY, intensity: 0 gCO2e/kWh, vintage_from: 2023-01-01, "
    "vintage_to: 2024-01-01, registry: M-RETS, cancellation_id: R-77, beneficiary: WHO}"
)


def placed(text, elapsed_h=720.0, energy=ENERGY):
    return at_site(parse_scenario(WORK + text), energy, elapsed_h, Path())


def value(found, name):
    return found.figures[name].known


# --- the published run ---


def test_llama_2_as_published_is_291_42_tonnes():
    run = training_run(read_scenario(EXAMPLES / "llama-2-70b-as-published.yaml"))
    assert round(run.figures["emissions_location"].known / 1000.0, 2) == 291.42
    assert run.estimate is None and run.figures["power_per_chip"].status == "given"


@settings(max_examples=30, deadline=None)
@given(
    pue=st.floats(1.0, 3.0),
    overhead=st.floats(1.0, 3.0),
    intensity=st.floats(0.1, 2000.0),
    watts=st.floats(1.0, 2000.0),
)
def test_the_run_is_the_chain_written_out_once(pue, overhead, intensity, watts):
    text = (
        f"work: {{model: Llama 2 70B, chip_hours: 1000 chip*h}}\n"
        f"system: {{chip: A100 SXM4 80GB, chips: 8, power_per_chip: {watts!r} W, node_overhead: {overhead!r}}}\n"
        f"site: {{pue: {pue!r}, intensity: {intensity!r} gCO2e/kWh}}\n"
    )
    figures = training_run(parse_scenario(text)).figures
    steps = chain(
        quantity(watts, "W_chip/chip"),
        quantity(8.0, "chip"),
        quantity(125.0, "h"),
        overhead,
        pue,
        {"location": quantity(intensity, "gCO2e/kWh_facility")},
    )
    pairs = [
        ("energy_it", steps["energy_it"].to("kWh_it")),
        ("energy_facility", steps["energy_facility"].to("kWh_facility")),
        ("emissions_location", steps["emissions_location"].to("kgCO2e")),
    ]
    for name, expected in pairs:
        assert figures[name].known == pytest.approx(float(expected.magnitude), rel=1e-12)


def test_a_factor_that_holds_the_pue_already_is_refused():
    with pytest.raises(ScenarioError, match=r"divide by PUE"):
        parse_scenario(KNOWN + "site: {pue: 1.1, intensity: 424 gCO2e/kWh_it}")


def test_given_numbers_have_no_width_and_others_keep_theirs():
    exact = training_run(parse_scenario(KNOWN + "site: {pue: 1.1}")).figures["energy_facility"]
    assert exact.low == pytest.approx(exact.known) == pytest.approx(exact.high)
    wide = training_run(parse_scenario(KNOWN.replace("1.0}", "modelled}") + "site: {pue: 1.1}")).figures
    assert wide["energy_facility"].low < wide["energy_facility"].low80 < wide["energy_facility"].known
    assert wide["energy_facility"].known < wide["energy_facility"].high80 < wide["energy_facility"].high


# --- hours ---


@settings(max_examples=25, deadline=None)
@given(elapsed_h=st.floats(0.01, 5000.0))
def test_hours_of_a_run_add_up_to_its_length(elapsed_h):
    for dates in ("{start: 2024-02-28T07:00Z}", "{year: 2024}"):
        span = span_of(parse_scenario(WORK + f"dates: {dates}"), elapsed_h)
        assert span.duration_h.sum() == pytest.approx(elapsed_h)
        assert (span.duration_h >= 0).all() and bool((np.diff(span.start_utc) == np.timedelta64(1, "h")).all())


def test_a_run_over_the_new_year_takes_the_factor_of_each_year():
    scenario = parse_scenario(WORK + "site: {zone: DE, factor_policy: nearest any}\ndates: {start: 2022-12-31T12:00Z}")
    found = [one for one in factors_of(scenario.site, span_of(scenario, 24.0)) if one.method == "location"]
    assert [one.hours.size for one in found] == [12, 12]
    each = [one.intensity_gco2e_per_kwh_facility[0] for one in found]
    both = placed("site: {pue: 1.0, zone: DE, factor_policy: nearest any}\ndates: {start: 2022-12-31T12:00Z}", 24.0)
    assert each[0] != each[1] and value(both, "intensity_location") == pytest.approx(sum(each) / 2)
    assert len([one for one in both.factors if one["method"] == "location"]) == 2


def test_the_sum_over_hours_is_the_chain_over_means():
    text = "site: {facility: ashburn, zone: SRVC, hourly_zone: US-MIDA-PJM, factor_policy: nearest any}\n"
    text += "dates: {start: 2023-07-01T00:00Z}"
    found, scenario = placed(text, 100.5), parse_scenario(WORK + text)
    span = span_of(scenario, 100.5)
    pue = ratios_of(scenario.site, span, Path()).pue[0]
    (hourly,) = [one for one in factors_of(scenario.site, span) if one.method == "hourly"]
    facility = ENERGY.known / 100.5 * span.duration_h * pue
    assert value(found, "energy_facility") == pytest.approx(facility.sum(), rel=1e-12)
    kilograms = (facility * hourly.intensity_gco2e_per_kwh_facility).sum() / 1000.0
    assert value(found, "emissions_hourly") == pytest.approx(kilograms, rel=1e-12)


def test_summer_takes_more_cooling_than_winter():
    site = "site: {facility: ashburn}\ndates: {start: START}"
    winter, summer = (placed(site.replace("START", f"2023-{month}-01T00:00Z")) for month in ("01", "07"))
    assert value(summer, "pue") > value(winter, "pue")
    assert value(summer, "water_site_withdrawn") > value(winter, "water_site_withdrawn")


# --- own plants ---


def test_plants_take_part_of_the_purchase_and_energy_is_kept():
    base = "site: {pue: 1.2, zone: AZNM, factor_policy: nearest any}\ndates: {start: 2023-06-01T00:00Z}\n"
    without, with_sun = placed(base), placed(base + SUN.replace("CAPACITY", "2 MW"))
    grid, own = value(with_sun, "energy_grid"), value(with_sun, "energy_own_plants")
    assert grid + own == pytest.approx(value(with_sun, "energy_facility"), rel=1e-9)
    assert own + value(with_sun, "energy_excess_of_plants") == pytest.approx(
        value(with_sun, "energy_generation_of_plants"), rel=1e-9
    )
    assert value(with_sun, "emissions_location") < value(without, "emissions_location")
    assert value(with_sun, "emissions_location") == pytest.approx(grid * value(with_sun, "intensity_location") / 1000.0)


@pytest.mark.parametrize("hours", [1, 5, 11])
def test_a_run_of_a_few_hours_has_its_sun_whenever_it_begins(hours):
    for first in range(0, 24, 3):
        text = f"site: {{pue: 1.2}}\ndates: {{start: 2023-12-20T{first:02}:00Z}}" + SUN.replace("CAPACITY", "1 MW")
        found = placed(text, float(hours))
        assert 0 <= value(found, "energy_grid") <= value(found, "energy_facility")


def test_more_sun_never_means_more_purchase():
    base = "site: {pue: 1.2}\ndates: {year: 2023}\n"
    bought = [value(placed(base + SUN.replace("CAPACITY", f"{size} MW")), "energy_grid") for size in (1, 3, 9)]
    assert bought == sorted(bought, reverse=True) and bought[0] > bought[-1] > 0


# --- contracts ---


def contracted(energy, who="Example Ltd"):
    one = CERTIFICATE.replace("ENERGY", energy).replace("WHO", who)
    text = "site: {pue: 1.0, zone: SRVC, factor_policy: nearest any, market: US, reporter: Example Ltd}\n"
    return placed(f"{text}dates: {{year: 2023}}\ncontracts:\n  - {one}")


def test_a_certificate_covers_what_it_says_and_no_more():
    rest, part, whole = (contracted(energy) for energy in ("1 kWh", "600 MWh", "5 GWh"))
    assert value(part, "emissions_market") == pytest.approx(value(rest, "emissions_market") * 0.4, rel=1e-5)
    assert value(whole, "emissions_market") == 0.0 and value(whole, "energy_covered_by_contracts") == 1e6
    assert any("left over" in note for note in whole.notes)
    assert value(whole, "emissions_location") == value(rest, "emissions_location")


def test_a_certificate_of_somebody_else_covers_nothing():
    found = contracted("600 MWh", "Somebody Ltd")
    assert value(found, "energy_covered_by_contracts") == 0.0
    assert any("R1 covers nothing" in note for note in found.notes)


# --- nodes and halls that are cooled by liquid ---


def in_hall(facility, cooling, overhead="modelled"):
    said = f", cooling: {cooling}" if cooling else ""
    text = (
        "work: {model: Llama 3.1 8B, chip_hours: 1000 chip*h}\n"
        f"system: {{chip: H100 SXM, chips: 64, node_overhead: {overhead}{said}}}\n"
        f"site: {{facility: {facility}}}\ndates: {{year: 2023}}\n"
    )
    return training_run(parse_scenario(text))


def test_cold_plates_take_fans_out_of_the_node_and_raise_the_pue():
    air, liquid = (
        training_run(read_scenario(EXAMPLES / f"llama-3.1-70b-{name}.yaml")) for name in ("air", "direct-to-chip")
    )
    assert value(air, "energy_chips") == value(liquid, "energy_chips")
    assert value(air, "energy_it") > 1.05 * value(liquid, "energy_it")
    assert value(air, "pue") < value(liquid, "pue")
    assert value(air, "energy_facility") > value(liquid, "energy_facility")


def test_a_modelled_node_says_when_its_cooling_is_not_that_of_the_hall():
    assert any("give system.cooling liquid" in note for note in in_hall("phoenix_liquid", "").notes)
    assert not any("system.cooling" in note for note in in_hall("phoenix_liquid", "liquid").notes)
    assert not any("system.cooling" in note for note in in_hall("ashburn", "").notes)


@pytest.mark.parametrize(
    ("facility", "cooling", "overhead", "said"),
    [
        ("phoenix_liquid", "air", "modelled", "cooled by liquid: give system.cooling liquid"),
        ("ashburn", "liquid", "modelled", "cooled by air: give system.cooling air"),
        ("ashburn", "immersion", "modelled", "cooled by air"),
        ("phoenix_liquid", "liquid", "1.3", "no effect on a given node overhead"),
    ],
)
def test_a_cooling_that_contradicts_is_refused(facility, cooling, overhead, said):
    with pytest.raises(ScenarioError, match=said):
        in_hall(facility, cooling, overhead)


# --- what is refused, in one line that says what to do ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("site: {pue: 1.1, facility: ashburn}", "each say the PUE: give one"),
        ("site: {weather: Phoenix}", "no effect without site.facility"),
        ("site: {facility: ashburn}", "give dates.start or dates.year"),
        ("site: {pue: 1.1, zone: DE}", "give dates.year"),
        ("site: {pue: 1.1, zone: DE, intensity: 300 gCO2e/kWh}\ndates: {year: 2023}", "each say the factor"),
        ("site: {pue: 1.1, hourly_zone: DE}", "no effect without site.zone"),
        ("site: {pue: 1.1, zone: DE}\ndates: {year: 2026}", "factor_policy"),
        ("site: {pue: 1.1, zone: CAMX, hourly_zone: DE}\ndates: {year: 2023}", "name a zone of the same country"),
        ("site: {pue: 1.1, zone: DE, residual_zone: CAMX}\ndates: {year: 2023}", "name a zone of the same country"),
        ("site: {facility: ashbrun}\ndates: {year: 2023}", "Nearest: ashburn"),
        ("site: {pue: 1.1}" + SUN.replace("CAPACITY", "1 MW"), "Own plants are computed by the hour"),
        ("site: {pue: 1.1}\ndates: {year: 2023}\nsupply: {battery: {capacity: 1 MWh}}", "no plant"),
        ("site: {pue: 1.1}\ndates: {year: 2023}\nsupply: {grid: {limit: 1 MW}}", "supply.grid has no effect"),
        ("site: {pue: 1.1}\ndates: {year: 2023}\nsupply: plants.yaml", "no file beside the scenario"),
        (
            "site: {pue: 1.1}\ndates: {year: 2023}" + SUN.replace("CAPACITY", "1 MW") + "  load: 10 kW",
            "less than the run",
        ),
        (
            "site: {pue: 1.1}\ndates: {year: 2023}\ncontracts: [" + CERTIFICATE.replace("ENERGY", "1 MWh") + "]",
            "reporter",
        ),
    ],
)
def test_contradictions_are_one_line_with_a_remedy(text, said):
    with pytest.raises(EnergyError) as caught:
        placed(text)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "site: {published: {provider: aws, regoin: us-east-1, year: 2023}}",
            "site.published.regoin: no such key. Nearest: region",
        ),
        ("site: {published: {provider: aws, region: us-east-1}}", "site.published.year is missing"),
        ("contracts: {id: a}", "give a list"),
        ("contracts: [{id: a, kinds: certificate}]", "contracts.0.kinds: no such key. Nearest: kind"),
        ("dates: {start: in spring}", "give the UTC hour"),
        ("dates: {start: 2024-01-01T10:30Z}", "give the UTC hour"),
        ("site: {wue_withdrawn: -1 L/kWh}", "give a finite number, 0 or more"),
        ("site: {facility: {}}", "give a name, a file, or keys"),
    ],
)
def test_what_cannot_be_read_names_its_key(text, said):
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(WORK + text, "a.yaml")
    assert said in str(caught.value)


def test_published_pue_holds_with_its_name():
    found = placed("site: {published: {provider: aws, region: us-east-1, year: 2023}}")
    assert value(found, "pue") == 1.15 and "published by aws" in found.figures["pue"].sources[0]


def test_without_a_node_overhead_nothing_is_told_of_the_meter():
    run = training_run(parse_scenario(KNOWN.replace(", node_overhead: 1.0", "") + "site: {pue: 1.1}"))
    assert "energy_facility" not in run.figures and any("--node-overhead" in note for note in run.notes)


def test_the_command_takes_the_file_beside_which_others_lie(tmp_path, capsys, monkeypatch):
    supply = SUN.replace("CAPACITY", "1 MW").replace("supply:\n", "")
    (tmp_path / "plants.yaml").write_text("\n".join(line[2:] for line in supply.splitlines()), encoding="utf-8")
    text = KNOWN + "site: {pue: 1.1}\nsupply: plants.yaml\ndates: {start: 2024-06-01}"
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    words = ["estimate", str(tmp_path / "run.yaml"), "--zone", "CAMX", "--factor-policy", "nearest any", "--json"]
    monkeypatch.setattr("sys.argv", ["energy", *words])
    try:
        cli.main()
    except SystemExit as error:
        assert not error.code
    document = json.loads(capsys.readouterr().out)
    assert document["figures"]["emissions_location"]["value"] > 0
    assert {one["method"] for one in document["factors"]} == {"location", "market"}
    assert document["scenario"]["dates"]["start"].startswith("2024-06-01T00:00")


WORKED = (
    "llama-2-70b-own-power-and-host",
    "desert-sun-and-battery",
    "gpt-3-h100",
    "llama-3.1-405b-virginia",
    "llama-3.1-405b-frankfurt",
    "llama-3.1-405b-phoenix",
    "llama-3.1-70b-air",
    "llama-3.1-70b-direct-to-chip",
    "llama-3.1-8b-bf16",
    "llama-3.1-8b-fp8",
    "llama-3.1-8b-tpu-v5p",
    "llama-3.2-1b-laptop",
    "llama-3.2-1b-wafer-scale",
)


@pytest.mark.parametrize("name", WORKED)
def test_worked_files_go_through_what_they_name(name):
    scenario = read_scenario(EXAMPLES / f"{name}.yaml")
    found = training_run(scenario)
    named = ["energy_it", "energy_facility"]
    named += ["emissions_location", "emissions_market"] if scenario.site.zone else []
    named += ["water_site_withdrawn"] if scenario.site.facility else []
    for figure in named:
        one = found.figures[figure]
        assert one.low < one.known < one.high and one.sources
    assert bool(found.factors) == (scenario.site.zone is not None)
