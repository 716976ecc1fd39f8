"""Runs of known formats: their chips by log and fleet, and the table of kind ``jobs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import AmbiguousNameError, UnknownNameError
from energy.importers.base import Batch, Context
from energy.importers.convert import Floats, Ints, Mask, Refusals, Words
from energy.importers.kinds import columns_of
from energy.importers.places import Places
from energy.importers.tabular import RawBatch

if TYPE_CHECKING:
    import pyarrow as pa


class OnRuns(Refusals):
    """Refuses whole runs where checks are made on their rows: one run may stand on several hosts, a row each."""

    def __init__(self, refusals: Refusals, run: Ints, runs: int) -> None:
        self._of_runs = refusals
        self._run = run
        self._runs = runs

    def add(self, row: int, reason: str) -> None:
        """Refuse the run of one row."""
        self._of_runs.add(int(self._run[row]), reason)

    def add_where(self, mask: Mask, reason: str) -> None:
        """Refuse the runs of every row of the mask."""
        if mask.any():
            refused = np.zeros(self._runs, bool)
            refused[self._run[mask]] = True
            self._of_runs.add_where(refused, reason)

    def add_each(self, mask: Mask, reason: Any) -> None:
        """Refuse the run of every row of the mask; ``reason`` takes the row's place and returns its own words."""
        for row in np.flatnonzero(mask).tolist():
            self.add(row, reason(row))


class Held(Refusals):
    """Keeps reasons instead of refusing: for values that another column may replace."""

    def __init__(self, raw: RawBatch) -> None:
        super().__init__(raw)
        self.reasons: dict[int, str] = {}

    def add(self, row: int, reason: str) -> None:
        """Keep the first reason of one row."""
        self.reasons.setdefault(row, reason)

    def add_where(self, mask: Mask, reason: str) -> None:
        """Keep the reason for every row of the mask."""
        for row in np.flatnonzero(mask).tolist():
            self.add(row, reason)

    def add_each(self, mask: Mask, reason: Any) -> None:
        """Keep the reason for every row of the mask."""
        for row in np.flatnonzero(mask).tolist():
            self.add(row, reason(row))


def chips_of_runs(given: Words, host: Words, at: Places, context: Context, refusals: Refusals) -> Words:
    """Return each row's chip: as the log names it where the catalogue knows one such chip, else the host's.

    Schedulers call chips by labels of the site (``a100``, ``gpu80``), which may fit several chips or none; then the
    fleet says which. A name that contradicts the host's chip is refused, and a name that nothing explains too.
    """
    installed = at.chips()
    ids = {name: place for place, name in enumerate(installed.names)}
    code = installed.code.copy()
    for place, name in enumerate(given.names):
        rows = given.code == place
        if not rows.any():
            continue
        try:
            chip_id = context.chip_of_name(name, None)
        except UnknownNameError as error:
            _by_fleet(error, rows, installed, refusals)
            continue
        if chip_id is None:
            code[rows] = -1
            continue
        mine = ids.setdefault(chip_id, len(ids))
        refusals.add_each(
            rows & (installed.code >= 0) & (installed.code != mine),
            lambda row, chip_id=chip_id: (
                f"the log says {chip_id}, site.yaml or the inventory gives host {host.names[host.code[row]]} "
                f"{installed.names[installed.code[row]]}: correct one"
            ),
        )
        code[rows] = mine
    return Words(code, list(ids))


def _by_fleet(error: UnknownNameError, rows: Mask, installed: Words, refusals: Refusals) -> None:
    """Refuse the rows of a name that is not one chip, except where the host's chip settles it."""
    if isinstance(error, AmbiguousNameError):  # its message lists the chips that the name may mean
        said = str(error)
        fits = installed.where([name in said for name in installed.names])
    else:
        fits = installed.code >= 0
    refusals.add_where(rows & ~fits, str(error))


def check_chip_count(count: Floats, limit: Floats, refusals: Refusals) -> None:
    """Refuse a run with more chips on a host than the host has."""
    refusals.add_each(
        count > limit * (1 + 1e-9),
        lambda row: (
            f"the job takes {count[row]:g} chips of a host that has {limit[row]:g}: correct the log or site.yaml"
        ),
    )


def moments(values: Ints, present: Mask) -> pa.Array:
    """Return ms since 1970 UTC as times; null where there is none.

    Examples
    --------
    >>> moments(np.array([1000]), np.array([True]))[0].as_py().isoformat()
    '1970-01-01T00:00:01+00:00'

    """
    import pyarrow as pa

    return pa.array(values, pa.int64(), mask=~present).cast(pa.timestamp("ms", "UTC"))


def jobs_batch(refusals: Refusals, run: Ints, columns: dict[str, Any], rows_read: int) -> Batch:
    """Return the rows of accepted runs with the columns of kind ``jobs``, and the refused runs.

    ``run`` is the run of each row; columns that are not given are null.
    """
    import pyarrow as pa

    runs = int(run[-1]) + 1 if run.size else 0
    kept = refusals.batch({"run": pa.array(np.arange(max(runs, 0), dtype=np.int64))})
    number = np.zeros(runs, np.int64)
    accepted = np.asarray(kept.table.column("run").combine_chunks())
    number[accepted] = np.asarray(kept.table.column("row_number").combine_chunks())
    chosen = np.zeros(runs, bool)
    chosen[accepted] = True
    schema = columns_of("jobs")
    filled = {"row_number": pa.array(number[run]), **columns}
    arrays = [filled[name] if name in filled else pa.nulls(run.size, schema.field(name).type) for name in schema.names]
    table = pa.table(arrays, names=schema.names)
    if accepted.size < runs:
        table = table.filter(pa.array(chosen[run]))
    return Batch(table.cast(schema), kept.rejects, rows_read)
