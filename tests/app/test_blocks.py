"""Figures, tables and charts: what they draw is what they were given, and names are never markup."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from report_fixture import small_ledger

from energy.report import build
from energy.report.model import Cell, ChartBlock, Column, Figure, FigureBlock, Row, Series, TableBlock
from energy.ui import charts, figures, notices, tables

MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def blocks():
    with small_ledger() as ledger:
        return [block for section in build(ledger, "2026Q1").sections for block in section.blocks]


def drawn(chart):
    return charts._DRAWERS[chart.kind](chart, charts.unit_of(chart))


def test_every_chart_of_the_report_is_drawn(blocks):
    import plotly.graph_objects as go

    kinds = set()
    for block in blocks:
        if isinstance(block, ChartBlock):
            kinds.add(block.kind)
            assert go.Figure(drawn(block)).data
    assert kinds >= {"tier_bars", "method_bars", "heat", "strip"}


def test_bars_are_as_long_as_their_values(blocks):
    chart = next(block for block in blocks if isinstance(block, ChartBlock) and block.kind == "tier_bars")
    form = charts.unit_of(chart)
    lengths = [length for trace in drawn(chart)["data"] if trace["type"] == "bar" for length in trace["x"]]
    stated = [value for series in chart.series for value in series.values if value is not None]
    assert sum(length or 0 for length in lengths) == pytest.approx(float(sum(stated) / form.factor))


def test_a_gap_in_a_line_stays_a_gap_and_a_missing_hour_is_not_zero():
    line = ChartBlock(
        "a",
        "lines",
        "",
        "",
        "",
        "kgCO2e",
        ("1", "2", "3"),
        (Series("location", "Location", (Decimal(1), None, Decimal(3))),),
    )
    trace = next(one for one in drawn(line)["data"] if one["mode"] == "lines+markers")
    assert trace["y"][1] is None
    assert trace["connectgaps"] is False
    heat = ChartBlock(
        "b",
        "heat",
        "",
        "",
        "",
        "W_facility",
        ("2026-01-01", "2026-01-02"),
        (Series("00", "00:00", (Decimal(1), None)),),
    )
    missing, known, *_ = drawn(heat)["data"]
    assert (known["z"], missing["z"]) == ([[known["z"][0][0], None]], [[None, 1]])


def test_names_are_text_and_never_markup():
    cell = Cell("a", Decimal(5), "kWh_facility", Decimal(4), Decimal(6))
    figure = figures.html(Figure(MARKUP, cell, "half", MARKUP, changes=((MARKUP, MARKUP),)), 25)
    column = Column("name", MARKUP, kind="text")
    table = tables.html(TableBlock("t", MARKUP, MARKUP, (column,), (Row("r", (Cell("a", MARKUP),)),)))
    chart = ChartBlock(
        "c", "tier_bars", MARKUP, "", "", "kWh_facility", (MARKUP,), (Series("measured", "m", (Decimal(1),)),)
    )
    for text in (figure, table, notices.rich(MARKUP), str(drawn(chart))):
        assert "<img" not in text


def test_a_figure_has_value_unit_range_and_how_it_is_known(blocks):
    block = next(block for block in blocks if isinstance(block, FigureBlock))
    text = figures.html(block.figures[0], 50)
    order = [text.index(f'class="{name}') for name in ("label", "value", "en-bar", "span", "known")]
    assert order == sorted(order)


def test_what_cannot_be_added_says_why_in_place_of_a_number():
    cell = Cell("a", None, "kgCO2e", mark="not added", reason="Not added: two bases.")
    text = figures.html(Figure("Scope 2", cell, "half", ""), 25)
    assert "not added" in text
    assert "Not added: two bases." in text
    assert "en-bar" not in text


def test_an_end_past_the_scale_becomes_a_point():
    inside = Cell("a", Decimal(100), "kgCO2e", Decimal(50), Decimal(150))
    beyond = replace(inside, low=Decimal(-20), high=Decimal(260))
    assert "<s " not in figures.html(Figure("x", inside, "half", ""), 100)
    text = figures.html(Figure("x", beyond, "half", ""), 100)
    assert 'class="up"' in text
    assert 'class="down"' in text


def test_no_cell_of_a_table_is_blank(blocks):
    import re

    for block in blocks:
        if isinstance(block, TableBlock):
            assert re.findall(r"<td[^>]*></td>", tables.html(block)) == []


def test_the_download_of_a_table_is_exact(blocks):
    block = next(block for block in blocks if isinstance(block, TableBlock))
    head, *rows = tables.csv_rows(block)
    values = [str(cell.value) for row in block.rows for cell in row.cells if cell.value is not None]
    assert [row[head.index("value")] for row in rows if row[head.index("value")]] == values
