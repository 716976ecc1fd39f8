"""Rules for expressions of one row: operators, casts, CASE, dates, texts, the two macros."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from energy.ledger.unit_check import aggregates
from energy.ledger.unit_check.apart import Node
from energy.ledger.unit_check.evaluator import Evaluator, handles
from energy.ledger.unit_check.measure import TAGS, measure, times
from energy.ledger.unit_check.names import kind_of_type
from energy.ledger.unit_check.values import (
    BARE,
    NOT_CHECKED,
    NULL,
    RATIO,
    TRUTH,
    ClashError,
    NotChecked,
    NoUnit,
    Number,
    Value,
    add,
    comparable,
    describe,
    divide,
    either,
    literal,
    multiply,
    number,
    possible_units,
    raised,
)

MACROS = ("counted_at_facility", "as_purchased")
"""Macros of the ledger that restate a boundary and leave the number as it is."""

MACRO_STATEMENTS = tuple(f"CREATE OR REPLACE MACRO {name}(x) AS x" for name in MACROS)
"""What a ledger runs so that its queries may use them."""

_DATE_PARTS = {
    "microsecond": "µs",
    "millisecond": "ms",
    "second": "s",
    "minute": "min",
    "hour": "h",
    "day": "d",
}
_TEXT_FUNCTIONS = {"printf", "strftime", "bar", "format_bytes", "regexp_replace", "list_aggregate", "typeof", "version"}
_INSTANT_FUNCTIONS = {"now", "get_current_timestamp", "time_bucket", "last_day", "make_timestamptz"}


# --- leaves ---


@handles(exp.Column)
def _column(evaluator: Evaluator, node: exp.Column) -> Value:
    return evaluator.column(node)


@handles(exp.Literal)
def _literal(_: Evaluator, node: exp.Literal) -> Value:
    if node.is_string:
        return NoUnit("string")
    try:
        return literal(float(str(node.this).replace("_", "")))
    except ValueError:
        return BARE  # hexadecimal and the like: a bare number all the same


@handles(exp.Null)
def _null(_: Evaluator, __: exp.Null) -> Value:
    return NULL


@handles(exp.Boolean)
def _boolean(_: Evaluator, __: exp.Boolean) -> Value:
    return TRUTH


@handles(exp.Pi, exp.Rand)
def _constant(_: Evaluator, __: exp.Expr) -> Value:
    return RATIO


@handles(exp.CurrentDate)
def _today(_: Evaluator, __: exp.Expr) -> Value:
    return NoUnit("date")


@handles(exp.CurrentTimestamp, exp.CurrentTime, exp.Localtimestamp, exp.UnixToTime)
def _now(evaluator: Evaluator, node: exp.Expr) -> Value:
    # epoch_ms() goes both ways under one name: of an instant it gives milliseconds.
    if isinstance(node, exp.UnixToTime):
        inner = evaluator.value(node.this)
        if isinstance(inner, NoUnit) and inner.kind in {"instant", "date", "interval"}:
            return number("ms", "no") if node.args.get("scale") is not None else NOT_CHECKED
    return NoUnit("instant")


@handles(exp.Interval)
def _interval(evaluator: Evaluator, node: exp.Interval) -> Value:
    evaluator.value(node.this)
    return NoUnit("interval")


# --- arithmetic ---


@handles(exp.Paren, exp.Alias, exp.Ordered, exp.AtTimeZone)
def _inner(evaluator: Evaluator, node: exp.Expr) -> Value:
    return evaluator.value(node.this)


@handles(exp.Neg)
def _negative(evaluator: Evaluator, node: exp.Neg) -> Value:
    value = evaluator.value(node.this)
    return literal(-value.literal) if isinstance(value, Number) and value.literal is not None else value


@handles(exp.Add)
def _add(evaluator: Evaluator, node: exp.Add) -> Value:
    return add(evaluator.value(node.left), evaluator.value(node.right), "add")


@handles(exp.Sub)
def _subtract(evaluator: Evaluator, node: exp.Sub) -> Value:
    return add(evaluator.value(node.left), evaluator.value(node.right), "subtract")


@handles(exp.Mul)
def _multiply(evaluator: Evaluator, node: exp.Mul) -> Value:
    return multiply(evaluator.value(node.left), evaluator.value(node.right))


@handles(exp.Div, exp.IntDiv)
def _divide(evaluator: Evaluator, node: exp.Binary) -> Value:
    return divide(evaluator.value(node.left), evaluator.value(node.right))


@handles(exp.Mod)
def _modulo(evaluator: Evaluator, node: exp.Mod) -> Value:
    value, by = evaluator.value(node.this), evaluator.value(node.expression)
    if isinstance(by, Number) and by.literal is not None:
        return replace(value, literal=None) if isinstance(value, Number) else value
    return either(value, by, "divide with remainder")


@handles(exp.Pow)
def _power(evaluator: Evaluator, node: exp.Pow) -> Value:
    value, power = evaluator.value(node.this), evaluator.value(node.expression)
    if isinstance(power, Number) and power.literal is not None:
        return raised(value, power.literal)
    return _plain_number(value, "raise to a power that varies")


@handles(exp.Sqrt)
def _root(evaluator: Evaluator, node: exp.Sqrt) -> Value:
    return raised(evaluator.value(node.this), 0.5)


@handles(exp.Ln, exp.Log, exp.Exp, exp.Sin, exp.Cos, exp.Tan, exp.Atan)
def _transcendental(evaluator: Evaluator, node: exp.Expr) -> Value:
    values = evaluator.children(node)
    return _plain_number(values[0] if values else NOT_CHECKED, f"take {type(node).__name__.lower()}() of")


def _plain_number(value: Value, what: str) -> Value:
    if isinstance(value, Number) and value.dimensions:
        raise ClashError(f"Cannot {what} {describe(value)}: divide by a reference value in the same unit first.")
    return RATIO if isinstance(value, Number) else value


@handles(exp.Abs, exp.Round, exp.Ceil, exp.Floor, exp.Trunc)
def _keeps_unit(evaluator: Evaluator, node: exp.Expr) -> Value:
    value, *_ = evaluator.children(node)
    return replace(value, literal=None) if isinstance(value, Number) else value


@handles(exp.Sign)
def _sign(evaluator: Evaluator, node: exp.Sign) -> Value:
    evaluator.value(node.this)
    return BARE


@handles(exp.Cast, exp.TryCast)
def _cast(evaluator: Evaluator, node: exp.Cast) -> Value:
    value = evaluator.value(node.this)
    to = node.args["to"].this
    kind = kind_of_type(str(getattr(to, "value", to)))
    if value == NULL:
        return value
    if to in exp.DataType.TEXT_TYPES or kind in {"text", "instant", "date", "boolean"}:
        return NoUnit("text") if to in exp.DataType.TEXT_TYPES else NoUnit(kind)
    if to in exp.DataType.NUMERIC_TYPES:
        return _as_numeric(value, node.this)
    return NoUnit("interval") if to == exp.DataType.Type.INTERVAL else NOT_CHECKED


def _as_numeric(value: Value, operand: exp.Expr) -> Value:
    if isinstance(value, NoUnit) and value.kind == "boolean":
        return BARE
    if isinstance(value, NoUnit) and value.kind == "string" and isinstance(operand, exp.Literal):
        try:
            return literal(float(operand.name))
        except ValueError:
            return BARE
    if isinstance(value, NoUnit) and value.kind in {"text", "string"}:
        return NoUnit("key")
    return value


# --- one or the other ---


@handles(exp.Case)
def _case(evaluator: Evaluator, node: exp.Case) -> Value:
    subject = None if node.this is None else evaluator.value(node.this)
    branches: list[tuple[exp.Expr, Value]] = []
    methods: set[tuple[Node, str]] = set()
    for branch in node.args["ifs"]:
        tested = evaluator.value(branch.this)
        if subject is not None:
            comparable(subject, tested)
        condition = branch.this if subject is None else exp.EQ(this=node.this.copy(), expression=branch.this.copy())
        with evaluator.held(condition) as held:
            value = evaluator.value(branch.args.get("true"))
        branches.append((branch.args["true"], value))
        if isinstance(value, Number) and value.literal is None:
            methods.update(held)
    default = node.args.get("default")
    if default is not None:
        branches.append((default, evaluator.value(default)))
    return _one_method(_all_of(evaluator, branches), methods)


def _one_method(value: Value, methods: set[tuple[Node, str]]) -> Value:
    """Mark a CASE that picks one method here and another there: its rows are of several methods after all."""
    if isinstance(value, Number) and value.additive == "yes" and len({name for _, name in methods}) > 1:
        return replace(value, additive="within method")
    return value


@handles(exp.If)
def _if(evaluator: Evaluator, node: exp.If) -> Value:
    evaluator.value(node.this)
    with evaluator.held(node.this):
        yes = evaluator.value(node.args.get("true"))
    no = node.args.get("false")
    return either(yes, evaluator.value(no)) if no is not None else yes


@handles(exp.Coalesce, exp.Greatest, exp.Least)
def _one_of(evaluator: Evaluator, node: exp.Expr) -> Value:
    verb = "put in one column" if isinstance(node, exp.Coalesce) else "compare"
    operands = [node.this, *node.expressions]
    return _all_of(evaluator, list(zip(operands, evaluator.values(operands), strict=True)), verb)


def _all_of(evaluator: Evaluator, operands: list[tuple[exp.Expr, Value]], verb: str = "put in one column") -> Value:
    """Return the one unit that all values have; the first that differs is named by its place."""
    found: Value = NULL
    for node, value in operands:
        try:
            found = either(found, value, verb)
        except ClashError as clash:
            raise evaluator.error(str(clash), node) from None
    return found


@handles(exp.Nullif)
def _nullif(evaluator: Evaluator, node: exp.Nullif) -> Value:
    value = evaluator.value(node.this)
    comparable(value, evaluator.value(node.expression))
    return value


# --- truth ---


@handles(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ)
def _comparison(evaluator: Evaluator, node: exp.Binary) -> Value:
    comparable(evaluator.value(node.left), evaluator.value(node.right))
    return TRUTH


@handles(exp.Between)
def _between(evaluator: Evaluator, node: exp.Between) -> Value:
    value = evaluator.value(node.this)
    comparable(value, evaluator.value(node.args["low"]))
    comparable(value, evaluator.value(node.args["high"]))
    return TRUTH


@handles(exp.In)
def _in(evaluator: Evaluator, node: exp.In) -> Value:
    value = evaluator.value(node.this)
    query = node.args.get("query")
    for other in [*node.expressions, *([query] if query is not None else [])]:
        comparable(value, evaluator.value(other))
    return TRUTH


@handles(
    exp.And, exp.Or, exp.Xor, exp.Not, exp.Is, exp.Like, exp.ILike, exp.SimilarTo, exp.Glob, exp.RegexpLike,
    exp.StartsWith, exp.EndsWith, exp.Contains, exp.IsNan, exp.IsInf,
)  # fmt: skip
def _truth(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.children(node)
    return TRUTH


@handles(exp.Exists)
def _exists(_: Evaluator, __: exp.Exists) -> Value:
    return TRUTH


# --- queries inside ---


@handles(exp.Subquery, exp.Select, exp.Union, exp.Except, exp.Intersect)
def _subquery(evaluator: Evaluator, node: exp.Expr) -> Value:
    outputs = evaluator.outputs.get(id(node.unnest()))
    if not outputs:
        return NOT_CHECKED
    value = outputs[0].value
    if isinstance(value, Number) and value.additive in {"within method", "lost"}:
        return replace(value, additive="lost")
    return evaluator.repeated(value) if isinstance(value, Number) else value


# --- time ---


@handles(exp.DateDiff, exp.TimestampDiff, exp.DatetimeDiff)
def _date_diff(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.value(node.this)
    evaluator.value(node.args.get("expression"))
    unit = node.args.get("unit")
    part = (unit.name if unit is not None else "day").lower().rstrip("s")
    return number(_DATE_PARTS[part]) if part in _DATE_PARTS else BARE  # months and years differ in length


@handles(exp.TimeToUnix)
def _epoch(evaluator: Evaluator, node: exp.TimeToUnix) -> Value:
    inner = evaluator.value(node.this)
    return number("s", "yes" if isinstance(inner, NoUnit) and inner.kind == "interval" else "no")


@handles(exp.Extract)
def _extract(evaluator: Evaluator, node: exp.Extract) -> Value:
    evaluator.value(node.args.get("expression"))
    return number("s", "no") if node.name.lower() == "epoch" else NoUnit("key")


@handles(
    exp.Hour, exp.Minute, exp.Second, exp.Day, exp.Month, exp.Year, exp.Quarter, exp.Week, exp.DayOfWeek, exp.DayOfYear
)
def _part_of_date(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.children(node)
    return NoUnit("key")


@handles(exp.TimestampTrunc, exp.DateTrunc, exp.DateAdd, exp.DateSub, exp.StrToTime)
def _instant(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.children(node)
    return NoUnit("instant")


# --- texts ---


@handles(
    exp.Concat, exp.ConcatWs, exp.DPipe, exp.Upper, exp.Lower, exp.Substring, exp.Trim, exp.Left, exp.Right,
    exp.Replace, exp.RegexpReplace, exp.RegexpExtract, exp.Pad, exp.Repeat, exp.Reverse, exp.TimeToStr, exp.Format,
    exp.MD5, exp.SHA2, exp.SplitPart, exp.Initcap, exp.GroupConcat,
)  # fmt: skip
def _text(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.children(node)
    return NoUnit("text")


@handles(exp.Length, exp.StrPosition)
def _length(evaluator: Evaluator, node: exp.Expr) -> Value:
    evaluator.children(node)
    return BARE


# --- what has no rule, and the macros ---


@handles(
    exp.Array, exp.List, exp.Struct, exp.Map, exp.Bracket, exp.Lambda, exp.Transform, exp.ArrayFilter,
    exp.Explode, exp.Unnest, exp.Dot, exp.Placeholder, exp.Parameter, exp.Star,
)  # fmt: skip
def _not_checked(_: Evaluator, __: exp.Expr) -> Value:
    # Names inside a lambda are no columns, so nothing in here is looked at.
    return NOT_CHECKED


@handles(exp.Columns)
def _many_columns(evaluator: Evaluator, _: exp.Columns) -> Value:
    evaluator.many = True
    return NOT_CHECKED


@handles(exp.Anonymous)
def _named_function(evaluator: Evaluator, node: exp.Anonymous) -> Value:
    name = node.name.lower()
    if any(isinstance(argument, exp.Lambda) for argument in node.expressions):
        return NOT_CHECKED
    aggregate = aggregates.by_name(evaluator, node)
    if aggregate is not None:
        return aggregate
    values = evaluator.values(node.expressions)
    if name in MACROS:
        if len(values) != 1:
            raise ClashError(f"{name}() takes one value, got {len(values)}.")
        return _counted_at_facility(values[0]) if name == "counted_at_facility" else _as_purchased(values[0])
    if name == "date_sub" and len(values) == 3 and isinstance(node.expressions[0], exp.Literal):
        part = node.expressions[0].name.lower().rstrip("s")
        return number(_DATE_PARTS[part]) if part in _DATE_PARTS else BARE
    if name == "date_part":
        return NoUnit("key")
    if name in _TEXT_FUNCTIONS:
        return NoUnit("text")
    return NoUnit("instant") if name in _INSTANT_FUNCTIONS else NOT_CHECKED


def _counted_at_facility(value: Value) -> Value:
    """Restate energy or power inside the site as a part of what its meter counts, number unchanged; upwards only."""
    if not isinstance(value, Number) or value.literal is not None:
        return value if value == NULL or isinstance(value, NotChecked) else _refused("counted_at_facility", value)
    found = dict(value.dimensions)
    tags = [(name, power) for name, power in value.dimensions if name in TAGS]
    if found.get("[energy]") != 1 or tags not in ([("[at_chip]", 1)], [("[at_it]", 1)]):
        return _refused("counted_at_facility", value)
    return _moved_to(value, tags[0][0], "[at_facility]", 1)


def _as_purchased(value: Value) -> Value:
    """Restate a production factor per kWh generated as one per kWh at the meter, number unchanged (Scope 2)."""
    if not isinstance(value, Number) or value.literal is not None:
        return value if value == NULL or isinstance(value, NotChecked) else _refused("as_purchased", value)
    if [(name, power) for name, power in value.dimensions if name in TAGS] != [("[at_generation]", -1)]:
        return _refused("as_purchased", value)
    return _moved_to(value, "[at_generation]", "[at_facility]", -1)


_TAKES = {
    "counted_at_facility": "energy or power at the chip or at IT, and counts upwards only",
    "as_purchased": "a factor per kWh_generation",
}


def _refused(macro: str, value: Value) -> Value:
    raise ClashError(f"{macro}() takes {_TAKES[macro]}; this is {describe(value)}.")


def _moved_to(value: Number, old: str, new: str, power: int) -> Number:
    dimensions = times(times(value.dimensions, ((old, 1),), -power), ((new, 1),), power)
    old_word, new_word = old.strip("[]").removeprefix("at"), new.strip("[]").removeprefix("at")
    spelled = [text.replace(old_word, new_word) for text in possible_units(value)[:1]]
    parts = measure(spelled[0]).parts if spelled else value.parts
    return replace(value, dimensions=dimensions, parts=parts)
