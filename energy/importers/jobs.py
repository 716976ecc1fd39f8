"""Scheduler logs: one row is one run of one job, from any CSV or Parquet that a mapping describes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.importers.base import Batch, Context
from energy.importers.convert import Floats, Ints, Mask, Refusals, Words, numbers, texts, words
from energy.importers.mapping import Mapping
from energy.importers.places import Places, named_chips, places
from energy.importers.tabular import RawBatch, read_batches
from energy.importers.times import instants

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CHIPS = 1_000_000  # of one run; more is another column
_DICTIONARY = ("host", "project", "chip_name", "user_name", "job_type", "state")
# first words of states as Slurm and Kubernetes write them
_RAN = frozenset({"completed", "completing", "out_of_memory", "running", "succeeded", "suspended", "timeout"})
_ENDED = _RAN - {"completing", "running", "suspended"} | {
    "boot_fail",
    "cancelled",
    "deadline",
    "failed",
    "node_fail",
    "preempted",
}


class JobsImporter:
    """Generic importer of scheduler logs."""

    name = "jobs"
    meaning = "scheduler log: one row is one run of one job (CSV or Parquet, with a mapping)"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield runs of jobs; refuse what cannot be right, with its row and remedy."""
        named = list({mapping.columns[name].column for name in _DICTIONARY if name in mapping.columns})
        for raw in read_batches(path, mapping.source_columns(), dictionary=named):
            yield _batch(raw, mapping, context)


def _words(raw: RawBatch, mapping: Mapping, field: str) -> Words:
    rule = mapping.columns.get(field)
    return Words(np.full(raw.table.num_rows, -1), []) if rule is None else words(raw.table, rule.column)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw)
    zone = context.timezone or mapping.timezone
    job_id = texts(raw.table, mapping.columns["job_id"].column)
    refusals.add_where(np.asarray(job_id.is_null()), "the job has no id: every run needs one")
    times = {name: _time(raw, mapping, name, zone, refusals) for name in ("submit_utc", "start_utc", "end_utc")}
    word = {name: _words(raw, mapping, name) for name in _DICTIONARY}
    _check_times(times, word["state"], refusals)
    host = word["host"]
    if context.site_id is None:
        refusals.add_where(host.absent, "the row names no host: pass --site SITE, or map the host's column")
    at = places(host, *times["start_utc"], context, refusals)
    columns: dict[str, Any] = {
        "job_id": job_id,
        "site_id": at.sites(context.site_id).array(),
        **{name: word[name].array() for name in ("host", "user_name", "project", "job_type", "state")},
        **{name: _timestamps(*times[name]) for name in times},
        "chip_name_given": word["chip_name"].array(),
        "chip_id": _chip(word["chip_name"], host, at, mapping, context, refusals).array(),
        "node_count": _node_count(raw, mapping, host, refusals),
        "chip_count": pa.array(_chip_count(raw, mapping, at, refusals)),
        "energy_chip_kwh": _energy(raw, mapping, refusals),
    }
    return refusals.batch(columns)


def _timestamps(values: Ints, present: Mask) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.int64(), mask=~present).cast(pa.timestamp("ms", "UTC"))


def _time(raw: RawBatch, mapping: Mapping, field: str, zone: str | None, refusals: Refusals) -> tuple[Ints, Mask]:
    rule = mapping.columns.get(field)
    if rule is None:
        return np.zeros(raw.table.num_rows, np.int64), np.zeros(raw.table.num_rows, bool)
    return instants(raw.table, rule, zone, refusals)


def _check_times(times: dict[str, tuple[Ints, Mask]], state: Words, refusals: Refusals) -> None:
    """Refuse a run that ends before it starts, and one whose state speaks of a start or an end that it has not.

    A run without a start never ran: its end is when it was given up. A run without an end counts as running until the
    end of the log, so the state must not say that it ended.
    """
    start, started = times["start_utc"]
    end, ended = times["end_utc"]
    refusals.add_where(
        started & ended & (end < start),
        "the job ends before it starts: correct the times, or check the time zone of each column",
    )
    first = [name.replace("-", "_").split()[0].rstrip("+").casefold() for name in state.names]
    for place, name in enumerate(first):
        rows = state.code == place
        if name in _RAN:
            refusals.add_where(rows & ~started, f"the state is {state.names[place]} but the run has no start: give it")
        if name in _ENDED:
            refusals.add_where(
                rows & started & ~ended,
                f"the state is {state.names[place]} but the run has no end: give it, or the run would count as running",
            )


def _chip(given: Words, host: Words, at: Places, mapping: Mapping, context: Context, refusals: Refusals) -> Words:
    """Return each row's chip: as the log names it, which must agree with the host's, else the host's."""
    named, installed = named_chips(given, mapping, context, refusals), at.chips()
    names = [*named.names, *(name for name in installed.names if name not in named.names)]
    of_host = np.array([*(names.index(name) for name in installed.names), -1], np.int64)[installed.code]
    differ = (named.code >= 0) & (of_host >= 0) & (named.code != of_host)
    refusals.add_each(
        differ,
        lambda row: (
            f"the log says {names[named.code[row]]}, site.yaml or the inventory gives host "
            f"{host.names[host.code[row]]} {names[of_host[row]]}: correct one"
        ),
    )
    return Words(np.where(named.code >= 0, named.code, of_host), names)


def _chip_count(raw: RawBatch, mapping: Mapping, at: Places, refusals: Refusals) -> Floats:
    """Return chips per row, thousandths included; refuse more than the host has."""
    column = mapping.columns["chip_count"].column
    count, present = numbers(raw.table, column, refusals, most=MOST_CHIPS)
    refusals.add_where(~present, f"{column} is empty: a run needs its number of chips")
    share = mapping.columns.get("chip_share")
    if share is not None:
        part, given = numbers(raw.table, share.column, refusals, most=1e9)
        scale = float(str(share.unit))
        refusals.add_where(
            given & (part * scale > 1 + 1e-9),
            f"{share.column} is more than one whole chip: correct it, or check its unit in the mapping",
        )
        # a run without a share holds whole chips
        count = np.where(given & present, np.round(count * part * scale, 9), count)
    limit = at.chip_counts()
    refusals.add_each(
        count > limit,
        lambda row: (
            f"the job takes {count[row]:g} chips of a host that has {limit[row]:g}: correct the log or site.yaml"
        ),
    )
    return count


def _node_count(raw: RawBatch, mapping: Mapping, host: Words, refusals: Refusals) -> pa.Array:
    import pyarrow as pa

    rule = mapping.columns.get("node_count")
    if rule is None:
        return pa.nulls(raw.table.num_rows, pa.int32())
    count, present = numbers(raw.table, rule.column, refusals, whole=True, most=MOST_CHIPS)
    refusals.add_where(
        present & (count > 1) & ~host.absent,
        f"{rule.column} is over 1 but the row names one host: give one row per host",
    )
    return pa.array(count.astype(np.int32), mask=~present)


def _energy(raw: RawBatch, mapping: Mapping, refusals: Refusals) -> pa.Array:
    """Return the run's own measured board energy in kWh, where the log has it."""
    import pyarrow as pa

    from energy import units

    rule = mapping.columns.get("energy")
    if rule is None:
        return pa.nulls(raw.table.num_rows, pa.float64())
    energy, present = numbers(raw.table, rule.column, refusals, most=1e15)
    return pa.array(energy * units.scale(str(rule.unit), "kWh_chip"), mask=~present)


importer = JobsImporter()
