"""From raw rows to the tables and views that people read: one pass, in the order of the path of one number."""

from __future__ import annotations

import hashlib
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy.carbon.scope2 import SiteZones
from energy.catalogue.chips import Chip, chip
from energy.catalogue.factors import factor
from energy.catalogue.profiles import IntensityProfile, all_profiles
from energy.catalogue.zones import zone
from energy.errors import FactorError, LedgerError, SiteFileError
from energy.ledger import attribution
from energy.ledger.contracts import cover
from energy.ledger.grid_series import site_factors
from energy.ledger.hosts import sites_and_hosts
from energy.ledger.layout import SETTING, bring_up_to_date, layout
from energy.ledger.other_scopes import fill_other_scopes
from energy.ledger.periods import ZoneSpan
from energy.ledger.site_file import FILE_NAME, OWN_READINGS, SiteFile
from energy.ledger.site_hours import fill_site_hours
from energy.ledger.site_supply import fill_supply_hours
from energy.ledger.store import Build
from energy.ledger.tables import first_row, insert, insert_rows, instants
from energy.power.accuracy import READING_ERROR
from energy.power.defaults import OwnReadings, default_power, own_power
from energy.power.states import OVERSHOOT
from energy.power.utilisation import WORKING_SOURCE, Share, active_power_range, held_power, levels_of
from energy.provenance import factor_basis
from energy.schema import TABLES
from energy.schema.ddl import comments

if TYPE_CHECKING:
    import duckdb

_STATES = ("busy", "idle")
_ANY_INSTRUMENT = (
    "SELECT 1 FROM core.certificate UNION ALL SELECT 1 FROM core.contract UNION ALL SELECT 1 FROM core.delivery_hour "
    "LIMIT 1"
)
SQL_FOLDER = Path(__file__).parent / "sql"
_REBUILT = (
    *(
        f"core.{name}"
        for name in (
            "site",
            "host",
            "log_window",
            "job",
            "allocation",
            "installed_hour",
            "energy_hour",
            "device_missing_hour",
            "replaced_hour",
        )
    ),
    *(f"core.{name}" for name in ("pue_hour", "wue_hour", "grid_water_hour", "supply_hour", "factor_hour")),
    *(f"core.{name}" for name in ("certificate", "contract", "delivery_hour", "instrument", "market_cover")),
    *(f"core.{name}" for name in ("upstream_rate", "other_emission")),
    *(f"ref.{name}" for name in ("calendar_hour", "chip", "chip_power", "factor", "setting")),
)


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the layers, tables and comments that are not there yet, in one transaction; renew older tables."""
    connection.execute("BEGIN")
    for layer in ("raw", "ref", "core"):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {layer}")
    bring_up_to_date(connection)
    connection.execute("COMMIT")


@cache
def checked_views() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Check the units of every view, once in a process; return each view's statements by its full name.

    Raises
    ------
    SqlUnitError
        A view's units do not add up, or it uses what the checker does not know.
    """
    from energy.ledger.unit_check import check_view

    out = []
    for table in TABLES.values():
        if table.kind == "view":
            sql = (SQL_FOLDER / f"{table.name}.sql").read_text(encoding="utf-8")
            check_view(table, sql)
            out.append((table.full_name, (f"CREATE OR REPLACE VIEW {table.full_name} AS {sql}", *comments(table))))
    return tuple(out)


