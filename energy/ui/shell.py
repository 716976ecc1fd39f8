"""The shell: the menu over the page files, the open ledger, and what is shown when something is not as it should be."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from energy.errors import EnergyError
from energy.ui import sign_in, state, theme, words
from energy.ui.notices import notice
from energy.ui.state import Opened

_LOG = logging.getLogger(__name__)
_PAGES = Path(__file__).parent / "pages"
_SIDEBAR_PX = 212
_STALE_EVERY_S = 20

# Groups of the menu, each page as file, title and address; the first page stands at the root.
MENU: dict[str, tuple[tuple[str, str, str], ...]] = {
    "Ledger": (
        ("overview.py", "Overview", "overview"),
        ("fleet.py", "Fleet & jobs", "fleet"),
        ("report.py", "Report", "report"),
        ("sql.py", "SQL", "sql"),
    ),
    "What if": (
        ("scenario.py", "Scenario", "scenario"),
        ("compare.py", "Compare & sweep", "compare"),
    ),
    "Place and power": (
        ("site.py", "Site", "site"),
        ("supply.py", "Supply", "supply"),
        ("grid.py", "Grid", "grid"),
    ),
    "Evidence": (
        ("catalogue.py", "Catalogue", "catalogue"),
        ("validation.py", "Validation", "validation"),
    ),
}


def main() -> None:
    """Run the app once, for one reader."""
    st.set_page_config(page_title=theme.LOGO_TEXT, layout="wide", initial_sidebar_state=_SIDEBAR_PX)
    theme.load()
    st.logo(theme.logo(theme.name()), size="large")
    first = next(iter(MENU.values()))[0][0]
    pages = {
        group: [
            st.Page(_PAGES / file, title=title, url_path=address, default=file == first)
            for file, title, address in entries
        ]
        for group, entries in MENU.items()
    }
    allowed = sign_in.gate()
    page = st.navigation(pages, position="sidebar" if allowed else "hidden")
    if not allowed:
        return
    _guarded(page.run)
    with st.sidebar:
        state.chooser()
        sign_in.account(state.forget_private)


def run(page: Callable[[Opened], None], *, without: Callable[[], None] | None = None) -> None:
    """Run a page that needs a ledger; the last line of its file. Outside the app it does nothing.

    Parameters
    ----------
    page : callable
        Takes the open ledger.
    without : callable, optional
        Shows what the page offers where there is no ledger, under the notice that says so.
    """
    if get_script_run_ctx(suppress_warning=True) is None:
        return
    try:
        opened = state.open_ledger()
        opened.rows("SELECT 1 AS answer")
    except EnergyError as error:
        st.title("No ledger" if state.chosen_folder() is None else "The ledger cannot be read")
        notice("", [str(error)])
        if without is not None:
            without()
        return
    if state.is_upload(opened):
        notice(f"{words.YOUR_UPLOAD}.", [words.UPLOAD_SHOWN])
    _stale(opened)
    page(opened)


def run_free(page: Callable[[], None]) -> None:
    """Run a page that needs no ledger; the last line of its file. Outside the app it does nothing."""
    if get_script_run_ctx(suppress_warning=True) is not None:
        page()


def _guarded(action: Callable[[], None]) -> None:
    """Show a stated error as a notice, any other as a number whose traceback stands in the server's log."""
    try:
        action()
    except EnergyError as error:
        notice("", [str(error)])
    except Exception:
        number = secrets.token_hex(2)
        _LOG.exception("error %s", number)
        notice("", [words.program_error(number)], error=True)


def _stale(opened: Opened) -> None:
    """Say that a newer version was published; the reader decides when numbers change."""

    @st.fragment(run_every=_STALE_EVERY_S)
    def look() -> None:
        latest = state.newer(opened)
        if latest is None:
            return
        notice("", [words.newer_ledger(latest.published_utc)])
        if st.button(words.LOAD_NEWER, key="ledger.load"):
            state.load_newer()
            st.rerun()

    look()
