"""A private ledger of one session: a folder of its own with limits, gone with the session. Without Streamlit.

Each change is made in a copy and takes the place of the ledger only when all of it went well, so that a refused file
leaves nothing behind.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from energy.errors import EnergyError, InputFileError, UploadError, did_you_mean
from energy.report.numbers import plain
from energy.ui import session_folders

if TYPE_CHECKING:
    from energy.ledger.intake import Ingested

SITE_ID = "site"
MOST_FILE_BYTES = 50 << 20  # maxUploadSize of .streamlit/config.toml says the same in MB
MOST_SESSION_BYTES = 200 << 20
MOST_UNPACKED_BYTES = 1 << 30  # of one file: a few kB may be packed from any length
MOST_ROWS = 2_000_000  # of one session
MOST_LEDGERS = 32  # of one server
POLICIES = ("exact", "nearest earlier", "nearest any")
_AT_ONCE = 2  # uploads that are read at the same time: each takes a processor
_PATIENCE_S = 120.0
_BLOCK_BYTES = 1 << 20
_reading = threading.BoundedSemaphore(_AT_ONCE)


@dataclass(frozen=True, slots=True)
class Hosts:
    """Hosts of one kind, as in ``site.yaml``."""

    pattern: str
    chip: str
    chips: int


@dataclass(frozen=True, slots=True)
class Description:
    """The site that an upload is of.

    Attributes
    ----------
    zone : str
        Grid zone, or a place that stands for one.
    pue : float
        Power usage effectiveness, kWh_facility / kWh_it.
    node_overhead : float or None
        kWh_it / kWh_chip; None is the model of the node.
    timezone : str
        IANA zone of the site, and of times in the files that carry none.
    hosts : tuple of Hosts
        Which hosts have which chips.
    factor_policy : str
        Which year's factor may stand in: one of ``POLICIES``.
    """

    zone: str
    pue: float
    node_overhead: float | None
    timezone: str
    hosts: tuple[Hosts, ...]
    factor_policy: str


@dataclass(frozen=True, slots=True)
class Upload:
    """One file as it was brought; ``format`` empty is found by its first bytes."""

    name: str
    content: bytes | memoryview
    format: str = ""


def read_hosts(text: str) -> tuple[Hosts, ...]:
    """Read hosts from lines of pattern, chip and count.

    Parameters
    ----------
    text : str
        One kind of host a line; empty lines are left out.

    Raises
    ------
    UploadError
        A line has other than three parts, or its count is no whole number.

    Examples
    --------
    >>> read_hosts("node-[01-04]; NVIDIA H100 80GB HBM3; 8")
    (Hosts(pattern='node-[01-04]', chip='NVIDIA H100 80GB HBM3', chips=8),)

    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        parts = [part.strip() for part in line.split(";")]
        if len(parts) != 3 or not all(parts) or not parts[2].isascii() or not parts[2].isdigit():
            raise UploadError(
                f"Hosts, line {number}: `{line.strip()[:80]}` is not pattern; chip; chips of one host. "
                "Write it as `node-[01-04]; NVIDIA H100 80GB HBM3; 8`. Nothing was stored."
            )
        found.append(Hosts(parts[0], parts[1], int(parts[2])))
    return tuple(found)


def site_text(description: Description) -> str:
    """Return the ``site.yaml`` of a description.

    Raises
    ------
    UploadError
        Something in it does not hold; the words of ``site.yaml``'s own check.
    """
    import yaml

    from energy.ledger.site_file import parse_site_file

    site: dict[str, Any] = {
        "name": "Site of the upload",
        "zone": description.zone,
        "timezone": description.timezone,
        "pue": description.pue,
        "hosts": [{"pattern": one.pattern, "chip": one.chip, "chips": one.chips} for one in description.hosts],
    }
    if description.node_overhead is not None:
        site["node_overhead"] = description.node_overhead
    whole = {
        "entity": "Upload of one session (private)",
        "reporting_timezone": "UTC",
        "factor_policy": description.factor_policy,
        "sites": {SITE_ID: site},
    }
    text = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True)
    try:
        parse_site_file(text)
    except EnergyError as error:
        raise refused(error) from error
    return text


def refused(error: EnergyError, folder: Path | None = None) -> UploadError:
    """Return an importer's error as that of an upload: no folder of the server, and that nothing was stored."""
    text = " ".join(str(error).split())
    if folder is not None:
        text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), "the upload")
    stored = "Nothing was stored."
    return UploadError(text if stored in text else f"{text.rstrip('.')}. {stored}")


# --- limits ---
def file_name(name: str) -> str:
    r"""Return a name that is safe as a file's on the server: no folders, no control characters.

    Examples
    --------
    >>> file_name("../../etc/jobs 1.csv"), file_name("c:\\logs\\power.csv.gz"), file_name("..")
    ('jobs 1.csv', 'power.csv.gz', 'upload')

    """
    last = re.split(r"[/\\]", name)[-1]
    safe = "".join(sign if sign.isalnum() or sign in " ._-+()" else "_" for sign in last).strip()[-120:].lstrip(".")
    return safe or "upload"


