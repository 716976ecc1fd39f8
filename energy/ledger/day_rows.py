"""Readings of one UTC day with what it must know of the day before and after, each file read once.

Telemetry lies in files by site and day, but a reading stands until the next one, also over midnight. Each day therefore
gets the last readings of the day before and the first of the day after (``power.counters.boundary_rows``) of the
devices that it has readings of, with times in ms of the day itself: below 0, and from 86,400,000 up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from energy.ledger.telemetry import NONE, NOT_KNOWN_MS, Arrays, combined, not_read, read_day, together
from energy.power.counters import boundary_rows
from energy.power.readings import DAY_MS, sort_order

_ALONE_MS = 30_000  # a device that was read once in a day: what exporters are collected at by default
_LEFT_OUT = ("batch_id", "row_number")


class DayRows:
    """Reads days in ascending order; at most two days are in memory.

    Parameters
    ----------
    folder : Path
        Ledger folder.
    paths : dict
        Day number -> files of that day.
    """

    def __init__(self, folder: Path, paths: dict[int, list[str]]) -> None:
        self._folder = folder
        self._paths = paths
        self._rows: dict[int, list[Arrays]] = {}
        self._edges: dict[tuple[int, bool], Arrays | None] = {}

    def of(self, number: int) -> list[Arrays]:
        """Return the readings of one day, parts without common devices, in the order of device and time."""
        before, after = self._edge(number - 1, at_end=True), self._edge(number + 1, at_end=False)
        self._edge(number, at_end=True)
        parts = [_joined(rows, before, after) for rows in self._day(number)]
        self._rows = {day: rows for day, rows in self._rows.items() if day > number}
        self._edges = {key: edge for key, edge in self._edges.items() if key[0] >= number}
        return parts

    def _day(self, number: int) -> list[Arrays]:
        if number not in self._rows:
            self._rows[number] = _day_rows(self._folder, self._paths[number])
        return self._rows[number]

    def _edge(self, number: int, *, at_end: bool) -> Arrays | None:
        """Return the last or first readings of a day, with times in ms of the day after or before it."""
        key = (number, at_end)
        if number not in self._paths:
            return None
        if key not in self._edges:
            parts = [_edge_of(rows, at_end=at_end) for rows in self._day(number)]
            edge = together(parts)
            order = sort_order(edge["device_key"], edge["time_ms"].astype(np.int64))
            edge = {name: values[order] for name, values in edge.items()}
            edge["time_ms"] = edge["time_ms"] + np.int32(-DAY_MS if at_end else DAY_MS)
            self._edges[key] = edge
        return self._edges[key]


def _edge_of(rows: Arrays, *, at_end: bool) -> Arrays:
    at = boundary_rows(rows["device_key"], rows["time_ms"], rows["counter_microj"], at_end=at_end)
    return {name: values[at] for name, values in rows.items()}


def _joined(rows: Arrays, before: Arrays | None, after: Arrays | None) -> Arrays:
    """Put the neighbours' readings of the devices of a day to its own."""
    device = rows["device_key"]
    known = device[np.append(True, device[1:] != device[:-1])]
    parts = [_of_devices(edge, known) for edge in (before, after) if edge is not None]
    parts = [part for part in parts if part["time_ms"].size]
    if not parts:
        return rows
    # the readings after a device's day stand before those of the day before of the next device
    extra = together(parts)
    order = np.lexsort((extra["time_ms"], extra["device_key"]))
    key = extra["device_key"][order]
    first, last = np.searchsorted(device, key, side="left"), np.searchsorted(device, key, side="right")
    at = np.where(extra["time_ms"][order] < 0, first, last)
    rows = rows | {name: not_read(name, device.size) for name in extra if name not in rows}
    joined = {}
    for name, values in rows.items():
        added = extra[name][order] if name in extra else not_read(name, at.size)
        if values.dtype == np.int64 and max(int(values.max()), int(added.max())) == NONE:
            joined[name] = np.full(values.size + at.size, NONE, np.int64)  # several times faster than to insert
        else:
            joined[name] = np.insert(values, at, added)
    return joined


def _of_devices(edge: Arrays, known: np.ndarray) -> Arrays:
    mine = np.isin(edge["device_key"], known)
    return edge if mine.all() else {name: values[mine] for name, values in edge.items()}


def _day_rows(folder: Path, paths: list[str]) -> list[Arrays]:
    """Read the files of one day; where a host changed its site between two files, its boards still count once."""
    days = [read_day(folder / path) for path in paths]
    devices = [np.unique(rows["device_key"]) for rows in days]
    if len(days) > 1 and np.unique(np.concatenate(devices)).size < sum(keys.size for keys in devices):
        # of two readings of one device and time the one that was stored first counts, as it does within a file
        days.sort(key=lambda rows: int(rows["batch_id"].min()))
        both = together(days)
        order = sort_order(both["device_key"], both["time_ms"].astype(np.int64))
        days = [combined({name: values[order] for name, values in both.items()})]
    for rows in days:
        _set_intervals(rows)
    return [{name: values for name, values in rows.items() if name not in _LEFT_OUT} for rows in days]


def _set_intervals(rows: Arrays) -> None:
    """Give readings of files that do not tell their interval the most frequent step between such readings that day."""
    unknown = rows["interval_ms"] == NOT_KNOWN_MS
    if not unknown.any():
        return
    step = np.diff(rows["time_ms"])
    step = step[(np.diff(rows["device_key"]) == 0) & unknown[1:] & unknown[:-1]]
    values, count = np.unique(step, return_counts=True)
    usual = int(values[np.argmax(count)]) if step.size else _ALONE_MS
    rows["interval_ms"] = np.where(unknown, usual, rows["interval_ms"]).astype(np.int32)
