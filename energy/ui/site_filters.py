"""Filters of the pages Site and Supply: numbers and sliders in the address, and options that depend on each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from energy.ui.filters import _KEPT, _SHOWN, Filters

_NONE, _YES = "none", "yes"


def number_of(text: str, least: float, most: float, *, optional: bool) -> tuple[float | None, bool]:
    """Return a number of the address, and whether it could be read.

    Parameters
    ----------
    text : str
        As it stands in the address; ``none`` for not known.
    least, most : float
        Ends of what is accepted, in the unit of the field.
    optional : bool
        Whether it may be not known.

    Examples
    --------
    >>> number_of("3.5", 0.0, 10.0, optional=False), number_of("none", 0.0, 10.0, optional=True)
    ((3.5, True), (None, True))
    >>> [number_of(text, 0.0, 10.0, optional=False)[1] for text in ("abc", "11", "nan", "none", "")]
    [False, False, False, False, False]

    """
    if text == _NONE:
        return None, optional
    try:
        value = float(text)
    except ValueError:
        return None, False
    return (value, True) if math.isfinite(value) and least <= value <= most else (None, False)


class PlantFilters(Filters):
    """The filters of a page whose options depend on each other.

    Attributes
    ----------
    resets : list of str
        What was set anew because another choice took its option away, a sentence each.
    """

    __slots__ = ("resets",)

    def __init__(self, page: str) -> None:
        super().__init__(page)
        self.resets: list[str] = []

    def _start(self, name: str, default: str, accept: Callable[[str], bool], near: Sequence[str]) -> str:
        key = f"{self.page}.{name}"
        held = st.session_state.get(key)
        if held is not None and not accept(str(held)):
            self.resets.append(f"`{name}` was {held}, which the other choices do not allow: now {default}.")
            st.session_state[key] = default
        return super()._start(name, default, accept, near)

    def slider(self, label: str, name: str, options: Mapping[str, str], default: str, *, help_: str = "") -> str:
        """Show a slider over named steps; as :meth:`choice` in all else."""
        key = self._start(name, default, options.__contains__, list(options))
        value = st.select_slider(
            label,
            list(options),
            key=key,
            format_func=lambda option: options[option],
            on_change=self._changed,
            args=(name,),
            help=help_ or None,
        )
        return self._keep(name, str(value))

    def number(
        self,
        label: str,
        name: str,
        default: float | None,
        *,
        least: float,
        most: float,
        step: float,
        optional: bool = False,
        help_: str = "",
    ) -> float | None:
        """Show a field for a number; empty is not known where ``optional``, and then None.

        Parameters
        ----------
        label : str
            What it is, with its unit.
        name : str
            Name of the value in the address.
        default : float or None
        least, most, step : float
            In the unit of the label.
        optional : bool
            Whether it may be not known.
        help_ : str
            One sentence that says what it means.
        """
        key = f"{self.page}.{name}"
        start = default
        if key not in st.session_state:
            start = self._first(name, default, least, most, optional)
            if start is not None:
                st.session_state[key] = start
        value: float | None = st.number_input(
            label,
            min_value=least,
            max_value=most,
            value=None if optional else "min",
            step=step,
            format="%g",
            key=key,
            on_change=self._changed,
            args=(name,),
            help=help_ or None,
            placeholder="Not known" if optional else None,
        )
        self._keep(name, _NONE if value is None else f"{value:.12g}")
        return value

    def _first(self, name: str, default: float | None, least: float, most: float, optional: bool) -> float | None:
        """Return the value of the address, else what was chosen on another page, else the default."""
        given, kept = st.query_params.get(name), st.session_state.get(_KEPT + name)
        if given is not None:
            value, good = number_of(given, least, most, optional=optional)
            if good:
                return value
            self._bad()[name] = f"`{name}` is {given[:_SHOWN]}: a number from {least:g} to {most:g} is due."
            self._count_link()
        elif kept is not None:
            value, good = number_of(str(kept), least, most, optional=optional)
            if good:
                return value
        return default

    def needed(
        self, label: str, name: str, default: float, *, least: float, most: float, step: float, help_: str = ""
    ) -> float:
        """Show a field for a number that has to be known; as :meth:`number` in all else."""
        value = self.number(label, name, default, least=least, most=most, step=step, help_=help_)
        return default if value is None else value

    def pressed(self, name: str, of_what: str) -> bool:
        """Tell whether a button was pressed for just this description, here or by whoever made the link.

        Parameters
        ----------
        name : str
            Of the value in the address, ``yes`` where it was pressed.
        of_what : str
            Stands for the description; with another one the button has to be pressed again.
        """
        key = f"{self.page}.{name}"
        if key not in st.session_state:
            given = st.query_params.get(name)
            st.session_state[key] = of_what if given == _YES else ""
            if given not in (None, _YES):
                self._bad()[name] = f"`{name}` is {given[:_SHOWN]}: only {_YES} can stand there."
                self._count_link()
        found: bool = st.session_state[key] == of_what
        if found:
            self.values[name] = _YES
        return found

    def press(self, name: str, of_what: str) -> None:
        """Take the button as pressed for this description."""
        st.session_state[f"{self.page}.{name}"] = of_what
        self._changed(name)
