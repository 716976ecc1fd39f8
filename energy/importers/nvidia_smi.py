"""``nvidia-smi --query-gpu=… --format=csv``, with or without units and header, once or repeated."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from energy.errors import InputFileError, did_you_mean
from energy.importers.base import Batch, Context
from energy.importers.reading_rows import (
    ENERGY_TO_MICROJ,
    POWER_TO_MILLIW,
    TO_PERCENT,
    Rows,
    amount,
    host_of,
    local_time,
    text_or_none,
    whole_index,
    without_trailing,
)
from energy.importers.text_input import head_text, text_lines

# Means before instants: a mean over a second stands better for the time until the next sample.
_BOARD_POWER = ("power.draw.average", "power.draw", "power.draw.instant")
_MODULE_POWER = ("module.power.draw.average", "module.power.draw", "module.power.draw.instant")
_USE, _COUNTER = "utilization.gpu", "total_energy_consumption"
# A number without unit, under a header without unit, is in what nvidia-smi writes.
_UNITS = {_USE: "%", _COUNTER: "mj"}
_REMEMBERED = 100_000
_OTHER_NAMES = {"gpu_uuid": "uuid", "gpu_name": "name", "gpu_serial": "serial", "gpu_index": "index"}
_UNIT = re.compile(r"(.*?)\s*\[([^\]]*)\]\s*\Z")
_TIME = re.compile(r"20[0-9]{2}[/-][01][0-9][/-][0-3][0-9][ T][0-2][0-9]:[0-5][0-9]")
_ASK = (
    "ask with `nvidia-smi --query-gpu=timestamp,index,uuid,name,power.draw,utilization.gpu --format=csv` "
    "(without noheader)"
)


@dataclass(frozen=True, slots=True)
class Header:
    """Where each field stands, and its unit where the header names one."""

    place: dict[str, int]
    unit: dict[str, str]
    width: int


def parse_header(cells: list[str]) -> Header:
    """Return the fields of a header line.

    Examples
    --------
    >>> parse_header(["timestamp", " power.draw [W]"]).unit
    {'power.draw': 'w'}

    """
    place: dict[str, int] = {}
    unit: dict[str, str] = {}
    for number, cell in enumerate(cells):
        found = _UNIT.match(cell.strip())
        name = (found[1] if found else cell).strip().casefold()
        name = _OTHER_NAMES.get(name, name)
        place.setdefault(name, number)
        if found:
            unit.setdefault(name, found[2].strip().casefold())
    return Header(place, unit, len(cells))


def _is_header(cells: list[str]) -> bool:
    names = {cell.strip().casefold().split(" [")[0] for cell in cells}
    return bool(names & {"timestamp", "uuid", "gpu_uuid", *_BOARD_POWER, *_MODULE_POWER})


class NvidiaSmiImporter:
    """nvidia-smi."""

    name = "nvidia-smi"
    meaning = "nvidia-smi --query-gpu … --format=csv: power and use of the boards of one host"
    kind = "board_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        text = head_text(head)
        first = next((line for line in text.splitlines() if line.strip()), "")
        cells = _cells(first, _delimiter(first))
        names = {cell.strip().casefold().split(" [")[0] for cell in cells}
        if names & {*_BOARD_POWER, *_MODULE_POWER}:
            return "header of nvidia-smi --query-gpu with power.draw"
        if len(cells) > 1 and _TIME.match(cells[0].strip()) and "GPU-" in first and re.search(r"[0-9] W\b", first):
            return "lines of nvidia-smi --query-gpu with units, without header"
        return None

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings of boards, and of modules where a superchip reports them."""
        rows = Rows(self.kind, context)
        lines = _Lines(rows, host_of(context, path), path, context)
        header: Header | None = None
        delimiter = ","
        for number, line in text_lines(path, context):
            if not line.strip():
                continue
            if header is None:
                delimiter = _delimiter(line)
            cells = _cells(line, delimiter)
            # a tool that was started again writes its header again; a line that begins with a time is none
            if not line[:1].isdigit() and _is_header(cells):
                header = _checked_header(parse_header(cells), path, number)
                continue
            if header is None:
                header = _header_of_values(cells, path, number)
            lines.put(number, cells, header)
            yield from rows.full()
        yield from rows.finish(path, "reading after its header")


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _cells(line: str, delimiter: str) -> list[str]:
    if '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


def _checked_header(header: Header, path: Path, line: int) -> Header:
    names = header.place
    missing = None
    if "timestamp" not in names:
        missing = "no column timestamp"
    elif not names.keys() & {"uuid", "index", "serial"}:
        missing = "no column uuid or index that tells the boards apart"
    elif not names.keys() & {*_BOARD_POWER, *_MODULE_POWER, _USE, _COUNTER}:
        missing = f"no column power.draw.{did_you_mean('power.draw', names)}"
    if missing:
        raise InputFileError(f"{path.name}, line {line}: {missing}: {_ASK}. Nothing was stored.")
    return header


