"""How far a board's own reading may be off."""

from __future__ import annotations

from typing import NamedTuple


class ReadingError(NamedTuple):
    """Relative error (95 %) of energy from board readings, with its source and status."""

    fraction: float
    source: str
    status: str


# NVIDIA states 5 % of the current draw for Fermi and Kepler boards only; no figure for later boards was found, and
# arXiv 2312.02741 reports that A100 and H100 sample power for a quarter of the time. So this is an estimate.
READING_ERROR = ReadingError(
    0.05,
    "NVIDIA NVML reference, nvmlDeviceGetPowerUsage: within 5 % of current draw, stated for Fermi and Kepler boards; "
    "extended here to later boards, unverified; arXiv 2312.02741: A100 and H100 sample 25 % of the run time",
    "estimate",
)
