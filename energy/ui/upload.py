"""Bring own files: a form that reads jobs and power into the private ledger of this session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from energy.errors import EnergyError, UploadError
from energy.report.numbers import plain
from energy.ui import session_folders, session_ledger, sign_in, state, words
from energy.ui.notices import notes, notice
from energy.ui.session_ledger import Description, SessionLedger, Upload

if TYPE_CHECKING:
    from energy.ledger.intake import Ingested

_SAID, _ROUND = "upload.said", "upload.round"
_DETECT = "By its first bytes"
_LIMITS = (
    f"Up to {session_ledger.MOST_FILE_BYTES >> 20} MB a file, {session_ledger.MOST_SESSION_BYTES >> 20} MB and "
    f"{plain(session_ledger.MOST_ROWS, 0)} rows a session. Only this session sees them; they are removed when it ends, "
    f"on `Remove your upload`, or {session_folders.MOST_AGE_S / 3600:.0f} hours after the last one. Packed files "
    "(.gz, .zst) and Parquet are read; which formats, and which columns a table needs: docs/importers.md."
)


def panel() -> None:
    """Show the form, what became of the files before, and what may be brought."""
    said: tuple[str, list[str]] | None = st.session_state.pop(_SAID, None)
    with st.expander("Look at your own files", expanded=said is not None or state.chosen_folder() is None):
        if said is not None:
            notice(said[0], said[1])
        if not sign_in.may_write():
            notes([words.VIEWER_NO_UPLOAD])
            return
        _form()


def _form() -> None:
    number = st.session_state.setdefault(_ROUND, 0)
    with st.form("upload.form", border=False):
        files = st.file_uploader(
            "Files with jobs, power, allocations or hosts",
            accept_multiple_files=True,
            key=f"upload.files.{number}",  # a new key lets the server forget the bytes of the round before
        )
        _site_fields()
        left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
        left.selectbox("Format", [_DETECT, *session_ledger.format_names()], key="upload.format")
        right.checkbox("Store a file's other rows where some are refused", key="upload.keep")
        sent = st.form_submit_button("Read the files")
    notes([_LIMITS])
    if sent:
        _send(files)


def _site_fields() -> None:
    """Ask for the site; a field without a value is not known, and nothing stands in for it."""
    first, second, third = st.columns(3, gap="medium", vertical_alignment="bottom")
    first.text_input("Grid zone or place", key="upload.zone", placeholder="DEU", help="As `energy catalogue zones`.")
    second.number_input("PUE, kWh_facility/kWh_it", min_value=1.0, value=None, step=0.01, key="upload.pue")
    third.number_input(
        "Node overhead, kWh_it/kWh_chip",
        min_value=1.0,
        value=None,
        step=0.01,
        key="upload.overhead",
        help="The node's plug over its boards. Empty: by the model of the node.",
    )
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    left.text_input(
        "Time zone", value="UTC", key="upload.timezone", help="IANA name; of the site, and of times that carry none."
    )
    right.selectbox(
        "Year of the emission factor",
        session_ledger.POLICIES,
        index=1,
        key="upload.policy",
        help="Exact: only that of the year. Otherwise the nearest may stand in, and the report says so.",
    )
    st.text_area(
        "Hosts, one kind a line: pattern; chip; chips of one host",
        key="upload.hosts",
        placeholder="node-[01-04]; NVIDIA H100 80GB HBM3; 8",
        help="Not needed for hosts of an inventory that is brought as a file.",
    )


def _description() -> Description:
    asked = st.session_state
    zone, timezone = asked["upload.zone"].strip(), asked["upload.timezone"].strip()
    lacking = [
        name
        for name, value in (("Grid zone or place", zone), ("PUE", asked["upload.pue"]), ("Time zone", timezone))
        if not value
    ]
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        raise UploadError(f"{' and '.join(lacking)} {verb} not given: nothing stands in for it. Nothing was stored.")
    return Description(
        zone,
        float(asked["upload.pue"]),
        None if asked["upload.overhead"] is None else float(asked["upload.overhead"]),
        timezone,
        session_ledger.read_hosts(asked["upload.hosts"]),
        asked["upload.policy"],
    )


def _send(files: Sequence[Any]) -> None:
    """Read the files; the ledger that is open changes only when all went well."""
    try:
        sign_in.need_editor("upload files")
        description = _description()
        kind = st.session_state["upload.format"]
        form = "" if kind == _DETECT else kind
        uploads = [Upload(one.name, one.getbuffer(), form) for one in files]
        with st.spinner("Reading your files"):
            ledger = state.private_ledger() or SessionLedger(_session())
            try:
                results = ledger.take(description, uploads, keep_good_rows=st.session_state["upload.keep"])
            except BaseException:
                if ledger.folder is None:
                    ledger.remove()
                raise
    except EnergyError as error:
        notice("Upload refused.", [str(error)])
        return
    state.keep_private(ledger)
    state.choose(str(ledger.folder))
    st.session_state[_ROUND] += 1
    st.session_state[_SAID] = ("Stored for this session.", _lines(results))
    st.rerun()


def _session() -> Callable[[], bool]:
    """Return what tells whether this session still has a reader."""
    context = get_script_run_ctx()
    assert context is not None
    number = context.session_id

    def is_open() -> bool:
        return not runtime.exists() or bool(runtime.get_instance().is_active_session(number))

    return is_open


def _lines(results: Sequence[Ingested]) -> list[str]:
    out = []
    for one in results:
        if one.batch_id is None:
            out.append(f"{one.file_name}: is there already; nothing changed.")
            continue
        refused = f", {plain(one.rows_rejected, 0)} refused, first {one.first_reject}" if one.rows_rejected else ""
        out.append(
            f"{one.file_name}: {one.format}, {plain(one.rows_accepted, 0)} of {plain(one.rows_read, 0)} rows{refused}."
        )
        out += [f"{one.file_name}: {note}" for note in one.notes]
    return out or ["The site is described anew."]
