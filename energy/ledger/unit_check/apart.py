"""The rule that some rows are never added: a sum keeps to one Scope 2 method, and to one accounting basis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

Node = tuple[str, str]
"""Alias of a source, and its column that says the method, or the basis."""


def conjuncts(condition: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the parts of ``a AND b AND c``."""
    if isinstance(condition, exp.Paren):
        yield from conjuncts(condition.this)
    elif isinstance(condition, exp.And):
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    elif condition is not None:
        yield condition


def _columns(expression: exp.Expr) -> list[exp.Column]:
    """Return the column that an expression is; JOIN USING makes one of two, as coalesce(a.x, b.x)."""
    if isinstance(expression, exp.Paren):
        return _columns(expression.this)
    if isinstance(expression, exp.Coalesce):
        return [column for part in (expression.this, *expression.expressions) for column in _columns(part)]
    return [expression] if isinstance(expression, exp.Column) else []


class ApartRule:
    """Which columns of one SELECT that keep rows apart are equal, held to one value, or grouped by.

    Parameters
    ----------
    nodes : iterable of (alias, column)
        Columns of the sources that say the method; or, in a rule of its own, the basis.
    aliases : iterable of str
        All sources; a column of another one comes from an outer query, where it is one value for each row.
    """

    def __init__(self, nodes: Iterable[Node], aliases: Iterable[str]) -> None:
        self._parent: dict[Node, Node] = {node: node for node in nodes}
        self._aliases = frozenset(aliases)
        self._held: set[Node] = set()
        self._grouped: set[Node] = set()

    def _root(self, node: Node) -> Node:
        while self._parent[node] != node:
            node = self._parent[node]
        return node

    def _nodes(self, expression: exp.Expr) -> list[Node]:
        found = [(column.table, column.name) for column in _columns(expression)] if self._parent else []
        return [node for node in found if node in self._parent]

    def read_condition(self, condition: exp.Expr | None) -> None:
        """Take equalities of such columns, and columns held to one value, from a WHERE or ON."""
        for part in conjuncts(condition) if self._parent else ():
            if isinstance(part, exp.EQ):
                for left in self._nodes(part.left):
                    for right in self._nodes(part.right):
                        self._parent[self._root(left)] = self._root(right)
        self._held |= self.held_by(condition)

    def held_by(self, condition: exp.Expr | None) -> set[Node]:
        """Return the columns that a condition holds to one value."""
        return {node for node, _ in self.values_held(condition)}

    def values_held(self, condition: exp.Expr | None) -> list[tuple[Node, str]]:
        """Return each column that a condition holds to one value, with that value."""
        found = []
        for part in conjuncts(condition) if self._parent else ():
            pairs: list[tuple[exp.Expr, exp.Expr]] = []
            if isinstance(part, exp.EQ):
                pairs = [(part.left, part.right), (part.right, part.left)]
            elif isinstance(part, exp.In) and len(part.expressions) == 1:
                pairs = [(part.this, part.expressions[0])]
            for column, value in pairs:
                if self._is_one_value(value):
                    found += [(node, value.sql()) for node in self._nodes(column)]
        return found

    def _is_one_value(self, value: exp.Expr) -> bool:
        if isinstance(value, exp.Column):
            return bool(value.table) and value.table not in self._aliases
        return isinstance(value, exp.Literal | exp.Placeholder | exp.Parameter)

    def group_by(self, expressions: Iterable[exp.Expr]) -> None:
        """Take the columns that rows are grouped by."""
        self._grouped |= self.among(expressions)

    def among(self, expressions: Iterable[exp.Expr]) -> set[Node]:
        """Return the columns of the rule among expressions."""
        return {node for expression in expressions for node in self._nodes(expression)}

    def says(self, alias: str) -> bool:
        """Return whether a source has a column that says it."""
        return any(node[0] == alias for node in self._parent)

    def _open(self, closed: set[Node], nodes: Iterable[Node]) -> bool:
        roots = {self._root(node) for node in closed if node in self._parent}
        return any(self._root(node) not in roots for node in nodes)

    def held(self, alias: str | None, also: Iterable[Node]) -> bool:
        """Return whether a source keeps to one value (all sources: ``alias`` None)."""
        nodes = [node for node in self._parent if alias is None or node[0] == alias]
        return not self._open(self._held.union(also), nodes)

    def kept_apart(self, also: Iterable[Node], *, grouped: bool, alias: str | None = None) -> bool:
        """Return whether each sum keeps to one value (of one source, or of all)."""
        closed = self._held.union(also, self._grouped if grouped else ())
        return not self._open(closed, [node for node in self._parent if alias in (None, node[0])])
