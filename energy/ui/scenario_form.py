"""The form of the page Scenario: a start, and what is moved of it; each value stands in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from energy import catalogue
from energy.cost.mapping import PRECISIONS
from energy.errors import EnergyError
from energy.report.numbers import THIN
from energy.scenario.specification import Scenario, parse_keys
from energy.ui import scenario_data, scenario_run
from energy.ui.filters import _KEPT
from energy.ui.notices import notice
from energy.ui.scenario_data import Keys
from energy.ui.site_filters import PlantFilters

_START, _FIRST, _HELD = "start", "llama-3.1-8b-bf16", "scenario.held"
_AS = "as-in-start"
_FILE = "scenario.file"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PLACED = ("facility", "published")


def asked(filters: PlantFilters) -> tuple[str, Keys, dict[str, Any]]:
    """Show the form; return what the start is called, its keys, and what was moved of them.

    Parameters
    ----------
    filters : PlantFilters
        Of the page.
    """
    own = _uploaded()
    options = dict(scenario_data.starts())
    name = filters.choice(
        "Start from", _START, options, _FIRST, help_="A worked scenario; what you move is shown against it."
    )
    _forget_moved(filters, name if own is None else f"file {own[0]}")
    title, keys = (options[name], scenario_data.keys_of(name)) if own is None else own
    said = parse_keys(keys)
    moved: dict[str, Any] = {}
    with st.expander("Work", expanded=True):
        _work(filters, said, moved)
    with st.expander("System", expanded=True):
        _system(filters, said, moved)
    with st.expander("Place and time", expanded=True):
        _place(filters, said, moved)
    with st.expander("Software and price"):
        _software(filters, said, moved)
    return title, keys, moved


def uploader() -> None:
    """Let the reader start from a file. It stands last: the browser needs a while for it."""
    with st.expander("Start from a file of your own (YAML)"):
        st.file_uploader("Scenario file", key=_FILE, type=["yaml", "yml"], max_upload_size=1)


def _uploaded() -> tuple[str, Keys] | None:
    """Return the reader's file as a start; it takes the place of the worked one while it is there."""
    file = st.session_state.get(_FILE)
    if file is None:
        return None
    try:
        keys = scenario_data.read_keys(file.getvalue().decode("utf-8"), file.name)
    except (EnergyError, UnicodeDecodeError) as error:
        said = str(error) if isinstance(error, EnergyError) else f"{file.name} is no UTF-8 text: save it as UTF-8."
        notice("File not used.", [said, "The start chosen below is shown. Nothing was stored."])
        return None
    notice("", [f"{file.name} is the start. A link to this page does not carry the file."])
    return str(keys.get("name") or file.name), keys


def _forget_moved(filters: PlantFilters, start: str) -> None:
    """Let each value begin at that of another start: what was moved belonged to the one before."""
    held = st.session_state.get(_HELD)
    st.session_state[_HELD] = start
    if held is None or held == start:
        return
    for key in [one for one in st.session_state if isinstance(one, str)]:
        if key.startswith(f"{filters.page}.") and key not in (f"{filters.page}.{_START}", _FILE):
            del st.session_state[key]
    for name in [one for one in st.query_params if one not in (_START, "v")]:
        del st.query_params[name]
    for name in _NAMES:
        st.session_state.pop(_KEPT + name, None)


_NAMES = (
    *("model", "tokens", "hours", "sequence", "batch", "chip", "chips", "limit", "overhead", "pue", "zone", "year"),
    *("month", "precision", "price"),
)


@dataclass(frozen=True, slots=True)
class _Number:
    """A number of the form: what it is called, its name in the address, its key, and the unit of the key's text.

    ``factor`` is the unit of the label in that of the key.
    """

    label: str
    name: str
    key: str
    least: float
    most: float
    step: float
    unit: str = ""
    factor: float = 1.0


_HOURS = _Number("Chip-hours, thousands", "hours", "work.chip_hours", 0.001, 1e6, 10.0, "chip*h", 1e3)
_TOKENS = _Number("Tokens, billions", "tokens", "work.tokens", 0.001, 1e6, 100.0, "token", 1e9)
_SEQUENCE = _Number("Sequence, tokens", "sequence", "work.sequence_length", 1.0, 1e7, 1024.0)
_BATCH = _Number("Global batch, sequences", "batch", "work.global_batch", 1.0, 1e6, 64.0)
_COUNT = _Number("Chips", "chips", "system.chips", 1.0, 1e6, 8.0)
_OVERHEAD = _Number("Node over chips", "overhead", "system.node_overhead", 1.0, 5.0, 0.05)
_PUE = _Number("PUE", "pue", "site.pue", 1.0, 5.0, 0.05)
_YEAR = _Number("Year", "year", "dates.year", 2015.0, 2030.0, 1.0)
_PRICE = _Number("Chip-hour, USD", "price", "prices.chip_hour", 0.01, 100.0, 0.1, "USD/chip/h")


