"""Which step is missing between the unit that was given and the unit that is wanted, in words."""

from __future__ import annotations

from energy.units.registry import TAGS, UnitLike, dimension

_STEP_UP = (
    "the node overhead (kWh (IT) per kWh (chip))",
    "PUE (kWh (facility) per kWh (IT))",
    "the grid loss (kWh (generation) per kWh (facility))",
)
_COUNTS = {"[chip]": "the number of chips", "[token]": "the number of tokens", "[request]": "the number of requests"}


def missing_step(given: UnitLike, wanted: UnitLike) -> str:
    """Return what to do so that ``given`` becomes ``wanted``.

    Parameters
    ----------
    given, wanted : str or pint.Unit
        Units of different dimension.

    Returns
    -------
    str
        One clause without full stop; an empty text when the dimensions are equal.

    Raises
    ------
    UnitError
        A unit is not known.

    Examples
    --------
    >>> missing_step("kWh_it", "kWh_facility")
    'multiply by PUE (kWh (facility) per kWh (IT)) first'

    """
    have, want = dict(dimension(given)), dict(dimension(wanted))
    change = {
        name: want.get(name, 0) - have.get(name, 0)
        for name in sorted(have.keys() | want.keys())
        if want.get(name, 0) != have.get(name, 0)
    }
    tags = {name: change.pop(name) for name in [f"[{tag}]" for tag in TAGS] if name in change}
    clauses = [clause for clause in (_step_of_kind(change), _step_of_place(have, want, tags)) if clause]
    return "; ".join(clauses)


def _step_of_kind(change: dict[str, float]) -> str:
    """Say the step for a difference in the thing measured, boundary left aside."""
    if not change:
        return ""
    names = frozenset(change)
    if names == {"[carbon]", "[mass]"}:
        if change["[carbon]"] > 0:
            return "mass is not CO2e: write gCO2e, or multiply the mass of a gas by its GWP first"
        return "CO2e is not a mass: give the mass of the gas itself"
    if names == {"[currency_EUR]", "[currency_USD]"}:
        rate = "USD/EUR" if change["[currency_USD]"] > 0 else "EUR/USD"
        return f"multiply by a dated exchange rate ({rate}) first"
    if len({power > 0 for power in change.values()}) > 1:
        return "it measures another thing"  # one factor more and one less: no single step that was forgotten
    clauses = []
    for name, power in change.items():
        verb = "multiply" if power > 0 else "divide"
        if name == "[time]" and abs(power) == 1:
            clauses.append(f"{verb} by the time first")
        elif name in _COUNTS and abs(power) == 1:
            clauses.append(f"{verb} by {_COUNTS[name]} first")
        else:
            return "it measures another thing"
    return " and ".join(clauses)


def _step_of_place(have: dict[str, float], want: dict[str, float], tags: dict[str, float]) -> str:
    """Say the step for a difference in the measurement boundary."""
    if not tags:
        return ""
    given_tags = [f"[{tag}]" for tag in TAGS if f"[{tag}]" in have]
    if not given_tags and all(want.get(name) for name in tags):
        return "say where it was measured (chip, IT, facility or generation)"
    if have.get("[at_generation]", 0) < 0 < tags.get("[at_generation]", 0):
        return "per kWh at the plant: restate a production factor with as_purchased(factor) first"
    twice = [name for name in given_tags if abs(have[name]) > 1]
    if twice:
        return "a ratio between boundaries was applied twice: apply it once"
    if sum(tags.values()) != 0:
        return "this place takes no measurement boundary" if not any(f"[{t}]" in want for t in TAGS) else _both(tags)
    return _walk(have, tags)


def _both(tags: dict[str, float]) -> str:
    places = ", ".join(name.strip("[]").removeprefix("at_") for name in tags)
    return f"the measurement boundaries do not match ({places}): state each of them"


def _walk(have: dict[str, float], tags: dict[str, float]) -> str:
    """Name each conversion between the boundary that is there and the one that is wanted."""
    level = 0.0
    up, down = [], []
    for tag, step in zip(TAGS[:-1], _STEP_UP, strict=True):
        level += tags.get(f"[{tag}]", 0)
        if level < 0:
            up.append(step)
        elif level > 0:
            down.append(step)
    clauses = ([f"multiply by {' and by '.join(up)} first"] if up else []) + (
        [f"divide by {' and by '.join(down)} first"] if down else []
    )
    # A factor per kWh at the meter is the commonest slip: say it as people say it.
    at_meter = have.get("[at_facility]", 0) < 0 and up == [_STEP_UP[1]] and not down
    return ("per kWh at the meter: " if at_meter else "") + " and ".join(clauses)
