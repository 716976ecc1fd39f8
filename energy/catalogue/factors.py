"""Annual grid factors: location based and residual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.catalogue.zones import zones_by_id
from energy.errors import UnknownNameError, did_you_mean

KINDS = ("location", "residual")
_COLUMNS = {"value": "value_gco2e_per_kwh", "low": "low_gco2e_per_kwh", "high": "high_gco2e_per_kwh"}
_UNITS = {"production": "gCO2e/kWh_generation", "consumption": "gCO2e/kWh_facility"}


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor of one zone and year.

    ``value``, ``low`` and ``high`` are in ``unit``: ``gCO2e/kWh_generation`` for a production-based factor,
    ``gCO2e/kWh_facility`` for a consumption-based one. ``gases`` is ``CO2e`` or ``CO2 only``; ``gwp_set`` is ``AR5``,
    ``AR6``, ``none`` (CO2 only) or ``unstated`` (the publisher does not say).
    """

    factor_id: str
    zone_id: str
    kind: str
    year: int
    value: float
    unit: str
    low: float | None
    high: float | None
    boundary: str
    attribution: str
    gases: str
    gwp_set: str
    publisher: str
    source: tuple[str, ...]
    edition: str
    licence: str
    status: str
    note: str


@cache
def all_factors() -> tuple[Factor, ...]:
    """Return all factors, in the order of the table.

    Examples
    --------
    >>> {factor.kind for factor in all_factors()} == {"location", "residual"}
    True

    """
    return tuple(_factor(row) for row in _tables.rows("factors_annual"))


def _factor(row: _tables.Row) -> Factor:
    return build(Factor, row, _COLUMNS, unit=_UNITS[row.text("attribution")])


@cache
def _by_id() -> Mapping[str, Factor]:
    return {factor.factor_id: factor for factor in all_factors()}


@cache
def _by_zone() -> Mapping[tuple[str, str], tuple[Factor, ...]]:
    found: dict[tuple[str, str], list[Factor]] = {}
    for one in all_factors():
        found.setdefault((one.zone_id, one.kind), []).append(one)
    return {key: tuple(sorted(ones, key=lambda one: (one.year, one.edition))) for key, ones in found.items()}


def factor(factor_id: str) -> Factor:
    """Return the factor with this identifier.

    Raises
    ------
    UnknownNameError
        When there is none; the message gives the nearest identifiers.

    Examples
    --------
    >>> one = factor("egrid2022-CAMX")
    >>> one.value, one.unit, one.boundary
    (226.498, 'gCO2e/kWh_generation', 'direct')

    """
    if factor_id not in _by_id():
        hint = did_you_mean(factor_id, _by_id())
        raise UnknownNameError(f"The factor {factor_id!r} is not in the catalogue.{hint}")
    return _by_id()[factor_id]


def factors_for(zone_id: str, kind: str) -> tuple[Factor, ...]:
    """Return the factors of a zone, by year and edition; empty when it has none of this kind.

    They may differ in boundary: a caller that wants one boundary selects it. A zone that is served by another one has
    none itself: follow ``Zone.annual_zone_id``, and say so.

    Parameters
    ----------
    zone_id : str
        Identifier of a zone, not any of its other names.
    kind : str
        ``location`` or ``residual``.

    Raises
    ------
    UnknownNameError
        When the zone or the kind is not known.

    Examples
    --------
    >>> [(one.year, one.value) for one in factors_for("SWE", "location")][-3:]
    [(2021, 41.798), (2022, 41.067), (2023, 40.695)]
    >>> factors_for("AUT", "residual")
    ()

    """
    if zone_id not in zones_by_id():
        hint = did_you_mean(zone_id, zones_by_id())
        raise UnknownNameError(f"The zone identifier {zone_id!r} is not in the catalogue.{hint}")
    if kind not in KINDS:
        raise UnknownNameError(f"The kind of factor {kind!r} is not known: {' or '.join(KINDS)}.")
    return _by_zone().get((zone_id, kind), ())
