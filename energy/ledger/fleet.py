"""Hosts of the fleet by ``site.yaml`` and inventories, and stored rows that must follow when those change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from energy.errors import SiteFileError, did_you_mean
from energy.importers import Context, HostPeriod
from energy.importers.times import zone_of
from energy.ledger.site_file import SiteFile, expand_pattern
from energy.ledger.store import Build

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

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
            period = HostPeriod(site_id, chip_id, group.chips, _ms(group.start), _ms(group.end), group.dies(chip_id))
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


class HostSites:
    """Site of each reading: that of its host, and of a host that moves between sites that of the reading's time.

    Attributes
    ----------
    names : list of str
        All sites that have hosts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> hosts = {"n-1": (HostPeriod("a", None, 8, None, 5000), HostPeriod("b", None, 8, 5000, None))}
    >>> sites = HostSites(hosts)
    >>> host = pa.array(["n-1", "n-1"]).dictionary_encode()
    >>> [sites.names[code] for code in sites.codes(host, np.array([4999, 5000])).tolist()]
    ['a', 'b']

    """

    def __init__(self, hosts: Hosts) -> None:
        self.names = sorted({period.site_id for periods in hosts.values() for period in periods})
        self._number = {name: number for number, name in enumerate(self.names)}
        self._hosts = hosts
        self._moving = {
            host: periods for host, periods in hosts.items() if len({period.site_id for period in periods}) > 1
        }

    def codes(self, host: pa.DictionaryArray, time_ms: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the place of each row's site in ``names``; -1 where the host has none, or none at that time.

        Parameters
        ----------
        host : dictionary array
            Host of each row.
        time_ms : array of int64
            Time of each row, ms since 1970 UTC.
        """
        names = host.dictionary.to_pylist()
        of_host = np.full(max(len(names), 1), -1, np.int32)
        for number, name in enumerate(names):
            periods = self._hosts.get(name, ())
            if periods and name not in self._moving:
                of_host[number] = self._number[periods[0].site_id]
        code = np.asarray(host.indices)
        out: npt.NDArray[np.int32] = of_host[code]
        for number in (number for number, name in enumerate(names) if name in self._moving):
            for period in self._moving[names[number]]:
                begin = -(1 << 62) if period.from_ms is None else period.from_ms
                finish = 1 << 62 if period.to_ms is None else period.to_ms
                out[(code == number) & (time_ms >= begin) & (time_ms < finish)] = self._number[period.site_id]
        return out

    def places(self, host: str) -> tuple[HostPeriod, ...]:
        """Return the periods of a host that moves between sites; none for any other host."""
        return tuple(self._moving.get(host, ()))


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
    """Move readings of hosts that now belong to another site, or move at another time, into the files of their site."""
    from energy.ledger.readings import forget_file, list_file, telemetry_files
    from energy.ledger.telemetry import merge_days, read_all, write_day

    connection = work.connection
    files = telemetry_files(connection)
    if not files or _stayed(connection, hosts):
        return
    sites = HostSites(hosts)
    host_of = dict(connection.execute("SELECT device_key, host FROM core.device").fetchall())
    parts: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for (site, day), path in files.items():
        rows = read_all(work.folder / path)
        place = _sites_of_rows(sites, host_of, rows, day)
        if (place != (sites.names.index(site) if site in sites.names else -2)).any():
            forget_file(connection, path)
            for number in np.unique(place).tolist():
                parts[sites.names[number], day].append({key: values[place == number] for key, values in rows.items()})
    left = telemetry_files(connection)
    for key, moved in parts.items():
        if key in left:
            moved.append(read_all(work.folder / left[key]))
            forget_file(connection, left[key])
        list_file(connection, write_day(work.folder, key, merge_days(moved)))


def _stayed(connection: duckdb.DuckDBPyConnection, hosts: Hosts) -> bool:
    """Tell whether every host with readings has the sites that it had in this version, at the same times."""
    before: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for host, site_id, start, end in connection.execute(
        "SELECT host, site_id, epoch_ms(from_utc), epoch_ms(to_utc) FROM core.host"
    ).fetchall():
        before[host].append((site_id, start, end))
    for (host,) in connection.execute("SELECT DISTINCT host FROM core.device").fetchall():
        now = [(period.site_id, period.from_ms, period.to_ms) for period in hosts.get(host, ())]
        sites = {period[0] for period in (*now, *before[host])}
        if not now or (len(sites) > 1 and set(now) != set(before[host])):
            return False
    return True


def _sites_of_rows(sites: HostSites, host_of: dict[int, str], rows: Any, day: int) -> npt.NDArray[np.int32]:
    """Return the site of each stored reading.

    Raises
    ------
    SiteFileError
        A reading has no place any more.
    """
    import pyarrow as pa

    from energy.power.readings import DAY_MS

    keys, code = np.unique(rows["device_key"], return_inverse=True)
    names = pa.array([host_of[key] for key in keys.tolist()], pa.string())
    host = pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int32)), names)
    time_ms = rows["time_ms"].astype(np.int64) + day * DAY_MS
    place = sites.codes(host, time_ms)
    if (place < 0).any():
        row = int(np.flatnonzero(place < 0)[0])
        name, batch_id = names[code[row]].as_py(), int(rows["batch_id"][row])
        moment = datetime.fromtimestamp(int(time_ms[row]) / 1000, UTC)
        if sites.places(name):
            raise SiteFileError(
                f"Host {name} is in no site at {moment:%Y-%m-%dT%H:%MZ}, but the ledger has its readings of then "
                f"(batch {batch_id}): correct its from and to in site.yaml, or take the file back with "
                f"`energy withdraw {batch_id}`."
            )
        raise SiteFileError(
            f"site.yaml no longer has host {name}, but the ledger has its readings (batch {batch_id}): put it back "
            f"under hosts, with `to:` if it was removed, or take its file back with `energy withdraw {batch_id}`."
        )
    return place
