"""Names of columns say their unit: suffix = unit, a word before it = measurement boundary, ``_per_`` = division."""

from __future__ import annotations

from functools import lru_cache

from energy.errors import UnitError
from energy.units.registry import dimension, is_offset, parse_unit, scale, takes_bare_number, unit_text
from energy.units.words import BOUNDARY_WORDS

# Energy and power, which carry a boundary. In lower case m is mega: milli is written out, in raw columns only.
ELECTRICAL_SUFFIXES = {
    "wh": "Wh",
    "kwh": "kWh",
    "mwh": "MWh",
    "gwh": "GWh",
    "twh": "TWh",
    "w": "W",
    "kw": "kW",
    "mw": "MW",
    "gw": "GW",
    "j": "J",
    "kj": "kJ",
    "mj": "MJ",
    "gj": "GJ",
    "microj": "µJ",
    "millij": "mJ",
    "milliw": "mW",
}
PLAIN_SUFFIXES = {
    "gco2e": "gCO2e",
    "kgco2e": "kgCO2e",
    "tco2e": "tCO2e",
    "g": "g",
    "kg": "kg",
    "t": "t",
    "us": "µs",
    "ms": "ms",
    "s": "s",
    "h": "h",
    "d": "d",
    "yr": "yr",
    "l": "L",
    "m3": "m**3",
    "m": "m",
    "m2": "m**2",
    "mm2": "mm**2",
    "cm2": "cm**2",
    "gal": "gal",
    "usd": "USD",
    "eur": "EUR",
    "token": "token",
    "flop": "FLOP",
    "gflop": "GFLOP",
    "tflop": "TFLOP",
    "pflop": "PFLOP",
    "byte": "B",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "mib": "MiB",
    "gib": "GiB",
    "tib": "TiB",
    "pct": "%",
    "pa": "Pa",
    "mmbtu": "MMBtu",
    "c": "degC",
    "k": "K",
}
# Only behind `_per_`: as a last word of other names they are ordinary words (a chip, a request, a day).
DENOMINATORS = {
    "chip": "chip",
    "request": "request",
    "mtoken": "Mtoken",
    "bit": "bit",
    "min": "min",
    "day": "d",
    "year": "yr",
}
CHIP_TIMES = frozenset({"h", "s", "ms", "us", "d"})  # chips times time: installed_chip_h
NAMES_WITHOUT_SUFFIX = {"pue": "kWh_facility/kWh_it", "node_overhead": "kWh_it/kWh_chip"}
RANGE_WORDS = frozenset({"low", "high", "low80", "high80"})


def is_instant_column(name: str) -> bool:
    """Return whether a column holds UTC instants, which have no unit.

    Examples
    --------
    >>> is_instant_column("start_utc")
    True

    """
    return name.endswith("_utc")


@lru_cache(maxsize=4096)
def unit_of_column(name: str) -> str | None:
    """Return the unit that a column's name states.

    Parameters
    ----------
    name : str
        Column name in lower case with underscores.

    Returns
    -------
    str or None
        Unit text of ``units.txt``; ``None`` where the name states none: texts, keys, counts, instants (``_utc``).

    Raises
    ------
    UnitError
        A known unit is divided by something that is none, such as ``_kwh_per_foo``.

    Examples
    --------
    >>> unit_of_column("energy_it_low_kwh"), unit_of_column("intensity_gco2e_per_kwh_facility")
    ('kWh_it', 'gCO2e/kWh_facility')
    >>> unit_of_column("project") is None
    True

    """
    parts = [part for part in name.split("_") if part not in RANGE_WORDS]
    for ending, unit in NAMES_WITHOUT_SUFFIX.items():
        words = ending.split("_")
        if parts[-len(words) :] == words:
            return unit
    head, *denominators = _split_at_per(parts)
    unit_text_ = _numerator(head)
    if unit_text_ is None:
        return None
    below = [_denominator(words) for words in denominators]
    if None in below:
        raise UnitError(f"Column {name}: what stands behind _per_ is no unit; name it like cost_usd_per_chip_h.")
    return "/".join([unit_text_, *(part.replace("*", "/") for part in below if part is not None)])


def _split_at_per(parts: list[str]) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for part in parts:
        if part == "per":
            groups.append([])
        else:
            groups[-1].append(part)
    return groups


def _numerator(parts: list[str]) -> str | None:
    """Return the unit that the words before ``_per_`` end with."""
    if len(parts) >= 2 and parts[-2] == "chip" and parts[-1] in CHIP_TIMES:
        return f"chip*{PLAIN_SUFFIXES[parts[-1]]}"
    if len(parts) < 2:
        return None
    *before, last = parts
    if last in ELECTRICAL_SUFFIXES:
        boundary = next((word for word in reversed(before) if word in BOUNDARY_WORDS), None)
        return ELECTRICAL_SUFFIXES[last] + (f"_{boundary}" if boundary else "")
    return PLAIN_SUFFIXES.get(last)


def _denominator(parts: list[str]) -> str | None:
    """Return the unit that the words behind ``_per_`` are, boundary behind the unit; nothing else may stand there."""
    if len(parts) == 2 and parts[0] == "chip" and parts[1] in CHIP_TIMES:
        return f"chip*{PLAIN_SUFFIXES[parts[1]]}"
    if len(parts) == 2 and parts[0] in ELECTRICAL_SUFFIXES and parts[1] in BOUNDARY_WORDS:
        return f"{ELECTRICAL_SUFFIXES[parts[0]]}_{parts[1]}"
    if len(parts) != 1 or parts == ["c"]:
        return None
    only = parts[0]
    return DENOMINATORS.get(only) or ELECTRICAL_SUFFIXES.get(only) or PLAIN_SUFFIXES.get(only)


def check_column_unit(name: str, unit: str | None) -> None:
    """Raise when a column's name and its declared unit disagree.

    Parameters
    ----------
    name : str
        Column name.
    unit : str or None
        Declared unit; ``""`` for a plain ratio or count, ``None`` for texts, keys and instants. A rating of one chip
        may leave its count out of the name: ``power_chip_w`` may be W_chip or W_chip/chip.

    Raises
    ------
    UnitError
        Names the column, both units and the rule.

    Examples
    --------
    >>> check_column_unit("energy_it_kwh", "kWh_it")
    >>> check_column_unit("energy_mwh", "kWh_it")
    Traceback (most recent call last):
    energy.errors.UnitError: Column energy_mwh says MWh, but is declared kWh_it: name and unit must agree.

    """
    said = unit_of_column(name)
    if said is None:
        if unit is None or (not is_instant_column(name) and takes_bare_number(unit)):
            return
        kind = "an instant, which has no unit" if is_instant_column(name) else "no unit"
        raise UnitError(f"Column {name} says {kind}, but is declared {unit_text(unit)}: add the unit as suffix.")
    if unit is not None and any(_equal(said_, unit) for said_ in (said, f"{said}/chip")):
        return
    declared = "without unit" if unit is None else unit_text(unit) or "a plain ratio"
    raise UnitError(f"Column {name} says {said}, but is declared {declared}: name and unit must agree.")


def _equal(said: str, declared: str) -> bool:
    a, b = parse_unit(said), parse_unit(declared)
    return dimension(a) == dimension(b) and is_offset(a) == is_offset(b) and scale(a, b) == 1.0
