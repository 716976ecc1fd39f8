"""What the suites found, small enough to ship: statistics by suite and group, and errors counted in bins.

The reference rows themselves are not part of the package: some of their publishers do not allow it. What is kept is our
own: how far off we are, how often, at which size, and why rows were not answered.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from energy.resources import resource
from energy.validation.statistics import Compared, Outcome, document

#: Groups with more values than this are sources and the like.
_MOST_VALUES = 16
_ACROSS, _STEP_PCT, _MOST_PCT = 28, 5.0, 60.0
_MOST_REASONS = 12
FILE = "validation/results.json"


def summary(outcome: Outcome) -> dict[str, Any]:
    """Return what ships of a suite.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    dict
        The statistics of ``validation/1``; ``groups`` with few values; ``reasons`` of rows that were not answered with
        their count; ``quantities``: for each, ``bins`` of (measured value in the middle of its bin, middle of the
        error in percent, rows, rows whose measured value lies outside the 95 % band). Errors beyond 60 % stand at 60.

    Examples
    --------
    >>> one = Compared("a", "time_s", 10.0, 11.0, 9.0, 12.0, 8.0, 13.0, ())
    >>> found = summary(Outcome("training", "rows.csv", (one,), ()))
    >>> found["quantities"]["time_s"]["bins"]
    [[10.0, 12.5, 1, 0]]

    """
    found = document(outcome)
    groups = {name: rows for name, rows in found["groups"].items() if 1 < len(rows) <= _MOST_VALUES}
    reasons = Counter(one.reason[:160] for one in outcome.failures).most_common(_MOST_REASONS)
    by_quantity: dict[str, list[Compared]] = {}
    for one in outcome.compared:
        by_quantity.setdefault(one.quantity, []).append(one)
    return {
        **{name: value for name, value in found.items() if name not in ("groups", "failures")},
        "groups": groups,
        "reasons": [[text, count] for text, count in reasons],
        "quantities": {name: {"bins": _bins(rows)} for name, rows in by_quantity.items()},
    }


def _bins(rows: Sequence[Compared]) -> list[list[float | int]]:
    """Return counts by size of the measured value, in steps of a ratio, and by error."""
    measured = np.array([one.measured for one in rows])
    error = np.clip((np.array([one.predicted for one in rows]) / measured - 1.0) * 100.0, -_MOST_PCT, _MOST_PCT - 1e-9)
    outside = np.array(
        [one.low is not None and one.high is not None and not one.low <= one.measured <= one.high for one in rows]
    )
    sizes = np.log(np.abs(measured))
    low, high = float(sizes.min()), float(sizes.max())
    width = (high - low) / _ACROSS or 1.0
    across = np.minimum(((sizes - low) / width).astype(int), _ACROSS - 1)
    up = np.floor(error / _STEP_PCT).astype(int)
    found = []
    for place, step in sorted({(int(a), int(b)) for a, b in zip(across, up, strict=True)}):
        some = (across == place) & (up == step)
        middle = float(f"{np.exp(low + (place + 0.5) * width) if high > low else measured[0]:.6g}")
        found.append([middle, (step + 0.5) * _STEP_PCT, int(some.sum()), int(outside[some].sum())])
    return found


def text(outcomes: Sequence[Outcome]) -> str:
    """Return the file of results."""
    from energy import __version__

    whole = {"version": __version__, "suites": {one.suite: summary(one) for one in outcomes}}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def shipped() -> dict[str, Any]:
    """Return the results that ship with the package, by suite, with the version of the code that made them.

    Examples
    --------
    >>> "training" in shipped()["suites"]
    True

    """
    found: dict[str, Any] = json.loads((resource("datasets") / FILE).read_text(encoding="utf-8"))
    return found
