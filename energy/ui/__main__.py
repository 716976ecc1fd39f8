"""``python -m energy.ui run app.py``: Streamlit's server, with what the first page needs loaded while it starts."""

from __future__ import annotations

import importlib
import threading

_NEEDED = (
    "energy.ledger.reader",
    "energy.report.overview",
    "energy.ui.charts",
    "energy.ui.data",
    "duckdb",
    "plotly.graph_objects",
)


def _load() -> None:
    for name in _NEEDED:
        importlib.import_module(name)


def main() -> None:
    """Start the server; its words are Streamlit's own."""
    from streamlit.web import cli

    threading.Thread(target=_load, daemon=True).start()
    cli.main(prog_name="streamlit")


if __name__ == "__main__":
    main()
