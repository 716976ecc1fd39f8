"""Report: choose a quarter, see it as it prints, download every format."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from energy.report import FORMATS
from energy.report.period import parse_quarter
from energy.ui import data, shell, words
from energy.ui.filters import Filters
from energy.ui.notices import notes, notice
from energy.ui.state import Opened

_MIMES = {
    "html": "text/html",
    "json": "application/json",
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "pdf": "application/pdf",
}
_LABELS = {"html": "HTML", "json": "JSON", "csv": "CSV", "xlsx": "workbook (XLSX)", "pdf": "PDF"}
_AT_ONCE = ("html", "json", "csv")
_PREVIEW_PX = 900


def page(ledger: Opened) -> None:
    """Show the page."""
    quarters = data.quarter_options(ledger)
    if not quarters:
        st.title("Carbon report")
        notice("No data.", [words.NO_DATA_YET])
        return
    title = st.empty()
    left, right = st.columns([3, 9], gap="large")
    filters = Filters("report")
    with left:
        quarter = filters.choice("Quarter", "quarter", quarters, data.latest(ledger))
        title.title(f"Carbon report, {quarters[quarter]}")
        filters.done()
        if quarter not in data.held(ledger).quarters:
            notice("", [data.held(ledger).empty_message(parse_quarter(quarter))])
        _about(ledger, quarter)
    with right:
        html = data.report_files(ledger, quarter, "html")["report.html"].decode()
        st.iframe(html, height=_PREVIEW_PX, alt=f"Preview of the carbon report, {quarters[quarter]}")
    with left:
        _downloads(ledger, quarter)


def _about(ledger: Opened, quarter: str) -> None:
    made = data.report(ledger, quarter)
    facts = {
        "Status": made.status,
        "Ledger": f"version {made.ledger_version}",
        "Run": made.run_id,
        "Boundary": made.boundary,
    }
    notes(f"{name}: {value}" for name, value in facts.items())


def _downloads(ledger: Opened, quarter: str) -> None:
    """Offer every format that the report has; a slow one is written when it is asked for."""
    for name in FORMATS:
        if name in _AT_ONCE:
            for file, content in data.report_files(ledger, quarter, name).items():
                _button(quarter, file, content)
        else:
            file = f"report.{name}"
            _button(quarter, file, partial(_content, ledger, quarter, name, file))
    notes([f"The same files are written by `energy report {quarter} --ledger DIR`."])


def _content(ledger: Opened, quarter: str, name: str, file: str) -> bytes:
    return data.report_files(ledger, quarter, name)[file]


def _button(quarter: str, file: str, content: bytes | Callable[[], bytes]) -> None:
    stem, _, suffix = file.rpartition(".")
    label = _LABELS.get(suffix, suffix.upper())
    name = label if stem == "report" else f"{stem.replace('_monthly', ' by month')} ({suffix.upper()})"
    st.download_button(
        f"Download {name}",
        content,
        file_name=f"{quarter}_{file}",
        mime=_MIMES.get(suffix, "application/octet-stream"),
        key=f"report.{file}",
        on_click="ignore",
        width="stretch",
        wrap=True,
    )


shell.run(page)
