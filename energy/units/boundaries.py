"""The two escapes from the measurement boundary. Both keep the number, both leave a line for the provenance."""

from __future__ import annotations

from typing import cast

import pint

from energy.errors import UnitError, did_you_mean
from energy.units.registry import TAGS, Quantity, dimension, parse_unit, quantity, unit_text
from energy.units.words import BOUNDARY_WORDS, words


def _tags_of(amount: Quantity) -> dict[str, float]:
    return {
        name.strip("[]").removeprefix("at_"): power
        for name, power in dimension(amount.units)
        if name.strip("[]") in TAGS
    }


def _restated(amount: Quantity, old: str, new: str) -> Quantity:
    """Return the same number with one boundary's units renamed to another's: kWh_it becomes kWh_facility."""
    unit = parse_unit("")
    for name, power in cast("dict[str, float]", amount._units).items():
        renamed = f"{name.removesuffix(old)}{new}" if name.endswith(f"_{old}") else name
        unit = cast("pint.Unit", unit * parse_unit(renamed) ** power)
    return quantity(amount.magnitude, unit)


def as_purchased(factor: Quantity, notes: list[str] | None = None) -> Quantity:
    """Restate a production-based factor per kWh at the meter, number unchanged.

    That is the convention of Scope 2: purchased electricity times the factor of what the grid generates; grid losses
    are category 3 of Scope 3, so they are not added here.

    Parameters
    ----------
    factor : Quantity
        Factor per kWh_generation, such as gCO2e/kWh_generation.
    notes : list of str, optional
        Receives one line for the provenance.

    Returns
    -------
    Quantity
        The same number per kWh_facility.

    Raises
    ------
    UnitError
        The factor is not per energy at generation.

    Notes
    -----
    Equation: factor per kWh_facility = factor per kWh_generation x 1. Source: GHG Protocol Scope 2
    Guidance (2015), which leaves transmission and distribution losses to scope 3 category 3.

    Examples
    --------
    >>> print(as_purchased(quantity(385.0, "gCO2e/kWh_generation")))
    385.0 gCO2e/kWh_facility

    """
    if not isinstance(factor, Quantity) or _tags_of(factor) != {"generation": -1}:
        given = words(factor.units) if isinstance(factor, Quantity) else type(factor).__name__
        raise UnitError(
            f"as_purchased() takes a factor per kWh (generation), got {given}: consumption-based factors are per kWh "
            "(facility) already and need no restating."
        )
    result = _restated(factor, "generation", "facility")
    if notes is not None:
        notes.append(
            f"as purchased: production-based factor in {unit_text(factor.units)} restated as "
            f"{unit_text(result.units)}, number unchanged (Scope 2 convention; grid losses are category 3)"
        )
    return result


def counted_at(amount: Quantity, boundary: str, notes: list[str] | None = None) -> Quantity:
    """Restate energy or power as a part of what is counted further up, number unchanged.

    For overhead = facility - IT, waterfalls and reconciliation: the IT's kWh is a part of the meter's kWh. It is no
    conversion: for that multiply by the node overhead, PUE or grid loss. Upwards only.

    Parameters
    ----------
    amount : Quantity
        Energy or power at one boundary, such as kWh_it.
    boundary : str
        ``it``, ``facility`` or ``generation``; above the one of ``amount``.
    notes : list of str, optional
        Receives one line for the provenance.

    Returns
    -------
    Quantity
        The same number at ``boundary``.

    Raises
    ------
    UnitError
        ``amount`` has no single boundary, or ``boundary`` is unknown or not above it.

    Examples
    --------
    >>> print(quantity(130.0, "kWh_facility") - counted_at(quantity(100.0, "kWh_it"), "facility"))
    30.0 kWh_facility

    """
    order = tuple(BOUNDARY_WORDS)
    if boundary not in order:
        raise UnitError(
            f"counted_at() knows no boundary {boundary!r}: use it, facility or generation."
            f"{did_you_mean(boundary, order)}"
        )
    tags = _tags_of(amount) if isinstance(amount, Quantity) else {}
    if (
        not isinstance(amount, Quantity)
        or list(tags.values()) != [1]
        or dict(dimension(amount.units)).get("[energy]") != 1
    ):
        given = words(amount.units) if isinstance(amount, Quantity) else type(amount).__name__
        raise UnitError(
            f"counted_at() takes energy or power measured at one boundary, got {given}: state it as kWh_it."
        )
    (old,) = tags
    if order.index(boundary) <= order.index(old):
        raise UnitError(
            f"counted_at() goes upwards only (chip, IT, facility, generation): {words(amount.units)} cannot be counted "
            f"at {BOUNDARY_WORDS[boundary]}; divide by the ratio between them instead."
        )
    result = _restated(amount, old, boundary)
    if notes is not None:
        notes.append(
            f"counted at {BOUNDARY_WORDS[boundary]}: {unit_text(amount.units)} restated as {unit_text(result.units)}, "
            "number unchanged (a part of what is counted there, not a conversion)"
        )
    return result
