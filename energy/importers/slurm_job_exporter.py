"""slurm-job-exporter (Prometheus text): power of a job's GPUs, in milliwatts where other exporters write watts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from energy.importers.base import Batch, Context
from energy.importers.dcgm import HOST_LABELS, Merger, Metric, checked, value_of
from energy.importers.prometheus_text import SampleTimes, detect_metric, samples
from energy.importers.reading_rows import POWER_TO_MILLIW, TO_PERCENT, Rows, host_of, text_or_none, whole_index

_METRICS = {
    "slurm_job_power_gpu": Metric("power_milliw", POWER_TO_MILLIW["mw"]),
    "slurm_job_utilization_gpu": Metric("utilisation_pct", TO_PERCENT["%"]),
}


class SlurmJobExporterImporter:
    """slurm-job-exporter. The exporter of one node gives the boards that jobs hold there, and names no node."""

    name = "slurm-job-exporter"
    meaning = "slurm-job-exporter (Prometheus text): power (mW) and use of the boards that jobs hold"
    kind = "board_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        return detect_metric(head, ("slurm_job_",), "slurm-job-exporter's")

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings of boards; a board that two jobs share is read once."""
        rows, times = Rows(self.kind, context), SampleTimes(path, context)
        merger = Merger(rows)
        for sample in samples(path, context, _METRICS, rows):
            time_ms = times.of(sample)
            board = _board(sample.labels, path, context)
            metric = _METRICS[sample.name]
            value = board
            if not isinstance(board, str):
                value = checked(rows, metric, value_of(metric, sample.value), board["chip_name_given"])
            if value is None:
                rows.gap()
            elif isinstance(board, str) or isinstance(value, str):
                rows.refuse(sample.line, str(value), f"{sample.name} {sample.labels} {sample.value}")
            else:
                merger.put(sample.line, board, time_ms, metric.column, value)
            yield from merger.flush()
        yield from merger.flush(at_end=True)
        yield from rows.finish(path, f"sample of {', '.join(_METRICS)}")


def _board(labels: dict[str, str], path: Path, context: Context) -> Any:
    index = whole_index(labels.get("gpu"))
    if isinstance(index, str):
        return index
    if index is None:
        return "the series names no board: keep the label gpu"
    host = next((text for name in HOST_LABELS if (text := text_or_none(labels.get(name)))), None)
    return {
        "host": host or host_of(context, path),
        "uuid": text_or_none(labels.get("gpu_uuid")),
        "device_index": index,
        "chip_name_given": text_or_none(labels.get("gpu_type")),
        "instance": None,
        "scope": "board",
    }


importer = SlurmJobExporterImporter()
