"""The app without a browser, and a server for the tests with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("streamlit", reason="the app's own packages are not installed: pip install 'energy[app]'")

from streamlit.testing.v1 import AppTest

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = REPOSITORY / "energy" / "ui" / "pages"


@pytest.fixture(autouse=True)
def on_this_machine() -> Iterator[None]:
    """Let the app believe that it listens on this machine alone, as its own settings say; they are not read here."""
    from streamlit import config

    before = config.get_option("server.address")
    config.set_option("server.address", "localhost")
    yield
    config.set_option("server.address", before)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., AppTest]:
    """Start the app on a ledger, or on none, at a page with an address."""

    def run(ledger: Path | None, page: str = "", **query: str) -> AppTest:
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        monkeypatch.chdir(tmp_path)
        if ledger is None:
            monkeypatch.delenv("ENERGY_LEDGER", raising=False)
        else:
            monkeypatch.setenv("ENERGY_LEDGER", str(ledger))
        test = AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=30)
        if page:
            test.switch_page(str(PAGES / page))
        for name, value in query.items():
            test.query_params[name] = value
        return test.run()

    return run


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that was begun and holds nothing."""
    from energy.ledger import init

    folder = tmp_path_factory.mktemp("empty") / "ledger"
    init(folder)
    return folder


@pytest.fixture(scope="session")
def server(small_ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running app on the example ledger; started once."""
    from energy.ui.server import running

    with running(small_ledger, tmp_path_factory.mktemp("server")) as address:
        yield address
