"""What PUE, water and purchase of each site rest on, in one line a site."""

from __future__ import annotations

from typing import Any

from energy.ledger.reader import Ledger

_PUE = """
SELECT site_id, source, min(pue) AS least, max(pue) AS most, string_agg(DISTINCT note, '; ') AS note
FROM core.pue_hour
GROUP BY ALL ORDER BY site_id, source
"""
_WATER = """
SELECT site_id, source, count(wue_withdrawn_l_per_kwh_it) > 0 AS withdrawn,
    count(wue_consumed_l_per_kwh_it) > 0 AS consumed
FROM core.wue_hour
GROUP BY ALL ORDER BY site_id, source
"""
_SUPPLY = """
SELECT site_id, source, sum(grid_facility_kwh) / sum(load_facility_kwh) AS bought
FROM core.supply_hour
GROUP BY ALL ORDER BY site_id, source
"""


def site_lines(ledger: Ledger) -> list[str]:
    """Return one line for each site: PUE, water and supply, each with what it rests on.

    Parameters
    ----------
    ledger : Ledger
        An open version.

    Returns
    -------
    list of str
        Constant (site.yaml), modelled from the weather of a place, or published by an operator; and that nothing is
        known where nothing is stated.

    """
    water, supply = _by_site(ledger.rows(_WATER)), _by_site(ledger.rows(_SUPPLY))
    return [
        f"site {site_id}: PUE {_pue(rows)}; {_water(water.get(site_id, []), _named(rows))}; "
        f"{_supply(supply.get(site_id, []))}"
        for site_id, rows in _by_site(ledger.rows(_PUE)).items()
    ]


def _by_site(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["site_id"], []).append(row)
    return found


def _pue(rows: list[dict[str, Any]]) -> str:
    ends = dict.fromkeys(f"{end:.4g}" for end in (min(row["least"] for row in rows), max(row["most"] for row in rows)))
    notes = "; ".join(dict.fromkeys(row["note"] for row in rows if row["note"]))
    return f"{' to '.join(ends)}, {_named(rows)}" + (f" ({notes})" if notes else "")


def _water(rows: list[dict[str, Any]], of_pue: str) -> str:
    if not rows:
        return "no water stated"
    kinds = [kind for kind in ("withdrawn", "consumed") if any(row[kind] for row in rows)]
    source = _named(rows)
    return f"water {' and '.join(kinds)}, {'from the same' if source == of_pue else source}"


def _supply(rows: list[dict[str, Any]]) -> str:
    modelled = [row for row in rows if row["bought"] is not None]
    if not modelled:
        return "all energy bought"
    shares = ", ".join(f"{100 * row['bought']:.1f} %" for row in modelled)
    return f"bought {shares}, {_named(modelled)}"


def _named(rows: list[dict[str, Any]]) -> str:
    """Return the sources, a constant of site.yaml by that word."""
    return " | ".join("constant of site.yaml" if row["source"] == "site.yaml" else row["source"] for row in rows)
