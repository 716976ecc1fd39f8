"""Every column of the ledger, declared once: name, type, unit, meaning, rule.

DDL, comments, documentation and the unit check of SQL are generated from this list. A name means the same everywhere.
"""

from __future__ import annotations

from energy.schema.instrument_fields import INSTRUMENT_FIELDS
from energy.schema.model import Field

DECIMAL = "DECIMAL(38,12)"  # finished products are cast once to this scale; sums are then exact on any thread count

TIERS = ("measured", "integrated", "modelled", "default", "missing")
METHODS = ("location", "market", "hourly", "hourly matched", "marginal")
#: Methods of Scope 2 that stand side by side in ``site_hourly``: the stem of their columns, and what to call them.
FACTOR_COLUMNS = {
    "location": "by the location-based method",
    "market": "by the market-based method",
    "hourly": "by hourly factors of the place",
    "matched": "by hourly matching (draft)",
}
OWNER_KINDS = ("project", "idle", "unallocated")
ATTRIBUTIONS = ("device", "host share", "job", "none")
STATUSES = ("given", "catalogue", "default", "estimate", "derived")


def _text(name: str, meaning: str, allowed: tuple[str, ...] = ()) -> Field:
    return Field(name, "VARCHAR", None, meaning, allowed=allowed)


def _key(name: str, meaning: str) -> Field:
    return Field(name, "BIGINT", None, meaning)


def _instant(name: str, meaning: str) -> Field:
    return Field(name, "TIMESTAMPTZ", None, meaning)


def _sum(name: str, unit: str, meaning: str, *, type_: str = DECIMAL, additive: str = "yes") -> Field:
    return Field(name, type_, unit, meaning, additive=additive, minimum=0.0)  # type: ignore[arg-type]


def _rate(name: str, unit: str, meaning: str, weight: str | None, minimum: float | None = 0.0) -> Field:
    return Field(name, "DOUBLE", unit, meaning, additive="no", weight=weight, minimum=minimum)


def _count(name: str, meaning: str) -> Field:
    return Field(name, "BIGINT", "", meaning, additive="yes", minimum=0.0)


def _with_range(base: str, unit_suffix: str, unit: str, meaning: str, *, additive: str = "yes") -> list[Field]:
    """Declare a summable column with its low and high (95 %)."""
    return [
        _sum(f"{base}_{unit_suffix}", unit, meaning, additive=additive),
        _sum(f"{base}_low_{unit_suffix}", unit, f"{meaning} Low end of its range, meant as 95 %.", additive=additive),
        _sum(f"{base}_high_{unit_suffix}", unit, f"{meaning} High end of its range, meant as 95 %.", additive=additive),
    ]


def _rate_with_range(base: str, suffix: str, unit: str, meaning: str, weight: str) -> list[Field]:
    """Declare a ratio with its low and high (95 %)."""
    return [
        _rate(f"{base}_{suffix}", unit, meaning, weight),
        _rate(f"{base}_low_{suffix}", unit, f"{meaning} Low end of its range, meant as 95 %.", weight),
        _rate(f"{base}_high_{suffix}", unit, f"{meaning} High end of its range, meant as 95 %.", weight),
    ]


