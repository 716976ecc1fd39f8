"""Where the tables and templates lie: in the repository, or inside the wheel."""

from __future__ import annotations

from pathlib import Path

from energy.errors import EnergyError


def resource(relative: str) -> Path:
    """Return the path of a file or folder under ``datasets/`` or ``reports/``.

    A wheel carries them in ``energy/_bundled``; an editable install and a checkout read the repository's own folders.

    Raises
    ------
    EnergyError
        When neither place has it: the installation is not whole.

    Examples
    --------
    >>> resource("datasets").is_dir()
    True

    """
    package = Path(__file__).resolve().parent
    for base in (package / "_bundled", package.parent):
        candidate = base / relative
        if candidate.exists():
            return candidate
    raise EnergyError(f"The installed package lacks {relative}: install it again from its wheel or repository.")
