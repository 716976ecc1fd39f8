"""JSON text as a stream, value by value; the samples of a Prometheus series are cut out of the text as two columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from energy.errors import InputFileError
from energy.importers.base import Context
from energy.importers.convert import Floats
from energy.importers.text_input import broken_json, clean, is_cut, text_blocks

_SPACE = re.compile(r"[\s\ufeff\x00]*")
_END_OF_PAIRS = re.compile(r"\]\s*\]")
_FETCH_AT_LEAST = 1 << 22


class JsonText:
    """JSON that is read value by value; text is fetched when a value is not whole yet, twice as much each time."""

    def __init__(self, path: Path, context: Context) -> None:
        self._path = path
        self._blocks = text_blocks(path, context)
        self._decoder = json.JSONDecoder()
        self._text = ""
        self._at = 0
        self._ended = False

    def _more(self) -> bool:
        """Fetch as much again as is waiting; return whether there was more."""
        if self._ended:
            return False
        parts = [self._text[self._at :]]
        wanted, fetched = max(len(parts[0]), _FETCH_AT_LEAST), 0
        for block in self._blocks:
            parts.append(block)
            fetched += len(block)
            if fetched >= wanted:
                break
        else:
            self._ended = True
        self._text, self._at = "".join(parts), 0
        return fetched > 0

    def peek(self) -> str:
        """Return the next sign that is no space, or an empty text at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            at = self._at if found is None else found.end()
            if at < len(self._text):
                self._at = at
                return self._text[at]
            if not self._more():
                return ""

    def take(self, signs: str) -> str:
        """Take one of these signs.

        Raises
        ------
        InputFileError
            The text has another one, or has ended.
        """
        sign = self.peek()
        if not sign:
            raise broken_json(self._path, EOFError(), at_end=True)
        if sign not in signs:
            context = clean(self._text[self._at : self._at + 40])
            raise InputFileError(
                f"{self._path.name}: no valid JSON near `{context}`. Export it again. Nothing was stored."
            )
        self._at += 1
        return sign

    def value(self) -> Any:
        """Take a whole value."""
        self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._more():
                    continue
                raise broken_json(self._path, error, at_end=is_cut(error, self._text)) from error
            if end == len(self._text) and self._more():
                continue  # a number may go on
            self._at = end
            return value

    def fields(self) -> Iterator[str]:
        """Take an object: yield each key; the caller takes its value."""
        self.take("{")
        if self.peek() == "}":
            self._at += 1
            return
        while True:
            if self.peek() != '"':
                self.take('"')
            key = self.value()
            self.take(":")
            yield str(key)
            if self.take(",}") == "}":
                return

    def items(self) -> Iterator[None]:
        """Take a list: yield for each item, which the caller takes."""
        self.take("[")
        if self.peek() == "]":
            self._at += 1
            return
        while True:
            yield None
            if self.take(",]") == "]":
                return

    def pairs(self) -> tuple[Floats, Floats] | list[Any]:
        """Take the samples of a series: times and values, or JSON values where they are written in another way."""
        if self.peek() != "[":
            return [self.value()]
        begin = self._at
        while (found := _END_OF_PAIRS.search(self._text, begin)) is None:
            searched = len(self._text) - self._at
            if not self._more():
                return as_list(self.value())
            begin = self._at + max(0, searched - 64)
        columns = _two_columns(self._text[self._at : found.end()])
        if columns is None:
            return as_list(self.value())
        self._at = found.end()
        return columns


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and another value as a list of it.

    Examples
    --------
    >>> as_list("a"), as_list(["b"])
    (['a'], ['b'])

    """
    return value if isinstance(value, list) else [value]


def _two_columns(text: str) -> tuple[Floats, Floats] | None:
    """Read ``[[time, "value"], …]`` as two columns of numbers; ``None`` where it is not written exactly so."""
    import pyarrow as pa
    import pyarrow.csv as pc

    if not text.isascii():
        return None
    packed = text.encode().translate(None, b" \t\r\n")
    if not (packed.startswith(b"[[") and packed.endswith(b"]]")) or b"\\" in packed:
        return None
    rows = packed[2:-2].replace(b"],[", b"\n")
    if b"[" in rows or b"]" in rows:
        return None
    names = ["time", "value"]
    try:
        table = pc.read_csv(
            pa.BufferReader(rows),
            read_options=pc.ReadOptions(column_names=names, use_threads=False, block_size=max(len(rows) + 1, 64)),
            parse_options=pc.ParseOptions(ignore_empty_lines=False),
            convert_options=pc.ConvertOptions(
                column_types={"time": pa.float64(), "value": pa.float64()}, null_values=["NaN"]
            ),
        )
    except pa.ArrowInvalid:
        return None
    times, values = table.column("time"), table.column("value")
    if times.null_count:
        return None
    return np.asarray(times.combine_chunks()), values.combine_chunks().to_numpy(zero_copy_only=False)
