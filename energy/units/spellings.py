"""Every spelling of a unit that we accept in users' text, generated: unit x sensible prefixes x ways to write it.

A prefix is left out where it would be misread: no ``mWh`` beside MWh, no ``mt`` beside Mt, no ``mJ`` beside MJ.
"""

from __future__ import annotations

import re
from functools import lru_cache

from energy.errors import nearest

_PREFIX_WORDS = {
    "": "",
    "p": "pico",
    "n": "nano",
    "µ": "micro",
    "m": "milli",
    "c": "centi",
    "k": "kilo",
    "M": "mega",
    "G": "giga",
    "T": "tera",
    "P": "peta",
    "E": "exa",
}
_BOUNDARIES = {"chip": "chip", "it": "IT", "facility": "facility", "generation": "generation"}
_LARGE_NUMBERS = {"thousand": "k", "million": "M", "billion": "G", "trillion": "T"}

# symbol: (prefixes that make sense, singular word, plural word)
_ELECTRICAL = {
    "Wh": (",k,M,G,T", ("watt-hour", "watt-hours", "watt hour", "watt hours", "watthour", "watthours")),
    "W": (",k,M,G,T", ("watt", "watts")),
    "J": ("p,n,µ,,k,M,G,T,P", ("joule", "joules")),
}
_PREFIXED = {
    "s": ("n,µ,m,", ("second", "seconds")),
    "m": ("n,µ,m,c,,k", ("meter", "meters", "metre", "metres")),
    "L": ("m,,k,M,G", ("liter", "liters", "litre", "litres")),
    "l": ("m,", ()),
    "Pa": (",k,M", ("pascal", "pascals")),
    "B": (",k,M,G,T,P", ("byte", "bytes")),
    "bit": (",k,M,G,T,P", ()),
    "gal": (",k,M", ()),
}
_PLAIN = {
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "min": ("min", "minute", "minutes"),
    "d": ("d", "day", "days"),
    "yr": ("yr", "year", "years"),
    "gal": ("gallon", "gallons", "US gallon", "US gallons"),
    "bit": ("bits",),
    "K": ("K", "kelvin"),
    "degC": ("degC", "°C", "deg C", "degrees Celsius"),
    "%": ("%", "percent", "pct"),
    "chip": ("chip", "chips"),
    "Btu": ("Btu", "BTU"),
    "kBtu": ("kBtu",),
    "MMBtu": ("MMBtu", "MMBTU"),
    "MiB": ("MiB",),
    "GiB": ("GiB",),
    "TiB": ("TiB",),
    "chip*h": ("chip*h", "chip·h", "chip h", "chip-h", "chip-hour", "chip-hours", "chip hour", "chip hours"),
    "PFLOP*d/s": ("PFLOP/s-day", "PFLOP/s-days", "petaflop/s-day", "petaflop/s-days"),
}
_MASSES = {
    "µg": ("µg", "ug", "microgram", "micrograms"),
    "mg": ("mg", "milligram", "milligrams"),
    "g": ("g", "gram", "grams"),
    "kg": ("kg", "kilogram", "kilograms"),
    "t": ("t", "tonne", "tonnes", "metric ton", "metric tons"),
    "kt": ("kt", "kilotonne", "kilotonnes"),
    "Mt": ("Mt", "megatonne", "megatonnes", "million tonnes"),
    "Gt": ("Gt", "gigatonne", "gigatonnes"),
    "lb": ("lb", "lbs", "pound", "pounds"),
}
_CO2E = ("CO2e", "CO2eq", "CO2-eq", "CO2-e", "CO2 eq")
_AREAS = ("nm", "µm", "mm", "cm", "m", "km")


@lru_cache(maxsize=1)
def spellings() -> dict[str, str]:
    """Return each accepted spelling of one unit with its text in ``units.txt``.

    ``CO₂`` is looked up as ``CO2``, and the Greek mu as the micro sign.

    Examples
    --------
    >>> table = spellings()
    >>> table["kg CO2-eq"], table["chip-hours"], "mWh" in table
    ('kgCO2e', 'chip*h', False)

    """
    table: dict[str, str] = {}
    _add_electrical(table)
    for symbol, (prefixes, full_words) in _PREFIXED.items():
        for prefix in prefixes.split(","):
            _add_prefixed(table, prefix, symbol, full_words)
    for unit, texts in _PLAIN.items():
        table.update(dict.fromkeys(texts, unit))
    _add_masses(table)
    _add_counts(table)
    for length in _AREAS:
        for power, raised in (("2", "²"), ("3", "³")):
            table.update(
                dict.fromkeys(
                    (f"{length}{e}" for e in (power, raised, f"^{power}", f"**{power}")), f"{length}**{power}"
                )
            )
    return table


