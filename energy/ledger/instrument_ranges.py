"""Ranges of certificates: a number that lies in two of them would be claimed twice."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_RANGE = re.compile(r"(?P<series>.*?)(?P<first>\d+)\.\.(?P<rest>.*?)(?P<last>\d+)\Z", re.DOTALL)


def claimed_twice(instruments: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the ranges that hold a number of an earlier range of the same register and series.

    Parameters
    ----------
    instruments : iterable of (register, identifier)
        An identifier is ``first..last``, both included, perhaps behind the name of a device; others are no range.

    Returns
    -------
    frozenset of str
        Identifiers of the later ones, by first number and then by identifier.

    Examples
    --------
    >>> sorted(claimed_twice([("M-RETS", "a-001..a-100"), ("M-RETS", "a-100..a-120"), ("M-RETS", "b-100..b-120")]))
    ['a-100..a-120']

    """
    series: dict[tuple[str, str], list[tuple[int, str, int]]] = defaultdict(list)
    for register, name in instruments:
        match = _RANGE.match(name.replace(".000000", ""))
        if match is not None:
            series[register, match["series"]].append((int(match["first"]), name, int(match["last"])))
    found = set()
    for ranges in series.values():
        highest = -1
        for first, name, last in sorted(ranges):
            if first <= highest:
                found.add(name)
            highest = max(highest, last)
    return frozenset(found)
