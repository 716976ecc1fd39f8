"""Which device of which host each job held: one row is one device given to one job for a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from energy.importers.base import Batch, Context
from energy.importers.convert import Refusals, numbers, texts, words
from energy.importers.mapping import Mapping
from energy.importers.places import check_device, places
from energy.importers.tabular import RawBatch, read_batches
from energy.importers.times import instants


class AllocationsImporter:
    """Generic importer of device allocations."""

    name = "allocations"
    meaning = "device of a host given to a job: lets readings of a shared host find their job"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield allocations."""
        for raw in read_batches(path, mapping.source_columns(), dictionary=[mapping.columns["host"].column]):
            yield _batch(raw, mapping, context)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw)
    zone = context.timezone or mapping.timezone
    job_id = texts(raw.table, mapping.columns["job_id"].column)
    refusals.add_where(np.asarray(job_id.is_null()), "the row names no job: fill it in")
    host = words(raw.table, mapping.columns["host"].column)
    refusals.add_where(host.absent, "the row names no host: fill it in")
    index, indexed = numbers(raw.table, mapping.columns["device_index"].column, refusals, whole=True, most=65_535)
    refusals.add_where(~indexed, "the row has no device index: fill it in, counting from 0")
    start, started = instants(raw.table, mapping.columns["start_utc"], zone, refusals)
    end, ended = instants(raw.table, mapping.columns["end_utc"], zone, refusals)
    refusals.add_where(~started, "the allocation has no start: fill it in")
    refusals.add_where(started & ended & (end < start), "the allocation ends before it starts: correct the times")
    check_device(index, indexed, host, places(host, start, started, context, refusals), refusals)
    stamp = pa.timestamp("ms", "UTC")
    return refusals.batch(
        {
            "job_id": job_id,
            "host": host.array(),
            "device_index": pa.array(index.astype(np.int32)),
            "start_utc": pa.array(start, pa.int64()).cast(stamp),
            "end_utc": pa.array(end, pa.int64(), mask=~ended).cast(stamp),
        }
    )


importer = AllocationsImporter()
