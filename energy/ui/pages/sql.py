"""SQL: saved queries, an editor, the result with the unit of each column, a chart on request, downloads."""

from __future__ import annotations

from functools import partial

import streamlit as st

from energy.ledger.saved_queries import saved_queries
from energy.report.numbers import plain
from energy.ui import data, shell, sql_chart, sql_run, sql_schema, sql_view, words
from energy.ui.filters import Filters
from energy.ui.notices import heading, notes, notice
from energy.ui.sql_run import Answer
from energy.ui.state import Opened

LONGEST_LINK = 2_000  # characters: programs that pass links on cut longer ones
_EXAMPLE_QUARTER = "2026Q1"
_TEXT, _KEPT, _SAVED, _SEEN, _LINKED = "sql.text", "sql.kept", "sql.saved", "sql.saved.seen", "sql.linked"
_EDITOR_PX = 220


def page(ledger: Opened) -> None:
    """Show the page."""
    st.title("Ask the ledger in SQL")
    above = st.container()
    filters = Filters("sql")
    texts = _texts(ledger)
    left, right = st.columns([9, 3], gap="large")
    with left:
        _start(texts)
        questions = {query.id: query.question for query in saved_queries()}
        saved = filters.choice("Saved queries", "saved", {"": "Your own query"} | questions, next(iter(questions)))
        if saved != st.session_state.get(_SEEN):
            st.session_state[_SEEN] = saved
            if saved:
                _load(texts[saved])
        _editor(texts)
        text = st.session_state[_KEPT]
        answer = sql_run.ask(ledger, text)
        _show(ledger, answer, filters)
    with right:
        heading("What can be asked", "Views, their columns with units, and whether a column may be summed")
        st.html(sql_schema.html())
    with above:
        _link(filters, text, texts)


def _texts(ledger: Opened) -> dict[str, str]:
    """Return the saved queries, asking for the latest quarter of this ledger."""
    quarter = data.latest(ledger) or _EXAMPLE_QUARTER
    return {query.id: query.sql.replace(_EXAMPLE_QUARTER, quarter) for query in saved_queries()}


def _start(texts: dict[str, str]) -> None:
    """Take the text of the link, else what this reader asked before, else the first saved query."""
    if _TEXT in st.session_state:
        return
    given = st.query_params.get("q")
    if given:
        st.session_state[_SAVED] = st.session_state[_SEEN] = ""
        st.session_state[_LINKED] = given
        _load(given)
    elif "saved" not in st.query_params and _KEPT in st.session_state:
        st.session_state[_TEXT] = st.session_state[_KEPT]
    else:
        st.session_state.pop(_SEEN, None)
        _load(next(iter(texts.values())))


def _load(text: str) -> None:
    st.session_state[_TEXT] = st.session_state[_KEPT] = text


def _own(texts: dict[str, str]) -> None:
    """Take what stands in the editor: from here on it is the reader's own query, unless it is a saved one."""
    text = st.session_state[_TEXT]
    sql_run.again()
    st.session_state[_KEPT] = text
    known = next((name for name, saved in texts.items() if saved.strip() == text.strip()), "")
    st.session_state[_SAVED] = st.session_state[_SEEN] = known


def _earlier(texts: dict[str, str]) -> None:
    place = st.session_state["sql.history"]
    st.session_state["sql.history"] = None
    if place is not None:
        st.session_state[_TEXT] = sql_run.history()[place][0]
        _own(texts)


def _editor(texts: dict[str, str]) -> None:
    with st.form("sql.form", border=False):
        st.text_area("Query: one SELECT; Ctrl+Enter runs it", key=_TEXT, height=_EDITOR_PX)
        st.form_submit_button("Run", on_click=_own, args=(texts,))
    earlier = sql_run.history()
    if len(earlier) > 1:
        st.selectbox(
            "Earlier in this session",
            list(range(len(earlier))),
            index=None,
            key="sql.history",
            placeholder="Choose a query",
            format_func=lambda place: f"{' '.join(earlier[place][0].split())[:90]} ({earlier[place][1]})",
            on_change=_earlier,
            args=(texts,),
        )


