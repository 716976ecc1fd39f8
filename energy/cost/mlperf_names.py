"""Names of MLPerf Training: benchmarks, rounds and accelerators as submissions write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from energy import catalogue
from energy.catalogue import _tables
from energy.errors import CostError, EnergyError, UnknownNameError, did_you_mean

#: Publication of the first rounds, year and part of it; later ones follow a rule, see :func:`round_year`.
_FIRST_ROUNDS = {"v0.5": 2018.95, "v0.6": 2019.54, "v0.7": 2020.54}
#: Other names of benchmarks. ``ssd`` and ``gnn`` mean another benchmark by round, see :func:`benchmark_name`.
_BENCHMARKS = {
    "resnet50": "resnet",
    "imageclassification": "resnet",
    "3dunet": "unet3d",
    "gnn": "rgat",
    "llama270blora": "llama2_70b_lora",
    "llama2lora": "llama2_70b_lora",
    "llama3405b": "llama31_405b",
    "llama38b": "llama31_8b",
    "sd": "stable_diffusion",
    "flux": "flux1",
    "dcnv2": "dlrm_dcnv2",
    "deepseekv3": "deepseekv3_671b",
}
#: SSD-ResNet34 until v1.1, RetinaNet from v2.0.
_SSD_CHANGED = 2022.2
#: Accelerators whose names in submissions are not those of the catalogue; where several fit, the usual one.
_CHIPS: Mapping[str, str] = MappingProxyType(
    {
        "nvidia_v100_sxm2": "nvidia_v100_sxm2_16",
        "nvidia_v100_sxm3_32gb": "nvidia_v100_sxm2_32",
        "nvidia_v100_sxm3_32gb_450w": "nvidia_v100_sxm2_32",
        "nvidia_a100_sxm": "nvidia_a100_sxm4_40",
        "nvidia_a100_pcie": "nvidia_a100_pcie_40",
        "nvidia_h100_nvl": "nvidia_h100_nvl_94",
        "nvidia_gh200": "nvidia_gh200_96",
        "nvidia_rtx_pro_6000": "nvidia_rtx_pro_6000_server",
        "huawei_ascend910": "huawei_ascend_910",
        "graphcore_gc200_ipu": "graphcore_gc200",
        "graphcore_bow_ipu": "graphcore_bow",
        "google_tpu_v6e_trillium": "google_tpu_v6e",
        "google_tpu_trillium": "google_tpu_v6e",
        "google_tpu_v7_ironwood": "google_tpu_v7",
        "google_tpu_ironwood": "google_tpu_v7",
    }
)
#: The same for product names as submitters print them, without case and separators; the first that fits counts.
_PRINTED = (
    (r"tpuv(2|3|4|5e|5p)\d*", r"google_tpu_v\1"),
    (r".*v100sxm3.*", "nvidia_v100_sxm2_32"),
    (r"(nvidia)?(tesla)?v100(sxm2)?(16gb)?", "nvidia_v100_sxm2_16"),
    (r"(nvidia)?a100", "nvidia_a100_sxm4_40"),
    (r"(?:nvidia)?a100pcie(40|80)gb", r"nvidia_a100_pcie_\1"),
    (r"(nvidia)?h100", "nvidia_h100_sxm5_80"),
    (r"(nvidia)?h100sxm5?96gb", "nvidia_gh200_96"),
    (r"(nvidia)?h100nvl.*", "nvidia_h100_nvl_94"),
    (r"(nvidia)?rtxa5000", "nvidia_rtx_a5000"),
    (r"(nvidia)?rtxpro6000.*", "nvidia_rtx_pro_6000_server"),
    (r".*rx7900xtx", "amd_radeon_rx_7900_xtx"),
    (r"intelrgaudir?(\d).*", r"intel_gaudi\1"),
    (r"ascend910.*", "huawei_ascend_910"),
)
#: What submissions append to a name: power limit, remarks, racks.
_APPENDED = r"\s*\(.*\)\s*$|\s+(cts|dlc)$|[_ -]nvl\d+$|[_ -]\d+w$"
#: Families that share their factors.
_FAMILIES = {"Blackwell Ultra": "Blackwell"}
#: What the catalogue has no 16-bit rate of: family, peak, bandwidth, number in a node; datasheets, recalled. The
#: processors use AVX-512 or AMX.
_OTHER_PARTS = {
    "nvidia_rtx_a5000": ("Ampere", 111e12, 768e9, 8),
    "amd_radeon_rx_7900_xtx": ("RDNA", 123e12, 960e9, 6),
    "intel_xeon_8380": ("CPU", 9e12, 140e9, 8),
    "intel_xeon_8480p": ("CPU", 115e12, 307e9, 2),
}


@dataclass(frozen=True, slots=True)
class Part:
    """An accelerator: dense peaks by width of the format (0: none), its memory, and how many a node usually has.

    ``name`` is its chip of the catalogue where it is one.
    """

    name: str
    family: str
    peak16_flop_per_s: float
    peak8_flop_per_s: float
    peak4_flop_per_s: float
    bandwidth_bytes_per_s: float
    usual_per_node: int


@cache
def benchmarks() -> Mapping[str, _tables.Row]:
    """Return the benchmarks that are known, by name.

    Examples
    --------
    >>> "gpt3" in benchmarks()
    True

    """
    return MappingProxyType({row.text("benchmark"): row for row in _tables.rows("mlperf_benchmarks")})


def fold(name: str) -> str:
    """Return a name without case and separators."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


