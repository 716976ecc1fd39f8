"""Hosts of the fleet by ``site.yaml`` and inventories, and stored rows that must follow when those change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import SiteFileError, did_you_mean
from energy.importers import Context, HostPeriod
from energy.importers.times import zone_of
from energy.ledger.site_file import SiteFile, expand_pattern
from energy.ledger.store import Build

if TYPE_CHECKING:
    import duckdb

Hosts = Mapping[str, tuple[HostPeriod, ...]]


def hosts_of(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> dict[str, tuple[HostPeriod, ...]]:
    """Return what each host is, and when; ``site.yaml`` wins over an inventory.

    Raises
    ------
    SiteFileError
        An inventory has hosts in a site that ``site.yaml`` does not name.
    """
    found: dict[str, list[HostPeriod]] = defaultdict(list)
    for site_id, site in site_file.sites.items():
        for group in site.hosts:
            chip_id = site_file.chip_of_name(group.chip)
            period = HostPeriod(site_id, chip_id, group.chips, _ms(group.start), _ms(group.end))
            for host in expand_pattern(group.pattern):
                found[host].append(period)
    described = set(found)
    inventory = connection.execute(
        "SELECT host, site_id, chip_id, installed_chip_count, from_utc, to_utc, batch_id FROM raw.host "
        "QUALIFY row_number() OVER (PARTITION BY host, from_utc ORDER BY batch_id DESC) = 1 ORDER BY host, from_utc"
    ).fetchall()
    for host, site_id, chip_id, count, start, end, batch_id in inventory:
        if host in described:
            continue
        if site_id not in site_file.sites:
            raise _site_gone(site_id, site_file, f"the inventory of batch {batch_id} has host {host} there", batch_id)
        found[host].append(HostPeriod(site_id, chip_id, count, _ms(start), _ms(end)))
    return {host: tuple(periods) for host, periods in found.items()}


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


def _site_gone(site_id: str, site_file: SiteFile, why: str, batch_id: int) -> SiteFileError:
    near = did_you_mean(site_id, site_file.sites)
    return SiteFileError(
        f"site.yaml has no site {site_id}, but {why}.{near} Put the site back, or take the rows back with "
        f"`energy withdraw {batch_id}`."
    )


def context_of(
    connection: duckdb.DuckDBPyConnection, site_file: SiteFile, site_id: str | None, timezone: str | None
) -> Context:
    """Return what an importer may ask about the fleet.

    Raises
    ------
    SiteFileError, InputFileError
        ``--site`` or ``--timezone`` is not known.
    """
    if site_id is not None and site_id not in site_file.sites:
        near = did_you_mean(site_id, site_file.sites)
        raise SiteFileError(f"No site {site_id} in site.yaml.{near} Sites: {', '.join(site_file.sites)}.")
    if timezone is not None:
        zone_of(timezone)
    return Context(
        site_id=site_id,
        timezone=timezone,
        hosts=hosts_of(connection, site_file),
        chip_of_name=cache(site_file.chip_of_name),
        sites=tuple(site_file.sites),
    )


def one_site_of(hosts: Hosts) -> Callable[[str], str | None]:
    """Return a look-up of a host's site for readings, whose files are kept by site.

    Raises
    ------
    SiteFileError
        From the look-up: the host moves between sites.
    """

    def look_up(host: str) -> str | None:
        sites = sorted({period.site_id for period in hosts.get(host, ())})
        if len(sites) > 1:
            raise SiteFileError(
                f"Host {host} moves between sites {' and '.join(sites)}: readings of such a host cannot be placed. "
                "Give it another name at its new site, in site.yaml and in the files."
            )
        return sites[0] if sites else None

    return look_up


def follow(work: Build, site_file: SiteFile) -> None:
    """Bring site and chip of stored rows in line with ``site.yaml`` and the inventories as they are now.

    Raises
    ------
    SiteFileError
        Stored rows have no place any more, or their log contradicts the chip that the host has now.
    """
    connection = work.connection
    hosts = hosts_of(connection, site_file)
    _check_sites(connection, site_file)
    if _one(connection, "SELECT count(*) FROM raw.job WHERE host IS NOT NULL"):
        _register_fleet(connection, hosts)
        _check_hosts(connection)
        _follow_jobs(connection, site_file)
    _follow_readings(work, hosts)


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    return connection.execute(sql).fetchall()[0][0]


def _check_sites(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    for site_id, batch_id, count in connection.execute(
        "SELECT site_id, min(batch_id), count(*) FROM raw.job WHERE host IS NULL GROUP BY site_id ORDER BY site_id"
    ).fetchall():
        if site_id not in site_file.sites:
            raise _site_gone(site_id, site_file, f"{count:,} jobs of batch {batch_id} ran there", batch_id)


def _register_fleet(connection: duckdb.DuckDBPyConnection, hosts: Hosts) -> None:
    import pyarrow as pa

    rows = [(host, len(periods), period) for host, periods in hosts.items() for period in periods]
    table = pa.table(
        {
            "host": pa.array([host for host, _, _ in rows], pa.string()),
            "periods": pa.array([count for _, count, _ in rows], pa.int64()),
            "site_id": pa.array([period.site_id for _, _, period in rows], pa.string()),
            "chip_id": pa.array([period.chip_id for _, _, period in rows], pa.string()),
            "from_ms": pa.array([period.from_ms for _, _, period in rows], pa.int64()),
            "to_ms": pa.array([period.to_ms for _, _, period in rows], pa.int64()),
        }
    )
    connection.register("incoming", table)
    connection.execute("CREATE OR REPLACE TEMP TABLE fleet AS SELECT * FROM incoming")
    connection.unregister("incoming")


def _check_hosts(connection: duckdb.DuckDBPyConnection) -> None:
    gone = connection.execute(
        "SELECT job.host, min(job.batch_id), count(*) FROM raw.job AS job ANTI JOIN fleet ON fleet.host = job.host "
        "WHERE job.host IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT 1"
    ).fetchall()
    if gone:
        host, batch_id, count = gone[0]
        raise SiteFileError(
            f"site.yaml no longer has host {host}, but the ledger has {count:,} jobs there (batch {batch_id}): put it "
            f"back under hosts, with `to:` if it was removed, or take them back with `energy withdraw {batch_id}`."
        )


# the period that a job's host is in: its only one, else the one that holds the job's start
_IN_PERIOD = (
    "fleet.host = job.host AND (fleet.periods = 1 OR job.start_utc IS NOT NULL "
    "AND epoch_ms(job.start_utc) >= coalesce(fleet.from_ms, -4611686018427387904) "
    "AND epoch_ms(job.start_utc) < coalesce(fleet.to_ms, 4611686018427387904))"
)


# instances of a board (MIG) are no whole board: they have no chip, whatever their host holds; as in 20_job.sql
_IS_INSTANCE = (
    "coalesce(regexp_full_match(job.chip_name_given, "
    "'(?i)(.*[_.-])?[0-9]+(c[.][0-9]+)?g[.][0-9]+gb([+._-][a-z0-9.+-]*)?'), false)"
)


def _follow_jobs(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    # a chip that the log names came from the name, unless the name stands for "not disclosed"
    hidden = "(job.chip_name_given IS NULL OR job.chip_id IS NULL OR contains(job.chip_name_given, '|') "
    hidden += "OR list_contains($hidden, job.chip_name_given))"
    names = {"hidden": list(site_file.undisclosed_chips) or [""]}
    odd = connection.execute(
        f"SELECT job.host, fleet.chip_id, job.chip_id, min(job.batch_id), count(*) FROM raw.job AS job "
        f"JOIN fleet ON {_IN_PERIOD} WHERE NOT {hidden} AND fleet.chip_id IS NOT NULL "
        "AND fleet.chip_id <> job.chip_id GROUP BY 1, 2, 3 ORDER BY 1 LIMIT 1",
        names,
    ).fetchall()
    if odd:
        host, described, logged, batch_id, count = odd[0]
        raise SiteFileError(
            f"site.yaml gives host {host} {described}, but {count:,} jobs of batch {batch_id} say {logged}: correct "
            f"site.yaml, or take them back with `energy withdraw {batch_id}`."
        )
    follows = f"{hidden} AND NOT {_IS_INSTANCE}"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE moved AS SELECT job.job_key, fleet.site_id, "
        f"CASE WHEN {follows} THEN fleet.chip_id ELSE job.chip_id END AS chip_id FROM raw.job AS job "
        f"JOIN fleet ON {_IN_PERIOD} WHERE job.site_id <> fleet.site_id "
        f"OR ({follows} AND job.chip_id IS DISTINCT FROM fleet.chip_id)",
        names,
    )
    if _one(connection, "SELECT count(*) FROM moved"):
        connection.execute(
            "UPDATE raw.job SET site_id = moved.site_id, chip_id = moved.chip_id FROM moved "
            "WHERE moved.job_key = raw.job.job_key"
        )


def _follow_readings(work: Build, hosts: Hosts) -> None:
    """Move readings of hosts that now belong to another site into that site's files."""
    from energy.ledger.readings import forget_file, list_file, telemetry_files
    from energy.ledger.telemetry import merge_days, read_all, write_day

    connection = work.connection
    files = telemetry_files(connection)
    if not files:
        return
    site_of_host = one_site_of(hosts)
    device = connection.execute("SELECT device_key, host FROM core.device").fetchall()
    before: dict[str, str] = dict(connection.execute("SELECT host, min(site_id) FROM core.host GROUP BY 1").fetchall())
    now = {key: site_of_host(host) for key, host in device}
    if all(now[key] == before.get(host, now[key]) for key, host in device):
        return
    names = sorted({site for site in now.values() if site is not None})
    code = np.full(max(now) + 1, -1, np.int64)
    for key, site in now.items():
        code[key] = -1 if site is None else names.index(site)
    parts: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for (site, day), path in files.items():
        rows = read_all(work.folder / path)
        place = code[rows["device_key"]]
        if (place < 0).any():
            host = dict(device)[int(rows["device_key"][place < 0][0])]
            raise SiteFileError(
                f"site.yaml no longer has host {host}, but the ledger has its readings: put it back under hosts, with "
                "`to:` if it was removed, or take its file back with `energy withdraw`."
            )
        if (place != (names.index(site) if site in names else -2)).any():
            forget_file(connection, path)
            for number in np.unique(place).tolist():
                parts[names[number], day].append({key: values[place == number] for key, values in rows.items()})
    left = telemetry_files(connection)
    for key, moved in parts.items():
        if key in left:
            moved.append(read_all(work.folder / left[key]))
            forget_file(connection, left[key])
        list_file(connection, write_day(work.folder, key, merge_days(moved)))
