"""Rules for functions of many rows: sums and means by what may be summed, counts, order statistics, windows."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from energy.ledger.unit_check.evaluator import Evaluator, bare_if_all_known, handles, order_parts
from energy.ledger.unit_check.measure import is_carbon, is_power
from energy.ledger.unit_check.values import (
    BARE,
    NOT_CHECKED,
    RATIO,
    ClashError,
    NoUnit,
    Number,
    Value,
    either,
    raised,
)

_OTHER_SUMS = {"fsum", "sumkahan", "kahan_sum", "sum_no_overflow"}
_OTHER_MEANS = {"favg", "mean"}


@handles(exp.Sum)
def _sum(evaluator: Evaluator, node: exp.Sum) -> Value:
    return summed(evaluator, node, node.this)


def summed(evaluator: Evaluator, node: exp.Expr, operand: exp.Expr) -> Value:
    """Return the unit of a sum, when its operand may be summed over these rows.

    Raises
    ------
    SqlUnitError
        The operand is a ratio, power, key or temperature, or several Scope 2 methods would be added.
    """
    with evaluator.windowed(None) as partition:
        value = evaluator.value(operand)
    if isinstance(value, NoUnit):
        if value.kind == "boolean":
            return BARE
        if value.kind == "key":
            raise ClashError(f"{_text(operand)} is a key or year: its sum means nothing.")
        return value if value.kind == "null" else NOT_CHECKED
    if not isinstance(value, Number):
        return value
    if value.literal is not None:
        return BARE
    if value.additive == "no":
        raise evaluator.error(f"{_text(operand)} may not be summed{_weighted(operand, value)}.", node)
    _keep_methods_apart(evaluator, node, operand, value, partition)
    return value


def _keep_methods_apart(
    evaluator: Evaluator, node: exp.Expr, operand: exp.Expr, value: Number, partition: frozenset[tuple[str, str]] | None
) -> None:
    if value.additive == "lost":
        raise evaluator.error(
            f"Methods are never added: {_text(operand)} holds rows of several Scope 2 methods, and they no longer say "
            "which. Keep method in the inner query and group by it here, or filter there, as in method = 'location'.",
            node,
        )
    if value.additive == "within method" and not evaluator.methods_kept_apart(partition):
        clause = "PARTITION BY" if partition is not None else "GROUP BY"
        raise evaluator.error(
            f"Methods are never added: the sum of {_text(operand)} runs over rows of several Scope 2 methods. "
            f"Add method to {clause}, or filter, as in WHERE method = 'location'.",
            node,
        )

    _keep_bases_apart(evaluator, node, operand, value, partition)


def _keep_bases_apart(
    evaluator: Evaluator, node: exp.Expr, operand: exp.Expr, value: Number, partition: frozenset[tuple[str, str]] | None
) -> None:
    if not is_carbon(value.dimensions):
        return
    added = evaluator.bases_added(operand, partition)
    if not added:
        return
    clause = "PARTITION BY" if partition is not None else "GROUP BY"
    remedy = (
        f"Add basis to {clause}, filter to one, or name the mix in basis_mix of site.yaml"
        if added == "open"
        else "They no longer say which: keep basis in the inner query, or take the sum from emission_lines"
    )
    raise evaluator.error(
        f"Bases are not added: the sum of {_text(operand)} runs over factors of several accounting bases. {remedy}.",
        node,
    )


def _weighted(operand: exp.Expr, value: Number) -> str:
    """Return the remedy: the weighted mean, with the weight that the field registry names."""
    text, weight = _text(operand), value.weight
    if weight is not None:
        return f": write sum({text} * {weight}) / sum({weight})"
    if is_power(value.dimensions):
        return f": power times time is energy, as in sum({text} * date_diff('hour', start_utc, end_utc))"
    if value.ratio:
        return ": divide the sums, as in sum(x) / sum(y), or weight it, as in sum(ratio * y) / sum(y)"
    return ": rows overlap in it; weight it, as in sum(x * chip_h) / sum(chip_h)"


def _text(operand: exp.Expr) -> str:
    """Return an operand as people wrote it: names without the tables that were put before them."""
    if operand.find(exp.Query) is not None:
        return "the inner query"
    copy = operand.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy.sql(dialect="duckdb")


@handles(exp.Avg)
def _mean(evaluator: Evaluator, node: exp.Avg) -> Value:
    return averaged(evaluator, node, node.this)


def averaged(evaluator: Evaluator, node: exp.Expr, operand: exp.Expr) -> Value:
    """Return the unit of a plain mean; a ratio needs a weighted one, power over equal intervals does not.

    Raises
    ------
    SqlUnitError
        The operand is a ratio, or the mean runs over several Scope 2 methods.
    """
    with evaluator.windowed(None) as partition:
        value = evaluator.value(operand)
    if isinstance(value, NoUnit) and value.kind == "boolean":
        return RATIO
    if not isinstance(value, Number):
        return value
    if value.additive == "no" and value.ratio and not is_power(value.dimensions):
        raise evaluator.error(f"{_text(operand)} is a ratio, its plain mean is wrong{_weighted(operand, value)}.", node)
    _keep_methods_apart(evaluator, node, operand, value, partition)
    return replace(value, additive="no", literal=None)


@handles(
    exp.Min,
    exp.Max,
    exp.AnyValue,
    exp.First,
    exp.Last,
    exp.ArgMax,
    exp.ArgMin,
    exp.FirstValue,
    exp.LastValue,
    exp.NthValue,
)
def _one_row(evaluator: Evaluator, node: exp.Expr) -> Value:
    with evaluator.windowed(None):
        value, *others = [evaluator.value(child) for child in (node.this, *_other_arguments(node))]
    del others
    if node.args.get("count") is not None:
        return NOT_CHECKED  # max(x, 3) is a list
    return replace(value, literal=None) if isinstance(value, Number) else value


@handles(
    exp.Median,
    exp.Quantile,
    exp.PercentileCont,
    exp.PercentileDisc,
    exp.ApproxQuantile,
    exp.Mode,
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
)
def _order_statistic(evaluator: Evaluator, node: exp.Expr) -> Value:
    with evaluator.windowed(None):
        value = evaluator.value(node.this)
    if isinstance(node.args.get("quantile") or node.args.get("expression"), exp.Array):
        return NOT_CHECKED  # several quantiles at once are a list
    return replace(value, additive="no", literal=None) if isinstance(value, Number) else value


@handles(exp.Variance, exp.VariancePop)
def _variance(evaluator: Evaluator, node: exp.Expr) -> Value:
    with evaluator.windowed(None):
        return raised(evaluator.value(node.this), 2)


@handles(exp.WithinGroup)
def _within_group(evaluator: Evaluator, node: exp.WithinGroup) -> Value:
    with evaluator.windowed(None):
        values = evaluator.values(order_parts(node.args.get("expression")))
    if not values or not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc):
        return NOT_CHECKED
    return replace(values[0], additive="no") if isinstance(values[0], Number) else values[0]


@handles(exp.Count, exp.CountIf, exp.ApproxDistinct)
def _count(evaluator: Evaluator, node: exp.Expr) -> Value:
    with evaluator.windowed(None):
        evaluator.children(node)
    return BARE


@handles(exp.Distinct)
def _distinct(evaluator: Evaluator, node: exp.Distinct) -> Value:
    values = evaluator.values(node.expressions)
    return values[0] if len(values) == 1 else NOT_CHECKED


@handles(exp.Order)
def _ordered(evaluator: Evaluator, node: exp.Order) -> Value:
    evaluator.values(order_parts(node))
    return evaluator.value(node.this)


@handles(exp.Corr)
def _correlation(evaluator: Evaluator, node: exp.Corr) -> Value:
    found = bare_if_all_known(evaluator.children(node))
    return RATIO if found == BARE else found


@handles(exp.LogicalAnd, exp.LogicalOr)
def _all_true(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.children(node)
    return NoUnit("boolean")


@handles(exp.Filter)
def _filter(evaluator: Evaluator, node: exp.Filter) -> Value:
    condition = node.expression.this
    evaluator.value(condition)
    with evaluator.held(condition):
        return evaluator.value(node.this)


# --- windows ---


@handles(exp.Window)
def _window(evaluator: Evaluator, node: exp.Window) -> Value:
    partition_by = list(node.args.get("partition_by") or ())
    definition = _named_window(evaluator, node)
    if definition is not None:
        partition_by += definition.args.get("partition_by") or ()
        evaluator.values(order_parts(definition.args.get("order")))
    evaluator.values(partition_by)
    order = order_parts(node.args.get("order"))
    evaluator.values(order)
    is_alone = definition is None and not partition_by
    if isinstance(node.this, exp.DenseRank) and is_alone and evaluator.says_basis(order):
        return NoUnit("key", apart="basis")
    with evaluator.windowed(evaluator.among(partition_by)):
        return evaluator.value(node.this)


def _named_window(evaluator: Evaluator, node: exp.Window) -> exp.Expr | None:
    name = node.alias
    found = (window for window in evaluator.select.args.get("windows") or () if window.name == name)
    return next(found, None) if name else None


@handles(exp.IgnoreNulls, exp.RespectNulls)
def _nulls(evaluator: Evaluator, node: exp.Expr) -> Value:
    return evaluator.value(node.this)


@handles(exp.Lag, exp.Lead)
def _neighbour(evaluator: Evaluator, node: exp.Expr) -> Value:
    with evaluator.windowed(None):
        value = evaluator.value(node.this)
        default = node.args.get("default")
        found = either(value, evaluator.value(default)) if default is not None else value
    return replace(found, literal=None) if isinstance(found, Number) else found


@handles(exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile, exp.PercentRank, exp.CumeDist)
def _rank(_: Evaluator, __: exp.Expr) -> Value:
    return RATIO


def _other_arguments(node: exp.Expr) -> list[exp.Expr]:
    by = node.args.get("expression")
    return [by] if isinstance(by, exp.Expr) else []


def by_name(evaluator: Evaluator, node: exp.Anonymous) -> Value | None:
    """Return the unit of an aggregate that the parser knows by name only; None when it is none."""
    name = node.name.lower()
    if len(node.expressions) == 1 and name in _OTHER_SUMS:
        return summed(evaluator, node, node.expressions[0])
    if len(node.expressions) == 1 and name in _OTHER_MEANS:
        return averaged(evaluator, node, node.expressions[0])
    return None
