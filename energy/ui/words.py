"""What the app says in each state: every page takes its words from here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from energy.report.numbers import plain

NO_LEDGER = "No ledger here yet. Build the example with `energy demo`, or start one with `energy init DIR`."
NO_DATA_YET = "This ledger holds no data yet. Bring some in with `energy ingest FORMAT FILE --ledger DIR`."
YOUR_UPLOAD = "Your upload"
SERVED = "The served ledger"
UPLOAD_SHOWN = (
    "Every figure here is of your files, not of the served ledger. Only this session sees them; "
    "they are removed with it."
)
UPLOAD_GONE = "Your upload is no longer here: it was removed, by you or by its age. Go back to the served ledger."
VIEWER_NO_UPLOAD = (
    "You may look and download. Uploading needs the role of an editor, which whoever runs this app gives."
)
NOT_COVERED = "Not covered in this version."
LOAD_NEWER = "Load it"
DOWNLOAD_DATA = "Download data (CSV)"


def newer_ledger(published_utc: datetime) -> str:
    """Say that a newer version was published since this page was opened.

    Examples
    --------
    >>> newer_ledger(datetime(2026, 4, 2, 14, 2, tzinfo=UTC))
    'A newer ledger was published at 14:02 UTC.'

    """
    return f"A newer ledger was published at {published_utc.astimezone(UTC):%H:%M} UTC."


def bad_link(names: Sequence[str], count: int, version: str | None) -> str:
    """Say which values of a link could not be read.

    Parameters
    ----------
    names : sequence of str
        Names of the values that could not be read.
    count : int
        How many values the link has.
    version : str or None
        Version of the app that made the link, where the link says so.

    Examples
    --------
    >>> bad_link(["site", "battery"], 14, "0.3")[:72]
    'This link was made by version 0.3 and 2 of its 14 values could not be re'

    """
    which = ", ".join(f"`{name}`" for name in names)
    be = "It is set to the default shown." if len(names) == 1 else "They are set to the defaults shown."
    of = "the value" if count == 1 else f"{len(names)} of the {count} values"
    could = f"could not be read: {which}. {be}"
    if version is None:
        return f"{of.capitalize()} of this link {could}"
    its = of.replace("the ", "its ")
    return f"This link was made by version {version} and {its} {could}"


def program_error(number: str) -> str:
    """Say that a page could not be computed; the number stands in the log of the server.

    Examples
    --------
    >>> program_error("7f3a")
    'Error 7f3a: this page could not be computed. Your filters are kept. Report this number.'

    """
    return f"Error {number}: this page could not be computed. Your filters are kept. Report this number."


def too_many_rows(shown: int, rows: int) -> str:
    """Say that a result is longer than what is shown.

    Examples
    --------
    >>> from energy.report.numbers import THIN
    >>> too_many_rows(10_000, 2_318_400).replace(THIN, " ")
    'The first 10 000 of 2 318 400 rows are shown. The download has all.'

    """
    return f"The first {plain(shown, 0)} of {plain(rows, 0)} rows are shown. The download has all."


def filtered(shown: int, rows: int) -> str:
    """Say how many rows a filter leaves.

    Examples
    --------
    >>> filtered(12, 340)
    'Shown 12 of 340 rows.'

    """
    return f"Shown {plain(shown, 0)} of {plain(rows, 0)} rows."
