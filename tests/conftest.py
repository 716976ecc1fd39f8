"""Fixtures for all tests: a small ledger made as `energy demo` makes its own, and the shared reference data."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SCALE = 0.02


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Reference data that lies beside the repository; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("ENERGY_SHARED") or REPOSITORY.parent / "shared")
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared reference data at {folder}; name its folder in ENERGY_SHARED")
    return folder


@pytest.fixture(scope="session")
def small_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of five nodes and a whole quarter, with ``inputs/`` and ``report/``. For reading only."""
    from energy.demo import run_demo

    return run_demo(tmp_path_factory.mktemp("small") / "ledger", scale=SCALE).folder


@pytest.fixture
def own_ledger(small_ledger: Path, tmp_path: Path) -> Path:
    """A copy of the small ledger that a test may change."""
    return Path(shutil.copytree(small_ledger, tmp_path / "ledger", symlinks=True))
