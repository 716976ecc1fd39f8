"""Cooling plants, chillers, power chains, liquid cooling and refrigerant charges of the curated tables."""

from __future__ import annotations

from pathlib import Path

from catalogue_io import Row, number, read, short

# published case: (own name, size class, title, chiller, economiser, adiabatic)
CASES: dict[int, tuple[str, str, str, str, str, bool]] = {
    1: (
        "large_airside_adiabatic",
        "large-scale",
        "outside air with adiabatic moistening, water-cooled chillers behind",
        "water_cooled",
        "airside",
        True,
    ),
    2: (
        "large_waterside",
        "large-scale",
        "water-cooled chillers with waterside economiser",
        "water_cooled",
        "waterside",
        False,
    ),
    3: (
        "midsize_water_cooled_airside",
        "midsize",
        "water-cooled chillers with airside economiser",
        "water_cooled",
        "airside",
        False,
    ),
    4: (
        "midsize_waterside",
        "midsize",
        "water-cooled chillers with waterside economiser",
        "water_cooled",
        "waterside",
        False,
    ),
    5: ("midsize_water_cooled", "midsize", "water-cooled chillers", "water_cooled", "none", False),
    6: (
        "midsize_air_cooled_airside",
        "midsize",
        "air-cooled chillers with airside economiser",
        "air_cooled",
        "airside",
        False,
    ),
    7: ("midsize_air_cooled", "midsize", "air-cooled chillers", "air_cooled", "none", False),
    8: ("small_water_cooled", "small", "water-cooled chillers", "water_cooled", "none", False),
    9: ("small_air_cooled", "small", "air-cooled chillers", "air_cooled", "none", False),
    10: ("small_direct_expansion", "small", "direct expansion", "direct_expansion", "none", False),
}

# as the source names it: own name
PARAMETERS = {
    "UPS efficiency": "ups_efficiency",
    "Power loss in distribution": "distribution_loss_fraction",
    "Lighting power to IT power ratio": "lighting_fraction",
    "Dry bulb setpoint (low)": "supply_low_c",
    "Dry bulb setpoint (high)": "supply_high_c",
    "Dew point setpoint (low)": "dew_point_low_c",
    "Dew point setpoint (high)": "dew_point_high_c",
    "Humidity setpoint (low)": "humidity_low",
    "Humidity setpoint (high)": "humidity_high",
    "Sensible heat ratio (SHR)": "sensible_heat_ratio",
    "Temperature difference (CRAH air)": "air_rise_k",
    "Temperature difference (facility water)": "chilled_water_rise_k",
    "Temperature difference (cooling tower water)": "tower_range_k",
    "Fan pressure (CRAH)": "air_fan_pressure_pa",
    "Fan efficiency (CRAH)": "air_fan_efficiency",
    "Fan pressure (cooling tower)": "tower_fan_pressure_pa",
    "Fan efficiency (cooling tower)": "tower_fan_efficiency",
    "Pump pressure (humidification pump)": "humidifier_pump_pressure_pa",
    "Pump efficiency (humidification pump)": "humidifier_pump_efficiency",
    "Pump pressure (chiller pump)": "chilled_pump_pressure_pa",
    "Pump efficiency (chiller pump)": "chilled_pump_efficiency",
    "Pump pressure (cooling tower)": "tower_pump_pressure_pa",
    "Pump efficiency (cooling tower)": "tower_pump_efficiency",
    "Pump pressure (economizer pump)": "economiser_pump_pressure_pa",
    "Pump efficiency (economizer pump)": "economiser_pump_efficiency",
    "Approach temp (cooling tower)": "tower_approach_k",
    "Approach temp (economizer HX)": "exchanger_approach_k",
    "Chiller partial load factor": "chiller_part_load",
    "Liquid-gas ratio (cooling tower)": "tower_water_to_air",
    "COP relative error to regressed value": "cop_spread",
    "Heat exchanger effectiveness (CRAH cooling coils)": "coil_effectiveness",
    "Windage loss of water as a percentage of cooling tower mass flow rate": "drift_fraction",
    "Cycles of concentration": "cycles_of_concentration",
}
SCALES = {"%": 0.01, "kPa": 1000.0}

