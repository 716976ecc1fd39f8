"""What this room needs beyond the core, and how to get it."""

from __future__ import annotations

from importlib.util import find_spec

from energy.errors import SupplyError


def needs(module: str) -> None:
    """Check that a library of the extra ``site`` is there.

    Raises
    ------
    SupplyError
        It is not; the message says how to install it.

    Examples
    --------
    >>> needs("pvlib")

    """
    if find_spec(module) is None:
        raise SupplyError(f"This needs {module}: install with `pip install 'energy[site]'`.")
