"""The Overview's choice of the report: the same numbers, of the whole or of a site, now and before."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from report_fixture import small_ledger

from energy.errors import UnknownNameError
from energy.report import build, held_quarters, parse_quarter
from energy.report.display import ENERGY_UNITS, figure_text
from energy.report.facts import load_facts
from energy.report.model import Cell, FigureBlock
from energy.report.overview import DIMENSIONS, breakdown, chart_rows, limited, overview


@pytest.fixture(scope="module")
def ledger():
    with small_ledger() as made:
        yield made


@pytest.fixture(scope="module")
def facts(ledger):
    return load_facts(ledger, parse_quarter("2026Q1"), held_quarters(ledger))


@pytest.fixture(scope="module")
def front(ledger):
    blocks = build(ledger, "2026Q1").sections[0].blocks
    return {figure.cell.id: figure for block in blocks if isinstance(block, FigureBlock) for figure in block.figures}


def test_each_figure_that_is_known_is_the_report_s(facts, front):
    shown = overview(facts).figures
    assert len(shown) == 8
    for figure in shown:
        if figure.cell.value is not None:
            assert figure == front[figure.cell.id]
    names = [figure.cell.id for figure in shown]
    assert names.index("front.scope2_market") == names.index("front.scope2_location") + 1


def test_what_is_not_covered_is_no_data_and_not_zero(facts):
    absent = [figure for figure in overview(facts).figures if figure.cell.value is None]
    assert {figure.label for figure in absent} >= {"Scope 1", "Scope 3", "Water"}
    assert all(figure.cell.mark and figure.cell.reason for figure in absent)


def test_the_sites_add_up_to_the_whole(facts):
    parts = [limited(facts, site) for site in facts.site_ids]
    assert len(parts) == 2
    for quantity in ("energy_chip", "energy_it", "energy_facility"):
        assert sum(part.energy_total(quantity).value for part in parts) == facts.energy_total(quantity).value
    assert sum(len(part.gaps) for part in parts) == len(facts.gaps)


def test_a_site_that_is_not_there_is_named_with_the_nearest(facts):
    with pytest.raises(UnknownNameError, match=f"No site named {facts.site_ids[0]}x in 2026 Q1"):
        limited(facts, facts.site_ids[0] + "x")


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_bars_and_rows_add_up_to_the_total(facts, dimension):
    chart, table = breakdown(facts, dimension)
    whole = facts.energy_total("energy_facility").value
    assert sum(value or Decimal(0) for series in chart.series for value in series.values) == whole
    *rows, total = table.rows
    known = [row.cells[1].value for row in rows if row.cells[1].value is not None]
    assert sum(known) == total.cells[1].value == whole


def test_a_grouping_that_is_not_there_is_named(facts):
    with pytest.raises(UnknownNameError, match=r"No grouping named projekt\. Nearest: project"):
        breakdown(facts, "projekt")


def test_thirteen_quarters_are_a_line_for_each_method(facts):
    quarters = [f"{year}Q{number}" for year in (2023, 2024, 2025) for number in (1, 2, 3, 4)]
    chips = ("chip_h", "idle_chip_h", "project_chip_h", "unallocated_chip_h")
    kwh = ("energy_it_kwh", "energy_facility_kwh", "energy_facility_low_kwh", "energy_facility_high_kwh")
    energy = [{"quarter": name} | dict.fromkeys((*chips, *kwh), Decimal(100)) for name in quarters]
    tonnes = ("emissions_kgco2e", "emissions_low_kgco2e", "emissions_high_kgco2e")
    emissions = [
        {"quarter": name, "site_id": facts.site_ids[0], "method": method} | dict.fromkeys(tonnes, Decimal(7))
        for name in quarters
        for method in ("location", "market")
    ]
    seen = overview(replace(facts, history_energy=energy, history_emissions=emissions))
    assert seen.scope2.kind == "lines"
    assert (seen.scope2.categories[0], seen.scope2.categories[-1]) == ("2023 Q1", "2026 Q1")
    assert [series.key for series in seen.scope2.series] == ["location", "market"]
    assert all(len(series.values) == 13 for series in seen.scope2.series)
    assert seen.figures[0].changes


def test_every_value_of_a_chart_is_in_its_data(facts):
    chart, _ = breakdown(facts, "project")
    head, *rows = chart_rows(chart)
    assert head == ("category", "series", "value", "low", "high", "unit")
    assert len(rows) == len(chart.categories) * len(chart.series)
    assert sum(Decimal(row[2]) for row in rows if row[2]) == facts.energy_total("energy_facility").value


@pytest.mark.parametrize("unit", ENERGY_UNITS)
def test_a_unit_that_is_asked_for_is_kept_for_any_size(unit):
    for value in (Decimal("0.5"), Decimal(1000), Decimal("1e9")):
        cell = Cell("a", value, "kWh_facility", value * Decimal("0.9"), value * Decimal("1.1"))
        text = figure_text(cell, unit)
        assert text.unit == unit
        number = Decimal(text.value.replace("\u202f", ""))
        assert number == pytest.approx(value * 1000 * ENERGY_UNITS[unit], rel=Decimal("0.06"))


def test_one_mwh_is_three_point_six_gj_and_emissions_keep_their_unit():
    cell = Cell("a", Decimal(1000), "kWh_facility", Decimal(999), Decimal(1001))
    assert figure_text(cell, "GJ").value == "3.6000"
    assert figure_text(Cell("b", Decimal(1000), "kgCO2e"), "GJ").unit == "tCO₂e"
