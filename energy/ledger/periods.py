"""Times in ``site.yaml``, and grid zones of a site by period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, field_validator

from energy.errors import SiteFileError


def date_or_moment(value: Any) -> date | datetime | None:
    """Return a date as it is, and a time in UTC; a time must carry its offset.

    Raises
    ------
    ValueError
        The value is no date, or a time without offset.

    Examples
    --------
    >>> date_or_moment("2026-01-31")
    datetime.date(2026, 1, 31)
    >>> date_or_moment("2026-01-31T01:00:00+01:00").isoformat()
    '2026-01-31T00:00:00+00:00'

    """
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value) if len(value) == len("2026-01-31") else datetime.fromisoformat(value)
        except ValueError as error:
            raise ValueError("is no date: write it as 2026-01-31 or 2026-01-31T14:00:00Z") from error
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    if not isinstance(value, datetime):
        return date_or_moment(str(value))  # a bare number such as 2026 is no date, and not seconds since 1970 either
    if value.tzinfo is None:
        raise ValueError("carries no zone: write its offset, as 2026-01-31T14:00:00Z")
    return value.astimezone(UTC)


def midnight(value: date | datetime | None, timezone: str = "UTC") -> datetime | None:
    """Return the instant in UTC: a date is its midnight in a time zone.

    Examples
    --------
    >>> midnight(date(2026, 7, 1), "Europe/Berlin").isoformat()
    '2026-06-30T22:00:00+00:00'

    """
    if value is None or isinstance(value, datetime):
        return value
    return datetime(value.year, value.month, value.day, tzinfo=ZoneInfo(timezone)).astimezone(UTC)


def check_span(start: datetime | None, end: datetime | None) -> None:
    """Refuse a period that ends before it starts.

    Raises
    ------
    ValueError
        With both ends.
    """
    if start is not None and end is not None and end <= start:
        raise ValueError(f"`to` ({end:%Y-%m-%d}) is not after `from` ({start:%Y-%m-%d})")


class ZonePeriod(BaseModel):
    """Grid zones of a site from one date to another; dates are midnights of the site, the end is not included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    zone: str
    residual_zone: str | None = None
    hourly_zone: str | None = None
    start: date | datetime | None = Field(None, alias="from")
    end: date | datetime | None = Field(None, alias="to")

    @field_validator("start", "end", mode="before")
    @classmethod
    def _time(cls, value: Any) -> Any:
        return date_or_moment(value)


@dataclass(frozen=True, slots=True)
class ZoneSpan:
    """Grid zones of a site in ``[start, end)``, instants in UTC; ``None`` is open."""

    start: datetime | None
    end: datetime | None
    zone: str
    residual_zone: str | None
    hourly_zone: str | None


def zone_spans(where: str, periods: Sequence[ZonePeriod], timezone: str) -> tuple[ZoneSpan, ...]:
    """Return the periods of a site in their order, as instants.

    Parameters
    ----------
    where : str
        Key of the site, for messages.
    timezone : str
        IANA zone of the site: dates are midnights there.

    Raises
    ------
    SiteFileError
        There is no period, one ends before it starts, or two leave a gap or overlap.

    Examples
    --------
    >>> first = ZonePeriod.model_validate({"zone": "DEU", "to": "2026-04-01"})
    >>> second = ZonePeriod.model_validate({"zone": "FRA", "from": "2026-04-01"})
    >>> [span.zone for span in zone_spans("sites.a", [second, first], "Europe/Berlin")]
    ['DEU', 'FRA']

    """
    if not periods:
        raise SiteFileError(f"{where}.zone: the list is empty. Name at least one period with its zone.")
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    spans = [
        ZoneSpan(
            midnight(item.start, timezone),
            midnight(item.end, timezone),
            item.zone,
            item.residual_zone,
            item.hourly_zone,
        )
        for item in periods
    ]
    spans.sort(key=lambda span: (span.start or first, span.end or last))
    for span in spans:
        try:
            check_span(span.start, span.end)
        except ValueError as error:
            raise SiteFileError(f"{where}.zone: {error}. Correct from and to.") from None
    for before, after in pairwise(spans):
        end, start = before.end or last, after.start or first
        if start < end:
            raise SiteFileError(
                f"{where}.zone: {before.zone} and {after.zone} overlap from {_local(after.start, timezone)} to "
                f"{_local(min(end, after.end or last), timezone)}: an hour has one grid zone. Correct from and to."
            )
        if start > end:
            raise SiteFileError(
                f"{where}.zone: no grid zone from {_local(before.end, timezone)} to {_local(after.start, timezone)}, "
                f"between {before.zone} and {after.zone}: let one period begin where the other ends."
            )
    return tuple(spans)


def _local(moment: datetime | None, timezone: str) -> str:
    if moment is None or moment.year in (datetime.min.year, datetime.max.year):
        return "the beginning" if moment is None or moment.year == datetime.min.year else "the end"
    there = moment.astimezone(ZoneInfo(timezone))
    return f"{there:%Y-%m-%d}" if (there.hour, there.minute) == (0, 0) else f"{there:%Y-%m-%dT%H:%M%z}"


def described(spans: Sequence[ZoneSpan], zone_ids: Sequence[str], timezone: str) -> str:
    """Return the zones of a site in words, with their local dates where they change.

    Examples
    --------
    >>> described([ZoneSpan(None, None, "DEU", None, None)], ["DEU"], "UTC")
    'DEU'

    """
    if len(set(zone_ids)) == 1 and spans[0].start is None and spans[-1].end is None:
        return zone_ids[0]
    parts = []
    for span, zone_id in zip(spans, zone_ids, strict=True):
        begin = f" from {_local(span.start, timezone)}" if span.start is not None else ""
        finish = f" to {_local(span.end, timezone)}" if span.end is not None else ""
        parts.append(f"{zone_id}{begin}{finish}")
    return "; ".join(parts)


def hours_by_span(
    site_id: str, hours: npt.NDArray[np.datetime64], spans: Sequence[ZoneSpan]
) -> list[tuple[ZoneSpan, npt.NDArray[np.datetime64]]]:
    """Return the hours of each period that has any; an hour belongs to the period in which it begins.

    Parameters
    ----------
    hours : array of datetime64[h]
        UTC hours with energy.

    Raises
    ------
    SiteFileError
        An hour lies in no period.

    Examples
    --------
    >>> hours = np.array(["2026-01-01T00", "2026-01-01T01"], dtype="datetime64[h]")
    >>> [(span.zone, of.size) for span, of in hours_by_span("a", hours, [ZoneSpan(None, None, "DEU", None, None)])]
    [('DEU', 2)]

    """
    parts = []
    missing = np.ones(hours.size, bool)
    for span in spans:
        inside = np.ones(hours.size, bool)
        if span.start is not None:
            inside &= hours >= np.datetime64(span.start.replace(tzinfo=None))
        if span.end is not None:
            inside &= hours < np.datetime64(span.end.replace(tzinfo=None))
        missing &= ~inside
        if inside.any():
            parts.append((span, hours[inside]))
    if missing.any():
        first = hours[missing].min().astype("datetime64[s]").item()
        last = hours[missing].max().astype("datetime64[s]").item() + timedelta(hours=1)
        raise SiteFileError(
            f"Site {site_id} has no grid zone from {first:%Y-%m-%dT%H:%MZ} to {last:%Y-%m-%dT%H:%MZ} "
            f"({int(missing.sum())} h with data): add a period to zone in site.yaml."
        )
    return parts