def create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create every view with its comments after its units were checked, in one transaction."""
    from energy.ledger.unit_check import MACRO_STATEMENTS

    views = checked_views()
    connection.execute("BEGIN")
    for statement in MACRO_STATEMENTS:
        connection.execute(statement)
    for _, (view, *remarks) in views:
        connection.execute(view)
        connection.execute("; ".join(remarks))
    connection.execute("COMMIT")


def build(work: Build, site_file: SiteFile) -> None:
    """Rebuild everything that follows from the raw rows, the telemetry and ``site.yaml``.

    Raises
    ------
    SiteFileError, FactorError
        A site lacks a PUE or a factor for hours with energy; nothing is published.
    LedgerError
        A line has more energy than anything draws.
    """
    connection = work.connection
    for name in _REBUILT:
        connection.execute(f"DELETE FROM {name}")
    node_sources = sites_and_hosts(connection, site_file)
    attribution.register_devices(connection)
    _run(connection, "10_log_window")
    _run(connection, "20_job")
    _check_sites(connection)
    _run(connection, "30_allocation")
    _run(connection, "40_calendar_hour", {"timezone": site_file.reporting_timezone})
    _chips(connection)
    attribution.attribute(connection, work.folder, site_file.working_share())
    _chip_power(connection, site_file)
    _run(connection, "50_installed_hour")
    _run(connection, "55_device_missing_hour")
    _run(connection, "60_energy_hour", {"reading_error": READING_ERROR.fraction, "overshoot": OVERSHOOT})
    hours = _hours_by_site(connection)
    fill_site_hours(connection, site_file, work.folder, hours)
    _check_lines(connection)
    fill_supply_hours(connection, site_file, work.folder, hours)
    _factors(connection, site_file)
    _run(connection, "70_instruments")
    if first_row(connection, _ANY_INSTRUMENT) is not None:
        _run(connection, "75_purchase")
        cover(connection, site_file)
    fill_other_scopes(connection, site_file)
    _run(connection, "80_category_3")
    _settings(connection, site_file, node_sources)
    create_views(connection)


#: Views add whole trillionths of kWh and kg in 64 bits, for any factor up to 3,000 g/kWh; it is three gigawatts.
_MOST_LINE_KWH = 3e6
_LARGEST_LINE = """
SELECT line.site_id, line.host, strftime(line.hour_utc AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%MZ') AS hour,
    line.energy_chip_high_kwh * line.node_overhead_high * place.pue_high AS largest_kwh
FROM core.energy_hour AS line
JOIN core.pue_hour AS place ON place.site_id = line.site_id AND place.hour_utc = line.hour_utc
WHERE largest_kwh > ?
ORDER BY largest_kwh DESC
LIMIT 1
"""


def _check_lines(connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse energy of one owner on one host in one hour that nothing draws: a unit or a counter is wrong."""
    found = first_row(connection, _LARGEST_LINE, [_MOST_LINE_KWH])
    if found is not None:
        site_id, host, hour, largest_kwh = found
        where = f"site {site_id}" if host is None else f"site {site_id}, host {host}"
        raise LedgerError(
            f"{where}, {hour}: {largest_kwh:,.0f} kWh in one hour at the meter (high end), more than "
            f"{_MOST_LINE_KWH:,.0f}: a unit or a counter is wrong. Correct the file, or its mapping, and ingest it "
            "again. Nothing was published."
        )


def _run(connection: duckdb.DuckDBPyConnection, name: str, parameters: dict[str, Any] | None = None) -> None:
    """Run the statements of one build file."""
    text = (SQL_FOLDER / "build" / f"{name}.sql").read_text(encoding="utf-8")
    for statement in connection.extract_statements(text):
        wanted = {key: value for key, value in (parameters or {}).items() if f"${key}" in statement.query}
        connection.execute(statement, wanted or None)


def _chips(connection: duckdb.DuckDBPyConnection) -> None:
    names = connection.execute(
        "SELECT chip_id FROM core.host WHERE chip_id IS NOT NULL UNION SELECT chip_id FROM core.job "
        "WHERE chip_id IS NOT NULL ORDER BY 1"
    ).fetchall()
    chips: list[Chip] = [chip(name) for (name,) in names]
    insert_rows(
        connection,
        "ref.chip",
        [
            {
                "chip_id": item.chip_id,
                "chip_name": item.name,
                "vendor": item.vendor,
                "family": item.family,
                "form_factor": item.form_factor,
                "tdp_chip_w": item.tdp_w,
                "tdp_kind": item.tdp_kind,
                "source": "; ".join(item.source),
                "status": item.status,
            }
            for item in chips
        ],
    )


def _chip_power(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    """Set the watts of chips without a reading: by the catalogue, or by the ledger's own readings where asked for."""
    share = site_file.working_share()
    names = connection.execute("SELECT chip_id FROM ref.chip ORDER BY chip_id").fetchall()
    known = [chip(name) for (name,) in names]
    states = {
        (item.chip_id, state): default_power(item, state, share, site_file.default_idle)
        for item in known
        for state in _STATES
    }
    if site_file.default_power == OWN_READINGS:
        text = (SQL_FOLDER / "build" / "45_own_power.sql").read_text(encoding="utf-8")
        for row in connection.execute(text).fetchall():
            own = OwnReadings(*row)
            if (own.chip_id, own.chip_state) in states:
                states[own.chip_id, own.chip_state] = own_power(own, states[own.chip_id, own.chip_state])
    rows = [{name: getattr(item, name) for name in item.__slots__} for item in states.values()]
    insert_rows(connection, "ref.chip_power", rows)
    _model_ranges(connection, known, share)


def _model_ranges(connection: duckdb.DuckDBPyConnection, known: list[Chip], share: Share) -> None:
    """Set the 95 % ranges of power that was modelled: of chips without and with kernels, and of active ones."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE power_model (chip_id VARCHAR, limit_w DOUBLE, idle_w DOUBLE, idle_low_w DOUBLE, "
        "idle_high_w DOUBLE, running_w DOUBLE, running_low_w DOUBLE, running_high_w DOUBLE, active_low_ratio DOUBLE, "
        "active_high_ratio DOUBLE)"
    )
    rows = []
    for item in known:
        levels = levels_of(item.chip_id)
        running, active = held_power(levels, share), active_power_range(levels)
        rows.append(
            {
                "chip_id": item.chip_id,
                "limit_w": levels.limit_high_w,
                "idle_w": levels.idle.value,
                "idle_low_w": levels.idle.low,
                "idle_high_w": levels.context.high,  # whether a process holds a chip without a kernel is not known
                "running_w": running.value,
                "running_low_w": running.low,
                "running_high_w": running.high,
                "active_low_ratio": active.low / active.value,
                "active_high_ratio": active.high / active.value,
            }
        )
    insert_rows(connection, "power_model", rows)


def _hours_by_site(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    rows = connection.execute(
        "SELECT site_id, hour_utc FROM (SELECT DISTINCT site_id, epoch_ms(hour_utc) // 3600000 AS hour_utc "
        "FROM core.energy_hour) ORDER BY 1, 2"
    ).fetchnumpy()
    return {
        site_id: rows["hour_utc"][rows["site_id"] == site_id].astype("datetime64[h]")
        for site_id in sorted(set(rows["site_id"].tolist()))
    }


def _check_sites(connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse jobs of a site that ``site.yaml`` no longer has: their energy would drop out of every total."""
    lost = first_row(
        connection,
        "SELECT site_id FROM core.job WHERE site_id NOT IN (SELECT site_id FROM core.site) ORDER BY 1 LIMIT 1",
    )
    if lost is not None:
        raise SiteFileError(
            f"site.yaml has no site {lost[0]}, which has jobs in the ledger: put it back, or withdraw them."
        )


def zones_of(site_file: SiteFile, site_id: str, span: ZoneSpan) -> SiteZones:
    """Return the grid zones that a site's factors come from in one period.

    Raises
    ------
    FactorError
        The zone has hours only, and no annual factor to stand beside them.
    """
    annual = zone(span.zone)
    if not annual.annual_zone_id:
        raise FactorError(
            f"Site {site_id}: zone {annual.zone_id} has hours but no annual factor: {annual.note}. Set zone to an "
            "annual zone (energy catalogue zones) and hourly_zone to this one."
        )
    residual = zone(span.residual_zone) if span.residual_zone else annual
    return SiteZones(
        site_id,
        annual.annual_zone_id,
        residual.annual_zone_id or residual.zone_id,
        span.hourly_zone,
        site_file.sites[site_id].boundary,
        site_file.factor_policy,
    )


def _factors(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    used: set[str] = set()
    of_series: dict[str, dict[str, Any]] = {}
    for site_id, hours in _hours_by_site(connection).items():
        told = site_factors(connection, site_file, site_id, hours, partial(zones_of, site_file, site_id))
        of_series |= {fact["factor_id"]: fact for fact in told.facts}
        for item in told.items:
            count = item.hours.size
            used.add(item.factor_id)
            insert(
                connection,
                "core.factor_hour",
                {
                    "site_id": [site_id] * count,
                    "hour_utc": instants(item.hours),
                    "method": [item.method] * count,
                    "factor_id": [item.factor_id] * count,
                    "intensity_gco2e_per_kwh_facility": item.intensity_gco2e_per_kwh_facility,
                    "year_policy": [item.year_policy] * count,
                    "year_note": [item.year_note] * count,
                    "note": [item.note] * count,
                },
            )
    insert_rows(connection, "ref.factor", [of_series.get(name) or _factor_row(name) for name in sorted(used)])


def _factor_row(factor_id: str) -> dict[str, Any]:
    profile: IntensityProfile | None = next((p for p in all_profiles() if p.profile_id == factor_id), None)
    item = profile if profile is not None else factor(factor_id)
    value = None if profile is not None else float(factor(factor_id).value)
    produced = item.attribution == "production"
    return {
        "factor_id": factor_id,
        "basis": factor_basis(item.boundary, item.attribution, item.gases, item.gwp_set).words,
        "factor_kind": "month-hour profile" if profile is not None else factor(factor_id).kind,
        "zone_id": item.zone_id,
        "factor_year": item.year,
        "boundary": item.boundary,
        "factor_attribution": item.attribution,
        "gases": item.gases,
        "gwp_set": item.gwp_set,
        "publisher": item.publisher,
        "source": "; ".join(item.source),
        "edition": item.edition,
        "licence": item.licence,
        "status": item.status,
        "intensity_gco2e_per_kwh_generation": value if produced else None,
        "intensity_gco2e_per_kwh_facility": None if produced else value,
        "note": item.note,
    }


def _settings(connection: duckdb.DuckDBPyConnection, site_file: SiteFile, node_sources: list[str]) -> None:
    from energy import __version__

    share = site_file.working_share()
    chosen = {
        "entity": site_file.entity,
        "consolidation": site_file.consolidation,
        "reporting_timezone": site_file.reporting_timezone,
        "factor_policy": site_file.factor_policy,
        "default_power": site_file.default_power,
        "default_working_share": f"{share.value:g} ({share.low:g} to {share.high:g})",
        "default_working_share_source": WORKING_SOURCE if site_file.default_working_share is None else FILE_NAME,
        "default_idle": site_file.default_idle,
        "node_overhead_source": " | ".join(node_sources) or FILE_NAME,
        "chip_dialect": site_file.chip_dialect or "",
        "basis_mix": site_file.basis_mix or "",
        "undisclosed_chips": ", ".join(site_file.undisclosed_chips),
        "code_version": __version__,
        SETTING: layout(),
        "reading_error": f"{READING_ERROR.fraction:g}",
        "reading_error_source": READING_ERROR.source,
        "reading_error_status": READING_ERROR.status,
        "site_file_sha256": hashlib.sha256(site_file.model_dump_json().encode()).hexdigest(),
    }
    insert_rows(connection, "ref.setting", [{"key_name": key, "key_value": value} for key, value in chosen.items()])
