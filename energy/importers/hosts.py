"""Inventories of hosts: name, chip, number of chips, site. They stand beside the patterns of ``site.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from energy.errors import did_you_mean
from energy.importers.base import Batch, Context
from energy.importers.convert import Refusals, Words, numbers, texts, words
from energy.importers.mapping import Mapping
from energy.importers.places import named_chips
from energy.importers.tabular import RawBatch, read_batches
from energy.importers.times import instants

MOST_CHIPS_OF_HOST = 4096


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

    refusals = Refusals(raw)
    host = texts(raw.table, mapping.columns["host"].column)
    refusals.add_where(np.asarray(host.is_null()), "the row names no host: fill it in")
    count, present = numbers(
        raw.table, mapping.columns["chip_count"].column, refusals, whole=True, most=MOST_CHIPS_OF_HOST
    )
    refusals.add_where(~present, "the host has no number of chips; write 0 for a host without")
    given = words(raw.table, mapping.columns["chip_name"].column)
    refusals.add_where(present & (count > 0) & given.absent, "the host has chips but names none: write its chip")
    site = _sites(raw, mapping, context, refusals)
    columns = {
        "host": host,
        "site_id": site.array(),
        "chip_name_given": given.array(),
        "chip_id": named_chips(given, mapping, context, refusals).array(),
        "installed_chip_count": pa.array(count.astype(np.int32)),
        **_times(raw, mapping, context, refusals),
    }
    return refusals.batch(columns)


def _times(raw: RawBatch, mapping: Mapping, context: Context, refusals: Refusals) -> dict[str, object]:
    import pyarrow as pa

    stamp = pa.timestamp("ms", "UTC")
    out = {}
    size = raw.table.num_rows
    read = {name: (np.zeros(size, np.int64), np.zeros(size, bool)) for name in ("from_utc", "to_utc")}
    for name in read:
        if name in mapping.columns:
            read[name] = instants(raw.table, mapping.columns[name], context.timezone or mapping.timezone, refusals)
        out[name] = pa.array(read[name][0], pa.int64(), mask=~read[name][1]).cast(stamp)
    (start, started), (end, ended) = read["from_utc"], read["to_utc"]
    refusals.add_where(started & ended & (end <= start), "the host's time ends before it starts: correct the times")
    return out


def _sites(raw: RawBatch, mapping: Mapping, context: Context, refusals: Refusals) -> Words:
    rule = mapping.columns.get("site")
    size = raw.table.num_rows
    named = Words(np.full(size, -1), []) if rule is None else words(raw.table, rule.column)
    if context.site_id is None:
        refusals.add_where(named.absent, "the row names no site: pass --site SITE, or map the site's column")
    for place, name in enumerate(named.names):
        if name not in context.sites:
            near = did_you_mean(name, context.sites)
            refusals.add_where(named.code == place, f"site {name} is not in site.yaml.{near} Add it under sites")
    if context.site_id is None:
        return named
    return Words(np.where(named.absent, len(named.names), named.code), [*named.names, context.site_id])


importer = HostsImporter()
