"""What is asked for: one file, its format, and what the caller says of it beyond its bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from energy.errors import InputFileError
from energy.importers import importer
from energy.importers.base import known_format
from energy.importers.reading_rows import time_text_in_name
from energy.importers.text_input import check_readable

GRID_OPTIONS = ("zone", "boundary", "attribution")
_WORDS = {"boundary": ("direct", "lifecycle"), "attribution": ("production", "consumption")}


@dataclass(frozen=True, slots=True)
class Request:
    """One file to ingest and how to read it.

    ``zone``, ``boundary`` and ``attribution`` are of hourly grid data that does not say them.
    """

    format: str
    path: Path
    mapping: str | None = None
    site: str | None = None
    timezone: str | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    host: str | None = None
    time: datetime | None = None
    zone: str | None = None
    boundary: str | None = None
    attribution: str | None = None


def check_request(request: Request) -> None:
    """Refuse a request that cannot be right before anything is read.

    Raises
    ------
    EnergyError
        There is no such format or file, or an option does not fit it.
    """
    told_by = getattr(importer(request.format), "told_by", ())
    check_readable(request.path)
    for name in GRID_OPTIONS:
        if getattr(request, name) is not None and name not in told_by:
            raise InputFileError(
                f"{request.path.name}: --{name} is of grid-hours, not of {request.format}: leave it out."
            )
    for name, words in _WORDS.items():
        if (given := getattr(request, name)) is not None and given not in words:
            raise InputFileError(f"{request.path.name}: --{name} {given}: use {' or '.join(words)}.")
    for name in ("covers_from", "covers_to"):
        moment = getattr(request, name)
        if moment is not None and moment.tzinfo is None:
            raise InputFileError(f"{request.path.name}: {name} {moment} carries no zone: give it one, such as UTC.")
    if request.covers_from and request.covers_to and request.covers_from >= request.covers_to:
        raise InputFileError(
            f"{request.path.name}: the log's window ends ({request.covers_to:%Y-%m-%dT%H:%M}) before it starts "
            f"({request.covers_from:%Y-%m-%dT%H:%M}): correct --covers-from and --covers-to."
        )


def told(request: Request) -> str | None:
    """Return a hash of what the caller says of a file beyond its bytes; None for a format that needs a mapping.

    Answers of two idle hosts, or of one at two times, may be equal byte for byte.
    """
    told_by = getattr(importer(request.format), "told_by", ())
    if told_by:
        said = [f"{name}={value}" for name in told_by if (value := getattr(request, name)) is not None]
        return hashlib.sha256("\x1f".join(said).encode()).hexdigest() if said else ""
    if known_format(request.format) is None:
        return None
    time = str(request.time) if request.time is not None else time_text_in_name(request.path.name)
    place = "" if request.host is None and not time else f"{request.host or ''}\x1f{time}"
    return hashlib.sha256(place.encode()).hexdigest() if place else ""
