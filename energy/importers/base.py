"""What every importer offers, and how importers are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from energy.errors import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.importers.mapping import Mapping

ENTRY_POINT_GROUP = "energy.importers"


@dataclass(frozen=True, slots=True)
class Reject:
    """A refused row: where it stands, why in one line with the remedy, and what it said."""

    row_number: int
    reason: str
    row_text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Typed rows (a pyarrow Table with ``row_number``) and the rows refused among those read."""

    table: pa.Table
    rejects: list[Reject]
    rows_read: int


@dataclass(frozen=True, slots=True)
class Context:
    """What an importer must be told about the ledger that it reads for.

    Attributes
    ----------
    site_id : str or None
        ``--site``: the site of rows that name no host.
    timezone : str or None
        ``--timezone``: zone of times that carry none.
    site_of_host : callable
        Site of a host by ``site.yaml`` and inventory, or None.
    chip_of_host : callable
        Chip of a host, or None when it is not disclosed.
    chips_of_host : callable
        Number of chips of a host, or None.
    chip_of_name : callable
        Chip id of a name as logs write it; None for a name that ``site.yaml`` lists as undisclosed; raises
        ``UnknownNameError`` otherwise.
    """

    site_id: str | None
    timezone: str | None
    site_of_host: Callable[[str], str | None]
    chip_of_host: Callable[[str], str | None]
    chips_of_host: Callable[[str], int | None]
    chip_of_name: Callable[[str, str | None], str | None]
    sites: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


class Importer(Protocol):
    """One outside format."""

    name: str
    meaning: str

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield batches of typed rows."""
        ...


@cache
def importer_names() -> tuple[str, ...]:
    """Return the names of all installed importers without loading them."""
    from importlib.metadata import entry_points

    return tuple(sorted({entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}))


def importer(name: str) -> Importer:
    """Return an importer by its format's name.

    Raises
    ------
    UnknownNameError
        With the nearest format names.

    """
    from importlib.metadata import entry_points

    found = [entry for entry in entry_points(group=ENTRY_POINT_GROUP) if entry.name == name]
    if not found:
        known = importer_names()
        raise UnknownNameError(f"No importer named {name}.{did_you_mean(name, known)} Formats: {', '.join(known)}.")
    loaded: Any = found[0].load()
    return loaded  # type: ignore[no-any-return]
