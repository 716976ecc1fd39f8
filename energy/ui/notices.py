"""Notices, headings and notes as HTML: a word first, then what it says; text is escaped, `code` between backquotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

import streamlit as st

_CODE = re.compile(r"`([^`]+)`")


def rich(text: str) -> str:
    """Escape text for HTML and set what stands between backquotes as code.

    Examples
    --------
    >>> rich("a < b: run `energy demo`")
    'a &lt; b: run <code>energy demo</code>'

    """
    return _CODE.sub(r"<code>\1</code>", escape(text))


def notice(word: str, lines: Iterable[str], *, error: bool = False) -> None:
    """Show a notice.

    Parameters
    ----------
    word : str
        Its first word, such as ``Open reservations.``; may be empty.
    lines : iterable of str
        A paragraph each.
    error : bool
        Whether the program failed; the only use of red.
    """
    shown = [rich(line) for line in lines]
    if word and shown:
        shown[0] = f"<b>{escape(word)}</b> {shown[0]}"
    role = "alert" if error else "status"
    body = "".join(f"<p>{line}</p>" for line in shown)
    st.html(f'<div class="en"><div class="en-notice{" en-error" if error else ""}" role="{role}">{body}</div></div>')


def heading(title: str, sub: str = "") -> None:
    """Show the heading of a chart or block: its answer, and under it quantity, unit and period."""
    below = f"<span>{rich(sub)}</span>" if sub else ""
    st.html(f'<div class="en en-head" role="heading" aria-level="3"><b>{rich(title)}</b>{below}</div>')


def notes(lines: Iterable[str]) -> None:
    """Show what a reader should know of the block above; nothing where there are no lines."""
    body = "".join(f"<p>{rich(line)}</p>" for line in lines)
    if body:
        st.html(f'<div class="en en-note">{body}</div>')
