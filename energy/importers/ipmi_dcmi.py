"""IPMI DCMI: the texts of ipmitool and of FreeIPMI, once or repeated, and logs of them as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from energy.errors import InputFileError, did_you_mean
from energy.importers.base import Batch, Context
from energy.importers.reading_rows import (
    MOST_NODE_W,
    POWER_TO_MILLIW,
    Rows,
    amount,
    host_of,
    local_time,
    text_or_none,
    time_of_file,
    without_trailing,
)
from energy.importers.text_input import head_text, text_lines

_NOW = re.compile(r"\s*(instantaneous power reading|current power)\s*:\s*(.*)", re.IGNORECASE)
_STATE = re.compile(r"\s*(power reading state is|power measurement)\s*:\s*(.*)", re.IGNORECASE)
_TIME = re.compile(r"\s*(ipmi timestamp|time stamp)\s*:\s*(.*)", re.IGNORECASE)
_TIME_FORMS = ("%a %b %d %H:%M:%S %Y", "%m/%d/%Y - %H:%M:%S", "%m/%d/%y %H:%M:%S", "%m/%d/%Y %H:%M:%S")
_COLUMNS = {
    "time": ("epoch", "timestamp", "time", "ts", "datetime", "date"),
    "host": ("host", "hostname", "node", "nodename", "server"),
    "power": ("watts", "power_w", "power", "power_watts", "instantaneous", "reading", "w"),
    "state": ("state", "status", "power_state", "power_reading_state"),
}
_EPOCH_YEARS = ("1970", "2000", "2001")  # of a controller whose clock was never set
_ON = ("activated", "active", "enabled", "on", "ok")
_STEADY_ZERO = (
    "0 W although active: the controller does not measure; a gap is not zero. Read the plug in another way, such as "
    "Redfish or the PDU"
)


@dataclass(slots=True)
class _Reading:
    """One answer of a controller."""

    line: int
    power: str
    state: str | None = None
    time: str | None = None
    said: list[str] = field(default_factory=list)


class IpmiDcmiImporter:
    """IPMI DCMI."""

    name = "ipmi-dcmi"
    meaning = "IPMI DCMI (ipmitool, ipmi-dcmi, or a CSV log of them): power at the plug of a node"
    kind = "node_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        text = head_text(head)
        for line in text.splitlines():
            found = _NOW.match(line)
            if found:
                return f"text with `{found[1]}`, as IPMI DCMI tools write it"
        first = next((line for line in text.splitlines() if line.strip()), "")
        places = _places(first)
        if {"time", "power", "state"} <= places.keys() and "activated" in text.casefold():
            return "CSV with watts and a state activated, a log of IPMI DCMI"
        return None

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings at the plug of nodes."""
        rows = Rows(self.kind, context)
        first = next((line for _, line in text_lines(path, context) if line.strip()), "")
        is_text = ":" in first and not _places(first).keys() >= {"time", "power"}
        read = _read_text if is_text else _read_log
        for _ in read(path, context, rows):
            yield from rows.full()
        yield from rows.finish(path, "reading of IPMI DCMI (`ipmitool dcmi power reading`)")


def _read_text(path: Path, context: Context, rows: Rows) -> Iterator[None]:
    """Read the text of a tool; each ``Instantaneous power reading`` or ``Current Power`` begins a new answer."""
    reading: _Reading | None = None
    for number, line in text_lines(path, context):
        found = _NOW.match(line)
        if found:
            if reading is not None:
                _put_text(reading, path, context, rows)
                yield
            reading = _Reading(number, found[2].strip())
        if reading is None:
            continue
        reading.said.append(" ".join(line.split()))
        for pattern, name in ((_STATE, "state"), (_TIME, "time")):
            said = pattern.match(line)
            if said:
                setattr(reading, name, said[2].strip())
    if reading is not None:
        _put_text(reading, path, context, rows)
        yield


def _put_text(reading: _Reading, path: Path, context: Context, rows: Rows) -> None:
    said = "; ".join(item for item in reading.said if item)
    power = _checked(rows, amount(reading.power, POWER_TO_MILLIW, None), reading.state)
    if power is None:
        rows.gap()
        return
    moment = _time(reading.time, path, context)
    reason = next((item for item in (power, moment) if isinstance(item, str)), None)
    if reason is not None:
        rows.refuse(reading.line, reason, said)
        return
    rows.add(reading.line, host=host_of(context, path), time_ms=moment, power_milliw=power)


def _checked(rows: Rows, power: float | str | None, state: str | None) -> Any:
    """Return whole mW, ``None`` where the controller says that it does not measure, or the reason."""
    if state is not None and state.strip().casefold() not in _ON:
        return None
    if isinstance(power, float) and power == 0:
        return _STEADY_ZERO
    return rows.power(power, most_w=MOST_NODE_W)


def _time(text: str | None, path: Path, context: Context) -> int | str:
    """Return the controller's time; where its clock was never set, the file's."""
    if text is None or text.endswith(_EPOCH_YEARS) or any(f"/{year}" in text for year in _EPOCH_YEARS):
        return time_of_file(context, path)
    for form in _TIME_FORMS:
        try:
            moment = datetime.strptime(" ".join(text.split()), form)
        except ValueError:
            continue
        return local_time(moment.isoformat(), context, path)
    return local_time(text, context, path)


def _places(header: str) -> dict[str, int]:
    names = [cell.strip().strip('"').casefold() for cell in header.split(_delimiter(header))]
    return {
        column: names.index(found)
        for column, known in _COLUMNS.items()
        if (found := next((name for name in known if name in names), None)) is not None
    }


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _read_log(path: Path, context: Context, rows: Rows) -> Iterator[None]:
    """Read a CSV log; a header that is written again is skipped."""
    places: dict[str, int] = {}
    width, delimiter = 0, ","
    for number, line in text_lines(path, context):
        if not line.strip():
            continue
        if not places:
            places, delimiter = _places(line), _delimiter(line)
            width = len(line.split(delimiter))
            _check_header(line, places, path, number)
            continue
        cells = without_trailing([cell.strip().strip('"') for cell in line.split(delimiter)], width)
        if len(cells) != width:
            rows.refuse(
                number, f"{len(cells)} values where the header names {width}: complete or remove the line", line
            )
        elif _places(line).keys() < {"time", "power"}:
            _put_log(number, {name: cells[place] for name, place in places.items()}, rows, (path, context, line))
        yield


def _check_header(line: str, places: dict[str, int], path: Path, number: int) -> None:
    if not {"time", "power"} <= places.keys():
        names = [cell.strip() for cell in line[:400].split(_delimiter(line))]
        wanted = "watts" if "time" in places else "epoch"
        raise InputFileError(
            f"{path.name}, line {number}: no column {wanted}.{did_you_mean(wanted, names)} Name the columns epoch, "
            "host, watts, state, or save the text of `ipmitool dcmi power reading`. Nothing was stored."
        )


def _put_log(number: int, said: dict[str, str], rows: Rows, where: tuple[Path, Context, str]) -> None:
    path, context, line = where
    power = _checked(rows, amount(said["power"], POWER_TO_MILLIW, "w"), said.get("state"))
    if power is None:
        rows.gap()
        return
    moment = local_time(said["time"], context, path)
    reason = next((item for item in (moment, power) if isinstance(item, str)), None)
    if reason is not None:
        rows.refuse(number, reason, line)
        return
    host = text_or_none(said.get("host")) or host_of(context, path)
    rows.add(number, host=host, time_ms=moment, power_milliw=power)


importer = IpmiDcmiImporter()
