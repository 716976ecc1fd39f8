"""The app in a real browser: filters, downloads, what it asks of other hosts, and how it fits a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from energy.ui.shell import MENU

CHROMIUM = Path(os.environ.get("ENERGY_CHROMIUM", "/usr/bin/chromium"))
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if not CHROMIUM.exists():
    pytest.skip(f"no Chromium at {CHROMIUM}; name it in ENERGY_CHROMIUM", allow_module_level=True)

FIRST = MENU["Ledger"][0][0]
ADDRESSES = ["" if file == FIRST else address for entries in MENU.values() for file, _, address in entries]
WIDTHS = (1280, 390)
PATIENCE_MS = 20_000
# The server is asked for these below a page's own path first, and answers 404: a habit of Streamlit.
PROBES = ("/_stcore/health", "/_stcore/host-config")

# Elements that reach past the screen, but for those inside a box that scrolls by itself.
WIDER_THAN_THE_SCREEN = """() => [...document.querySelectorAll('[data-testid=stMainBlockContainer] *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .filter(e => !e.closest('.en-scroll, [data-testid=stDataFrame], [data-testid=stTable], iframe, pre'))
    .filter(e => !e.closest('[style*="clip: rect(0px"]'))  // the slider's input for screen readers, cut to nothing
    .map(e => e.outerHTML.slice(0, 80)).slice(0, 5)"""
ALTERNATIVE_TEXT = """chart => {
    const has = e => e && (e.getAttribute('aria-label') || e.getAttribute('alt') || e.getAttribute('title'));
    for (let e = chart; e && e !== document.body; e = e.parentElement) if (has(e)) return has(e);
    return has(chart.querySelector('[aria-label], [alt]')) || '';
}"""


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
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    context.close()


def settled(page: sync_api.Page) -> None:
    """Wait until the page has its title and the server has answered all."""
    page.wait_for_selector("h1")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")


def value_of(page: sync_api.Page, label: str) -> str:
    return page.locator(".en-fig", has_text=label).first.locator(".value").inner_text()


def test_a_filter_changes_the_number_and_the_address(page, server):
    page.goto(f"{server}/?unit=MWh")
    settled(page)
    before = value_of(page, "Facility energy")
    assert before.endswith("MWh")
    page.get_by_role("radio", name="GJ").click()
    page.wait_for_function("document.querySelector('.en-fig .value').innerText.endsWith('GJ')")
    after = value_of(page, "Facility energy")
    assert after != before
    assert "unit=GJ" in page.url


def test_a_shared_link_shows_the_same_page(page, browser, server):
    page.goto(f"{server}/?unit=GJ&by=chip")
    settled(page)
    seen = value_of(page, "Facility energy")
    other = browser.new_context().new_page()
    other.goto(page.url)
    settled(other)
    assert value_of(other, "Facility energy") == seen
    assert other.get_by_text("By chip").count()
    other.context.close()


def test_the_way_back_is_one_click_away(page, server):
    page.goto(server)
    settled(page)
    figure = page.locator(".en-fig", has_text="location-based").first
    assert not figure.locator(".en-why").is_visible()
    figure.locator("summary").click()
    assert figure.locator(".en-why").is_visible()
    assert "energy explain front.scope2_location" in figure.inner_text()


def test_downloads_open(page, server):
    page.goto(server)
    settled(page)
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download data (CSV)").first.click()
    rows = Path(caught.value.path()).read_text(encoding="utf-8").splitlines()
    assert rows[0] == "category,series,value,low,high,unit"
    assert len(rows) > 1

    page.goto(f"{server}/report")
    settled(page)
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download HTML").click()
    assert caught.value.suggested_filename == "2026Q1_report.html"
    assert "<html" in Path(caught.value.path()).read_text(encoding="utf-8")


def test_a_format_that_is_written_when_asked_for_opens_too(page, server):
    from energy.report import FORMATS

    if "xlsx" not in FORMATS:
        pytest.skip("the report has no workbook")
    page.goto(f"{server}/report")
    settled(page)
    with page.expect_download(timeout=60_000) as caught:
        page.get_by_role("button", name="Download workbook (XLSX)").click()
    assert Path(caught.value.path()).read_bytes()[:2] == b"PK"


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_page_errs_or_asks_another_host(page, server, address):
    own = urlsplit(server).netloc
    errors: list[str] = []
    outside: list[str] = []
    missing: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "request",
        lambda request: outside.append(request.url) if urlsplit(request.url).netloc not in ("", own) else None,
    )
    page.on("response", lambda response: missing.append(response.url) if response.status >= 400 else None)
    page.goto(f"{server}/{address}")
    settled(page)
    page.wait_for_timeout(500)
    assert outside == []
    assert [url for url in missing if not url.endswith(PROBES)] == []
    assert len([text for text in errors if "404" in text]) == len(missing)
    assert [text for text in errors if "404" not in text] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_page_scrolls_sideways(page, server, address, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{server}/{address}")
    settled(page)
    page.wait_for_timeout(300)
    wide = page.evaluate(WIDER_THAN_THE_SCREEN)
    assert wide == []


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_chart_has_alternative_text(page, server, address):
    page.goto(f"{server}/{address}")
    settled(page)
    for chart in page.locator("[data-testid=stPlotlyChart]").all():
        text = chart.evaluate(ALTERNATIVE_TEXT)
        assert len(text) > 30


@pytest.mark.slow
def test_eight_readers_at_once_see_what_one_sees(browser, server):
    asked = [f"{server}/?by={group}&unit={unit}" for group in ("project", "chip") for unit in ("kWh", "MWh")]
    alone = {}
    for address in asked:
        page = browser.new_page()
        page.goto(address)
        settled(page)
        alone[address] = page.locator(".en-figs").inner_text()
        page.close()
    pages = [(address, browser.new_page()) for address in asked * 2]
    for address, page in pages:
        page.goto(address, wait_until="commit")
    for address, page in pages:
        settled(page)
        assert page.locator(".en-figs").inner_text() == alone[address]
        page.close()


def test_a_filter_is_kept_from_page_to_page_and_in_each_address(page, server):
    page.goto(f"{server}/?quarter=2025Q4&unit=GJ")
    settled(page)
    page.get_by_role("link", name="Report").click()
    page.wait_for_url("**/report?**")
    settled(page)
    assert "quarter=2025Q4" in page.url
    assert "2025 Q4" in page.locator("h1").inner_text()
    page.get_by_role("link", name="Overview").click()
    page.wait_for_url(f"{server}/?**")
    settled(page)
    assert "unit=GJ" in page.url


def test_a_bad_link_is_named_and_a_good_part_of_it_is_kept(page, server):
    page.goto(f"{server}/?quarter=2026Q9&unit=GJ&by=%3Cscript%3E&v=0.0.1")
    settled(page)
    said = page.locator(".en-notice").first.inner_text()
    assert "made by version 0.0.1 and 2 of its 3 values could not be read: quarter, by." in said
    assert value_of(page, "Facility energy").endswith("GJ")
