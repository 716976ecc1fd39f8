"""The lines of `sacct --parsable2` as columns: the header where it stands, separators in names, cut-off lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.errors import InputFileError
from energy.importers.base import Reject
from energy.importers.tabular import RawBatch
from energy.importers.text_input import HEAD_BYTES, Utf8Stream, check_readable, check_text, not_utf8

if TYPE_CHECKING:
    import pyarrow as pa

WHAT = "sacct output"
FIELDS = "JobIDRaw,JobID,User,Account,State,Submit,Start,End,Elapsed,NNodes,AllocTRES,ConsumedEnergyRaw,NodeList"
REMEDY = f"export with `sacct --parsable2 --duplicates --format={FIELDS}`. Nothing was stored."
_TELLING = {"state", "elapsed", "elapsedraw", "alloctres", "start", "end", "nodelist", "consumedenergyraw", "cluster"}
_SEPARATORS = "|\t;^"
_FREE_TEXT = {
    "jobname",
    "comment",
    "admincomment",
    "systemcomment",
    "submitline",
    "workdir",
    "constraints",
    "extra",
    "stdout",
    "stderr",
    "stdin",
}
_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{5,8}|Unknown|None|)\Z")
_FORMS = {
    "jobid": re.compile(r"[0-9]+\S*\Z"),
    "jobidraw": re.compile(r"[0-9]+\S*\Z"),
    "nnodes": re.compile(r"[0-9]*\Z"),
    "state": re.compile(r"[A-Z_]+\+?( by [0-9]+)?\Z"),
    "submit": _TIME,
    "start": _TIME,
    "end": _TIME,
    "elapsed": re.compile(r"([0-9]+-)?[0-9:]{5,8}\Z|\Z"),
    "elapsedraw": re.compile(r"[0-9]*\Z"),
    "alloctres": re.compile(r"([a-z/]+(:[^=,]*)?=[^,=]*(,|\Z))*\Z"),
    "consumedenergyraw": re.compile(r"[0-9]*\Z"),
}
_NO_VALUE = ["", "Unknown", "None", "None assigned", "(null)", "N/A"]
_BLOCK_BYTES = 16 << 20
_LONGEST_LINE = 64 << 20
_SHOWN = 200


@dataclass(slots=True)
class Header:
    """The header: the columns by their names in small letters, the separator, and where the rows begin."""

    names: list[str]
    separator: str
    line: int
    end: int
    raw: bytes

    def column(self, *names: str) -> str | None:
        """Return the first of these columns that the file has."""
        return next((name for name in names if name in self.names), None)


@dataclass(slots=True)
class Lines:
    """What was left out among the lines of one block."""

    raw: RawBatch
    lines_read: int
    realigned: int = 0
    open_end: bool = False


def find_header(head: bytes) -> Header | None:
    r"""Return the first line that names JobID and two more of sacct's columns.

    Examples
    --------
    >>> find_header(b"welcome!\nJobID|State|Elapsed|\n1|FAILED|00:01:00|\n").names
    ['jobid', 'state', 'elapsed', '(column 4)']

    """
    end = 0
    for number, line in enumerate(head.split(b"\n"), 1):
        end += len(line) + 1
        text = line.decode("utf-8", "replace").rstrip("\r").lstrip("\ufeff")
        for separator in _SEPARATORS:
            names = [re.sub(r"%-?\d+\Z", "", cell.strip().casefold()) for cell in text.split(separator)]
            if {"jobid", "jobidraw"} & set(names) and len(_TELLING & set(names)) >= 2:
                named = [name or f"(column {place})" for place, name in enumerate(names, 1)]
                return Header(named, separator, number, min(end, len(head)), line.rstrip(b"\r"))
    return None


def read_header(path: Path) -> Header:
    """Return the header of a file.

    Raises
    ------
    InputFileError
        The file is absent, empty, no text, or no line is a header of sacct.
    """
    check_readable(path)
    with Utf8Stream(path) as stream:
        head = stream.read(HEAD_BYTES)
    check_text(path, head.decode("utf-8", "replace"), WHAT)
    header = find_header(head)
    if header is None:
        raise InputFileError(f"{path.name}: no line names JobID and other columns, separated by `|`: {REMEDY}")
    twice = sorted({name for name in header.names if header.names.count(name) > 1})
    if twice:
        raise InputFileError(f"{path.name}, line {header.line}: column {twice[0]} occurs twice: {REMEDY}")
    return header


def read_lines(path: Path, header: Header, columns: Sequence[str], words: Sequence[str]) -> Iterator[Lines]:
    """Yield the named columns in blocks, with the line of each row; ``words`` have few distinct values."""
    import pyarrow as pa

    first = header.line + 1
    at = header.end
    for block, last in _blocks(path, header.end):
        open_end = last and bool(block.strip(b"\0 \r"))
        clean = block.replace(b"\r\n", b"\n").replace(b"\r", b" ") if b"\r" in block else block
        try:
            lines = _cut(clean, header, columns, words, first, ended=not last)
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise _unreadable(path, block, first, at, error) from error
        first += lines.lines_read
        at += len(block)
        lines.open_end = open_end
        yield lines


def _unreadable(path: Path, block: bytes, first: int, at: int, error: Exception) -> InputFileError:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return not_utf8(path, block, first, at)
    why = " ".join(str(error).split())[:160]
    return InputFileError(f"{path.name}, after line {first - 1}: {why}. Correct the file. Nothing was stored.")


def _blocks(path: Path, skip: int) -> Iterator[tuple[bytes, bool]]:
    """Yield whole lines after the header, and whether the file ends here within a line."""
    with Utf8Stream(path) as stream:
        rest = b""
        while chunk := stream.read(_BLOCK_BYTES):
            data = rest + chunk[skip:]
            skip = 0
            cut = data.rfind(b"\n") + 1
            rest = data[cut:]
            if len(rest) > _LONGEST_LINE:
                raise InputFileError(f"{path.name}: a line of over 64 MB: this is no {WHAT}. Nothing was stored.")
            if cut:
                yield data[:cut], False
        if rest.strip():
            yield rest, True


def _cut(
    block: bytes, header: Header, columns: Sequence[str], words: Sequence[str], first: int, *, ended: bool
) -> Lines:
    """Cut one block into columns. Lines with another number of separators are looked at one by one."""
    signs = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(signs == 10)
    if not ended:
        ends = np.append(ends, len(block))
    starts = np.append(0, ends[:-1] + 1)
    separators = np.flatnonzero(signs == ord(header.separator))
    inside = np.searchsorted(separators, ends) - np.searchsorted(separators, starts)
    good = inside == len(header.names) - 1
    line = np.arange(first, first + ends.size, dtype=np.int64)
    if good.all():
        return Lines(RawBatch(_parsed(block, header, columns, words), line), ends.size)
    lengths = np.diff(np.append(starts, len(block)))
    table = _parsed(signs[np.repeat(good, lengths)].tobytes(), header, columns, words)
    return _with_others(block, header, (table, line, good, starts, ends), ended=ended)


def _parsed(block: bytes, header: Header, columns: Sequence[str], words: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv as pc

    kinds = {name: pa.string() for name in columns} | {name: pa.dictionary(pa.int32(), pa.string()) for name in words}
    if not block:
        return pa.table({name: pa.array([], kind) for name, kind in kinds.items()})
    return pc.read_csv(
        pa.BufferReader(pa.py_buffer(block)),
        read_options=pc.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=header.names),
        parse_options=pc.ParseOptions(delimiter=header.separator, quote_char=False, ignore_empty_lines=False),
        convert_options=pc.ConvertOptions(
            column_types=kinds, include_columns=list(kinds), null_values=_NO_VALUE, strings_can_be_null=True
        ),
    )


def _with_others(block: bytes, header: Header, parts: Any, *, ended: bool) -> Lines:
    """Add the lines of another number of separators: realigned where that is certain, else refused."""
    import pyarrow as pa

    table, line, good, starts, ends = parts
    rows: list[list[str]] = []
    numbers: list[int] = []
    rejects: list[Reject] = []
    for place in np.flatnonzero(~good).tolist():
        raw = block[starts[place] : ends[place]]
        if not raw.strip():
            continue
        cut_off = place == ends.size - 1 and not ended
        cells = _realigned(raw.decode("utf-8", "replace"), header, cut_off=cut_off)
        if isinstance(cells, str):
            text = " ".join(raw.decode("utf-8", "replace").split())[:_SHOWN]
            rejects.append(Reject(int(line[place]), cells, text))
        else:
            rows.append(cells)
            numbers.append(int(line[place]))
    line_of = line[good]
    if rows:
        values = {name: [row[header.names.index(name)].strip() for row in rows] for name in table.column_names}
        others = pa.table(
            {name: pa.array([None if v in _NO_VALUE else v for v in column]) for name, column in values.items()},
            schema=pa.schema([(name, pa.string()) for name in table.column_names]),
        ).cast(table.schema)
        table = pa.concat_tables([table, others])
        line_of = np.concatenate([line_of, np.array(numbers, np.int64)])
        order = np.argsort(line_of, kind="stable")
        table, line_of = table.combine_chunks().take(pa.array(order)), line_of[order]
    return Lines(RawBatch(table, line_of, rejects), line.size, len(rows))


def _realigned(text: str, header: Header, *, cut_off: bool) -> list[str] | str:
    """Return the cells of a line with too many or too few separators, or why they cannot be told apart."""
    cells, names = text.rstrip("\r").split(header.separator), header.names
    free = [name for name in names if name in _FREE_TEXT]
    ways: list[list[str]] = []
    if len(cells) == len(names) - 1 and names[-1].startswith("(column ") and not cut_off:
        ways.append([*cells, ""])  # header with --parsable, rows with --parsable2
    if len(cells) == len(names) + 1 and not cells[-1]:
        ways.append(cells[:-1])  # the other way round
    if len(cells) > len(names) and len(free) == 1:
        place, after = names.index(free[0]), names.index(free[0]) + len(cells) - len(names) + 1
        ways.append([*cells[:place], header.separator.join(cells[place:after]), *cells[after:]])
    likely = [way for way in ways if _plausible(dict(zip(names, way, strict=True)))]
    if len(likely) == 1:
        return likely[0]
    if len(cells) < len(names):
        why = "the file was cut off here" if cut_off else "is a line break in a name?"
        return f"{len(cells)} values where the header names {len(names)} ({why}): complete or remove the line"
    where = f"free text in {', '.join(free)}" if free else "no column of free text"
    return (
        f"{len(cells)} values where the header names {len(names)}, and with {where} they cannot be told apart: export "
        "without free text, or with another --delimiter"
    )


def _plausible(cells: dict[str, str]) -> bool:
    """Tell whether the cells of a line fit their columns."""
    return all(pattern.match(cells[name].strip()) for name, pattern in _FORMS.items() if name in cells)
