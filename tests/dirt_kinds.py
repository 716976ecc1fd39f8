"""A good file of every format, and the kinds of dirt that real files carry."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections.abc import Callable

import pyarrow as pa
from ingest_helpers import GOOD, HEADERS
from known_samples import AT_S, BOARD, JSON, SAMPLES

Change = Callable[[str, str], "str | bytes | None"]
MINUTES = range(6)
H100 = "NVIDIA H100 80GB HBM3"
RUN = "2026-01-05T{:02d}:00:00Z,2026-01-05T{:02d}:00:00Z"
POINT = '{"__name__": "DCGM_FI_DEV_POWER_USAGE", "Hostname": "h-1", "gpu": "0", "UUID": "GPU-1"}'
# Readings are level, so that a gap that is bridged holds the same energy as its reading; runs hold one of two boards.
FILES = dict(SAMPLES) | {
    "dcgm": "".join(f"DCGM_FI_DEV_POWER_USAGE{{{BOARD}}} 640 {AT_S + 60 * minute}000\n" for minute in MINUTES),
    "ipmi-dcmi": "epoch,host,watts,state\n"
    + "".join(f"{AT_S + 60 * minute},h-1,6342,activated\n" for minute in MINUTES),
    "nvidia-smi": "timestamp, index, name, uuid, power.draw [W]\n"
    + "".join(f"2026/01/05 08:0{minute}:00.000, 0, {H100}, GPU-1, 640.00 W\n" for minute in MINUTES),
    "prometheus-range": '{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": '
    + POINT
    + f', "values": {json.dumps([[AT_S + 60 * minute, "640"] for minute in MINUTES])}}}]}}}}',
    "slurm-sacct": SAMPLES["slurm-sacct"].replace("|0|h-1", "|3600000|h-1"),
    "jobs": f"{HEADERS['jobs']}\n"
    + "".join(
        f"{number},u,p,h-1,{H100},1,1,T,COMPLETED,,{RUN.format(7 + number, 8 + number)}\n" for number in (1, 2, 3)
    ),
    "power": f"{HEADERS['power']}\n" + "".join(f"2026-01-05T08:0{minute}:00Z,h-1,0,640,\n" for minute in MINUTES),
    "allocations": f"{HEADERS['allocations']}\n"
    + "".join(f"{number},h-1,0,{RUN.format(7 + number, 8 + number)}\n" for number in (1, 2, 3)),
    "hosts": f"{HEADERS['hosts']}\n{GOOD['hosts'].replace('x-1', 'h-1').replace(',8,', ',2,')}\n",
}
# The place of a number that energy, hours or chips follow from: text before it, the number, text after it.
PLACES = {
    "amd-smi": ('"socket_power": {\n    "value": ', "640", ""),
    "codecarbon": ("600,0.25,0.65,", "0.5", ""),
    "dcgm": ("} ", "640", f" {AT_S + 120}000"),
    "ipmi-dcmi": (f"{AT_S + 120},h-1,", "6342", ""),
    "kepler": ("} ", "9e5", ""),
    "nvidia-smi": ("08:02:00.000, 0, NVIDIA H100 80GB HBM3, GPU-1, ", "640.00 W", ""),
    "opencost": ('"gpuHours": ', "1", ""),
    "prometheus-range": (f"[{AT_S + 120}, ", '"640"', ""),
    "redfish": ('"PowerConsumedWatts": ', "6342", ""),
    "slurm-job-exporter": ("} ", "3e5", ""),
    "slurm-sacct": ("node=1|", "3600000", ""),
    "jobs": (f"{H100},1,", "1", ",T"),
    "power": ("08:02:00Z,h-1,0,", "640", ""),
    "allocations": ("1,h-1,0,", "2026-01-05T08:00:00Z", ""),
    "hosts": (",", "2", ",hall"),
}
WITH_HEADER = ("codecarbon", "ipmi-dcmi", "nvidia-smi", "slurm-sacct", *HEADERS)


def of_host(text: str, number: int) -> str:
    """Return the same file of another host with boards and runs of its own."""
    text = re.sub(r"(?<![\w-])h-1\b", f"h-{number}", text)
    return re.sub(r"\bGPU-1\b", f"GPU-{number}", re.sub(r"\br-1\b", f"r-{number}", text))


def _lines(change: Callable[[list[str], str], list[str]], names: tuple[str, ...]) -> Change:
    """Change header and rows of the formats that have them."""

    def changed(text: str, name: str) -> str | None:
        separator = "|" if name == "slurm-sacct" else ","
        return "\n".join(change(text.splitlines(), separator)) + "\n" if name in names else None

    return changed


NOT_JSON = tuple(name for name in FILES if name not in JSON)
WRITING: dict[str, Change] = {
    "mark": lambda text, name: text.encode("utf-8-sig"),
    "utf-16": lambda text, name: text.encode("utf-16"),
    "latin-1": lambda text, name: text.encode("latin-1"),
    "line ends of Windows": lambda text, name: text.replace("\n", "\r\n"),
    "gzip": lambda text, name: gzip.compress(text.encode()),
    "gzip of two members": lambda text, name: gzip.compress(text[:40].encode()) + gzip.compress(text[40:].encode()),
    "zstd": lambda text, name: pa.compress(text.encode(), codec="zstd", asbytes=True),
    "bz2": lambda text, name: bz2.compress(text.encode()),
    "blank lines at the end": lambda text, name: text + "\n\n\n",
    "no line end at the end": lambda text, name: text.rstrip("\n"),
    "header twice": _lines(lambda lines, _: [lines[0], *lines], WITH_HEADER),
    "header again at the end": _lines(lambda lines, _: [*lines, lines[0]], WITH_HEADER),
    "every line twice": _lines(lambda lines, _: [lines[0], *lines[1:], *lines[1:]], WITH_HEADER),
    "every sample twice": lambda text, name: text + text if name in NOT_JSON and name not in WITH_HEADER else None,
    "separator at the end of rows": _lines(
        lambda lines, separator: [lines[0], *(line + separator for line in lines[1:])], WITH_HEADER
    ),
    "separator at the end of lines": _lines(lambda lines, separator: [line + separator for line in lines], WITH_HEADER),
    "semicolons": _lines(lambda lines, separator: [line.replace(separator, ";") for line in lines], WITH_HEADER),
}
CUT: dict[str, Change] = {
    "cut off by one sign": lambda text, name: text.rstrip()[:-1],
    "cut off by four signs": lambda text, name: text.rstrip()[:-4],
    "cut off by twenty signs": lambda text, name: text.rstrip()[:-20],
    "cut off in the middle of gzip": lambda text, name: gzip.compress(text.encode())[:-12],
    "zeros of a full disk": lambda text, name: text + "\0" * 64,
}
NO_DATA: dict[str, Change] = {
    "web page": lambda text, name: "<!DOCTYPE html>\n<html><title>Sign in</title></html>\n",
    "nothing": lambda text, name: "",
    "list": lambda text, name: "[]",
    "object": lambda text, name: "{}",
    "header alone": _lines(lambda lines, _: lines[:1], WITH_HEADER),
    "empty answer": lambda text, name: {
        "opencost": '{"code": 200, "data": [{}]}',
        "prometheus-range": '{"status": "success", "data": {"resultType": "matrix", "result": []}}',
        "redfish": '{"@odata.type": "#Power.v1_7_1.Power", "PowerControl": []}',
    }.get(name),
}


def _value(value: Callable[[str], str]) -> Change:
    """Put another text where the number stands, as JSON writes it where the format is JSON."""

    def changed(text: str, name: str) -> str:
        before, number, after = PLACES[name]
        put = value(number.strip('"').removesuffix(" W"))
        if name == "nvidia-smi" and put[-1:].isdigit():
            put += " W"
        if name in JSON and (number[0] == '"' or not re.fullmatch(r"-?[0-9.]+|NaN", put)):
            put = json.dumps(put)
        place = re.escape(before).replace(r"h\-1,", r"h-\d+,").replace(r"GPU\-1,", r"GPU-\d+,")
        found = re.search(f"({place}){re.escape(number + after)}", text)
        assert found is not None
        return text[: found.start()] + found[1] + put + after + text[found.end() :]

    return changed


VALUES: dict[str, Change] = {
    "decimal comma": _value(lambda number: f"{number},0" if number.isdigit() else number.replace(".", ",")),
    "2^64-1": _value(lambda _: str(2**64 - 1)),
    "2^64-2": _value(lambda _: str(2**64 - 2)),
    "2^63-16": _value(lambda _: str(0x7FFFFFFFFFFFFFF0)),
    "2^63-14": _value(lambda _: str(0x7FFFFFFFFFFFFFF2)),
    "2^32-2": _value(lambda _: str(2**32 - 2)),
    "N/A": _value(lambda _: "[N/A]"),
    "not supported": _value(lambda _: "[Not Supported]"),
    "unknown error": _value(lambda _: "[Unknown Error]"),
    "nothing at all": _value(lambda _: ""),
    "0": _value(lambda _: "0"),
    "NaN": _value(lambda _: "NaN"),
    "infinite": _value(lambda _: "+Inf"),
    "below zero": _value(lambda number: f"-{number}"),
    "words": _value(lambda _: "abc"),
    "mW": _value(lambda number: f"{number} mW"),
    "mJ": _value(lambda number: f"{number} mJ"),
    "µJ": _value(lambda number: f"{number} µJ"),
    "too large": _value(lambda _: "999999999999"),
}
DIRT = WRITING | CUT | NO_DATA | VALUES


def file_bytes(data: str | bytes) -> bytes:
    """Return what stands in the file."""
    return data if isinstance(data, bytes) else data.encode()
