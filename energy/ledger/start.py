"""Start a ledger: a folder and a ``site.yaml`` to fill in."""

from __future__ import annotations

from pathlib import Path

from energy.errors import LedgerError
from energy.ledger.site_file import FILE_NAME

TEMPLATE = """\
# What the fleet is. Every value here is yours: nothing is taken for granted in silence.
# docs/site_file.md explains each key; `energy catalogue zones` and `energy catalogue chips` list the names.
entity: Example Compute Ltd            # who reports
consolidation: operational control     # operational control, financial control or equity share
reporting_timezone: UTC                # the quarter's edges follow it
factor_policy: nearest earlier         # exact | nearest earlier | nearest any: which year's factor may stand in
sites:
  site-a:
    name: Example site
    zone: {zone}                       # grid zone of the location-based factor, and of the residual mix
    # hourly_zone: US-CISO             # adds the hourly method where the catalogue has hours
    timezone: UTC
    pue: {{value: 1.3, low: 1.2, high: 1.5}}            # site meter over IT; give your own, by period if it changes
    node_overhead: {{value: 1.3, low: 1.25, high: 1.35}} # plug over boards, unverified; without it: a model
    hosts:
      - {{pattern: "node-[001-004]", chip: NVIDIA H100 80GB HBM3, chips: 8}}
"""


def init(folder: Path, zone: str = "DEU") -> Path:
    """Make a ledger folder with a ``site.yaml`` to fill in; return the path of that file.

    Raises
    ------
    LedgerError
        The folder has a ``site.yaml`` already: nothing is overwritten.
    """
    path = folder / FILE_NAME
    if path.exists():
        raise LedgerError(f"{path} is there already; nothing was changed. Edit it, or choose another folder.")
    if folder.exists() and not folder.is_dir():
        raise LedgerError(f"{folder} is a file; choose a folder.")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(TEMPLATE.format(zone=zone), encoding="utf-8")
    return path
