"""Text of outside files: opened whatever packs it, decoded whatever writes it, as blocks, lines or JSON documents.

In four layers: bytes (``unpacked``, ``read_some``), first bytes for ``detect`` (``head_text``), text (``text_blocks``,
``text_lines``, ``whole_text``), JSON (``json_documents``). A reader that cuts bytes itself, for speed, takes
``Utf8Stream`` and ``check_text``. What is wrong with a file is one line.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from energy.errors import InputFileError, did_you_mean
from energy.importers.base import Context
from energy.importers.progress import watch_of

HEAD_BYTES = 1 << 16
_MOST_WHOLE = 1 << 30  # of a file that must be read whole
_BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 1 << 22
_MOST_DOCUMENT = 1 << 28
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SPACE = " \t\r\n\ufeff\x00\x1e"  # RFC 7464 writes 1E between documents
TOOL_OUTPUT = "the tool's own output"


def clean(value: object, most: int = 200) -> str:
    r"""Return a value as one line of text that any encoding can hold.

    Examples
    --------
    >>> clean("a\n b")
    'a b'

    """
    text = value[: 4 * most] if isinstance(value, str) else _shown(value)[: 4 * most]
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(text.split())[:most] if not text.isprintable() or "  " in text else text.strip()[:most]


def _shown(value: object) -> str:
    try:
        return str(value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, or lists in lists without end
        return f"({type(value).__name__})"


def check_readable(path: Path) -> None:
    """Refuse what is no file, cannot be read, or is empty.

    Raises
    ------
    InputFileError
        One line with the file, the rule and the remedy.
    """
    if not path.exists():
        near = did_you_mean(path.name, [item.name for item in path.parent.glob("*")] if path.parent.is_dir() else [])
        raise InputFileError(f"{path}: no such file.{near}")
    if path.is_dir():
        raise InputFileError(f"{path} is a folder: name the files in it.")
    if not path.is_file():
        raise InputFileError(f"{path} is no regular file: save the data as a file first.")
    if path.stat().st_size == 0:
        raise InputFileError(f"{path.name} is empty (0 bytes): nothing was stored. Export it again.")
    try:
        path.open("rb").close()
    except OSError as error:
        raise InputFileError(f"{path} cannot be opened ({error.strerror}): allow reading it.") from error


def packing(head: bytes) -> str | None:
    """Return how a file is packed by its first bytes, whatever its name; None where it is not."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def unpacked(path: Path) -> Any:
    """Open a file for reading, unpacked; how it is packed is told by its first bytes, not by its name."""
    import pyarrow as pa

    with path.open("rb") as file:
        head = file.read(4)
    watch = watch_of(path)
    return pa.input_stream(str(path) if watch is None else watch.open(), compression=packing(head))


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


class Utf8Stream:
    """An unpacked file as UTF-8 without byte-order mark; UTF-16 with its mark, as PowerShell writes, is recoded."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stream = unpacked(path)
        self._start = read_some(self._stream, path, len(codecs.BOM_UTF8))
        name = next((name for bom, name in _BOMS if self._start.startswith(bom)), None)
        self._decoder = codecs.getincrementaldecoder(name)("replace") if name is not None else None
        self.mark_bytes = len(codecs.BOM_UTF8) if self._start == codecs.BOM_UTF8 else 0
        self._start = self._start[self.mark_bytes :]

    def __enter__(self) -> Utf8Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int) -> bytes:
        """Return the next bytes, about as many as asked for; none at the end of the file."""
        block = self._start + read_some(self._stream, self._path, max(0, size - len(self._start)))
        self._start = b""
        if self._decoder is None:
            return block
        while block:
            if text := self._decoder.decode(block):
                return text.encode("utf-8", "replace")
            block = read_some(self._stream, self._path, size)
        return self._decoder.decode(b"", True).encode("utf-8", "replace")


def head_bytes(head: bytes) -> bytes:
    """Return the first bytes of a file, unpacked as far as they go.

    Examples
    --------
    >>> import gzip
    >>> head_bytes(gzip.compress(b"JobID|State"))
    b'JobID|State'

    """
    import pyarrow as pa

    packed = packing(head)
    if packed is None:
        return head
    out = b""
    try:
        with pa.input_stream(pa.BufferReader(head), compression=packed) as stream:
            while len(out) < HEAD_BYTES and (block := stream.read(1 << 10)):
                out += block
    except (OSError, pa.ArrowException):  # the first bytes end within a block: what came out before is the head
        return out
    return out


def head_text(head: bytes) -> str:
    r"""Return a file's first bytes as text, for ``detect``.

    Examples
    --------
    >>> head_text(b"\xef\xbb\xbf{")
    '{'

    """
    head = head_bytes(head)
    for bom, name in _BOMS:
        if head.startswith(bom):
            return head[: len(head) // 2 * 2].decode(name, "replace")
    return head.decode("utf-8", "replace").lstrip("\ufeff")


def check_text(path: Path, start: str, what: str = TOOL_OUTPUT) -> None:
    """Refuse web pages and blanks by a file's first text.

    Raises
    ------
    InputFileError
        One line with what the file is and the remedy.

    Examples
    --------
    >>> check_text(Path("log.txt"), "<!DOCTYPE html><title>Sign in", "sacct output")
    Traceback (most recent call last):
    ...
    energy.errors.InputFileError: log.txt is a web page or XML, such as a sign-in or error page, not sacct output: \
