"""One way from a checked row to a frozen record, and what all records with recalled fields have in common."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from energy.catalogue import _tables

Record = TypeVar("Record")
_Get = Callable[[_tables.Row, str], Any]

# Annotation of a field -> how its cell is read. "| None" says that an empty cell is allowed.
_GETTERS: dict[str, _Get] = {
    "str": _tables.Row.text,
    "float": _tables.Row.number,
    "float | None": _tables.Row.maybe_number,
    "int": _tables.Row.integer,
    "int | None": _tables.Row.maybe_integer,
    "bool": _tables.Row.flag,
    "bool | None": _tables.Row.maybe_flag,
    "tuple[str, ...]": _tables.Row.words,
    "frozenset[str]": lambda row, column: frozenset(row.words(column)),
}


@cache
def _plan(kind: type[Any], renamed: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str, _Get], ...]:
    columns = dict(renamed)
    return tuple(
        (field.name, columns.get(field.name, field.name), _GETTERS[str(field.type)])
        for field in dataclasses.fields(kind)
    )


def build(kind: type[Record], row: _tables.Row, renamed: Mapping[str, str] | None = None, **given: Any) -> Record:
    """Return a record made of a row: each field from the column of its name.

    Parameters
    ----------
    kind : type
        Frozen dataclass; the annotation of each field says how its cell is read.
    row : Row
        Checked row.
    renamed : mapping of str to str, optional
        Field to column, where the names differ.
    **given
        Fields that no column holds.

    """
    columns = tuple((renamed or {}).items())
    hashable: Any = kind  # a class is; the checker does not know it of a type variable
    plan = _plan(hashable, columns)
    return kind(**{name: get(row, column) for name, column, get in plan if name not in given}, **given)


class Verified:
    """What a record with ``confidence`` and ``recalled_fields`` can say of itself.

    ``confidence`` is ``read`` or ``recalled``; ``recalled_fields`` names what is general knowledge, ``all`` the whole
    row.
    """

    __slots__ = ()
    confidence: str
    recalled_fields: frozenset[str]

    @property
    def status(self) -> str:
        """Return ``catalogue``, or ``estimate`` where the whole row is recalled."""
        return "catalogue" if self.confidence == "read" else "estimate"

    def is_recalled(self, field: str) -> bool:
        """Say whether the value of a field is general knowledge that nobody verified.

        Examples
        --------
        >>> from energy.catalogue import chip, node
        >>> chip("TPU v5p").is_recalled("tdp_w"), node("dgx_1_p100").is_recalled("max_kw")
        (True, True)

        """
        return "all" in self.recalled_fields or field in self.recalled_fields
