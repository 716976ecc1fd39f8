"""How far a board's own reading may be off."""

from __future__ import annotations

from typing import NamedTuple


class ReadingError(NamedTuple):
    """Relative error (95 %) of energy from board readings, with its source and status."""

    fraction: float
    source: str
    status: str


# NVIDIA states 5 % of the current draw for older boards only; no vendor states a figure for boards since Pascal, and
# Yang, Adamek and Armour (2023) find that A100 and H100 sample a quarter of the time. So it is shown as an estimate.
READING_ERROR = ReadingError(
    0.05,
    "NVIDIA NVML reference, nvmlDeviceGetPowerUsage: within 5 % of current draw, stated for Fermi and Kepler boards; "
    "extended here to later boards; arXiv 2312.02741 shows larger errors for short loads",
    "estimate",
)