def _mb(size: int) -> str:
    return f"{plain(size / (1 << 20), 0)} MB"


def row_count(path: Path) -> int:
    """Return how many rows a file has at most: of its table if Parquet, else its lines when unpacked.

    Raises
    ------
    UploadError
        It is longer than ``MOST_UNPACKED_BYTES`` when unpacked.
    InputFileError
        It cannot be unpacked.
    """
    import pyarrow as pa

    from energy.importers.tabular import is_parquet
    from energy.importers.text_input import read_some, unpacked

    if is_parquet(path):
        import pyarrow.parquet as pq

        try:
            about = pq.read_metadata(path)
        except (OSError, pa.ArrowException) as error:
            raise InputFileError(f"{path.name}: not a whole Parquet file. Copy it again.") from error
        size = sum(about.row_group(place).total_byte_size for place in range(about.num_row_groups))
        _check_unpacked(path, size)
        return int(about.num_rows)
    size = rows = 0
    with unpacked(path) as stream:
        while block := read_some(stream, path, _BLOCK_BYTES):
            size += len(block)
            rows += block.count(b"\n")
            _check_unpacked(path, size)
    return rows


def _check_unpacked(path: Path, size: int) -> None:
    if size > MOST_UNPACKED_BYTES:
        raise UploadError(
            f"{path.name}: over {_mb(MOST_UNPACKED_BYTES)} when unpacked. Cut it, or ingest it on your machine with "
            "`energy ingest`. Nothing was stored."
        )


def format_of(path: Path) -> str:
    """Return the format of a file: a known one by its first bytes, else that of the built-in mapping that fits.

    Raises
    ------
    UploadError
        No format fits, or several do.
    """
    from energy.importers.base import detect
    from energy.importers.mapping import built_in_mappings
    from energy.importers.tabular import header_of

    found = [name for name, _ in detect(path)]
    if not found:
        have = set(header_of(path))
        fitting = (one.format for one in built_in_mappings() if have.issuperset(one.source_columns()))
        found = list(dict.fromkeys(fitting))
        if not found:
            raise UploadError(
                f"{path.name}: no known format, and no built-in mapping has its columns "
                f"({', '.join(sorted(have))[:160]}). Rename its columns (docs/importers.md), or read it on your "
                "machine with `energy ingest --mapping`. Nothing was stored."
            )
    if len(found) > 1:
        raise UploadError(f"{path.name}: may be {' or '.join(found)}. Choose its format. Nothing was stored.")
    return found[0]


def format_names() -> tuple[str, ...]:
    """Return the formats that a file may be of, as ``energy ingest`` names them."""
    from energy.importers.base import importer_names

    return importer_names()


# --- the ledger ---
_ledgers: weakref.WeakSet[SessionLedger] = weakref.WeakSet()
_beginning = threading.Lock()


