"""Views: the declared columns exactly, every unit known, and only SQL that runs on DuckDB and Spark alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp
from sqlglot.errors import ErrorLevel, UnsupportedError

from energy.errors import SqlUnitError
from energy.ledger.unit_check.evaluator import Output
from energy.ledger.unit_check.inference import ColumnUnit, column_unit, outputs_of, parse
from energy.ledger.unit_check.measure import close, measure
from energy.ledger.unit_check.names import kind_of_type
from energy.ledger.unit_check.places import error_at
from energy.ledger.unit_check.scalars import MACROS
from energy.ledger.unit_check.values import NoUnit, Number, describe, number, step
from energy.schema import TABLES, Field, Table

_LOOSEST_FIRST = ("yes", "within method", "lost", "no")

# What DuckDB has and Spark has not, or has with another meaning. sqlglot passes much of it on without a word.
_NOT_PORTABLE: tuple[tuple[tuple[type[exp.Expr], ...], str], ...] = (
    ((exp.Qualify,), "QUALIFY: filter in an outer query"),
    ((exp.Pivot,), "PIVOT: write one CASE for each column"),
    ((exp.Columns,), "COLUMNS(...): name each column"),
    ((exp.Lambda,), "a lambda"),
    ((exp.Array, exp.List, exp.ArrayAgg, exp.Bracket, exp.Slice), "a list"),
    ((exp.Struct, exp.Map, exp.Dot), "a struct or map"),
    ((exp.Explode, exp.Unnest, exp.Lateral), "unnest or lateral: join a table"),
    ((exp.TimeToUnix,), "epoch(): it comes out wrong on Spark; write date_diff('second', a, b)"),
    ((exp.TableSample,), "a sample: a view gives the same rows every time"),
    ((exp.Placeholder, exp.Parameter), "a parameter"),
    ((exp.IntDiv,), "//: its rounding differs; write floor(a / b)"),
)
_INSTEAD = {"fsum": "sum of DECIMAL(38,12), which is exact on any engine"}


def check_view(table: Table, sql: str, tables: Mapping[str, Table] = TABLES) -> list[ColumnUnit]:
    """Check a view against its declaration.

    The columns are the declared ones in the declared order, each in exactly the declared unit (dimension, boundary and
    scale) and never more summable than declared; nothing is unchecked; and only the portable subset of SQL is used.

    Parameters
    ----------
    table : Table
        Declaration of the view.
    sql : str
        The view's query.
    tables : mapping of str to Table
        Tables and views that it may read, by ``layer.name``.

    Returns
    -------
    list of ColumnUnit
        The view's columns.

    Raises
    ------
    SqlUnitError
        With line and column of what does not hold.

    Examples
    --------
    >>> from energy.schema import table
    >>> check_view(table("main.coverage"), "SELECT * FROM main.energy_monthly")
    Traceback (most recent call last):
    energy.errors.SqlUnitError: Views may not use *: name each column. Line 1, column 8.

    """
    tree = parse(sql)
    if not isinstance(tree, exp.Query):
        raise error_at(sql, f"View {table.full_name} must be one query.", tree)
    for node, what in _not_portable(tree):
        raise error_at(sql, f"Views may not use {what}.", node)
    outputs, _ = outputs_of(sql, tables)
    places = _final_projections(tree)
    _same_columns(table, sql, outputs, places)
    for column, output, place in zip(table.columns, outputs, places, strict=True):
        problem = _problem_of(column.field, output)
        if problem:
            name = column.field.name
            raise error_at(sql, f"View {table.full_name}, column {name}: {problem}.", _alias_or(place))
    return [column_unit(output.name, output.value) for output in outputs]


def _not_portable(tree: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """Yield what is outside the portable subset, in the order of the tree."""
    for node in tree.walk():
        if isinstance(node, exp.Star) and not isinstance(node.parent, exp.Count):
            # FROM t without SELECT is the same star, and has no place of its own.
            yield (node if "start" in node.meta else node.parent or node), "*: name each column"
        for kinds, what in _NOT_PORTABLE:
            if isinstance(node, kinds):
                yield node, what
        found = _not_portable_by_detail(node)
        if found:
            yield node, found


def _not_portable_by_detail(node: exp.Expr) -> str | None:
    if isinstance(node, exp.Join) and node.method in {"ASOF", "POSITIONAL"}:
        return f"a join of kind {node.method}: join on equal hours"
    if isinstance(node, exp.Group) and node.args.get("all"):
        return "GROUP BY ALL: name each column"
    if isinstance(node, exp.Distinct) and node.args.get("on") is not None:
        return "DISTINCT ON: group, or rank in an inner query"
    if isinstance(node, exp.Table) and not isinstance(node.this, exp.Identifier):
        return "a table function: read tables only"
    if isinstance(node, exp.Ordered) and isinstance(node.this, exp.Var):
        return "ORDER BY ALL: name each column"
    if isinstance(node, exp.Anonymous) and node.name.lower() not in MACROS:
        instead = _INSTEAD.get(node.name.lower(), "a function that is known to run on both engines")
        return f"{node.name}(): write {instead}"
    return None


def _final_projections(tree: exp.Query) -> list[exp.Expr]:
    inner: exp.Expr = tree.unnest()
    while isinstance(inner, exp.SetOperation):
        inner = inner.this.unnest()
    return list(inner.selects) if isinstance(inner, exp.Query) else []


def _alias_or(projection: exp.Expr) -> exp.Expr:
    """Return the identifier that names a column, else the expression."""
    alias = projection.args.get("alias")
    if isinstance(alias, exp.Identifier):
        return alias
    return projection.this if isinstance(projection, exp.Column) else projection


def _same_columns(table: Table, sql: str, outputs: list[Output], places: list[exp.Expr]) -> None:
    declared = [column.field.name for column in table.columns]
    found = [output.name for output in outputs]
    for index, (wanted, got) in enumerate(zip(declared, found, strict=False)):
        if wanted != got:
            message = f"View {table.full_name}, column {index + 1}: {wanted} is declared, the query gives {got}."
            raise error_at(sql, message, _alias_or(places[index]))
    if len(declared) > len(found):
        missing = ", ".join(declared[len(found) :])
        raise error_at(sql, f"View {table.full_name}: the query lacks {missing}.", _alias_or(places[-1]))
    if len(found) > len(declared):
        message = f"View {table.full_name}: {found[len(declared)]} is not declared."
        raise error_at(sql, message, _alias_or(places[len(declared)]))


def _problem_of(field: Field, output: Output) -> str:
    """Return what is wrong with a column, or an empty text."""
    value = output.value
    if isinstance(value, NoUnit):
        return _problem_without_unit(field, value)
    if not isinstance(value, Number):
        return "its unit is not checked, views may use only what the checker knows"
    found = describe(value)
    if field.unit is None:
        is_key = kind_of_type(field.type) == "key" and not value.dimensions and 1.0 in value.scales
        return "" if is_key else f"declared without unit, the query gives {found}"
    target, declared = measure(field.unit), field.unit or "a bare number"
    if value.dimensions != target.dimensions:
        return f"declared {declared}, the query gives {found}{step(value, number(field.unit))}"
    if not any(close(scale, target.scale) for scale in value.scales):
        return f"declared {declared}, the query gives {found}: divide by {target.scale / value.scales[0]:g}"
    if _LOOSEST_FIRST.index(value.additive) > _LOOSEST_FIRST.index(field.additive):
        inferred = value.additive.replace("lost", "within method")
        return f"declared as summable: {field.additive}, the query gives: {inferred}"
    return ""


def _problem_without_unit(field: Field, value: NoUnit) -> str:
    if field.unit is None:
        return ""
    if value.kind in {"null", "key"} and not measure(field.unit).dimensions:
        return ""
    return (
        "" if value.kind == "null" else f"declared {field.unit or 'a bare number'}, the query gives {describe(value)}"
    )


def to_spark(sql: str) -> str:
    """Return a view's query in Spark's dialect; the two macros, which leave the number as it is, are written out.

    Raises
    ------
    SqlUnitError
        Spark has no equal of something in it.

    Examples
    --------
    >>> print(to_spark("SELECT counted_at_facility(energy_it_kwh) AS x FROM main.energy_hourly"))
    SELECT
      energy_it_kwh AS x
    FROM main.energy_hourly

    """
    tree = parse(sql)
    for node, what in _not_portable(tree):
        if not isinstance(node, exp.Star):
            raise error_at(sql, f"Spark is not given {what}.", node)

    def without_macros(node: exp.Expr) -> exp.Expr:
        is_macro = isinstance(node, exp.Anonymous) and node.name.lower() in MACROS and len(node.expressions) == 1
        return node.expressions[0] if is_macro else node

    try:
        return tree.transform(without_macros).sql(dialect="spark", pretty=True, unsupported_level=ErrorLevel.RAISE)
    except UnsupportedError as error:
        raise SqlUnitError(f"Spark has no equal of it: {error}", 1, 1) from None
