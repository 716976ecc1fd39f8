"""OpenCost and Kubecost: allocations of pods, from the allocation interface (JSON) or the CSV exporter.

Rules
-----
- GPU-hours are ``gpuHours`` of the JSON. They are spread evenly from ``start`` to ``end``: chips = gpuHours / hours.
- The CSV's ``GPUs`` is the average while the pod ran, and the CSV does not say how long that was: rows with GPUs are
  refused unless the file has GPUHours or Minutes besides; rows without GPUs are kept.
- The project is the namespace. ``__idle__`` is real power that nobody asked for: no project, and job type ``__idle__``.
- GPUs are what was asked for, not what was used.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import InputFileError, did_you_mean
from energy.importers.base import Batch, Context, Reject
from energy.importers.convert import Floats, Ints, Mask, Refusals, numbers, texts, words
from energy.importers.mapping import ColumnRule
from energy.importers.places import places
from energy.importers.runs import check_chip_count, chips_of_runs, jobs_batch, moments
from energy.importers.tabular import RawBatch, header_of, read_batches
from energy.importers.text_input import HEAD_BYTES, Utf8Stream, check_readable, head_text, whole_text
from energy.importers.times import instants

if TYPE_CHECKING:
    from energy.importers.mapping import Mapping

WHAT = "an OpenCost allocation"
ROWS_PER_BATCH = 100_000
_HOUR_MS = 3_600_000.0
_DAY_MS = 86_400_000
_MOST_GPU_HOURS = 1e9
_REMEDY = "fetch it again from /allocation. Nothing was stored."
_NEEDED = ("date", "namespace", "gpus")
_CSV_TELLING = {"namespace", "controllerkind", "controllername", "pod", "container", "cpucorerequestaverage"}
_FIELDS = (
    *("name", "kind", "node", "namespace", "chip", "start", "end"),
    *("minutes", "gpuHours", "gpuCount"),
)
_CHIP_LABELS = ("nvidia_com_gpu_product", "nvidia.com/gpu.product", "label_nvidia_com_gpu_product")


class OpenCostImporter:
    """Importer of OpenCost's and Kubecost's allocations."""

    name = "opencost"
    meaning = "OpenCost or Kubecost: allocations of pods (JSON of /allocation, or CSV export)"
    kind = "jobs"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is OpenCost's, from its first bytes; None where it is not."""
        start = head_text(head)
        if start.lstrip()[:1] in ("{", "["):
            found = '"properties"' in start and ('"gpuHours"' in start or '"cpuCoreHours"' in start)
            return "allocations with gpuHours or cpuCoreHours, as OpenCost's interface gives them" if found else None
        line = start.split("\n", 1)[0].casefold()
        names = {cell.strip(' "\r') for cell in line.split(",")}
        if "gpus" in names and len(_CSV_TELLING & names) >= 4:
            return "line 1 names Namespace, ControllerKind, GPUs: OpenCost's CSV export"
        return None

    def read(self, path: Path, mapping: Mapping | None, context: Context) -> Iterator[Batch]:
        """Yield the time of each pod in each window; refuse what cannot be right, with its place and remedy."""
        if _is_json(path):
            yield from _read_json(path, context)
        else:
            yield from _read_csv(path, context)


def _is_json(path: Path) -> bool:
    check_readable(path)
    with Utf8Stream(path) as stream:
        head = stream.read(HEAD_BYTES)
    return head.lstrip()[:1] in (b"{", b"[", b"<", b"")  # a web page is refused as text that is none


def _read_json(path: Path, context: Context) -> Iterator[Batch]:
    data = _loaded(path, context)
    rows: list[tuple[int, dict[str, str | None]]] = []
    rejects: list[Reject] = []
    number = 0
    for number, (key, found) in enumerate(_allocations(path, data), 1):
        if isinstance(found, dict):
            rows.append((number, _fields(key, found)))
        else:
            why = f"allocation {_text(key[:60])} is no object with start, end and gpuHours: {_REMEDY}"
            rejects.append(Reject(number, why, _text(str(found)[:200]) or ""))
        if len(rows) + len(rejects) >= ROWS_PER_BATCH:
            yield _batch(_raw(rows, rejects), context)
            rows, rejects = [], []
    if number == 0:
        raise InputFileError(f"{path.name} holds no allocations: {_REMEDY}")
    if rows or rejects:
        yield _batch(_raw(rows, rejects), context)


