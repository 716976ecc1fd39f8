"""Pictures of every page at both widths in both themes, into ``docs/screenshots/``: ``make screenshots``.

    python scripts/screenshots.py [LEDGER] [--only PAGE]

Without LEDGER the example ledger is built. Needs Chromium (ENERGY_CHROMIUM, else /usr/bin/chromium).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from energy.demo import run_demo
from energy.ui.server import running
from energy.ui.shell import MENU
from energy.ui.theme import tokens

CHROMIUM = os.environ.get("ENERGY_CHROMIUM", "/usr/bin/chromium")
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "screenshots"
WIDTHS = (1280, 390)
THEMES = ("light", "dark")
SETTLE_MS = 1500
MOST_PX = 4200  # a page that is longer is cut
COLOURS = 256
QUIET = "[data-testid=stApp][data-test-script-state=notRunning]"
MAIN = "[data-testid=stMainBlockContainer]"


def picture(browser: Browser, address: str, width: int, theme: str) -> bytes:
    """Return a picture of a whole page as PNG of few colours."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("h1", timeout=60_000)
    page.wait_for_selector(QUIET, timeout=60_000)
    page.wait_for_timeout(SETTLE_MS)
    height = page.evaluate(f"document.querySelector('{MAIN}').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(700, min(int(height) + 10, MOST_PX))})
    page.wait_for_timeout(SETTLE_MS)
    image = Image.open(io.BytesIO(page.screenshot()))
    context.close()
    out = io.BytesIO()
    _fewer_colours(image.convert("RGB"), theme).save(out, "PNG", optimize=True)
    return out.getvalue()


def _fewer_colours(image: Image.Image, theme: str) -> Image.Image:
    """Return a picture of 256 colours that keeps the theme's own: a median cut would lose those of few pixels."""
    own = [bytes.fromhex(text[1:]) for text in re.findall(r"#[0-9A-Fa-f]{6}", json.dumps(tokens()[theme]))]
    cut = image.quantize(COLOURS - len(set(own)), dither=Image.Dither.NONE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*b"".join(dict.fromkeys(own)), *cut])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def main() -> None:
    """Take all pictures, or those of one page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ledger", nargs="?", type=Path)
    parser.add_argument("--only", help="address of one page, such as report")
    chosen = parser.parse_args()
    first = MENU["Ledger"][0][0]
    pages = [(file, address) for entries in MENU.values() for file, _, address in entries]
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        ledger = chosen.ledger.resolve() if chosen.ledger else run_demo(folder / "energy-demo").folder
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with running(ledger, folder) as server:
            for file, address in pages:
                if chosen.only not in (None, address):
                    continue
                for width in WIDTHS:
                    for theme in THEMES:
                        where = server if file == first else f"{server}/{address}"
                        path = FOLDER / f"{address}_{width}_{theme}.png"
                        path.write_bytes(picture(browser, where, width, theme))
                        print(path.relative_to(FOLDER.parents[1]), f"{path.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
