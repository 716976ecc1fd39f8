"""Sites and hosts of a version by ``site.yaml`` and inventories, with the overhead of their nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from energy.catalogue.zones import zone
from energy.errors import SiteFileError
from energy.ledger.overheads import node_line
from energy.ledger.periods import described
from energy.ledger.site_file import FILE_NAME, HostGroup, Ratio, Site, SiteFile, expand_pattern
from energy.ledger.tables import first_row, insert_rows
from energy.power.boards import is_at_plug

if TYPE_CHECKING:
    import duckdb

_OVERHEAD = ("node_overhead", "node_overhead_low", "node_overhead_high", "status")


def _zone_text(site_id: str, site: Site) -> str:
    spans = site.zone_spans(site_id)
    return described(spans, [zone(span.zone).zone_id for span in spans], site.timezone)


def sites_and_hosts(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> list[str]:
    """Set sites, hosts, and what their nodes take beyond the boards; return the sources of overheads that are modelled.

    Raises
    ------
    SiteFileError
        A host is in two places at once, or nothing tells its overhead.
    """
    insert_rows(
        connection,
        "core.site",
        [
            {
                "site_id": site_id,
                "site_name": site.name or site_id,
                "zone_id": _zone_text(site_id, site),
                "timezone": site.timezone,
            }
            for site_id, site in site_file.sites.items()
        ],
    )
    rows = [
        _host_row(site_file, site_id, site, group, name)
        for site_id, site in site_file.sites.items()
        for group in site.hosts
        for name in expand_pattern(group.pattern)
    ]
    described = {row["host"] for row in rows}
    inventory = connection.execute(
        "SELECT host, site_id, chip_id, chip_name_given, installed_chip_count, from_utc, to_utc FROM raw.host "
        "QUALIFY row_number() OVER (PARTITION BY host, from_utc ORDER BY batch_id DESC) = 1 ORDER BY host, from_utc"
    ).fetchall()
    for host, site_id, chip_id, given, count, start, end in inventory:
        if host not in described and site_id in site_file.sites:  # site.yaml wins over an inventory
            place = {"host": host, "site_id": site_id, "chip_id": chip_id, "chip_name_given": given}
            span = {"installed_chip_count": count, "from_utc": start, "to_utc": end}
            rows.append(place | span | _overhead(site_file.sites[site_id].node_overhead, chip_id, count, None, host))
    insert_rows(connection, "core.host", [{key: row[key] for key in row if key != "line"} for row in rows])
    _check_hosts_once(connection)
    _dies(connection, site_file)
    _node_lines(connection, rows)
    _site_overheads(connection, site_file, rows)
    return sorted({row["line"].source for row in rows if row["line"] is not None})


def _host_row(site_file: SiteFile, site_id: str, site: Site, group: HostGroup, name: str) -> dict[str, Any]:
    chip_id = site_file.chip_of_name(group.chip)
    # a node that is named says more of these hosts than the ratio of the whole site
    stated = group.node_overhead or (None if group.node else site.node_overhead)
    return {
        "host": name,
        "site_id": site_id,
        "chip_id": chip_id,
        "chip_name_given": group.chip,
        "installed_chip_count": group.chips // group.dies(chip_id),
        "from_utc": group.start,
        "to_utc": group.end,
    } | _overhead(stated, chip_id, group.chips // group.dies(chip_id), group.node, name, group.node_overhead)


def _overhead(
    stated: Ratio | None,
    chip_id: str | None,
    chips: int,
    node: str | None,
    host: str,
    of_host: Ratio | None = None,
) -> dict[str, Any]:
    """Return the overhead of a host as stated, or while kernels run by the model of its node, with the model's line.

    A system whose watts are those at its plug has none, whatever its site states for its nodes; ``of_host`` is what is
    stated of this very host.

    Raises
    ------
    SiteFileError
        Nothing is stated, and the model does not know the chip or the node; or an overhead of a system at its plug.
    """
    if chip_id is not None and is_at_plug(chip_id):
        if of_host is not None and of_host.most > 1.0:
            raise SiteFileError(
                f"{FILE_NAME}: host {host}: the watts of {chip_id} are those of a system at its plug, so nothing comes "
                f"on top: remove its node_overhead of {of_host.value:g}."
            )
        ends = (1.0, 1.0, 1.0, "catalogue")
    elif stated is not None:
        ends = (stated.value, stated.least, stated.most, "given")
    elif chips == 0:
        ends = (1.0, 1.0, 1.0, "given")  # without boards there is nothing to multiply
    elif chip_id is None:
        raise SiteFileError(
            f"{FILE_NAME}: host {host}: the chip is not disclosed, so that nothing tells the node's overhead: state "
            "node_overhead of the host or of its site."
        )
    else:
        line = node_line(chip_id, chips, node)
        return dict(zip(_OVERHEAD, (line.value, line.low, line.high, "estimate"), strict=True)) | {"line": line}
    return dict(zip(_OVERHEAD, ends, strict=True)) | {"line": None}


def _dies(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> None:
    """Set the hosts whose logs count dies, and the devices that logs of jobs name, as packages."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE host_dies (host VARCHAR, from_utc TIMESTAMPTZ, to_utc TIMESTAMPTZ, dies INTEGER)"
    )
    groups = [group for site in site_file.sites.values() for group in site.hosts]
    dies = [(group, group.dies(site_file.chip_of_name(group.chip))) for group in groups]
    rows = [
        {"host": name, "from_utc": group.start, "to_utc": group.end, "dies": count}
        for group, count in dies
        if count > 1
        for name in expand_pattern(group.pattern)
    ]
    insert_rows(connection, "host_dies", rows)
    connection.execute(
        "CREATE OR REPLACE TEMP VIEW given_allocation AS SELECT given.* REPLACE "
        "(CAST(given.device_index // coalesce(host_dies.dies, 1) AS INTEGER) AS device_index) "
        "FROM raw.allocation AS given LEFT JOIN host_dies ON host_dies.host = given.host "
        "AND coalesce(host_dies.from_utc <= given.start_utc, true) "
        "AND coalesce(host_dies.to_utc > given.start_utc, true)"
    )


