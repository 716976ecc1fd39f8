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
)
from energy.importers.text_input import clean, decoded_head, text_lines

# Means before instants: a mean over a second stands better for the time until the next sample.
_BOARD_POWER = ("power.draw.average", "power.draw", "power.draw.instant")
_MODULE_POWER = ("module.power.draw.average", "module.power.draw", "module.power.draw.instant")
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

    name = "nvidia_smi"
    meaning = "nvidia-smi --query-gpu … --format=csv: power and use of the boards of one host"
    kind = "board_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        text = decoded_head(head)
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
        rows, host = Rows(self.kind, context), host_of(context, path)
        header: Header | None = None
        delimiter = ","
        for number, line in text_lines(path, context):
            if not line.strip():
                continue
            if header is None:
                delimiter = _delimiter(line)
            cells = _cells(line, delimiter)
            if _is_header(cells):  # a tool that was started again writes its header again
                header = _checked_header(parse_header(cells), path, number)
                continue
            if header is None:
                header = _header_of_values(cells, path, number)
            _put(number, cells, header, rows, (host, path, context))
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
    elif not names.keys() & {*_BOARD_POWER, *_MODULE_POWER, "utilization.gpu", "total_energy_consumption"}:
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


def _put(number: int, cells: list[str], header: Header, rows: Rows, where: tuple[str, Path, Context]) -> None:
    host, path, context = where
    if len(cells) != header.width:
        rows.refuse(
            number,
            f"{len(cells)} values where the header names {header.width}: it was cut; complete or remove it",
            ",".join(cells),
        )
        return
    said = {name: cells[place].strip() for name, place in header.place.items()}
    moment = local_time(said["timestamp"], context, path)
    board = _board(said, host)
    reason = next((item for item in (moment, board) if isinstance(item, str)), None)
    if reason is not None or isinstance(board, str):
        rows.refuse(number, str(reason), ", ".join(cells))
        return
    _readings(number, said, header, rows, {**board, "time_ms": moment})


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


def _readings(number: int, said: Mapping[str, str], header: Header, rows: Rows, board: dict[str, Any]) -> None:
    """Add one row of the board, and one of the module; a superchip's module holds the board and is no second one."""
    chip = board["chip_name_given"]
    board_power, read_board = _first(number, said, header, _BOARD_POWER, rows, chip)
    module_power, read_module = _first(number, said, header, _MODULE_POWER, rows, None)
    use = rows.percent(amount(said.get("utilization.gpu"), TO_PERCENT, "%"))
    counter = rows.counter(
        amount(
            said.get("total_energy_consumption"), ENERGY_TO_MICROJ, header.unit.get("total_energy_consumption", "mj")
        )
    )
    for value in (use, counter):
        if isinstance(value, str):
            rows.refuse(number, value, ", ".join(said.values()))
    use, counter = (None if isinstance(value, str) else value for value in (use, counter))
    if read_board and board_power is None:
        rows.gap()
    if board_power is not None or use is not None or counter is not None:
        rows.add(number, **board, power_milliw=board_power, utilisation_pct=use, counter_microj=counter, scope="board")
    if module_power is not None:
        rows.add(number, **board, power_milliw=module_power, scope="module")
    elif read_module:
        rows.gap()


def _first(
    number: int, said: Mapping[str, str], header: Header, names: tuple[str, ...], rows: Rows, chip: str | None
) -> tuple[int | None, bool]:
    """Return the first power of these columns that has a value, and whether its absence is a gap (not a refusal)."""
    there = False
    for name in names:
        if name not in said:
            continue
        there = True
        # a number without unit, under a header without unit, is watts: nvidia-smi knows no other
        value = rows.power(amount(said[name], POWER_TO_MILLIW, header.unit.get(name, "w")), chip)
        if isinstance(value, str):
            rows.refuse(number, f"{name}: {value}", clean(", ".join(said.values())))
            return None, False
        if value is not None:
            return int(value), True
    return None, there


importer = NvidiaSmiImporter()