def _number(filters: PlantFilters, moved: dict[str, Any], one: _Number, usual: float | None) -> None:
    """Show a number that starts at that of the start; it is moved where it is another."""
    start = None if usual is None else float(f"{usual / one.factor:.12g}")
    least, most = (one.least, one.most) if start is None else (min(one.least, start), max(one.most, start))
    value = filters.number(one.label, one.name, start, least=least, most=most, step=one.step, optional=usual is None)
    if value is None or value == start:
        return
    exact = float(f"{value * one.factor:.12g}")
    written = int(exact) if exact.is_integer() else exact
    moved[one.key] = f"{written!r} {one.unit}" if one.unit else written


def _choice(
    filters: PlantFilters,
    moved: dict[str, Any],
    label: str,
    name: str,
    key: str,
    options: Mapping[str, str],
    usual: str | None,
) -> None:
    """Show a choice that starts at that of the start."""
    every = ({} if usual is not None else {_AS: "not said"}) | dict(options)
    if usual is not None and usual not in every:
        every = {usual: usual, **every}
    value = filters.choice(label, name, every, usual or _AS)
    if value not in (usual, _AS):
        moved[key] = value


def _work(filters: PlantFilters, said: Scenario, moved: dict[str, Any]) -> None:
    if said.work.model is not None:
        model = catalogue.model(said.work.model).model_id
        _choice(filters, moved, "Model", "model", "work.model", _models(), model)
        if moved.get("work.model") == model:
            del moved["work.model"]
    if said.work.chip_hours is not None:
        _number(filters, moved, _HOURS, said.work.chip_hours)
    else:
        _number(filters, moved, _TOKENS, said.work.tokens)
    _number(filters, moved, _SEQUENCE, said.work.sequence_length)
    _number(filters, moved, _BATCH, said.work.global_batch)


def _system(filters: PlantFilters, said: Scenario, moved: dict[str, Any]) -> None:
    _choice(filters, moved, "Chip", "chip", "system.chip", _chips(), catalogue.chip(said.system.chip).chip_id)
    _number(filters, moved, _COUNT, said.system.chips)
    if said.system.power_per_chip_w is None:
        tdp = catalogue.chip(moved.get("system.chip", said.system.chip)).tdp_w
        if tdp is not None and said.system.power_limit_w is None:
            steps = {_AS: "no limit"} | {str(one): f"{one}{THIN}%" for one in range(40, 100, 5)}
            value = filters.slider("Power limit, share of the chip's", "limit", steps, _AS)
            if value != _AS:
                moved["system.power_limit"] = f"{tdp * int(value) / 100.0:g} W"
    if isinstance(said.system.node_overhead, float):
        _number(filters, moved, _OVERHEAD, said.system.node_overhead)


def _place(filters: PlantFilters, said: Scenario, moved: dict[str, Any]) -> None:
    site = said.site
    if not any(getattr(site, name) is not None for name in _PLACED):
        if site.pue is None:
            _number(filters, moved, _PUE, None)
        else:
            usual = f"{site.pue:.2f}"
            steps = {f"{1.0 + one / 100.0:.2f}": f"{1.0 + one / 100.0:.2f}" for one in range(101)}
            steps = dict(sorted(({usual: usual} | steps).items()))
            value = filters.slider("PUE", "pue", steps, usual)
            if value != usual:
                moved["site.pue"] = float(value)
    if site.intensity_gco2e_per_kwh_facility is None:
        usual_zone = None if site.zone is None else catalogue.zone(site.zone).zone_id
        _choice(filters, moved, "Grid zone", "zone", "site.zone", _zones(), usual_zone)
        if "site.zone" in moved:
            moved |= dict.fromkeys(
                (f"site.{one}" for one in ("hourly_zone", "residual_zone") if getattr(site, one)), None
            )
            if site.factor_policy is None:
                moved["site.factor_policy"] = "nearest any"
    if said.dates.start is not None:
        months = {f"{at:02d}": f"{name} {said.dates.start.year}" for at, name in enumerate(_MONTHS, 1)}
        usual_month = f"{said.dates.start.month:02d}"
        value = filters.slider("First month", "month", months, usual_month)
        if value != usual_month:
            moved["dates.start"] = f"{said.dates.start.year}-{value}-01T00:00Z"
    else:
        _number(filters, moved, _YEAR, said.dates.year)


def _software(filters: PlantFilters, said: Scenario, moved: dict[str, Any]) -> None:
    options = {one: one for one in PRECISIONS}
    _choice(filters, moved, "Precision", "precision", "software.precision", options, said.software.precision)
    if said.prices.kind in (None, "on-demand", "spot"):
        _number(filters, moved, _PRICE, said.prices.chip_hour_usd)


def load() -> None:
    """Fill what the first view needs: its options and its run."""
    for options in (_models, _chips, _zones):
        options()
    scenario_run.found(scenario_run.text_of(scenario_data.keys_of(_FIRST), {}))


@cache
def _models() -> dict[str, str]:
    return {one.model_id: one.name for one in catalogue.all_models()}


@cache
def _chips() -> dict[str, str]:
    return {one.chip_id: one.name for one in catalogue.all_chips()}


@cache
def _zones() -> dict[str, str]:
    return {
        one.zone_id: f"{one.name} ({one.zone_id})" for one in catalogue.all_zones() if one.annual_zone_id == one.zone_id
    }