COMMON = {
    "fan_exponent": (2.5, 2.8, "facility_notes", "estimate", "fan power against flow under a pressure set point"),
    "dry_cooler_approach_k": (5.0, 7.0, "facility_notes", "estimate", "engineering practice: 6 K over the dry bulb"),
    "dry_cooler_fan_fraction": (0.01, 0.03, "facility_recalled", "estimate", "fans of a dry cooler over its heat"),
    "exchanger_approach_k": (1.7, 2.8, "lei_masanet_2022", "catalogue", "as in the cases with a waterside economiser"),
    "fan_floor": (0.2, 0.3, "facility_notes", "estimate", "lowest fan speed"),
    "fan_heat_fraction": (0.0, 0.0, "lei_masanet_2022", "catalogue", "the published model leaves the fans' heat out"),
}
# One set for halls of the large operators, chosen before it was compared with what they report.
HYPERSCALE = {
    "ups_efficiency": 0.96,
    "distribution_loss_fraction": 0.01,
    "supply_low_c": 16.0,
    "supply_high_c": 27.0,
    "air_rise_k": 12.0,
    "air_fan_pressure_pa": 450.0,
    "drift_fraction": 0.00005,  # low end of the published range: eliminators as built today
}

# liquid: title, (capture, low, high), (supply, low, high), rise, (pump, low, high), (server fans, low, high), note
LIQUID = {
    "air": (
        "air-cooled servers",
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        0.0,
        (0.0, 0.0, 0.0),
        (0.12, 0.08, 0.15),
        "what the others replace; no loop",
    ),
    "direct_to_chip": (
        "cold plates on the processors, the rest by air",
        (0.75, 0.70, 0.80),
        (32.0, 30.0, 45.0),
        10.0,
        (0.0125, 0.010, 0.015),
        (0.03, 0.02, 0.04),
        "hybrid servers",
    ),
    "direct_to_chip_rack": (
        "cold plates on all boards of a rack",
        (0.90, 0.85, 0.95),
        (32.0, 30.0, 45.0),
        10.0,
        (0.0125, 0.010, 0.015),
        (0.03, 0.02, 0.04),
        "racks of the NVL72 class",
    ),
    "rear_door": (
        "water in the rear doors of racks of air-cooled servers",
        (0.90, 0.90, 0.90),
        (20.0, 18.0, 22.0),
        6.0,
        (0.0125, 0.010, 0.015),
        (0.12, 0.08, 0.15),
        "server fans stay",
    ),
    "single_phase_immersion": (
        "servers in oil that is pumped",
        (0.97, 0.95, 1.0),
        (40.0, 30.0, 45.0),
        8.0,
        (0.02, 0.01, 0.03),
        (0.0, 0.0, 0.0),
        "vendors claim a partial PUE of 1.02 to 1.05",
    ),
    "two_phase_immersion": (
        "servers in a fluid that boils",
        (0.97, 0.95, 1.0),
        (40.0, 30.0, 45.0),
        8.0,
        (0.01, 0.005, 0.015),
        (0.0, 0.0, 0.0),
        "vendors claim a partial PUE of 1.02; the fluid's losses are refrigerant losses",
    ),
}

# machine: (charge kg/kW, low, high), (leak, low, high), source, status, note
REFRIGERANTS = {
    "chiller": (
        (0.35, 0.2, 0.5),
        (0.05, 0.02, 0.15),
        "facility_recalled",
        "estimate",
        "leakage 2 to 15 % of the charge a year is that of chillers in IPCC 2006, volume 3, table 7.9, recalled",
    ),
    "direct_expansion": (
        (0.25, 0.2, 0.4),
        (0.03, 0.01, 0.10),
        "nz_refrigerant_guide",
        "catalogue",
        "split systems below 20 kW; ranges recalled (IPCC 2006: 1 to 10 %)",
    ),
    "two_phase_immersion": (
        (2.0, 0.5, 5.0),
        (0.05, 0.01, 0.15),
        "facility_recalled",
        "estimate",
        "fluid of the tank, vapour lost at opening; widely uncertain",
    ),
}
_STATUS = {"read": "catalogue", "recalled": "estimate"}


def _key_of(text: str) -> str:
    """Return the key of a source that a shared table writes out."""
    for part, source in (
        ("Lei & Masanet", "lei_masanet_2022"),
        ("APC white paper 113", "apc_white_paper_113"),
        ("least-squares fit", "chiller_points"),
        ("ASHRAE", "ashrae_tc99"),
    ):
        if part in text:
            return source
    return "facility_recalled"


def cases() -> list[Row]:
    """Return the ten published systems and the set for large operators."""
    names = ("case_id", "size_class", "title", "chiller", "economiser")
    rows: list[Row] = [
        dict(zip(names, values[:5], strict=True))
        | {"published_case": str(number_), "adiabatic": str(values[5]).lower()}
        | {"source": "lei_masanet_2022", "status": "catalogue"}
        for number_, values in CASES.items()
    ]
    first = next(row for row in rows if row["published_case"] == "1")
    note = "one set for all sites of large operators, no tuning by site"
    ours = {"case_id": "hyperscale", "published_case": "", "size_class": "hyperscale", "note": note}
    return [*rows, first | ours | {"source": "facility_notes;lei_masanet_2022", "status": "estimate"}]


