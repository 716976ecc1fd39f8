"""Which factor holds for a zone and a year: by a policy that the caller names, with the year and direction said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from energy.catalogue.factors import Factor, factors_for
from energy.errors import FactorError

POLICIES = ("exact", "nearest earlier", "nearest any")


@dataclass(frozen=True, slots=True)
class Choice:
    """A factor, and how its year relates to the year of the activity."""

    factor: Factor
    year_policy: str
    year_note: str


def year_note(factor_year: int, activity_year: int, what: str = "factor") -> str:
    """Return the year of a factor against the year of the activity, in words.

    Examples
    --------
    >>> year_note(2023, 2026)
    'factor of 2023 for activity in 2026: 3 years earlier'

    """
    distance = activity_year - factor_year
    if distance == 0:
        return f"{what} of the year of the activity, {activity_year}"
    years = "year" if abs(distance) == 1 else "years"
    direction = "earlier" if distance > 0 else "later"
    return f"{what} of {factor_year} for activity in {activity_year}: {abs(distance)} {years} {direction}"


def choose(zone_id: str, kind: str, year: int, policy: str, boundary: str | None = None) -> Choice | None:
    """Return the factor of a zone for a year under a policy, or None when the zone has none of this kind at all.

    Parameters
    ----------
    zone_id : str
        Zone of the catalogue.
    kind : str
        ``location`` or ``residual``.
    year : int
        Year of the activity.
    policy : str
        ``exact``, ``nearest earlier`` or ``nearest any``.
    boundary : str, optional
        ``direct`` or ``lifecycle``; by default direct where the zone has it, as Scope 2 asks, else lifecycle, named.

    Raises
    ------
    FactorError
        The policy is unknown, or the zone has factors and none that the policy allows.

    Examples
    --------
    >>> choose("CAMX", "location", 2026, "nearest earlier").year_note
    'factor of 2023 for activity in 2026: 3 years earlier'

    """
    if policy not in POLICIES:
        raise FactorError(f"No factor policy {policy}; choose one of {', '.join(POLICIES)}.")
    candidates = factors_for(zone_id, kind)
    if not candidates:
        return None
    wanted = boundary or ("direct" if any(item.boundary == "direct" for item in candidates) else "lifecycle")
    candidates = tuple(item for item in candidates if item.boundary == wanted)
    chosen = _by_policy(candidates, year, policy)
    if chosen is None:
        have = sorted({item.year for item in factors_for(zone_id, kind)})
        raise FactorError(
            f"Zone {zone_id} has no {kind} factor ({wanted}) for {year} under the policy `{policy}`; it has "
            f"{', '.join(map(str, have))}. Set factor_policy in site.yaml to `nearest earlier` or `nearest any`."
        )
    return Choice(chosen, policy, year_note(chosen.year, year))


def _by_policy(candidates: Sequence[Factor], year: int, policy: str) -> Factor | None:
    if policy == "exact":
        allowed = [item for item in candidates if item.year == year]
    elif policy == "nearest earlier":
        allowed = [item for item in candidates if item.year <= year]
    else:
        allowed = list(candidates)
    # the nearest year; of one year the latest edition; an earlier year before a later one at the same distance
    return min(reversed(allowed), key=lambda item: (abs(item.year - year), item.year > year), default=None)
