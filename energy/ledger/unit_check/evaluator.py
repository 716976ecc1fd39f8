"""The unit of each expression in one SELECT: columns from its sources, everything else through handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar, cast

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.optimizer.scope import Scope

from energy.errors import SqlUnitError, did_you_mean
from energy.ledger.unit_check.apart import ApartRule, Node
from energy.ledger.unit_check.measure import is_carbon
from energy.ledger.unit_check.names import Registry, kind_of_type, named
from energy.ledger.unit_check.places import error_at, read_error_at
from energy.ledger.unit_check.values import BARE, NOT_CHECKED, ClashError, NotChecked, NoUnit, Number, Value

STAR = "*"


@dataclass(frozen=True, slots=True)
class Output:
    """One column that a query gives; ``*`` stands for columns that we cannot name."""

    name: str
    value: Value


Mixed: TypeAlias = frozenset[str] | None
"""Methods whose emissions stand on several bases; None: any may."""
Outputs: TypeAlias = dict[int, list[Output]]
"""Columns of each query, by the identity of its expression."""


class Evaluator:
    """Infers units in one scope.

    Parameters
    ----------
    sql : str
        The text, for places in messages.
    registry : Registry
        Tables and names.
    scope : Scope
        A scope whose expression is a SELECT.
    outputs : dict
        What the queries inside it give; they are evaluated before it.
    mixed : frozenset of str, optional
        Methods whose emissions stand on several bases; None: any may.
    """

    def __init__(self, sql: str, registry: Registry, scope: Scope, outputs: Outputs, mixed: Mixed = None) -> None:
        self.sql = sql
        self.registry = registry
        self.scope = scope
        self.outputs = outputs
        self.select = cast("exp.Select", scope.expression)  # the caller sends scopes of SELECT only
        self.selected: dict[str, Value] = {}
        self.many = False  # set by COLUMNS(...), which makes several columns of one expression
        self.also_held: frozenset[Node] = frozenset()
        self._also_values: frozenset[tuple[Node, str]] = frozenset()
        self.partition: frozenset[Node] | None = None
        self._sources: dict[str, dict[str, Value] | None] = {}
        self.mixed = mixed
        self.rule = self._apart_rule("method")
        self.basis_rule = self._apart_rule("basis")

    # --- the SELECT as a whole ---

    def run(self) -> list[Output]:
        """Check every clause and return the output columns."""
        select = self.select
        # A sum needs to know what holds the method before it is looked at, so conditions were read first.
        found = [self._output(projection) for projection in select.expressions]
        for clause in ("where", "having", "qualify"):
            self._each(node.this for node in _present(select.args.get(clause)))
        for join in select.args.get("joins") or ():
            self._each(_present(join.args.get("on")))
        group = select.args.get("group")
        if group is not None:
            self._each(group.expressions)
        self._each(order_parts(select.args.get("order")))
        distinct = select.args.get("distinct")
        if distinct is not None:
            self._each(_present(distinct.args.get("on")))
        return found

    def _output(self, projection: exp.Expr) -> Output:
        if projection.is_star:
            return Output(STAR, NOT_CHECKED)
        # The alias of a window without AS is the name of the window.
        name = projection.alias_or_name if isinstance(projection, exp.Alias | exp.Column) else ""
        self.many = False
        value = self.value(projection.this if isinstance(projection, exp.Alias) else projection)
        if self.many:
            return Output(STAR, NOT_CHECKED)
        try:
            value = named(self.registry, value, name)
        except ClashError as clash:
            alias = projection.args.get("alias")
            place = alias if isinstance(alias, exp.Identifier) and "start" in alias.meta else projection
            raise error_at(self.sql, str(clash), place) from None
        if isinstance(value, Number) and is_carbon(value.dimensions) and not self._open_carbon(projection, None):
            value = replace(value, one_basis=True)
        self.selected[name] = value
        return Output(name, value)

    def _each(self, nodes: Iterable[exp.Expr]) -> None:
        for node in nodes:
            self.value(node)

    # --- expressions ---

    def value(self, node: exp.Expr | None) -> Value:
        """Return the unit of an expression.

        Raises
        ------
        SqlUnitError
            With the place of the expression.
        """
        if node is None:
            return NOT_CHECKED
        handler = HANDLERS.get(type(node))
        try:
            return handler(self, node) if handler is not None else self._by_return_type(node)
        except ClashError as clash:
            raise error_at(self.sql, str(clash), node) from None

    def values(self, nodes: Iterable[exp.Expr]) -> list[Value]:
        """Return the units of several expressions."""
        return [self.value(node) for node in nodes]

    def children(self, node: exp.Expr) -> list[Value]:
        """Return the units of all operands, so that an error in one is seen."""
        return [self.value(child) for child in node.iter_expressions() if isinstance(child, exp.Condition | exp.Query)]

    def _by_return_type(self, node: exp.Expr) -> Value:
        """Judge a function without a rule of its own: its result's type may still say that it has no unit."""
        self.children(node)
        returns = _RETURNS.get(type(node), {}).get("returns")
        if returns is None or isinstance(node, exp.AggFunc):
            return NOT_CHECKED
        kind = kind_of_type(str(getattr(returns, "value", returns)))
        return NOT_CHECKED if kind == "key" else NoUnit(kind)

    @contextmanager
    def held(self, condition: exp.Expr) -> Iterator[list[tuple[Node, str]]]:
        """Evaluate with the columns that a condition holds to one value: inside FILTER and CASE WHEN.

        Gives those that say the method, with their values.
        """
        methods = self.rule.values_held(condition)
        before = self.also_held, self._also_values
        self.also_held |= {node for node, _ in methods} | self.basis_rule.held_by(condition)
        self._also_values |= frozenset(methods)
        try:
            yield methods
        finally:
            self.also_held, self._also_values = before

    def among(self, expressions: Iterable[exp.Expr]) -> frozenset[Node]:
        """Return the columns among expressions that keep rows apart."""
        listed = list(expressions)
        return frozenset(self.rule.among(listed) | self.basis_rule.among(listed))

    def says_basis(self, order: Iterable[exp.Expr]) -> bool:
        """Return whether rows that are equal in expressions are of one accounting basis, and bases are among them.

        A dense rank over them is then a number for the basis, with all else that it is ordered by.
        """
        listed = self.basis_rule.among(part.this if isinstance(part, exp.Ordered) else part for part in order)
        return bool(listed) and self.basis_rule.kept_apart(listed, grouped=False)

    @contextmanager
    def windowed(self, partition: frozenset[Node] | None) -> Iterator[frozenset[Node] | None]:
        """Evaluate the function of a window, or (None) the operands inside it; gives what was before."""
        before, self.partition = self.partition, partition
        try:
            yield before
        finally:
            self.partition = before

    # --- columns ---

    def column(self, node: exp.Column) -> Value:
        """Return the unit of a column."""
        if isinstance(node.this, exp.Star):
            return NOT_CHECKED
        if not node.table:
            return self._unqualified(node)
        scope: Scope | None = self.scope
        while scope is not None and node.table not in scope.sources:
            scope = scope.parent
        if scope is None:
            if self._is_opaque():
                return NOT_CHECKED
            message = f"No table or alias named {node.table}.{did_you_mean(node.table, self.scope.sources)}"
            raise read_error_at(self.sql, message, node)
        columns = self._columns_of(scope, node.table)
        if columns is None:
            return NOT_CHECKED
        if node.name not in columns:
            message = f"No column named {node.name} in {node.table}.{did_you_mean(node.name, columns)}"
            raise read_error_at(self.sql, message, node)
        value = columns[node.name]
        return self._by_method(node.table, value) if scope is self.scope else value

    def _unqualified(self, node: exp.Column) -> Value:
        if node.name in self.selected:
            return self.selected[node.name]
        if self._is_opaque():
            return NOT_CHECKED
        aliases = list(self.scope.selected_sources)
        having = [alias for alias in aliases if node.name in (self._columns_of(self.scope, alias) or {})]
        if len(having) > 1:
            message = f"Column {node.name} is in {' and in '.join(having)}: write {having[0]}.{node.name}."
            raise read_error_at(self.sql, message, node)
        known = dict.fromkeys(name for alias in aliases for name in self._columns_of(self.scope, alias) or {})
        raise read_error_at(self.sql, f"No column named {node.name}.{did_you_mean(node.name, known)}", node)

    def _is_opaque(self) -> bool:
        """Return whether some source's columns are not known, here or further out."""
        scope: Scope | None = self.scope
        while scope is not None:
            if any(self._columns_of(scope, alias) is None for alias in scope.sources):
                return True
            scope = scope.parent
        return False

    def _columns_of(self, scope: Scope, alias: str) -> dict[str, Value] | None:
        if scope is not self.scope:
            return self._look_up(scope.sources[alias])
        if alias not in self._sources:
            self._sources[alias] = self._look_up(scope.sources[alias])
        return self._sources[alias]

    def _look_up(self, source: exp.Table | Scope) -> dict[str, Value] | None:
        if isinstance(source, exp.Table):
            alias = source.args.get("alias")
            if source.args.get("pivots") or (alias is not None and alias.args.get("columns")):
                return None
            return self.registry.columns.get(f"{source.db}.{source.name}")
        outputs = self.outputs.get(id(source.expression))
        if outputs is None or any(output.name == STAR for output in outputs):
            return None
        return {output.name: output.value for output in outputs}

    # --- methods and bases ---

    def _apart_rule(self, kind: str) -> ApartRule:
        nodes = []
        for alias in self.scope.selected_sources:
            for name, value in (self._columns_of(self.scope, alias) or {}).items():
                if isinstance(value, NoUnit) and value.apart == kind:
                    nodes.append((alias, name))
        rule = ApartRule(nodes, self.scope.selected_sources)
        if not nodes:
            return rule
        select = self.select
        for clause in _present(select.args.get("where")):
            rule.read_condition(clause.this)
        for join in select.args.get("joins") or ():
            rule.read_condition(join.args.get("on"))
        group = select.args.get("group")
        if group is not None:
            rule.group_by(group.expressions)
            if group.args.get("all"):
                plain = (item for item in select.expressions if item.find(exp.AggFunc) is None)
                rule.group_by(item.this if isinstance(item, exp.Alias) else item for item in plain)
        return rule

    def _by_method(self, alias: str, value: Value) -> Value:
        """Say whether a summable column may be summed here: a join with several methods repeats every row."""
        if not isinstance(value, Number) or value.additive in {"no", "lost"}:
            return value
        additive = value.additive
        if additive == "within method":
            if not self.rule.says(alias):
                additive = "lost"
            elif self.rule.held(alias, self.also_held):
                additive = "yes"
        found = value if additive == value.additive else replace(value, additive=additive)
        return self.repeated(found)

    def repeated(self, value: Number) -> Number:
        """Return an amount as it is when each row comes once for each method."""
        if value.additive == "yes" and not self.rule.held(None, self.also_held):
            return replace(value, additive="within method")
        return value

    def methods_kept_apart(self, partition: frozenset[Node] | None) -> bool:
        """Return whether a sum here keeps to one method."""
        return self.rule.kept_apart(self.also_held.union(partition or ()), grouped=partition is None)

    def bases_added(self, operand: exp.Expr, partition: frozenset[Node] | None) -> Literal["", "open", "lost"]:
        """Return whether a sum here adds emissions of several bases: ``lost`` where no column says which any more."""
        columns = self._open_carbon(operand, self.also_held.union(partition or ()), grouped=partition is None)
        if not columns:
            return ""
        return "open" if all(self.basis_rule.says(column.table) for column in columns) else "lost"

    def _open_carbon(
        self, operand: exp.Expr, also: frozenset[Node] | None, *, grouped: bool = False
    ) -> list[exp.Column]:
        """Return the columns of emissions or intensity that may stand on several bases within one result."""
        found: list[exp.Column] = []
        picked: dict[str, exp.Column] = {}
        for column in operand.find_all(exp.Column) if self.mixed is None or self.mixed else ():
            if column.table not in self.scope.selected_sources:
                continue  # of an outer query: one value for each row; or an alias of this SELECT, looked at there
            value = (self._columns_of(self.scope, column.table) or {}).get(column.name)
            if not isinstance(value, Number) or value.one_basis or not is_carbon(value.dimensions):
                continue
            chosen = _conditions_of(column, operand)
            held = [pair for condition in chosen for pair in self.basis_rule.values_held(condition)]
            picked |= dict.fromkeys((value for _, value in held), column)
            closed = frozenset(also or ()).union(node for node, _ in held)
            says = self.basis_rule.says(column.table)
            kept = says and self.basis_rule.kept_apart(closed, grouped=grouped, alias=column.table)
            if not kept and not self._method_has_one_basis(column.table, chosen):
                found.append(column)
        # A CASE that picks one basis here and another there gives several after all.
        return found or (list(picked.values()) if len(picked) > 1 else [])

    def _method_has_one_basis(self, alias: str, chosen: list[exp.Expr]) -> bool:
        """Return whether a source is held to a method whose emissions stand on one basis."""
        if self.mixed is None:
            return False
        conditions = (*self._conditions(), *chosen)
        pairs = [*self._also_values, *(pair for part in conditions for pair in self.rule.values_held(part))]
        values = {value for node, value in pairs if node[0] == alias}
        return any(value.strip("'") not in self.mixed for value in values)

    def _conditions(self) -> list[exp.Expr]:
        conditions = [clause.this for clause in _present(self.select.args.get("where"))]
        ons = (join.args.get("on") for join in self.select.args.get("joins") or ())
        return conditions + [on for on in ons if on is not None]

    def error(self, message: str, node: exp.Expr | None) -> SqlUnitError:
        """Return an error with the place of an expression."""
        return error_at(self.sql, message, node)