class SessionLedger:
    """The private ledger of one session; keep it in the session's state, and its files go when that does.

    Parameters
    ----------
    is_open : callable, optional
        Tells whether the session still has a reader; it must not hold the ledger.

    Attributes
    ----------
    folder : pathlib.Path or None
        The ledger; None before the first file.
    files : tuple of str
        Names of the files that it holds.
    size_bytes, row_count : int
        What was brought so far.

    Raises
    ------
    UploadError
        The server holds as many private ledgers as it may.
    """

    def __init__(self, is_open: Callable[[], bool] | None = None) -> None:
        with _beginning:
            if sum(not one.is_gone for one in _ledgers) >= MOST_LEDGERS:
                raise UploadError(
                    f"This server holds uploads of {MOST_LEDGERS} sessions, its most. Try again later. "
                    "Nothing was stored."
                )
            self._home = Path(tempfile.mkdtemp(prefix="session-", dir=session_folders.root()))
            _ledgers.add(self)
        self._clock = session_folders.Clock(self._home, is_open)
        self._finish = weakref.finalize(self, self._clock.end)
        self._number = 0
        self._changing = threading.Lock()
        self.folder: Path | None = None
        self.files: tuple[str, ...] = ()
        self.size_bytes = 0
        self.row_count = 0

    @property
    def is_gone(self) -> bool:
        """Whether its files were removed: by its reader, or by their age."""
        return not self._home.is_dir()

    def remove(self) -> None:
        """Remove its files now."""
        self._finish()
        _ledgers.discard(self)

    def take(
        self,
        description: Description,
        uploads: Sequence[Upload],
        *,
        keep_good_rows: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> list[Ingested]:
        """Read files into the ledger: all of them, or nothing.

        Parameters
        ----------
        description : Description
            The site; it holds for the files that are there already, too.
        uploads : sequence of Upload
            The files; without any, the ledger is made anew by the description.
        keep_good_rows : bool
            Store a file with refused rows without these; otherwise such a file is refused.
        progress : callable, optional
            Receives a line a step.

        Returns
        -------
        list of Ingested
            One per file.

        Raises
        ------
        UploadError
            One line; nothing was stored.
        """
        if not uploads and self.folder is None:
            raise UploadError("No file was chosen: bring at least one with jobs or power. Nothing was stored.")
        text = site_text(description)
        self._check_sizes(uploads)
        if not self._changing.acquire(blocking=False):
            raise UploadError("Your upload before is still read: wait for it. Nothing was stored.")
        try:
            if not _reading.acquire(timeout=_PATIENCE_S):
                raise UploadError("Other uploads are read at the moment: try again in a minute. Nothing was stored.")
            try:
                return self._take(text, description, uploads, keep_good_rows, progress)
            finally:
                _reading.release()
        finally:
            self._changing.release()

    def _check_sizes(self, uploads: Sequence[Upload]) -> None:
        for one in uploads:
            if len(one.content) > MOST_FILE_BYTES:
                raise UploadError(
                    f"{file_name(one.name)}: {_mb(len(one.content))}; a file may have {_mb(MOST_FILE_BYTES)}. Pack it "
                    "(.gz, .zst), or ingest it on your machine. Nothing was stored."
                )
        whole = self.size_bytes + sum(len(one.content) for one in uploads)
        if whole > MOST_SESSION_BYTES:
            raise UploadError(
                f"{_mb(whole)} in this session; {_mb(MOST_SESSION_BYTES)} are its most. Nothing was stored."
            )
        if self.is_gone:
            raise UploadError("Your upload was removed. Bring its files again. Nothing was stored.")

    def _take(
        self,
        text: str,
        description: Description,
        uploads: Sequence[Upload],
        keep_good_rows: bool,
        progress: Callable[[str], None] | None,
    ) -> list[Ingested]:
        self._number += 1
        staged, incoming = self._home / f"ledger-{self._number}", self._home / f"files-{self._number}"
        done = False
        try:
            if self.folder is None:
                staged.mkdir()
            else:
                shutil.copytree(self.folder, staged, symlinks=True)
            (staged / "site.yaml").write_text(text, encoding="utf-8")
            paths = _written(incoming, uploads)
            rows = self.row_count + sum(row_count(path) for path in paths)
            if rows > MOST_ROWS:
                raise UploadError(
                    f"{plain(rows, 0)} rows in this session; {plain(MOST_ROWS, 0)} are its most. Nothing was stored."
                )
            results = _ingested(staged, description, uploads, paths, progress)
            if not keep_good_rows:
                _check_whole(results)
            before, self.folder = self.folder, staged
            self.files += tuple(path.name for path in paths)
            self.size_bytes += sum(len(one.content) for one in uploads)
            self.row_count = rows
            done = True
        except EnergyError as error:
            raise refused(error, staged) from error
        except OSError as error:
            raise UploadError(f"The server could not store it ({error.strerror}). Nothing was stored.") from error
        finally:  # also when the reader leaves the page meanwhile
            shutil.rmtree(incoming, ignore_errors=True)
            if not done:
                shutil.rmtree(staged, ignore_errors=True)
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)
        self._clock.restart()
        return results


def _written(folder: Path, uploads: Sequence[Upload]) -> list[Path]:
    """Write files under their own names, each in a folder of its own: two may have one name."""
    out = []
    for number, one in enumerate(uploads):
        place = folder / str(number)
        place.mkdir(parents=True)
        out.append(place / file_name(one.name))
        out[-1].write_bytes(one.content)
    return out


def _ingested(
    folder: Path,
    description: Description,
    uploads: Sequence[Upload],
    paths: Sequence[Path],
    progress: Callable[[str], None] | None,
) -> list[Ingested]:
    from energy.importers.base import known_format
    from energy.ledger.intake import Request, ingest, rebuild

    if not paths:
        rebuild(folder, threads=1)
        return []
    known = format_names()
    requests = []
    for one, path in zip(uploads, paths, strict=True):
        if one.format and one.format not in known:
            raise UploadError(f"{path.name}: no format {one.format}.{did_you_mean(one.format, known)}")
        request = Request(one.format or format_of(path), path, timezone=description.timezone)
        requests.append(replace(request, site=SITE_ID))

    def place(request: Request) -> int:
        """Inventories first: a row of a host that is not known yet is refused; the rest takes any order."""
        known_one = known_format(request.format)
        return 0 if (request.format if known_one is None else known_one.kind) == "hosts" else 1

    return ingest(folder, sorted(requests, key=place), threads=1, progress=progress)


def _check_whole(results: Sequence[Ingested]) -> None:
    for one in results:
        if one.rows_rejected:
            others = f" ({plain(one.rows_rejected, 0)} rows are refused)" if one.rows_rejected > 1 else ""
            raise UploadError(
                f"{one.first_reject.rstrip('.')}{others}. Correct the file, or choose to store its other rows. "
                "Nothing was stored."
            )
