"""Packages of several dies (MI250, MI250X): a tool shows each die as a device, and one die reports for all.

The ledger counts packages, as the catalogue does: rows of dies become rows of their package, once for each time. The
rule is that of `energy.power.scopes.package_power`, over many packages and times at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from energy.importers.base import Reject
from energy.power.scopes import dies_of

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.importers import HostPeriod
    from energy.ledger.fleet import Hosts

#: Formats whose devices are dies, whatever ``site.yaml`` counts.
BY_DIE = ("amd-smi",)
_POWER = ("power_milliw", "energy_microj", "counter_microj")
#: Readings of two dies that differ by less are the same reading of their package.
_SAME = 0.01


class Packages(NamedTuple):
    """Rows with each package once, rows that were refused, and how many were of dies whose package was read already."""

    table: pa.Table
    rejects: list[Reject]
    joined: int


def dies_of_period(period: HostPeriod, *, by_die: bool) -> int:
    """Return how many devices of a log make one package on a host: as its format counts, or as ``site.yaml`` states."""
    if by_die and period.chip_id is not None:
        return dies_of(period.chip_id)
    return period.dies


def most_devices(period: HostPeriod, *, by_die: bool) -> int:
    """Return how many devices a log may show of a host."""
    return period.chip_count // period.dies * dies_of_period(period, by_die=by_die)


def not_stated(table: pa.Table, hosts: Hosts) -> set[str]:
    """Return hosts whose dies in a table of a format that numbers dies are no more than ``chips`` of ``site.yaml``.

    There ``chips`` counts packages, and half of them were not read: or it counts dies, and should say so.
    """
    import pyarrow as pa

    host = table.column("host").combine_chunks().cast(pa.string())
    read = pa.table({"host": host, "device_index": table.column("device_index")})
    highest = read.group_by("host").aggregate([("device_index", "max")]).to_pylist()
    return {
        row["host"]
        for row in highest
        for period in hosts[row["host"]]
        if period.dies < dies_of_period(period, by_die=True)
        and row["device_index_max"] is not None
        and period.chip_count > 1
        and row["device_index_max"] + 1 == period.chip_count
    }


def once_each(table: pa.Table, hosts: Hosts, *, by_die: bool) -> Packages:
    """Return readings with each package of several dies once for each time, under the number of the package.

    Parameters
    ----------
    table : pyarrow.Table
        Readings of boards with host, device and time.
    hosts : mapping
        What each host is.
    by_die : bool
        The format numbers dies; else ``site.yaml`` says what is numbered.

    Returns
    -------
    Packages
        Power of the die that reports; use is the mean of the dies. A die without power beside one that reports says
        nothing; of two that report the same, one counts, and a second that differs is refused.
    """
    several = [
        name for name, periods in hosts.items() if any(dies_of_period(one, by_die=by_die) > 1 for one in periods)
    ]
    if not several:
        return Packages(table, [], 0)
    text = np.asarray(table.column("host").to_pylist(), dtype=object)
    index = np.asarray(table.column("device_index").to_pylist(), dtype=object)
    time = np.asarray(table.column("time_ms").combine_chunks(), dtype=np.int64)
    dies = np.ones(text.size, np.int64)
    for name in several:
        of_host = (text == name) & (index != np.array(None))
        for period in hosts[name]:
            begin = -np.inf if period.from_ms is None else period.from_ms
            finish = np.inf if period.to_ms is None else period.to_ms
            dies[of_host & (time >= begin) & (time < finish)] = dies_of_period(period, by_die=by_die)
    at = np.flatnonzero(dies > 1)
    if not at.size:
        return Packages(table, [], 0)
    die = index[at].astype(np.int64)
    number = die // dies[at]
    _, host = np.unique(text[at].astype(str), return_inverse=True)
    _, group = np.unique(np.stack([host, number, time[at]]), axis=1, return_inverse=True)
    return _joined(table, at, np.asarray(group).ravel(), number, die % dies[at] == 0)


def _joined(
    table: pa.Table,
    at: npt.NDArray[np.intp],
    group: npt.NDArray[np.intp],
    number: npt.NDArray[np.int64],
    is_first: npt.NDArray[np.bool_],
) -> Packages:
    read = {name: _numbers(table, name)[at] for name in _POWER if name in table.column_names}
    reports = np.zeros(at.size, bool)
    for values in read.values():
        reports |= values > 0.0
    # of each package and time: the first that reports, else its first row
    order = np.lexsort((np.arange(at.size), ~reports, group))
    chosen = order[np.append(True, np.diff(group[order]) != 0)]
    chief = chosen[group]
    rest = np.ones(at.size, bool)
    rest[chosen] = False
    odd = np.zeros(at.size, bool)
    for values in read.values():
        both = rest & reports & (values > 0.0) & (values[chief] > 0.0)
        odd |= both & ~(np.abs(values - values[chief]) <= _SAME * np.maximum(values, values[chief]))
    rejects = [
        Reject(row, "two dies of a package report power at this time: give what the whole package draws, once", "")
        for row in _numbers(table, "row_number")[at[odd]].astype(np.int64).tolist()
    ]
    use = _mean_use(_numbers(table, "utilisation_pct")[at], group)
    # a die that stands alone in this part of the file and reports nothing has its package in another part
    says = reports | (~np.isnan(use[group]) & is_first) | (np.bincount(group)[group] > 1) & ~np.isnan(use[group])
    drop = rest | ~says
    keep = np.ones(table.num_rows, bool)
    keep[at[drop]] = False
    changed = _changed(table, at, number, reports, use[group])
    import pyarrow as pa

    return Packages(changed.filter(pa.array(keep)), rejects, int((drop & ~odd).sum()))


def _mean_use(use: npt.NDArray[np.float64], group: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    told = ~np.isnan(use)
    count = np.bincount(group, weights=told)
    total = np.bincount(group, weights=np.where(told, use, 0.0))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _changed(
    table: pa.Table,
    at: npt.NDArray[np.intp],
    number: npt.NDArray[np.int64],
    reports: npt.NDArray[np.bool_],
    use: npt.NDArray[np.float64],
) -> pa.Table:
    """Return the table with numbers of packages, mean use, no names of dies, no zero of a silent die."""
    import pyarrow as pa
    import pyarrow.compute as pc

    here = np.zeros(table.num_rows, bool)
    here[at] = True
    silent = np.zeros(table.num_rows, bool)
    silent[at[~reports]] = True
    new = {"device_index": np.zeros(table.num_rows, np.int64), "utilisation_pct": np.full(table.num_rows, np.nan)}
    new["device_index"][at], new["utilisation_pct"][at] = number, use
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if name in new:
            values = pa.array(new[name], from_pandas=True).cast(column.type)
            column = pc.if_else(pa.array(here), values, column)
        elif name in ("uuid", "serial"):
            column = pc.if_else(pa.array(here), pa.scalar(None, column.type), column)
        elif name in _POWER:
            column = pc.if_else(pa.array(silent), pa.scalar(None, column.type), column)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _numbers(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """Return a column as numbers, NaN where it is null."""
    import pyarrow as pa

    column = table.column(name).combine_chunks().cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
