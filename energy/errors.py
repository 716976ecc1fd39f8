"""Errors: one base class, one subclass per cause, and "did you mean".

Every message is one line that names the thing, the value, the rule and the remedy. The command line prints it on
standard error and exits with 1; nobody sees a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EnergyError(Exception):
    """Base of every error that this package raises on purpose."""


class UnitError(EnergyError, TypeError):
    """A quantity has another dimension, or another measurement boundary, than the place that it was put in."""


class QuantityTextError(EnergyError, ValueError):
    """A text is not a number with a unit that we accept."""


class BasisError(EnergyError, ValueError):
    """Two quantities with different accounting bases were combined without naming the mix."""


class UnknownNameError(EnergyError, KeyError):
    """A chip, node, zone, factor, format or column is not known; the nearest names are given."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class AmbiguousNameError(UnknownNameError):
    """A name fits several entries."""


class CatalogueError(EnergyError, ValueError):
    """A dataset of the catalogue breaks its own declared rule."""


class FactorError(EnergyError, LookupError):
    """No emission factor fits the zone, the year and the policy that the caller allowed."""


class SiteFileError(EnergyError, ValueError):
    """``site.yaml`` is absent, cannot be read, or says something that does not hold."""


class MappingError(EnergyError, ValueError):
    """A mapping file does not say how to read an input."""


class InputFileError(EnergyError, ValueError):
    """An input file cannot be read at all; nothing of it was stored."""


class LedgerError(EnergyError, RuntimeError):
    """A ledger folder is absent, busy, damaged or holds no data for what was asked."""


class SqlError(EnergyError, ValueError):
    """A query is refused, cannot be read, or was stopped; carries ``line`` and ``column`` (both from 1) if known."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None, word: str = "") -> None:
        self.line = line
        self.column = column
        place = f" Line {line}, column {column}{f': {word}' if word else ''}." if line is not None else ""
        super().__init__(message + place)


class SqlUnitError(SqlError):
    """The units in a query do not add up."""


class SqlReadError(SqlUnitError):
    """The checker of units cannot follow the query: its text, or the name of a table or column."""


class CostError(EnergyError, ValueError):
    """A piece of work cannot be computed as asked: its shape, its mapping, its numbers, or it does not fit."""


class PriceNotKnownError(UnknownNameError):
    """Names are known but no price fits all of them: a gap in the tables, not a mistake of the asker."""


class ScenarioError(EnergyError, ValueError):
    """A scenario, from its file or from flags, cannot be read or says something that does not hold."""


class PowerError(EnergyError, ValueError):
    """Watts that cannot be told from what is known of a chip or its states."""


class WeatherError(EnergyError, ValueError):
    """A year of weather cannot be read, or says something that no air does."""


class FacilityError(EnergyError, ValueError):
    """A cooling plant, power chain or site cannot be computed as described."""


class SupplyError(EnergyError, ValueError):
    """A plant, battery, dispatch or shift of load cannot be computed as described."""


class SignInError(EnergyError, ValueError):
    """The app would be open to others than its machine, its sign-in is not rightly described, or a role is lacking."""


class UploadError(EnergyError, ValueError):
    """A file that was brought to the app cannot be taken; nothing of it was stored."""


class ReportError(EnergyError, ValueError):
    """A report cannot be made, or does not equal its recomputation."""


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Return up to ``limit`` known names that look like ``name``, best first.

    Examples
    --------
    >>> nearest("H10", ["H100", "A100", "T4"], limit=1)
    ['H100']

    """
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    hits = difflib.get_close_matches(name.casefold(), list(folded), n=limit, cutoff=0.4)
    return [folded[hit] for hit in hits]


def did_you_mean(name: str, known: Iterable[str], limit: int = 3) -> str:
    """Return " Nearest: A, B." for a message, or an empty text when nothing looks alike.

    Examples
    --------
    >>> did_you_mean("H10", ["H100", "A100", "T4"], limit=1)
    ' Nearest: H100.'

    """
    hits = nearest(name, known, limit)
    return f" Nearest: {', '.join(hits)}." if hits else ""
