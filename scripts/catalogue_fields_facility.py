"""Fields of the tables of cooling plants, chillers, power chains, liquid cooling and refrigerant charges."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, flag, key, need, number, status

_FACTS = "Own table of facts; sources per row"

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "facility_cases": ("Cooling systems by technology and size", ["case_id"], _FACTS),
    "facility_parameters": ("Parameters of cooling systems, each a range", ["case_id", "parameter"], _FACTS),
    "facility_chillers": ("Coefficient of performance of chillers", ["chiller"], _FACTS),
    "facility_losses": ("Losses of the power chain by load", ["component"], _FACTS),
    "facility_liquid": ("Liquid cooling, and air as what it replaces", ["liquid_id"], _FACTS),
    "facility_thermal_classes": ("Supply temperatures of thermal classes", ["class"], _FACTS),
    "facility_refrigerants": ("Charge and leakage of refrigerant by machine", ["machine"], _FACTS),
}


def _range(name: str, unit: str, description: str) -> list[Field]:
    return [
        number(name, unit, description, required=True),
        number(f"{name}_low", unit, f"Low end: {description}", required=True),
        number(f"{name}_high", unit, f"High end: {description}", required=True),
    ]


def _polynomial(name: str, of: str) -> Field:
    return need(name, f"Coefficient of {of} in the coefficient of performance.", type_="number")


FIELDS: dict[str, list[Field]] = {
    "facility_cases": [
        key("case_id", "Identifier of the system and its parameters."),
        number("published_case", "", "Number of the case in the published model; empty where it has none."),
        need("size_class", "Size of the data centre."),
        need("title", "The system in words."),
        need("chiller", "What chills.", enum=["water_cooled", "air_cooled", "direct_expansion", "none"]),
        need("economiser", "What cools without a chiller.", enum=["none", "airside", "waterside", "dry_cooler"]),
        flag("adiabatic", "Whether dry outside air is moistened at constant enthalpy.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "facility_parameters": [
        need("case_id", "System."),
        need("parameter", "Name, with its unit as suffix; a fraction or ratio has none."),
        need("low", "Low end of the range, in the unit of the name.", type_="number"),
        need("high", "High end of the range; equal to the low end where one value was chosen.", type_="number"),
        SOURCE,
        status(),
        NOTE,
    ],
    "facility_chillers": [
        key("chiller", "Kind: its temperature is of condenser water if water cooled, else of outside air."),
        _polynomial("c0", "1"),
        _polynomial("c_t", "T in C"),
        _polynomial("c_plr", "the part load L"),
        _polynomial("c_t_plr", "T L"),
        _polynomial("c_t2", "T squared"),
        _polynomial("c_plr2", "L squared"),
        need("t_min_c", "Lowest temperature of the fitted points, C.", type_="number"),
        need("t_max_c", "Highest temperature of the fitted points, C.", type_="number"),
        number("plr_min", "fraction", "Lowest part load of the fitted points; empty where the fit has none."),
        number("plr_max", "fraction", "Highest part load of the fitted points."),
        number("rms_error_cop", "", "Root mean square error of the fit in the coefficient of performance."),
        SOURCE,
        status(),
        NOTE,
    ],
    "facility_losses": [
        key("component", "Part of the power chain."),
        number("no_load", "fraction of rating", "Loss without load.", required=True),
        number("proportional", "fraction of load", "Loss per load.", required=True),
        number("square", "fraction of rating", "Loss at full load that goes with the square.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "facility_liquid": [
        key("liquid_id", "Identifier."),
        need("title", "The technology in words."),
        *_range("capture_fraction", "fraction of IT heat", "heat that the liquid takes."),
        *_range("supply_c", "C", "facility water to the heat exchanger."),
        number("rise_k", "K", "Rise of the facility water.", required=True),
        *_range("pump_fraction", "fraction of captured heat", "electricity of the loop's pumps."),
        *_range("server_fan_fraction", "fraction of IT power", "fans in the servers that this cooling leaves."),
        SOURCE,
        status(),
        NOTE,
    ],
    "facility_thermal_classes": [
        key("class", "Name of the class."),
        need("kind", "What is supplied.", enum=["air", "liquid"]),
        number("supply_min_c", "C", "Lowest supply temperature.", minimum=-50),
        number("supply_max_c", "C", "Highest supply temperature.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "facility_refrigerants": [
        key("machine", "Kind of machine."),
        *_range("charge_kg_per_kw", "kg/kW", "charge per heat that the machine moves."),
        *_range("leak_fraction_per_y", "fraction per year", "charge lost in operation and service."),
        SOURCE,
        status(),
        NOTE,
    ],
}
