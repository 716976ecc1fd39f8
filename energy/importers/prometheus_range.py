"""The answer of Prometheus to ``query_range`` (or ``query``): series of DCGM's metrics as JSON, as a stream.

The samples of a series are cut out of the text and read as two columns, several times faster than through JSON values;
what does not look as Prometheus writes it goes through JSON values, with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from energy.errors import InputFileError
from energy.importers.base import Batch, Context, Reject, rejects_table
from energy.importers.convert import Floats, Mask
from energy.importers.dcgm import METRICS, Metric, board_of, value_of
from energy.importers.json_stream import JsonText, as_list
from energy.importers.kinds import columns_of
from energy.importers.reading_rows import LEAST_BOARD_W, LEAST_CODE, MOST_MICROJ, Rows
from energy.importers.text_input import clean, head_text
from energy.importers.times import EARLIEST_MS, LATEST_MS


class PrometheusRangeImporter:
    """Answers of Prometheus."""

    name = "prometheus-range"
    meaning = "Prometheus query_range (JSON) of DCGM metrics: power, energy counter and use of boards"
    kind = "board_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        text = head_text(head).lstrip()
        if text.startswith("{") and re.search(r'"resultType"\s*:\s*"(matrix|vector)"', text):
            return "JSON with resultType matrix or vector, an answer of Prometheus"
        if text.startswith("{") and re.match(r'\{\s*"status"\s*:\s*"(success|error)"', text):
            return "JSON with a status, an answer of Prometheus"
        if re.match(r'\[\s*\{\s*"metric"\s*:', text):
            return "JSON list of series, as promtool writes it"
        return None

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings of boards, series by series; the row number counts the samples of the file."""
        source = JsonText(path, context)
        reader = _Reader(path, context)
        if source.peek() == "[":
            yield from reader.result(source)
        else:
            for key in source.fields():
                yield from reader.part(key, source)
        if source.peek():
            raise InputFileError(f"{path.name}: text follows the JSON: save one answer a file. Nothing was stored.")
        reader.check()