def _node_lines(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]) -> None:
    """Set the lines of hosts whose overhead is modelled; their overhead follows the power of their boards."""
    names = ("slope", "slope_low", "slope_high", "fixed_w", "fixed_low_w", "fixed_high_w")
    columns = ", ".join(f"{name} DOUBLE" for name in names)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE node_line (host VARCHAR, from_utc TIMESTAMPTZ, {columns})")
    modelled = [
        {"host": row["host"], "from_utc": row["from_utc"]} | {name: getattr(row["line"], name) for name in names}
        for row in rows
        if row["line"] is not None
    ]
    insert_rows(connection, "node_line", modelled)


def _site_overheads(connection: duckdb.DuckDBPyConnection, site_file: SiteFile, rows: list[dict[str, Any]]) -> None:
    """Set the overhead of jobs without a host: as stated for the site, or the mean of its boards.

    Raises
    ------
    SiteFileError
        A site states none, has jobs without a host, and no host to tell.
    """
    found = []
    for site_id, site in site_file.sites.items():
        ends: list[Any] = []
        if site.node_overhead is not None:
            ends = [site.node_overhead.value, site.node_overhead.least, site.node_overhead.most, "given"]
        else:
            own = [row for row in rows if row["site_id"] == site_id and row["installed_chip_count"]]
            weights = [row["installed_chip_count"] for row in own]
            ends = [float(np.average([row[name] for row in own], weights=weights)) for name in _OVERHEAD[:3] if own]
            ends = [*ends, "estimate"] if own else []
        if ends:
            found.append({"site_id": site_id} | dict(zip(_OVERHEAD, ends, strict=True)))
        elif first_row(connection, "SELECT job_id FROM raw.job WHERE site_id = ? LIMIT 1", [site_id]) is not None:
            raise SiteFileError(
                f"{FILE_NAME}: sites.{site_id} has jobs and no host, so that nothing tells the overhead of its nodes: "
                "state node_overhead."
            )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE site_overhead (site_id VARCHAR, node_overhead DOUBLE, "
        "node_overhead_low DOUBLE, node_overhead_high DOUBLE, status VARCHAR)"
    )
    insert_rows(connection, "site_overhead", found)


def _check_hosts_once(connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a host that is in two places at once: its boards would count twice."""
    twice = first_row(
        connection,
        "SELECT a.host, a.site_id, b.site_id FROM core.host AS a JOIN core.host AS b ON a.host = b.host "
        "AND a.rowid < b.rowid AND coalesce(a.from_utc, TIMESTAMPTZ '0001-01-01 00:00:00+00') < "
        "coalesce(b.to_utc, TIMESTAMPTZ '9999-01-01 00:00:00+00') AND coalesce(b.from_utc, "
        "TIMESTAMPTZ '0001-01-01 00:00:00+00') < coalesce(a.to_utc, TIMESTAMPTZ '9999-01-01 00:00:00+00') LIMIT 1",
    )
    if twice is not None:
        raise SiteFileError(
            f"Host {twice[0]} is described twice for the same time (sites {twice[1]} and {twice[2]}): each board "
            "counts once. Remove one, or give them from and to."
        )
