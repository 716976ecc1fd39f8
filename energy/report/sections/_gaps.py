"""Gaps in the readings, told in words: which host, from when to when, how many chip-hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from energy.report import numbers
from energy.report.amounts import ratio
from energy.report.facts import QuarterFacts
from energy.report.sections._cells import minute_text

_MILLISECONDS_PER_HOUR = Decimal(3_600_000)


@dataclass(frozen=True, slots=True)
class Gap:
    """Hours of one host in a row that lack readings; ``lost_chip_h`` counts the chip-hours without one."""

    site_id: str
    host: str
    first_hour: datetime
    last_hour: datetime
    lost_chip_h: Decimal
    whole: bool

    @property
    def hours(self) -> int:
        """Length in hours."""
        return int((self.last_hour - self.first_hour) / timedelta(hours=1)) + 1

    @property
    def end(self) -> datetime:
        """First instant after the gap."""
        return self.last_hour + timedelta(hours=1)


def gaps(facts: QuarterFacts) -> list[Gap]:
    """Join the hours that lack readings to gaps, the longest loss first."""
    found: list[Gap] = []
    for row in facts.gaps:
        missing_ms = row["expected_chip_ms"] - row["covered_chip_ms"]
        lost = ratio(Decimal(missing_ms), _MILLISECONDS_PER_HOUR)
        last = found[-1] if found else None
        joined = last and last.host == row["host"] and last.end == row["hour_utc"]
        if last and joined:
            whole = last.whole and row["covered_chip_ms"] == 0
            found[-1] = Gap(last.site_id, last.host, last.first_hour, row["hour_utc"], last.lost_chip_h + lost, whole)
        else:
            hour = row["hour_utc"]
            found.append(Gap(row["site_id"], row["host"], hour, hour, lost, row["covered_chip_ms"] == 0))
    return sorted(found, key=lambda gap: (-gap.lost_chip_h, gap.host, gap.first_hour))


def gap_lines(facts: QuarterFacts, limit: int) -> list[str]:
    """Say the largest gaps, and how many more there are."""
    found = gaps(facts)
    lines = []
    for gap in found[:limit]:
        what = "has no readings" if gap.whole else "lacks part of its readings"
        lines.append(
            f"Host {gap.host} {what} from {minute_text(gap.first_hour)} to {minute_text(gap.end)} UTC "
            f"({gap.hours}{numbers.THIN}h, {numbers.plain(gap.lost_chip_h, 1)} chip-hours). "
            "These chip-hours are estimated; the total says so."
        )
    if len(found) > limit:
        rest = sum((gap.lost_chip_h for gap in found[limit:]), Decimal(0))
        lines.append(f"{len(found) - limit} more gaps hold {numbers.plain(rest, 1)} chip-hours; section 3 lists them.")
    return lines
