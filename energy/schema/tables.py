"""Every table and view of the ledger: layers ``raw`` → ``ref`` → ``core`` → ``main``.

``raw`` holds rows as ingested, ``ref`` facts of the catalogue that were used, ``core`` what ran and what it drew,
``main`` the views for people. A view's columns are declared here, and its SQL must produce exactly these units.
"""

from __future__ import annotations

from dataclasses import replace

from energy.errors import UnknownNameError, did_you_mean
from energy.schema.fields import FACTOR_COLUMNS, FIELDS
from energy.schema.instrument_fields import INSTRUMENT_TABLES, INSTRUMENT_VIEWS, OTHER_SCOPE_TABLES
from energy.schema.model import Column, Table


def _columns(text: str, within_method: tuple[str, ...] = ()) -> tuple[Column, ...]:
    """Read "name name! name": an exclamation mark means never null."""
    out = []
    for word in text.split():
        name = word.rstrip("!")
        if name not in FIELDS:
            raise UnknownNameError(f"No field named {name}.{did_you_mean(name, FIELDS)}")
        field = FIELDS[name]
        if name in within_method:
            field = replace(field, additive="within method")
        out.append(Column(field, required=word.endswith("!")))
    return tuple(out)


_ENERGY_CHIP = "energy_chip_kwh energy_chip_low_kwh energy_chip_high_kwh"
_ENERGY_IT = "energy_it_kwh energy_it_low_kwh energy_it_high_kwh"
_ENERGY_FACILITY = "energy_facility_kwh energy_facility_low_kwh energy_facility_high_kwh"
_ENERGY = f"{_ENERGY_CHIP} {_ENERGY_IT} {_ENERGY_FACILITY}"
_EMISSIONS = "emissions_kgco2e emissions_low_kgco2e emissions_high_kgco2e"
_WUE = " ".join(f"wue_{kind}_{end}l_per_kwh_it" for kind in ("withdrawn", "consumed") for end in ("", "low_", "high_"))
_GRID_WATER = " ".join(f"grid_water_consumed_{end}l_per_kwh_facility" for end in ("", "low_", "high_"))
_WATER = " ".join(
    f"water_{kind}_{end}l" for kind in ("withdrawn", "consumed", "off_site_consumed") for end in ("", "low_", "high_")
)
_SUPPLY = (
    "load_facility_kwh generation_facility_kwh self_consumed_facility_kwh grid_facility_kwh excess_facility_kwh "
    "grid_share! source! status!"
)
_PER_METHOD = ("chip_h", *_ENERGY_FACILITY.split())
_FACTOR = (
    "factor_kind zone_id factor_year boundary factor_attribution gases gwp_set publisher source edition licence status"
)

_RAW = [
    Table(
        "raw",
        "batch",
        "one ingested file",
        _columns(
            "batch_id! format! file_name! file_sha256! mapping_sha256! site_id from_utc to_utc "
            "rows_read! rows_accepted! rows_rejected! rows_duplicate! note"
        ),
        key=("batch_id",),
    ),
    Table(
        "raw",
        "job",
        "one run of one job, as ingested",
        _columns(
            "batch_id! row_number! job_key! job_id! site_id host user_name project job_type state submit_utc start_utc "
            "end_utc chip_name_given chip_id node_count chip_count! energy_chip_kwh energy_it_kwh"
        ),
        key=("job_key",),
    ),
    Table(
        "raw",
        "allocation",
        "one device given to one job, as ingested",
        _columns("batch_id! row_number! job_id! host! device_index! start_utc! end_utc"),
        key=("job_id", "host", "device_index", "start_utc"),
    ),
    Table(
        "raw",
        "host",
        "one host of an inventory file, as ingested",
        _columns("batch_id! row_number! host! site_id! chip_name_given chip_id installed_chip_count! from_utc to_utc"),
        key=("host", "from_utc"),
    ),
    Table(
        "raw",
        "telemetry_file",
        "one telemetry file that belongs to this version",
        _columns("partition_path! content_sha256! site_id! local_date! row_count!"),
        key=("partition_path",),
        note="The files lie beside the ledger; a view never reads them.",
    ),
    Table(
        "raw",
        "telemetry_batch",
        "rows that one file gave to one telemetry file",
        _columns("batch_id! partition_path! row_count!"),
        key=("batch_id", "partition_path"),
    ),
    Table("raw", "rejects", "one refused row", _columns("batch_id! format! file_name! row_number! reason! row_text")),
]

