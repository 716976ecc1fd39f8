"""Ranges around a step time, from the errors of published runs whose source was left out of the fit.

A band is symmetric in the logarithm: low = time / exp(w), high = time * exp(w). The half width w comes from the most
special group that has rows: the stack on the chip family, else the stack, else the chip family, else all; what the
stack was never seen on widens it.
"""

from __future__ import annotations

from collections.abc import Mapping

from energy.catalogue import _tables
from energy.errors import CostError

#: No band is narrower: repeats of one run differ by about that.
FLOOR_LN80, FLOOR_LN95 = 0.05, 0.10
#: Groups from the most special to all, and how much wider their band is for a scenario that no closer one covers.
ORDER = ("stack_kind_chip", "stack_chip", "stack", "chip", "all")
WIDER = {"chip": 1.1, "all": 1.1}


def half_widths(keys: Mapping[str, str], table: Mapping[tuple[str, str], _tables.Row]) -> tuple[float, float]:
    """Return the half widths of ln time, 80 % and 95 %, of a scenario given by the keys of its terms.

    Raises
    ------
    CostError
        When the table has no row for all stacks.

    Examples
    --------
    >>> from energy.cost.stack import _fitted
    >>> known = half_widths({"stack_chip": "nemo|Hopper", "stack": "nemo", "chip": "Hopper", "all": ""}, _fitted())
    >>> nobody = half_widths({"stack_chip": "new|New", "stack": "new", "chip": "New", "all": ""}, _fitted())
    >>> known[0] < nobody[0] < nobody[1]
    True

    """
    for name in ORDER:
        row = table.get((name, keys.get(name, "")))
        if row is None or row.maybe_number("ln_half_width80") is None:
            continue
        wider = WIDER.get(name, 1.0)
        near, far = row.number("ln_half_width80") * wider, row.number("ln_half_width95") * wider
        return max(near, FLOOR_LN80), max(far, FLOOR_LN95)
    raise CostError("The table of stack factors has no row for all stacks: run scripts/fit_training.py.")
