"""Weather, sites and supplies, each computed once for all readers. What is returned is shared: never change it."""

from __future__ import annotations

import hashlib
from typing import Any

import streamlit as st

from energy.supply.optimum import Optimum, Terms
from energy.ui import site_data, site_weather, supply_data
from energy.ui.site_data import SiteAsked, SiteFound
from energy.ui.supply_data import HoursFile, SupplyAsked, SupplyFound
from energy.weather.year import WeatherYear

_YEARS, _RESULTS = 32, 64


@st.cache_resource(show_spinner=False, max_entries=_YEARS)
def weather(key: str) -> WeatherYear:
    """Return the package's weather of a name in the address."""
    return site_weather.choices()[key].read()


@st.cache_resource(show_spinner=False, max_entries=_YEARS)
def uploaded(digest: str, _name: str, _content: bytes, place: str, elevation_m: float | None) -> WeatherYear:
    """Return the weather of a reader's file; ``digest`` stands for the file."""
    del digest
    return site_weather.uploaded(_name, _content, place, elevation_m)


@st.cache_resource(show_spinner=False, max_entries=_RESULTS)
def site(weather_key: str, asked: SiteAsked, _weather: WeatherYear) -> SiteFound:
    """Return the year of a site; ``weather_key`` stands for the weather."""
    del weather_key
    return site_data.found_of(asked, _weather)


@st.cache_resource(show_spinner=False, max_entries=_RESULTS)
def supply(weather_key: str, asked: SupplyAsked, file_key: str, _file: HoursFile | None) -> SupplyFound:
    """Return the hours of a supply; ``file_key`` stands for the reader's hours."""
    del file_key
    return supply_data.supply_of(asked, weather(weather_key), _file)


@st.cache_resource(show_spinner="Computing the optimum", max_entries=_RESULTS)
def optimum(description: str, goal: str, charge_from_grid: bool, _found: SupplyFound) -> tuple[Optimum, Terms]:
    """Return the best dispatch; ``description`` stands for the supply."""
    del description
    return supply_data.optimum_of(_found, goal, charge_from_grid=charge_from_grid)


@st.cache_resource(show_spinner=False, max_entries=_YEARS)
def hours_file(digest: str, _name: str, _content: bytes) -> HoursFile:
    """Return the hours of a reader's file; ``digest`` stands for the file."""
    del digest
    return supply_data.hours_file(_name, _content)


def digest_of(*parts: Any) -> str:
    """Return a short name of contents.

    Examples
    --------
    >>> digest_of("a.csv", b"1") == digest_of("a.csv", b"1"), digest_of("a.csv", b"1") == digest_of("a.csv", b"2")
    (True, False)

    """
    found = hashlib.sha256()
    for part in parts:
        found.update(part if isinstance(part, bytes) else repr(part).encode())
    return found.hexdigest()[:12]
