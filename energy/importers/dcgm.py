"""NVIDIA's DCGM exporter (Prometheus text): power, energy and use of boards; MIG instances are parts of one board."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy.importers.base import Batch, Context
from energy.importers.prometheus_text import Sample, SampleTimes, detect_metric, samples
from energy.importers.reading_rows import (
    ENERGY_TO_MICROJ,
    LEAST_CODE,
    POWER_TO_MILLIW,
    TO_PERCENT,
    Rows,
    host_of,
    text_or_none,
    whole_index,
)


@dataclass(frozen=True, slots=True)
class Metric:
    """What a metric of a board says: the column that it fills and what one of its unit is there."""

    column: str
    scale: float


# One metric for each column. POWER_USAGE_INSTANT beside POWER_USAGE would be a second power of the same board and time.
METRICS = {
    "DCGM_FI_DEV_POWER_USAGE": Metric("power_milliw", POWER_TO_MILLIW["w"]),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": Metric("counter_microj", ENERGY_TO_MICROJ["mj"]),
    "DCGM_FI_DEV_GPU_UTIL": Metric("utilisation_pct", TO_PERCENT["%"]),
    "DCGM_FI_PROF_SM_ACTIVE": Metric("sm_active_pct", 100.0),
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": Metric("tensor_active_pct", 100.0),
    "DCGM_FI_PROF_DRAM_ACTIVE": Metric("dram_active_pct", 100.0),
}
# dcgm_structs.h: DCGM_INT32_BLANK, DCGM_INT64_BLANK and DCGM_FP64_BLANK, each with not found, not supported and not
# permitted right above. 64-bit codes are at LEAST_CODE and over.
_INT32_CODES = range(0x7FFFFFF0, 0x7FFFFFF4)
_FP64_CODES = range(1 << 47, (1 << 47) + 4)
_PENDING = 100_000


def value_of(metric: Metric, value: float) -> float | None:
    """Return a value in the unit of its column, ``None`` for NaN and for DCGM's "no value" codes.

    A 32-bit code is within the range of the energy counter, and a code only elsewhere.

    Examples
    --------
    >>> value_of(METRICS["DCGM_FI_DEV_POWER_USAGE"], 612.345)
    612345.0
    >>> value_of(METRICS["DCGM_FI_DEV_POWER_USAGE"], 9223372036854775794.0) is None
    True

    """
    if value != value or LEAST_CODE <= value < float("inf") or value in _FP64_CODES:
        return None
    if metric.column != "counter_microj" and value in _INT32_CODES:
        return None
    return value * metric.scale


def instance_of(labels: Mapping[str, str]) -> str | None:
    """Return the part of the board that a series is of: its MIG instance.

    Examples
    --------
    >>> instance_of({"GPU_I_ID": "7", "GPU_I_PROFILE": "1g.10gb"}), instance_of({"GPU_I_ID": ""})
    ('7:1g.10gb', None)

    """
    number, profile = text_or_none(labels.get("GPU_I_ID")), text_or_none(labels.get("GPU_I_PROFILE"))
    return ":".join(part for part in (number, profile) if part) or None


def board_of(labels: Mapping[str, str]) -> dict[str, Any] | str:
    """Return a board's columns from the labels of a series, or why they name none.

    Hosts by ``Hostname``, else the node's name that Prometheus or Kubernetes adds.

    Examples
    --------
    >>> board_of({"gpu": "0", "UUID": "GPU-1", "Hostname": "a", "modelName": "NVIDIA H100 80GB HBM3"})["host"]
    'a'

    """
    index = whole_index(labels.get("gpu"))
    device = labels.get("device", "")
    if not isinstance(index, int) and device.startswith("nvidia"):
        index = whole_index(device.removeprefix("nvidia"))
    if isinstance(index, str):
        return index
    host = next((text for name in HOST_LABELS if (text := text_or_none(labels.get(name)))), None)
    uuid = text_or_none(labels.get("UUID") or labels.get("uuid"))
    if uuid is None and index is None:
        return "the series names no board: keep the label UUID or gpu"
    return {
        "host": host,
        "uuid": uuid,
        "device_index": index,
        "chip_name_given": text_or_none(labels.get("modelName")),
        "instance": instance_of(labels),
        "scope": "board",
    }


HOST_LABELS = ("Hostname", "hostname", "node", "node_name", "nodename", "kubernetes_node", "host")


class Boards:
    """The board of each set of labels; the same labels come with every scrape, and are looked at once."""

    def __init__(self, path: Path, context: Context) -> None:
        self._path = path
        self._context = context
        self._known: dict[int, tuple[dict[str, str], dict[str, Any] | str]] = {}

    def of(self, labels: dict[str, str]) -> dict[str, Any] | str:
        """Return a board's columns, or why the labels name none.

        Raises
        ------
        InputFileError
            They name neither UUID nor host, and the caller named no host.
        """
        found = self._known.get(id(labels))
        if found is not None:
            return found[1]
        if len(self._known) >= _PENDING:
            self._known = {}
        board = board_of(labels)
        if not isinstance(board, str) and board["host"] is None and board["uuid"] is None:
            board["host"] = host_of(self._context, self._path)
        self._known[id(labels)] = (labels, board)  # keeps the labels, so that nothing else gets their id
        return board


class Merger:
    """Puts the metrics of one board, instance and time into one row.

    Labels of pods come and go, so that a board has several series: the same value again is the same reading, another
    value at the same time is refused.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._pending: dict[tuple[Any, ...], tuple[int, dict[str, Any]]] = {}

    def put(self, line: int, board: Mapping[str, Any], time_ms: int, column: str, value: Any) -> None:
        """Add a checked value."""
        key = (board["uuid"], board["host"], board["device_index"], board["instance"], board["scope"], time_ms)
        _, row = self._pending.setdefault(key, (line, {**board, "time_ms": time_ms}))
        if row.setdefault(column, value) != value:
            self._rows.refuse(
                line,
                f"a second {column} of the same board and time, {value} after {row[column]}: keep the scrapes in files "
                "of their own, or write times",
            )

    def flush(self, *, at_end: bool = False) -> Iterator[Batch]:
        """Yield rows, at the end or when many wait."""
        if at_end or len(self._pending) >= _PENDING:
            for line, row in self._pending.values():
                self._rows.add(line, **row)
                yield from self._rows.full()
            self._pending = {}


