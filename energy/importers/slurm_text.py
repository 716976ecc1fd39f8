"""How Slurm writes host lists, trackable resources, energies and spans of time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

MOST_HOSTS = 100_000  # of one run
NO_ENERGY = frozenset({"18446744073709551614", "18446744073709551615", "4294967294", "4294967295"})  # Slurm's NO_VAL

_LARGEST = 1e15
_RANGES = re.compile(r"\[([0-9,\-]+)\]")
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?)([KMGTPE]?)\Z")
_SCALE = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_ELAPSED = re.compile(r"(?:([0-9]{1,6})-)?(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{1,2})(?:\.[0-9]+)?\Z")
# An instance of a board by its profile: 1g.10gb, 1g.10gb+me, a100_3g.20gb, nvidia_h100_80gb_hbm3_1g.10gb
_INSTANCE = re.compile(r"(?:.*[_\-.])?[0-9]+(?:c\.[0-9]+)?g\.[0-9]+gb(?:[+.\-_][a-z0-9.+\-]*)?\Z", re.IGNORECASE)


def hosts_of(text: str) -> list[str] | str:
    """Return the hosts of a host list, or what is wrong with it.

    Examples
    --------
    >>> hosts_of("gpu-a-[001-002,004],login1,r[1-2]n[08-09]")
    ['gpu-a-001', 'gpu-a-002', 'gpu-a-004', 'login1', 'r1n08', 'r1n09', 'r2n08', 'r2n09']
    >>> hosts_of("gpu-[1-")
    'host list gpu-[1- cannot be read: a bracket is not closed; was the column cut? Export with --parsable2'

    """
    parts: list[str] = []
    depth, first = 0, 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if not 0 <= depth <= 1:
            return _bad_list(text, "brackets do not match")
        if sign == "," and depth == 0:
            parts.append(text[first:place])
            first = place + 1
    if depth:
        return _bad_list(text, "a bracket is not closed")
    names: list[str] = []
    for part in [*parts, text[first:]]:
        found = _expanded(part.strip())
        if isinstance(found, str):
            return _bad_list(text, found)
        names += found
        if len(names) > MOST_HOSTS:
            return _bad_list(text, f"more than {MOST_HOSTS:,} hosts")
    twice = len(names) - len(set(names))
    return _bad_list(text, f"{twice} hosts occur twice") if twice else names


def _bad_list(text: str, why: str) -> str:
    return f"host list {text[:60]} cannot be read: {why}; was the column cut? Export with --parsable2"


def _expanded(part: str) -> list[str] | str:
    """Return the names of one pattern with any number of bracketed ranges, or what is wrong."""
    if not part:
        return "an empty name"
    pieces = _RANGES.split(part)
    names = [pieces[0]]
    for ranges, after in zip(pieces[1::2], pieces[2::2], strict=True):
        numbers: list[str] = []
        for one in ranges.split(","):
            first, dash, last = one.partition("-")
            if not (first.isdigit() and (last.isdigit() if dash else True) and max(len(first), len(last)) < 10):
                return f"{one or 'an empty part'} is no range of numbers"
            begin, end = int(first), int(last or first)
            if end < begin:
                return f"{one} runs backwards"
            if end - begin >= MOST_HOSTS:
                return f"more than {MOST_HOSTS:,} hosts"
            numbers += [f"{number:0{len(first)}d}" for number in range(begin, end + 1)]
        if len(names) * len(numbers) > MOST_HOSTS:
            return f"more than {MOST_HOSTS:,} hosts"
        names = [f"{name}{number}{after}" for name in names for number in numbers]
    return "brackets hold no numbers" if any("[" in name or "]" in name for name in names) else names


@dataclass(frozen=True, slots=True)
class Gpus:
    """GPUs of one allocation, summed over its nodes: how many of which type, and whether they are instances.

    ``others`` counts what is a part of a GPU without saying which (shards, MPS). ``problem`` is why the text cannot be
    counted.
    """

    count: float
    type_name: str | None = None
    instances: bool = False
    others: bool = False
    problem: str | None = None


def gpus_of(text: str) -> Gpus:
    """Return the GPUs of trackable resources such as ``cpu=16,gres/gpu:a100=1,gres/gpu=1,mem=128G``.

    ``gres/gpu:TYPE=n`` and ``gres/gpu=n`` are the same GPUs, the first with their type.

    Examples
    --------
    >>> gpus_of("cpu=16,gres/gpu:a100=2,gres/gpu=2,mem=128G,node=1")
    Gpus(count=2.0, type_name='a100', instances=False, others=False, problem=None)
    >>> gpus_of("cpu=8,gres/gpu:1g.10gb=2,gres/gpu=2").instances
    True
    >>> gpus_of("cpu=64,mem=256G,node=1").count
    0.0

    """
    whole: float | None = None
    typed: dict[str, float] = {}
    others = False
    for item in text.split(","):
        key, _, value = item.strip().partition("=")
        name = key.casefold()
        if name in ("gres/shard", "gres/mps") or name.startswith(("gres/shard:", "gres/mps:")):
            others = True
        if name != "gres/gpu" and not name.startswith("gres/gpu:"):
            continue
        match = _NUMBER.match(value)
        count = float(match[1]) * _SCALE[match[2]] if match else -1.0
        if not 0 <= count <= _LARGEST:
            return Gpus(0, problem=f"`{item.strip()[:60]}` in AllocTRES is no number of GPUs: correct it")
        if name == "gres/gpu":
            if whole not in (None, count):
                return Gpus(0, problem="AllocTRES gives gres/gpu twice with different numbers: correct it")
            whole = count
        else:
            typed[key[len("gres/gpu:") :]] = count
    return _counted({name: count for name, count in typed.items() if count}, whole, others=others)


def _counted(typed: dict[str, float], whole: float | None, *, others: bool) -> Gpus:
    total = sum(typed.values())
    if not typed:
        return Gpus(whole or 0.0, others=others)
    if len(typed) > 1:
        named = ", ".join(f"{name}={count:g}" for name, count in typed.items())
        return Gpus(
            0, problem=f"the run holds several types of GPU ({named[:80]}): give one row per type and host, as `jobs`"
        )
    if whole is not None and whole != total:
        return Gpus(0, problem=f"AllocTRES gives {total:g} GPUs by type and {whole:g} in all: correct it")
    name = next(iter(typed))
    return Gpus(total, name or None, is_instance(name), others)


def is_instance(name: str) -> bool:
    """Tell whether a GPU type is an instance of a board (MIG) and no whole board.

    Examples
    --------
    >>> [is_instance(name) for name in ("1g.10gb", "a100_3g.20gb", "1g.5gb+me", "h100", "a100-40gb")]
    [True, True, True, False, False]

    """
    return _INSTANCE.match(name) is not None


def joules_of(text: str) -> float | str | None:
    """Return an energy that Slurm wrote for people, in joules; None for its "no value"; a text says what is wrong.

    Examples
    --------
    >>> joules_of("101.63K"), joules_of("16.00E"), joules_of("0")
    (101630.0, None, 0.0)

    """
    match = _NUMBER.match(text)
    if text in NO_ENERGY or text == "16.00E":  # 2^64-2, rounded
        return None
    if match is None:
        return f"`{text[:60]}` in ConsumedEnergy is no energy: export ConsumedEnergyRaw"
    return round(float(match[1]) * _SCALE[match[2]], 6)


def seconds_of(text: str) -> int | None:
    """Return a span of time ``[days-]hh:mm:ss`` or ``mm:ss`` in seconds; None where the text is none.

    Examples
    --------
    >>> seconds_of("1-02:03:04"), seconds_of("00:20:00"), seconds_of("INVALID")
    (93784, 1200, None)

    """
    match = _ELAPSED.match(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3600 + minutes * 60 + seconds


def seconds_of_all(
    values: pa.Array,
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return spans of time in seconds, and which rows have one.

    Spans of less than a hundred hours without days, nearly all of a log, are read at once.

    Examples
    --------
    >>> import pyarrow as pa
    >>> seconds, known = seconds_of_all(pa.array(["01:00:00", "1-00:00:01", None, "INVALID"]))
    >>> seconds.tolist(), known.tolist()
    ([3600.0, 86401.0, 0.0, 0.0], [True, True, False, False])

    """
    import pyarrow.compute as pc

    filled = values.fill_null("")
    size = len(filled)
    ends = np.frombuffer(filled.buffers()[1], np.int32)[filled.offset : filled.offset + size + 1]
    seconds, known = np.zeros(size), np.zeros(size, bool)
    signs = np.frombuffer(filled.buffers()[2] or b"", np.uint8)
    short = np.flatnonzero(np.diff(ends) == len("01:00:00"))
    cells = signs[ends[short][:, None] + np.arange(8)] if short.size else np.zeros((0, 8), np.uint8)
    digits = cells[:, [0, 1, 3, 4, 6, 7]] - np.uint8(ord("0"))
    good = (cells[:, 2] == ord(":")) & (cells[:, 5] == ord(":")) & (digits < 10).all(axis=1)
    seconds[short[good]] = digits[good].astype(np.float64) @ np.array([36_000.0, 3600, 600, 60, 10, 1])
    known[short[good]] = True
    rest = np.flatnonzero(~known & (np.diff(ends) > 0))
    if rest.size:
        import pyarrow as pa

        shown = filled.take(pa.array(rest)).dictionary_encode()
        read = [seconds_of(text) for text in pc.utf8_trim_whitespace(shown.dictionary).to_pylist()]
        code = np.asarray(shown.indices)
        seconds[rest] = np.array([float(span or 0) for span in read])[code]
        known[rest] = np.array([span is not None for span in read])[code]
    return seconds, known


