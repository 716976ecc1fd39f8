"""Every page in every state: no ledger, a ledger without rows, a quarter without rows, the example."""

from __future__ import annotations

import os
import time

import pytest
from app_helpers import markup, words

from energy.report.numbers import THIN
from energy.ui.shell import MENU

FILES = [file for entries in MENU.values() for file, _, _ in entries]
WITHOUT_LEDGER = ("catalogue.py", "compare.py", "grid.py", "scenario.py", "site.py", "supply.py", "validation.py")
WITH_LEDGER = [file for file in FILES if file not in WITHOUT_LEDGER]


@pytest.mark.parametrize("file", WITH_LEDGER)
def test_without_a_ledger_each_page_says_how_to_make_one(start, file):
    seen = words(start(None, file))
    assert "No ledger here yet. Build the example with energy demo" in " ".join(seen.split())
    assert "Error" not in seen


@pytest.mark.parametrize("file", WITH_LEDGER)
def test_a_ledger_without_rows_names_the_next_command(start, empty_ledger, file):
    seen = words(start(empty_ledger, file))
    assert "energy ingest" in seen
    assert "Error" not in seen


@pytest.mark.parametrize("file", FILES)
def test_on_the_example_each_page_has_a_title_and_no_error(start, small_ledger, file):
    test = start(small_ledger, file)
    seen = words(test)
    assert test.title[0].value
    assert "could not be computed" not in seen
    assert not test.error


def test_a_folder_that_is_gone_is_named(start, tmp_path):
    assert f"Looked in {tmp_path / 'gone'}" in words(start(tmp_path / "gone"))


def test_the_overview_opens_with_eight_figures_location_before_market_in_one_pair(start, small_ledger):
    html = markup(start(small_ledger))
    assert html.count('class="en-fig"') == 8
    pair = html[html.index('class="en-pair"') :]
    assert pair.index("location-based") < pair.index("market-based") < pair.index("Scope 1")


def test_the_figures_are_the_report_s(start, small_ledger):
    from energy.ledger import Ledger
    from energy.report import build
    from energy.report.text import figures

    with Ledger(small_ledger) as reader:
        stated = {figure["id"]: figure for figure in figures(build(reader, "2026Q1"))}
    unit = stated["front.energy_facility"]["unit"]
    seen = words(start(small_ledger, quarter="2026Q1", unit=unit))
    for name in ("front.energy_facility", "front.scope2_location", "front.scope2_market", "front.pue"):
        assert stated[name]["value"] in seen
        assert stated[name]["range"] in seen


def test_the_sites_are_parts_of_the_whole(small_ledger):
    from dataclasses import replace

    from energy.ledger import Ledger
    from energy.report import held_quarters, parse_quarter
    from energy.report.facts import load_facts
    from energy.report.overview import limited

    with Ledger(small_ledger) as reader:
        one = load_facts(reader, parse_quarter("2026Q1"), held_quarters(reader))
        other = {
            name: [*getattr(one, name), *({**row, "site_id": "other"} for row in getattr(one, name))]
            for name in ("sites", "energy", "emissions", "bases", "factors_used")
        }
        facts = replace(one, **other)
        parts = [limited(facts, site) for site in facts.site_ids]
    assert len(parts) == 2
    for quantity in ("energy_it", "energy_facility"):
        assert sum(part.energy_total(quantity).value for part in parts) == facts.energy_total(quantity).value
    for method in facts.methods:
        assert sum(part.emission_total(method).value for part in parts) == facts.emission_total(method).value


@pytest.mark.parametrize("dimension", ["project", "chip", "site"])
def test_bars_and_table_of_each_grouping_add_up_to_the_total(small_ledger, dimension):
    from decimal import Decimal

    from energy.ledger import Ledger
    from energy.report import held_quarters, parse_quarter
    from energy.report.facts import load_facts
    from energy.report.overview import breakdown

    with Ledger(small_ledger) as reader:
        facts = load_facts(reader, parse_quarter("2026Q1"), held_quarters(reader))
        chart, table = breakdown(facts, dimension)
    whole = facts.energy_total("energy_facility").value
    assert sum(value or Decimal(0) for series in chart.series for value in series.values) == whole
    *rows, total = table.rows
    assert sum(row.cells[1].value for row in rows) == total.cells[1].value == whole
    if dimension == "project":
        assert list(chart.categories[-2:]) == ["idle", "unallocated"]


