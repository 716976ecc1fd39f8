"""``python -m energy.ui run app.py``: Streamlit's server, with what the first page needs loaded while it starts."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from pathlib import Path

from energy.errors import EnergyError

_NEEDED = (
    "energy.ledger.reader",
    "energy.report.overview",
    "energy.ui.charts",
    "energy.ui.data",
    "duckdb",
    "plotly.graph_objects",
)

#: What comes after waits so long, so that it takes nothing from the first reader's page.
_FIRST_READER_S = 2.0


def _load() -> None:
    for name in _NEEDED:
        importlib.import_module(name)
    _ask_first_page()
    time.sleep(_FIRST_READER_S)
    _run_first_scenario()


def _run_first_scenario() -> None:
    """Run what the page Scenario begins with, which reads the tables of chips, models and kernels."""
    from energy.ui import scenario_form

    scenario_form.load()


def _ask_first_page() -> None:
    """Ask what the first page will ask, so that the first reader finds it answered."""
    from energy.ui import data, state

    for folder in state.folders()[:1]:
        try:
            opened = state.published(Path(folder))
            quarter = data.latest(opened)
            if quarter:
                data.overview_of(opened, quarter)
        except EnergyError:
            return  # the page will say what is wrong


def main() -> None:
    """Start the server; its words are Streamlit's own. Refused in one line where it would be open to everybody."""
    from streamlit.web import cli

    from energy.ui import sign_in

    try:
        sign_in.check_start(sys.argv[1:], os.environ)
    except EnergyError as error:
        sys.stderr.write(f"energy: {error}\n")
        sys.exit(1)
    threading.Thread(target=_load, daemon=True).start()
    cli.main(prog_name="streamlit")


if __name__ == "__main__":
    main()
