"""From a query's text to the unit of each of its columns."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import OptimizeError, ParseError, TokenError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from energy.errors import SqlReadError, SqlUnitError
from energy.ledger.unit_check import scalars
from energy.ledger.unit_check.evaluator import STAR, Evaluator, Mixed, Output, Outputs
from energy.ledger.unit_check.names import Registry, registry_of, unknown_table
from energy.ledger.unit_check.places import error_at, read_error_at, syntax_error
from energy.ledger.unit_check.values import (
    NOT_CHECKED,
    ClashError,
    NoUnit,
    Number,
    Value,
    either,
    possible_units,
)
from energy.schema import TABLES, Table
from energy.schema.model import Additive

RULES = (scalars,)  # importing it registers the rules of functions, and those of aggregates with them

# Without a handler, logging would print the parser's warnings on standard error; callers may still listen.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

Status: TypeAlias = Literal["checked", "not checked", "no unit"]

_SYSTEM_SCHEMAS = {"information_schema", "pg_catalog"}
_LAYERS = ("raw", "ref", "core", "main")


@dataclass(frozen=True, slots=True)
class ColumnUnit:
    """One column of a query's result.

    Attributes
    ----------
    name : str
        Name as the query writes it; ``*`` stands for columns that the checker cannot name.
    unit : str or None
        Unit text; ``""`` is a plain ratio or count; ``None`` where there is none or it is not checked.
    status : str
        ``checked``, ``not checked`` (shown, never guessed) or ``no unit`` (text, key, instant).
    additive : str
        Whether the column may be summed further, as in the field registry.
    note : str
        Why it is not checked, where that can be said.
    """

    name: str
    unit: str | None
    status: Status
    additive: Additive
    note: str = ""


def infer(
    sql: str, tables: Mapping[str, Table] = TABLES, dialect: str = "duckdb", mixed: Mixed = None
) -> list[ColumnUnit]:
    """Return the unit of each column of a query, and refuse a query whose units do not add up.

    Parameters
    ----------
    sql : str
        One query.
    tables : mapping of str to Table
        Tables and views by ``layer.name``; a name without a layer means ``main``.
    dialect : str
        SQL dialect of the text.
    mixed : frozenset of str, optional
        Methods whose emissions stand on several bases that ``basis_mix`` does not name; None: any may.

    Returns
    -------
    list of ColumnUnit
        In the order of the result's columns.

    Raises
    ------
    SqlUnitError
        With line and column, both from 1: units that do not fit, a ratio or several Scope 2 methods summed, a name
        that says another unit, an unknown table or column, or a text that is not SQL.

    Examples
    --------
    >>> infer("SELECT month, sum(energy_it_kwh) / 1000 AS energy_it_mwh FROM energy_monthly GROUP BY month")[1].unit
    'MWh_it'
    >>> infer("SELECT energy_it_kwh + chip_h AS total FROM energy_monthly")
    Traceback (most recent call last):
    energy.errors.SqlUnitError: Cannot add kWh_it and chip*h. Line 1, column 8.

    """
    outputs, written = outputs_of(sql, tables, dialect, mixed)
    names = written if written is not None and len(written) == len(outputs) else [output.name for output in outputs]
    return [column_unit(name, output.value) for name, output in zip(names, outputs, strict=True)]


def outputs_of(
    sql: str, tables: Mapping[str, Table] = TABLES, dialect: str = "duckdb", mixed: Mixed = None
) -> tuple[list[Output], list[str] | None]:
    """Return the values of a query's columns, and the names as they are written where no star hides them.

    Raises
    ------
    SqlUnitError
        As :func:`infer`.
    """
    registry = registry_of(tables)
    tree = parse(sql, dialect)
    if not isinstance(tree, exp.Query):
        # SHOW, DESCRIBE, SUMMARIZE, PIVOT …: rows about rows. Whether they may run is not asked here.
        return [Output(STAR, NOT_CHECKED)], None
    written = _written_names(tree, dialect)
    _refuse_unknown_tables(sql, tree, registry)
    try:
        return _infer_tree(sql, tree, registry, dialect, mixed), written
    except OptimizeError as error:
        if _has_unknown_columns(tree):
            return [Output(STAR, NOT_CHECKED)], None
        raise _qualify_error(sql, tree, str(error)) from None
    except RecursionError:
        raise SqlReadError("The query is nested too deeply to be checked.", 1, 1) from None


def parse(sql: str, dialect: str = "duckdb") -> exp.Expr:
    """Return the parse tree of one statement.

    Raises
    ------
    SqlUnitError
        The text is no SQL, or not exactly one statement.
    """
    try:
        found = [
            tree
            for tree in sqlglot.parse(sql, dialect=dialect)
            if tree is not None and not isinstance(tree, exp.Semicolon)
        ]
    except (ParseError, TokenError) as error:
        raise syntax_error(sql, error) from None
    if len(found) != 1:
        place = found[1] if found else None
        raise read_error_at(sql, f"One query is wanted, this text has {len(found)}.", place)
    return found[0]


def _infer_tree(sql: str, tree: exp.Query, registry: Registry, dialect: str, mixed: Mixed) -> list[Output]:
    qualified = qualify(
        tree,
        dialect=dialect,
        db="main",
        schema=registry.schema,
        allow_partial_qualification=True,
        validate_qualify_columns=False,
        quote_identifiers=False,
    )
    outputs: Outputs = {}
    last: list[Output] = []
    # Post-order: what a query stands on is known before it.
    for scope in traverse_scope(qualified):
        last = _outputs_of_scope(sql, registry, scope, outputs, mixed)
        outputs[id(scope.expression)] = last
    return last


def _outputs_of_scope(sql: str, registry: Registry, scope: Scope, outputs: Outputs, mixed: Mixed) -> list[Output]:
    expression = scope.expression
    if isinstance(expression, exp.Select):
        return Evaluator(sql, registry, scope, outputs, mixed).run()
    if isinstance(expression, exp.SetOperation):
        return _outputs_of_union(sql, expression, scope, outputs)
    if isinstance(expression, exp.Subquery):
        return outputs.get(id(expression.unnest()), [Output(STAR, NOT_CHECKED)])
    return [Output(STAR, NOT_CHECKED)]


def _outputs_of_union(sql: str, expression: exp.SetOperation, scope: Scope, outputs: Outputs) -> list[Output]:
    left, right = (outputs[id(side.expression)] for side in scope.set_operation_scopes)
    if any(output.name == STAR for output in (*left, *right)):
        return [Output(STAR, NOT_CHECKED)]
    if expression.args.get("by_name"):
        others = {output.name: output for output in right}
        names = dict.fromkeys([output.name for output in left] + list(others))
        own = {output.name: output for output in left}
        pairs = [(own.get(name, others.get(name)), others.get(name, own.get(name))) for name in names]
    else:
        if len(left) != len(right):
            raise read_error_at(sql, f"The sides have {len(left)} and {len(right)} columns.", expression.expression)
        pairs = list(zip(left, right, strict=True))
    found = []
    for index, (one, other) in enumerate(pairs):
        # Each name is on one side at least.
        assert one is not None and other is not None
        try:
            found.append(Output(one.name, either(one.value, other.value)))
        except ClashError as clash:
            raise error_at(sql, str(clash), _projection(expression.expression, index)) from None
    return found


def _projection(query: exp.Expr, index: int) -> exp.Expr:
    inner = query.unnest()
    while isinstance(inner, exp.SetOperation):
        inner = inner.this.unnest()
    selects = inner.selects if isinstance(inner, exp.Query) else []
    return selects[index] if index < len(selects) else query


def _written_names(tree: exp.Query, dialect: str) -> list[str] | None:
    """Return the result's names as they are written; None when a star hides them."""
    inner: exp.Expr = tree.unnest()
    while isinstance(inner, exp.SetOperation):
        inner = inner.this.unnest()
    if not isinstance(inner, exp.Select) or any(
        item.is_star or item.find(exp.Columns) is not None for item in inner.selects
    ):
        return None
    named = (exp.Alias, exp.Column)
    return [item.alias_or_name if isinstance(item, named) else item.sql(dialect=dialect) for item in inner.selects]


