"""Chips as the kernel measurements name them, and the coefficient tables that ``fit_kernels.py`` wrote."""

from __future__ import annotations

from pathlib import Path

from catalogue_fields_kernels import FIELDS
from catalogue_io import Row, read

FITTED = [table for table in FIELDS if table != "kernel_chips"]

# chip: compute units. Streaming multiprocessors, compute units, cores or matrix units, as product pages print them.
UNITS = {
    "nvidia_p100_sxm2": 56,
    "nvidia_p100_pcie_16": 56,
    "nvidia_v100_sxm2_16": 80,
    "nvidia_v100_sxm2_32": 80,
    "nvidia_v100_pcie": 80,
    "nvidia_t4": 40,
    "nvidia_a10": 72,
    "nvidia_a10g": 80,
    "nvidia_a30": 56,
    "nvidia_a40": 84,
    "nvidia_a100_sxm4_40": 108,
    "nvidia_a100_sxm4_80": 108,
    "nvidia_a100_pcie_40": 108,
    "nvidia_a100_pcie_80": 108,
    "nvidia_l4": 58,
    "nvidia_l40": 142,
    "nvidia_l40s": 142,
    "nvidia_rtx_3090": 82,
    "nvidia_rtx_4090": 128,
    "nvidia_rtx_5090": 170,
    "nvidia_rtx_a6000": 84,
    "nvidia_rtx_6000_ada": 142,
    "nvidia_rtx_pro_6000_server": 188,
    "nvidia_h100_sxm5_80": 132,
    "nvidia_h100_pcie_80": 114,
    "nvidia_h100_nvl_94": 132,
    "nvidia_h800_sxm5": 132,
    "nvidia_h20": 78,
    "nvidia_h200_sxm": 132,
    "nvidia_h200_nvl": 132,
    "nvidia_gh200_96": 132,
    "nvidia_gh200_144": 132,
    "nvidia_b200_sxm": 148,
    "nvidia_b300_sxm": 148,
    "nvidia_gb200": 152,
    "nvidia_gb300": 152,
    "amd_mi50": 60,
    "amd_mi100": 120,
    "amd_mi210": 104,
    "amd_mi250": 208,
    "amd_mi250x": 220,
    "amd_mi300a": 228,
    "amd_mi300x": 304,
    "amd_mi325x": 304,
    "amd_mi350x": 256,
    "amd_mi355x": 256,
    "intel_max_1550": 128,
}
MEASURED = {
    "nvidia_a100_sxm4_80": "NVIDIA A100 80GB SXM",
    "nvidia_b200_sxm": "NVIDIA B200 SXM",
    "nvidia_b300_sxm": "NVIDIA B300 SXM",
    "nvidia_gb200": "NVIDIA GB200",
    "nvidia_gb300": "NVIDIA GB300",
    "nvidia_h100_sxm5_80": "NVIDIA H100 SXM",
    "nvidia_h200_sxm": "NVIDIA H200 SXM",
    "nvidia_l40s": "NVIDIA L40S",
    "nvidia_rtx_pro_6000_server": "NVIDIA RTX PRO 6000 Blackwell Server",
}


def kernel_chips() -> list[Row]:
    """Return compute units by chip, and the one measured chip that the catalogue does not have."""
    rows: list[Row] = [
        {
            "chip_id": chip_id,
            "measured_name": MEASURED.get(chip_id, ""),
            "compute_units": units,
            "source": "recalled",
            "status": "estimate",
        }
        for chip_id, units in UNITS.items()
    ]
    rows.append(
        {
            "chip_id": "intel_arc_pro_b60",
            "measured_name": "Intel Arc Pro B60",
            "compute_units": 20,
            "vendor": "Intel",
            "family": "Battlemage",
            "launch_year": 2025,
            "bf16_tflops": 98.3,
            "fp8_tflops": 98.3,
            "memory_bandwidth_gb_per_s": 456,
            "cache_mb": 18,
            "source": "recalled",
            "status": "estimate",
            "note": "no matrix rate of its own in fp8: measured at the rate of bf16",
        }
    )
    return rows


def fitted(folder: Path) -> dict[str, list[Row]]:
    """Return the tables that ``fit_kernels.py`` wrote into a folder, as they are; empty where it has not run."""
    return {table: [*read(path)] if (path := folder / f"{table}.csv").exists() else [] for table in FITTED}
