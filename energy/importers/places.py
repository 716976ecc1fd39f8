"""Where a row stands: site, chip and number of chips of its host at its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from energy.errors import UnknownNameError
from energy.importers.base import Context, HostPeriod
from energy.importers.convert import Floats, Ints, Mask, Refusals, Words
from energy.importers.mapping import Mapping


@dataclass(frozen=True, slots=True)
class Places:
    """The period of its host that each row falls into: its place in ``periods``, -1 for none."""

    period: Ints
    periods: list[HostPeriod]

    def sites(self, otherwise: str | None) -> Words:
        """Return the site of each row; ``otherwise`` where no host is named."""
        names: dict[str, int] = {}
        code = [names.setdefault(period.site_id, len(names)) for period in self.periods]
        code.append(-1 if otherwise is None else names.setdefault(otherwise, len(names)))
        return Words(np.array(code, np.int64)[self.period], list(names))

    def chips(self) -> Words:
        """Return the chip of each row's host."""
        names: dict[str, int] = {}
        code = [-1 if p.chip_id is None else names.setdefault(p.chip_id, len(names)) for p in self.periods]
        return Words(np.array([*code, -1], np.int64)[self.period], list(names))

    def chip_counts(self) -> Floats:
        """Return the number of chips of each row's host, infinite where no host is named."""
        return np.array([*(float(period.chip_count) for period in self.periods), np.inf])[self.period]


def places(host: Words, time_ms: Ints, timed: Mask, context: Context, refusals: Refusals) -> Places:
    """Find each row's host among the hosts of the fleet; refuse unknown hosts, and times at which a host is nothing.

    A host that has one period is what that says at any time. A host that was rebuilt or moved has several, and the
    row's time decides.
    """
    periods: list[HostPeriod] = []
    first = np.full(len(host.names) + 1, -1, np.int64)
    several: list[tuple[int, int, int]] = []
    unknown: list[bool] = []
    for code, name in enumerate(host.names):
        known = context.hosts.get(name, ())
        unknown.append(not known)
        if known:
            first[code] = len(periods)
            periods += known
        else:
            refusals.add_where(host.code == code, _unknown_host(name))
        if len(known) > 1:
            several.append((code, len(periods) - len(known), len(periods)))
    place = first[host.code]
    for code, begin, end in several:
        rows = (host.code == code) & timed
        found = np.zeros(rows.size, bool)
        for number in range(begin, end):
            period = periods[number]
            inside = rows & (time_ms >= _or(period.from_ms, -(1 << 62))) & (time_ms < _or(period.to_ms, 1 << 62))
            place[inside] = number
            found |= inside
        refusals.add_each(rows & ~found, lambda row, name=host.names[code]: outside_periods(name, int(time_ms[row])))
    return Places(place, periods)


def _or(value: int | None, otherwise: int) -> int:
    return otherwise if value is None else value


def _unknown_host(name: str) -> str:
    if "[" in name or "," in name or " " in name:
        return f"host {name[:60]} is several hosts: give one row per host, with the chips of that host"
    return f"host {name[:60]} is in no site: add it to hosts in site.yaml, or ingest an inventory"


def outside_periods(name: str, time_ms: int) -> str:
    """Return why a row of a host has no place at a time between or outside the host's periods."""
    moment = datetime.fromtimestamp(time_ms / 1000, UTC)
    return (
        f"host {name} is in no site at {moment:%Y-%m-%dT%H:%MZ}: correct its from and to in site.yaml or in the "
        "inventory"
    )


def named_chips(given: Words, mapping: Mapping, context: Context, refusals: Refusals) -> Words:
    """Return the chip that each text names; refuse what the catalogue does not know or finds ambiguous."""
    ids: dict[str, int] = {}
    code = []
    for place, name in enumerate(given.names):
        try:
            chip_id = context.chip_of_name(name, mapping.dialect)
        except UnknownNameError as error:
            refusals.add_where(given.code == place, str(error))
            chip_id = None
        code.append(-1 if chip_id is None else ids.setdefault(chip_id, len(ids)))
    return Words(np.array([*code, -1], np.int64)[given.code], list(ids))


def check_device(index: Floats, indexed: Mask, host: Words, at: Places, refusals: Refusals) -> None:
    """Refuse devices that a host does not have."""
    count = at.chip_counts()
    refusals.add_each(
        indexed & (index >= count),
        lambda row: (
            f"device {index[row]:g} of host {host.names[host.code[row]]}, which has {count[row]:g}"
            + (f" (0 to {count[row] - 1:g})" if count[row] else "")
            + ": correct the index, or chips in site.yaml"
        ),
    )
