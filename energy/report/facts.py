"""The quarter's rows, loaded once; every section derives its numbers from them with exact decimals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from energy.provenance import Basis, unnamed_mixes
from energy.report import queries
from energy.report.amounts import (
    ZERO,
    Amount,
    LedgerRow,
    add,
    basis_of,
    not_added_or_total,
    ratio,
    total,
)
from energy.report.model import Selection
from energy.report.period import Held, Quarter, Reader, held_quarters, parse_quarter
from energy.schema import METHODS, TIERS

UNDISCLOSED = "undisclosed"
LAST_OWNERS = ("idle", "unallocated")
READING_TIERS = ("measured", "integrated")
HISTORY_QUARTERS = 13

# Settings of site.yaml and of the build that the report reads; any other is only hashed.
SETTING_MIX = "basis_mix"
SETTING_TIMEZONE = "reporting_timezone"
SETTING_ENTITY = "entity"
SETTING_CONSOLIDATION = "consolidation"


def _prepared(rows: Iterable[LedgerRow]) -> list[dict[str, Any]]:
    """Give each row the names that cells and selections use: no chip is "undisclosed", a project never "idle"."""
    out = []
    for row in rows:
        ready = dict(row)
        ready["chip"] = row["chip_id"] or UNDISCLOSED
        if "owner" in row:
            taken = row["owner_kind"] == "project" and row["owner"] in (*LAST_OWNERS, "total")
            ready["owner_key"] = f"project:{row['owner']}" if taken else row["owner"]
        out.append(ready)
    return out


@dataclass(frozen=True)
class QuarterFacts:
    """Everything that the sections are made from."""

    reader: Reader
    quarter: Quarter
    held: Held
    settings: dict[str, str]
    sites: list[dict[str, Any]]
    chips: list[dict[str, Any]]
    clock: list[dict[str, Any]]
    installed: list[dict[str, Any]]
    hosts: list[dict[str, Any]]
    energy: list[dict[str, Any]]
    emissions: list[dict[str, Any]]
    pue: list[dict[str, Any]]
    bases: list[dict[str, Any]]
    factors_used: list[dict[str, Any]]
    batches: list[dict[str, Any]]
    reconciliation: list[dict[str, Any]]
    hours: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    instruments: list[dict[str, Any]] = field(default_factory=list)
    market_cover: list[dict[str, Any]] = field(default_factory=list)
    history_energy: list[dict[str, Any]] = field(default_factory=list)
    history_emissions: list[dict[str, Any]] = field(default_factory=list)

    # --- names ---
    @cached_property
    def site_names(self) -> dict[str, str]:
        """Name of each site for people."""
        return {row["site_id"]: row["site_name"] for row in self.sites}

    @cached_property
    def chip_names(self) -> dict[str, str]:
        """Name of each chip for people."""
        names = {row["chip_id"]: row["chip_name"] for row in self.chips}
        seen = sorted({row["chip"] for row in self.energy} | {row["chip"] for row in self.installed})
        return {chip: "chip not disclosed" if chip == UNDISCLOSED else names.get(chip, chip) for chip in seen}

    @property
    def timezone(self) -> str:
        """Reporting time zone: quarters begin and end at its midnight."""
        return self.settings.get(SETTING_TIMEZONE) or "UTC"

    @property
    def mix_allowed(self) -> str:
        """The mix of bases that the setting names, or nothing."""
        return self.settings.get(SETTING_MIX, "")

    # --- rows ---
    def energy_rows(self, selection: Selection = ()) -> list[dict[str, Any]]:
        """Return the energy rows of a selection."""
        return _pick(self.energy, selection)

    def emission_rows(self, method: str, selection: Selection = ()) -> list[dict[str, Any]]:
        """Return the emission rows of one method and a selection; never of two methods."""
        return _pick(self.emissions, (("method", method), *selection))

    def energy_total(self, quantity: str, selection: Selection = ()) -> Amount:
        """Add the energy of a selection at one boundary."""
        return total(self.energy_rows(selection), quantity)

    def chip_hours(self, selection: Selection = ()) -> Decimal:
        """Add the chip-hours of a selection; a chip-hour is counted whether its energy is known or not."""
        return add(self.energy_rows(selection), "chip_h") or ZERO

    def emission_total(self, method: str, selection: Selection = ()) -> Amount:
        """Add the emissions of a selection by one method, unless that mixes bases which the setting does not name."""
        rows = self.emission_rows(method, selection)
        if not rows:
            return Amount(None, mark="no data", reason=f"No {method} factor for these lines.")
        bases = self.bases_of(method, {row["site_id"] for row in rows})
        return not_added_or_total(rows, "emissions", bases, self.mix_allowed)

    # --- bases ---
    def bases_of(self, method: str, sites: Iterable[str], quarter: str = "") -> list[Basis]:
        """Return the distinct bases of the factors of a method at some sites."""
        wanted = set(sites)
        key = quarter or self.quarter.key
        rows = [row for row in self.bases if row["quarter"] == key and row["method"] == method]
        return sorted({basis_of(row) for row in rows if row["site_id"] in wanted}, key=lambda basis: basis.words)

    def unnamed(self, method: str, sites: Iterable[str], quarter: str = "") -> tuple[str, ...]:
        """Return the mixes that a sum would make and the setting does not name."""
        return unnamed_mixes(self.bases_of(method, sites, quarter), self.mix_allowed)

    def factor_ids(self, method: str, sites: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the factors of a method at some sites."""
        wanted = set(sites)
        rows = [row for row in self.bases if row["quarter"] == self.quarter.key and row["method"] == method]
        return tuple(sorted({row["factor_id"] for row in rows if row["site_id"] in wanted}))

    # --- lists in the order of the pages ---
    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Methods of the quarter; location and market always, in this order, then hourly where a zone has hours."""
        # the hourly matched method is a draft: it stands in the table of what covers the purchase, beside no total
        present = {row["method"] for row in self.emissions} - {"hourly matched"}
        return tuple(method for method in METHODS if method in present or method in ("location", "market"))

    @cached_property
    def owners(self) -> tuple[str, ...]:
        """Owners by facility energy, most first; idle and unallocated always, and always last."""
        projects = {row["owner_key"] for row in self.energy if row["owner_kind"] == "project"}
        return (*self._sorted_down(projects, "owner_key"), *LAST_OWNERS)

    @cached_property
    def chips_by_energy(self) -> tuple[str, ...]:
        """Chips by facility energy, most first."""
        return self._sorted_down(self.chip_names, "chip")

    @cached_property
    def site_ids(self) -> tuple[str, ...]:
        """Sites with rows in the quarter, in the order of their names."""
        seen = {row["site_id"] for row in self.energy} | {row["site_id"] for row in self.installed}
        return tuple(sorted(seen, key=lambda site: (self.site_names.get(site, site), site)))

    def tier_shares(self, quantity: str, selection: Selection = ()) -> tuple[tuple[str, Decimal], ...]:
        """Return the share of each tier that occurs: of ``chip_h``, or of ``energy_facility_kwh``."""
        rows = self.energy_rows(selection)
        whole = add(rows, quantity)
        if not whole:
            return ()
        parts = ((tier, add((row for row in rows if row["tier"] == tier), quantity)) for tier in TIERS)
        return tuple((tier, ratio(part, whole)) for tier, part in parts if part)

    def method_share(self, method: str) -> Decimal | None:
        """Return the share of facility energy that has a factor of this method."""
        whole = add(self.energy, "energy_facility_kwh")
        part = add(self.emission_rows(method), "energy_facility_kwh")
        return None if not whole else ratio(part or ZERO, whole)

    def _sorted_down(self, keys: Iterable[str], column: str) -> tuple[str, ...]:
        sums = {key: add(self.energy_rows(((column, key),)), "energy_facility_kwh") or ZERO for key in keys}
        return tuple(sorted(sums, key=lambda key: (-sums[key], key)))


def _pick(rows: list[dict[str, Any]], selection: Selection) -> list[dict[str, Any]]:
    return [row for row in rows if all(row[name] == value for name, value in selection)]


def _of(quarters: list[str], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the quarters that the ledger holds whole: part of a quarter is nothing to compare with."""
    return [row for row in rows if row["quarter"] in quarters]


