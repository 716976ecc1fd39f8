"""What the page of the fleet is limited to, and the lines that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from energy.report.facts import LAST_OWNERS, UNDISCLOSED, QuarterFacts
from energy.report.model import Selection

ALL = "all"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the lines are limited to; ``all`` limits nothing.

    Attributes
    ----------
    site, project, chip, tier : str
        Id of a site, owner (``idle`` and ``unallocated`` too), id of a chip (or ``undisclosed``), tier.
    """

    site: str = ALL
    project: str = ALL
    chip: str = ALL
    tier: str = ALL

    @property
    def selection(self) -> Selection:
        """Column and value of each limit.

        Examples
        --------
        >>> Choice(chip="nvidia_t4").selection
        (('chip', 'nvidia_t4'),)

        """
        given = (("site_id", self.site), ("owner_key", self.project), ("chip", self.chip), ("tier", self.tier))
        return tuple((name, value) for name, value in given if value != ALL)

    @property
    def whole(self) -> bool:
        """Whether nothing is limited."""
        return not self.selection


WHOLE = Choice()


def narrowed(facts: QuarterFacts, choice: Choice) -> QuarterFacts:
    """Return the facts with the lines of a choice alone.

    Installed chips and gaps are of hosts: site and chip limit them, a project or a tier cannot.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    choice : Choice
        What is left.
    """
    if choice.whole:
        return facts

    def fits(row: dict[str, Any], columns: Sequence[str]) -> bool:
        return all(row[name] == value for name, value in choice.selection if name in columns)

    def kept(rows: list[dict[str, Any]], *columns: str) -> list[dict[str, Any]]:
        return [row for row in rows if fits(row, columns)]

    lines = ("site_id", "owner_key", "chip", "tier")
    hosts = hosts_of(facts, choice.chip)
    return replace(
        facts,
        sites=kept(facts.sites, "site_id"),
        installed=kept(facts.installed, "site_id", "chip"),
        hosts=kept(facts.hosts, "site_id", "chip"),
        energy=kept(facts.energy, *lines),
        emissions=kept(facts.emissions, *lines),
        pue=kept(facts.pue, "site_id"),
        bases=kept(facts.bases, "site_id"),
        factors_used=kept(facts.factors_used, "site_id"),
        reconciliation=kept(facts.reconciliation, "site_id"),
        hours=_hours(facts, choice),
        gaps=[row for row in kept(facts.gaps, "site_id") if hosts is None or row["host"] in hosts],
        history_energy=[],
        history_emissions=[],
    )


def hosts_of(facts: QuarterFacts, chip: str) -> set[str] | None:
    """Return the hosts that held a chip at any time; ``None`` where all chips are chosen.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    chip : str
        Id of a chip, ``undisclosed`` or ``all``.
    """
    if chip == ALL:
        return None
    rows = facts.reader.rows("SELECT DISTINCT host, chip_id FROM core.host ORDER BY host, chip_id")
    return {row["host"] for row in rows if (row["chip_id"] or UNDISCLOSED) == chip}


def where_of(facts: QuarterFacts, choice: Choice) -> tuple[str, list[object]]:
    """Return the conditions of a choice on a view of hours named ``line``, and their values.

    Parameters
    ----------
    facts : QuarterFacts
        Of the whole ledger.
    choice : Choice
        What the lines are limited to.
    """
    conditions, values = ["line.quarter = ?"], [facts.quarter.key]
    if choice.site != ALL:
        conditions, values = [*conditions, "line.site_id = ?"], [*values, choice.site]
    if choice.project in LAST_OWNERS:
        conditions, values = [*conditions, "line.owner_kind = ?"], [*values, choice.project]
    elif choice.project != ALL:
        owner = next((row["owner"] for row in facts.energy if row["owner_key"] == choice.project), choice.project)
        conditions, values = [*conditions, "line.owner_kind = 'project'", "line.owner = ?"], [*values, owner]
    if choice.chip == UNDISCLOSED:
        conditions.append("line.chip_id IS NULL")
    elif choice.chip != ALL:
        conditions, values = [*conditions, "line.chip_id = ?"], [*values, choice.chip]
    if choice.tier != ALL:
        conditions, values = [*conditions, "line.tier = ?"], [*values, choice.tier]
    return " AND ".join(conditions), list(values)


def _hours(facts: QuarterFacts, choice: Choice) -> list[dict[str, Any]]:
    where, values = where_of(facts, choice)
    return facts.reader.rows(
        "SELECT calendar.local_date, calendar.local_hour, line.site_id, line.tier, sum(line.chip_h) AS chip_h, "
        "sum(line.energy_facility_kwh) AS energy_facility_kwh FROM main.energy_hourly AS line "
        "JOIN ref.calendar_hour AS calendar ON calendar.hour_utc = line.hour_utc "
        f"WHERE {where} GROUP BY calendar.local_date, calendar.local_hour, line.site_id, line.tier "
        "ORDER BY calendar.local_date, calendar.local_hour, line.site_id, line.tier",
        values,
    )