class DcgmImporter:
    """DCGM exporter."""

    name = "dcgm"
    meaning = "NVIDIA DCGM exporter (Prometheus text): power, energy counter and use of boards"
    kind = "board_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        return detect_metric(head, ("DCGM_FI_",), "DCGM's")

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings of boards."""
        rows, times = Rows(self.kind, context), SampleTimes(path, context)
        merger, boards = Merger(rows), Boards(path, context)
        for sample in samples(path, context, METRICS, rows):
            self._put(sample, merger, rows, times.of(sample), boards)
            yield from merger.flush()
        yield from merger.flush(at_end=True)
        yield from rows.finish(path, f"sample of {', '.join(METRICS)}")

    @staticmethod
    def _put(sample: Sample, merger: Merger, rows: Rows, time_ms: int, boards: Boards) -> None:
        board = boards.of(sample.labels)
        if isinstance(board, str):
            rows.refuse(sample.line, board, sample.labels)
            return
        metric = METRICS[sample.name]
        value = checked(rows, metric, value_of(metric, sample.value), board["chip_name_given"])
        if value is None:
            rows.gap()
        elif isinstance(value, str):
            rows.refuse(sample.line, value, f"{sample.name} {sample.labels} {sample.value}")
        else:
            merger.put(sample.line, board, time_ms, metric.column, value)


def checked(rows: Rows, metric: Metric, value: float | None, chip_name: str | None) -> Any:
    """Return the value as its column holds it, ``None`` for a gap, or the reason why it is refused."""
    if value is None:
        return None
    if value < 0 or value == float("inf"):
        return f"{metric.column} is {value:g}: it must be a finite number that is not below zero"
    if metric.column == "power_milliw":
        return rows.power(value, chip_name)
    return rows.counter(value) if metric.column == "counter_microj" else rows.percent(value)


importer = DcgmImporter()
