"""Raw readings beside the ledger: Parquet by site and UTC day, ordered by device and time.

A reading is five numbers: integer device key, time, whole milliwatts, utilisation, whole microjoules. Files are named
by their content and never change; a version lists its files. Reading, ordering, finding duplicates and integrating are
NumPy on one day's arrays, so that memory is bounded by the largest day.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from energy.errors import InputFileError, LedgerError
from energy.importers.base import Reject, rejects_table
from energy.importers.kinds import ACTIVITY
from energy.ledger.store import TELEMETRY_FOLDER
from energy.power.readings import DAY_MS, sort_order

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.ledger.fleet import HostSites

NONE = -1  # stands for "not read" in the integer columns; a reading is never negative
NOT_KNOWN_MS = 0  # an interval that a file with one reading of each device does not tell
_BYTES_IN_MEMORY = 240_000_000
_DAYS_AT_A_TIME = 2
COLUMNS = (
    ("device_key", np.int32),
    ("time_ms", np.int32),
    ("power_milliw", np.int32),
    ("utilisation_pct", np.float32),
    ("energy_microj", np.int64),
    ("counter_microj", np.int64),
    ("counter_range_microj", np.int64),
    ("interval_ms", np.int32),
    ("batch_id", np.int32),
    *((name, np.float32) for name in ACTIVITY),
)
_REPEATING = ["device_key", "utilisation_pct", "interval_ms", "batch_id"]
_READ = ("power_milliw", "energy_microj", "counter_microj", "counter_range_microj", "utilisation_pct", *ACTIVITY)
_OPTIONAL = ("counter_range_microj", *ACTIVITY)  # few files have them
_WIDE = ("energy_microj", "counter_microj", "counter_range_microj")  # most files have none: eight bytes a row less
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class DayFile:
    """One telemetry file of a version."""

    partition_path: str
    content_sha256: str
    site_id: str
    local_date: str
    row_count: int
    by_batch: dict[int, int]


@dataclass(slots=True)
class Staged:
    """What one input file gave: duplicates left out, conflicts refused, rows joined with others of their reading."""

    rejects: list[Any] = field(default_factory=list)
    duplicates: int = 0
    accepted: int = 0
    joined: int = 0
    interval_ms: int = 0
    days: list[DayFile] = field(default_factory=list)


class Stage:
    """Collect the readings of one input file by site and day, then merge them with what the ledger has.

    Parameters
    ----------
    folder : Path
        Ledger folder.
    batch_id : int
        Number of the input file.
    device_key : callable
        (host, index) -> whole number; makes a new one for a device that was not seen before.
    sites : HostSites
        Site of each reading.
    interval_ms : int or None
        Sampling interval if the mapping gives it, else found in the file.
    usual_ms : int or None
        What stands for the interval of a file with one reading of each device; given for formats whose quantities may
        come in rows of their own.
    """

    def __init__(
        self,
        folder: Path,
        batch_id: int,
        device_key: Callable[[str, int], int],
        sites: HostSites,
        interval_ms: int | None,
        usual_ms: int | None = None,
    ) -> None:
        self._usual_ms = usual_ms
        self._folder = folder
        self._batch_id = batch_id
        self._device_key = device_key
        self._sites = sites
        self._interval_ms = interval_ms
        self._parts: dict[tuple[str, int], list[Arrays]] = {}
        self._spilled: dict[tuple[str, int], list[Path]] = {}
        self._bytes = 0
        self._spill_folder = folder / ".build-stage"

    def add(self, table: pa.Table) -> None:
        """Take one batch of the power importer."""
        self.add_placed(table, self._devices(table))

    def add_placed(self, table: pa.Table, device: npt.NDArray[np.int32]) -> None:
        """Take readings whose devices are known already."""
        time_ms = _numbers(table, "time_ms", np.int64, 0)
        host = table.column("host").combine_chunks()
        self._collect(table, device, self._sites.codes(host, time_ms))

    def _collect(self, table: pa.Table, device: npt.NDArray[np.int32], site: npt.NDArray[np.int32]) -> None:
        time = _numbers(table, "time_ms", np.int64, 0)
        arrays: Arrays = {
            "device_key": device,
            "time_ms": (time % DAY_MS).astype(np.int32),
            "power_milliw": _numbers(table, "power_milliw", np.int32, NONE),
            "utilisation_pct": _numbers(table, "utilisation_pct", np.float32, np.nan),
            "row_number": _numbers(table, "row_number", np.uint32, 0),
        }
        for name in _WIDE:
            if name in table.column_names and table.column(name).null_count < table.num_rows:
                arrays[name] = _numbers(table, name, np.int64, NONE)
        for name in ACTIVITY:
            if name in table.column_names and table.column(name).null_count < table.num_rows:
                arrays[name] = _numbers(table, name, np.float32, np.nan)
        day = time // DAY_MS
        sites, _ = _distinct(site)
        for site_number in sites.tolist():
            of_site = site == site_number if sites.size > 1 else None
            days, _ = _distinct(day if of_site is None else day[of_site])
            for number in days.tolist():
                mask = day == number if days.size > 1 else np.ones(day.size, bool)
                if of_site is not None:
                    mask &= of_site
                picked = arrays if mask.all() else {name: values[mask] for name, values in arrays.items()}
                self._parts.setdefault((self._sites.names[site_number], number), []).append(picked)
        self._bytes += sum(values.nbytes for values in arrays.values())
        if self._bytes > _BYTES_IN_MEMORY:
            self._spill()

    def _devices(self, table: pa.Table) -> npt.NDArray[np.int32]:
        """Return the device key of each row by one look-up per distinct (host, index)."""
        host = table.column("host").combine_chunks()
        names = host.dictionary.to_pylist()
        code = np.asarray(host.indices).astype(np.int64)
        index = _numbers(table, "device_index", np.int64, 0)
        width = int(index.max()) + 1 if index.size else 1
        combined = code * width + index
        size = len(names) * width
        if size <= 1 << 22:  # a table of all pairs is faster than sorting the rows
            present = np.zeros(size, bool)
            present[combined] = True
            distinct = np.flatnonzero(present)
        else:
            distinct = np.unique(combined)
        keys = np.zeros(distinct.size, np.int32)
        for position, pair in enumerate(distinct.tolist()):
            keys[position] = self._device_key(names[pair // width], pair % width)
        if size <= 1 << 22:
            at = np.zeros(size, np.int32)
            at[distinct] = np.arange(distinct.size, dtype=np.int32)
            position_of = at[combined]
        else:
            position_of = np.searchsorted(distinct, combined)
        of_rows: npt.NDArray[np.int32] = keys[position_of]
        return of_rows

    def _spill(self) -> None:
        """Write the collected parts to disk: a file larger than memory passes through here."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._spill_folder.mkdir(exist_ok=True)
        for key, parts in self._parts.items():
            merged = together(parts)
            part = len(self._spilled.get(key, []))
            path = self._spill_folder / f"{self._batch_id}-{key[1]}-{part}-{_slug(key[0])}.parquet"
            pq.write_table(pa.table(merged), path, compression="none", use_dictionary=False)
            self._spilled.setdefault(key, []).append(path)
        self._parts.clear()
        self._bytes = 0

    def finish(self, current: dict[tuple[str, int], str]) -> Staged:
        """Merge with the ledger's files of the same site and day, write the new files, and report.

        Parameters
        ----------
        current : dict
            (site, day number) -> path of the version's file.
        """
        result = Staged()
        keys = sorted({*self._parts, *self._spilled})
        if self._interval_ms is None and keys:
            self._interval_ms = self._usual_step(keys)
        # ordering and compressing days leave Python's lock: two days at a time, results in the order of the days
        with ThreadPoolExecutor(_DAYS_AT_A_TIME) as pool:
            for part in pool.map(lambda key: self._merge(key, current.get(key)), keys):
                result.rejects += part.rejects
                result.duplicates += part.duplicates
                result.accepted += part.accepted
                result.joined += part.joined
                result.days += part.days
                result.interval_ms = self._interval_ms or 0
        shutil.rmtree(self._spill_folder, ignore_errors=True)
        return result

    def _day(self, key: tuple[str, int]) -> Arrays:
        """Return the collected readings of one site and day, in order."""
        return merge_days([_load(path) for path in self._spilled.get(key, [])] + self._parts.get(key, []))

    def _usual_step(self, keys: list[tuple[str, int]]) -> int:
        """Return the most frequent step between readings of one device, of the first day that has any."""
        for key in keys:
            rows = self._day(key)
            step = np.diff(rows["time_ms"])[np.diff(rows["device_key"]) == 0]
            step = step[step > 0]
            if step.size:
                values, count = np.unique(step, return_counts=True)
                return int(values[np.argmax(count)])
        if self._usual_ms is not None:
            return self._usual_ms
        raise InputFileError(
            "the sampling interval cannot be found: no device has two readings in a day. Set `interval: 60 s` in a "
            "mapping. Nothing was stored."
        )

    def _merge(self, key: tuple[str, int], known_path: str | None) -> Staged:
        """Merge one site's day with what is stored of it, and write it."""
        new = self._day(key)
        self._parts.pop(key, None)
        size = new["time_ms"].size
        new["interval_ms"] = np.full(size, self._interval_ms, np.int32)
        new["batch_id"] = np.full(size, self._batch_id, np.int32)
        if self._usual_ms is not None:  # formats whose quantities come in rows of their own
            new = self._one_row_each(new)
        joined, size = size - new["time_ms"].size, new["time_ms"].size
        merged = new
        if known_path is not None:
            known = read_all(self._folder / known_path)
            known["row_number"] = np.zeros(known["time_ms"].size, np.uint32)
            merged = merge_days([known, new])
        keep, duplicates, rejects = _judge(merged, key, self._batch_id)
        kept = merged if keep.all() else {name: values[keep] for name, values in merged.items()}
        day = write_day(self._folder, key, kept)
        refused = [rejects_table(rejects)] if rejects else []
        return Staged(refused, duplicates, size - duplicates - len(rejects), joined, 0, [day])

    def _one_row_each(self, new: Arrays) -> Arrays:
        """Combine rows of one device and time that do not contradict each other; the others are left to be judged."""
        same = _repeats(new)
        if not same.any():
            return new
        together, group = combined(new), np.cumsum(~same) - 1
        odd = np.zeros(same.size, bool)
        for name in _quantities(new):
            odd |= ~(_absent(new[name]) | (new[name] == together[name][group]))
        if not odd.any():
            return together
        calm = {name: values[~odd] for name, values in new.items()}
        loud = {name: values[odd] for name, values in new.items()}
        return merge_days([combined(calm), loud])


