"""Runs of a known format whose number of chips the file does not tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from energy.importers import Context
from energy.importers.base import Batch, Reject, rejects_table

_NOTHING = (
    "the run says neither how many chips it held nor their energy, so that nothing of it can be counted: complete the "
    "line, or leave it out"
)


def with_chip_counts(batches: Iterable[Batch], context: Context) -> Iterator[Batch]:
    """Yield runs that all have a number of chips.

    A run that gives its energy and not its chips counts with that energy and no chip-hours; one that gives neither is
    refused.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    without = 0
    for batch in batches:
        table = batch.table
        unknown = pc.is_null(table.column("chip_count"))
        if not pc.any(unknown).as_py():
            yield batch
            continue
        empty = pc.and_(unknown, pc.is_null(table.column("energy_chip_kwh")))
        refused = table.filter(empty)
        rows = zip(refused.column("row_number").to_pylist(), refused.column("job_id").to_pylist(), strict=True)
        rejects = rejects_table([Reject(number, _NOTHING, f"job_id={job_id}") for number, job_id in rows])
        kept = table.filter(pc.invert(empty))
        place = kept.column_names.index("chip_count")
        without += kept.column(place).null_count
        kept = kept.set_column(place, "chip_count", pc.fill_null(kept.column(place), 0.0))
        yield Batch(kept, pa.concat_tables([batch.rejects, rejects]), batch.rows_read)
    if without:
        context.notes.append(
            f"{without:,} runs do not tell how many chips they held: their energy counts, without chip-hours"
        )
