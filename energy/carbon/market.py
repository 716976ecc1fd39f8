"""Market-based total: which instrument covers which site, what is left over, what is uncovered.

Supply and demand of a market are laid end to end; where two stretches overlap, the instrument covers the site. That is
one sort and one search, whatever the number of certificates and sites, and the same rule is a join on overlaps in SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from energy.carbon.instruments import KINDS, Assessment
from energy.errors import FactorError, did_you_mean

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Site:
    """Gross purchase of one site in the period, its market, and the factor of what no instrument covers.

    ``residual_gco2e_per_kwh`` None: no residual mix is known; ``location_gco2e_per_kwh`` stands in, and that is said.
    ``null_power_mwh``: self-consumed energy of own plant whose certificates were sold [K].
    """

    site_id: str
    market: str
    purchased_mwh: float
    location_gco2e_per_kwh: float
    residual_gco2e_per_kwh: float | None
    null_power_mwh: float = 0.0


@dataclass(frozen=True, slots=True)
class Cover:
    """What one instrument covers of one site."""

    instrument_id: str
    site_id: str
    energy_mwh: float
    intensity_gco2e_per_kwh: float
    emissions_kgco2e: float  # MWh × g/kWh


@dataclass(frozen=True, slots=True)
class MarketBased:
    """The market-based total beside the location-based one; the two are never added.

    ``surplus_mwh`` by instrument is what no consumption was left for: it changes no total. ``uncovered_mwh`` by site
    carries ``uncovered_gco2e_per_kwh``. ``without_residual`` names the sites where the location-based factor stands in.
    """

    market_kgco2e: float
    location_kgco2e: float
    covers: tuple[Cover, ...]
    uncovered_mwh: Mapping[str, float]
    uncovered_gco2e_per_kwh: Mapping[str, float]
    surplus_mwh: Mapping[str, float]
    set_aside: tuple[Assessment, ...]
    without_residual: tuple[str, ...]


def overlaps(supply: Numbers, demand: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64], Numbers]:
    """Return which supply meets which demand when both are laid end to end in order.

    Parameters
    ----------
    supply, demand : arrays, shapes (n,) and (m,)
        Zero or more, in one unit.

    Returns
    -------
    arrays of int, int, float, shape (k,), k < n + m
        Index of supply, index of demand, amount; the amounts add up to the smaller of both sums.

    Examples
    --------
    >>> [part.tolist() for part in overlaps(np.array([6.0, 4.0]), np.array([5.0, 3.0]))]
    [[0, 0, 1], [0, 1, 1], [5.0, 1.0, 2.0]]

    """
    ends_supply, ends_demand = np.cumsum(supply), np.cumsum(demand)
    if not (ends_supply.size and ends_demand.size):
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    last = min(ends_supply[-1], ends_demand[-1])
    cuts = np.unique(np.concatenate((ends_supply, ends_demand)))
    cuts = cuts[(cuts > 0) & (cuts <= last)]
    amount = np.diff(cuts, prepend=0.0)
    from_supply = np.searchsorted(ends_supply, cuts, side="left")
    to_demand = np.searchsorted(ends_demand, cuts, side="left")
    return from_supply.astype(np.int64), to_demand.astype(np.int64), amount


def market_based(sites: Sequence[Site], assessments: Sequence[Assessment]) -> MarketBased:
    """Return both Scope 2 totals over all sites.

    Parameters
    ----------
    sites : sequence of Site
        Gross purchases: exports are not netted off.
    assessments : sequence of Assessment
        Of :func:`energy.carbon.instruments.assess`; what was not accepted is listed and covers nothing.

    Returns
    -------
    MarketBased
        Totals in kg CO2e, every cover, what is left.

    Raises
    ------
    FactorError
        A purchase is negative or not a number, a site occurs twice, or an instrument names a site that is not here.

    Notes
    -----
    MB = Σ E_i EF_i + E_uncovered EF_residual; LB = Σ E EF_grid. Scope 2 Guidance (2015), chapter 7. Site-bound
    instruments cover first, then those of the market; within each by kind (certificate, contract, supplier rate), date
    of vintage and identifier. Sites of a market are covered in the order of their names.

    Examples
    --------
    Worked example of a dual report: 10,000 MWh, 6,000 MWh of certificates, residual mix 240.141 g/kWh.

    >>> from datetime import date
    >>> from energy.carbon.instruments import Instrument, Use, assess
    >>> rec = Instrument("REC-1", "certificate", 6000.0, 0.0, date(2026, 1, 1), date(2027, 1, 1), "US",
    ...                  registry="M-RETS", cancellation_id="R-77", beneficiary="Example Ltd")
    >>> use = Use("Example Ltd", date(2026, 1, 1), date(2027, 1, 1), frozenset({"US"}))
    >>> found = market_based([Site("a", "US", 10_000.0, 226.5, 240.141)], assess([rec], use))
    >>> round(found.market_kgco2e / 1000, 3), round(found.location_kgco2e / 1000)
    (960.564, 2265)

    """
    _check(sites, assessments)
    accepted = sorted((one for one in assessments if one.is_accepted), key=_order)
    left = {site.site_id: site.purchased_mwh for site in sites}
    unused = {one.instrument.instrument_id: one.instrument.energy_mwh for one in accepted}
    covers: list[Cover] = []
    for site in sorted(sites, key=lambda site: site.site_id):
        covers += _cover(
            [site.site_id], [one for one in accepted if one.instrument.site_id == site.site_id], left, unused
        )
    for market in sorted({site.market for site in sites}):
        here = sorted(site.site_id for site in sites if site.market == market)
        free = [one for one in accepted if not one.instrument.site_id and one.instrument.market == market]
        covers += _cover(here, free, left, unused)
    uncovered = {
        site.site_id: site.location_gco2e_per_kwh
        if site.residual_gco2e_per_kwh is None
        else site.residual_gco2e_per_kwh
        for site in sites
    }
    rest = sum((left[site.site_id] + site.null_power_mwh) * uncovered[site.site_id] for site in sites)
    return MarketBased(
        market_kgco2e=sum(one.emissions_kgco2e for one in covers) + rest,
        location_kgco2e=sum(site.purchased_mwh * site.location_gco2e_per_kwh for site in sites),
        covers=tuple(covers),
        uncovered_mwh={site.site_id: left[site.site_id] + site.null_power_mwh for site in sites},
        uncovered_gco2e_per_kwh=uncovered,
        surplus_mwh={name: amount for name, amount in unused.items() if amount > 0},
        set_aside=tuple(one for one in assessments if not one.is_accepted),
        without_residual=tuple(site.site_id for site in sites if site.residual_gco2e_per_kwh is None),
    )


def _order(one: Assessment) -> tuple[int, str, str]:
    instrument = one.instrument
    return KINDS.index(instrument.kind), instrument.vintage_from.isoformat(), instrument.instrument_id


def _cover(
    sites: Sequence[str], instruments: Sequence[Assessment], left: dict[str, float], unused: dict[str, float]
) -> list[Cover]:
    """Let instruments cover sites, and take what they cover off both."""
    supply = np.array([unused[one.instrument.instrument_id] for one in instruments])
    demand = np.array([left[site] for site in sites])
    found = []
    for row, column, amount in zip(*(part.tolist() for part in overlaps(supply, demand)), strict=True):
        instrument, site = instruments[row].instrument, sites[column]
        # the last stretch takes what is left, so that no rest of rounding stays
        unused[instrument.instrument_id] = _less(unused[instrument.instrument_id], amount)
        left[site] = _less(left[site], amount)
        emissions = amount * instrument.intensity_gco2e_per_kwh
        found.append(Cover(instrument.instrument_id, site, amount, instrument.intensity_gco2e_per_kwh, emissions))
    return found


def _less(whole: float, part: float) -> float:
    rest = whole - part
    return 0.0 if abs(rest) <= 1e-9 * max(whole, 1e-9) else rest


def _check(sites: Sequence[Site], assessments: Sequence[Assessment]) -> None:
    names = [site.site_id for site in sites]
    for site in sites:
        if names.count(site.site_id) > 1:
            raise FactorError(f"Site {site.site_id} occurs twice: give each site once, with its whole purchase.")
        for what, amount in (("purchase", site.purchased_mwh), ("null power", site.null_power_mwh)):
            if not (np.isfinite(amount) and amount >= 0):
                raise FactorError(
                    f"Site {site.site_id}: a {what} of {amount:g} MWh. Give gross purchases, zero or more; exports are "
                    "not netted off."
                )
    for one in assessments:
        bound = one.instrument.site_id
        if bound and bound not in names:
            raise FactorError(
                f"Instrument {one.instrument.instrument_id} covers site {bound}, which is not in the report."
                f"{did_you_mean(bound, names)}"
            )
