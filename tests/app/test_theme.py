"""Colours: each stands once, is seen on its page, and tells methods apart with equal weight."""

from __future__ import annotations

import itertools
import math
import tomllib
from pathlib import Path

import pytest

from energy.ui import theme

CONFIG = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def linear(colour):
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(colour):
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear(colour), strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["light", "dark"])
def colours(request):
    return theme.tokens()[request.param]


@pytest.mark.parametrize(
    ("text", "ground"),
    [("ink", "page"), ("ink", "panel"), ("muted", "page"), ("muted", "panel"), ("interactive", "page"),
     ("error", "panel"), ("notice_text", "notice_panel")],
)  # fmt: skip
def test_text_is_read_on_its_ground(colours, text, ground):
    assert contrast(colours["surface"][text], colours["surface"][ground]) >= 4.5


def test_methods_are_read_and_weigh_the_same(colours):
    page = colours["surface"]["page"]
    seen = [contrast(colours["method"][name], page) for name in ("location", "market")]
    assert min(seen) >= 4.5
    assert max(seen) / min(seen) < 1.18


def test_tiers_and_ramps_keep_their_order_in_grey(colours):
    tiers = [luminance(colours["tier"][name]) for name in ("measured", "integrated", "modelled", "default")]
    assert tiers in (sorted(tiers), sorted(tiers, reverse=True))
    for ramp in colours["ramp"].values():
        grey = [luminance(colour) for colour in ramp]
        assert grey in (sorted(grey), sorted(grey, reverse=True))


def test_methods_differ_by_more_than_lightness(colours):
    for one, other in itertools.combinations(colours["method"].values(), 2):
        assert math.dist(linear(one), linear(other)) > 0.1


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_configuration_repeats_the_tokens(name):
    surface, stated = theme.tokens()[name]["surface"], CONFIG["theme"][name]
    pairs = {
        "backgroundColor": "page",
        "secondaryBackgroundColor": "panel",
        "textColor": "ink",
        "primaryColor": "interactive",
        "borderColor": "rule",
        "redColor": "error",
        "grayTextColor": "muted",
    }
    assert {key: stated[key] for key in pairs} == {key: surface[token] for key, token in pairs.items()}


def test_nothing_is_sent_and_nobody_else_is_served_by_default():
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["address"] == "localhost"
    assert CONFIG["client"]["showErrorDetails"] == "none"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_style_sheet_has_no_sign_that_the_sanitiser_drops_and_no_address(name):
    css = theme.css(name)
    assert "<" not in css
    assert "http" not in css
    assert "url(" not in css