def _header_of_values(cells: list[str], path: Path, line: int) -> Header:
    """Tell the columns of a file without header by their values, where units leave no doubt."""
    texts = [cell.strip() for cell in cells]
    watts = [place for place, text in enumerate(texts) if re.fullmatch(r"[0-9.]+ W", text)]
    percents = [place for place, text in enumerate(texts) if re.fullmatch(r"[0-9.]+ %", text)]
    uuids = [place for place, text in enumerate(texts) if text.startswith(("GPU-", "MIG-"))]
    times = [place for place, text in enumerate(texts) if _TIME.match(text)]
    if len(watts) != 1 or len(uuids) != 1 or len(times) != 1:
        raise InputFileError(
            f"{path.name}, line {line}: no header, and the values do not tell which column is the power: {_ASK}. "
            "Nothing was stored."
        )
    place = {"timestamp": times[0], "uuid": uuids[0], "power.draw": watts[0]}
    if len(percents) == 1:  # with two, one is of the memory
        place["utilization.gpu"] = percents[0]
    return Header(place, {}, len(cells))


class _Lines:
    """Turns lines into rows. The same times, boards and values come again and again: each is looked at once."""

    def __init__(self, rows: Rows, host: str, path: Path, context: Context) -> None:
        self._rows = rows
        self._host = host
        self._path = path
        self._context = context
        self._times: dict[str, int | str] = {}
        self._boards: dict[tuple[str | None, ...], dict[str, Any] | str] = {}
        self._values: dict[tuple[str, str, str | None], Any] = {}

    def put(self, number: int, cells: list[str], header: Header) -> None:
        """Add the rows of one line, or refuse it."""
        cells = without_trailing(cells, header.width)
        if len(cells) != header.width:
            reason = f"{len(cells)} values where the header names {header.width}: it was cut; complete or remove it"
            self._rows.refuse(number, reason, ",".join(cells))
            return
        said = {name: cells[place].strip() for name, place in header.place.items()}
        moment, board = self._time(said["timestamp"]), self._board(said)
        reason_of = board if isinstance(board, str) else moment
        if isinstance(board, str) or isinstance(moment, str):
            self._rows.refuse(number, str(reason_of), ", ".join(cells))
            return
        self._readings(number, said, header, {**board, "time_ms": moment})

    def _time(self, text: str) -> int | str:
        if text not in self._times:
            if len(self._times) >= _REMEMBERED:
                self._times = {}
            self._times[text] = local_time(text, self._context, self._path)
        return self._times[text]

    def _board(self, said: Mapping[str, str]) -> dict[str, Any] | str:
        key = tuple(said.get(name) for name in ("index", "uuid", "serial", "name"))
        if key not in self._boards:
            if len(self._boards) >= _REMEMBERED:
                self._boards = {}
            self._boards[key] = _board(said, self._host)
        return self._boards[key]

    def _value(self, name: str, text: str, unit: str, chip: str | None) -> Any:
        """Return a checked value, ``None`` for a gap, or the reason."""
        key = (name, text, chip)
        if key not in self._values:
            if len(self._values) >= _REMEMBERED:
                self._values = {}
            rows = self._rows
            if name in (*_BOARD_POWER, *_MODULE_POWER):
                self._values[key] = rows.power(amount(text, POWER_TO_MILLIW, unit), chip)
            elif name == _COUNTER:
                self._values[key] = rows.counter(amount(text, ENERGY_TO_MICROJ, unit))
            else:
                self._values[key] = rows.percent(amount(text, TO_PERCENT, unit))
        return self._values[key]

    def _first(
        self, number: int, said: Mapping[str, str], header: Header, names: tuple[str, ...], chip: str | None
    ) -> tuple[Any, bool]:
        """Return the first of these columns that has a value, and whether its absence is a gap (not a refusal)."""
        there = False
        for name in names:
            if name not in said:
                continue
            there = True
            value = self._value(name, said[name], header.unit.get(name, _UNITS.get(name, "w")), chip)
            if isinstance(value, str):
                self._rows.refuse(number, f"{name}: {value}", ", ".join(said.values()))
                return None, False
            if value is not None:
                return value, True
        return None, there

    def _readings(self, number: int, said: Mapping[str, str], header: Header, board: dict[str, Any]) -> None:
        """Add a row of the board, and one of the module: a superchip's module holds the board and is no second one."""
        chip = board["chip_name_given"]
        power, read_board = self._first(number, said, header, _BOARD_POWER, chip)
        module, read_module = self._first(number, said, header, _MODULE_POWER, None)
        use, _ = self._first(number, said, header, (_USE,), None)
        counter, _ = self._first(number, said, header, (_COUNTER,), None)
        if read_board and power is None:
            self._rows.gap()
        if read_module and module is None:
            self._rows.gap()
        if power is not None or use is not None or counter is not None:
            values = {"power_milliw": power, "utilisation_pct": use, "counter_microj": counter}
            self._rows.add(number, **board, **values, scope="board")
        if module is not None:
            self._rows.add(number, **board, power_milliw=module, scope="module")


def _board(said: Mapping[str, str], host: str) -> dict[str, Any] | str:
    index = whole_index(said.get("index"))
    if isinstance(index, str):
        return index
    uuid, serial = text_or_none(said.get("uuid")), text_or_none(said.get("serial"))
    if index is None and uuid is None and serial is None:
        return "the line names no board: give uuid or index"
    return {
        "host": host,
        "uuid": uuid,
        "serial": None if serial == "0" else serial,  # what boards without serial answer
        "device_index": index,
        "chip_name_given": text_or_none(said.get("name")),
    }


importer = NvidiaSmiImporter()
