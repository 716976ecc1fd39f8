"""What a column and a table are: the value objects of the field registry."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from energy.errors import UnknownNameError, did_you_mean

Additive = Literal["yes", "within method", "no", "not a number"]


@dataclass(frozen=True, slots=True)
class Field:
    """One column, declared once; it means the same in every table that has it.

    Attributes
    ----------
    name : str
        Column name; its suffix states the unit (``docs/units.md``).
    type : str
        DuckDB type.
    unit : str or None
        Unit text of ``units.txt``; ``None`` for texts, keys and instants. ``""`` is a plain ratio or count.
    meaning : str
        One sentence; it becomes the column's comment, its help text and its line in the SQL reference.
    additive : str
        ``yes``: may be summed; ``within method``: may be summed over rows of one method only; ``no``: averages need a
        weight; ``not a number``.
    weight : str or None
        For ``no``: the column by which an average is weighted.
    allowed : tuple of str
        The only values that the column may hold; empty = any.
    minimum : float or None
        Least value that is physically possible.
    """

    name: str
    type: str
    unit: str | None
    meaning: str
    additive: Additive = "not a number"
    weight: str | None = None
    allowed: tuple[str, ...] = ()
    minimum: float | None = None

    def renamed(self, name: str, meaning: str) -> Field:
        """Return the same kind of column under another name."""
        return replace(self, name=name, meaning=meaning)


@dataclass(frozen=True, slots=True)
class Column:
    """A field as it stands in one table."""

    field: Field
    required: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view: its columns in order, its key, and what one row is.

    ``kind`` is ``table`` or ``view``; a view's columns are declared here too, and its SQL must produce exactly these.
    """

    layer: str
    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    kind: Literal["table", "view"] = "table"
    note: str = ""
    fields: dict[str, Field] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", {column.field.name: column.field for column in self.columns})

    @property
    def full_name(self) -> str:
        """Schema and name, as SQL writes them."""
        return f"{self.layer}.{self.name}"

    def field_of(self, name: str) -> Field:
        """Return one field by its name.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        """
        if name not in self.fields:
            raise UnknownNameError(f"No column named {name} in {self.full_name}.{did_you_mean(name, self.fields)}")
        return self.fields[name]
