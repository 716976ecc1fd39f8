"""How numbers are written for people: digits from the range, prefix from the value, thin spaces, real minus.

Values stay exact decimals until they become text; nothing that is written here is ever added again.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from typing import TypeAlias

from energy.errors import UnknownNameError, did_you_mean

Number: TypeAlias = Decimal | int | float

THIN = "\u202f"  # narrow no-break space: groups thousands, and stands before a unit
MINUS = "\u2212"
DASH = "\u2013"
NO_DATA = "no data"
RANGE_UNKNOWN = "range not known"

_DEEPEST = 4  # decimals beyond this tell nothing that a reader can use
_PRECISION = 60
# A value that rounds to 1000 of a prefix is written with the next one.
_NEXT_PREFIX_FROM = Decimal("0.9995")

_Ladder: TypeAlias = tuple[tuple[Decimal, str], ...]


def _ladder(*steps: tuple[str, str]) -> _Ladder:
    return tuple((Decimal(factor), text) for factor, text in steps)


LADDERS: dict[str, _Ladder] = {
    "Wh": _ladder(("1e-3", "mWh"), ("1", "Wh"), ("1e3", "kWh"), ("1e6", "MWh"), ("1e9", "GWh"), ("1e12", "TWh")),
    "W": _ladder(("1e-3", "mW"), ("1", "W"), ("1e3", "kW"), ("1e6", "MW"), ("1e9", "GW")),
    "J": _ladder(("1e-3", "mJ"), ("1", "J"), ("1e3", "kJ"), ("1e6", "MJ"), ("1e9", "GJ")),
    "gCO2e": _ladder(
        ("1e-3", "mgCO₂e"),
        ("1", "gCO₂e"),
        ("1e3", "kgCO₂e"),
        ("1e6", "tCO₂e"),
        ("1e9", "ktCO₂e"),
        ("1e12", "MtCO₂e"),
    ),
    "l": _ladder(("1e-3", "mL"), ("1", "L"), ("1e3", "m³")),
    "USD": _ladder(("1", "USD"), ("1e6", f"M{THIN}USD"), ("1e9", f"G{THIN}USD")),
    "token": _ladder(("1", "token"), ("1e6", f"M{THIN}token"), ("1e9", f"G{THIN}token"), ("1e12", f"T{THIN}token")),
}


def exact(value: Number) -> Decimal:
    """Return the number as a decimal; a float by its shortest text, so 0.1 is 0.1."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def step(value: Number, family: str) -> tuple[Decimal, str]:
    """Choose the prefix: 1 ≤ value < 1000, by the value alone, never by the ends of its range.

    Parameters
    ----------
    value : Decimal, int or float
        In the family's base unit.
    family : str
        A key of ``LADDERS``, such as ``Wh`` or ``gCO2e``.

    Returns
    -------
    tuple of Decimal and str
        Factor of the unit to the base unit, and the unit's text.

    Raises
    ------
    UnknownNameError
        For a family that has no ladder.

    Examples
    --------
    >>> step(1_284_000, "Wh")
    (Decimal('1E+6'), 'MWh')

    """
    if family not in LADDERS:
        raise UnknownNameError(f"No unit family named {family}.{did_you_mean(family, LADDERS)}")
    ladder = LADDERS[family]
    size = abs(exact(value))
    if not size:
        return ladder[min(2, len(ladder) - 1)]
    fitting = [entry for entry in ladder if size >= entry[0] * _NEXT_PREFIX_FROM]
    return fitting[-1] if fitting else ladder[0]


def places(value: Number, low: Number | None = None, high: Number | None = None, digits: int = 3) -> int:
    """Return the decimal places: two significant digits of half the range, else ``digits`` of the value.

    A negative result means tens, hundreds and so on.

    Examples
    --------
    >>> places(1284, 1252, 1317), places(0.4567), places(1_234_567)
    (0, 3, -4)

    """
    if low is not None and high is not None and exact(high) > exact(low):
        return 1 - ((exact(high) - exact(low)) / 2).adjusted()
    number = exact(value)
    if not number:
        return 0
    with localcontext() as context:
        context.prec = digits
        context.rounding = ROUND_HALF_EVEN
        return digits - 1 - (+number).adjusted()


