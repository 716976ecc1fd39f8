"""Slurm accounting, as ``sacct --parsable2`` writes it: one row is one run of one job on one host.

Rules
-----
- Only allocations count. Steps (``.batch``, ``.extern``, ``.0``) repeat them, ranges of pending array tasks never ran.
- Each run of a requeued job is a run: the ledger knows it by job id, start, site and host.
- GPUs and energy of a run on several hosts are split evenly: ``AllocTRES`` is summed over the nodes.
- Instances of a board (MIG) are counted as instances, with their profile as ``chip_name_given`` and no ``chip_id``:
  an instance is no whole board, and Slurm does not say which share it is.
- ``ConsumedEnergyRaw`` of the allocation is energy at the plug of its nodes; 0 J means that nothing was measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import InputFileError
from energy.importers.base import Batch, Context
from energy.importers.convert import Floats, Ints, Mask, Refusals, Words, numbers, plain, texts, words
from energy.importers.mapping import ColumnRule
from energy.importers.places import Places, places
from energy.importers.runs import Held, OnRuns, check_chip_count, chips_of_runs, jobs_batch, moments
from energy.importers.sacct_lines import REMEDY, Header, Lines, find_header, read_header, read_lines
from energy.importers.slurm_text import (
    NO_ENERGY,
    Gpus,
    fixed_times,
    gpus_of,
    hosts_of,
    joules_of,
    seconds_of,
    seconds_of_all,
)
from energy.importers.tabular import RawBatch, ahead
from energy.importers.text_input import head_text, note_open_end
from energy.importers.times import instants

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.importers.mapping import Mapping

MOST_NODE_W = 100_000.0  # mean power of one node; more is no energy of a node but a broken counter
MOST_INSTANCES = 7  # of one board
_JOULES_PER_KWH = 3.6e6
_WORDS = ("state", "user", "account", "alloctres", "nodelist")
_TEXTS = (
    "jobid",
    "jobidraw",
    "submit",
    "start",
    "end",
    "elapsed",
    "elapsedraw",
    "nnodes",
    "consumedenergy",
    "consumedenergyraw",
)
_TITLES = {"submit": "Submit", "start": "Start", "end": "End", "consumedenergyraw": "ConsumedEnergyRaw"}
_OPEN = frozenset({"RUNNING", "SUSPENDED", "COMPLETING", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT"})
_NEVER = frozenset({"PENDING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"})


class SlurmSacctImporter:
    """Importer of Slurm's accounting."""

    name = "slurm-sacct"
    meaning = "Slurm accounting (text of `sacct --parsable2`): one row is one run of one job on one host"
    kind = "jobs"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is sacct's, from its first bytes; None where it is not."""
        header = find_header(head_text(head).encode("utf-8", "replace"))
        return None if header is None else f"line {header.line} names JobID and other columns of sacct"

    def read(self, path: Path, mapping: Mapping | None, context: Context) -> Iterator[Batch]:
        """Yield runs of jobs; refuse what cannot be right, with its line and remedy."""
        header = read_header(path)
        missing = [" or ".join(names) for names in (("jobid", "jobidraw"), ("alloctres",)) if not header.column(*names)]
        if missing:
            raise InputFileError(f"{path.name}, line {header.line}: no column {missing[0]}: {REMEDY}")
        said = Left()
        rows, last = 0, header.line
        for lines in ahead(read_lines(path, header, *_columns(header)), lambda lines: lines):
            batch = _batch(lines, header, context, said)
            rows += lines.raw.table.num_rows + len(lines.raw.rejects)
            last += lines.lines_read
            if lines.open_end:
                note_open_end(path, last, context)
            yield batch
        if rows == 0:
            raise InputFileError(f"{path.name} has a header and no rows: nothing to ingest, nothing was stored.")
        context.notes.extend(said.notes())