def parameters(shared: Path) -> list[Row]:
    """Return the range of each parameter of each case, in the units of their names."""
    rows: list[Row] = []
    for row in read(shared / "facility/parameter_ranges.csv"):
        scale = SCALES.get(row["unit"], 1.0)
        rows.append(
            {
                "case_id": CASES[int(row["case"])][0],
                "parameter": PARAMETERS[row["variable"]],
                "low": short(float(row["low"]) * scale),
                "high": short(float(row["high"]) * scale),
                "source": _key_of(row["source"]),
                "status": _STATUS[row["confidence"]],
            }
        )
    for case in CASES.values():
        known = {row["parameter"] for row in rows if row["case_id"] == case[0]}
        for name, (low, high, source, status, note) in COMMON.items():
            if name in known:
                continue
            common: Row = {"case_id": case[0], "parameter": name, "low": low, "high": high}
            rows.append(common | {"source": source, "status": status, "note": note})
    rows.sort(key=lambda row: [case[0] for case in CASES.values()].index(row["case_id"]))
    return [*rows, *_hyperscale([row for row in rows if row["case_id"] == CASES[1][0]])]


def _hyperscale(first: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for row in first:
        name = str(row["parameter"])
        chosen: Row = {"case_id": "hyperscale", "source": "facility_notes", "status": "estimate"}
        if name == "fan_heat_fraction":
            chosen |= {"low": 1.0, "high": 1.0, "note": "the fans' heat is carried like any other"}
        elif name in HYPERSCALE:
            chosen |= {"low": HYPERSCALE[name], "high": HYPERSCALE[name], "note": "chosen for large operators"}
        else:
            chosen |= {"note": "range of the published large-scale case", "source": row["source"]}
        rows.append(row | chosen)
    return rows


def chillers(shared: Path) -> list[Row]:
    """Return the fitted curves of the coefficient of performance."""
    return [
        {name: value for name, value in row.items() if name != "confidence"}
        | {"source": "chiller_points", "status": "derived"}
        for row in read(shared / "facility/chiller_cop_fit.csv")
    ]


def losses(shared: Path) -> list[Row]:
    """Return the losses of the power chain that are stated as a curve."""
    rows: list[Row] = []
    for row in read(shared / "facility/ups_and_distribution.csv"):
        parts = [
            number(row[name])
            for name in (
                "loss_no_load_fraction_of_rating",
                "loss_proportional_fraction_of_load",
                "loss_square_fraction_of_rating",
            )
        ]
        if None in parts:
            continue
        named = dict(zip(("no_load", "proportional", "square"), parts, strict=True))
        known = {"source": _key_of(row["source"]), "status": _STATUS[row["confidence"]], "note": row["source"]}
        rows.append({"component": row["component"], **named, **known})
    return rows


def liquid() -> list[Row]:
    """Return the technologies of liquid cooling; all figures are recalled."""
    rows: list[Row] = []
    for name, (title, capture, supply, rise, pump, fans, note) in LIQUID.items():
        row: Row = {"liquid_id": name, "title": title, "rise_k": rise, "note": note}
        parts = {"capture_fraction": capture, "supply_c": supply, "pump_fraction": pump, "server_fan_fraction": fans}
        rows.append(row | _ranges(parts) | {"source": "facility_notes", "status": "estimate"})
    return rows


def thermal_classes(shared: Path) -> list[Row]:
    """Return the supply temperatures of thermal classes."""
    return [
        {name: row[name] for name in ("class", "kind", "supply_min_c", "supply_max_c", "note")}
        | {"source": "ashrae_tc99", "status": _STATUS[row["confidence"]]}
        for row in read(shared / "facility/thermal_classes.csv")
    ]


def refrigerants() -> list[Row]:
    """Return charge and leakage by machine."""
    return [
        {"machine": name}
        | _ranges({"charge_kg_per_kw": charge, "leak_fraction_per_y": leak})
        | {"source": source, "status": status, "note": note}
        for name, (charge, leak, source, status, note) in REFRIGERANTS.items()
    ]


def _ranges(parts: dict[str, tuple[float, float, float]]) -> Row:
    return {
        f"{name}{suffix}": value
        for name, values in parts.items()
        for suffix, value in zip(("", "_low", "_high"), values, strict=True)
    }


def tables(shared: Path) -> dict[str, list[Row]]:
    """Return all tables of this room."""
    return {
        "facility_cases": cases(),
        "facility_parameters": parameters(shared),
        "facility_chillers": chillers(shared),
        "facility_losses": losses(shared),
        "facility_liquid": liquid(),
        "facility_thermal_classes": thermal_classes(shared),
        "facility_refrigerants": refrigerants(),
    }
