"""AMD: ``amd-smi metric --json`` (numbers with units, or texts with units) and ``rocm-smi --json``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

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
    time_of_file,
    whole_index,
)
from energy.importers.text_input import head_text, json_documents

_CARD = re.compile(r"card([0-9]{1,5})\Z")
_SOCKET_POWER = ("current_socket_power", "average_socket_power", "socket_power")
_ROCM_POWER = re.compile(r"(current|average)?\s*(socket\s+)?(graphics\s+)?package power \(([a-zµ]+)\)\Z", re.IGNORECASE)
_ROCM_ENERGY = re.compile(r"accumulated energy \(([a-zµ]+)\)\Z", re.IGNORECASE)
# amdsmi answers the largest number of its field where the chip does not report
_CODES_W = {65_535.0, 4_294_967_295.0}


class AmdSmiImporter:
    """amd-smi and rocm-smi."""

    name = "amd-smi"
    meaning = "amd-smi metric --json or rocm-smi --json: power, energy accumulator and use of the boards of one host"
    kind = "board_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        text = head_text(head).lstrip()
        if not text.startswith(("{", "[")):
            return None
        if re.search(r'"card[0-9]+"\s*:\s*\{', text):
            return "JSON with card0, as rocm-smi writes it"
        if re.search(r'"gpu"\s*:\s*[0-9"]', text) and re.search(r'"(socket_power|power|energy|usage)"\s*:', text):
            return "JSON with gpu, power and energy, as amd-smi writes it"
        return None

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield readings of boards; the row number is the place of the board in the file."""
        rows, host = Rows(self.kind, context), host_of(context, path)
        number = 0
        for _, document in json_documents(path, context):
            for board in _boards(document):
                number += 1
                _put(number, board, rows, {"host": host, "scope": "board"}, (path, context))
                yield from rows.full()
        yield from rows.finish(path, "board: save the answer of `amd-smi metric --json` or `rocm-smi --json`")


def _boards(document: Any) -> Iterator[Any]:
    """Yield the boards of a document: a list, ``gpu_data`` of newer releases, or one key per card."""
    if isinstance(document, list):
        yield from document
    elif isinstance(document, dict):
        cards = {key: value for key, value in document.items() if _CARD.match(key)}
        if cards:
            for key, value in cards.items():
                yield {"card": key, "said": value}
        elif isinstance(document.get("gpu_data"), list):
            yield from document["gpu_data"]
        elif "gpu" in document:
            yield document


def _put(number: int, board: Any, rows: Rows, row: dict[str, Any], where: tuple[Path, Context]) -> None:
    if not isinstance(board, dict):
        rows.refuse(number, "the board is no object: save the tool's whole answer", board)
        return
    said = _of_rocm(board) if "card" in board else _of_amd(board)
    index, moment = whole_index(said["index"]), _time(said["time"], where)
    for value in (index, moment):
        if isinstance(value, str):
            rows.refuse(number, value, board)
            return
    row |= {"device_index": index, "time_ms": moment}
    row |= {name: text_or_none(said[name]) for name in ("uuid", "serial", "chip_name_given")}
    if row["device_index"] is None and row["uuid"] is None:
        rows.refuse(number, "the board has no number and no UUID: save the whole answer of the tool", board)
        return
    has_dies = _has_dies(row["host"], where[1])
    values = _values(number, said, rows, row["chip_name_given"], board, has_dies=has_dies)
    if any(value is not None for value in values.values()):
        rows.add(number, **row, **values)


def _values(
    number: int, said: Mapping[str, Any], rows: Rows, chip: str | None, board: object, *, has_dies: bool
) -> dict[str, Any]:
    """Return the checked readings; a refused one is ``None`` and its reason is in ``rows``."""
    power = amount(said["power"], POWER_TO_MILLIW, said["power_unit"])
    if isinstance(power, float) and (power / 1000 in _CODES_W or (power == 0.0 and has_dies)):
        power = None  # 0 W of a die: another one of its package reports for it
    counter = amount(said["energy"], ENERGY_TO_MICROJ, said["energy_unit"])
    values = {
        "power_milliw": rows.power(power, chip),
        "counter_microj": rows.counter(None if counter == 0 else counter),  # an accumulator that counts is over zero
        "utilisation_pct": rows.percent(amount(said["use"], TO_PERCENT, "%")),
    }
    if power is None:
        rows.gap()
    if counter is None and text_or_none(said["energy"]) is not None:
        rows.gap()
    for name, value in values.items():
        if isinstance(value, str):
            rows.refuse(number, f"{name}: {value}", board)
            values[name] = None
    return values


def _has_dies(host: str | None, context: Context) -> bool:
    """Return whether a host has packages of which each die is a device of its own."""
    from energy.power.scopes import dies_of

    periods = context.hosts.get(host or "", ())
    return any(period.chip_id is not None and dies_of(period.chip_id) > 1 for period in periods)


def _time(given: object, where: tuple[Path, Context]) -> int | str:
    path, context = where
    text = None if isinstance(given, bool) else text_or_none(given)
    return time_of_file(context, path) if text is None else local_time(text, context, path)


def _inside(board: Mapping[str, Any], *path: str) -> Any:
    """Return a value inside objects; ``None`` where an object is absent, or ``"N/A"`` stands in its place."""
    value: Any = board
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _plain(value: Any) -> Any:
    """Return a value/unit pair as text with its unit."""
    if isinstance(value, dict):
        number, unit = value.get("value"), value.get("unit")
        return number if unit is None or number is None else f"{number} {unit}" if text_or_none(number) else None
    return value


def _of_amd(board: Mapping[str, Any]) -> dict[str, Any]:
    powers = [_plain(_inside(board, "power", name)) for name in _SOCKET_POWER]
    return {
        "index": board.get("gpu"),
        "time": board.get("timestamp"),
        "uuid": _inside(board, "uuid") or _inside(board, "asic", "uuid"),
        "serial": _inside(board, "asic", "asic_serial"),
        "chip_name_given": _inside(board, "asic", "market_name"),
        "power": next((power for power in powers if text_or_none(power)), None),
        "power_unit": "w",
        "energy": _plain(_inside(board, "energy", "total_energy_consumption")),
        "energy_unit": "j",
        "use": _plain(_inside(board, "usage", "gfx_activity")),
    }


def _of_rocm(board: Mapping[str, Any]) -> dict[str, Any]:
    """Read one card: the key of the power differs by chip; the current power is taken before a mean."""
    said = board["said"] if isinstance(board["said"], dict) else {}
    powers = [(found, value) for key, value in said.items() if (found := _ROCM_POWER.match(key))]
    powers.sort(key=lambda item: ((item[0][1] or "").casefold() != "current", text_or_none(item[1]) is None))
    power = next((item for item in powers if text_or_none(item[1])), None)
    energy = next(((found, value) for key, value in said.items() if (found := _ROCM_ENERGY.match(key))), None)
    return {
        "index": board["card"].removeprefix("card"),
        "time": said.get("timestamp"),
        "uuid": None,
        "serial": said.get("Serial Number") or said.get("Unique ID"),
        "chip_name_given": said.get("Card Series") or said.get("Card series") or said.get("Device Name"),
        "power": None if power is None else power[1],
        "power_unit": "w" if power is None else power[0][4].casefold(),
        "energy": None if energy is None else energy[1],
        "energy_unit": "uj" if energy is None else energy[0][1].casefold(),
        "use": said.get("GPU use (%)"),
    }


importer = AmdSmiImporter()
