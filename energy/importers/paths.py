"""What a path on the command line stands for: a file, every file of a folder, or standard input."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from energy.errors import InputFileError

STDIN = "-"


def files_of(paths: Iterable[Path]) -> list[Path]:
    """Return the files that paths stand for, a folder's in the order of their names, folders within included.

    Hidden files, and what writers leave beside data (``_SUCCESS``, ``_metadata``), are passed over.

    Raises
    ------
    InputFileError
        A folder has no file.

    Examples
    --------
    >>> files_of([Path("jobs.csv")])
    [PosixPath('jobs.csv')]

    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = [
            item
            for item in sorted(path.rglob("*"))
            if item.is_file() and not any(part.startswith((".", "_")) for part in item.relative_to(path).parts)
        ]
        if not inside:
            raise InputFileError(f"{path} is a folder without files: nothing to ingest.")
        found += inside
    return found


@contextmanager
def with_standard_input(paths: list[Path], stream: BinaryIO) -> Iterator[list[Path]]:
    """Replace ``-`` by a file with what standard input gives, for as long as the block runs.

    Raises
    ------
    InputFileError
        Standard input is named twice.
    """
    if paths.count(Path(STDIN)) > 1:
        raise InputFileError("standard input (-) can be read once: name it once.")
    if Path(STDIN) not in paths:
        yield paths
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "standard-input"
        with copy.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield [copy if path == Path(STDIN) else path for path in paths]
