"""Measured power of chips in a state: single readings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from catalogue_io import read

#: Cards of the measurements under a power limit, and their chips; the Quadro RTX 6000 is not in chips.csv.
CARDS = {
    "nvidia_p100_pcie": "nvidia_p100_pcie_16",
    "nvidia_v100_pcie": "nvidia_v100_pcie",
    "nvidia_a40": "nvidia_a40",
}
_QUOTED = "quoted in a literature note, which names no form factor where the source does not"


def _row(
    chip_id: str, state: str, watts: tuple[float, float | None, float | None], source: str, status: str, note: str
) -> dict[str, Any]:
    value, low, high = watts
    return {
        "chip_id": chip_id,
        "state": state,
        "power_chip_w": value,
        "power_chip_low_w": "" if low is None else low,
        "power_chip_high_w": "" if high is None else high,
        "source": source,
        "status": status,
        "note": note,
    }


#: Single readings: chip, state, device and state as node_power_points.csv names them, note.
_SINGLE = (
    ("nvidia_h100_sxm5_80", "idle_context", "nvidia_h100", "idle with CUDA", _QUOTED),
    ("nvidia_l40s", "idle", "nvidia_l40s", "idle, no context", _QUOTED),
    ("nvidia_l40s", "idle_context", "nvidia_l40s", "idle with CUDA", _QUOTED),
    ("nvidia_l4", "idle", "nvidia_l4", "idle", _QUOTED),
    ("nvidia_t4", "idle", "nvidia_t4", "idle", _QUOTED),
    ("nvidia_a30", "idle", "nvidia_a30", "idle", _QUOTED),
)


def states(shared: Path) -> list[dict[str, Any]]:
    """Return the readings, by chip and state."""
    points = read(shared / "validation/node_power_points.csv")

    def point(device: str, state: str) -> float:
        found = [float(row["power_w"]) for row in points if row["device"] == device and row["state"].startswith(state)]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} rows of {device}, {state}: expected one")
        return found[0]

    kalos = {
        row["percentile"]: float(row["gpu_power_w"])
        for row in read(shared / "data/chips/gpu_power_percentiles_a100.csv")
        if row["cluster"] == "Kalos"
    }
    a100, h100 = "nvidia_a100_sxm4_80", "nvidia_h100_sxm5_80"
    idle = (62.0, kalos["1"], kalos["10"])
    context = (point("nvidia_a100", "idle with CUDA"), None, kalos["50"])
    bare = point("nvidia_h100_sxm", "idle, no context")
    rows = [
        _row(a100, "idle", idle, "acme_trace", "catalogue", "1st to 10th percentile of a production cluster"),
        _row(
            a100,
            "idle_context",
            context,
            "idle_notes;acme_trace",
            "estimate",
            f"{_QUOTED}; high: median of a production cluster",
        ),
        _row(h100, "idle", (bare, point("nvidia_h100", "idle / maximum"), bare), "idle_notes", "estimate", _QUOTED),
    ]
    rows += [
        _row(chip_id, state, (point(device, text), None, None), "idle_notes", "estimate", note)
        for chip_id, state, device, text, note in _SINGLE
    ]
    return rows + _contexts(shared)


def _contexts(shared: Path) -> list[dict[str, Any]]:
    """Return the lowest readings of chips that repeat kernels: clocks are up and hardly any unit works."""
    table = pq.read_table(shared / "data/kernels/gemm_power.parquet", columns=["chip", "power_w"]).to_pydict()
    chip, power = np.array(table["chip"]), np.array(table["power_w"])
    names = {"NVIDIA H200 SXM": "nvidia_h200_sxm", "NVIDIA B200 SXM": "nvidia_b200_sxm", "NVIDIA GB200": "nvidia_gb200"}
    rows = []
    for name, chip_id in names.items():
        low, value, high = (round(float(one), 1) for one in np.quantile(power[chip == name], [0.001, 0.01, 0.05]))
        note = "0.1st, 1st and 5th percentile of readings while small products repeat"
        rows.append(_row(chip_id, "idle_context", (value, low, high), "aiconfig", "derived", note))
    caps = read(shared / "validation/gpu_power_caps.csv")
    for name, chip_id in CARDS.items():
        watts = np.array([float(row["average_gpu_power_w"]) for row in caps if row["gpu"] == name])
        low, value = (round(float(one), 1) for one in np.quantile(watts, [0.0, 0.02]))
        note = "least and 2nd percentile of the means of an epoch, training on tiny batches: an upper bound"
        rows.append(_row(chip_id, "idle_context", (value, low, None), "zeus_nsdi23", "derived", note))
    return rows
