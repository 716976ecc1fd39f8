"""How far a file has been read, for whoever waits for it: rows, and the part of its bytes.

Only a file that is watched is counted, so that reading costs nothing where nobody looks. Files are known by their path
and not by a context of the thread, since readers work ahead in another one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from energy.importers.base import Batch

Tell = Callable[[str], None]


class Watch:
    """One file that is watched: how it is told, and which part of it has been read (0 to 1)."""

    def __init__(self, path: Path, tell: Tell) -> None:
        self.tell = tell
        self.part = 0.0
        self._read_part = 0.0
        self._by_block: list[float] = []
        self._path = path
        self._size_bytes = max(1, path.stat().st_size)

    def open(self) -> io.FileIO:
        """Open the file so that reading it is counted, as bytes of the file and not of what is packed in it."""
        return _CountedFile(self)

    def at(self, place_bytes: int) -> None:
        """Note how far the file was read."""
        self._read_part = min(1.0, place_bytes / self._size_bytes)
        if not self._by_block:
            self.part = self._read_part

    def by_block(self, stream: Any) -> io.RawIOBase:
        """Return a stream whose reader works far ahead of the rows it gives: ``block`` tells what has been given."""
        self._by_block = [0.0]
        return _Blocks(stream, lambda: self._by_block.append(self._read_part))

    def block(self, number: int) -> None:
        """Note that the rows of the first blocks have been given."""
        self.part = self._by_block[min(number, len(self._by_block) - 1)]

    @property
    def path(self) -> Path:
        """The file."""
        return self._path


class _Blocks(io.RawIOBase):
    def __init__(self, stream: Any, note: Callable[[], None]) -> None:
        self._stream = stream
        self._note = note

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        block = bytes(self._stream.read(size))
        self._note()
        return block


class _CountedFile(io.FileIO):
    def __init__(self, watch: Watch) -> None:
        super().__init__(watch.path, "rb")
        self._watch = watch

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(-1 if size is None else size) or b""
        self._watch.at(self.tell())
        return block


_WATCHED: dict[Path, Watch] = {}


def watch_of(path: Path) -> Watch | None:
    """Return the watch of a file; None where nobody waits for it."""
    return _WATCHED.get(path)


@contextmanager
def watched(path: Path, tell: Tell | None) -> Iterator[None]:
    """Tell how far a file has been read while the block runs; with ``None`` nothing is told or counted."""
    if tell is None:
        yield
        return
    _WATCHED[path] = Watch(path, tell)
    try:
        yield
    finally:
        del _WATCHED[path]


def followed(batches: Iterator[Batch], path: Path) -> Iterator[Batch]:
    """Return the batches of a file; where it is watched, each tells the rows and the part that have been read.

    Examples
    --------
    >>> import tempfile
    >>> from energy.importers.base import rejects_table
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     path, said = Path(file.name), []
    ...     with watched(path, said.append):
    ...         watch_of(path).part = 0.25
    ...         read = list(followed(iter([Batch(rejects_table(), rejects_table(), 65_536)]), path))
    >>> said[0].split(": ")[1]
    '65,536 rows, 25 %'

    """
    watch = watch_of(path)
    return batches if watch is None else _telling(batches, watch)


def _telling(batches: Iterator[Batch], watch: Watch) -> Iterator[Batch]:
    rows = 0
    for batch in batches:
        rows += batch.rows_read
        watch.tell(f"{watch.path.name}: {rows:,} rows, {watch.part:.0%}".replace("%", " %"))
        yield batch