class Left:
    """What was left out or read with a rule, counted over the whole file."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def add(self, what: str, count: int) -> None:
        """Count some more."""
        if count:
            self._counts[what] = self._counts.get(what, 0) + count

    def notes(self) -> list[str]:
        """Return a note for each thing that occurred.

        Examples
        --------
        >>> left = Left()
        >>> left.add("steps left out", 1200)
        >>> left.notes()
        ['1,200 steps left out']

        """
        return [f"{count:,} {what}" for what, count in self._counts.items()]


def _columns(header: Header) -> tuple[list[str], list[str]]:
    plain = [name for name in _TEXTS if name in header.names]
    return plain, [name for name in _WORDS if name in header.names]


def _batch(lines: Lines, header: Header, context: Context, said: Left) -> Batch:
    said.add("lines with the separator in a name or at the end were realigned", lines.realigned)
    raw = _allocations(lines.raw, header, said)
    refusals = Refusals(raw)
    table = raw.table
    job_id = texts(table, str(header.column("jobid", "jobidraw")))
    refusals.add_where(np.asarray(job_id.is_null()), "the job has no id: every run needs one")
    state = _states(_word(table, "state"))
    tres, nodes = _word(table, "alloctres"), _word(table, "nodelist")
    gpus = [gpus_of(name) for name in tres.names]
    times = _times(raw, state, context, refusals, said)
    _check_gpus(gpus, tres, nodes, refusals, said)
    run, host = _hosts(nodes, context, refusals)
    share = 1.0 / np.bincount(run, minlength=table.num_rows)[run]
    on_runs = OnRuns(refusals, run, table.num_rows)
    if context.site_id is None:
        on_runs.add_where(host.absent, "the run names no host: pass --site SITE, or export NodeList")
    at = places(host, times["start"][0][run], times["start"][1][run], context, on_runs)
    count = np.array([*(one.count for one in gpus), 0.0])[tres.code][run] * share
    given, instances = _given(gpus, tres, run)
    check_chip_count(count, at.chip_counts() * np.where(instances, MOST_INSTANCES, 1), on_runs)
    energy, measured = _energy(raw, times, share, run, refusals, said)
    chip = _chips(given, host, at, instances, context, on_runs)
    of_run = _taker(run)
    columns = {
        "job_id": of_run(job_id),
        "site_id": at.sites(context.site_id).array(),
        "host": host.array(),
        "user_name": of_run(_word(table, "user").array()),
        "project": of_run(_word(table, "account").array()),
        "state": of_run(state.array()),
        **{f"{name}_utc": of_run(moments(*times[name])) for name in ("submit", "start", "end")},
        "chip_name_given": given.array(),
        "chip_id": chip.array(),
        "node_count": _node_count(raw, host, run),
        "chip_count": _real(count, np.ones(count.size, bool)),
        "energy_it_kwh": _real(energy, measured),
    }
    return jobs_batch(refusals, run, columns, lines.lines_read)


def _real(values: Floats, present: Mask) -> pa.Array:
    import pyarrow as pa

    return pa.array(values, pa.float64(), mask=~present)


def _taker(run: Ints) -> Any:
    """Return what gives each row its run's value; most often every run has one row."""
    import pyarrow as pa

    if run.size == 0 or (int(run[-1]) + 1 == run.size):
        return lambda values: values
    place = pa.array(run)
    return lambda values: values.take(place)


def _word(table: pa.Table, column: str) -> Words:
    if column not in table.column_names:
        return Words(np.full(table.num_rows, -1), [])
    return words(table, column)


def _allocations(raw: RawBatch, header: Header, said: Left) -> RawBatch:
    """Leave out steps, repeated headers, pending array tasks and runs that never started."""
    import pyarrow.compute as pc

    name = str(header.column("jobid", "jobidraw"))
    job_id = raw.table.column(name)
    kept = np.ones(raw.table.num_rows, bool)
    repeated = _true(pc.equal(pc.utf8_lower(job_id), name))
    step = _true(pc.match_substring(job_id, ".")) & ~repeated
    ranges = _true(pc.match_substring(job_id, "[")) & ~step
    kept &= ~(repeated | step | ranges)
    kept &= ~_never(raw.table, kept, said)
    said.add("repeated headers left out", int(repeated.sum()))
    said.add("steps left out: they repeat their job", int(step.sum()))
    said.add("ranges of array tasks left out: they have not run", int(ranges.sum()))
    if kept.all():
        return raw
    import pyarrow as pa

    return RawBatch(raw.table.filter(pa.array(kept)), raw.row_number[kept], raw.rejects)


