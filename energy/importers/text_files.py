"""Text files of known formats: unpacked, checked to be text, and what is wrong with them in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from energy.errors import InputFileError
from energy.importers.tabular import check_readable

MOST_BYTES = 1 << 30  # of a file that must be read whole
HEAD_BYTES = 1 << 16
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
_HTML = (b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")
_BOM = b"\xef\xbb\xbf"


def unpacked(path: Path) -> Any:
    """Open a file for reading, unpacked; how it is packed is told by its first bytes, not by its name."""
    import pyarrow as pa

    with path.open("rb") as file:
        magic = file.read(4)
    packed = next((name for start, name in _MAGIC.items() if magic.startswith(start)), None)
    return pa.input_stream(str(path), compression=packed)


def read_some(stream: Any, path: Path, size: int) -> bytes:
    """Return the next bytes of an unpacked stream.

    Raises
    ------
    InputFileError
        The packed file is damaged or cut off.
    """
    import pyarrow as pa

    try:
        return bytes(stream.read(size))
    except (OSError, pa.ArrowException) as error:
        why = " ".join(str(error).split())[:160]
        raise InputFileError(
            f"{path.name}: cannot be unpacked ({why}). Export or copy it again. Nothing was stored."
        ) from error


def head_of(path: Path, head: bytes) -> bytes:
    """Return the first bytes of a file as text has them: unpacked and without byte-order mark.

    Examples
    --------
    >>> head_of(Path("log.txt"), bytes.fromhex("efbbbf") + b"JobID|State")
    b'JobID|State'

    """
    if any(head.startswith(magic) for magic in _MAGIC):
        with unpacked(path) as stream:
            head = read_some(stream, path, HEAD_BYTES)
    return head.removeprefix(_BOM)


def check_text(path: Path, head: bytes, what: str) -> None:
    """Refuse web pages and other encodings by a file's first bytes.

    Raises
    ------
    InputFileError
        One line with what the file is and the remedy.

    Examples
    --------
    >>> check_text(Path("log.txt"), b"<!DOCTYPE html><title>Sign in", "sacct output")
    Traceback (most recent call last):
    ...
    energy.errors.InputFileError: log.txt is a web page, not sacct output: it may be a sign-in or error page. Export \
it again. Nothing was stored.

    """
    if head.lstrip()[:9].lower().startswith(_HTML):
        raise InputFileError(
            f"{path.name} is a web page, not {what}: it may be a sign-in or error page. Export it again. "
            "Nothing was stored."
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputFileError(f"{path.name} is UTF-16, not UTF-8: save it as UTF-8. Nothing was stored.")
    if not head.strip():
        raise InputFileError(f"{path.name} holds nothing but blanks: export it again. Nothing was stored.")


def not_utf8(path: Path, block: bytes, first_line: int, first_byte: int) -> InputFileError:
    """Return the error that names the first byte of a block that is not UTF-8.

    Examples
    --------
    >>> str(not_utf8(Path("log.txt"), b"a" + bytes([10]) + bytes([233]) + b"b", 1, 0))
    'log.txt, line 2: byte 3 of the file (0xe9) is not UTF-8. Save the file as UTF-8. Nothing was stored.'

    """
    at, line = 0, first_line
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
        line += block.count(b"\n", 0, at)
    shown = f" (0x{block[at]:02x})" if block else ""
    return InputFileError(
        f"{path.name}, line {line}: byte {first_byte + at + 1} of the file{shown} is not UTF-8. Save the file as "
        "UTF-8. Nothing was stored."
    )


def whole_text(path: Path, what: str) -> str:
    """Return a whole file as text, its byte-order mark left out.

    Raises
    ------
    InputFileError
        The file is absent, empty, too large, no UTF-8, or a web page.
    """
    check_readable(path)
    with unpacked(path) as stream:
        data = read_some(stream, path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputFileError(
            f"{path.name} holds over {MOST_BYTES >> 20:,} MB of text and must be read whole: split it by time. "
            "Nothing was stored."
        )
    check_text(path, data[:HEAD_BYTES].removeprefix(_BOM), what)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(path, data, 1, 0) from error
