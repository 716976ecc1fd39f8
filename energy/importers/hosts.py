"""Inventories of hosts: name, chip, number of chips, site. They stand beside the patterns of ``site.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from energy.errors import UnknownNameError, did_you_mean
from energy.importers.base import Batch, Context
from energy.importers.convert import Refusals, instants, numbers, texts
from energy.importers.mapping import Mapping
from energy.importers.tabular import RawBatch, read_batches


class HostsImporter:
    """Generic importer of host inventories."""

    name = "hosts"
    meaning = "inventory: one row is one host with its chip, number of chips and site"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield hosts. Hosts without chips carry no chip and count 0."""
        for raw in read_batches(path, mapping.source_columns()):
            yield _batch(raw, mapping, context)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw.table, raw.row_number)
    host = texts(raw.table, mapping.columns["host"].column)
    refusals.add_where(np.asarray(host.is_null()), "the row names no host")
    count, present = numbers(raw.table, mapping.columns["chip_count"].column, refusals)
    refusals.add_where(~present, "the host has no number of chips; write 0 for a host without")
    given = texts(raw.table, mapping.columns["chip_name"].column)
    chip_id: list[str | None] = []
    for row, name in enumerate(given.to_pylist()):
        chip_id.append(None)
        if name is None:
            if present[row] and count[row] > 0:
                refusals.add(row, "the host has chips but names none: write its chip")
            continue
        try:
            chip_id[row] = context.chip_of_name(name, mapping.dialect)
        except UnknownNameError as error:
            refusals.add(row, str(error))
    zone = context.timezone or mapping.timezone
    stamp = pa.timestamp("ms", "UTC")
    times = {}
    for name in ("from_utc", "to_utc"):
        rule = mapping.columns.get(name)
        if rule is None:
            times[name] = pa.nulls(raw.table.num_rows, stamp)
        else:
            values, given_time = instants(raw.table, rule, zone, refusals)
            times[name] = pa.array(values, pa.int64(), mask=~given_time).cast(stamp)
    table = pa.table(
        {
            "row_number": pa.array(raw.row_number),
            "host": host,
            "site_id": pa.array(_sites(raw, mapping, context, refusals), pa.string()),
            "chip_name_given": given,
            "chip_id": pa.array(chip_id, pa.string()),
            "installed_chip_count": pa.array(np.rint(count).astype(np.int32)),
            **times,
        }
    ).filter(pa.array(refusals.accepted()))
    rejects = sorted([*raw.rejects, *refusals.rejects()], key=lambda reject: reject.row_number)
    return Batch(table, rejects, raw.table.num_rows + len(raw.rejects))


def _sites(raw: RawBatch, mapping: Mapping, context: Context, refusals: Refusals) -> list[str | None]:
    rule = mapping.columns.get("site")
    named = [None] * raw.table.num_rows if rule is None else texts(raw.table, rule.column).to_pylist()
    out = []
    for row, name in enumerate(named):
        site = name or context.site_id
        if site is None:
            refusals.add(row, "the row names no site: pass --site SITE, or map the site's column")
        elif site not in context.sites:
            refusals.add(row, f"site {site} is not in site.yaml.{did_you_mean(site, context.sites)} Add it under sites")
        out.append(site)
    return out


importer = HostsImporter()
