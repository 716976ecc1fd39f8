"""Fleet, SQL and Catalogue in a real browser: refusals, downloads, and links that show the same again."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

CHROMIUM = Path(os.environ.get("ENERGY_CHROMIUM", "/usr/bin/chromium"))
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if not CHROMIUM.exists():
    pytest.skip(f"no Chromium at {CHROMIUM}; name it in ENERGY_CHROMIUM", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser) -> Iterator[sync_api.Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    yield opened
    context.close()


def settled(page):
    page.wait_for_selector("h1")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def test_delete_is_refused_with_its_place_and_the_text_stays(page, server):
    page.goto(f"{server}/sql")
    settled(page)
    editor = page.get_by_role("textbox", name="Query: one SELECT")
    editor.fill("DELETE FROM jobs")
    editor.press("Control+Enter")
    page.get_by_text("Only SELECT is allowed. Line 1, column 1: DELETE.").wait_for()
    assert editor.input_value() == "DELETE FROM jobs"
    page.wait_for_url("**/sql?*q=*")
    assert parse_qs(urlsplit(page.url).query)["q"] == ["DELETE FROM jobs"]


def test_all_three_downloads_of_a_result_open(page, server, tmp_path):
    import pyarrow.parquet

    text = "SELECT month, sum(energy_it_kwh) AS energy_it_kwh FROM energy_monthly GROUP BY month ORDER BY month"
    page.goto(f"{server}/sql?q={quote(text)}")
    settled(page)
    page.get_by_text("This query came with the link and was run").wait_for()
    files = {}
    for kind in ("CSV", "JSON", "Parquet"):
        with page.expect_download() as caught:
            page.get_by_role("button", name=f"Download {kind}").click()
        files[kind] = tmp_path / caught.value.suggested_filename
        caught.value.save_as(files[kind])
    with files["CSV"].open(encoding="utf-8", newline="") as lines:
        months = [row[0] for row in list(csv.reader(lines))[1:]]
    assert [row[0] for row in json.loads(files["JSON"].read_text(encoding="utf-8"))["rows"]] == months
    table = pyarrow.parquet.read_table(files["Parquet"])
    assert table["month"].to_pylist() == months
    assert table.schema.field("energy_it_kwh").metadata[b"unit"] == b"kWh_it"


def test_a_fleet_filter_is_in_the_address_and_the_link_shows_it_again(page, browser, server):
    page.goto(f"{server}/fleet")
    settled(page)
    whole = page.locator(".en-fig", has_text="Chip-hours available").locator(".value").inner_text()
    page.get_by_role("combobox", name="Project").click()
    page.get_by_role("option", name="llm-pretrain").click()
    page.get_by_text("Facility energy of llm-pretrain").first.wait_for()
    settled(page)
    assert parse_qs(urlsplit(page.url).query)["project"] == ["llm-pretrain"]
    assert page.locator(".en-fig", has_text="Chip-hours available").locator(".value").inner_text() == whole
    seen = page.locator(".en-figs").inner_text()
    other = browser.new_page()
    other.goto(page.url)
    settled(other)
    assert other.locator(".en-figs").inner_text() == seen
    other.close()


def test_the_columns_of_a_view_open_without_asking_the_server(page, server):
    page.goto(f"{server}/sql")
    settled(page)
    page.locator("summary", has_text="energy_hourly").first.click()
    assert page.locator(".en-schema dt", has_text="energy_facility_kwh").first.is_visible()
    assert "kWh_facility" in page.locator(".en-schema dt", has_text="energy_facility_kwh").first.inner_text()


def test_the_catalogue_names_the_nearest(page, server):
    page.goto(f"{server}/catalogue?kind=zones&search=Swedn")
    settled(page)
    page.get_by_text("Nearest: Sweden").wait_for()