def together(parts: list[Arrays]) -> Arrays:
    """Return parts one after the other; a quantity that some part has is "not read" in the others."""
    if len(parts) == 1:
        return parts[0]
    names = list(dict.fromkeys(name for part in parts for name in part))
    return {
        name: np.concatenate([part[name] if name in part else not_read(name, part["time_ms"].size) for part in parts])
        for name in names
    }


def not_read(name: str, size: int) -> npt.NDArray[Any]:
    """Return a column of a quantity that nobody read."""
    return np.full(size, np.nan, np.float32) if name in ACTIVITY else np.full(size, NONE, np.int64)


def merge_days(parts: list[Arrays]) -> Arrays:
    """Return readings of one day in the order of device and time; of equal ones the earlier part comes first."""
    both = together(parts)
    order = sort_order(both["device_key"], both["time_ms"].astype(np.int64))
    if bool(np.all(order[1:] > order[:-1])):  # in order already: no copy
        return both
    return {name: values[order] for name, values in both.items()}


def _distinct(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the distinct whole numbers of a narrow range, ascending, and how often each occurs."""
    least = int(values.min())
    count = np.bincount(values.astype(np.int64) - least)
    present = np.flatnonzero(count)
    return present + least, count[present]


def _load(path: Path) -> Arrays:
    import pyarrow.parquet as pq

    table = pq.read_table(path, partitioning=None)
    return {name: np.asarray(table.column(name).combine_chunks()) for name in table.column_names}


def _slug(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _numbers(table: pa.Table, name: str, kind: Any, missing: Any) -> npt.NDArray[Any]:
    column = table.column(name).combine_chunks()
    if column.null_count:
        column = column.fill_null(0)
        values = np.asarray(column).astype(kind)
        values[np.asarray(table.column(name).combine_chunks().is_null())] = missing
        return values
    return np.asarray(column).astype(kind, copy=False)


def _repeats(rows: Arrays) -> npt.NDArray[np.bool_]:
    """Return which readings have the device and time of the one before."""
    same = np.zeros(rows["time_ms"].size, bool)
    same[1:] = (rows["device_key"][1:] == rows["device_key"][:-1]) & (rows["time_ms"][1:] == rows["time_ms"][:-1])
    return same


def _quantities(rows: Arrays) -> list[str]:
    return [name for name in _READ if name in rows]


def _absent(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    absent: npt.NDArray[np.bool_] = np.isnan(values) if values.dtype == np.float32 else values == NONE
    return absent


def combined(rows: Arrays) -> Arrays:
    """Return one row for each device and time: what several rows of it say together.

    Power, utilisation, energy and counter of one reading may come in rows or files of their own. Where two rows say
    different things of the same quantity, the first one counts.
    """
    same = _repeats(rows)
    if not same.any():
        return rows
    first = np.flatnonzero(~same)
    out = {name: values[first] for name, values in rows.items()}
    group = np.cumsum(~same) - 1
    for name in _quantities(rows):
        values = rows[name]
        said = np.flatnonzero(~_absent(values))
        # the first that says something of its group, written last to first
        out[name] = np.full(first.size, np.nan if values.dtype == np.float32 else NONE, values.dtype)
        out[name][group[said[::-1]]] = values[said[::-1]]
    if "interval_ms" in rows:
        told = np.maximum.reduceat(rows["interval_ms"], first)
        out["interval_ms"] = np.where(out["interval_ms"] == NOT_KNOWN_MS, told, out["interval_ms"])
    return out


def _judge(rows: Arrays, key: tuple[str, int], batch_id: int) -> tuple[npt.NDArray[np.bool_], int, list[Reject]]:
    """Tell which readings to store, how many fresh ones are duplicates, and which contradict the first of their time.

    An equal reading of another file is stored under its own batch, and left out when a day is read: taking one of two
    overlapping files back then leaves what the other one says.
    """
    same = _repeats(rows)
    if not same.any():
        return ~same, 0, []
    fresh = rows["batch_id"] == batch_id
    first = np.maximum.accumulate(np.where(same, 0, np.arange(same.size)))
    equal, agrees = np.ones(same.size, bool), np.ones(same.size, bool)
    for name in _quantities(rows):
        values, before = rows[name], rows[name][first]
        is_same = (values == before) | (_absent(values) & _absent(before))
        equal &= is_same
        agrees &= is_same | _absent(values) | _absent(before)  # one file may give power, another the counter
    odd = same & fresh & ~agrees
    rejects = [_contradiction(rows, key, row, int(first[row]), batch_id) for row in np.flatnonzero(odd).tolist()]
    group = np.cumsum(~same | ~equal)
    again = np.zeros(same.size, bool)  # a second equal reading of the same file
    of_fresh = np.flatnonzero(fresh & ~odd)
    again[of_fresh[1:]] = group[of_fresh[1:]] == group[of_fresh[:-1]]
    return ~odd & ~again, int((same & fresh & equal).sum()), rejects


def _contradiction(rows: Arrays, key: tuple[str, int], row: int, first: int, batch_id: int) -> Reject:
    moment = datetime.fromtimestamp((key[1] * DAY_MS + int(rows["time_ms"][row])) / 1000, UTC)
    there, whose = _said(rows, first), int(rows["batch_id"][first])
    at = f"another reading of the same device at {moment:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"
    if whose == batch_id:
        reason = f"{at} is in row {int(rows['row_number'][first])} of this file ({there}): keep the right one"
    else:
        reason = (
            f"{at} is stored ({there}): if this one is right, take that file back first with `energy withdraw {whose}`"
        )
    return Reject(int(rows["row_number"][row]), reason, _said(rows, row))


def _said(rows: Arrays, row: int) -> str:
    power, used = rows["power_milliw"][row], rows["utilisation_pct"][row]
    energy, counter, span = (int(rows[name][row]) if name in rows else NONE for name in _WIDE)
    parts = [f"{power / 1000:g} W"] if power != NONE else []
    parts += [f"{energy / 1e6:g} J"] if energy != NONE else []
    parts += [f"counter {counter / 1e6:.16g} J"] if counter != NONE else []
    parts += [f"of a range of {span / 1e6:.16g} J"] if span != NONE else []
    parts += [f"{used:g} % used"] if not np.isnan(used) else []
    for name in (name for name in ACTIVITY if name in rows and not np.isnan(rows[name][row])):
        parts.append(f"{name.removesuffix('_pct').replace('_', ' ')} {rows[name][row]:g} %")
    return ", ".join(parts)


def day_text(number: int) -> str:
    """Return the date of a day number.

    Examples
    --------
    >>> day_text(0)
    '1970-01-01'

    """
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=number)).strftime("%Y-%m-%d")


def day_number(text: str) -> int:
    """Return the day number of a date."""
    return (datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days


def write_day(folder: Path, key: tuple[str, int], rows: Arrays) -> DayFile:
    """Write one day's ordered readings; the name of the file is the hash of its content."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    site_id, number = key
    arrays = {}
    for name, kind in COLUMNS:
        if name not in rows:
            arrays[name] = pa.nulls(rows["time_ms"].size, pa.from_numpy_dtype(kind))
            continue
        values = rows[name].astype(kind, copy=False)
        missing = np.isnan(values) if kind is np.float32 else values == NONE
        arrays[name] = pa.array(values, mask=missing if bool(missing.any()) else None)
    base = folder / TELEMETRY_FOLDER / f"site={site_id}" / f"date={day_text(number)}"
    base.mkdir(parents=True, exist_ok=True)
    staged = base / ".staged.parquet"
    # watts and times hardly repeat: without a dictionary they are written in half the time, and are smaller
    pq.write_table(pa.table(arrays), staged, compression="zstd", write_statistics=False, use_dictionary=_REPEATING)
    with staged.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    path = base / f"part-{digest[:16]}.parquet"
    staged.replace(path)
    batches, count = _distinct(rows["batch_id"])
    return DayFile(
        str(path.relative_to(folder)),
        digest,
        site_id,
        day_text(number),
        int(rows["time_ms"].size),
        dict(zip(batches.tolist(), count.tolist(), strict=True)),
    )


def read_all(path: Path) -> Arrays:
    """Read one day's rows as arrays in the order of device and time, those that several files gave as well.

    The range of counters and the activity of parts are there only where some file of the day tells them.

    Raises
    ------
    LedgerError
        The file is gone or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise LedgerError(
            f"{path} is gone or damaged ({' '.join(str(error).split())[:80]}): put it back from a copy of the ledger."
        ) from error
    return {
        name: _numbers(table, name, kind, np.nan if kind is np.float32 else NONE)
        for name, kind in COLUMNS
        if name not in _OPTIONAL or (name in table.column_names and table.column(name).null_count < table.num_rows)
    }


def read_day(path: Path) -> Arrays:
    """Read one day's readings as arrays in the order of device and time, each once."""
    return combined(read_all(path))