@cache
def benchmark_name(name: str, year: float | None = None) -> str:
    """Return the benchmark that a submission means.

    Parameters
    ----------
    name : str
        As submissions write it; case and separators do not matter.
    year : float, optional
        When it was published: ``ssd`` is SSD-ResNet34 until 2021 and RetinaNet after.

    Raises
    ------
    UnknownNameError
        When it is not known; the message gives the nearest names.

    Examples
    --------
    >>> benchmark_name("ssd", 2021.5), benchmark_name("ssd", 2023.5), benchmark_name("DLRM-DCNv2")
    ('ssd_resnet34', 'retinanet', 'dlrm_dcnv2')

    """
    key = fold(name)
    if key == "ssd":
        return "ssd_resnet34" if year is not None and year < _SSD_CHANGED else "retinanet"
    known = {fold(one): one for one in benchmarks()}
    if key in known:
        return known[key]
    if key in _BENCHMARKS:
        return _BENCHMARKS[key]
    text = f"{name!r} is no benchmark of MLPerf Training that is known: {', '.join(benchmarks())}."
    raise UnknownNameError(text + did_you_mean(name, benchmarks()))


def round_year(name: str) -> float:
    """Return when a round was published, as a year and its part: from v1.0 on June for .0, November for .1.

    Raises
    ------
    CostError
        When the text is no round.

    Examples
    --------
    >>> round_year("v0.7"), round(round_year("v5.1"), 2), round(round_year("6.0"), 2)
    (2020.54, 2025.88, 2026.46)

    """
    found = re.fullmatch(r"v?(\d+)\.(\d)(?:\.\d+)?", name.strip().casefold())
    if not found:
        raise CostError(f"{name!r} is no round of MLPerf Training: write it as v5.1.")
    first = _FIRST_ROUNDS.get(f"v{found[1]}.{found[2]}")
    if first is not None:
        return first
    if found[1] == "0" or found[2] not in "01":
        raise CostError(f"{name!r} is no round of MLPerf Training: v0.5, v0.6, v0.7, then v1.0, v1.1, v2.0 and so on.")
    return 2020.0 + int(found[1]) + (5.5 if found[2] == "0" else 10.5) / 12.0


@cache
def part(name: str) -> Part:
    """Return the accelerator that a submission names.

    Raises
    ------
    UnknownNameError
        When it is not known; the message gives the nearest names.
    CostError
        When no rate of it is known.

    Examples
    --------
    >>> part("nvidia_h100_sxm").name, part("google_tpu_v6e_trillium").family
    ('nvidia_h100_sxm5_80', 'TPU')

    """
    own = _resolved(name)
    if own in _OTHER_PARTS:
        family, peak, bandwidth, per_node = _OTHER_PARTS[own]
        return Part(own, family, peak, 0.0, 0.0, bandwidth, per_node)
    chip = catalogue.chip(own)
    rate = chip.bf16_tflops or chip.fp16_tflops
    bandwidth_gb_per_s = chip.memory_bandwidth_gb_per_s
    if rate is None or (bandwidth_gb_per_s is None and chip.on_chip_sram_mb is None):
        raise CostError(f"{chip.chip_id} has no 16-bit rate or memory bandwidth in the catalogue: no time follows.")
    return Part(
        chip.chip_id,
        _FAMILIES.get(chip.family, chip.family),
        rate * 1e12,
        (chip.fp8_tflops or 0.0) * 1e12,
        (chip.fp4_tflops or 0.0) * 1e12,
        # An on-chip memory without printed rate does not bound the time of these networks.
        float("inf") if bandwidth_gb_per_s is None else bandwidth_gb_per_s * 1e9,
        4 if chip.scale_up_domain_size == 72 else 8,
    )


def taken_as(name: str) -> str:
    """Return what is said where a name is not exactly one of the catalogue, else an empty text.

    Examples
    --------
    >>> taken_as("nvidia_a100_sxm"), taken_as("nvidia_gb200")
    ('nvidia_a100_sxm is taken as nvidia_a100_sxm4_40.', '')

    """
    own = part(name).name
    with suppress(EnergyError):
        if catalogue.chip(name).chip_id == own:
            return ""
    return "" if fold(name) == fold(own) else f"{name} is taken as {own}."


def _resolved(name: str) -> str:
    """Return the chip of the catalogue, or other part, that a name means."""
    text = name.strip()
    plain = re.sub(_APPENDED, "", text, flags=re.IGNORECASE)
    shorter = re.sub(r"[_ -]?\d+gb$", "", plain, flags=re.IGNORECASE)
    for one in dict.fromkeys((text, plain, shorter)):
        own = _CHIPS.get(one.casefold(), one)
        if own.casefold() in _OTHER_PARTS:
            return own.casefold()
        with suppress(EnergyError):
            return catalogue.chip(own).chip_id
    for pattern, chip in _PRINTED:
        found = re.fullmatch(pattern, fold(plain))
        if found:
            return found.expand(chip)
    return catalogue.chip(text).chip_id