_ALL: list[Field] = [
    # --- instants and periods ---
    _instant("hour_utc", "Start of the UTC hour; the hour is half-open, [start, start + 1 h)."),
    _instant("start_utc", "First instant of the interval, UTC."),
    _instant("end_utc", "End of the interval, UTC, not included. Null: still running when the log was taken."),
    _instant("counted_end_utc", "End that the ledger counts with: the job's own, or the end of the log's window."),
    _instant("submit_utc", "When the job was handed to the scheduler, UTC."),
    _instant("from_utc", "First instant for which the row holds, UTC."),
    _instant("to_utc", "End of the time for which the row holds, UTC, not included. Null: until further notice."),
    _text("month", "Calendar month in the reporting time zone, as 2026-01."),
    _text("quarter", "Calendar quarter in the reporting time zone, as 2026Q1."),
    _text("local_date", "Calendar date in the reporting time zone, as 2026-01-31."),
    Field("local_hour", "INTEGER", "", "Hour of the local day, 0 to 23, in the reporting time zone.", additive="no"),
    Field("year", "INTEGER", None, "Calendar year."),
    # --- keys and names ---
    _text("site_id", "Site of site.yaml."),
    _text("site_name", "Site's name for people."),
    _text("zone_id", "Grid zone of the catalogue; of a site whose zone changes, each with its local dates."),
    _text("timezone", "IANA time zone of the site."),
    _text("host", "Host name as the logs write it."),
    _key("device_key", "Whole number that stands for one device (host and index) throughout the ledger."),
    Field("device_index", "INTEGER", None, "Index of the device on its host, from 0."),
    _key("job_key", "Whole number that stands for one run of one job throughout the ledger. Null: no job."),
    _key("allocation_key", "Whole number that stands for one allocation. Null: no allocation known."),
    _text("job_id", "Job's id as the scheduler writes it; a requeued run has the id again."),
    _text("user_name", "User as the scheduler writes it."),
    _text("project", "Project or account of the job. Null: the log names none."),
    _text("job_type", "Kind of work as the log writes it."),
    _text("state", "Final or current state as the scheduler writes it."),
    _text(
        "owner_kind", "project: a job of a project; idle: given to no job; unallocated: no owner known.", OWNER_KINDS
    ),
    _text("owner", "Project, or the words idle and unallocated."),
    _text("uuid", "Device's UUID as its driver gives it. Null: not known."),
    _text("serial", "Device's serial number. Null: not known."),
    _text("device_scope", "board: one accelerator board; node: the plug of a whole node.", ("board", "node")),
    _text("chip_id", "Chip of the catalogue. Null: the log does not disclose it."),
    _text("chip_name", "Chip's name for people."),
    _text("chip_name_given", "Chip as the log or site.yaml writes it."),
    _text("tier", "How the energy is known, best first; missing: not known, and energy is null, never 0.", TIERS),
    _text(
        "power_model",
        "By what power was modelled: a short gap bridged, the share of time with a kernel (GPU_UTIL), activity of the "
        "chip's parts. Null: it was read.",
        ("bridge", "kernel time", "activity"),
    ),
    _text(
        "attribution",
        "How energy came to its owner: by the device's own reading, by share of the host, by the job's own, none.",
        ATTRIBUTIONS,
    ),
    _text("scope", "Scope of the GHG Protocol Corporate Standard.", ("1", "2", "3")),
    _text("category", "Category within the scope."),
    _text("method", "Scope 2 method; methods are never added to each other.", METHODS),
    _text(
        "basis",
        "Accounting basis of the factor: boundary, attribution, gases, GWP set; two are added only if basis_mix of "
        "site.yaml names the mix.",
    ),
    # --- files ---
    _key("batch_id", "One ingested file; `energy withdraw` takes it back."),
    _text("format", "Importer that read the file."),
    _text("file_name", "Name of the file, without its folder."),
    _text("file_sha256", "SHA-256 of the file's bytes."),
    _text(
        "mapping_sha256", "SHA-256 of the mapping that the file was read with, or of the host and time that were told."
    ),
    _key("row_number", "Line of a text file (its header is line 1), or row of a Parquet file, from 1."),
    _text("reason", "Why a row was refused, in one line: the value, the rule, the remedy."),
    _text("row_text", "The refused row as it was read, shortened."),
    _text("note", "What a reader should know of the row."),
    _count("rows_read", "Rows in the file, without header."),
    _count("rows_accepted", "Rows that were new to the ledger."),
    _count("rows_rejected", "Rows in raw.rejects."),
    _count("rows_duplicate", "Rows that the ledger had already, equal in every value."),
    _count("row_count", "Rows."),
    _count("sample_count", "Readings."),
    # --- hardware ---
    Field("node_count", "INTEGER", "", "Hosts of the job.", additive="no"),
    Field("chip_count", "DOUBLE", "chip", "Chips given to the job; thousandths of one are possible.", "no", minimum=0),
    Field("installed_chip_count", "INTEGER", "chip", "Chips of the host.", additive="no", minimum=0),
    _rate("power_chip_w", "W_chip/chip", "Electrical power of one chip at its board.", "chip_h"),
    _rate("power_chip_low80_w", "W_chip/chip", "Low end of the 80 % range of a chip's power.", "chip_h"),
    _rate("power_chip_high80_w", "W_chip/chip", "High end of the 80 % range of a chip's power.", "chip_h"),
    _rate("power_chip_low_w", "W_chip/chip", "Low end of the 95 % range of a chip's power.", "chip_h"),
    _rate("power_chip_high_w", "W_chip/chip", "High end of the 95 % range of a chip's power.", "chip_h"),
    _text("chip_state", "busy: given to a job; idle: given to none.", ("busy", "idle")),
    _rate("tdp_chip_w", "W_chip/chip", "Vendor's maximum power of one chip; its kind is in tdp_kind.", None),
    _text("tdp_kind", "What the vendor's maximum means."),
    _text("vendor", "Maker."),
    _text("family", "Architecture family."),
    _text("form_factor", "Form factor: parts of one name and other form are other chips."),
    # --- time of chips ---
    _sum("chip_h", "chip*h", "Chips times hours."),
    _sum("installed_chip_h", "chip*h", "Chips installed, times hours."),
    _sum("missing_chip_h", "chip*h", "Chips times hours without a reading."),
    _sum("covered_chip_h", "chip*h", "Chips times hours that readings cover, short gaps between two of them included."),
    # --- energy ---
    _sum("energy_chip_microj", "uJ_chip", "Energy at the board in whole microjoules: exact sums.", type_="BIGINT"),
    _sum("covered_chip_ms", "chip*ms", "Chip-time covered by readings, whole milliseconds.", type_="BIGINT"),
    _sum("energy_it_microj", "uJ_it", "Energy at the plug of the node in whole microjoules.", type_="BIGINT"),
    _sum("covered_ms", "ms", "Time covered by readings, whole milliseconds.", type_="BIGINT"),
    _count("restart_count", "Times a counter fell: it restarted."),
    _count("wrap_count", "Times a counter fell because it went once through its range."),
    _count("ambiguous_wrap_count", "Intervals in which a counter may have gone through its range once more."),
    _count("stuck_count", "Intervals in which a counter stood still although the board had power."),
    _count("jump_count", "Intervals in which a counter rose by more than the board can draw."),
    _sum("least_energy_chip_kwh", "kWh_chip", "What is certain of intervals with an ambiguous wrap; counted nowhere."),
    _sum("energy_by_counter_chip_kwh", "kWh_chip", "Energy by the counter, where counter and power were both read."),
    _sum("energy_by_power_chip_kwh", "kWh_chip", "Energy by power over the same intervals."),
    *_with_range("energy_chip", "kwh", "kWh_chip", "Electricity at the board of the chip."),
    *_with_range("energy_it", "kwh", "kWh_it", "Electricity at the plug of the node: chip times node overhead."),
    *_with_range(
        "energy_facility",
        "kwh",
        "kWh_facility",
        "Electricity at the site's meter: IT energy times PUE.",
    ),
    _sum(
        "energy_purchased_facility_kwh",
        "kWh_facility",
        "Electricity bought from the grid: facility energy less what own plants behind the meter give; exports do not "
        "count against it.",
    ),
    _sum("load_facility_kwh", "kWh_facility", "Electricity that the site takes, of the grid and of its own plants."),
    _sum("generation_facility_kwh", "kWh_facility", "Electricity of the site's own plants behind the meter."),
    _sum(
        "self_consumed_facility_kwh", "kWh_facility", "What the site takes of its own plants, at once or by a battery."
    ),
    _sum("grid_facility_kwh", "kWh_facility", "Electricity that the site buys from the grid, exports not taken off."),
    _sum("excess_facility_kwh", "kWh_facility", "Own electricity that is sold or curtailed."),
    # --- water ---
    *_with_range("water_withdrawn", "l", "L", "Water that the site takes in: IT energy times WUE."),
    *_with_range("water_consumed", "l", "L", "Water that the site takes in and does not give back."),
    *_with_range(
        "water_off_site_consumed", "l", "L", "Water that power stations consume for the energy bought from the grid."
    ),
    # --- ratios ---
    _rate(
        "node_overhead",
        "kWh_it/kWh_chip",
        "Plug energy of a node over board energy of its chips.",
        "energy_chip_kwh",
        1,
    ),
    _rate("node_overhead_low", "kWh_it/kWh_chip", "Low end of the node overhead.", "energy_chip_kwh", 1),
    _rate("node_overhead_high", "kWh_it/kWh_chip", "High end of the node overhead.", "energy_chip_kwh", 1),
    _rate("pue", "kWh_facility/kWh_it", "Power usage effectiveness: ISO/IEC 30134-2.", "energy_it_kwh", 1),
    _rate("pue_low", "kWh_facility/kWh_it", "Low end of the PUE.", "energy_it_kwh", 1),
    _rate("pue_high", "kWh_facility/kWh_it", "High end of the PUE.", "energy_it_kwh", 1),
    *_rate_with_range(
        "wue_withdrawn",
        "l_per_kwh_it",
        "L/kWh_it",
        "Water that the site takes in, by IT energy (never by facility energy): ISO/IEC 30134-9.",
        "energy_it_kwh",
    ),
    *_rate_with_range(
        "wue_consumed",
        "l_per_kwh_it",
        "L/kWh_it",
        "Water that the site takes in and does not give back, by IT energy (never by facility energy).",
        "energy_it_kwh",
    ),
    *_rate_with_range(
        "grid_water_consumed",
        "l_per_kwh_facility",
        "L/kWh_facility",
        "Water that power stations consume, by energy bought from the grid.",
        "energy_purchased_facility_kwh",
    ),
    _rate(
        "grid_share",
        "",
        "Share of the site's energy that is bought from the grid: 1 where no own plant is named.",
        "energy_facility_kwh",
    ),
    _text(
        "node_overhead_status",
        "given: by site.yaml; derived: from readings of the node's plug and of its boards.",
        STATUSES,
    ),
    _text("status", "given, catalogue, default, estimate or derived.", STATUSES),
    # --- factors ---
    _text("factor_id", "Factor of the catalogue, or of an ingested series of hours."),
    _text("factor_kind", "location, residual, month-hour profile, or hourly series of an ingested file."),
    Field("factor_year", "INTEGER", None, "Year that the factor describes."),
    _text("boundary", "direct: combustion only; lifecycle: with upstream."),
    _text("factor_attribution", "production: of what a zone generates; consumption: of what it uses."),
    _text("gases", "Gases in the factor."),
    _text("gwp_set", "Set of global warming potentials that the factor was made with."),
    _text("publisher", "Who published the value."),
    _text("source", "Where the value was read."),
    _text("edition", "Edition of the source."),
    _text("licence", "Licence of the source."),
    _text("year_policy", "How the factor's year was chosen: exact, nearest earlier, nearest any."),
    _text("year_note", "Factor's year against the year of the activity, in words."),
    _rate(
        "intensity_gco2e_per_kwh_generation",
        "gCO2e/kWh_generation",
        "Emissions per kWh at the plant's busbar.",
        "energy_facility_kwh",
        None,
    ),
    _rate(
        "intensity_gco2e_per_kwh_facility",
        "gCO2e/kWh_facility",
        "Emissions per kWh purchased, at the site's meter.",
        "energy_facility_kwh",
        None,
    ),
    *(
        field
        for name, words in FACTOR_COLUMNS.items()
        for field in (
            _rate(
                f"{name}_gco2e_per_kwh_facility",
                "gCO2e/kWh_facility",
                f"Emissions per kWh purchased, at the site's meter, {words}; null: no such factor.",
                "energy_facility_kwh",
                None,
            ),
            _text(f"{name}_basis", f"Accounting basis of the factor, {words}; null: no such factor."),
        )
    ),
    # --- emissions ---
    Field("emissions_kgco2e", DECIMAL, "kgCO2e", "Emissions.", additive="within method"),
    Field("emissions_low_kgco2e", DECIMAL, "kgCO2e", "Emissions, low end of the 95 % range.", additive="within method"),
    Field(
        "emissions_high_kgco2e", DECIMAL, "kgCO2e", "Emissions, high end of the 95 % range.", additive="within method"
    ),
    _sum("accounted_chip_h", "chip*h", "Chips times hours given to jobs, idle and unallocated."),
    Field("difference_chip_h", DECIMAL, "chip*h", "Accounted less installed chip-hours; 0 when all is right.", "yes"),
    _sum("read_energy_chip_kwh", "kWh_chip", "Energy of all readings of the devices, less those that were replaced."),
    _sum(
        "replaced_energy_chip_kwh",
        "kWh_chip",
        "Energy of readings that a job's own measurement replaces: read, and given to no owner.",
    ),
    _sum("owned_energy_chip_kwh", "kWh_chip", "Energy that owners were given from readings."),
    Field("difference_energy_chip_kwh", DECIMAL, "kWh_chip", "Owned less read energy; 0 when all is right.", "yes"),
    *INSTRUMENT_FIELDS,
    _rate("share_pct", "%", "Share of the period's chip-hours.", None),
    _text("key_name", "Name of a setting."),
    _text("key_value", "Value of a setting."),
    _text("partition_path", "Path of a telemetry file inside the ledger folder."),
    _text("allocation_sha256", "SHA-256 of the allocations that a telemetry file was read with."),
    _text("content_sha256", "SHA-256 of the telemetry file's bytes."),
]

FIELDS: dict[str, Field] = {field.name: field for field in _ALL}
