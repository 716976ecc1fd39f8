"""What the registry knows of tables and names, in the form that the checker asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot.schema import MappingSchema

from energy import units
from energy.errors import UnitError, did_you_mean
from energy.ledger.unit_check.measure import (
    Measure,
    close,
    is_count_of_things,
    measure,
    one_boundary,
    without_tags,
)
from energy.ledger.unit_check.values import (
    NULL,
    ClashError,
    Kind,
    NotChecked,
    NoUnit,
    Number,
    Value,
    describe,
    fixed,
    number,
    step,
)
from energy.schema import Field, Table

_MOST_REGISTRIES = 8
_KINDS: tuple[tuple[str, Kind], ...] = (
    ("VARCHAR", "text"),
    ("TIMESTAMP", "instant"),
    ("DATE", "date"),
    ("BOOLEAN", "boolean"),
)


def kind_of_type(type_name: str) -> Kind:
    """Return what a column without unit holds.

    Examples
    --------
    >>> kind_of_type("TIMESTAMPTZ"), kind_of_type("BIGINT")
    ('instant', 'key')

    """
    return next((kind for start, kind in _KINDS if type_name.upper().startswith(start)), "key")


def _apart(name: str) -> Literal["", "method", "basis"]:
    """Return what a column of this name keeps apart."""
    lower = name.lower()
    return "method" if lower == "method" else "basis" if lower == "basis" or lower.endswith("_basis") else ""


def value_of_field(field: Field) -> Value:
    """Return the value that a column of the registry has."""
    if field.unit is None:
        return NoUnit(kind_of_type(field.type), apart=_apart(field.name))
    additive = "no" if field.additive == "not a number" else field.additive
    return number(field.unit, additive, field.weight)


@dataclass(frozen=True, slots=True)
class Registry:
    """The tables as the checker sees them.

    Attributes
    ----------
    columns : dict
        Value of each column, by ``layer.name`` of the table.
    fields : dict
        Unit of each name that means one thing in all tables.
    schema : MappingSchema
        The same tables for sqlglot.
    """

    columns: dict[str, dict[str, Value]]
    fields: dict[str, Field]
    schema: MappingSchema


_registries: dict[tuple[tuple[str, int], ...], tuple[Registry, tuple[Table, ...]]] = {}


def registry_of(tables: Mapping[str, Table]) -> Registry:
    """Return the registry of these tables; built once, it takes 30 ms."""
    key = tuple((name, id(table)) for name, table in tables.items())
    if key not in _registries:
        while len(_registries) >= _MOST_REGISTRIES:
            _registries.pop(next(iter(_registries)), None)
        # The tables are kept beside it: their ids stay theirs as long as the entry lives.
        _registries[key] = (_build(tables), tuple(tables.values()))
    return _registries[key][0]


def _build(tables: Mapping[str, Table]) -> Registry:
    columns: dict[str, dict[str, Value]] = {}
    fields: dict[str, Field] = {}
    clashing: set[str] = set()
    mapping: dict[str, object] = {}
    for table in tables.values():
        columns[table.full_name] = {column.field.name: value_of_field(column.field) for column in table.columns}
        layer = mapping.setdefault(table.layer, {})
        assert isinstance(layer, dict)  # as put there, the mapping of sqlglot is typed loosely
        layer[table.name] = {column.field.name: column.field.type for column in table.columns}
        for column in table.columns:
            known = fields.setdefault(column.field.name, column.field)
            if known.unit != column.field.unit:
                clashing.add(column.field.name)
    for name in clashing:
        del fields[name]
    return Registry(columns, fields, MappingSchema(mapping, dialect="duckdb"))


def unknown_table(registry: Registry, full_name: str) -> str:
    """Return the message for a table that does not exist."""
    name = full_name.removeprefix("main.")
    known = [known.removeprefix("main.") for known in registry.columns]
    return f"No table or view named {name}.{did_you_mean(name, known)}"


def said_by_suffix(name: str) -> str | None:
    """Return the unit that a result's name states, or None when it states none that we know."""
    lower = name.lower()
    try:
        # "SELECT … AS mwh" says MWh as "…_mwh" does; shorter ones, as in "AS t", are ordinary aliases.
        return units.unit_of_column(lower) or (units.unit_of_column(f"x_{lower}") if len(lower) > 2 else None)
    except UnitError:
        return None  # "…_kwh_per_job": what stands behind _per_ is no unit, so the name decides nothing


def named(registry: Registry, value: Value, name: str) -> Value:
    """Return the value under a name: a name with a unit decides between possible scales, or contradicts.

    Raises
    ------
    ClashError
        The name says another unit.
    """
    if isinstance(value, NotChecked):
        return value
    field = registry.fields.get(name.lower())
    said = field.unit if field is not None else said_by_suffix(name)
    if said is None:
        apart = _apart(name)
        return replace(value, apart=apart) if isinstance(value, NoUnit) and apart else value
    target = measure(said)
    if isinstance(value, NoUnit):
        if value == NULL:
            return _given_unit(field, said)
        if field is not None and target.dimensions:
            raise ClashError(f"{name} says {said}, the expression is {describe(value)}.")
        return value
    if value.literal is not None:
        return _given_unit(field, said) if target.dimensions else value
    return _decided(value, name, said, target, whole=field is not None)


def _given_unit(field: Field | None, said: str) -> Number:
    """Return a literal in the unit of its name: ``SELECT 1.2 AS pue``."""
    if field is not None:
        found = value_of_field(field)
        return found if isinstance(found, Number) else Number()
    has_denominator = any(power < 0 for _, power in measure(said).dimensions)
    return number(said, "no" if has_denominator else "yes")


def _decided(value: Number, name: str, said: str, target: Measure, *, whole: bool) -> Value:
    if not value.dimensions and is_count_of_things(target.dimensions) and 1.0 in value.scales:
        return replace(number(said), additive=value.additive)  # count(*) AS chip_count
    if not _same_thing(value, target, whole=whole):
        hint = step(value, number(said))
        raise ClashError(f"{name} says {said or 'a bare number'}, the expression is {describe(value)}{hint}.")
    if not any(close(scale, target.scale) for scale in value.scales):
        factor = target.scale / value.scales[0]
        how = f"divide by {factor:g}" if factor >= 1 else f"multiply by {1 / factor:g}"
        raise ClashError(f"{name} says {said or 'a bare number'}, the expression is {describe(value)}: {how}.")
    return fixed(value, target)


def _same_thing(value: Number, target: Measure, *, whole: bool) -> bool:
    """Return whether a name fits: a suffix without boundary fits electricity at any; a registered name, its own."""
    if value.dimensions == target.dimensions:
        return True
    open_boundary = not whole and without_tags(target.dimensions) == target.dimensions
    return (
        open_boundary
        and "[energy]" in dict(target.dimensions)
        and without_tags(value.dimensions) == target.dimensions
        and one_boundary(value.dimensions)
    )