def _conditions_of(column: exp.Expr, operand: exp.Expr) -> list[exp.Expr]:
    """Return what must hold for a column to be chosen: the tests of the CASE and IF around it."""
    found: list[exp.Expr] = []
    node = column
    while node is not operand and node.parent is not None:
        parent = node.parent
        if isinstance(parent, exp.If) and parent.args.get("true") is node:
            subject = parent.parent.this if isinstance(parent.parent, exp.Case) else None
            test = parent.this
            found.append(test if subject is None else exp.EQ(this=subject.copy(), expression=test.copy()))
        node = parent
    return found


Handler: TypeAlias = Callable[[Evaluator, Any], Value]
HANDLERS: dict[type[exp.Expr], Handler] = {}
_RETURNS: dict[type[exp.Expr], dict[str, Any]] = Dialect.get_or_raise("duckdb").EXPRESSION_METADATA

_H = TypeVar("_H", bound=Handler)


def handles(*types: type[exp.Expr]) -> Callable[[_H], _H]:
    """Register the rule for some kinds of expression."""

    def register(handler: _H) -> _H:
        for kind in types:
            HANDLERS[kind] = handler
        return handler

    return register


def _present(node: Any) -> list[Any]:
    return [] if node is None else [node]


def order_parts(order: exp.Expr | None) -> list[exp.Expr]:
    """Return what an ORDER BY sorts by."""
    if order is None:
        return []
    return [item.this if isinstance(item, exp.Ordered) else item for item in order.expressions]


def bare_if_all_known(values: Iterable[Value]) -> Value:
    """Return a bare number, or "not checked" when an operand is."""
    return NOT_CHECKED if any(isinstance(value, NotChecked) for value in values) else BARE
