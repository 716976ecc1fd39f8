"""Hourly grid data on its way into a ledger: one row an hour and intensity, of any format that ``energy grid`` reads.

Where a file has generation by technology and no intensity of a boundary, that is computed as ``energy grid`` does. An
hour without a known value is no row; where the file has lines for it they are refused with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.carbon.hours import GridHours, IntensityOfHours, intensity_of_mix
from energy.catalogue.zones import zone
from energy.errors import InputFileError, UnknownNameError
from energy.importers.base import Batch, Context, Reject, rejects_table

if TYPE_CHECKING:
    import pyarrow as pa

#: No grid's average is above it: oil alone is at about 650, the worst coal at about 1,500 (g/kWh).
HIGHEST_AVERAGE_G_PER_KWH = 3000.0
_BOUNDARIES = ("direct", "lifecycle")


class GridHoursImporter:
    """Hours of one grid zone: intensity by boundary, attribution and kind."""

    name = "grid-hours"
    meaning = "hourly grid data of one zone (Electricity Maps, ENTSO-E, EIA-930, NESO, WattTime, a table): its factors"
    shape = "grid-hours"
    #: What the caller may say of a file makes another reading of the same bytes.
    told_by = ("zone", "site", "timezone", "boundary", "attribution")

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return the reason why a file is of this format, by its header; None otherwise."""
        from energy.importers.grid_files import format_name

        del head
        found = format_name(path)
        return None if found is None else f"hourly grid data, {found}"

    def read(self, path: Path, mapping: None, context: Context) -> Iterator[Batch]:
        """Yield one batch of hours; the zone is the file's, or ``--zone``.

        Raises
        ------
        InputFileError
            The file cannot be read, its zone is not known to the catalogue and no ``--site`` says whose it is, or an
            average does not say its gases.
        """
        del mapping
        found = with_intensities(_hours(path, context))
        zone_id = _zone_id(path, found.zone, context)
        rows = _Rows()
        for one in found.intensity:
            _take(rows, path, found, one)
        rejects = sorted([*found.refused, *rows.refused])
        context.notes.extend([*_words(found, zone_id), *found.notes])
        table = rows.table(found.zone, zone_id, context.site_id)
        yield Batch(table, rejects_table([Reject(*one, "") for one in rejects]), table.num_rows + len(rejects))


def with_intensities(found: GridHours) -> GridHours:
    """Return hours with the production-based intensity of their generation, direct and lifecycle, where it is absent.

    Parameters
    ----------
    found : GridHours
        Of a file.

    Returns
    -------
    GridHours
        Published intensities stay as they are; computed ones have the status ``derived``.
    """
    if found.generation_mwh:
        for boundary in _BOUNDARIES:
            have = [(one.boundary, one.attribution, one.kind) for one in found.intensity]
            if (boundary, "production", "average") not in have:
                found, _ = intensity_of_mix(found, boundary)
    return found


def _hours(path: Path, context: Context) -> GridHours:
    from energy.importers.grid_files import grid_hours

    return grid_hours(
        path,
        zone=context.zone,
        timezone=context.timezone,
        boundary=context.boundary,
        attribution=context.attribution,
    )


def _zone_id(path: Path, name: str, context: Context) -> str | None:
    """Return the catalogue's name of the file's zone; None where it has none and ``--site`` says whose hours they are.

    A name may be wrapped as ENTSO-E writes it, "Germany (DE)": then what is in brackets counts, if both agree.
    """
    parts = [part.strip() for part in name.rstrip(")").split("(")] if name.endswith(")") else [name]
    known = set()
    for part in parts:
        try:
            known.add(zone(part).zone_id)
        except UnknownNameError:
            continue
    if len(known) == 1:
        return known.pop()
    if context.site_id is None:
        sites = ", ".join(context.sites)
        raise InputFileError(
            f"{path.name}: its zone {name!r} is not in the catalogue, so no site is known to be in it: say whose hours "
            f"they are with --site (sites: {sites}). Nothing was stored."
        )
    return None


