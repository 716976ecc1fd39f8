"""The Prometheus exposition text (and OpenMetrics): samples with labels, as a stream of one line each."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from energy.importers.base import Context
from energy.importers.reading_rows import Rows, checked_time, time_of_file
from energy.importers.text_input import head_text, text_lines

_NAME = re.compile(r"[ \t]*([a-zA-Z_:][a-zA-Z0-9_:]*)")
_LABELS = re.compile(r'[ \t]*(\{(?:[^"{}]++|"(?:[^"\\]++|\\.)*+")*+\})')
_REST = re.compile(r"[ \t]*([^ \t]+)(?:[ \t]+(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?))?[ \t]*(?:#.*)?\Z")
_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]++|\\.)*+)"\s*(,|\Z)')
_VALUE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?\Z")
_NOT_FINITE = {"nan": math.nan, "+inf": math.inf, "inf": math.inf, "-inf": -math.inf}
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample; ``time_ms`` is ``None`` where the text carries no time. ``labels`` are shared: do not change."""

    line: int
    name: str
    labels: dict[str, str]
    value: float
    time_ms: int | None


def parse_sample(text: str, line: int = 1) -> Sample | str:
    r"""Return the sample of one line, or what is wrong with it.

    Examples
    --------
    >>> parse_sample('up{host="a\\"b"} 1 1767600000000')
    Sample(line=1, name='up', labels={'host': 'a"b'}, value=1.0, time_ms=1767600000000)
    >>> parse_sample('up{host="a} 1')
    'the labels are not closed: the line was cut, or a quotation mark in a label needs a backslash'

    """
    name = _NAME.match(text)
    if name is None:
        return 'the line names no metric: write `metric{label="value"} number`'
    at, labels = name.end(), _NO_LABELS
    if text[at:].lstrip(" \t").startswith("{"):
        found = _LABELS.match(text, at)
        if found is None:
            return "the labels are not closed: the line was cut, or a quotation mark in a label needs a backslash"
        read = labels_of(found[1])
        if read is None:
            return 'the labels are not written as {name="value",…}: correct them'
        labels, at = read, found.end()
    rest = _REST.match(text, at)
    if rest is None:
        return "no number follows the metric: the line was cut; scrape again"
    value = _value(rest[1])
    if value is None:
        return f"`{rest[1][:60]}` is no number: write a number with a decimal point, or NaN"
    time_ms = None if rest[2] is None else _time(rest[2])
    if isinstance(time_ms, str):
        return time_ms
    return Sample(line, name[1], labels, value, time_ms)


_NO_LABELS: dict[str, str] = {}


def _value(text: str) -> float | None:
    if _VALUE.match(text):
        return float(text)
    return _NOT_FINITE.get(text.casefold())


def _time(text: str) -> int | str:
    """Return ms: the exposition text counts ms, OpenMetrics counts s with a fraction."""
    value = float(text)
    return checked_time(value if abs(value) >= 1e11 else value * 1000)


@lru_cache(maxsize=65_536)
def labels_of(text: str) -> dict[str, str] | None:
    r"""Return the labels of ``{name="value",…}``, or ``None`` where they are not written so.

    Examples
    --------
    >>> labels_of('{a="1", b="x\\ny",}')
    {'a': '1', 'b': 'x\ny'}

    """
    inner, at = text[1:-1].rstrip(), 0
    out: dict[str, str] = {}
    while at < len(inner):
        found = _LABEL.match(inner, at)
        if found is None:
            return None
        value = found[2]
        out[found[1]] = _ESCAPED.sub(_unescaped, value) if "\\" in value else value
        at = found.end()
    return out


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]


def samples(path: Path, context: Context, wanted: Collection[str], rows: Rows) -> Iterator[Sample]:
    """Yield the samples of the wanted metrics; lines of them that cannot be read are refused in ``rows``.

    Lines that are neither a sample nor a comment are refused too: they tell that the file is damaged.
    """
    for number, text in text_lines(path, context):
        name = _NAME.match(text)
        if name is not None and name[1] not in wanted and text[name.end() : name.end() + 1] in ("{", " ", "\t"):
            continue
        stripped = text.strip()
        if not stripped or stripped.startswith("#"):
            continue
        sample = parse_sample(text, number)
        if isinstance(sample, str):
            rows.refuse(number, sample, text)
        elif sample.name in wanted:
            yield sample


class SampleTimes:
    """The time of each sample: its own, else the file's, which is worked out once and only where it is needed."""

    def __init__(self, path: Path, context: Context) -> None:
        self._path = path
        self._context = context
        self._of_file: int | None = None

    def of(self, sample: Sample) -> int:
        """Return ms since 1970 UTC.

        Raises
        ------
        InputFileError
            Neither the sample nor the file's name nor the caller says a time.
        """
        if sample.time_ms is not None:
            return sample.time_ms
        if self._of_file is None:
            self._of_file = time_of_file(self._context, self._path)
        return self._of_file


def detect_metric(head: bytes, starts: tuple[str, ...], what: str) -> str | None:
    r"""Return the reason why a text is of an exporter: a line starts with one of its metrics.

    Examples
    --------
    >>> print(detect_metric(b"# HELP up x\nup 1\n", ("up",), "an exporter's"))
    Prometheus text with up, an exporter's metric

    """
    text = head_text(head)
    if text.lstrip().startswith(("{", "[", "<")):
        return None
    for line in text.splitlines():
        words = line.split(None, 3)
        name = words[2] if len(words) > 2 and words[0] == "#" and words[1] in ("HELP", "TYPE") else line
        for start in starts:
            if name.startswith(start):
                found = _NAME.match(name)
                return f"Prometheus text with {found[1] if found else start}, {what} metric"
    return None
