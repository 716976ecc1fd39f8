"""What is known of the parts of nodes before any measurement of a plug: the start and the pull of the fit.

Values marked ``estimate`` are general knowledge or second-hand: they hold the fit in place, and decide no test.
"""

from __future__ import annotations

from typing import Any

# term: value, low, high, source, status, note
TERMS: dict[str, tuple[float, float, float, str, str, str]] = {
    "cpu_idle_fraction": (0.35, 0.25, 0.5, "node_recalled", "estimate", "processors of servers at rest over TDP"),
    "cpu_full_fraction": (0.85, 0.6, 1.0, "node_recalled", "estimate", "all cores at work over TDP"),
    "dram_w_per_gb": (0.12, 0.06, 0.3, "node_recalled", "estimate", "registered modules of DDR4 and DDR5"),
    "network_w_per_gbit_per_s": (
        0.0625,
        0.04,
        0.1,
        "mleng_net",
        "estimate",
        "25 W of an adapter of 400 Gb/s (recalled)",
    ),
    "switch_w_per_chip": (
        *(50.0, 25.0, 100.0, "mleng_net", "estimate"),
        "scale-up switches: baseboard of eight H100 has 6.0 kW at most, chips 5.6 kW; pJ per bit fall as rates rise",
    ),
    "host_rest_fraction": (
        *(0.8, 0.5, 1.0, "node_recalled", "estimate"),
        "watts of memory, adapters, switches, board with no work over those with work",
    ),
    "fan_share_air": (0.14, 0.08, 0.22, "node_recalled", "estimate", "8 to 15 % of an air-cooled server, vendor notes"),
    "fan_share_liquid": (
        0.03,
        0.01,
        0.06,
        "node_recalled",
        "estimate",
        "cold plates: 2 to 4 %, the rest of the heat by air",
    ),
    "fan_share_immersion": (0.0, 0.0, 0.02, "mlperf_power", "derived", "single-phase immersion: no server fans"),
    "fan_share_passive": (0.0, 0.0, 0.02, "mlperf_power", "derived", "no fans"),
    "cpu_tdp_base_w": (70.0, 50.0, 100.0, "node_recalled", "estimate", "EPYC: part of TDP that does not follow cores"),
    "cpu_tdp_w_per_core": (2.8, 2.0, 4.0, "node_recalled", "estimate", "EPYC: TDP by cores"),
    "cpu_tdp_platinum_w": (270.0, 205.0, 350.0, "node_recalled", "estimate", "Xeon Platinum"),
    "cpu_tdp_gold_w": (165.0, 105.0, 250.0, "node_recalled", "estimate", "Xeon Gold"),
    "cpu_tdp_silver_w": (100.0, 85.0, 150.0, "node_recalled", "estimate", "Xeon Silver"),
    "supply_rating_ratio": (
        *(1.9, 1.2, 3.0, "sc_dgxh100", "estimate"),
        "rating of all supplies over the most they carry: DGX H100 has 6 x 3.3 kW for 10.2 kW",
    ),
    "fabric_w_per_gbit_per_s": (
        *(0.02699, 0.02, 0.3, "mlperf_power", "derived"),
        "leaf switch of 691 W for 64 H100 at 400 Gb/s (Training v4.1, Dell); high: as a submitter of v4.0 estimates",
    ),
    "rack_pump_share": (0.02, 0.01, 0.04, "node_recalled", "estimate", "pumps of a distribution unit inside the rack"),
}

_HOST = (
    *("cpu_count", "cpu_per_chip", "cpu_tdp_w", "dram_gb", "dram_gb_per_chip", "network_gbit_per_s"),
    *("network_gbit_per_s_per_chip", "board_w", "board_w_per_chip", "supply_efficiency"),
)
_HOSTS: dict[str, tuple[float, ...]] = {
    "platform": (2, 0, 350, 0, 256, 0, 400, 150, 10, 0.96),
    "half_platform": (2, 0, 280, 0, 128, 200, 0, 100, 10, 0.96),
    "superchip": (0, 0.5, 250, 0, 0, 0, 400, 0, 60, 0.96),
    "module": (0, 0, 0, 0, 0, 400, 0, 80, 10, 0.96),
    "server_large": (2, 0, 250, 512, 0, 100, 0, 80, 15, 0.96),
    "server": (2, 0, 180, 192, 0, 50, 0, 50, 5, 0.94),
    "edge_server": (1, 0, 100, 64, 0, 20, 0, 25, 5, 0.94),
    "desktop": (1, 0, 170, 64, 0, 0, 0, 40, 5, 0.94),
    "embedded": (1, 0, 5, 8, 0, 0, 0, 1, 0.5, 0.9),
    "whole_system": (0, 0, 0, 0, 0, 0, 0, 0, 0, 0.96),
}
_NOTES = {
    "platform": "8 chips on a board, two large processors, one adapter of 400 Gb/s for each chip",
    "half_platform": "up to 7 chips on a board without a switch",
    "superchip": "two chips and one Grace processor with its memory (250 W, recalled) on a module; tray besides",
    "module": "processor and memory are within the module's power: not added again",
    "whole_system": "power of the chip is that of the whole system at its plug: nothing is added",
}