def _never(table: pa.Table, rows: Mask, said: Left) -> Mask:
    """Return the jobs that were given up, or still wait, before they ran."""
    import pyarrow.compute as pc

    state = _states(_word(table, "state"))
    waits = state.where([name in _NEVER for name in state.names])
    held = _word(table, "alloctres").absent
    nothing = np.zeros(table.num_rows, bool)
    if "start" in table.column_names:
        nothing |= np.asarray(table.column("start").combine_chunks().is_null())
        if "end" in table.column_names:
            nothing |= held & _true(pc.equal(table.column("start"), table.column("end")))
    none = np.ones(table.num_rows, bool)
    for name in ("elapsedraw", "elapsed"):
        if name in table.column_names:
            none = ~_true(pc.match_substring_regex(table.column(name), "[1-9]"))
            break
    never = rows & (waits | (nothing & none))
    said.add("jobs left out: they never ran", int(never.sum()))
    return never


def _true(mask: Any) -> Mask:
    return np.asarray(mask.fill_null(False).combine_chunks()).astype(bool)


def _states(given: Words) -> Words:
    """Return states without who cancelled: ``CANCELLED by 1002`` is CANCELLED."""
    names: dict[str, int] = {}
    code = [names.setdefault(name.split()[0].rstrip("+").upper(), len(names)) for name in given.names]
    return Words(np.array([*code, -1], np.int64)[given.code], list(names))


Times = dict[str, tuple[Ints, Mask]]
_TWICE = "occurs twice"  # a local time when clocks go back; the elapsed time settles it


def _times(raw: RawBatch, state: Words, context: Context, refusals: Refusals, said: Left) -> Times:
    """Return submit, start and end; a start or end that is absent or occurs twice is told by the elapsed time."""
    held = {name: Held(raw) for name in ("submit", "start", "end")}
    times = {name: _time(raw, name, context.timezone, held[name]) for name in held}
    for name in ("start", "end"):
        for row, reason in held[name].reasons.items():
            if _TWICE not in reason:
                refusals.add(row, reason)
    (start, started), (end, ended) = times["start"], times["end"]
    still = state.where([name in _OPEN for name in state.names])
    over = ~still & ~(state.absent if "end" in raw.table.column_names else np.zeros(still.size, bool))
    needs_end = started & ~ended & over
    needs_start = ended & ~started
    elapsed, known = _elapsed(raw, needs_end | needs_start)
    end = np.where(needs_end & known, start + elapsed, end)
    start = np.where(needs_start & known, end - elapsed, start)
    said.add("times told by the elapsed time", int(((needs_end | needs_start) & known).sum()))
    ended, started = ended | (needs_end & known), started | (needs_start & known)
    for name, good in (("start", started), ("end", ended)):
        for row, reason in held[name].reasons.items():
            if not good[row]:
                refusals.add(row, reason)
    refusals.add_each(~started, lambda row: _without_start(raw, row))
    refusals.add_where(
        needs_end & ~known & ~ended, "the run has ended but has no End and no Elapsed: export them, or correct the line"
    )
    refusals.add_where(
        started & ended & (end < start), "the run ends before it starts: check the time zone, or correct the times"
    )
    _say_suspended(raw, started & ended, end - start, said)
    return {"submit": times["submit"], "start": (start, started), "end": (end, ended)}


def _say_suspended(raw: RawBatch, whole: Mask, length_ms: Ints, said: Left) -> None:
    """Count the runs whose elapsed time is another than from start to end."""
    if "elapsedraw" in raw.table.column_names:
        seconds, present = numbers(raw.table, "elapsedraw", Held(raw))
    elif "elapsed" in raw.table.column_names:
        seconds, present = seconds_of_all(plain(raw.table.column("elapsed")))
    else:
        return
    differ = whole & present & (np.abs(seconds * 1000 - length_ms) > 1000)
    said.add(
        "runs whose Elapsed is not End - Start, which counts: they were suspended, or the zone is another",
        int(differ.sum()),
    )


