"""CodeCarbon's ``emissions.csv`` of any version: one row is one run of one tracked program.

Rules
-----
- The last row of a run holds the whole run; in files of tasks (``task_name``) each row is a task.
- With ``tracking_mode`` machine, rows of one machine and window are copies of one measurement and count once.
- ``gpu_energy`` is the energy of the boards, divided by ``pue``, which CodeCarbon multiplies into it. Energies of
  processor and memory are not added: the node's overhead in site.yaml stands for them. Emissions are not used.
- The end is ``timestamp``, in local time; the start is ``timestamp`` less ``duration``.
- A run with GPUs and a ``gpu_energy`` of 0 was not measured: its energy is null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.importers.base import Batch, Context, rejects_table
from energy.importers.codecarbon_rows import WHAT, Choice, Measured, Row, choose, is_header, read_rows
from energy.importers.convert import Floats, Ints, Mask, Refusals, Words, numbers, words
from energy.importers.mapping import ColumnRule
from energy.importers.places import places
from energy.importers.power import MOST_W
from energy.importers.runs import check_chip_count, chips_of_runs, jobs_batch, moments
from energy.importers.tabular import RawBatch
from energy.importers.text_input import head_text
from energy.importers.times import instants

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.importers.mapping import Mapping

MOST_SECONDS = 10 * 365 * 86_400
_MOST_KWH = 1e9
_MOST_GPUS = 1e6
_MOST_GPUS_OF_ONE_NODE = 64
_HOSTS = ("host", "hostname", "node")
_MACHINE = ("os", "cpu_model", "cpu_count", "gpu_model", "gpu_count", "ram_total_size", "longitude", "latitude")
_TEXTS = ("timestamp", "project_name", "run_id", "task_name", "tracking_mode", "gpu_model")
_NUMBERS = ("duration", "gpu_energy", "energy_consumed", "gpu_count", "pue")
_MODELS = re.compile(r"([0-9]+) x (.+)\Z")


class CodeCarbonImporter:
    """Importer of CodeCarbon's results."""

    name = "codecarbon"
    meaning = "CodeCarbon's emissions.csv, of any version: one row is one run of one tracked program"
    kind = "jobs"
    is_whole_log = False  # runs of some projects, not the log of a scheduler: idle is not known by it

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is CodeCarbon's, from its first bytes; None where it is not."""
        for number, line in enumerate(head_text(head).split("\n")[:20], 1):
            text = line.strip("\r")
            for separator in ",;\t":
                if is_header([cell.strip(' "') for cell in text.split(separator)]):
                    return f"line {number} names timestamp, duration and emissions, as {WHAT} does"
        return None

    def read(self, path: Path, mapping: Mapping | None, context: Context) -> Iterator[Batch]:
        """Yield runs; refuse what cannot be right, with its line and remedy."""
        import pyarrow as pa

        rows, rejects = read_rows(path, context)
        raw = _raw(rows)
        typed = Refusals(raw)
        values = _Values(raw, rows, context, typed)
        good = typed.batch({"place": pa.array(np.arange(len(rows), dtype=np.int64))})
        choice = choose(values.measured(rows, good.table.column("place").to_pylist(), context))
        context.notes.extend(choice.notes)
        batch = _batch(values, raw, choice, context)
        refused = pa.concat_tables([rejects_table(rejects), good.rejects, batch.rejects]).sort_by("row_number")
        _say(values, rows, choice, context)
        yield Batch(batch.table, refused, len(rows) + len(rejects))


def _raw(rows: list[Row]) -> RawBatch:
    import pyarrow as pa

    columns = {name: [row.cells.get(name) or None for row in rows] for name in (*_TEXTS, *_NUMBERS)}
    columns["host"] = [next((row.cells[name] for name in _HOSTS if row.cells.get(name)), None) for row in rows]
    table = pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})
    return RawBatch(table, np.array([row.line for row in rows], np.int64))


