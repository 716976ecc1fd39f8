"""Filters that stand in the page's address: the address is the share link, and a bad value in it is named, not hidden.

Each filter has a key. On the first view its value comes from the address, else from what the reader chose on another
page, else from the default. Every value is written to the address, the default too: a link must not change its
meaning when a default does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from energy import __version__
from energy.errors import did_you_mean
from energy.ui import words
from energy.ui.notices import notice

_VERSION = "v"
_SHOWN = 40  # characters of a bad value that are repeated
_KEPT, _BAD = "filter.kept.", "filter.bad"


@dataclass(slots=True)
class Filters:
    """The filter row of one page.

    Parameters
    ----------
    page : str
        Name of the page; keys of widgets begin with it.

    Examples
    --------
    >>> filters = Filters("overview")
    >>> quarter = filters.choice("Quarter", "quarter", {"2026Q1": "2026 Q1"}, "2026Q1")  # doctest: +SKIP
    >>> filters.done()  # doctest: +SKIP
    """

    page: str
    values: dict[str, str] = field(default_factory=dict)

    def _bad(self) -> dict[str, str]:
        found: dict[str, str] = st.session_state.setdefault(f"{_BAD}.{self.page}", {})
        return found

    def _start(self, name: str, default: str, accept: Callable[[str], bool], near: Sequence[str]) -> str:
        """Put the first value of a filter into the session; return the key of its widget."""
        key = f"{self.page}.{name}"
        if key in st.session_state and accept(str(st.session_state[key])):
            return key
        given = st.query_params.get(name)
        kept = st.session_state.get(_KEPT + name)
        if given is not None and accept(given):
            st.session_state[key] = given
            return key
        if given is not None:
            self._bad()[name] = f"No {name} named {given[:_SHOWN]}.{did_you_mean(given, near)}"
            self._count_link()
        st.session_state[key] = kept if given is None and kept is not None and accept(kept) else default
        return key

    def _count_link(self) -> None:
        """Keep what the link said of itself, before the address is written anew."""
        own = {name: value for name, value in st.query_params.items() if name != _VERSION}
        st.session_state.setdefault(f"{_BAD}.{self.page}.link", (len(own), st.query_params.get(_VERSION)))

    def _changed(self, name: str) -> None:
        self._bad().pop(name, None)

    def _keep(self, name: str, value: str) -> str:
        self.values[name] = value
        st.session_state[_KEPT + name] = value
        return value

    def choice(
        self, label: str, name: str, options: Mapping[str, str], default: str, *, buttons: bool = False, help_: str = ""
    ) -> str:
        """Show a choice of one.

        Parameters
        ----------
        label : str
            What is chosen, for people.
        name : str
            Name of the value in the address.
        options : mapping of str to str
            Value in the address to its words.
        default : str
            A key of ``options``.
        buttons : bool
            Buttons side by side, for up to four short options.
        help_ : str
            One sentence that says what the choice does.

        Returns
        -------
        str
            The chosen key of ``options``.
        """
        key = self._start(name, default, options.__contains__, list(options))
        arguments: dict[str, Any] = {
            "key": key,
            "format_func": lambda option: options[option],
            "on_change": self._changed,
            "args": (name,),
            "help": help_ or None,
        }
        if buttons:
            value = st.segmented_control(label, list(options), required=True, **arguments)
        else:
            value = st.selectbox(label, list(options), **arguments)
        return self._keep(name, default if value is None else str(value))

    def text(self, label: str, name: str, default: str = "", *, placeholder: str = "", help_: str = "") -> str:
        """Show a field for words, such as a part of a name; any text is good."""
        key = self._start(name, default, lambda _: True, ())
        value = st.text_input(label, key=key, placeholder=placeholder or None, help=help_ or None)
        return self._keep(name, value or "")

    def done(self) -> None:
        """Write the address, and name the values of the link that could not be read. Call it after the last filter."""
        bad = self._bad()
        if bad:
            count, version = st.session_state.get(f"{_BAD}.{self.page}.link", (len(bad), None))
            notice("", [words.bad_link(list(bad), max(count, len(bad)), version), *bad.values()])
        wanted = {name: value for name, value in self.values.items() if value} | {_VERSION: __version__}
        if dict(st.query_params) != wanted:
            st.query_params.from_dict(wanted)


def row(widths: int | Sequence[int]) -> list[Any]:
    """Return places side by side for filters; on a phone they stand under each other.

    Parameters
    ----------
    widths : int or sequence of int
        How many filters the page has, or their widths against each other.
    """
    return list(st.columns(widths, gap="medium", vertical_alignment="bottom"))
