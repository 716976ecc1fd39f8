"""The spread of a quarter: the energy of each site under every factor set held for its zone."""

from __future__ import annotations

from dataclasses import dataclass

from energy.carbon.spread import SpreadLine, spread
from energy.errors import LedgerError, did_you_mean
from energy.ledger.reader import Ledger
from energy.units import quantity

_SITES = """
SELECT site_id, factor_id, zone_id, boundary, sum(energy_facility_kwh) AS energy_facility_kwh
FROM main.factors_used
WHERE quarter = ? AND method = 'location'
GROUP BY site_id, factor_id, zone_id, boundary
ORDER BY site_id, factor_id
"""


@dataclass(frozen=True, slots=True)
class SiteSpread:
    """The spread of one site (of one factor, where its zone has several over the quarter)."""

    site_id: str
    zone_id: str
    energy_facility_kwh: float
    lines: tuple[SpreadLine, ...]


def spread_of_quarter(ledger: Ledger, quarter: str) -> tuple[SiteSpread, ...]:
    """Return the spread of each site of a quarter; the chosen line is the location-based factor that the ledger used.

    Parameters
    ----------
    ledger : Ledger
        Open.
    quarter : str
        As the ledger writes it: ``2026Q1``.

    Raises
    ------
    LedgerError
        The ledger holds no energy in the quarter.

    """
    found = ledger.rows(_SITES, [quarter])
    if not found:
        held = [
            row["quarter"] for row in ledger.rows("SELECT DISTINCT quarter FROM main.factors_used ORDER BY quarter")
        ]
        raise LedgerError(
            f"The ledger holds no energy in {quarter!r}; it has {', '.join(held) or 'no quarter'}."
            f"{did_you_mean(quarter, held)}"
        )
    return tuple(
        SiteSpread(
            row["site_id"],
            row["zone_id"],
            float(row["energy_facility_kwh"]),
            spread(
                row["zone_id"],
                quantity(float(row["energy_facility_kwh"]), "kWh_facility"),
                int(quarter[:4]),
                chosen_id=row["factor_id"],
            ),
        )
        for row in found
    )