class _Values:
    """Typed values of every line; those that are refused have reasons in ``refusals``."""

    def __init__(self, raw: RawBatch, rows: list[Row], context: Context, refusals: Refusals) -> None:
        table = raw.table
        self.end, ended = instants(table, ColumnRule(column="timestamp"), context.timezone, refusals)
        refusals.add_where(~ended, "the row has no timestamp: complete or remove the line")
        seconds, timed = numbers(table, "duration", refusals, most=MOST_SECONDS)
        refusals.add_where(~timed, "the row has no duration: complete or remove the line")
        self.start: Ints = self.end - np.rint(seconds * 1000).astype(np.int64)
        self.gpu, self.has_gpu = numbers(table, "gpu_energy", refusals, most=_MOST_KWH)
        self.consumed, self.has_consumed = numbers(table, "energy_consumed", refusals, most=_MOST_KWH)
        self.count, self.counted = numbers(table, "gpu_count", refusals, most=_MOST_GPUS)
        self.pue, self.has_pue = numbers(table, "pue", refusals, least=1.0, most=10.0)
        self.short: Mask = np.array([row.short for row in rows], bool)
        told = np.array(["gpu_energy" in row.cells for row in rows], bool)
        refusals.add_where(
            ~told, "the row has no gpu_energy (CodeCarbon before 2.0): the boards' part of energy_consumed is not known"
        )
        models = [_model(row.cells.get("gpu_model", "")) for row in rows]
        for place, (_, _, problem) in enumerate(models):
            if problem:
                refusals.add(place, problem)
        self.models = [name for name, _, _ in models]
        of_model = np.array([number or 0 for _, number, _ in models], np.float64)
        self.count = np.where(self.counted, self.count, of_model)
        self.counted |= of_model > 0
        watts = self.gpu * 3.6e6 / np.maximum(seconds, 1.0)  # a boards' mean; time stamps are whole seconds
        most_w = MOST_W * np.where(self.counted, np.maximum(self.count, 1.0), _MOST_GPUS_OF_ONE_NODE)
        refusals.add_each(
            timed & self.has_gpu & (watts > most_w),
            lambda row: (
                f"gpu_energy {self.gpu[row]:g} kWh in {seconds[row]:g} s is {watts[row]:,.0f} W, more than its GPUs "
                f"can draw ({most_w[row]:,.0f} W): check its unit"
            ),
        )
        # no GPU seen by the tracker is none; where cells were lost, their number is not known
        none = ~self.counted & ~self.short & (self.gpu == 0)
        self.count_known: Mask = self.counted | none

    def board_kwh(self) -> tuple[Floats, Mask]:
        """Return the energy of the boards, and which rows have one: 0 kWh with GPUs was not measured."""
        energy = self.gpu / np.where(self.has_pue, self.pue, 1.0)
        return energy, self.has_gpu & (self.gpu > 0)

    def measured(self, rows: list[Row], places_kept: list[int], context: Context) -> list[Measured]:
        """Return what tells runs apart, of the rows that are not refused."""
        out = []
        starts: dict[tuple[str, str], list[int]] = {}
        here = getattr(context, "host", None)
        for place in sorted(places_kept, key=lambda place: int(self.start[place])):
            cells = rows[place].cells
            host = next((cells[name] for name in _HOSTS if cells.get(name)), here)
            mode = cells.get("tracking_mode", "")
            run = cells.get("run_id") or _by_start(starts, (cells.get("project_name", ""), host or ""), self, place)
            energy = self.consumed[place] if self.has_consumed[place] else self.gpu[place]
            machine = tuple(cells.get(name, "") for name in _MACHINE)
            out.append(
                Measured(
                    *(place, rows[place].line, run, host, machine, mode == "machine"),
                    *(int(self.start[place]), int(self.end[place]), float(energy), tuple(cells.values())),
                    task=bool(cells.get("task_name")),
                    short=rows[place].short,
                )
            )
        return out


def _by_start(starts: dict[tuple[str, str], list[int]], owner: tuple[str, str], values: _Values, place: int) -> Any:
    """Return a name for the run of a row without run id: growing rows of one tracker have one start."""
    from energy.importers.codecarbon_rows import SAME_MS

    start = int(values.start[place])
    known = starts.setdefault(owner, [])
    if not known or start - known[-1] > SAME_MS:
        known.append(start)
    return ("without run_id", *owner, known[-1])


def _model(text: str) -> tuple[str | None, int | None, str | None]:
    """Return model and number of ``2 x NVIDIA A100-SXM4-80GB``, or what is wrong.

    Examples
    --------
    >>> _model("2 x NVIDIA A100-SXM4-80GB"), _model("Apple M1")
    (('NVIDIA A100-SXM4-80GB', 2, None), ('Apple M1', None, None))

    """
    if not text:
        return None, None, None
    match = _MODELS.match(text)
    if match is None:
        return text, None, None
    if re.search(r"[0-9] x ", match[2]):
        return None, None, f"gpu_model {text[:80]} names several models: give one row per model, as `jobs`"
    return match[2], int(match[1]) if len(match[1]) < 7 else None, None


