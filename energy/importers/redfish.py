"""Redfish: ``Power`` and ``EnvironmentMetrics`` of a chassis, one answer or several after each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from energy.importers.base import Batch, Context
from energy.importers.reading_rows import (
    ENERGY_TO_MICROJ,
    MOST_NODE_W,
    POWER_TO_MILLIW,
    Rows,
    amount,
    host_of,
    local_time,
    text_or_none,
    time_of_file,
)
from energy.importers.text_input import head_text, json_documents

_WHOLE = re.compile(r"server|system|chassis|node|total", re.IGNORECASE)
_PART = re.compile(r"sub-?system|cpu|memory|gpu|fan|drive", re.IGNORECASE)
_INSIDE = re.compile(r"/(Processors|Memory|Drives|PowerSupplies|PCIeDevices|Fans)/", re.IGNORECASE)


class RedfishImporter:
    """Redfish."""

    name = "redfish"
    meaning = "Redfish Power or EnvironmentMetrics (JSON): power and energy at the plug of one node"
    kind = "node_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        text = head_text(head).lstrip()
        if not text.startswith(("{", "[")):
            return None
        found = re.search(r'"@odata\.type"\s*:\s*"#?(Power|EnvironmentMetrics)\.', text)
        if found:
            return f"JSON of the Redfish type {found[1]}"
        found = re.search(r'"(PowerConsumedWatts|EnergykWh)"\s*:', text)
        return f"JSON with {found[1]}, as Redfish writes it" if found else None

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings at the plug; the row number is the line where an answer begins."""
        rows, host = Rows(self.kind, context), host_of(context, path)
        for line, document in json_documents(path, context):
            for answer in document if isinstance(document, list) else [document]:
                _put(line, answer, rows, host, (path, context))
                yield from rows.full()
        yield from rows.finish(path, "Redfish answer")


def _put(line: int, answer: Any, rows: Rows, host: str, where: tuple[Path, Context]) -> None:
    if not isinstance(answer, dict):
        rows.refuse(line, "the answer is no object: save the Redfish answer as it is", answer)
        return
    reason = _no_plug(answer)
    if reason is not None:
        rows.refuse(line, reason, answer.get("@odata.id", answer))
        return
    power, counter = _power(answer), _counter(answer)
    values = {
        "power_milliw": power if isinstance(power, str) else rows.power(power, most_w=MOST_NODE_W),
        "counter_microj": rows.counter(counter),
    }
    if all(value is None for value in values.values()):
        rows.gap()
        return
    for name, value in values.items():
        if isinstance(value, str):
            rows.refuse(line, value, answer.get("@odata.id", answer))
            values[name] = None
    if all(value is None for value in values.values()):
        return
    moment = _time(answer, where)
    if isinstance(moment, str):
        rows.refuse(line, moment, answer.get("@odata.id", answer))
        return
    rows.add(line, host=host, time_ms=moment, **values)


def _no_plug(answer: Mapping[str, Any]) -> str | None:
    """Return why an answer is none of a whole node; an error says so in its own words."""
    if isinstance(answer.get("error"), dict):
        message = text_or_none(answer["error"].get("message")) or "without a message"
        return f"Redfish answered with an error ({message}): ask again"
    place = str(answer.get("@odata.id", ""))[:400]
    if _INSIDE.search(place):
        return f"{place} is a part of the node, not its plug: ask the chassis"
    if not {"PowerControl", "PowerWatts", "EnergykWh", "EnergyJoules"} & answer.keys():
        return "the answer holds neither PowerControl nor PowerWatts: ask …/Chassis/ID/Power or …/EnvironmentMetrics"
    return None


def _power(answer: Mapping[str, Any]) -> float | str | None:
    """Return mW now: ``PowerWatts.Reading``, or ``PowerConsumedWatts`` of the one control of the whole node.

    ``PowerCapacityWatts`` is a limit and ``AverageConsumedWatts`` a mean of the past; supplies need not agree.
    """
    sensor = answer.get("PowerWatts")
    if isinstance(sensor, dict) and "PowerControl" not in answer:
        unit = str(sensor.get("ReadingUnits", "w"))[:20].casefold()
        return amount(sensor.get("Reading"), POWER_TO_MILLIW, unit)
    controls = answer.get("PowerControl")
    if not isinstance(controls, list):
        return None
    read = [item for item in controls if isinstance(item, dict) and item.get("PowerConsumedWatts") is not None]
    if len(read) > 1:
        names = [str(item.get("Name", ""))[:100] for item in read]
        read = [item for item, name in zip(read, names, strict=True) if _WHOLE.search(name) and not _PART.search(name)]
        if len(read) != 1:
            return (
                f"{len(names)} power controls and none is plainly the whole node's: keep one ({', '.join(names)[:120]})"
            )
    return amount(read[0]["PowerConsumedWatts"], POWER_TO_MILLIW, "w") if read else None


def _counter(answer: Mapping[str, Any]) -> float | str | None:
    """Return µJ since the sensor was reset."""
    for name, unit in (("EnergykWh", "kwh"), ("EnergyJoules", "j")):
        sensor = answer.get(name)
        if isinstance(sensor, dict) and sensor.get("Reading") is not None:
            return amount(sensor["Reading"], ENERGY_TO_MICROJ, unit)
    return None


def _time(answer: Mapping[str, Any], where: tuple[Path, Context]) -> int | str:
    """Return when it was read: what a collector wrote into the answer, else the file's time."""
    path, context = where
    said = next((text for name in ("Timestamp", "DateTime") if (text := text_or_none(answer.get(name)))), None)
    return time_of_file(context, path) if said is None else local_time(said, context, path)


importer = RedfishImporter()