def _show(ledger: Opened, answer: Answer, filters: Filters) -> None:
    if answer.result is None:
        notice("", [answer.error])
        _place(answer)
        notes([sql_run.LIMITS])
        return
    result = answer.result
    note = next((query.note for query in saved_queries() if query.id == st.session_state.get(_SEEN)), "")
    if result.truncated:
        notice("", [words.too_many_rows(result.row_count, result.total_rows)])
    if not result.row_count:
        notice("", ["No rows: the query is right, and nothing in the ledger fits it."])
    sql_view.table(result)
    unknown = [column.name for column in result.columns if not column.checked]
    notes(
        [
            f"{plain(result.total_rows, 0)} rows from ledger version {result.ledger_version}; rounded for reading, "
            "the downloads have every digit.",
            *(
                [f"Not checked: {', '.join(unknown)}. The checker of units does not know, and does not guess."]
                if unknown
                else []
            ),
            *([note] if note else []),
            sql_run.LIMITS,
        ]
    )
    st.html(sql_view.meanings(result))
    _downloads(ledger, answer)
    _chart(answer, filters)


def _place(answer: Answer) -> None:
    """Show the line of the query and the column in it."""
    lines = answer.text.splitlines()
    if answer.line is None or not 0 < answer.line <= len(lines):
        return
    column = answer.column or 1
    first = max(0, column - 60)
    st.code(lines[answer.line - 1][first : first + 100] + "\n" + " " * (column - 1 - first) + "^", language=None)


def _downloads(ledger: Opened, answer: Answer) -> None:
    result = answer.result
    assert result is not None
    kinds, too_large = sql_run.kinds_of(result)
    for place, kind in zip(st.columns(3), kinds, strict=False):
        place.download_button(
            f"Download {_file_word(kind)}",
            partial(sql_run.file_of, ledger, answer, kind),
            file_name=f"result.{kind}",
            mime=sql_run.MIMES[kind],
            key=f"sql.{kind}",
            on_click="ignore",
            width="stretch",
        )
    if too_large:
        names = " and ".join(map(_file_word, too_large))
        notes([f"All rows are too many for a download as {names}: `energy sql` writes them on your machine."])
    if len(kinds) + len(too_large) < len(sql_run.MIMES):
        notes(["No Parquet: two columns have one name. Give each its own with AS."])


def _file_word(kind: str) -> str:
    return "Parquet" if kind == "parquet" else kind.upper()


def _chart(answer: Answer, filters: Filters) -> None:
    result = answer.result
    assert result is not None
    across, values = sql_chart.axes(result)
    if not across:
        return
    places = st.columns(2)
    with places[0]:
        options = {"": "No chart"} | {column.name: column.label for column in values}
        value = filters.choice("Chart of", "y", options, "")
    if not value:
        return
    with places[1]:
        name = filters.choice("by", "x", {column.name: column.label for column in across}, across[0].name)
    refused = sql_chart.refusal(result, name)
    if refused:
        notice("", [refused])
        return
    sql_chart.show(
        result,
        next(column for column in across if column.name == name),
        next(column for column in values if column.name == value),
    )


def _link(filters: Filters, text: str, texts: dict[str, str]) -> None:
    """Write the address, and say what a reader should know of it."""
    if not filters.values["saved"]:
        if len(text) <= LONGEST_LINK:
            filters.values["q"] = text
        else:
            notes(
                [
                    f"This query has {plain(len(text), 0)} characters; a link holds up to {plain(LONGEST_LINK, 0)}, so "
                    "the address leaves it out. Share its text instead."
                ]
            )
    filters.done()
    if st.session_state.get(_LINKED) == text:
        notice("", [f"This query came with the link and was run. It can only read this ledger. {sql_run.LIMITS}"])


shell.run(page)