def _refuse_unknown_tables(sql: str, tree: exp.Query, registry: Registry) -> None:
    queries_by_name = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier) or table.db.lower() in _SYSTEM_SCHEMAS:
            continue  # a table function or a system view: its columns are not checked
        name = table.name.lower()
        if not table.db and name in queries_by_name:
            continue
        full_name = f"{table.catalog.lower()}." * bool(table.catalog) + f"{table.db.lower() or 'main'}.{name}"
        if full_name not in registry.columns:
            raise read_error_at(sql, unknown_table(registry, full_name), table)


def _has_unknown_columns(tree: exp.Query) -> bool:
    """Return whether something gives columns that we cannot know."""
    if tree.find(exp.Pivot, exp.UDTF, exp.Columns) is not None:
        return True
    return any(
        not isinstance(table.this, exp.Identifier) or table.db.lower() in _SYSTEM_SCHEMAS
        for table in tree.find_all(exp.Table)
    )


def _qualify_error(sql: str, tree: exp.Query, message: str) -> SqlUnitError:
    """Return sqlglot's message about names with a place: that of the name it mentions."""
    last_word = message.rstrip(".").split(" ")[-1].strip("'\"").lower()
    named = tree.find_all(exp.Identifier, exp.Literal)
    place = next((node for node in named if node.name.lower() == last_word and "start" in node.meta), None)
    return read_error_at(sql, f"{message.rstrip('.')}.", place)


def column_unit(name: str, value: Value) -> ColumnUnit:
    """Return what is shown of a value: its unit where just one is possible."""
    if isinstance(value, NoUnit):
        return ColumnUnit(name, None, "no unit", "not a number")
    if not isinstance(value, Number):
        return ColumnUnit(name, None, "not checked", "no", "the checker has no rule for it")
    additive: Additive = "within method" if value.additive == "lost" else value.additive
    texts = possible_units(value)
    if len(texts) == 1:
        return ColumnUnit(name, texts[0], "checked", additive)
    choice = " or ".join(text or "a plain number" for text in texts)
    note = f"a literal factor leaves {choice}: a name with a unit decides" if texts else "no unit is named so"
    return ColumnUnit(name, None, "not checked", additive, note)