def _add_prefixed(table: dict[str, str], prefix: str, symbol: str, full_words: tuple[str, ...], tag: str = "") -> None:
    unit = f"{prefix}{symbol}{tag}"
    table[unit] = unit
    if prefix == "µ":
        table[f"u{symbol}{tag}"] = unit
    if not tag:
        table.update({f"{_PREFIX_WORDS[prefix]}{word}": unit for word in full_words})


def _add_electrical(table: dict[str, str]) -> None:
    """Add energy and power, bare and at each boundary; ``kWh (IT)`` is how we print it, so it can be pasted back."""
    for symbol, (prefixes, full_words) in _ELECTRICAL.items():
        for prefix in prefixes.split(","):
            _add_prefixed(table, prefix, symbol, full_words)
            for tag, word in _BOUNDARIES.items():
                _add_prefixed(table, prefix, symbol, (), f"_{tag}")
                table[f"{prefix}{symbol} ({word})"] = f"{prefix}{symbol}_{tag}"


def _add_masses(table: dict[str, str]) -> None:
    """Add masses, and each of them as CO2e and as CO2; the metric ton's prefixes belong to both."""
    for mass, texts in _MASSES.items():
        for text in texts:
            table[text] = mass
            for gas in (*_CO2E, "CO2"):
                unit = f"{mass}{'CO2' if gas == 'CO2' else 'CO2e'}"
                unit = unit if unit not in {"tCO2", "ktCO2", "MtCO2", "GtCO2", "lbCO2"} else f"{unit}e"
                for link in ("", " ", " of "):
                    if link or len(text) <= 3:
                        table[f"{text}{link}{gas}"] = unit


def _add_counts(table: dict[str, str]) -> None:
    """Add tokens, requests, operations and money, whose large numbers people write as words or prefixes."""
    for name in ("token", "request"):
        for form in (name, f"{name}s"):
            table.update({f"{prefix}{form}": f"{prefix}{name}" for prefix in ("", "k", "M", "G", "T")})
            table.update({f"{prefix} {form}": f"{prefix}{name}" for prefix in ("k", "M", "G", "T")})
            table.update({f"{word} {form}": f"{prefix}{name}" for word, prefix in _LARGE_NUMBERS.items()})
    table.update({f"{prefix}FLOP": f"{prefix}FLOP" for prefix in ("", "k", "M", "G", "T", "P", "E", "Z", "Y")})
    for currency in ("USD", "EUR"):
        table.update({f"{prefix}{currency}": f"{prefix}{currency}" for prefix in ("", "k", "M", "G")})
        table.update({f"{prefix} {currency}": f"{prefix}{currency}" for prefix in ("k", "M", "G")})
        table.update(
            {f"{word} {currency}": f"{prefix}{currency}" for word, prefix in _LARGE_NUMBERS.items() if prefix != "T"}
        )
    table.update({"euro": "EUR", "euros": "EUR", "US dollar": "USD", "US dollars": "USD"})


_CO2_ONLY = re.compile(r"CO2$")

_REMEDIES = (
    (re.compile(r"^(MT|mt)(?P<rest>\b.*|CO2.*)$"), "did you mean t{rest} (metric ton) or Mt{rest} (million tonnes)?"),
    (
        re.compile(r"FLOP[sS]"),
        "write TFLOP/s for a rate and TFLOP for a count; FLOPS and FLOPs differ by one letter's case",
    ),
    (re.compile(r"^(GPU|TPU|accelerator)s?", re.IGNORECASE), "write chip, or chip-hours"),
    (re.compile(r"[$¢]"), "write USD, a million dollars as MUSD"),
    (re.compile(r"€"), "write EUR, a million euros as MEUR"),
    (re.compile(r"^(°F|degF|F)$"), "write degC"),
)


def is_co2_only(spelling: str) -> bool:
    """Return whether a spelling says CO2 alone, not CO2e.

    Examples
    --------
    >>> is_co2_only("kg CO2"), is_co2_only("kgCO2e")
    (True, False)

    """
    return _CO2_ONLY.search(spelling) is not None


def remedy(unknown: str) -> str:
    """Return what to write instead of a spelling that is not in the list, as one clause.

    Examples
    --------
    >>> remedy("MT CO2e")
    'did you mean tCO2e (metric ton) or MtCO2e (million tonnes)?'
    >>> remedy("kwh")
    'did you mean kWh?'

    """
    for pattern, advice in _REMEDIES:
        match = pattern.search(unknown)
        if match:
            rest = (match.groupdict().get("rest") or "").replace(" ", "")
            return advice.format(rest=rest)
    alike = nearest(unknown[:40], spellings(), limit=1)
    return f"did you mean {alike[0]}?" if alike else "write a unit of docs/units.md"
