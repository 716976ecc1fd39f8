"""Which device of which host each job held: one row is one device given to one job for a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from energy.importers.base import Batch, Context
from energy.importers.convert import Refusals, instants, numbers, texts
from energy.importers.mapping import Mapping
from energy.importers.tabular import RawBatch, read_batches


class AllocationsImporter:
    """Generic importer of device allocations."""

    name = "allocations"
    meaning = "device of a host given to a job: lets readings of a shared host find their job"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield allocations."""
        for raw in read_batches(path, mapping.source_columns()):
            yield _batch(raw, mapping, context)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw.table, raw.row_number)
    zone = context.timezone or mapping.timezone
    job_id = texts(raw.table, mapping.columns["job_id"].column)
    host = texts(raw.table, mapping.columns["host"].column)
    refusals.add_where(np.asarray(job_id.is_null()), "the row names no job")
    refusals.add_where(np.asarray(host.is_null()), "the row names no host")
    for row, name in enumerate(host.to_pylist()):
        if name is not None and context.site_of_host(name) is None:
            refusals.add(row, f"host {name} is in no site: add it to hosts in site.yaml, or ingest an inventory")
    index, indexed = numbers(raw.table, mapping.columns["device_index"].column, refusals)
    refusals.add_where(~indexed, "the row has no device index")
    for row, (name, position) in enumerate(zip(host.to_pylist(), index.tolist(), strict=True)):
        chips = context.chips_of_host(name) if name is not None else None
        if chips is not None and position >= chips:
            refusals.add(row, f"device {position:g} of host {name}, which has {chips} (0 to {chips - 1})")
    start, started = instants(raw.table, mapping.columns["start_utc"], zone, refusals)
    end, ended = instants(raw.table, mapping.columns["end_utc"], zone, refusals)
    refusals.add_where(~started, "the allocation has no start")
    refusals.add_where(started & ended & (end < start), "the allocation ends before it starts: correct the times")
    stamp = pa.timestamp("ms", "UTC")
    table = pa.table(
        {
            "row_number": pa.array(raw.row_number),
            "job_id": job_id,
            "host": host,
            "device_index": pa.array(index.astype(np.int32)),
            "start_utc": pa.array(start, pa.int64()).cast(stamp),
            "end_utc": pa.array(end, pa.int64(), mask=~ended).cast(stamp),
        }
    ).filter(pa.array(refusals.accepted()))
    rejects = sorted([*raw.rejects, *refusals.rejects()], key=lambda reject: reject.row_number)
    return Batch(table, rejects, raw.table.num_rows + len(raw.rejects))


importer = AllocationsImporter()