def _batch(values: _Values, raw: RawBatch, choice: Choice, context: Context) -> Batch:
    """Return the chosen rows as runs; rows of no run are left out, refused ones have their reason."""
    import pyarrow as pa

    rows = sorted([*(row.place for row in choice.kept), *choice.refused])
    at = np.array(rows, np.int64)
    chosen = RawBatch(raw.table.take(pa.array(at)), raw.row_number[at])
    refusals = Refusals(chosen)
    for place, reason in choice.refused.items():
        refusals.add(rows.index(place), reason)
    host = _host(chosen.table, context)
    if context.site_id is None:
        refusals.add_where(host.absent, "CodeCarbon names no host: pass --site SITE")
    start, end = values.start[at], values.end[at]
    where = places(host, start, np.ones(at.size, bool), context, refusals)
    count, known = values.count[at], values.count_known[at]
    check_chip_count(count, where.chip_counts(), refusals)
    given = _words(
        [
            values.models[place] if values.count[place] or not known_count else None
            for place, known_count in zip(rows, known.tolist(), strict=True)
        ]
    )
    chip = chips_of_runs(given, host, where, context, refusals)
    energy, measured = values.board_kwh()
    present = np.ones(at.size, bool)
    columns = {
        "job_id": pa.array(_job_ids(chosen.table, start), pa.string()),
        "site_id": where.sites(context.site_id).array(),
        "host": host.array(),
        "project": words(chosen.table, "project_name").array(),
        "job_type": words(chosen.table, "task_name").array(),
        "start_utc": moments(start, present),
        "end_utc": moments(end, present),
        "chip_name_given": given.array(),
        "chip_id": chip.array(),
        "node_count": pa.array(np.ones(at.size, np.int32)),
        "chip_count": pa.array(count, mask=~known),
        "energy_chip_kwh": pa.array(energy[at], mask=~measured[at]),
    }
    return jobs_batch(refusals, np.arange(at.size, dtype=np.int64), columns, at.size)


def _host(table: pa.Table, context: Context) -> Words:
    named = words(table, "host")
    here = getattr(context, "host", None)
    if here is None:
        return named
    return Words(np.where(named.absent, len(named.names), named.code), [*named.names, str(here)])


def _words(values: list[str | None]) -> Words:
    names: dict[str, int] = {}
    code = [-1 if value is None else names.setdefault(value, len(names)) for value in values]
    return Words(np.array(code, np.int64), list(names))


def _job_ids(table: pa.Table, start: Ints) -> list[str]:
    """Return an id for each run, with a number where trackers of one run started at once."""
    out: list[str] = []
    seen: dict[tuple[str, str | None, int], int] = {}
    hosts = table.column("host").to_pylist()
    runs, projects, tasks = (table.column(name).to_pylist() for name in ("run_id", "project_name", "task_name"))
    for place, (run, project, task) in enumerate(zip(runs, projects, tasks, strict=True)):
        name = (run or project or "codecarbon") + (f"/{task}" if task else "")
        key = (name, hosts[place], int(start[place]))
        seen[key] = seen.get(key, 0) + 1
        out.append(name if seen[key] == 1 else f"{name}#{seen[key]}")
    return out


def _say(values: _Values, rows: list[Row], choice: Choice, context: Context) -> None:
    kept = [row.place for row in choice.kept]
    if kept and values.has_consumed[kept].any():
        total = float(values.consumed[kept].sum())
        context.notes.append(
            f"energy_consumed of the runs that count is {total:.9g} kWh by CodeCarbon, with its estimate for processor "
            "and memory; only gpu_energy is used, the node's overhead stands for the rest"
        )
    short = [row.line for row in choice.kept if row.short]
    if short:
        lines = ", ".join(str(line) for line in short[:10]) + (", ..." if len(short) > 10 else "")
        context.notes.append(
            f"lines that lost their empty cells: {lines}; their GPUs, scope and PUE are not known, their energy is "
            "kept as written"
        )
    zero = [place for place in kept if values.count[place] > 0 and not values.gpu[place]]
    if zero:
        context.notes.append(f"{len(zero):,} runs with GPUs and a gpu_energy of 0: not measured, left out")
    raised = [place for place in kept if values.pue[place] > 1]
    if raised:
        context.notes.append(f"{len(raised):,} runs: gpu_energy holds the PUE, which was taken out again")


importer = CodeCarbonImporter()