_REF = [
    Table(
        "ref",
        "chip",
        "one chip of the catalogue that occurs in the fleet",
        _columns("chip_id! chip_name! vendor! family! form_factor! tdp_chip_w tdp_kind source! status!"),
        key=("chip_id",),
    ),
    Table(
        "ref",
        "chip_power",
        "power of a chip without a reading, by state",
        _columns(
            "chip_id! chip_state! power_chip_w! power_chip_low80_w! power_chip_high80_w! power_chip_low_w! "
            "power_chip_high_w! source! status!"
        ),
        key=("chip_id", "chip_state"),
    ),
    Table(
        "ref",
        "factor",
        "one emission factor that the ledger uses",
        _columns(
            f"factor_id! basis! {_FACTOR} intensity_gco2e_per_kwh_generation intensity_gco2e_per_kwh_facility note"
        ),
        key=("factor_id",),
        note="Production-based factors are born per kWh generated; core.factor_hour restates them as purchased.",
    ),
    Table(
        "ref",
        "calendar_hour",
        "one UTC hour",
        _columns("hour_utc! local_date! local_hour! month! quarter! year!"),
        key=("hour_utc",),
    ),
    Table(
        "ref",
        "setting",
        "one setting of site.yaml and of the build",
        _columns("key_name! key_value!"),
        key=("key_name",),
    ),
]

_CORE = [
    Table("core", "site", "one site", _columns("site_id! site_name! zone_id! timezone!"), key=("site_id",)),
    Table(
        "core",
        "host",
        "one host in one period",
        _columns(
            "host! site_id! chip_id chip_name_given installed_chip_count! node_overhead! node_overhead_low "
            "node_overhead_high from_utc to_utc status!"
        ),
        key=("host", "from_utc"),
    ),
    Table(
        "core",
        "device",
        "one device",
        _columns("device_key! host! device_index! device_scope! uuid serial"),
        key=("device_key",),
    ),
    Table(
        "core",
        "log_window",
        "a time for which a site's job log is whole",
        _columns("site_id! from_utc! to_utc!"),
        key=("site_id", "from_utc"),
    ),
    Table(
        "core",
        "job",
        "one run of one job that ran",
        _columns(
            "job_key! batch_id! row_number! job_id! site_id! host user_name project job_type state submit_utc "
            "start_utc! end_utc counted_end_utc! chip_id chip_name_given chip_count! energy_chip_kwh energy_it_kwh"
        ),
        key=("job_key",),
    ),
    Table(
        "core",
        "allocation",
        "chips of one host given to one job",
        _columns("allocation_key! job_key! site_id! host device_key chip_id chip_count! start_utc! end_utc!"),
        key=("allocation_key",),
    ),
    Table(
        "core",
        "device_hour",
        "one device, hour, owner and tier with readings",
        _columns(
            "device_key! hour_utc! allocation_key tier! sample_count! covered_chip_ms! energy_chip_microj! power_model"
        ),
        note="Whole microjoules; device time that no allocation claims has no allocation_key.",
    ),
    Table(
        "core",
        "node_hour",
        "one node and hour with readings of its plug",
        _columns("host! hour_utc! sample_count! covered_ms! energy_it_microj!"),
        key=("host", "hour_utc"),
        note="Gives the node's overhead in hours in which its boards were read too; never given whole to a job.",
    ),
    Table(
        "core",
        "counter_hour",
        "one device and hour with a counter: what the counter says against what power says",
        _columns(
            "device_key! hour_utc! restart_count! wrap_count! ambiguous_wrap_count! stuck_count! jump_count! "
            "energy_by_counter_chip_kwh! energy_by_power_chip_kwh! least_energy_chip_kwh!"
        ),
        key=("device_key", "hour_utc"),
    ),
    Table(
        "core",
        "device_missing_hour",
        "one device that was read at some time, in one hour: what no reading covers",
        _columns("device_key! hour_utc! missing_chip_h!"),
        key=("device_key", "hour_utc"),
        note="Its energy is estimated by default power, or not known; never 0.",
    ),
    Table(
        "core",
        "replaced_hour",
        "one site and hour: readings that a job's own measurement replaces on hosts whose boards no allocation names",
        _columns("hour_utc! site_id! replaced_energy_chip_kwh!"),
        key=("hour_utc", "site_id"),
    ),
    Table(
        "core",
        "attributed_file",
        "one telemetry file whose energy was given to owners",
        _columns("partition_path! allocation_sha256!"),
        key=("partition_path",),
        note="Files are read again only when they, or the allocations of their day, have changed.",
    ),
    Table(
        "core",
        "energy_hour",
        "energy of one owner on one host in one hour, by tier",
        _columns(
            f"hour_utc! site_id! host owner_kind! owner! job_key chip_id tier! attribution! chip_h! {_ENERGY_CHIP} "
            "node_overhead! node_overhead_low! node_overhead_high! node_overhead_status!"
        ),
        note="Energy is null where the tier is missing.",
    ),
    Table(
        "core",
        "pue_hour",
        "PUE of one site in one hour",
        _columns("site_id! hour_utc! pue! pue_low! pue_high! source! status! note"),
        key=("site_id", "hour_utc"),
    ),
    Table(
        "core",
        "wue_hour",
        "WUE of one site in one hour",
        _columns(f"site_id! hour_utc! {_WUE} source! status! note"),
        key=("site_id", "hour_utc"),
        note="A site that states no water has no rows; null: this kind of water is not known.",
    ),
    Table(
        "core",
        "grid_water_hour",
        "water of the grid's power stations for one site in one hour",
        _columns(f"site_id! hour_utc! {_GRID_WATER} source! status! note"),
        key=("site_id", "hour_utc"),
        note="A site that names no figure has no rows.",
    ),
    Table(
        "core",
        "supply_hour",
        "where the energy of one site came from in one hour",
        _columns(f"site_id! hour_utc! {_SUPPLY} note"),
        key=("site_id", "hour_utc"),
        note="Every hour with energy has a row. The ledger's own lines take part in own plants by grid_share, whatever "
        "else stands on the site.",
    ),
    Table(
        "core",
        "factor_hour",
        "factor of one site, hour and method",
        _columns(
            "site_id! hour_utc! method! factor_id! intensity_gco2e_per_kwh_facility! year_policy! year_note! note"
        ),
        key=("site_id", "hour_utc", "method"),
    ),
    Table(
        "core",
        "installed_hour",
        "installed chips of one host in one hour",
        _columns("hour_utc! site_id! host! chip_id installed_chip_h!"),
        key=("hour_utc", "host"),
    ),
]

