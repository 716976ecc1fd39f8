"""Text of outside files: packed or not, in any common encoding, as blocks, lines or JSON documents."""

from __future__ import annotations

import codecs
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from energy.errors import InputFileError
from energy.importers.base import Context
from energy.importers.tabular import check_readable

_BLOCK_BYTES = 1 << 20
_LONGEST_LINE = 1 << 22
_MOST_DOCUMENT = 1 << 28
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_BOMS = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SPACE = " \t\r\n\ufeff\x00\x1e"  # RFC 7464 writes 1E between documents


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


def decoded_head(head: bytes) -> str:
    r"""Return a file's first bytes as text, for ``detect``.

    Examples
    --------
    >>> decoded_head(b"\xef\xbb\xbf{")
    '{'

    """
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, _BLOCK_BYTES)
        except zlib.error:
            return ""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return head[: len(head) // 2 * 2].decode(name, "replace")
    return head.decode("utf-8", "replace").lstrip("\ufeff")


def text_blocks(path: Path, context: Context) -> Iterator[str]:
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
            _check_start(path, text)
            first = False
        yield text
    rest = decode(b"", final=True)
    if first and not rest.strip(_SPACE):
        raise InputFileError(f"{path.name} is blank: export it again. Nothing was stored.")
    if rest:
        yield rest


def _check_start(path: Path, text: str) -> None:
    start = text.lstrip(_SPACE)[:400].casefold()
    if start.startswith("<"):
        raise InputFileError(
            f"{path.name} is a web page or XML, such as a log-in or error page: save the tool's own output. "
            "Nothing was stored."
        )


def _raw_blocks(path: Path) -> Iterator[bytes]:
    import pyarrow as pa

    with path.open("rb") as file:
        head = file.read(4)
    packed = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    try:
        with pa.input_stream(str(path), compression=packed) as stream:
            while block := stream.read(_BLOCK_BYTES):
                yield block
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:160]
        raise InputFileError(
            f"{path.name}: cannot be read to its end ({reason}). Export or copy it again. Nothing was stored."
        ) from error


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
        context.notes.append(
            f"{path.name}, line {number + 1}: the last line has no end; if the file was cut off, its value is not "
            "whole."
        )
        yield number + 1, rest.rstrip("\r")


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
