"""Fields of the tables of node power, which ``fit_power_node.py`` writes."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, count, field, need, number, status

_MLPERF = "Coefficients fitted to results of MLPerf, Apache-2.0; single facts cited, sources per row"

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "power_node": ("Coefficients of the parts of a node", ["term"], _MLPERF),
    "power_node_hosts": ("Usual parts around the chips of a node, by class of host", ["host_class"], _MLPERF),
    "power_node_accelerators": ("Accelerators as submissions of MLPerf name them", ["accelerator"], _MLPERF),
    "power_node_activity": ("Activity of chips in benchmarks", ["kind", "name"], _MLPERF),
    "power_node_bands": ("Errors of node power on groups that were left out of the fit", ["level"], _MLPERF),
}

_END: list[Field] = [SOURCE, status(), NOTE]

FIELDS: dict[str, list[Field]] = {
    "power_node": [
        need("term", "Name of the coefficient: see energy/power/node_parts.py.", unique=True),
        number("value", "", "Value, in the unit that the name ends with; shares have none.", required=True),
        number("value_low", "", "Low end of its range.", required=True),
        number("value_high", "", "High end of its range.", required=True),
        *_END,
    ],
    "power_node_hosts": [
        need("host_class", "Class of host.", unique=True),
        number("cpu_count", "", "Processors.", required=True),
        number("cpu_per_chip", "", "Processors for each chip besides.", required=True),
        number(
            "cpu_tdp_w",
            "W",
            "Maximum power of one processor, its memory included where dram_gb is zero.",
            required=True,
        ),
        number("dram_gb", "GB", "Memory of the host.", required=True),
        number("dram_gb_per_chip", "GB", "Memory of the host for each chip besides.", required=True),
        number("network_gbit_per_s", "Gbit/s", "Adapters, one way.", required=True),
        number("network_gbit_per_s_per_chip", "Gbit/s", "Adapters for each chip besides, one way.", required=True),
        number("board_w", "W", "Board, storage, management.", required=True),
        number("board_w_per_chip", "W", "The same for each chip: slot, retimers, switch of the bus.", required=True),
        number("scale", "", "Fitted: measured over usual watts of all these parts.", required=True),
        number("supply_efficiency", "", "Output over input of the supplies at half load.", required=True, maximum=1),
        count("rows", "", "Measured rows of the class; zero: none, an estimate.", required=True),
        number(
            "band80_ln", "", "Logarithmic error of the watts around the chips that 80 % stay within.", required=True
        ),
        number("band95_ln", "", "Likewise 95 %.", required=True),
        *_END,
    ],
    "power_node_accelerators": [
        need("accelerator", "Name in the tables of results.", unique=True),
        field("chip_id", "Chip of chips.csv; empty: not in the catalogue."),
        number("limit_w", "W", "Maximum power where the catalogue has no such chip; recalled."),
        need("form", "board, or soc: accelerator, processor and memory are one module.", enum=["board", "soc"]),
        *_END,
    ],
    "power_node_activity": [
        need("kind", "What it multiplies: see energy/power/benchmarks.py."),
        need("name", "any: pooled; else accelerator, benchmark, scenario, or two of them: times the pooled one."),
        number("value", "", "Coefficient.", required=True),
        count("rows", "", "Measured rows that it takes part in.", required=True),
        *_END,
    ],
    "power_node_bands": [
        need(
            "level", "training; platform, server, small: inference by host; chip: on a chip not measured.", unique=True
        ),
        count("rows", "", "Rows.", required=True),
        number("mape_fraction", "", "Mean error of the final fit on them.", required=True),
        number("mape_system_fraction", "", "Mean error with whole systems left out.", required=True),
        number("mape_submitter_fraction", "", "Mean error with whole submitters left out.", required=True),
        number("mape_chip_fraction", "", "Mean error with whole chips left out.", required=True),
        number(
            "band80_ln",
            "",
            "Logarithmic error that 80 % stay within, rows as fitted and left out together.",
            required=True,
        ),
        number("band95_ln", "", "Likewise 95 %.", required=True),
        *_END,
    ],
}
