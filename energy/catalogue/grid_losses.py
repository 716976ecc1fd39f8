"""Losses of transmission and distribution by country."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._records import build
from energy.catalogue.zones import zone
from energy.errors import FactorError


@dataclass(frozen=True, slots=True)
class Losses:
    """Losses of one country and year in percent **of output**: of what power stations made, not of what was bought."""

    zone_id: str
    year: int
    td_loss_pct_of_output: float
    source: tuple[str, ...]
    status: str
    note: str

    @property
    def fraction_of_output(self) -> float:
        """Return losses over generation, 0 to 1.

        Examples
        --------
        >>> losses("DEU").fraction_of_output
        0.03884

        """
        return round(self.td_loss_pct_of_output / 100, 9)


@cache
def all_losses() -> tuple[Losses, ...]:
    """Return all losses, in the order of the table.

    Examples
    --------
    >>> {one.year for one in all_losses()}
    {2014}

    """
    return tuple(build(Losses, row) for row in _tables.rows("td_losses"))


@cache
def _by_zone() -> Mapping[str, Losses]:
    return {one.zone_id: one for one in all_losses()}


def losses(name: str) -> Losses:
    """Return the losses of the country that a name means, or that the named zone lies in.

    Raises
    ------
    FactorError
        When none is known for the country; nothing is taken instead.
    UnknownNameError
        When the place is not known.

    Examples
    --------
    >>> losses("France").td_loss_pct_of_output
    6.342

    """
    country = zone(name).country_zone_id
    if country not in _by_zone():
        raise FactorError(f"No losses of transmission and distribution are known for {country}.")
    return _by_zone()[country]
