"""Tables of months by hours: one row per month, one column per hour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from energy.errors import CatalogueError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from energy.catalogue._tables import Row

HOURS = tuple(f"hour_{hour:02}" for hour in range(24))


def month_hour(rows: Sequence[Row], file: str, name: str) -> NDArray[np.float64]:
    """Return the values of twelve rows as an array that cannot be written; an empty cell is NaN, never zero.

    Raises
    ------
    CatalogueError
        When the rows are not those of the twelve months.

    """
    import numpy as np

    if sorted(row.integer("month") for row in rows) != list(range(1, 13)):
        raise CatalogueError(f"{file}: {name} has not one row for each month.")
    values = np.full((12, 24), np.nan)
    for row in rows:
        for place, column in enumerate(HOURS):
            value = row.maybe_number(column)
            if value is not None:
                values[row.integer("month") - 1, place] = value
    values.setflags(write=False)
    return values
