"""Names: exact after case-folding and collapsing separators, never by prefix or likeness."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from energy.errors import CatalogueError

_SEPARATORS = re.compile(r"[\s_\-]+")


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
