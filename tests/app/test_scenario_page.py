"""The page Scenario: figures are those of `energy estimate`, what is moved moves them, and the link carries it all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from app_helpers import words

from energy.report.numbers import THIN
from energy.scenario import parse_scenario, read_scenario, training_run
from energy.ui import scenario_data, scenario_run
from energy.ui.scenario_form import _NAMES

PAGE = "scenario.py"
START = "llama-3.1-8b-bf16"


def plain(test):
    return " ".join(words(test).replace(THIN, " ").split())


def slider(test, label):
    (found,) = [one for one in test.select_slider if one.label == label]
    return found


def number(test, label):
    (found,) = [one for one in test.number_input if one.label == label]
    return found


def choice(test, label):
    (found,) = [one for one in test.selectbox if one.label == label]
    return found


# --- what it says ---


def test_the_first_view_is_a_run_with_its_chain_step_memory_and_levers(start):
    seen = plain(start(None, PAGE))
    for part in ("Time of the work", "Energy at the meter", "Scope 2, location-based", "Scope 2, market-based"):
        assert part in seen
    assert "of the energy at the meter" in seen and "What the chips do in a step" in seen
    assert "What a chip holds" in seen and "What matters most for Scope 2, location-based" in seen
    assert "give the price of a chip-hour" in seen and "Where from" in seen


@pytest.mark.parametrize("name", sorted(scenario_data.starts()))
def test_every_worked_scenario_is_a_start_with_the_figures_of_its_file(start, name):
    test = start(None, PAGE, start=name)
    seen = plain(test)
    assert "Not computed" not in seen and scenario_data.starts()[name] in seen
    run = training_run(read_scenario(scenario_data.folder() / f"{name}.yaml"), scenario_data.folder())
    found = scenario_run.found(scenario_run.text_of(scenario_data.keys_of(name), {})).run
    assert {key: one.value for key, one in found.figures.items()} == {k: one.value for k, one in run.figures.items()}


def test_a_moved_value_is_that_of_the_same_file_and_stands_against_the_start(start):
    test = start(None, PAGE)
    before = plain(test)
    assert "against the start" not in before
    slider(test, "PUE").set_value("1.50").run()
    seen = plain(test)
    assert "+25.0 % against the start" in seen and seen != before
    assert test.query_params["pue"] == "1.50"
    keys = yaml.safe_load((scenario_data.folder() / f"{START}.yaml").read_text())
    keys["site"]["pue"] = 1.5
    run = training_run(parse_scenario(yaml.safe_dump(keys)))
    shown = scenario_run.found(scenario_run.text_of(scenario_data.keys_of(START), {"site.pue": 1.5})).run
    assert shown.figures["energy_facility"] == run.figures["energy_facility"]


def test_numbers_choices_and_sliders_all_move_the_run(start):
    test = start(None, PAGE)
    for move in (
        lambda: number(test, "Tokens, billions").set_value(500.0),
        lambda: number(test, "Chips").set_value(128.0),
        lambda: slider(test, "Power limit, share of the chip's").set_value("60"),
        lambda: choice(test, "Precision").set_value("fp8"),
        lambda: number(test, "Chip-hour, USD").set_value(2.0),
        lambda: choice(test, "Grid zone").set_value("DEU"),
    ):
        before = plain(test)
        move().run()
        after = plain(test)
        assert "Not computed" not in after and after != before
    assert "USD" in plain(test)


def test_another_start_forgets_what_was_moved(start):
    test = start(None, PAGE)
    slider(test, "PUE").set_value("1.50").run()
    choice(test, "Start from").set_value("gpt-3-h100").run()
    assert "against the start" not in plain(test)
    assert slider(test, "PUE").value == "1.10"
    assert test.query_params["start"] == "gpt-3-h100" and test.query_params["pue"] == "1.10"


def test_a_hall_has_months_and_no_pue_to_move(start):
    test = start(None, PAGE, start="llama-3.1-70b-air")
    assert not [one for one in test.select_slider if one.label == "PUE"]
    before = plain(test)
    slider(test, "First month").set_value("12").run()
    after = plain(test)
    assert "Not computed" not in after and after != before


# --- what cannot be ---


def test_a_run_that_cannot_be_says_so_in_one_line_and_the_form_stays(start):
    test = start(None, PAGE)
    choice(test, "Model").set_value("llama31_405b").run()
    seen = plain(test)
    assert "Not computed." in seen or "Time of the work" in seen
    number(test, "Chips").set_value(1.0).run()
    seen = plain(test)
    assert "Not computed." in seen and "does not fit" in seen and len(test.number_input) > 3
    assert not test.exception


def test_bad_values_of_a_link_are_named_and_the_rest_holds(start):
    test = start(None, PAGE, start="nothing", pue="soon", chips="-5", tokens="2000", v="0.0.1")
    seen = plain(test)
    assert "No start named nothing" in seen and "No pue named soon" in seen and "chips is -5" in seen.replace("`", "")
    assert number(test, "Tokens, billions").value == 2000.0
    assert not test.exception


def test_every_name_in_the_address_is_forgotten_with_its_start(start):
    seen = set()
    for name in scenario_data.starts():
        test = start(None, PAGE, start=name)
        seen |= set(test.query_params)
    assert seen - {"start", "v"} <= set(_NAMES)


def test_a_file_that_is_no_scenario_is_refused_in_one_line():
    from energy.errors import EnergyError

    for text in ("[1]", "work: {modle: x}", "work: {model: Llama 3.1 8B}\nsystem: {chip: H100, chips: 0}"):
        with pytest.raises(EnergyError) as caught:
            scenario_data.read_keys(text, "mine.yaml")
        assert "\n" not in str(caught.value)


# --- what is taken away ---


def test_files_hold_what_is_shown(start):
    text = scenario_run.text_of(scenario_data.keys_of(START), {"system.chips": 64})
    found = scenario_run.found(text)
    again = training_run(parse_scenario(text))
    rows = scenario_data.csv_of(found)
    assert rows[0][:3] == ["figure", "value", "unit"]
    values = {row[0]: row[1] for row in rows[1:]}
    assert values["energy_facility"] == repr(again.figures["energy_facility"].value)
    json.dumps(found.run.document(), default=str)


def test_ways_back_lead_to_the_figure():
    found = scenario_run.found(scenario_run.text_of(scenario_data.keys_of(START), {}))
    for name, steps in scenario_data.steps_of(found).items():
        assert steps[-1].cell.id == name and all(step.source for step in steps)


# --- in a browser ---

CHROMIUM = Path(os.environ.get("ENERGY_CHROMIUM", "/usr/bin/chromium"))


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"no Chromium at {CHROMIUM}; name it in ENERGY_CHROMIUM")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


def settled(page):
    page.wait_for_selector(".en-fig .value", timeout=60_000)
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=60_000)


def figures(page):
    settled(page)
    return page.locator(".en-figs").first.inner_text()


def test_a_slider_moves_a_number_and_the_link_shows_it_again(browser, server):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(f"{server}/scenario")
    before = figures(page)
    thumb = page.get_by_role("slider", name="PUE")
    thumb.focus()
    for _ in range(5):
        thumb.press("ArrowRight")
    page.get_by_text("against the start").first.wait_for(timeout=30_000)
    page.wait_for_url("**/scenario?*pue=1.25*")
    after = figures(page)
    assert after != before and parse_qs(urlsplit(page.url).query)["pue"] == ["1.25"]
    other = browser.new_page(viewport={"width": 1280, "height": 900})
    other.goto(page.url)
    assert figures(other) == after
    page.close()
    other.close()


def test_eight_readers_at_once_see_the_numbers_of_one(browser, server):
    asked = [f"{server}/scenario?start={START}&pue={pue}" for pue in ("1.10", "1.20", "1.30", "1.40")]
    alone = {}
    for address in asked:
        page = browser.new_page()
        page.goto(address)
        alone[address] = figures(page)
        page.close()
    assert len(set(alone.values())) == len(asked)
    pages = [(address, browser.new_page()) for address in asked * 2]
    for address, page in pages:
        page.goto(address, wait_until="commit")
    for address, page in pages:
        assert figures(page) == alone[address]
        page.close()