def test_many_projects_become_others_and_idle_stays_last(small_ledger):
    from dataclasses import replace

    from energy.ledger import Ledger
    from energy.report import held_quarters, parse_quarter
    from energy.report.facts import load_facts
    from energy.report.overview import breakdown

    with Ledger(small_ledger) as reader:
        facts = load_facts(reader, parse_quarter("2026Q1"), held_quarters(reader))
        row = next(row for row in facts.energy if row["owner_kind"] == "project")
        more = [row | {"owner": f"p{number}", "owner_key": f"p{number}"} for number in range(40)]
        chart, _ = breakdown(replace(facts, energy=[*facts.energy, *more]), "project")
    assert len(chart.categories) == 12
    assert chart.categories[-2:] == ("idle", "unallocated")
    assert chart.categories[-3].endswith("others")


def test_another_unit_changes_the_number_not_the_energy(start, small_ledger):
    first = words(start(small_ledger, unit="MWh"))
    other = words(start(small_ledger, unit="GJ"))
    assert f"{THIN}GJ" in other
    assert f"{THIN}GJ" not in first


@pytest.mark.parametrize(
    ("query", "bad"),
    [
        ({"quarter": "2026Q9", "v": "0.0.3"}, ["quarter"]),
        ({"quarter": "<b>", "site": "nowhere", "by": "project", "unit": "MWh"}, ["quarter", "site"]),
        ({"unit": "furlong"}, ["unit"]),
    ],
)
def test_a_bad_link_is_named_and_the_page_still_shows(start, small_ledger, query, bad):
    test = start(small_ledger, **query)
    seen = " ".join(words(test).split())
    assert "could not be read" in seen
    for name in bad:
        assert f"No {name} named {query[name]}" in seen
    if "v" in query:
        assert "made by version 0.0.3" in seen
    assert "Facility energy" in seen
    assert "No quarter named <b>" not in markup(test)


def test_a_good_link_is_read_without_a_word(start, small_ledger):
    test = start(small_ledger, quarter="2026Q1", by="chip", unit="kWh")
    assert "could not be read" not in words(test)
    assert "chip" in test.query_params["by"]
    assert "By chip" in words(test)


def test_an_empty_quarter_says_what_the_ledger_covers_and_leads_back(start, small_ledger):
    test = start(small_ledger, "overview.py", quarter="2031Q2")
    seen = words(test)
    assert "2031 Q2 has no rows. The ledger covers" in seen
    assert "could not be read" not in seen
    button = next(one for one in test.button if one.label.startswith("Show "))
    after = words(button.click().run())
    assert "has no rows" not in after
    assert "Facility energy" in after


def test_the_report_of_an_empty_quarter_says_so(start, small_ledger):
    assert "2031 Q2 has no rows" in words(start(small_ledger, "report.py", quarter="2031Q2"))


def test_the_report_page_offers_every_format_that_the_report_has(start, small_ledger):
    from energy.report import FORMATS

    test = start(small_ledger, "report.py")
    names = {element.proto.label for element in test.get("download_button")}
    assert len(names) >= len(FORMATS)
    for name in FORMATS:
        assert any(name.upper() in label for label in names)


def test_a_newer_version_is_said_and_numbers_stay_until_it_is_asked_for(start, own_ledger):
    test = start(own_ledger)
    assert "A newer ledger" not in words(test)
    before = own_ledger / "ledger-1.duckdb"
    later = own_ledger / "ledger-2.duckdb"
    later.write_bytes(before.read_bytes())
    os.utime(later, (time.time() + 60, time.time() + 60))
    staged = own_ledger / "staged"
    staged.symlink_to(later.name)
    staged.replace(own_ledger / "ledger.duckdb")
    test.run()
    seen = words(test)
    assert "A newer ledger was published at" in seen
    assert ", version 1" in seen
    test.button(key="ledger.load").click().run()
    assert ", version 2" in words(test)


def test_a_fault_of_the_program_is_a_number_and_never_a_traceback(start, small_ledger, monkeypatch, caplog):
    from energy.ui import data

    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(data, "overview_of", broken)
    seen = words(start(small_ledger))
    assert "this page could not be computed" in seen
    assert "secret detail" not in seen
    assert "secret detail" in caplog.text


def test_another_ledger_can_be_opened_and_a_folder_that_is_none_is_refused(
    start, small_ledger, empty_ledger, monkeypatch
):
    monkeypatch.setattr("energy.ui.state.may_choose", lambda: True)
    test = start(small_ledger, quarter="2026Q1")
    test.text_input(key="ledger.typed").set_value(str(small_ledger.parent / "nothing"))
    test.button(key="ledger.go").click().run()
    assert "No ledger at" in test.error[0].value
    assert "Facility energy" in words(test)
    test.text_input(key="ledger.typed").set_value(str(empty_ledger))
    test.button(key="ledger.go").click().run()
    assert "energy ingest" in words(test)


def test_other_addresses_may_not_open_other_folders(start, small_ledger, monkeypatch):
    from energy.ui import state

    monkeypatch.setattr(state, "may_choose", lambda: False)
    test = start(small_ledger)
    assert not test.text_input
    assert state.folders() == [str(small_ledger)]
