"""Running what a reader types: bounded, kept for this reader, and as files to download."""

from __future__ import annotations

import io
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from energy.errors import EnergyError, SqlError
from energy.report.numbers import plain
from energy.ui.state import Opened

if TYPE_CHECKING:
    from energy.ledger.query import Result

# The app sets the limits, since all its readers share one machine; the command line and Python take others.
TIMEOUT_S = 10.0
MEMORY = "512MB"
ROW_LIMIT = 10_000
DOWNLOAD_TIMEOUT_S = 60.0
# Parquet is written as rows come; the others are made in memory, JSON of single values.
MOST_DOWNLOAD_BYTES = {"csv": 150_000_000, "json": 40_000_000, "parquet": 2_000_000_000}
LIMITS = f"A query is stopped after {TIMEOUT_S:g} s or beyond {MEMORY}; `energy sql` takes other limits."
MIMES = {"csv": "text/csv", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
_ANSWER, _HISTORY = "sql.answer", "sql.earlier"
_EARLIER = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave: a result, or what is wrong with it.

    Attributes
    ----------
    text : str
        The query.
    key : tuple
        Version of the ledger that was asked.
    result : Result or None
        At most ``ROW_LIMIT`` rows; the rest is counted.
    error : str
        Why there is no result.
    line, column : int or None
        Where in the query, from 1.
    """

    text: str
    key: tuple[str, int, int]
    result: Result | None = None
    error: str = ""
    line: int | None = None
    column: int | None = None


def ask(opened: Opened, text: str) -> Answer:
    """Return the answer of this reader's query; the same query is not run again when the page is drawn anew.

    Parameters
    ----------
    opened : Opened
        The ledger.
    text : str
        What the reader typed.
    """
    held: Answer | None = st.session_state.get(_ANSWER)
    if held is not None and held.text == text and held.key == opened.key:
        return held
    with st.spinner(f"Running the query; it is stopped after {TIMEOUT_S:g} s."):
        answer = run(opened, text)
    st.session_state[_ANSWER] = answer
    _remember(answer)
    return answer


def again() -> None:
    """Forget the answer, so that the same query is run again: it may name the time, or a random number."""
    st.session_state.pop(_ANSWER, None)


def run(opened: Opened, text: str) -> Answer:
    """Run a query within the app's limits; an error is an answer too.

    Parameters
    ----------
    opened : Opened
        The ledger.
    text : str
        What the reader typed.
    """
    try:
        result = opened.ledger.sql(text, timeout_s=TIMEOUT_S, memory=MEMORY, row_limit=ROW_LIMIT)
    except SqlError as error:
        return Answer(text, opened.key, None, in_the_app(str(error)), error.line, error.column)
    except EnergyError as error:
        return Answer(text, opened.key, None, str(error))
    return Answer(text, opened.key, result)


def in_the_app(message: str) -> str:
    """Replace remedies that only the command line has.

    Examples
    --------
    >>> in_the_app("Stopped after 10 s: ask for less, or allow more time with --timeout (timeout_s in Python).")
    'Stopped after 10 s: ask for less, or run it with `energy sql --timeout`.'

    """
    out = message.replace("allow more time with --timeout (timeout_s in Python)", "run it with `energy sql --timeout`")
    out = out.replace(
        "write it with --parquet, or allow more with --memory (memory in Python)", "run it with `energy sql --parquet`"
    )
    return out.replace("allow more with --memory (memory in Python)", "run it with `energy sql --memory`")


def _remember(answer: Answer) -> None:
    words = "refused" if answer.result is None else f"{plain(answer.result.total_rows, 0)} rows"
    earlier = [entry for entry in history() if entry[0] != answer.text]
    st.session_state[_HISTORY] = [(answer.text, words), *earlier][:_EARLIER]


def history() -> list[tuple[str, str]]:
    """Return this reader's queries, the last first, each with what it gave."""
    found: list[tuple[str, str]] = st.session_state.get(_HISTORY, [])
    return found


# --- files ---
def kinds_of(result: Result) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the kinds of files that all rows may be downloaded as, and those for which there are too many.

    Parameters
    ----------
    result : Result
        Its first rows tell how large the whole is.
    """
    size = result.table.nbytes / max(result.row_count, 1) * result.total_rows
    names = [column.name for column in result.columns]
    possible = [kind for kind in MIMES if kind != "parquet" or len(set(names)) == len(names)]
    small = tuple(kind for kind in possible if size <= MOST_DOWNLOAD_BYTES[kind])
    return small, tuple(kind for kind in possible if kind not in small)


def file_of(opened: Opened, answer: Answer, kind: str) -> bytes:
    """Return all rows of a result as a file; what was cut for the screen is asked for again.

    Parameters
    ----------
    opened : Opened
        The ledger.
    answer : Answer
        It has a result.
    kind : str
        ``csv``, ``json`` or ``parquet``.

    Raises
    ------
    SqlError
        The whole result needs more time or memory than the app allows; or two of its columns have one name (Parquet).
    """
    if kind == "parquet":
        return _parquet(opened, answer)
    result = answer.result
    if result is None or result.truncated:
        result = opened.ledger.sql(answer.text, timeout_s=DOWNLOAD_TIMEOUT_S, memory=MEMORY)
    if kind == "json":
        from energy.ledger.export import document

        return json.dumps({"schema": "sql/1", **document(result)}, ensure_ascii=False, default=str).encode()
    from energy.ledger.export import write_csv

    sink = io.BytesIO()
    write_csv(result, sink)
    return sink.getvalue()


def _parquet(opened: Opened, answer: Answer) -> bytes:
    from energy.ledger.export import write_parquet

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.parquet"
        with opened.ledger.sql_batches(answer.text, timeout_s=DOWNLOAD_TIMEOUT_S, memory=MEMORY) as query:
            write_parquet(query, path)
        return path.read_bytes()
