"""Fields of the tables of gases, fuels, refrigerants and what comes before the power station."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, flag, key, need, number, status

_GWP = "kgCO2e/kg"
_ATTRIBUTE = "CC0 (openclimatedata); primary tables are of the IPCC"

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "gases": ("Global warming potentials of gases, by assessment report", ["gas"], _ATTRIBUTE),
    "refrigerants": ("Refrigerants and immersion fluids", ["refrigerant"], "Own table of facts; CC0 where read"),
    "fuels": ("Combustion of fuels in generators", ["fuel"], "US public domain (EPA)"),
    "upstream_factors": (
        "Well to tank of fuels and electricity, losses, water: United Kingdom",
        ["item", "stage", "per_unit"],
        "Open Government Licence v3 (DESNZ)",
    ),
    "generation_factors": (
        "Electricity by technology, direct and lifecycle",
        ["technology", "boundary", "publication"],
        "Single facts cited",
    ),
}

FIELDS: dict[str, list[Field]] = {
    "gases": [
        key("gas", "Formula, as in the reports of the IPCC."),
        number("gwp100_ar4", _GWP, "GWP over 100 years, fourth assessment report."),
        number("gwp100_ar5", _GWP, "GWP over 100 years, fifth assessment report, without climate-carbon feedback."),
        number("gwp100_ar6", _GWP, "GWP over 100 years, sixth assessment report."),
        number("gwp20_ar6", _GWP, "GWP over 20 years, sixth assessment report."),
        SOURCE,
        status(),
        NOTE,
    ],
    "refrigerants": [
        key("refrigerant", "Number after ASHRAE 34, or name of a fluid."),
        need("composition", "Parts by mass, separated by semicolons."),
        number("gwp100_ar5", _GWP, "GWP over 100 years, fifth assessment report."),
        number("gwp100_ar6", _GWP, "GWP over 100 years, sixth assessment report."),
        SOURCE,
        status(),
        NOTE,
    ],
    "fuels": [
        key("fuel", "Name of the fuel."),
        need("category", "Kind of fuel."),
        number("co2_kg_per_mmbtu", "kg/MMBtu", "CO2 per heat, higher heating value."),
        number("ch4_g_per_mmbtu", "g/MMBtu", "CH4 per heat, higher heating value."),
        number("n2o_g_per_mmbtu", "g/MMBtu", "N2O per heat, higher heating value."),
        number("co2_kg_per_l", "kg/L", "CO2 per litre of the liquid fuel, where it was read."),
        flag("is_biogenic", "CO2 of biomass: outside the scopes; its CH4 and N2O inside.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "upstream_factors": [
        need("item", "Fuel, electricity or water."),
        need("stage", "What the factor covers.", enum=["well to tank", "losses", "supply", "treatment"]),
        need("per_unit", "Unit of the amount."),
        number("value_kgco2e_per_unit", "kgCO2e", "Factor per that unit."),
        need("year", "Year of the factors."),
        SOURCE,
        status(),
        NOTE,
    ],
    "generation_factors": [
        need("technology", "Technology, as hourly mixes name it."),
        need("boundary", "What the factor covers.", enum=["direct", "lifecycle"]),
        number("value_gco2e_per_kwh", "gCO2e/kWh", "Factor per kWh generated."),
        need("publication", "Set of factors that it belongs to; one set per calculation."),
        SOURCE,
        status(),
        NOTE,
    ],
}
