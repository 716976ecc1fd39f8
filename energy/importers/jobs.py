"""Scheduler logs: one row is one run of one job, from any CSV or Parquet that a mapping describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import UnknownNameError
from energy.importers.base import Batch, Context
from energy.importers.convert import Floats, Ints, Mask, Refusals, instants, numbers, texts
from energy.importers.mapping import Mapping
from energy.importers.tabular import RawBatch, read_batches

if TYPE_CHECKING:
    import pyarrow as pa


class JobsImporter:
    """Generic importer of scheduler logs."""

    name = "jobs"
    meaning = "scheduler log: one row is one run of one job (CSV or Parquet, with a mapping)"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield runs of jobs; refuse what cannot be right, with its row and remedy."""
        named = [mapping.columns[name].column for name in ("host", "project", "chip_name") if name in mapping.columns]
        for raw in read_batches(path, mapping.source_columns(), dictionary=named):
            yield _batch(raw, mapping, context)


def _optional_text(raw: RawBatch, mapping: Mapping, field: str) -> pa.Array:
    import pyarrow as pa

    rule = mapping.columns.get(field)
    return pa.nulls(raw.table.num_rows, pa.string()) if rule is None else texts(raw.table, rule.column)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw.table, raw.row_number)
    zone = context.timezone or mapping.timezone
    job_id = texts(raw.table, mapping.columns["job_id"].column)
    refusals.add_where(np.asarray(job_id.is_null()), "the job has no id: every run needs one")
    times = {name: _time(raw, mapping, name, zone, refusals) for name in ("submit_utc", "start_utc", "end_utc")}
    _check_order(times, refusals)
    host = _optional_text(raw, mapping, "host")
    site_id, host_chip, host_chips = _place(host, context, refusals)
    given_chip = _optional_text(raw, mapping, "chip_name")
    chip_id = _chip(given_chip, host, host_chip, mapping, context, refusals)
    count = _chip_count(raw, mapping, host_chips, refusals)
    columns: dict[str, Any] = {
        "row_number": pa.array(raw.row_number),
        "job_id": job_id,
        "site_id": site_id,
        "host": host,
        **{name: _optional_text(raw, mapping, name) for name in ("user_name", "project", "job_type", "state")},
        **{name: _timestamps(*times[name]) for name in times},
        "chip_name_given": given_chip,
        "chip_id": chip_id,
        "node_count": _node_count(raw, mapping, refusals),
        "chip_count": pa.array(count),
        "energy_chip_kwh": _energy(raw, mapping, refusals),
    }
    accepted = pa.table(columns).filter(pa.array(refusals.accepted()))
    rejects = sorted([*raw.rejects, *refusals.rejects()], key=lambda reject: reject.row_number)
    return Batch(accepted, rejects, raw.table.num_rows + len(raw.rejects))


def _timestamps(values: Ints, present: Mask) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.int64(), mask=~present).cast(pa.timestamp("ms", "UTC"))