@dataclass(slots=True)
class _Rows:
    """Columns of the rows, a part for each intensity, and hours that are refused."""

    parts: list[tuple[IntensityOfHours, Any, Any, Any]] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)

    def table(self, zone_name: str, zone_id: str | None, site_id: str | None) -> pa.Table:
        """Return the rows as a table."""
        import pyarrow as pa

        made = [_part_table(*part) for part in self.parts]
        table = pa.concat_tables(made) if made else _part_table(None, *(np.empty(0, np.int64),) * 2, np.empty(0))
        for name, value in (("grid_zone", zone_name), ("zone_id", zone_id), ("site_id", site_id)):
            table = table.append_column(name, pa.repeat(pa.scalar(value, pa.string()), table.num_rows))
        return table


def _take(rows: _Rows, path: Path, found: GridHours, one: IntensityOfHours) -> None:
    if one.kind == "average" and one.gases not in ("CO2e", "CO2 only"):
        raise InputFileError(
            f"{path.name}: its average intensity in pounds does not say of what: write the unit as lbCO2e/MWh or "
            "lbCO2/MWh. Nothing was stored."
        )
    value = one.values_gco2e_per_kwh
    lines = np.zeros(value.shape, np.int64) if found.first_line is None else found.first_line
    known = np.isfinite(value)
    wrong = known & (one.kind == "average") & ((value < 0) | (value > HIGHEST_AVERAGE_G_PER_KWH))
    for place in np.flatnonzero(wrong).tolist():
        rows.refused.append(
            (
                int(lines[place]),
                f"hour {found.hour_utc[place]}:00Z: an average of {value[place]:g} g/kWh ({one.boundary}) is not "
                f"between 0 and {HIGHEST_AVERAGE_G_PER_KWH:,.0f}: check the unit of the column",
            )
        )
    kept = known & ~wrong
    moments = found.hour_utc.astype("datetime64[ms]").astype(np.int64)
    rows.parts.append((one, lines[kept], moments[kept], value[kept]))


def _part_table(one: IntensityOfHours | None, lines: Any, moments: Any, values: Any) -> pa.Table:
    import pyarrow as pa

    size = len(lines)
    empty = pa.nulls(size, pa.float64())
    given = pa.array(values, pa.float64())
    produced = one is not None and one.attribution == "production"
    columns: dict[str, Any] = {
        "row_number": pa.array(lines, pa.int64()),
        "hour_utc": pa.array(moments, pa.int64()).cast(pa.timestamp("ms", "UTC")),
        "intensity_gco2e_per_kwh_generation": given if produced else empty,
        "intensity_gco2e_per_kwh_facility": empty if produced else given,
    }
    words = {"boundary": "boundary", "factor_attribution": "attribution", "series_kind": "kind", "gases": "gases"}
    words |= {"gwp_set": "gwp_set", "status": "status", "publisher": "publisher"}
    for name, attribute in words.items():
        value = None if one is None else getattr(one, attribute)
        columns[name] = pa.repeat(pa.scalar(value, pa.string()), size)
    return pa.table(columns)


def _words(found: GridHours, zone_id: str | None) -> list[str]:
    """Say what was read: format, zone, period, intensities, and what is absent."""
    first, last = found.hour_utc[0], found.hour_utc[-1] + np.timedelta64(1, "h")
    what = "; ".join(f"{one.boundary} {one.attribution} {one.kind}, {one.status}" for one in found.intensity)
    known = "" if zone_id in (None, found.zone) else f" ({zone_id} of the catalogue)"
    gaps = found.gaps
    absent = [
        f"{words}: {count:,}"
        for count, words in (
            (gaps.missing_hours, "hours between the first and the last without a row"),
            (gaps.partial_hours, "hours of which a part is absent"),
            (gaps.conflicting_hours, "hours with rows that contradict each other"),
            (gaps.repeated_rows, "rows that say again what another says (counted once)"),
        )
        if count
    ]
    lines = [f"{found.file_format}: zone {found.zone}{known}, {first}:00Z to {last}:00Z: {what}"]
    lines += [f"not filled: {'; '.join(absent)}"] if absent else []
    if any(one.kind == "marginal" for one in found.intensity):
        lines.append("the marginal hours are kept in raw.grid_hour; no total of an inventory takes them")
    if found.estimated_fraction:
        lines.append(f"{100 * found.estimated_fraction:.1f} % of its known hours were estimated by the publisher")
    return lines


importer = GridHoursImporter()
