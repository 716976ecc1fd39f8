"""Packages whose parts are loaded when they are asked for (PEP 562), so that importing one stays light."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def attributes(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that finds each name in one of its modules.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        Public name -> module within the package.

    Examples
    --------
    >>> found, names = attributes("energy", {"EnergyError": "errors"})
    >>> found("EnergyError").__module__, names()
    ('energy.errors', ['EnergyError'])

    """

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    def __dir__() -> list[str]:  # noqa: N807
        return sorted(homes)

    return __getattr__, __dir__
