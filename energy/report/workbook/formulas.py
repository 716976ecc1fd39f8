"""Formulas from rows to totals, on named ranges; exact also where SUMIFS would match too much."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# SUMIFS reads wildcards, comparison signs, numbers and dates in its criterion and ignores case: only such keys are
# left to it that it can read in one way.
_PLAIN = re.compile(r"[A-Za-z](?:[A-Za-z0-9 ._:,/+-]*[A-Za-z0-9._])?")
_LIKE_A_DATE = re.compile(r"[A-Za-z]+[ ./-]*\d+(?:[ ./,-]+\d+)*")
_WORDS = ("true", "false")
_LONGEST = 255


@dataclass(frozen=True, slots=True)
class Condition:
    """Rows whose column, a named range, equals a cell or a literal.

    ``plain`` tells whether SUMIFS can be trusted with the value; ``text`` whether it is text.
    """

    column: str
    value: str
    plain: bool = True
    text: bool = True


def plain_keys(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys of a column that SUMIFS tells from all the others.

    Examples
    --------
    >>> sorted(plain_keys(["llm-pretrain", "Bio", "bio", "a*", "1e3", ">5", "mar-26"]))
    ['llm-pretrain']

    """
    known = list(dict.fromkeys(keys))
    folded: dict[str, int] = {}
    for key in known:
        name = _folded(key)
        folded[name] = folded.get(name, 0) + 1
    return frozenset(key for key in known if folded[_folded(key)] == 1 and _is_plain(key))


def _folded(key: str) -> str:
    return unicodedata.normalize("NFKC", key).casefold().strip()


def _is_plain(key: str) -> bool:
    if len(key) > _LONGEST or key.lower() in _WORDS:
        return False
    return _PLAIN.fullmatch(key) is not None and _LIKE_A_DATE.fullmatch(key) is None


def sum_where(values: str, conditions: Sequence[Condition] = ()) -> str:
    """Write the sum of a named range over the rows of some conditions, without the equals sign.

    Examples
    --------
    >>> sum_where("rows_kwh"), sum_where("rows_kwh", [Condition("rows_site", "$B5")])
    ('SUM(rows_kwh)', 'SUMIFS(rows_kwh,rows_site,$B5)')
    >>> sum_where("rows_kwh", [Condition("rows_owner", "$B5", plain=False)])
    'SUMPRODUCT(--EXACT(rows_owner,$B5),rows_kwh)'

    """
    if not conditions:
        return f"SUM({values})"
    if all(condition.plain for condition in conditions):
        return f"SUMIFS({values},{_pairs(conditions)})"
    return f"SUMPRODUCT({_matches(conditions)},{values})"


def count_where(values: str, conditions: Sequence[Condition] = ()) -> str:
    """Write the count of the numbers of a named range over the rows of some conditions.

    Examples
    --------
    >>> count_where("rows_kwh"), count_where("rows_kwh", [Condition("rows_site", "$B5")])
    ('COUNT(rows_kwh)', 'COUNTIFS(rows_site,$B5,rows_kwh,">=0")')

    """
    if not conditions:
        return f"COUNT({values})"
    if all(condition.plain for condition in conditions):
        return f'COUNTIFS({_pairs(conditions)},{values},">=0")'
    return f"SUMPRODUCT({_matches(conditions)},--ISNUMBER({values}))"


def _pairs(conditions: Sequence[Condition]) -> str:
    return ",".join(f"{condition.column},{condition.value}" for condition in conditions)


def _matches(conditions: Sequence[Condition]) -> str:
    return ",".join(
        f"--EXACT({condition.column},{condition.value})"
        if condition.text
        else f"--({condition.column}={condition.value})"
        for condition in conditions
    )


def quoted(text: str) -> str:
    """Write a text literal of a formula.

    Examples
    --------
    >>> print(quoted('a "b" c'))
    "a ""b"" c"

    """
    return '"' + text.replace('"', '""') + '"'