class _Reader:
    """What is known of an answer while it is read."""

    def __init__(self, path: Path, context: Context) -> None:
        self._path = path
        self._context = context
        self._first = 1
        self._series = 0
        self._taken = 0
        self._gaps = 0
        self._refused = 0
        self._error: dict[str, Any] = {}
        self._rows = Rows("board_readings", context)

    def part(self, key: str, source: JsonText) -> Iterator[Batch]:
        """Take one part of the answer."""
        if key == "data" and source.peek() == "{":
            for inner in source.fields():
                yield from self.part(inner, source)
        elif key == "result" and source.peek() == "[":
            yield from self.result(source)
        else:
            self._said(key, source.value())

    def _said(self, key: str, value: Any) -> None:
        if key == "warnings" and value:
            words = "; ".join(clean(item) for item in as_list(value))
            self._context.notes.append(f"{self._path.name}: Prometheus warns: {words}.")
        elif key in ("status", "error", "errorType"):
            self._error[key] = value
        elif key == "resultType" and value not in ("matrix", "vector"):
            raise InputFileError(
                f"{self._path.name} holds a {clean(value, 40)}, not series: save the answer of query_range. "
                "Nothing was stored."
            )
        if self._error.get("status") not in (None, "success") and "error" in self._error:
            self.check()

    def check(self) -> None:
        """Refuse answers that are errors, and answers without a series that could be read.

        Raises
        ------
        InputFileError
            One line with Prometheus's own words, or with the metrics that are read.
        """
        if self._error.get("status") not in (None, "success") or "error" in self._error:
            words = clean(self._error.get("error") or self._error.get("status"))
            raise InputFileError(f"{self._path.name}: Prometheus answered with an error: {words}. Nothing was stored.")
        if not self._series:
            raise InputFileError(
                f"{self._path.name} holds no series: query {' or '.join(METRICS)}. Nothing was stored."
            )
        if self._gaps:
            self._context.notes.append(
                f"{self._path.name}: {self._gaps} samples without value (NaN or a code) are gaps, not zero."
            )

    def result(self, source: JsonText) -> Iterator[Batch]:
        """Take the list of series."""
        for _ in source.items():
            self._series += 1
            if source.peek() != "{":
                yield self._refuse_series(source.value(), "a series must be an object with metric and values")
                continue
            metric: Any = None
            samples: tuple[Floats, Floats] | list[Any] | None = None
            for key in source.fields():
                if key == "values":
                    samples = source.pairs()
                elif key == "value":
                    samples = [source.value()]
                elif key == "metric":
                    metric = source.value()
                else:
                    source.value()
            yield self._one(metric, samples)

    def _refuse_series(self, what: Any, reason: str) -> Batch:
        reject = Reject(self._first, reason, clean(what))
        self._first += 1
        return Batch(columns_of("board_readings").empty_table(), rejects_table([reject]), 1)

    def _one(self, labels: Any, samples: tuple[Floats, Floats] | list[Any] | None) -> Batch:
        if not isinstance(labels, dict) or samples is None:
            return self._refuse_series(labels, "the series has no metric or no values: save the whole answer")
        name = labels.get("__name__")
        metric = METRICS.get(name) if isinstance(name, str) else None
        if metric is None:
            return self._refuse_series(labels, _not_a_metric(name))
        given = {str(key): clean(value, 300) for key, value in labels.items()}
        board = board_of(given)
        if isinstance(board, str):
            return self._refuse_series(labels, board)
        if board["host"] is None:
            board["host"] = clean(getattr(self._context, "host", None) or _target(given), 300) or None
        if board["host"] is None and board["uuid"] is None:
            return self._refuse_series(labels, "the series names no host and no UUID: keep the label Hostname or UUID")
        rejects: list[Reject] = []
        times, values = samples if isinstance(samples, tuple) else self._slow(samples, rejects)
        return self._batch(metric, board, (times, values), rejects)

    def _slow(self, samples: list[Any], rejects: list[Reject]) -> tuple[Floats, Floats]:
        """Read samples one by one; a sample that cannot be read has no time, and its reason is in ``rejects``."""
        times, values = np.full(len(samples), np.nan), np.full(len(samples), np.nan)
        for place, sample in enumerate(samples):
            try:
                moment, value = sample
                times[place], values[place] = _plain_number(moment), _plain_number(value)
            except (TypeError, ValueError, OverflowError):
                times[place] = np.nan
                reason = 'the sample is not [time, "value"]: export it again'
                rejects.append(Reject(self._first + place, reason, clean(sample)))
        return times, values

    def _batch(
        self, metric: Metric, board: dict[str, Any], samples: tuple[Floats, Floats], rejects: list[Reject]
    ) -> Batch:
        times, values = samples
        numbers = np.arange(self._first, self._first + times.size, dtype=np.int64)
        unread = np.isin(numbers, [reject.row_number for reject in rejects])
        self._first += times.size
        self._refused += len(rejects)
        with np.errstate(invalid="ignore", over="ignore"):
            time_ms, scaled = times * 1000.0, values * metric.scale
            timed = (time_ms >= EARLIEST_MS) & (time_ms < LATEST_MS)
            gap = timed & (np.isnan(values) | (values >= LEAST_CODE) & np.isfinite(values))
            code = np.flatnonzero((values >= 0x7FFFFFF0) & (values < (1 << 47) + 4))
        for place in code.tolist():
            gap[place] |= value_of(metric, float(values[place])) is None
        good = timed & ~gap
        self._gaps += int(gap.sum())
        faults = [(~timed & ~unread, "the time is not between 2010 and 2100 in Unix seconds: correct it")]
        faults += [(good & mask, reason) for mask, reason in self._faults(metric, board, scaled)]
        for mask, reason in faults:
            rejects += [
                Reject(int(numbers[place]), reason, f"[{times[place]}, {values[place]}]")
                for place in np.flatnonzero(mask & ~unread).tolist()
            ]
            unread |= mask
            good &= ~mask
        rejects.sort(key=lambda reject: reject.row_number)
        table = _table(metric, board, (numbers[good], time_ms[good], scaled[good]))
        self._taken += table.num_rows
        return Batch(table, rejects_table(rejects), table.num_rows + len(rejects))

    def _faults(self, metric: Metric, board: dict[str, Any], scaled: Floats) -> list[tuple[Mask, str]]:
        not_finite = (~np.isfinite(scaled), "the value is not finite: leave it out")
        below = (scaled < 0, f"{metric.column} is below zero: leave it out")
        if metric.column == "power_milliw":
            most_w, rule = self._rows.limit(board["chip_name_given"])
            zero = (scaled == 0, "0 W of a board that answers is no reading: leave it out; a gap is not zero")
            low = (
                scaled < LEAST_BOARD_W * 1000,
                f"the power is less than any board draws that answers ({LEAST_BOARD_W:g} W): check its unit",
            )
            return [not_finite, below, zero, low, (scaled > most_w * 1000, f"the power is {rule}: check its unit")]
        if metric.column.endswith("_pct"):
            return [not_finite, below, (scaled > 100, "the utilisation is over 100 %: correct it")]
        return [not_finite, below, (scaled >= MOST_MICROJ, "the counter is over 2.5 GWh: check its unit")]


def _plain_number(value: Any) -> float:
    """Return a number as Prometheus writes it; Python would take ``true`` and ``1_0`` for numbers too.

    Raises
    ------
    ValueError
        It is none.
    """
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
        raise ValueError("no number")
    return float(value)


def _not_a_metric(name: object) -> str:
    if not isinstance(name, str):
        return (
            "the series has no __name__: it is the result of an expression, such as rate() or sum(); query the metric "
            f"itself ({', '.join(METRICS)})"
        )
    return f"{clean(name, 80)} is not among the metrics that are read: {', '.join(METRICS)}"


def _target(labels: dict[str, str]) -> str | None:
    """Return the host of a scrape target (``instance``) without its port."""
    target = labels.get("instance", "")
    return target.rpartition(":")[0] if re.search(r":[0-9]{1,5}\Z", target) else target or None


def _table(metric: Metric, board: dict[str, Any], columns: tuple[Any, Floats, Floats]) -> Any:
    import pyarrow as pa

    numbers, time_ms, scaled = columns
    filled: dict[str, Any] = {
        "row_number": pa.array(numbers),
        "time_ms": pa.array(np.rint(time_ms).astype(np.int64)),
        metric.column: pa.array(scaled if metric.column.endswith("_pct") else np.rint(scaled).astype(np.int64)),
    }
    schema = columns_of("board_readings")
    arrays = []
    for field in schema:
        if field.name in filled:
            arrays.append(filled[field.name].cast(field.type))
        else:
            arrays.append(pa.repeat(pa.scalar(board.get(field.name), field.type), len(numbers)))
    return pa.Table.from_arrays(arrays, schema=schema)


importer = PrometheusRangeImporter()
