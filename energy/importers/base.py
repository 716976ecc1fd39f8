"""What every importer offers, and how importers are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from energy.errors import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

    from energy.importers.mapping import Mapping as ColumnMapping

ENTRY_POINT_GROUP = "energy.importers"


@dataclass(frozen=True, slots=True)
class Reject:
    """A refused row: where it stands, why in one line with the remedy, and what it said."""

    row_number: int
    reason: str
    row_text: str


def rejects_table(rejects: Sequence[Reject] = ()) -> pa.Table:
    """Return refused rows as a table: a file may have millions of them.

    Examples
    --------
    >>> rejects_table([Reject(3, "no start", "job_id=1")]).to_pylist()
    [{'row_number': 3, 'reason': 'no start', 'row_text': 'job_id=1'}]

    """
    import pyarrow as pa

    return pa.table(
        {
            "row_number": pa.array([reject.row_number for reject in rejects], pa.int64()),
            "reason": pa.array([reject.reason for reject in rejects], pa.string()),
            "row_text": pa.array([reject.row_text for reject in rejects], pa.string()),
        }
    )


@dataclass(frozen=True, slots=True)
class Batch:
    """Typed rows (a pyarrow Table with ``row_number``) and the rows refused among those read.

    ``rejects`` is a table of row_number, reason, row_text in the order of the file.
    """

    table: pa.Table
    rejects: pa.Table
    rows_read: int


@dataclass(frozen=True, slots=True)
class HostPeriod:
    """What a host is from one instant to another (ms since 1970 UTC, the end not included; None is open).

    ``chip_count`` is what logs count there; ``dies`` of these make one chip of the catalogue.
    """

    site_id: str
    chip_id: str | None
    chip_count: int
    from_ms: int | None = None
    to_ms: int | None = None
    dies: int = 1


@dataclass(frozen=True, slots=True)
class Context:
    """What an importer must be told about the ledger that it reads for.

    Attributes
    ----------
    site_id : str or None
        ``--site``: the site of rows that name no host.
    timezone : str or None
        ``--timezone``: zone of times that carry none.
    hosts : mapping
        Host -> its periods by ``site.yaml`` and inventory. A host with one period is what that says at any time.
    chip_of_name : callable
        Chip id of a name as logs write it; None for a name that ``site.yaml`` lists as undisclosed; raises
        ``UnknownNameError`` otherwise.
    sites : tuple of str
        Sites of ``site.yaml``.
    host : str or None
        ``--host``: the host of a file that names none.
    time : datetime or None
        ``--time``: when a snapshot without time was taken.
    zone, boundary, attribution : str or None
        ``--zone``, ``--boundary``, ``--attribution``: of hourly grid data that does not say them.
    notes : list of str
        What the importer wants said about the file.
    """

    site_id: str | None
    timezone: str | None
    hosts: Mapping[str, tuple[HostPeriod, ...]]
    chip_of_name: Callable[[str, str | None], str | None]
    sites: tuple[str, ...] = ()
    host: str | None = None
    time: datetime | None = None
    notes: list[str] = field(default_factory=list)
    zone: str | None = None
    boundary: str | None = None
    attribution: str | None = None


class Importer(Protocol):
    """One outside format."""

    name: str
    meaning: str

    def read(self, path: Path, mapping: ColumnMapping, context: Context) -> Iterator[Batch]:
        """Yield batches of typed rows."""
        ...


class KnownFormat(Protocol):
    """One outside format that carries its own meaning: names, units, boundaries (``docs/known_formats.md``)."""

    name: str
    meaning: str
    kind: str

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return the reason why a file is of this format, from its first bytes; None otherwise."""
        ...

    def read(self, path: Path, mapping: None, context: Context) -> Iterator[Batch]:
        """Yield batches of the columns of ``kinds.columns_of(kind)``."""
        ...


@cache
def importer_names() -> tuple[str, ...]:
    """Return the names of all installed importers without loading them."""
    from importlib.metadata import entry_points

    return tuple(sorted({entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}))


def known_format(name: str) -> KnownFormat | None:
    """Return a known format by its name; None for a generic importer, which needs a mapping."""
    found: Any = importer(name)
    return found if hasattr(found, "kind") else None


def detect(path: Path) -> list[tuple[str, str]]:
    """Return (format, reason) of every known format that a file may be of, by its first bytes.

    Raises
    ------
    InputFileError
        The file cannot be read.
    """
    from energy.importers.text_input import HEAD_BYTES, check_readable, read_some, unpacked

    check_readable(path)
    with unpacked(path) as stream:
        head = read_some(stream, path, HEAD_BYTES)
    found = []
    for name in importer_names():
        known: Any = importer(name)
        reason = known.detect(path, head) if hasattr(known, "detect") else None
        if reason is not None:
            found.append((name, reason))
    return found


@cache
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
