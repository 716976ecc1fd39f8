"""The example: a seeded quarter of a mixed fleet, taken in and reported as a stranger's own would be."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy.errors import LedgerError

if TYPE_CHECKING:
    from energy.report import Report

QUARTER = "2026Q1"
SITE_FILE = """\
# The example fleet: two invented sites. All values here are for the example; yours go into your own site.yaml.
entity: Example Compute Ltd
consolidation: operational control
reporting_timezone: UTC
factor_policy: nearest earlier
default_power: own readings   # boards without a reading draw what boards of their kind drew where they were read
sites:
  site-a:
    name: Pennsylvania hall
    zone: RFCE
    hourly_zone: US-PJM
    timezone: America/New_York
    pue: {value: 1.25, low: 1.22, high: 1.28}
    node_overhead: {value: 1.30, low: 1.25, high: 1.35}
  site-b:
    name: Texas hall
    zone: ERCT
    hourly_zone: US-ERCO
    timezone: America/Chicago
    pue:
      - {from: 2025-01-01, to: 2026-02-01, value: 1.40, low: 1.36, high: 1.44}
      - {from: 2026-02-01, to: 2027-01-01, value: 1.32, low: 1.28, high: 1.36}
    node_overhead: {value: 1.30, low: 1.25, high: 1.35}
"""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Where the example lies, and what it says."""

    folder: Path
    report: Report
    paths: tuple[Path, ...]

    def text(self) -> str:
        """Return the closing words: headline figures, the files, what to do next."""
        from energy.report.text import headline

        files = "\n".join(f"  {path}" for path in self.paths)
        folder, twin = shlex.quote(str(self.folder)), shlex.quote(str(self._json()))
        return (
            f"{headline(self.report)}\n\nThe report:\n{files}\n\nNext:\n"
            f"  energy doctor {folder}\n"
            f"  energy explain front.scope2_location --ledger {folder}\n"
            f"  energy verify {twin} --ledger {folder}\n"
            f"  energy init my-ledger        start your own; the example's inputs are in {self.folder / 'inputs'}"
        )

    def _json(self) -> Path:
        return next(path for path in self.paths if path.name == "report.json")

    def document(self) -> dict[str, Any]:
        """Return the same for programs."""
        from energy.report.text import figures

        return {
            "ledger": str(self.folder),
            "quarter": self.report.quarter,
            "files": [str(path) for path in self.paths],
            "figures": figures(self.report),
        }


def run_demo(folder: Path, *, scale: float = 1.0, progress: Callable[[str], None] | None = None) -> DemoResult:
    """Generate the example's inputs, take them in, write the report. Running it again changes nothing.

    Parameters
    ----------
    folder : Path
        Made when absent.
    scale : float, default 1.0
        Size of the fleet; tests run a small one.
    progress : callable, optional
        Receives a line per step.

    Raises
    ------
    LedgerError
        The folder holds something else.
    """
    from energy.example import write as write_inputs
    from energy.ledger.intake import Request, ingest
    from energy.ledger.reader import Ledger
    from energy.ledger.store import pin
    from energy.report import FORMATS, build, write

    say = progress or (lambda _: None)
    _check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "site.yaml").write_text(SITE_FILE, encoding="utf-8")
    say("generating a quarter of jobs and a week of power readings")
    jobs, nodes, power, allocations, _ = write_inputs(folder / "inputs", scale=scale)
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    ingest(
        folder,
        [
            Request("hosts", nodes),
            Request("jobs", jobs, covers_from=start, covers_to=end),
            Request("allocations", allocations),
            Request("power", power),
        ],
        progress=progress,
    )
    say("writing the report")
    with Ledger(folder) as reader:
        made = build(reader, QUARTER)
        paths = write(made, folder / "report", FORMATS)
        pin(folder, reader.version)
    return DemoResult(folder, made, tuple(paths))


def _check_folder(folder: Path) -> None:
    """Refuse to write into somebody's own folder."""
    if folder.is_file():
        raise LedgerError(f"{folder} is a file; choose a folder for the example.")
    site_file = folder / "site.yaml"
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not site_file.is_file() or site_file.read_bytes() != SITE_FILE.encode():
        raise LedgerError(
            f"{folder} holds something other than the example; nothing was changed. Choose another folder."
        )
