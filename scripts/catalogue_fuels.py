"""Gases, fuels, refrigerants, upstream and technology factors of the curated tables."""

from __future__ import annotations

from pathlib import Path

from catalogue_io import Row, number, read, short

GALLON_L = 3.785411784
DIESEL_KG_PER_GALLON = 10.21

# name in the EPA table: (own name, biogenic). What stands there as zero without a factor (hydrogen) is not taken.
FUELS = {
    "Distillate Fuel Oil (avg)": ("diesel", False),
    "Pipeline (Weighted U.S. Average)": ("natural gas", False),
    "Residual Fuel Oil (avg)": ("residual fuel oil", False),
    "Kerosene": ("kerosene", False),
    "Liquefied petroleum gases (LPG)": ("liquefied petroleum gas", False),
    "Propane": ("propane", False),
    "Motor Gasoline": ("motor gasoline", False),
    "Biodisesel (100%)": ("biodiesel", True),
    "Biogas (Captured Methane)": ("biogas", True),
    "Ethanol (100%)": ("ethanol", True),
}

# group and item of the UK table: (own name, stage)
UPSTREAM = {
    ("T&D- UK electricity", "Electricity: UK"): ("electricity", "losses"),
    ("WTT- UK electricity (generation)", "Electricity: UK"): ("electricity", "well to tank"),
    ("WTT- UK electricity (T&D)", "Electricity: UK"): ("electricity lost on the way", "well to tank"),
    ("Water supply", "Water supply"): ("water", "supply"),
    ("Water treatment", "Water treatment"): ("water", "treatment"),
    ("Liquid fuels", "Diesel (100% mineral diesel)"): ("diesel", "well to tank"),
    ("Liquid fuels", "Diesel (average biofuel blend)"): ("diesel with usual biofuel", "well to tank"),
    ("Liquid fuels", "Petrol (100% mineral petrol)"): ("motor gasoline", "well to tank"),
    ("Liquid fuels", "Burning oil"): ("kerosene", "well to tank"),
    ("Liquid fuels", "Fuel oil"): ("residual fuel oil", "well to tank"),
    ("Gaseous fuels", "Natural gas"): ("natural gas", "well to tank"),
    ("Gaseous fuels", "Propane"): ("propane", "well to tank"),
    ("Gaseous fuels", "LPG"): ("liquefied petroleum gas", "well to tank"),
}
UNITS = {
    "kWh": "kWh",
    "litres": "L",
    "cubic metres": "m3",
    "tonnes": "t",
    "kWh (Gross CV)": "kWh HHV",
    "kWh (Net CV)": "kWh LHV",
}

SETS = {
    "IPCC 2014; UK POST 2014 (oil); assumption (unknown)": "Electricity Maps defaults",
    "IPCC AR5 WG3 Annex III table A.III.2 (2014), median": "IPCC AR5",
    "IPCC SRREN Annex II (2011), 50th percentile": "IPCC SRREN",
    "UNECE Carbon Neutrality in the UNECE Region / LCA of electricity (2021/2022)": "UNECE 2021",
}
DIRECT = "Electricity Maps defaults"


def gases(shared: Path) -> list[Row]:
    """Return the potentials of all gases, and of CO2, which is the measure itself."""
    reports = {
        "gwp100_ar4": "ar4gwp100",
        "gwp100_ar5": "ar5gwp100",
        "gwp100_ar6": "ar6gwp100",
        "gwp20_ar6": "ar6gwp20",
    }
    own = {"source": "gwp_tables", "status": "catalogue"}
    rows: list[Row] = [{"gas": "CO2", **dict.fromkeys(reports, 1.0), **own, "note": "by definition"}]
    for row in read(shared / "fuels/gwp.csv"):
        note = ""
        if row["species"] == "CH4":
            note = (
                "AR5 with climate-carbon feedback prints 34; AR6 prints 29.8 for fossil and 27.0 for other methane "
                "(recalled): not used here"
            )
        rows.append({"gas": row["species"], **{to: number(row[of]) for to, of in reports.items()}, **own, "note": note})
    return rows


def refrigerants(shared: Path) -> list[Row]:
    """Return refrigerants and fluids; a recalled row is an estimate."""
    return [
        {
            "refrigerant": row["refrigerant"],
            "composition": row["composition_mass"],
            "gwp100_ar5": number(row["gwp100_ar5"]),
            "gwp100_ar6": number(row["gwp100_ar6"]),
            "source": "refrigerant_blends",
            "status": "derived" if row["confidence"] == "read" else "estimate",
            "note": "" if row["confidence"] == "read" else row["source"] + ": recalled, to be verified",
        }
        for row in read(shared / "fuels/refrigerant_gwp.csv")
    ]


def fuels(shared: Path) -> list[Row]:
    """Return the fuels that generators burn."""
    table = {row["fuel"]: row for row in read(shared / "fuels/fuel_combustion_factors_epa.csv")}
    rows: list[Row] = []
    for printed, (name, is_biogenic) in FUELS.items():
        row = table[printed]
        rows.append(
            {
                "fuel": name,
                "category": row["category"],
                "co2_kg_per_mmbtu": number(row["co2_kg_per_mmbtu"]),
                "ch4_g_per_mmbtu": number(row["ch4_g_per_mmbtu"]),
                "n2o_g_per_mmbtu": number(row["n2o_g_per_mmbtu"]),
                "co2_kg_per_l": short(DIESEL_KG_PER_GALLON / GALLON_L) if name == "diesel" else None,
                "is_biogenic": str(is_biogenic).lower(),
                "source": "epa_fuels;epa_hub" if name == "diesel" else "epa_fuels",
                "status": "catalogue",
                "note": f"{printed} in the table"
                + ("; per litre: 10.21 kg CO2 per US gallon" if name == "diesel" else ""),
            }
        )
    return rows


def upstream(shared: Path) -> list[Row]:
    """Return the factors of the United Kingdom before and behind the power station, of 2025."""
    return [
        {
            "item": UPSTREAM[row["group"], row["item"]][0],
            "stage": UPSTREAM[row["group"], row["item"]][1],
            "per_unit": UNITS[row["per_unit"]],
            "value_kgco2e_per_unit": number(row["kgco2e_per_unit"]),
            "year": row["year"],
            "source": "desnz_2025",
            "status": "catalogue",
            "note": f"{row['group']}: {row['item']}",
        }
        for row in read(shared / "fuels/uk_desnz_2025_wtt_td_water.csv")
        if (row["group"], row["item"]) in UPSTREAM and row["per_unit"] in UNITS
    ]


def technologies(shared: Path) -> list[Row]:
    """Return one factor per technology, boundary and set."""
    rows: list[Row] = []
    for row in read(shared / "fuels/electricity_generation_emission_factors.csv"):
        name = DIRECT if row["boundary"] == "direct" else SETS.get(row["publication"])
        if name is None:
            continue
        made = row["technology"].endswith("-default") and name == "UNECE 2021"
        rows.append(
            {
                "technology": row["technology"].removesuffix("-default"),
                "boundary": row["boundary"],
                "value_gco2e_per_kwh": number(row["gco2e_per_kwh"]),
                "publication": name,
                "source": "generation_factors",
                "status": "estimate" if made or row["technology"] == "unknown" else "catalogue",
                "note": row["publication"] + ("; mean made by the table that was read" if made else ""),
            }
        )
    seen: dict[tuple[str, str, str], Row] = {}
    for row in rows:
        seen.setdefault((row["technology"], row["boundary"], row["publication"]), row)
    return list(seen.values())
