"""Fuel that sites burnt: by ``site.yaml`` and by purchases that were ingested, once each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from energy.errors import SiteFileError, did_you_mean
from energy.ledger.site_file import FILE_NAME, SiteFile
from energy.units import Quantity, quantity

if TYPE_CHECKING:
    import duckdb

_ONCE = """
SELECT site_id, fuel, from_date, to_date, document_id, supplier, fuel_volume_l, fuel_heat_kwh, note, batch_id
FROM (
    SELECT *, row_number() OVER (
        PARTITION BY document_id, document_line, site_id, fuel, from_date ORDER BY batch_id, row_number
    ) AS place
    FROM raw.fuel_purchase
)
WHERE place = 1
ORDER BY site_id, from_date, document_id, document_line, fuel
"""


@dataclass(frozen=True, slots=True)
class FuelBurnt:
    """Fuel that one site burnt in a half-open period of days.

    ``amount`` is a volume (L) or heat by the higher heating value (kWh); ``whence`` names the document, or is empty
    for ``site.yaml``.
    """

    site_id: str
    fuel: str
    amount: Quantity
    start: date
    end: date
    whence: str


def fuels_burnt(connection: duckdb.DuckDBPyConnection, site_file: SiteFile) -> Iterator[FuelBurnt]:
    """Yield what sites burnt, of ``site.yaml`` first, then of purchases, each document line once.

    Parameters
    ----------
    connection : DuckDBPyConnection
        A version being built.
    site_file : SiteFile

    Raises
    ------
    SiteFileError
        A purchase is of a site that is gone, no set of warming potentials is named, or ``site.yaml`` and a purchase
        both state the same fuel of the same days.
    """
    for site_id, site in site_file.sites.items():
        for use in site.fuels:
            heat = quantity(use.heat_kwh or 0.0, "kWh")
            amount = heat if use.volume_l is None else quantity(use.volume_l, "L")
            yield FuelBurnt(site_id, use.fuel, amount, use.start, use.end, "")
    for site_id, fuel, start, end, document, supplier, volume, heat, note, batch_id in connection.execute(
        _ONCE
    ).fetchall():
        _check(site_file, site_id, fuel, date.fromisoformat(start), date.fromisoformat(end), batch_id)
        amount = quantity(heat, "kWh") if volume is None else quantity(volume, "L")
        of = f" of {supplier}" if supplier else ""
        whence = f"document {document}{of} (batch {batch_id}), {note}"
        yield FuelBurnt(site_id, fuel, amount, date.fromisoformat(start), date.fromisoformat(end), whence)


def _check(site_file: SiteFile, site_id: str, fuel: str, start: date, end: date, batch_id: int) -> None:
    back = f"or take the purchases back with `energy withdraw {batch_id}`"
    if site_id not in site_file.sites:
        near = did_you_mean(site_id, site_file.sites)
        raise SiteFileError(f"{FILE_NAME} has no site {site_id}, which bought {fuel}.{near} Put the site back, {back}.")
    if site_file.gwp_set is None:
        raise SiteFileError(
            f"{FILE_NAME}: gwp_set is missing: fuel purchases are reckoned by it. Write gwp_set: AR5 or AR6, {back}."
        )
    for use in site_file.sites[site_id].fuels:
        if " ".join(use.fuel.casefold().split()) == fuel and use.start < end and start < use.end:
            raise SiteFileError(
                f"{FILE_NAME}: sites.{site_id}.fuels states {fuel} from {use.start} to {use.end}, and so do purchases "
                f"of batch {batch_id}: it would count twice. Remove it from {FILE_NAME}, {back}."
            )