def hosts() -> list[dict[str, Any]]:
    """Return the rows of ``power_node_hosts`` before the fit."""
    return [
        {
            "host_class": name,
            **dict(zip(_HOST, values, strict=True)),
            "scale": 1.0,
            "rows": 0,
            "band80_ln": 0.4,
            "band95_ln": 0.8,
            "source": "node_recalled",
            "status": "estimate",
            "note": _NOTES.get(name, ""),
        }
        for name, values in _HOSTS.items()
    ]


def terms() -> list[dict[str, Any]]:
    """Return the rows of ``power_node`` before the fit."""
    names = ("value", "value_low", "value_high", "source", "status", "note")
    return [{"term": term, **dict(zip(names, values, strict=True))} for term, values in TERMS.items()]


# Accelerator as results name it: chip of the catalogue, else its maximum power (recalled) and form.
_CHIPS = {
    "nvidia_a100_pcie": "nvidia_a100_pcie_40",
    "nvidia_a100_pcie_40gb": "nvidia_a100_pcie_40",
    "nvidia_a100_pcie_80gb": "nvidia_a100_pcie_80",
    "nvidia_a100_sxm_40gb": "nvidia_a100_sxm4_40",
    "nvidia_a100_sxm_80gb": "nvidia_a100_sxm4_80",
    "nvidia_h100_pcie": "nvidia_h100_pcie_80",
    "nvidia_h100_sxm": "nvidia_h100_sxm5_80",
}
_RECALLED = {
    "nvidia_a2": (60, "board"),
    "nvidia_jetson_agx_orin": (60, "soc"),
    "nvidia_jetson_agx_xavier": (30, "soc"),
    "nvidia_jetson_orin_nx": (25, "soc"),
    "nvidia_jetson_xavier_nx": (20, "soc"),
    "qualcomm_cloud_ai_100_edge": (20, "board"),
    "qualcomm_cloud_ai_100_lite": (35, "board"),
    "qualcomm_cloud_ai_100_other": (75, "board"),
    "qualcomm_cloud_ai_100_pro": (75, "board"),
    "qualcomm_cloud_ai_100_standard": (75, "board"),
    "qualcomm_cloud_ai_100_ultra": (150, "board"),
    "qualcomm adreno 650 gpu": (8, "soc"),
    "qualcomm hexagon 698 dsp": (8, "soc"),
    "qualcomm npu 230 aip": (8, "soc"),
    "untether_speedai240": (75, "board"),
    "davinci": (15, "soc"),
    "mlsoc dualm.2": (15, "soc"),
}


def accelerators() -> list[dict[str, Any]]:
    """Return the rows of ``power_node_accelerators``."""
    named = [
        {"accelerator": name, "chip_id": chip, "form": "board", "source": "mlperf_power", "status": "catalogue"}
        | ({"note": "80 GB boards have the same name in the results"} if name == "nvidia_a100_pcie" else {})
        for name, chip in _CHIPS.items()
    ]
    recalled = [
        {"accelerator": name, "limit_w": limit, "form": form, "source": "node_recalled", "status": "estimate"}
        | {"note": "maximum power recalled: it holds the fit in place, measured plugs decide"}
        for name, (limit, form) in _RECALLED.items()
    ]
    return sorted(named + recalled, key=lambda row: str(row["accelerator"]))


# kind, name: start, pull in rows. Coefficients of one kind multiply; narrower ones start at 1.
ACTIVITY: dict[tuple[str, str], tuple[float, float]] = {
    ("idle", "any"): (0.13, 2.0),
    ("full", "any"): (0.95, 5.0),
    ("max_q", "any"): (0.6, 2.0),
    ("activity", "server"): (1.0, 5.0),
    ("stream", "single_stream"): (0.6, 2.0),
    ("stream", "multi_stream"): (0.8, 2.0),
}
NARROWER = {"idle": 0.5, "full": 0.5, "max_q": 0.5, "activity": 0.25, "stream": 0.25}
#: Pull of the most that a chip takes where its maximum power is only recalled.
UNKNOWN_FULL = 0.2