def fixed_times(values: pa.Array) -> pa.Array | None:
    """Return texts that are all ``2026-01-31T14:05:00`` as naive times; None where one is written otherwise.

    Ten times as fast as a cast, and a log has three such columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> fixed_times(pa.array(["2026-01-31T14:05:00", None]))[0].as_py().isoformat()
    '2026-01-31T14:05:00'
    >>> fixed_times(pa.array(["2026-02-30T14:05:00"])) is None
    True

    """
    import pyarrow as pa

    filled = values.fill_null("1970-01-01T00:00:00")
    size = len(filled)
    ends = np.frombuffer(filled.buffers()[1], np.int32)[filled.offset : filled.offset + size + 1]
    if size == 0 or not (np.diff(ends) == len("2026-01-31T14:05:00")).all():
        return None
    signs = np.frombuffer(filled.buffers()[2], np.uint8)[ends[0] : ends[-1]].reshape(size, -1).T
    digits = [place for place in range(19) if place not in (4, 7, 10, 13, 16)]
    if not all(
        (signs[place] == ord(sign)).all() for place, sign in ((4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"))
    ):
        return None
    if not all(((signs[place] >= ord("0")) & (signs[place] <= ord("9"))).all() for place in digits):
        return None

    def number(first: int, length: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        total = np.zeros(size, np.int64)
        for place in range(first, first + length):
            total = total * 10 + (signs[place] - np.uint8(ord("0")))
        return total

    month, hour, minute, second = (number(first, 2) for first in (5, 11, 14, 17))
    month_number = (number(0, 4) - 1970) * 12 + month - 1
    begin = month_number.astype("datetime64[M]")
    day = begin.astype("datetime64[D]").astype(np.int64) + number(8, 2) - 1
    whole = (month >= 1) & (month <= 12) & (day >= begin.astype("datetime64[D]").astype(np.int64))
    whole &= (day < (begin + 1).astype("datetime64[D]").astype(np.int64)) & (hour < 24) & (minute < 60) & (second < 60)
    if not whole.all():
        return None
    seconds = day * 86_400 + hour * 3600 + minute * 60 + second
    return pa.array(seconds * 1000, mask=np.asarray(values.is_null())).cast(pa.timestamp("ms"))
