"""What the page of the fleet asks, each once for all readers: versions never change, so neither do answers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from energy.report.fleet import Fleet, fleet
from energy.report.fleet_choice import Choice
from energy.report.fleet_lists import devices, top_jobs
from energy.report.model import TableBlock
from energy.ui import data
from energy.ui.state import Opened

_CHOICES = 128


def fleet_of(opened: Opened, quarter: str, choice: Choice) -> Fleet:
    """Return what the page shows of one choice."""
    return _fleet(*opened.key, quarter, choice.site, choice.project, choice.chip, choice.tier)


@st.cache_resource(show_spinner=False, max_entries=_CHOICES)
def _fleet(folder: str, version: int, stamp: int, quarter: str, site: str, project: str, chip: str, tier: str) -> Fleet:
    return fleet(data.facts(Opened(folder, version, stamp), quarter), Choice(site, project, chip, tier))


def jobs_of(opened: Opened, quarter: str, choice: Choice) -> TableBlock:
    """Return the jobs with the most energy of one choice."""
    return _jobs(*opened.key, quarter, choice.site, choice.project, choice.chip, choice.tier)


@st.cache_resource(show_spinner=False, max_entries=_CHOICES)
def _jobs(
    folder: str, version: int, stamp: int, quarter: str, site: str, project: str, chip: str, tier: str
) -> TableBlock:
    return top_jobs(data.facts(Opened(folder, version, stamp), quarter), Choice(site, project, chip, tier))


def devices_of(opened: Opened, quarter: str, choice: Choice) -> TableBlock:
    """Return the devices that were read, of the sites and chips of one choice."""
    return _devices(*opened.key, quarter, choice.site, choice.chip)


@st.cache_resource(show_spinner=False, max_entries=_CHOICES)
def _devices(folder: str, version: int, stamp: int, quarter: str, site: str, chip: str) -> TableBlock:
    return devices(data.facts(Opened(folder, version, stamp), quarter), Choice(site=site, chip=chip))


def next_steps(opened: Opened) -> tuple[tuple[str, str], ...]:
    """Return what the doctor finds missing or odd, and the command against it; the folder reads ``DIR``."""
    return _next_steps(*opened.key)


@st.cache_resource(show_spinner=False, max_entries=8)
def _next_steps(folder: str, version: int, stamp: int) -> tuple[tuple[str, str], ...]:
    import shlex

    from energy.ledger.diagnosis import doctor

    del version, stamp
    found = doctor(Path(folder)).findings
    names = (shlex.quote(folder), folder)

    def without_folder(text: str) -> str:
        for name in names:
            text = text.replace(name, "DIR")
        return text

    return tuple((without_folder(one.text), without_folder(one.remedy)) for one in found if one.level != "good")