def load_facts(reader: Reader, quarter: Quarter, held: Held | None = None) -> QuarterFacts:
    """Ask the ledger each question once.

    Parameters
    ----------
    reader : Reader
        The ledger.
    quarter : Quarter
        What the rows are limited to.
    held : Held, optional
        Quarters of the ledger, when they are known already.
    """
    key = quarter.key
    known = held or held_quarters(reader)
    first = Quarter(quarter.year - 3, quarter.number).key
    earlier = [name for name in known.quarters if first <= name < key and known.whole(parse_quarter(name))]
    return QuarterFacts(
        reader=reader,
        quarter=quarter,
        held=known,
        settings={row["key_name"]: row["key_value"] for row in reader.rows(queries.SETTINGS)},
        sites=reader.rows(queries.SITES),
        chips=reader.rows(queries.CHIPS),
        clock=reader.rows(queries.CLOCK, [key]),
        installed=_prepared(reader.rows(queries.INSTALLED, [key])),
        hosts=_prepared(reader.rows(queries.HOSTS, [key])),
        energy=_prepared(reader.rows(queries.ENERGY, [key])),
        emissions=_prepared(reader.rows(queries.EMISSIONS, [key])),
        pue=reader.rows(queries.PUE, [key]),
        bases=reader.rows(queries.BASES, [min(first, key), key]),
        factors_used=reader.rows(queries.FACTORS_USED, [key]),
        batches=reader.rows(queries.BATCHES),
        reconciliation=reader.rows(queries.RECONCILIATION, [key]),
        hours=reader.rows(queries.HOURS, [key]),
        gaps=reader.rows(queries.GAPS, [key]),
        instruments=reader.rows(queries.INSTRUMENTS, [key]),
        market_cover=reader.rows(queries.MARKET_COVER, [key]),
        history_energy=_of(earlier, reader.rows(queries.HISTORY_ENERGY, [first, key]) if earlier else []),
        history_emissions=_of(earlier, reader.rows(queries.HISTORY_EMISSIONS, [first, key]) if earlier else []),
    )
