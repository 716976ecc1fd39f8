"""Fit the time of collectives inside a node: start-up, rate, and a correction over the size of the message."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from catalogue_io import read
from fit_robust import summary
from numpy.typing import NDArray

from energy import catalogue
from energy.cost.kernels import collectives
from energy.cost.kernels.coefficients import measured_names

Floats = NDArray[np.float64]
Data = dict[tuple[str, str, int], tuple[Floats, Floats]]
# 16-bit elements: the switch does not add up 8-bit integers, and nobody trains with those.
DTYPE, BYTES = "half", 2
#: Weight of bends between knots; part of the steepest fall at which a time would stop rising with its bytes.
SMOOTH, STEEPEST = 0.02, 0.95


def load(folder: Path) -> Data:
    """Return message bytes and median seconds by chip, kind and group size: rows repeat and share keys."""
    grouped: dict[tuple[str, str, int], dict[float, list[float]]] = {}
    for row in read(folder / "collective_latency.csv"):
        if row["dtype"] == DTYPE:
            kind = "all_to_all" if row["operation"] == "alltoall" else row["operation"]
            key = (measured_names()[row["chip"]], kind, int(row["num_gpus"]))
            size = float(row["message_elements"]) * BYTES
            grouped.setdefault(key, {}).setdefault(size, []).append(float(row["latency_ms"]) * 1e-3)
    return {
        key: (np.array(sorted(by_size)), np.array([np.median(by_size[size]) for size in sorted(by_size)]))
        for key, by_size in sorted(grouped.items())
    }


def _correction(ratio: Floats, ln_excess: Floats) -> Floats:
    """Return the correction at the knots of log2(wire time over start-up): smooth, zero at the first.

    The time (1 + x) exp(c) must not fall as x rises: no step between knots is steeper than the prior at its left end.
    """
    knots = np.arange(collectives.LOWEST_KNOT, collectives.HIGHEST_KNOT + 1.0)
    hats = np.stack([np.interp(np.log2(ratio), knots, unit) for unit in np.eye(len(knots))], axis=1)
    bends = np.diff(np.eye(len(knots)), n=2, axis=0)
    weight = np.ones(len(ratio))
    values = np.zeros(len(knots))
    anchor = np.diag(np.where(knots == knots[0], 1e3, 1e-3))
    for _ in range(4):
        normal = hats.T @ (hats * weight[:, None]) + SMOOTH * bends.T @ bends + anchor
        values = np.linalg.solve(normal, hats.T @ (weight * ln_excess))
        rest = np.abs(ln_excess - hats @ values)
        weight = 1 / np.maximum(1.0, rest / (1.5 * max(1.4826 * float(np.median(rest)), 0.01)))
    # As the table keeps them, in thousandths.
    values = np.rint(values * 1000)
    values[0] = 0.0
    left = 2.0 ** knots[:-1]
    most = np.floor(1000 * STEEPEST * np.log(2.0) * left / (1.0 + left))
    for place, allowed in enumerate(most, 1):
        values[place] = max(values[place], values[place - 1] - allowed)
    return values / 1000


def fit(key: tuple[str, str, int], size: Floats, time: Floats) -> dict[str, Any]:
    """Return the row of one chip, kind and group size; single message sizes are left out in turn."""
    chip_id, kind, count = key
    latency = float(np.median(time[size <= 4096]))
    wire = collectives.wire_bytes(kind, size, count)
    bus = float(np.median(wire[-3:] / (time[-3:] - latency)))
    latency, bus = float(f"{latency * 1e6:.4g}") * 1e-6, float(f"{bus / 1e9:.4g}") * 1e9
    known = {chip.chip_id: chip.link_gb_per_s_per_direction for chip in catalogue.all_chips()}
    link, note = known.get(chip_id), ""
    if chip_id in known and link is None:
        slot = collectives.host_link_bytes_per_s(chip_id)
        link = None if slot is None else slot / 1e9
        note = "no scale-up link: efficiency over the slot of the measured machine"
    elif link is None:
        note = "not in the catalogue: over the host link of the measured machine, whose rate is not known"
    efficiency = None if link is None else round(bus / 1e9 / link, 4)
    if link is not None and efficiency is not None:
        bus = efficiency * link * 1e9
    ratio = wire / bus / latency
    excess = np.log(time / (latency * (1.0 + ratio)))
    knots = np.arange(collectives.LOWEST_KNOT, collectives.HIGHEST_KNOT + 1.0)
    errors = []
    for out in range(1, len(size) - 1):
        kept = np.arange(len(size)) != out
        errors.append(np.interp(np.log2(ratio[out]), knots, _correction(ratio[kept], excess[kept])) - excess[out])
    values = _correction(ratio, excess)
    return {
        "chip_id": chip_id,
        "operation": kind,
        "group_size": count,
        "latency_us": round(latency * 1e6, 3),
        "bus_gb_per_s": round(bus / 1e9, 3),
        "efficiency": "" if efficiency is None else efficiency,
        "rows": len(size),
        "screened": 0,
        **summary(np.array(errors)),
        "ln_ratio_permille": ";".join(str(value) for value in np.rint(values * 1000).astype(int)),
        "source": "aiconfig",
        "status": "derived",
        "note": note,
    }


def left_out(data: Data) -> dict[int, list[tuple[str, str, Floats]]]:
    """Return errors of chips predicted from the kin, by its distance; only chips with a scale-up link."""
    linked = {chip.chip_id for chip in catalogue.all_chips() if chip.link_gb_per_s_per_direction is not None}
    blackwell = {one for one, _, _ in data if one.startswith(("nvidia_b", "nvidia_gb"))}
    hopper = {"nvidia_h100_sxm5_80", "nvidia_h200_sxm"}
    result: dict[int, list[tuple[str, str, Floats]]] = {}
    for (chip_id, kind, count), (size, time) in data.items():
        if chip_id not in linked:
            continue
        family = next((members for members in (blackwell, hopper) if chip_id in members), {chip_id})
        for step, excluded in ((1, {chip_id}), (2, family)):
            if step == 1 and family == {chip_id}:
                continue
            got = collectives.node_collective_time_s(chip_id, kind, size, count, excluded=frozenset(excluded)).time_s
            result.setdefault(step, []).append((chip_id, kind, np.log(got / time)))
    for step, parts in result.items():
        print("collective, kin step", step, summary(np.concatenate([part[2] for part in parts])), file=sys.stderr)
    return result