export it again. Nothing was stored.

    """
    if start.lstrip(_SPACE).startswith("<"):
        raise InputFileError(
            f"{path.name} is a web page or XML, such as a sign-in or error page, not {what}: export it again. "
            "Nothing was stored."
        )
    if not start.strip(_SPACE):
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


def text_blocks(path: Path, context: Context, what: str = TOOL_OUTPUT) -> Iterator[str]:
    """Yield a file's text in blocks of whole lines, or of a megabyte where lines are longer.

    UTF-8, UTF-16 with its mark (as PowerShell writes), and Latin-1 where bytes are no UTF-8, which is noted.

    Raises
    ------
    InputFileError
        The file is missing, empty, cannot be unpacked, or is a web page.
    """
    check_readable(path)
    decode = _Decoder(path, context)
    first = True
    for raw in _raw_blocks(path):
        text = decode(raw)
        if first and text.strip(_SPACE):
            check_text(path, text, what)
            first = False
        yield text
    rest = decode(b"", final=True)
    if first:
        check_text(path, rest, what)
    if rest:
        yield rest


def _raw_blocks(path: Path) -> Iterator[bytes]:
    with unpacked(path) as stream:
        while block := read_some(stream, path, _BLOCK_BYTES):
            yield block


class _Decoder:
    """Decodes blocks; a UTF-8 sign that a block cuts waits for the next block."""

    def __init__(self, path: Path, context: Context) -> None:
        self._path = path
        self._context = context
        self._decoder: codecs.IncrementalDecoder | None = None
        self._latin = False

    def __call__(self, raw: bytes, *, final: bool = False) -> str:
        if self._decoder is None:
            name = next((name for bom, name in _BOMS if raw.startswith(bom)), "utf-8-sig")
            self._decoder = codecs.getincrementaldecoder(name)("strict" if name == "utf-8-sig" else "replace")
        if self._latin:
            return raw.decode("latin-1")
        held = self._decoder.getstate()[0]
        try:
            return self._decoder.decode(raw, final)
        except UnicodeDecodeError:
            self._latin = True
            self._context.notes.append(f"{self._path.name} is not UTF-8: read as Latin-1.")
            return (held + raw).removeprefix(codecs.BOM_UTF8).decode("latin-1")


def text_lines(path: Path, context: Context) -> Iterator[tuple[int, str]]:
    """Yield line numbers (from 1) and lines without their ends.

    Raises
    ------
    InputFileError
        As ``text_blocks``, or a line has no end in 4 MB.
    """
    rest, number = "", 0
    for block in text_blocks(path, context):
        lines = (rest + block).split("\n")
        rest = lines.pop()
        if len(rest) > _LONGEST_LINE:
            raise InputFileError(
                f"{path.name}, line {number + len(lines) + 1}: no end of line in 4 MB: this is no text of this "
                "format. Nothing was stored."
            )
        for line in lines:
            number += 1
            yield number, line.rstrip("\r")
    if rest.strip(_SPACE):
        note_open_end(path, number + 1, context)
        yield number + 1, rest.rstrip("\r")


def note_open_end(path: Path, line: int, context: Context) -> None:
    """Say that the last line of a file has no end, as where a copy was cut off."""
    context.notes.append(
        f"{path.name}, line {line}: the last line has no end; if the file was cut off, its value is not whole."
    )


def whole_text(path: Path, what: str, context: Context) -> str:
    """Return a whole file as text, its byte-order mark left out.

    Raises
    ------
    InputFileError
        As ``text_blocks``, or the file is too large.
    """
    parts: list[str] = []
    size = 0
    for block in text_blocks(path, context, what):
        parts.append(block)
        size += len(block)
        if size > _MOST_WHOLE:
            raise InputFileError(
                f"{path.name} holds over {_MOST_WHOLE >> 20:,} MB of text and must be read whole: split it by time. "
                "Nothing was stored."
            )
    return "".join(parts)


def json_documents(path: Path, context: Context) -> Iterator[tuple[int, Any]]:
    """Yield the line and value of each JSON document: one, or several after each other as logs hold them.

    Raises
    ------
    InputFileError
        The file is no JSON, or was cut off.
    """
    text, at = "", 0
    for block in text_blocks(path, context):
        text += block
        if len(text) > _MOST_DOCUMENT:
            raise InputFileError(f"{path.name} is over 256 MB: split it. Nothing was stored.")
    decoder = json.JSONDecoder()
    line = 1
    while True:
        begin = at
        while at < len(text) and text[at] in _SPACE:
            at += 1
        line += text.count("\n", begin, at)
        if at == len(text):
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise broken_json(path, error, at_end=is_cut(error, text)) from error
        yield line, value
        line += text.count("\n", at, end)
        at = end


def is_cut(error: Exception, text: str) -> bool:
    """Tell whether JSON is broken because its end is absent."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(text.rstrip(_SPACE)) - 8 or error.msg.startswith("Unterminated string")


def broken_json(path: Path, error: Exception, *, at_end: bool) -> InputFileError:
    """Return the one-line error of a text that is no JSON."""
    if at_end:
        return InputFileError(f"{path.name} is cut off: the JSON has no end. Export it again. Nothing was stored.")
    where = f"line {error.lineno}" if isinstance(error, json.JSONDecodeError) else "somewhere"
    why = error.msg if isinstance(error, json.JSONDecodeError) else "numbers or lists beyond any sense"
    return InputFileError(f"{path.name}, {where}: no valid JSON ({why}). Export it again. Nothing was stored.")
