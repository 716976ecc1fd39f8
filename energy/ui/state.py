"""Which ledger this reader looks at, and at which version: numbers never change under the reader."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from energy.errors import EnergyError, LedgerError
from energy.ui import session_folders, sign_in, words

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.ledger.reader import Ledger
    from energy.ui.session_ledger import SessionLedger

LEDGER_VARIABLE = "ENERGY_LEDGER"
_RECENT_LIMIT = 8
_CHOSEN, _OPEN = "ledger.folder", "ledger.open"
_PRIVATE, _WHICH = "ledger.private", "ledger.which"
_NEW_QUARTER = "sql.saved.seen"  # the page SQL asks its saved query anew, for the latest quarter of the ledger


@dataclass(frozen=True, slots=True)
class Opened:
    """One published version of one ledger, as a key of every cache and as a reader of rows.

    Attributes
    ----------
    folder : str
        The ledger's folder.
    version : int
        Number of the version.
    stamp : int
        When the version's file was written, in nanoseconds: a folder may be made anew with the same number.
    """

    folder: str
    version: int
    stamp: int

    @property
    def key(self) -> tuple[str, int, int]:
        """The same as plain values, which caches can hash."""
        return (self.folder, self.version, self.stamp)

    @property
    def published_utc(self) -> datetime:
        """When the version was published."""
        return datetime.fromtimestamp(self.stamp / 1e9, tz=UTC)

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts."""
        return connection(*self.key).rows(sql, parameters)

    def arrow(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """Return the rows of a query as an Arrow table."""
        return connection(*self.key).arrow(sql, parameters)

    @property
    def ledger(self) -> Ledger:
        """The open ledger, shared by all sessions; each query has a cursor of its own."""
        return connection(*self.key)


# A version that falls out of the cache is closed by its last user: closing it here would cut a running query.
@st.cache_resource(show_spinner=False, max_entries=16)
def connection(folder: str, version: int, stamp: int) -> Ledger:
    """Return the one open ledger of a version's file.

    Parameters
    ----------
    folder : str
        The ledger's folder.
    version : int
        Number of the version.
    stamp : int
        When its file was written, in nanoseconds; part of the key only.

    Raises
    ------
    LedgerError
        When the version is gone or cannot be opened.
    """
    from energy.ledger.reader import Ledger

    del stamp
    return Ledger(Path(folder), version=version)


def published(folder: Path) -> Opened:
    """Return the published version of a ledger, without opening it.

    Parameters
    ----------
    folder : pathlib.Path
        The ledger's folder.

    Raises
    ------
    LedgerError
        When the folder is no ledger or holds no data.
    """
    from energy.ledger.store import published as file_of
    from energy.ledger.store import version_of

    path = file_of(folder)
    return Opened(str(folder), version_of(path), path.stat().st_mtime_ns)


def may_choose() -> bool:
    """Tell whether readers may open other folders: only where the app serves nobody but its own machine.

    With sign-in described, others come through a proxy even where the app listens on this machine alone.
    """
    return sign_in.is_loopback(st.get_option("server.address")) and not sign_in.is_described()


def recent_file() -> Path:
    """Return the file that remembers ledgers opened before, in the user's state folder."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "energy" / "recent-ledgers.json"


def recent() -> list[str]:
    """Return the ledgers opened before, the last first; none where the list cannot be read."""
    try:
        names = json.loads(recent_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def remember(folder: str) -> None:
    """Put a ledger first in the list; a list that cannot be written is a convenience lost, never an error."""
    names = [folder, *(name for name in recent() if name != folder)][:_RECENT_LIMIT]
    if names == recent():
        return
    path = recent_file()
    staged = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(json.dumps(names, indent=1), encoding="utf-8")
        staged.replace(path)
    except OSError:
        return


def is_ledger(folder: Path) -> bool:
    """Tell whether a folder looks like a ledger: it has a site.yaml or a published version."""
    return (folder / "site.yaml").is_file() or (folder / "ledger.duckdb").exists()


def folders() -> list[str]:
    """Return the ledgers to choose from: the one given at the start, those opened before, those at hand."""
    given = os.environ.get(LEDGER_VARIABLE)
    if given and not may_choose():
        return [given]
    near = [path for path in (Path.cwd(), Path.cwd() / "energy-demo") if is_ledger(path)]
    earlier = [Path(name) for name in recent() if is_ledger(Path(name))] if may_choose() else []
    found = [given] if given else []
    return list(dict.fromkeys([*found, *(str(path.resolve()) for path in (*earlier, *near))]))


def chosen_folder() -> str | None:
    """Return the folder of this reader's ledger, if there is any."""
    known = folders()
    chosen = st.session_state.get(_CHOSEN)
    return chosen if chosen is not None else (known[0] if known else None)


def choose(folder: str) -> None:
    """Look at another ledger from now on."""
    st.session_state[_CHOSEN] = folder
    st.session_state.pop(_OPEN, None)
    st.session_state.pop(_NEW_QUARTER, None)
    st.query_params.clear()  # the address names quarters and sites of the ledger before


def choose_served() -> None:
    """Look at the ledger that the app serves from now on."""
    known = folders()
    if known:
        choose(known[0])
    else:
        st.session_state.pop(_CHOSEN, None)
        st.session_state.pop(_OPEN, None)


# --- the upload of this session ---
def private_ledger() -> SessionLedger | None:
    """Return the private ledger of this session, if it has one."""
    held: SessionLedger | None = st.session_state.get(_PRIVATE)
    return None if held is None or held.is_gone else held


def keep_private(ledger: SessionLedger) -> None:
    """Keep the private ledger as long as this session lives: its files go with its last mention."""
    st.session_state[_PRIVATE] = ledger


def forget_private() -> None:
    """Remove the files of this session, and look at the served ledger again if they were shown."""
    held: SessionLedger | None = st.session_state.pop(_PRIVATE, None)
    opened: Opened | None = st.session_state.get(_OPEN)
    if opened is not None and is_upload(opened):
        connection.clear(*opened.key)
        choose_served()
    if held is not None:
        held.remove()


def is_upload(opened: Opened) -> bool:
    """Tell whether a ledger is an upload."""
    return session_folders.is_private(opened.folder)


def _private_folder() -> str | None:
    held = private_ledger()
    return None if held is None or held.folder is None else str(held.folder)


def open_ledger() -> Opened:
    """Return the version that this reader looks at: the published one when it was first opened.

    Raises
    ------
    LedgerError
        With the words of the empty state when there is no ledger or it holds no data.
    """
    folder = chosen_folder()
    if folder is None:
        raise LedgerError(words.NO_LEDGER)
    private = session_folders.is_private(folder)
    if private and folder != _private_folder():  # removed; or of another session, which must not be told apart
        raise LedgerError(words.UPLOAD_GONE)
    held: Opened | None = st.session_state.get(_OPEN)
    if held is None or held.folder != folder:
        if not Path(folder).is_dir():
            raise LedgerError(f"{words.NO_LEDGER} (Looked in {folder}.)")
        held = published(Path(folder))
        st.session_state[_OPEN] = held
        if not private:
            remember(folder)
    return held


def newer(opened: Opened) -> Opened | None:
    """Return the version that was published since, if there is one."""
    try:
        latest = published(Path(opened.folder))
    except (EnergyError, OSError):
        return None  # the folder was moved away; what is open stays readable
    return None if latest == opened else latest


def load_newer() -> None:
    """Look at the published version from now on."""
    st.session_state.pop(_OPEN, None)


def chooser() -> None:
    """Show in the sidebar which ledger is open, and let the reader open another one."""
    known = folders()
    current = chosen_folder()
    if current is not None:
        opened: Opened | None = st.session_state.get(_OPEN)
        version = f", version {opened.version}" if opened else ""
        private = session_folders.is_private(current)
        st.caption(f"Ledger: {'your upload' if private else Path(current).name}{version}")
    _which(current)
    if not may_choose():
        return
    with st.expander("Open another ledger" if current else "Open a ledger"):
        others = [name for name in known if name != current]
        if others:
            picked = st.selectbox("Opened before", others, index=None, placeholder="Choose a folder", key="ledger.pick")
            if picked:
                choose(picked)
                st.rerun()
        typed = st.text_input("Folder", key="ledger.typed", placeholder="/data/my-ledger")
        if st.button("Open", key="ledger.go") and typed:
            folder = Path(typed).expanduser().resolve()
            if is_ledger(folder) and not session_folders.is_private(folder):
                choose(str(folder))
                st.rerun()
            st.error(f"No ledger at {folder}: a ledger has a site.yaml. Start one with `energy init {folder}`.")


def _which(current: str | None) -> None:
    """Let the reader switch between the served ledger and an upload, and remove the upload."""
    held, shown = _private_folder(), current is not None and session_folders.is_private(current)
    if held is None:
        if shown:
            st.button(f"Back to {words.SERVED.lower()}", key="ledger.back", on_click=choose_served)
        return

    def turn() -> None:
        if st.session_state[_WHICH] == words.YOUR_UPLOAD:
            choose(held)
        else:
            choose_served()

    st.session_state[_WHICH] = words.YOUR_UPLOAD if shown else words.SERVED
    st.radio("Looking at", [words.SERVED, words.YOUR_UPLOAD], key=_WHICH, on_change=turn)
    st.button("Remove your upload", key="ledger.remove", on_click=forget_private)