def _loaded(path: Path, context: Context) -> Any:
    text = whole_text(path, WHAT, context)
    try:
        # numbers stay as they are written, so that each is checked with its row
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except json.JSONDecodeError as error:
        cut = " (was the file cut off?)" if error.pos >= len(text.rstrip()) - 1 else ""
        raise InputFileError(
            f"{path.name}, line {error.lineno}, column {error.colno}: no JSON: {error.msg}{cut}; {_REMEDY}"
        ) from error
    except RecursionError as error:
        raise InputFileError(f"{path.name} is nested too deeply for {WHAT}: {_REMEDY}") from error


def _allocations(path: Path, data: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and allocation of every window."""
    if isinstance(data, dict) and str(data.get("code", "200")) != "200":
        said = str(_text(data.get("message") or data.get("error") or "no message"))[:160]
        raise InputFileError(
            f"{path.name} is an error answer (code {str(_text(data['code']))[:20]}: {said}): {_REMEDY}"
        )
    sets = data.get("data") if isinstance(data, dict) else data
    for window in [sets] if isinstance(sets, dict) else sets or []:
        if not isinstance(window, dict):
            if window is not None:
                raise InputFileError(f"{path.name}: `data` holds {str(window)[:40]!r}, not allocations: {_REMEDY}")
            continue
        inner = window.get("allocations")
        yield from (inner if isinstance(inner, dict) else window).items()


def _fields(key: str, allocation: dict[str, Any]) -> dict[str, str | None]:
    properties, window = _object(allocation, "properties"), _object(allocation, "window")
    labels = _object(properties, "labels") | _object(properties, "nodeLabels")
    name = _text(allocation.get("name")) or key
    special = next((part for part in (key, *name.split("/")) if part.startswith("__") and part.endswith("__")), None)
    namespace = _text(properties.get("namespace"))
    return {
        "name": name,
        "kind": special or _text(properties.get("controllerKind")),
        "node": _text(properties.get("node")),
        "namespace": None if special else namespace or name,
        "chip": next((_text(labels[label]) for label in _CHIP_LABELS if label in labels), None),
        "start": _text(allocation.get("start")) or _text(window.get("start")),
        "end": _text(allocation.get("end")) or _text(window.get("end")),
        **{field: _text(allocation.get(field)) for field in ("minutes", "gpuHours", "gpuCount")},
    }


def _object(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    r"""Return a value as one line that Arrow can hold: JSON may hold line breaks, and halves of signs.

    Examples
    --------
    >>> _text("pod\n1"), _text(""), _text(3)
    ('pod 1', None, '3')

    """
    text = "" if value is None else " ".join(str(value).split())
    return text.encode("utf-8", "replace").decode("utf-8") or None


def _raw(rows: list[tuple[int, dict[str, str | None]]], rejects: list[Reject]) -> RawBatch:
    import pyarrow as pa

    table = pa.table({name: pa.array([row[name] for _, row in rows], pa.string()) for name in _FIELDS})
    return RawBatch(table, np.array([number for number, _ in rows], np.int64), rejects)


def _read_csv(path: Path, context: Context) -> Iterator[Batch]:
    header = {name.casefold().replace(" ", "").lstrip("\ufeff"): name for name in header_of(path)}
    for name in _NEEDED:
        if name not in header:
            near = did_you_mean(name, header)
            raise InputFileError(
                f"{path.name}, line 1: no column {name} of OpenCost's export.{near} Nothing was stored."
            )
    names = ("pod", "container", "controllerkind", "node", "minutes", "gpuhours", "start", "end", *_NEEDED)
    used = {name: header[name] for name in names if name in header}
    for raw in read_batches(path, list(used.values())):
        table = raw.table.rename_columns(list(used))
        yield _batch(_of_csv(RawBatch(table, raw.row_number, raw.rejects)), context)


def _of_csv(raw: RawBatch) -> RawBatch:
    """Bring the exporter's columns into the form of the interface; what it does not say stays null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keep = np.asarray(pc.not_equal(pc.utf8_lower(texts(raw.table, "date")), "date").fill_null(True))  # repeated headers
    table = raw.table.filter(pa.array(keep))
    nothing = pa.nulls(table.num_rows, pa.string())
    have = {name: texts(table, name) for name in table.column_names}
    namespace = have["namespace"]
    special = pc.match_substring_regex(namespace, "^__.*__$").fill_null(False)
    parts = [have[name].fill_null("") for name in ("namespace", "pod", "container") if name in have]
    day = pc.utf8_slice_codeunits(have["date"], 0, 10)
    columns = {
        "name": pc.binary_join_element_wise(*parts, "/"),
        "kind": pc.if_else(special, namespace, have.get("controllerkind", nothing)),
        "node": have.get("node", nothing),
        "namespace": pc.if_else(special, nothing, namespace),
        "chip": nothing,
        "start": have.get("start", pc.binary_join_element_wise(day, pa.scalar("T00:00:00Z"), "")),
        "end": have.get("end", nothing),
        "minutes": have.get("minutes", nothing),
        "gpuHours": have.get("gpuhours", nothing),
        "gpuCount": have["gpus"],
    }
    return RawBatch(pa.table(columns), raw.row_number[keep], raw.rejects)


def _batch(raw: RawBatch, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw)
    host, kind, project, given = (words(raw.table, name) for name in ("node", "kind", "namespace", "chip"))
    if context.site_id is None:
        refusals.add_where(host.absent, "the allocation names no node: pass --site SITE, or aggregate by node and pod")
    (start, started), (end, ended) = (_time(raw, name, context, refusals) for name in ("start", "end"))
    refusals.add_where(~started, "the allocation has no start: fetch it again")
    end = np.where(ended, end, start + _DAY_MS)  # the exporter's rows are days
    refusals.add_where(end < start, "the allocation ends before it starts: fetch it again")
    at = places(host, start, started, context, refusals)
    count = _chip_count(raw, start, end, refusals, context)
    check_chip_count(count, at.chip_counts(), refusals)
    chip = chips_of_runs(given, host, at, context, refusals)
    present = np.ones(count.size, bool)
    columns = {
        "job_id": raw.table.column("name"),
        "site_id": at.sites(context.site_id).array(),
        "host": host.array(),
        "project": project.array(),
        "job_type": kind.array(),
        "start_utc": moments(start, started),
        "end_utc": moments(end, started),
        "chip_name_given": given.array(),
        "chip_id": chip.array(),
        "node_count": pa.array(np.ones(count.size, np.int32), mask=host.absent),
        "chip_count": pa.array(count, mask=~present),
    }
    size = raw.table.num_rows
    return jobs_batch(refusals, np.arange(size, dtype=np.int64), columns, size + len(raw.rejects))


def _time(raw: RawBatch, name: str, context: Context, refusals: Refusals) -> tuple[Ints, Mask]:
    return instants(raw.table, ColumnRule(column=name), context.timezone, refusals)


def _chip_count(raw: RawBatch, start: Ints, end: Ints, refusals: Refusals, context: Context) -> Floats:
    """Return GPUs held on average from start to end."""
    hours, told = numbers(raw.table, "gpuHours", refusals, most=_MOST_GPU_HOURS)
    minutes, timed = numbers(raw.table, "minutes", refusals, most=_MOST_GPU_HOURS)
    count, counted = numbers(raw.table, "gpuCount", refusals, most=1e6)
    by_count = count * minutes / 60
    none = counted & (count == 0) & ~told
    known = told | (counted & timed) | none
    refusals.add_each(
        ~known & counted,
        lambda row: (
            f"GPUs {count[row]:g} is the average while the pod ran, and the file does not say how long that was (at "
            f"most {24 * count[row]:g} GPU-hours a day): fetch the JSON of /allocation, which has gpuHours and minutes"
        ),
    )
    refusals.add_where(~known, "the allocation has no gpuHours, nor gpuCount and minutes: fetch it again")
    held = np.where(told, hours, np.where(timed, by_count, 0.0))
    both = told & counted & timed & (np.abs(hours - by_count) > 0.01 * np.maximum(hours, by_count))
    if both.any():
        context.notes.append(f"{int(both.sum()):,} allocations: gpuHours differs from gpuCount x minutes; it counts")
    span = (end - start) / _HOUR_MS
    refusals.add_where(
        (held > 0) & (span <= 0), "the allocation has gpuHours but no time from start to end: fetch it again"
    )
    part = timed & (held > 0) & (np.abs(minutes / 60 - span) > 0.01 * span)
    if part.any():
        context.notes.append(
            f"{int(part.sum()):,} allocations ran for part of their window: spread evenly from start to end"
        )
    return np.where(span > 0, held / np.where(span > 0, span, 1.0), 0.0)


importer = OpenCostImporter()
