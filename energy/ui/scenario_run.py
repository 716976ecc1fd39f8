"""Runs of scenarios, each computed once for all readers. What is returned is shared: never change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st
import yaml

from energy.scenario.sweep_file import with_keys
from energy.ui import scenario_data
from energy.ui.scenario_data import Keys, ScenarioFound

if TYPE_CHECKING:
    from energy.ui import compare_data

_RESULTS = 256


def text_of(keys: Keys, moved: Keys) -> str:
    """Return a start with what was moved as the text of a scenario file."""
    return yaml.safe_dump(with_keys(keys, moved), sort_keys=False, allow_unicode=True)


@st.cache_resource(show_spinner="Running the sweep", max_entries=8)
def swept(text: str) -> compare_data.SweepFound:
    """Return what a sweep's text finds."""
    from energy.ui import compare_data

    return compare_data.swept(text)


@st.cache_resource(show_spinner=False, max_entries=_RESULTS)
def found(text: str) -> ScenarioFound:
    """Return the run of a scenario's text."""
    return scenario_data.found_of(scenario_data.read_keys(text, "scenario"), {})
