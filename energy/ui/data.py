"""What pages ask of a ledger, each asked once for all readers: versions never change, so neither do answers.

Arguments of caches are plain values; ``Opened.key`` stands for the ledger. What is returned is shared: never change it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st

from energy.report.facts import QuarterFacts, load_facts
from energy.report.model import ChartBlock, Report, TableBlock
from energy.report.overview import Overview, breakdown, limited, overview
from energy.report.period import Held, Quarter, held_quarters, parse_quarter
from energy.ui.state import Opened

_LEDGERS = 8
_QUARTERS = 64
ALL_SITES = "all"
QUARTER_FORM = re.compile(r"(?:19|20)\d\dQ[1-4]")


def held(opened: Opened) -> Held:
    """Return the quarters that the ledger holds."""
    return _held(*opened.key)


@st.cache_resource(show_spinner=False, max_entries=_LEDGERS)
def _held(folder: str, version: int, stamp: int) -> Held:
    return held_quarters(Opened(folder, version, stamp))


def latest(opened: Opened) -> str:
    """Return the last quarter that the ledger holds whole, else the last with rows; empty where it has none."""
    known = held(opened)
    whole = [name for name in known.quarters if known.whole(parse_quarter(name))]
    return (whole or list(known.quarters) or [""])[-1]


def quarter_options(opened: Opened) -> dict[str, str]:
    """Return the quarters to choose from, the last first: all from the first to the last with rows, gaps included.

    A quarter that the address names is among them even without rows, so that the page can say so.
    """
    names = held(opened).quarters
    if not names:
        return {}
    quarter, first = parse_quarter(names[-1]), parse_quarter(names[0])
    out: list[Quarter] = [quarter]
    while out[-1] > first:
        out.append(out[-1].previous)
    asked = st.query_params.get("quarter", "")
    if QUARTER_FORM.fullmatch(asked):
        out = sorted({*out, parse_quarter(asked)}, reverse=True)
    return {one.key: one.text for one in out}


def facts(opened: Opened, quarter: str, site: str = ALL_SITES) -> QuarterFacts:
    """Return the facts of a quarter, which every figure of the report and the app is made from.

    Parameters
    ----------
    opened : Opened
        The ledger.
    quarter : str
        As ``2026Q1``.
    site : str
        Id of a site, or ``all``.
    """
    return _facts(*opened.key, quarter, site)


@st.cache_resource(show_spinner="Reading the ledger", max_entries=_QUARTERS)
def _facts(folder: str, version: int, stamp: int, quarter: str, site: str) -> QuarterFacts:
    opened = Opened(folder, version, stamp)
    if site != ALL_SITES:
        return limited(facts(opened, quarter), site)
    return load_facts(opened, parse_quarter(quarter), held(opened))


def overview_of(opened: Opened, quarter: str, site: str = ALL_SITES) -> Overview:
    """Return what the Overview shows."""
    return _overview(*opened.key, quarter, site)


@st.cache_resource(show_spinner=False, max_entries=_QUARTERS)
def _overview(folder: str, version: int, stamp: int, quarter: str, site: str) -> Overview:
    return overview(facts(Opened(folder, version, stamp), quarter, site))


def breakdown_of(
    opened: Opened, quarter: str, site: str, dimension: str, energy_unit: str = ""
) -> tuple[ChartBlock, TableBlock]:
    """Return bars and table of facility energy and Scope 2 by project, chip or site."""
    return _breakdown(*opened.key, quarter, site, dimension, energy_unit)


@st.cache_resource(show_spinner=False, max_entries=4 * _QUARTERS)
def _breakdown(
    folder: str, version: int, stamp: int, quarter: str, site: str, dimension: str, energy_unit: str
) -> tuple[ChartBlock, TableBlock]:
    return breakdown(facts(Opened(folder, version, stamp), quarter, site), dimension, energy_unit)


def report(opened: Opened, quarter: str) -> Report:
    """Return the report of a quarter."""
    return _report(*opened.key, quarter)


@st.cache_resource(show_spinner="Writing the report", max_entries=_LEDGERS)
def _report(folder: str, version: int, stamp: int, quarter: str) -> Report:
    from energy.report import build

    return build(Opened(folder, version, stamp), quarter)


def report_files(opened: Opened, quarter: str, name: str) -> dict[str, bytes]:
    """Return the files of a report in one format, as ``energy report`` writes them.

    Parameters
    ----------
    opened : Opened
        The ledger.
    quarter : str
        As ``2026Q1``.
    name : str
        One of ``energy.report.FORMATS``.
    """
    return _report_files(*opened.key, quarter, name)


@st.cache_resource(show_spinner=False, max_entries=4 * _LEDGERS)
def _report_files(folder: str, version: int, stamp: int, quarter: str, name: str) -> dict[str, bytes]:
    from energy.report import write

    made = report(Opened(folder, version, stamp), quarter)
    with TemporaryDirectory() as temporary:
        return {path.name: path.read_bytes() for path in write(made, Path(temporary), (name,))}


def rows(opened: Opened, sql: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """Return the rows of one of the app's own queries; sums belong into the views, not here.

    Parameters
    ----------
    opened : Opened
        The ledger.
    sql : str
        A query written in the app; what readers type goes through ``Ledger.sql``.
    parameters : sequence
        Plain values for its question marks.
    """
    return _rows(*opened.key, sql, tuple(parameters))


@st.cache_resource(show_spinner=False, max_entries=256)
def _rows(folder: str, version: int, stamp: int, sql: str, parameters: tuple[Any, ...]) -> list[dict[str, Any]]:
    return Opened(folder, version, stamp).rows(sql, parameters)
