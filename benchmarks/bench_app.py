"""The app's times and its agreement: first useful view, filter to new number, eight readers at once.

    python benchmarks/bench_app.py [LEDGER]

Without LEDGER the example ledger is built. Needs Chromium (ENERGY_CHROMIUM, else /usr/bin/chromium). Prints one JSON
document; times in seconds, medians with the greatest beside them.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from energy.demo import run_demo
from energy.ui.server import running

CHROMIUM = os.environ.get("ENERGY_CHROMIUM", "/usr/bin/chromium")
FIRST_VIEWS, FILTERS, READERS = 5, 6, 8
FIGURE = ".en-fig .value"
MOST_FIRST_S, MOST_FILTER_S, MOST_SLIDER_S = 2.0, 0.5, 0.3


# The page's own clock: from the start of the navigation to the frame after the one that first holds a figure. Asking
# from outside waits for the browser's main thread, which the library of charts keeps busy afterwards.
_STAMP = """
const watch = new MutationObserver(() => {
  if (!document.querySelector('FIGURE')) return;
  watch.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { window.figureSeenMs = performance.now(); }));
});
watch.observe(document, {childList: true, subtree: true});
""".replace("FIGURE", FIGURE)


def first_view(page: Page, address: str) -> float:
    """Return the time from asking for the address to the first figure that is painted."""
    page.add_init_script(_STAMP)
    page.goto(address, wait_until="commit")
    page.wait_for_selector(FIGURE)
    seen = page.wait_for_function("window.figureSeenMs")
    return float(seen.json_value()) / 1000


def later_view(browser: Browser, address: str) -> float:
    """Return the time of the first view of another reader, in a browser without anything kept."""
    context = browser.new_context()
    seconds = first_view(context.new_page(), address)
    context.close()
    return seconds


def filter_times(page: Page) -> list[float]:
    """Return the times from a click on a unit to the number in that unit."""
    out = []
    for number in range(FILTERS):
        unit = ("GJ", "kWh")[number % 2]
        page.wait_for_timeout(600)
        start = time.perf_counter()
        page.get_by_role("radio", name=unit).click()
        page.wait_for_function(f"document.querySelector('{FIGURE}').innerText.endsWith('{unit}')", polling=10)
        out.append(time.perf_counter() - start)
    return out


def slider_times(browser: Browser, address: str) -> tuple[float, list[float]]:
    """Return the first view of the page Scenario, and the times from a key on its PUE to the new number."""
    page = browser.new_page()
    first = first_view(page, f"{address}/scenario")
    shown = "document.querySelector('.en-figs').innerText"  # the change against the start moves with each step
    thumb = page.get_by_role("slider", name="PUE")
    thumb.focus()
    out = []
    for _ in range(FILTERS):
        page.wait_for_timeout(1500)
        before = page.evaluate(shown)
        start = time.perf_counter()
        thumb.press("ArrowRight")
        page.wait_for_function(f"{shown} !== {json.dumps(before)}", polling=10)
        out.append(time.perf_counter() - start)
    page.close()
    return first, out


def readers_agree(browser: Browser, address: str) -> bool:
    """Tell whether eight readers at once, two of each filter, see what one alone sees."""
    asked = [f"{address}/?by={group}&unit={unit}" for group in ("project", "chip") for unit in ("kWh", "MWh")]
    alone = {}
    for one in asked:
        page = browser.new_page()
        first_view(page, one)
        alone[one] = page.locator(".en-figs").inner_text()
        page.close()
    pages = [(asked[number % len(asked)], browser.new_page()) for number in range(READERS)]
    for one, page in pages:
        page.goto(one, wait_until="commit")
    seen = []
    for one, page in pages:
        page.wait_for_selector(FIGURE, timeout=60_000)
        seen.append(page.locator(".en-figs").inner_text() == alone[one])
    return all(seen)


def measure(ledger: Path, folder: Path) -> dict[str, Any]:
    """Return all measurements of the app on a ledger."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        warm = browser.new_page()
        warm.goto("about:blank")
        with running(ledger, folder) as address:
            first = first_view(warm, address)
            later = [later_view(browser, address) for _ in range(FIRST_VIEWS)]
            filters = filter_times(warm)
            scenario, sliders = slider_times(browser, address)
            agree = readers_agree(browser, address)
        browser.close()
    return {
        "first_view_s": round(first, 2),
        "later_views_s": [round(statistics.median(later), 2), round(max(later), 2)],
        "filter_s": [round(statistics.median(filters), 2), round(max(filters), 2)],
        "scenario_first_view_s": round(scenario, 2),
        "slider_s": [round(statistics.median(sliders), 2), round(max(sliders), 2)],
        "eight_readers_agree": agree,
        "limits_s": {"first_view": MOST_FIRST_S, "filter": MOST_FILTER_S, "slider": MOST_SLIDER_S},
        "load_average": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ledger = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else run_demo(folder / "ledger").folder
        print(json.dumps(measure(ledger, folder), indent=2))


if __name__ == "__main__":
    main()
