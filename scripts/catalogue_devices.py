"""What draws power under the name of each chip: a card, a package, a module, a system; up to which limit, how sure.

One row for each chip of ``chips.csv``. Most follow a rule by the kind of rated power; those whose rated power is
another thing than what their device draws are named below, each with the column or row that it takes its figures from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from catalogue_io import Row, short

#: Range of a limit by how it is known, as a factor either way (95 %). Guesses of one chip differ by up to 2.7
#: (Inferentia, 75 and 200 W); rated and measured maximum by 1.7 (TPU v3, 450 and 262 W).
GUESS, ESTIMATE, SECOND_HAND = 2.0, 1.5, 1.25
#: Watts per dense FLOP/s of a chip over those of the same maker's latest chip before it: median, and the factor around
#: it that 95 % of 52 chips of known power stay within.
KIN_RATIO, KIN_FACTOR = 0.72, 3.1
#: Rated power over the measured maximum of the only chip that has both from its maker (TPU v3).
MEASURED_TO_RATED = 450.0 / 262.0
IDLE, IDLE_LOW, IDLE_HIGH = 0.15, 0.08, 0.25
#: A processor without work: share of its rated power (recalled), value and 95 % range.
PROCESSOR_IDLE = (0.25, 0.10, 0.45)
#: Greatest power of the whole computer at the wall over the package maximum of Apple chips: mean of the seven rows that
#: have both; less a supply of 0.9.
APPLE_WALL, SUPPLY = 1.92, 0.9
_EVENTS = ("intel_loihi1", "intel_loihi2", "brainchip_akd1000", "ibm_truenorth", "spinnaker2", "ibm_northpole")
_CONVERSIONS = ("mythic_m1076", "mythic_m1108", "ibm_hermes", "encharge_en100", "lightmatter_envise", "afpr_cim")
_FPGA = ("Alveo", "Versal AI Core", "Stratix 10", "Agilex", "Arria 10", "Speedster7t")
_SECOND_HAND = (
    "surveyed",
    "reported",
    "laics",
    "recalled",
    "order of magnitude",
    "typical",
    "simulation",
    "as printed",
)
#: Chips of which no power is published: the maker's latest chip before, for watts per FLOP/s.
_KIN = {
    "nvidia_rubin": "nvidia_gb300",
    "amd_mi455x": "amd_mi355x",
    "aws_trainium3": "aws_trainium2",
    "huawei_ascend_950dt": "huawei_ascend_910b",
    "intel_agilex7_m": "intel_stratix10_nx",
}


def _cells(
    device: str, boundary: str, model: str, limit: tuple[float, float, float], idle: tuple[float, float, float]
) -> Row:
    names = ("limit_w", "limit_low_w", "limit_high_w", "idle_w", "idle_low_w", "idle_high_w")
    values = dict(zip(names, (short(value) for value in (*limit, *idle)), strict=True))
    return {"device": device, "boundary": boundary, "model": model, **values}


#: Chips whose rated power is another thing: cells that replace those of the rule, and why. A limit is value, low, high.
_SPECIAL: dict[str, dict[str, Any]] = {
    "google_tpu_v3": {
        "limit": (262.0, 262.0, 450.0),
        "typical": 220.0,
        "source": "gcp_v3",
        "status": "estimate",
        "note": "measured mean and maximum of the vendor's own work; high end: the TDP, which that work does not draw",
    },
    "google_tpu_v4": {
        "limit": (192.0, 192.0, 192.0 * MEASURED_TO_RATED),
        "typical": 170.0,
        "status": "estimate",
        "note": "measured mean and maximum of the vendor's own work, no limit; high end as that of TPU v3",
    },
    "aws_inferentia1": {
        "limit": (75.0, 75.0 / GUESS, 200.0),
        "status": "estimate",
        "note": "no power is published; the high end is another survey's figure",
    },
    "groq_lpu_v1": {
        "device": "card",
        "limit": (300.0, 215.0, 375.0),
        "status": "estimate",
        "note": "card of 300 W, its highest setting 375 W; the chip alone is rated 215 W",
    },
    "graphcore_gc200": {
        "limit": (300.0, 150.0, 375.0),
        "status": "estimate",
        "note": "second-hand; low: a chip of the generation before; high: a quarter of the machine's 1.5 kW, which "
        "holds gateway, fans and supplies too",
    },
    "graphcore_bow": {
        "limit": (300.0, 150.0, 375.0),
        "status": "estimate",
        "note": "second-hand; low: a chip two generations before; high: a quarter of the machine of the one before",
    },
    "graphcore_gc2": {"device": "half of a card", "note": "two chips share one card of 300 W"},
    "brainchip_akd1000": {
        "limit": (0.3, 0.03, 1.0),
        "idle": (0.01, 0.0001, 0.03),
        "status": "estimate",
        "note": "by task 0.1 to 300 mW, typically 30 mW (second-hand); boards draw up to 1 W (recalled)",
    },
    "ibm_truenorth": {
        "limit": (0.5, 0.07, 0.625),
        "idle": (0.03, 0.01, 0.07),
        "status": "estimate",
        "note": "surveyed; the paper reports about 0.07 W running (recalled); idle power assumed below that",
    },
    "spinnaker2": {"limit": (5.0, 2.0, 5.0), "status": "estimate", "note": "2 to 5 W"},
    "nvidia_gh200_96": {
        "device": "module",
        "note": "limit of the module: GPU, processor and memory together; the GPU alone: energy.power.scopes",
    },
    "nvidia_gh200_144": {
        "device": "module",
        "note": "limit of the module: GPU, processor and memory together; the GPU alone: energy.power.scopes",
    },
    "amd_mi300a": {"device": "package", "note": "processor cores and GPU share the package: no processor is added"},
    "amd_mi250x": {"note": "one board of two dies, which tools list as two devices; the first reports all power"},
    "amd_mi250": {"note": "one board of two dies, which tools list as two devices; the first reports all power"},
    "nvidia_gb10": {"device": "package", "note": "processor and GPU in one package of 140 W, memory not included"},
    "cerebras_wse1": {"device": "system", "note": "whole system at its plug: no node overhead is added"},
    "cerebras_wse2": {"device": "system", "note": "whole system at its plug: no node overhead is added"},
    "cerebras_wse3": {
        "device": "system",
        "note": "whole system at its plug: no node overhead is added; MemoryX, SwarmX and hosts draw extra",
    },
    "intel_loihi1": {"device": "share of a system", "note": "a 768th of Pohoiki Springs at its plug"},
    "intel_loihi2": {"device": "share of a system", "note": "an 1152nd of Hala Point at its plug"},
    "huawei_ascend_910c": {
        "device": "share of a system",
        "boundary": "it",
        "limit": (1456.0, 1456.0 / ESTIMATE, 1456.0 * SECOND_HAND),
        "like": "huawei_ascend_910b",
        "status": "estimate",
        "note": "a 384th of a system estimated at 559 kW, with all around the chips; chip power is not published",
    },
    "sambanova_sn40l": {
        "device": "share of a system",
        "boundary": "it",
        "limit": (625.0, 625.0 / SECOND_HAND, 625.0 * ESTIMATE),
        "like": "amd_mi300x",
        "status": "estimate",
        "note": "a sixteenth of a rack that averages 10 kW in inference, with everything; chip power is not published",
    },
}


def devices(chips: Sequence[Row]) -> list[Row]:
    """Return one row for each chip, in their order."""
    by_id = {str(row["chip_id"]): row for row in chips}
    return [_device(row, by_id) for row in chips]


def _device(chip: Row, by_id: dict[str, Row]) -> Row:
    own = _SPECIAL.get(str(chip["chip_id"]), {})
    limit, status, note = _limit(chip, by_id)
    limit, status = own.get("limit", limit), own.get("status", status)
    idle = own.get("idle") or _idle(chip, limit)
    device = own.get("device") or _device_of(chip)
    boundary = own.get("boundary") or chip["power_boundary"]
    like = own.get("like") or _KIN.get(str(chip["chip_id"]), chip["chip_id"])
    return {
        "chip_id": chip["chip_id"],
        **_cells(device, boundary, _model(chip), limit, idle),
        "typical_w": own.get("typical", ""),
        "like_chip_id": like,
        "source": ";".join(filter(None, (str(chip["source"]), own.get("source", "")))),
        "status": status,
        "note": own.get("note") or note,
    }


def _limit(chip: Row, by_id: dict[str, Row]) -> tuple[tuple[float, float, float], str, str]:
    """Return the limit with its range, its status and a note."""
    if chip["tdp_w"] in (None, ""):
        kin = by_id.get(_KIN.get(str(chip["chip_id"]), ""))
        if kin is None:  # a special row gives it
            return (0.0, 0.0, 0.0), "estimate", ""
        column = "bf16_tflops" if chip["bf16_tflops"] not in (None, "") else "int8_tops"
        value = KIN_RATIO * float(kin["tdp_w"]) * float(chip[column]) / float(kin[column])
        said = f"no power is published: {KIN_RATIO:g} times the watts per operation of {kin['chip_id']}"
        return (value, value / KIN_FACTOR, value * KIN_FACTOR), "estimate", said
    rated, kind = float(chip["tdp_w"]), str(chip["tdp_kind"])
    if chip["family"] == "M series":
        wall = float(chip["measured_max_w"] or APPLE_WALL * rated)
        said = "package with memory and processor; high: what the whole computer draws at the wall, less its supply"
        return (rated, rated, wall * SUPPLY), "estimate", said
    factor = _factor(kind, str(chip["recalled_fields"]).split(";"))
    if factor > 1.0:
        return (rated, rated / factor, rated * factor), "estimate", f"rated power: {kind}"
    return (rated, rated, rated), "catalogue", ""


def _factor(kind: str, recalled: Sequence[str]) -> float:
    if "guess" in kind:
        return GUESS
    if "estimate" in kind:
        return ESTIMATE
    second_hand = "tdp_w" in recalled or "all" in recalled or any(word in kind for word in _SECOND_HAND)
    return SECOND_HAND if second_hand else 1.0


def _idle(chip: Row, limit: tuple[float, float, float]) -> tuple[float, float, float]:
    if chip["family"] == "CPU":
        value, low, high = (share * limit[0] for share in PROCESSOR_IDLE)
        return value, low, high
    if chip["idle_w"] in (None, ""):
        return IDLE * limit[0], IDLE_LOW * limit[1], IDLE_HIGH * limit[2]
    return float(chip["idle_w"]), float(chip["idle_low_w"]), float(chip["idle_high_w"])


def _device_of(chip: Row) -> str:
    if chip["family"] == "CPU":
        return "socket"
    if chip["family"] == "M series":
        return "package"
    if str(chip["form_factor"]).startswith(("PCIe", "dual M.2", "M.2")) or chip["family"] in _FPGA:
        return "card"
    return "chip" if chip["chip_id"] in (*_EVENTS, *_CONVERSIONS) else "board"


def _model(chip: Row) -> str:
    if chip["family"] == "CPU":
        return "processor"
    if chip["family"] in _FPGA:
        return "design"
    if chip["chip_id"] in _EVENTS:
        return "events"
    return "conversions" if chip["chip_id"] in _CONVERSIONS else "curve"