def _without_start(raw: RawBatch, row: int) -> str:
    one = _cells(raw, row)
    elapsed = _span(one)
    held = gpus_of(one.get("alloctres") or "")
    took = "" if elapsed is None else f"; it took {elapsed:,} s, {held.count * elapsed / 3600:.6f} GPU-hours"
    energy = one.get("consumedenergyraw") or one.get("consumedenergy")
    used = f", {energy} J" if energy else ""
    return f"the run has no Start, so it has no place in time{took}{used}: export with Start and End"


def _cells(raw: RawBatch, row: int) -> dict[str, str | None]:
    return {name: raw.table.column(name)[row].as_py() for name in raw.table.column_names}


def _span(cells: dict[str, str | None]) -> int | None:
    whole = cells.get("elapsedraw") or ""
    return int(whole) if whole.isdecimal() and len(whole) < 10 else seconds_of(cells.get("elapsed") or "")


def _time(raw: RawBatch, name: str, zone: str | None, held: Held) -> tuple[Ints, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    size = raw.table.num_rows
    if name not in raw.table.column_names or size == 0:
        return np.zeros(size, np.int64), np.zeros(size, bool)
    title = _TITLES[name]
    rule = ColumnRule(column=title)
    values = fixed_times(plain(raw.table.column(name)))
    if values is None:
        values = texts(raw.table, name)
        if pc.any(pc.match_substring_regex(values, r"^[0-9]{9,10}$")).as_py():  # SLURM_TIME_FORMAT=%s
            rule = ColumnRule(column=title, unit="s", origin="1970-01-01T00:00:00Z")
    time, present = instants(pa.table({title: values}), rule, zone, held)
    if held.reasons:
        present = present.copy()
        present[list(held.reasons)] = False
    return time, present


def _elapsed(raw: RawBatch, rows: Mask) -> tuple[Ints, Mask]:
    """Return the elapsed time in ms, and which of these rows have one."""
    value, known = np.zeros(rows.size, np.int64), np.zeros(rows.size, bool)
    if not rows.any():
        return value, known
    for name in ("elapsed", "elapsedraw"):  # the second counts where both are there
        shown = _word(raw.table, name)
        read = [_span({name: text}) for text in shown.names]
        told = rows & shown.where([span is not None for span in read])
        value = np.where(told, np.array([*(span or 0 for span in read), 0], np.int64)[shown.code] * 1000, value)
        known |= told
    return value, known


def _check_gpus(gpus: list[Gpus], tres: Words, nodes: Words, refusals: Refusals, said: Left) -> None:
    refusals.add_where(tres.absent, "AllocTRES is empty though the job ran: its GPUs are not known; export AllocTRES")
    for place, one in enumerate(gpus):
        rows = tres.code == place if one.problem or one.others or one.instances else None
        if rows is None:
            continue
        if one.problem:
            refusals.add_where(rows, one.problem)
        if one.others:
            said.add("runs hold shards or MPS shares of GPUs, which are not counted", int(rows.sum()))
        if one.instances:
            said.add(
                "runs hold instances of boards (MIG): counted as instances, not as whole GPUs, with no chip",
                int(rows.sum()),
            )


def _hosts(nodes: Words, context: Context, refusals: Refusals) -> tuple[Ints, Words]:
    """Return a row for each host of each run: the run, and the host.

    A run on a host that the fleet does not have is refused whole, so it needs no more than a row of that host.
    """
    names: dict[str, int] = {}
    hosts: list[int] = []
    first, length = [], []
    for place, text in enumerate(nodes.names):
        found = hosts_of(text)
        if isinstance(found, str):
            refusals.add_where(nodes.code == place, found)
            found = []
        found = [name for name in found if name not in context.hosts][:1] or found
        first.append(len(hosts))
        length.append(max(1, len(found)))
        hosts += [names.setdefault(name, len(names)) for name in found] or [-1]
    first.append(len(hosts))
    length.append(1)
    hosts.append(-1)
    per_run = np.array(length, np.int64)[nodes.code]
    run = np.repeat(np.arange(nodes.code.size, dtype=np.int64), per_run)
    within = np.arange(run.size, dtype=np.int64) - np.repeat(np.cumsum(per_run) - per_run, per_run)
    return run, Words(np.array(hosts, np.int64)[np.array(first, np.int64)[nodes.code][run] + within], list(names))


def _given(gpus: list[Gpus], tres: Words, run: Ints) -> tuple[Words, Mask]:
    """Return the type of GPU of each row as Slurm names it, and which rows hold instances."""
    names: dict[str, int] = {}
    code = [-1 if one.type_name is None else names.setdefault(one.type_name, len(names)) for one in gpus]
    part = np.array([*(one.instances for one in gpus), False])
    return Words(np.array([*code, -1], np.int64)[tres.code][run], list(names)), part[tres.code][run]


def _chips(given: Words, host: Words, at: Places, instances: Mask, context: Context, refusals: Refusals) -> Words:
    whole = Words(np.where(instances, -1, given.code), given.names)
    chip = chips_of_runs(whole, host, at, context, refusals)
    return Words(np.where(instances, -1, chip.code), chip.names)


def _node_count(raw: RawBatch, host: Words, run: Ints) -> pa.Array:
    import pyarrow as pa

    count = np.where(host.absent, 0, 1).astype(np.int32)
    if "nnodes" in raw.table.column_names and host.absent.any():
        said, present = numbers(raw.table, "nnodes", Held(raw), whole=True, most=1e6)
        count = np.where(host.absent, np.where(present, said, 0)[run], count).astype(np.int32)
    return pa.array(count, pa.int32(), mask=count == 0)


def _energy(
    raw: RawBatch, times: Times, share: Floats, run: Ints, refusals: Refusals, said: Left
) -> tuple[Floats, Mask]:
    """Return each row's energy at the plug in kWh, and which rows have one."""
    joules, present = _joules(raw, refusals, said)
    measured = present & (joules > 0)
    (start, _), (end, ended) = times["start"], times["end"]
    seconds = np.where(ended, end - start, 0) / 1000
    hosts = np.bincount(run, minlength=joules.size)
    impossible = measured & ended & (joules > MOST_NODE_W * hosts * np.maximum(seconds, 1))
    said.add("energies of 0 J left out: nothing was measured", int((present & ~measured).sum()))
    said.add("energies left out: over 100 kW for each node, so the counter is broken", int(impossible.sum()))
    measured &= ~impossible
    said.add(
        "runs have an energy at the plug of their nodes: of shared nodes it is the whole nodes'", int(measured.sum())
    )
    return (joules / _JOULES_PER_KWH)[run] * share, measured[run]


def _joules(raw: RawBatch, refusals: Refusals, said: Left) -> tuple[Floats, Mask]:
    import pyarrow as pa
    import pyarrow.compute as pc

    size, names = raw.table.num_rows, raw.table.column_names
    value, present = np.zeros(size), np.zeros(size, bool)
    if "consumedenergyraw" in names:
        text = texts(raw.table, "consumedenergyraw")
        coded = pc.is_in(text, pa.array(sorted(NO_ENERGY)))
        said.add("energies left out: a number that Slurm writes for no value", int(pc.sum(coded).as_py() or 0))
        text = pc.if_else(coded, pa.scalar(None, pa.string()), text)
        title = _TITLES["consumedenergyraw"]
        value, present = numbers(pa.table({title: text}), title, refusals)
    elif "consumedenergy" in names:
        shown = words(raw.table, "consumedenergy")
        read = [joules_of(name) for name in shown.names]
        for place, one in enumerate(read):
            if isinstance(one, str):
                refusals.add_where(shown.code == place, one)
        good = [isinstance(one, float) for one in read]
        value = np.array([*(one if isinstance(one, float) else 0.0 for one in read), 0.0])[shown.code]
        present = shown.where(good)
    return value, present


importer = SlurmSacctImporter()
