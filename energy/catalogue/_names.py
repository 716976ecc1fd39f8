"""Names: exact after case-folding and collapsing separators, never by prefix or likeness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from energy.errors import AmbiguousNameError, CatalogueError, UnknownNameError, did_you_mean

_SEPARATORS = re.compile(r"[\s_\-]+")
_LISTED = 8  # names in one message


def fold(name: str) -> str:
    """Return the form in which names are compared.

    Examples
    --------
    >>> fold("NVIDIA A100-SXM4-80GB") == fold("nvidia_a100_sxm4_80gb")
    True
    >>> fold("A10") == fold("A100")
    False

    """
    return _SEPARATORS.sub(" ", name.casefold()).strip()


def index(names: Iterable[tuple[str, str]], what: str) -> Mapping[str, str]:
    """Return folded name to identifier; one name for two identifiers is an error of the catalogue."""
    result: dict[str, str] = {}
    for name, identifier in names:
        other = result.setdefault(fold(name), identifier)
        if other != identifier:
            raise CatalogueError(f"{what} name {name!r} means both {other} and {identifier}: list it as ambiguous.")
    return result


def grouped(names: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Return folded name to the identifiers that it fits; several where the name alone does not decide.

    Examples
    --------
    >>> grouped([("NVLink", "nvlink3"), ("NVLink", "nvlink4"), ("nvlink3", "nvlink3")])["nvlink"]
    ('nvlink3', 'nvlink4')

    """
    result: dict[str, tuple[str, ...]] = {}
    for name, identifier in names:
        fits = result.get(fold(name), ())
        if identifier not in fits:
            result[fold(name)] = (*fits, identifier)
    return result


def listed(identifiers: Sequence[str]) -> str:
    """Return identifiers for a message of one line, the first of many."""
    more = f" and {len(identifiers) - _LISTED} more" if len(identifiers) > _LISTED else ""
    return ", ".join(identifiers[:_LISTED]) + more


def find(name: str, known: Mapping[str, tuple[str, ...]], what: str, shown: Iterable[str]) -> str:
    """Return the identifier that a name means, exactly.

    Parameters
    ----------
    name : str
        As a person or a log writes it.
    known : mapping of str to tuple of str
        Of :func:`grouped`.
    what : str
        Kind of thing, for the message: "link".
    shown : iterable of str
        Names that the message may suggest.

    Raises
    ------
    AmbiguousNameError
        When the name fits several; the message lists them.
    UnknownNameError
        When it fits none; the message gives the nearest names.

    """
    if not fold(name):
        raise UnknownNameError(f"The {what} name is empty: give a name of the catalogue.")
    fits = known.get(fold(name), ())
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise AmbiguousNameError(f"The {what} name {name!r} fits several: {listed(fits)}. Name one of them.")
    raise UnknownNameError(f"The {what} {name!r} is not in the catalogue.{did_you_mean(name, shown)}")