def plain(value: Number, decimals: int, sign: bool = False) -> str:
    """Write a number with that many decimals; half rounds away from zero.

    Parameters
    ----------
    value : Decimal, int or float
    decimals : int
        Negative rounds to tens, hundreds and so on.
    sign : bool
        Whether a positive number carries its sign, as differences do.

    Examples
    --------
    >>> plain(1284.5, 0) == f"1{THIN}285", plain(-2, 1), plain(2, 1, sign=True)
    (True, '−2.0', '+2.0')

    """
    with localcontext() as context:
        context.prec = _PRECISION
        rounded = exact(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
        text = f"{abs(rounded):,.{max(decimals, 0)}f}".replace(",", THIN)
    mark = MINUS if rounded < 0 else "+" if sign and rounded > 0 else ""
    return mark + text


def span(low: Number, high: Number, decimals: int) -> str:
    """Write a range; with a negative end the word "to" stands for the dash.

    Examples
    --------
    >>> span(-20, 35, 0)
    '−20 to 35'

    """
    join = " to " if min(exact(low), exact(high)) < 0 else f"{THIN}{DASH}{THIN}"
    return plain(low, decimals) + join + plain(high, decimals)


def figure(
    value: Number | None, low: Number | None, high: Number | None, family: str, digits: int = 3
) -> tuple[str, str, str]:
    """Write a figure: value, unit and range, each as its own text.

    Parameters
    ----------
    value, low, high : Decimal, int, float or None
        In the family's base unit; ``None`` is not known, which is not zero.
    family : str
        A key of ``LADDERS``.
    digits : int
        Significant digits where no range is known.

    Examples
    --------
    >>> [part.replace(THIN, " ") for part in figure(909e6, 842e6, 981e6, "Wh")]
    ['909', 'MWh', '842 – 981']
    >>> figure(None, None, None, "Wh")
    ('no data', '', '')

    """
    if value is None:
        return NO_DATA, "", ""
    factor, unit = step(value, family)
    scaled = exact(value) / factor
    if low is None or high is None:
        decimals = min(places(scaled, digits=digits), _DEEPEST)
        return plain(scaled, max(decimals, 0)), unit, RANGE_UNKNOWN
    low_scaled, high_scaled = exact(low) / factor, exact(high) / factor
    decimals = min(places(scaled, low_scaled, high_scaled, digits), _DEEPEST)
    return plain(scaled, decimals), unit, span(low_scaled, high_scaled, decimals)


def change(now: Number | None, before: Number | None) -> str:
    """Write the change against an earlier value.

    Examples
    --------
    >>> change(98, 100).replace(THIN, " "), change(1, 0), change(100.01, 100), change(None, 3)
    ('−2.0 %', 'was 0', 'unchanged', 'no earlier figure')

    """
    if now is None or before is None:
        return "no earlier figure"
    if not before:
        return "was 0"
    percent = 100 * (exact(now) / exact(before) - 1)
    if abs(percent) < Decimal("0.05"):
        return "unchanged"
    return plain(percent, 1 if abs(percent) < 10 else 0, sign=True) + THIN + "%"


def share(part: Number | None, whole: Number | None) -> str:
    """Write a share in percent; 0 and 100 only when exact.

    Examples
    --------
    >>> [share(part, 100).replace(THIN, " ") for part in (3.1, 41.4, 0.01, 99.95, 100)]
    ['3.1 %', '41 %', '< 0.1 %', '> 99.9 %', '100 %']

    """
    if part is None or not whole:
        return NO_DATA
    percent = 100 * exact(part) / exact(whole)
    if percent in (0, 100):
        return f"{percent:.0f}{THIN}%"
    if 0 < percent < Decimal("0.1"):
        return f"<{THIN}0.1{THIN}%"
    if Decimal("99.9") < percent < 100:
        return f">{THIN}99.9{THIN}%"
    return plain(percent, 1 if percent < 10 or percent > 90 else 0) + THIN + "%"