def _time(raw: RawBatch, mapping: Mapping, field: str, zone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    rule = mapping.columns.get(field)
    if rule is None:
        return np.zeros(raw.table.num_rows, np.int64), np.zeros(raw.table.num_rows, bool)
    return instants(raw.table, rule, zone, refusals)


def _check_order(times: dict[str, tuple[Ints, Mask]], refusals: Refusals) -> None:
    """Refuse a run that ends before it starts. A run without a start never ran: its end is when it was given up."""
    start, started = times["start_utc"]
    end, ended = times["end_utc"]
    backwards = started & ended & (end < start)
    refusals.add_where(
        backwards, "the job ends before it starts: correct the times, or check the time zone of each column"
    )


def _per_distinct(values: pa.Array, look_up: Callable[[str], Any]) -> list[Any]:
    """Apply a look-up once per distinct text, in order of the rows; null stays None."""
    encoded = values.dictionary_encode()
    answers = [None if text is None else look_up(text) for text in encoded.dictionary.to_pylist()]
    return [None if index is None else answers[index] for index in encoded.indices.to_pylist()]


def _place(host: pa.Array, context: Context, refusals: Refusals) -> tuple[pa.Array, list[str | None], list[int | None]]:
    """Return each row's site, its host's chip and number of chips; refuse unknown hosts and rows without a place."""
    import pyarrow as pa

    site = _per_distinct(host, context.site_of_host)
    absent = np.asarray(host.is_null())
    if context.site_id is None:
        refusals.add_where(absent, "the row names no host: pass --site SITE, or map the host's column")
    unknown = np.array([value is None for value in site], dtype=bool) & ~absent
    if unknown.any():
        names = host.to_pylist()
        for row in np.flatnonzero(unknown).tolist():
            refusals.add(row, f"host {names[row]} is in no site: add it to hosts in site.yaml, or ingest an inventory")
    filled = [context.site_id if name is None else name for name in site]
    return (
        pa.array(filled, pa.string()),
        _per_distinct(host, context.chip_of_host),
        _per_distinct(host, context.chips_of_host),
    )


def _chip(
    given: pa.Array,
    host: pa.Array,
    host_chip: list[str | None],
    mapping: Mapping,
    context: Context,
    refusals: Refusals,
) -> pa.Array:
    """Return each row's chip: as the log names it, which must agree with the host's, else the host's."""
    import pyarrow as pa

    reasons: dict[str, str] = {}

    def look_up(name: str) -> str | None:
        try:
            return context.chip_of_name(name, mapping.dialect)
        except UnknownNameError as error:
            reasons[name] = str(error)
            return None

    named = _per_distinct(given, look_up)
    names = given.to_pylist()
    for row, name in enumerate(names):
        if name in reasons:
            refusals.add(row, reasons[name])
        elif named[row] and host_chip[row] and named[row] != host_chip[row]:
            refusals.add(
                row,
                f"the log says {named[row]}, site.yaml gives host {host[row].as_py()} {host_chip[row]}: correct one",
            )
    return pa.array([a or b for a, b in zip(named, host_chip, strict=True)], pa.string())


def _chip_count(raw: RawBatch, mapping: Mapping, host_chips: list[int | None], refusals: Refusals) -> Floats:
    """Return chips per row, thousandths included; refuse more than the host has."""
    count, present = numbers(raw.table, mapping.columns["chip_count"].column, refusals)
    refusals.add_where(~present, f"{mapping.columns['chip_count'].column} is empty: a run needs its number of chips")
    share = mapping.columns.get("chip_share")
    if share is not None:
        part, given = numbers(raw.table, share.column, refusals)
        scale = 1.0 if share.unit in (None, "", "1") else float(share.unit or 1)
        # a run without a share holds whole chips
        count = np.where(given & present, np.round(count * part * scale, 9), count)
    limit = np.array([np.inf if chips is None else chips for chips in host_chips], dtype=float)
    over = count > limit
    for row in np.flatnonzero(over).tolist():
        refusals.add(
            row, f"the job takes {count[row]:g} chips of a host that has {limit[row]:g}: correct the log or site.yaml"
        )
    return count


def _node_count(raw: RawBatch, mapping: Mapping, refusals: Refusals) -> pa.Array:
    import pyarrow as pa

    rule = mapping.columns.get("node_count")
    if rule is None:
        return pa.nulls(raw.table.num_rows, pa.int32())
    count, present = numbers(raw.table, rule.column, refusals)
    if "host" in mapping.columns:
        several = present & (count > 1)
        refusals.add_where(several, f"{rule.column} is over 1 but the row names one host: give one row per host")
    return pa.array(count.astype(np.int32), mask=~present)


def _energy(raw: RawBatch, mapping: Mapping, refusals: Refusals) -> pa.Array:
    """Return the run's own measured board energy in kWh, where the log has it."""
    import pyarrow as pa

    from energy import units

    rule = mapping.columns.get("energy")
    if rule is None:
        return pa.nulls(raw.table.num_rows, pa.float64())
    energy, present = numbers(raw.table, rule.column, refusals)
    return pa.array(energy * units.scale(str(rule.unit), "kWh_chip"), mask=~present)


importer = JobsImporter()