_MAIN = [
    Table(
        "main",
        "energy_hourly",
        "energy of one owner on one host in one hour, by tier",
        _columns(
            "hour_utc month quarter site_id host owner_kind owner job_key chip_id tier attribution chip_h "
            f"{_ENERGY_CHIP} node_overhead {_ENERGY_IT} pue {_ENERGY_FACILITY}"
        ),
        kind="view",
    ),
    Table(
        "main",
        "energy_monthly",
        "energy of one owner and chip in one month, by tier",
        _columns(f"month quarter site_id owner_kind owner chip_id tier attribution chip_h {_ENERGY}"),
        kind="view",
    ),
    Table(
        "main",
        "supply_hourly",
        "where the energy of one site came from in one hour",
        _columns(f"hour_utc month quarter site_id {_SUPPLY.replace('!', '')}"),
        kind="view",
    ),
    Table(
        "main",
        "water_hourly",
        "water of one energy line, on the site and at power stations",
        _columns(
            "hour_utc month quarter site_id host owner_kind owner job_key chip_id tier energy_it_kwh "
            "energy_purchased_facility_kwh wue_withdrawn_l_per_kwh_it wue_consumed_l_per_kwh_it "
            f"grid_water_consumed_l_per_kwh_facility {_WATER}"
        ),
        kind="view",
    ),
    Table(
        "main",
        "water_monthly",
        "water of one owner in one month, on the site and at power stations",
        _columns(f"month quarter site_id owner_kind owner energy_it_kwh energy_purchased_facility_kwh {_WATER}"),
        kind="view",
    ),
    Table(
        "main",
        "site_hourly",
        "one site in one hour: PUE, share bought, factors of all methods side by side",
        _columns(
            "hour_utc month quarter site_id pue pue_low pue_high grid_share "
            + " ".join(f"{name}_gco2e_per_kwh_facility {name}_basis" for name in FACTOR_COLUMNS)
        ),
        kind="view",
    ),
    Table(
        "main",
        "emission_lines",
        "emissions of one energy line by one method",
        _columns(
            "hour_utc month quarter site_id host owner_kind owner job_key chip_id scope category method tier chip_h "
            f"{_ENERGY_FACILITY} grid_share basis factor_id factor_year boundary factor_attribution gases gwp_set "
            f"intensity_gco2e_per_kwh_facility {_EMISSIONS}",
            _PER_METHOD,
        ),
        kind="view",
    ),
    Table(
        "main",
        "emissions_hourly",
        "emissions of one site in one hour by one method",
        _columns(
            f"hour_utc month quarter site_id scope category method basis factor_id {_ENERGY_FACILITY} {_EMISSIONS}",
            _PER_METHOD,
        ),
        kind="view",
    ),
    Table(
        "main",
        "emissions_monthly",
        "emissions of one owner and chip in one month by one method",
        _columns(
            "month quarter site_id owner_kind owner chip_id tier scope category method basis chip_h "
            f"{_ENERGY_FACILITY} {_EMISSIONS}",
            _PER_METHOD,
        ),
        kind="view",
    ),
    Table(
        "main",
        "emissions_quarterly",
        "emissions of one owner in one quarter by one method",
        _columns(
            f"quarter site_id owner_kind owner scope category method basis chip_h {_ENERGY_FACILITY} {_EMISSIONS}",
            _PER_METHOD,
        ),
        kind="view",
    ),
    Table(
        "main",
        "jobs",
        "one run of one job in one quarter",
        _columns(
            "quarter job_key job_id site_id host owner user_name job_type state start_utc end_utc chip_id chip_h "
            f"covered_chip_h {_ENERGY_CHIP} {_ENERGY_FACILITY}"
        ),
        kind="view",
    ),
    Table(
        "main",
        "coverage",
        "chip-hours and energy of one site and chip in one month by tier",
        _columns("month quarter site_id chip_id owner_kind tier chip_h energy_chip_kwh"),
        kind="view",
    ),
    Table(
        "main",
        "device_coverage",
        "what is known of one device in one hour, by tier; missing: covered by no reading",
        _columns("hour_utc month quarter site_id host device_index tier chip_h energy_chip_kwh"),
        kind="view",
    ),
    Table(
        "main",
        "reconciliation",
        "both sides of each check of one site and month: they must agree",
        _columns(
            "month quarter site_id installed_chip_h accounted_chip_h difference_chip_h read_energy_chip_kwh "
            "replaced_energy_chip_kwh owned_energy_chip_kwh difference_energy_chip_kwh"
        ),
        kind="view",
    ),
    Table(
        "main",
        "factors_used",
        "one factor as it was used in one quarter",
        _columns(
            f"quarter site_id method basis factor_id {_FACTOR} intensity_gco2e_per_kwh_facility year_policy year_note "
            "note energy_facility_kwh energy_purchased_facility_kwh emissions_kgco2e",
            (*_PER_METHOD, "energy_purchased_facility_kwh"),
        ),
        kind="view",
    ),
]

_INSTRUMENTS = [
    *(
        Table(layer, name, row, _columns(columns), key=key, note=note)
        for layer, name, row, columns, key, note in (*INSTRUMENT_TABLES, *OTHER_SCOPE_TABLES)
    ),
    *(Table("main", name, row, _columns(columns), kind="view") for name, row, columns in INSTRUMENT_VIEWS),
]

TABLES: dict[str, Table] = {table.full_name: table for table in (*_RAW, *_REF, *_CORE, *_MAIN, *_INSTRUMENTS)}


def table(full_name: str) -> Table:
    """Return a table or view by ``layer.name``.

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> table("core.pue_hour").field_of("pue").unit
    'kWh_facility/kWh_it'

    """
    if full_name not in TABLES:
        raise UnknownNameError(f"No table named {full_name}.{did_you_mean(full_name, TABLES)}")
    return TABLES[full_name]
