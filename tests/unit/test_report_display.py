"""Columns, charts, periods: the rules of how values are written and drawn."""

from decimal import Decimal

import pytest

from energy.report import charts, display
from energy.report.model import Cell, ChartBlock, Column, Series
from energy.report.numbers import THIN
from energy.report.period import Quarter, day_text, parse_quarter

ENERGY = Column("facility", "Facility energy", "kWh_facility", ranged=True)


def cell(value, low=None, high=None, unit="kWh_facility"):
    parts = [None if part is None else Decimal(str(part)) for part in (value, low, high)]
    return Cell("x", parts[0], unit, parts[1], parts[2])


def test_a_column_has_one_prefix_and_one_count_of_decimals():
    values = [cell(512_400), cell(391_000), cell(1_284_000)]
    form = display.column_format(ENERGY, values)
    assert display.header(ENERGY, form) == "Facility energy, GWh"
    assert [display.cell_text(one, ENERGY, form).value for one in values] == ["0.51", "0.39", "1.28"]


def test_a_small_value_is_below_the_last_digit_and_never_zero():
    form = display.ColumnFormat(Decimal(1000), "MWh", 0)
    assert display.cell_text(cell("0.4"), ENERGY, form).value == f"<{THIN}1"
    assert display.cell_text(cell(0), ENERGY, form).value == "0"


def test_missing_is_words():
    gone = Cell("x", None, "kWh_facility", mark="no data", reason="why")
    assert display.figure_text(gone) == display.CellText("no data", muted=True, title="why")
    form = display.column_format(ENERGY, [gone])
    assert display.cell_text(gone, ENERGY, form).value == "no data"


def test_pue_has_two_decimals():
    assert display.figure_text(cell("1.2", "1.18", "1.224", "kWh_facility/kWh_it")).value == "1.20"
    assert display.figure_text(cell("1.2", "1.18", "1.224", "kWh_facility/kWh_it")).range.endswith("1.22")


def test_every_unit_of_the_report_has_words():
    assert all(unit.family or unit.words or name in ("", "%") for name, unit in display.UNITS.items())


@pytest.mark.parametrize(
    ("low", "high", "scale"), [(95, 105, 10), (80, 105, 25), (60, 105, 50), (10, 105, 100), (10, 300, 100)]
)
def test_the_scale_of_range_bars_is_the_smallest_that_holds_all(low, high, scale):
    assert display.bar_scale([cell(100, low, high)]) == scale


@pytest.mark.parametrize("largest", [0.003, 0.7, 1, 9.99, 37, 318, 1284, 99_999])
def test_ticks_start_at_0_and_are_at_most_six(largest):
    marks = charts.ticks(largest)
    assert marks[0] == 0
    assert marks[-1] >= largest
    assert 2 <= len(marks) <= 6


def test_a_missing_quarter_leaves_a_gap_in_the_line():
    values = (Decimal(1), None, Decimal(3), Decimal(4))
    chart = ChartBlock(
        "a.b", "lines", "h", "s", "alt.", "kgCO2e", ("1", "2", "3", "4"), (Series("location", "L", values),)
    )
    drawn = charts.svg(chart, 720)
    line = drawn.split('class="l-location"')[0].rsplit('d="', 1)[1]
    assert line.count("M") == 2


def test_all_missing_lines_and_bars_are_drawn_without_error():
    gone = Series("location", "Location", (None, None))
    for kind in ("lines", "method_bars"):
        chart = ChartBlock("a.b", kind, "h", "s", "alt.", "kgCO2e", ("1", "2"), (gone,))
        assert charts.svg(chart, 360).startswith("<svg")


def test_texts_of_a_chart_are_escaped():
    series = Series("measured", "measured", (Decimal(1),))
    chart = ChartBlock("a.b", "tier_bars", "<h>", "s", "a & b", "kWh_facility", ("<script>",), (series,))
    drawn = charts.svg(chart, 720)
    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn


def test_quarters():
    quarter = parse_quarter(" 2026q4 ")
    assert quarter == Quarter(2026, 4)
    assert quarter.months == ("2026-10", "2026-11", "2026-12")
    assert (day_text(quarter.first_day), day_text(quarter.last_day)) == ("1 Oct 2026", "31 Dec 2026")
    assert Quarter(2024, 1).hours == 91 * 24
