"""``energy grid``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from energy.cli._app import JsonOption, app, print_json, say

if TYPE_CHECKING:
    from energy.carbon.hours import GridHours, IntensityOfHours


@app.command()
def grid(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, JSON of WattTime, or Parquet of this command.")],
    file_format: Annotated[str | None, typer.Option("--format", help="By default told by the header.")] = None,
    zone: Annotated[str | None, typer.Option(help="Of a file with several, or name of the only one.")] = None,
    timezone: Annotated[str | None, typer.Option(help="IANA zone of times that carry none.")] = None,
    boundary: Annotated[str | None, typer.Option(help="direct or lifecycle, where the header does not say.")] = None,
    attribution: Annotated[str | None, typer.Option(help="production or consumption, likewise.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write the hours here, for later use.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Read hourly grid data: gaps, intensity by month.

    Where a file has generation by technology, the production-based intensity is computed from it, direct and lifecycle.
    """
    from energy.importers.grid_files import grid_hours, write_hours
    from energy.importers.grid_ledger import with_intensities

    found = with_intensities(
        grid_hours(file, file_format, zone, timezone=timezone, boundary=boundary, attribution=attribution)
    )
    if parquet is not None:
        write_hours(found, parquet)
    if as_json:
        print_json("grid/1", **_document(found), file=str(file), parquet=None if parquet is None else str(parquet))
        return
    say("\n".join(_lines(found)))
    if parquet is not None:
        say(f"written: {parquet}")


def _document(found: GridHours) -> dict[str, Any]:
    from energy.carbon.hours import monthly

    return {
        "format": found.file_format,
        "zone": found.zone,
        "publisher": found.publisher,
        "status": found.status,
        "first_hour_utc": f"{found.hour_utc[0]}:00Z",
        "last_hour_utc": f"{found.hour_utc[-1]}:00Z",
        "hours": int(found.hour_utc.size),
        "unknown_hours": found.unknown_hours,
        "gaps": asdict(found.gaps),
        "estimated_fraction": found.estimated_fraction,
        "generation_mwh": {name: _total(values) for name, values in found.generation_mwh.items()},
        "intensity": [
            {name: getattr(one, name) for name in ("boundary", "attribution", "kind", "gases", "gwp_set", "unit")}
            | {"status": one.status, "publisher": one.publisher}
            | {"months": [asdict(month) for month in monthly(found.hour_utc, one.values_gco2e_per_kwh)]}
            for one in found.intensity
        ],
        "notes": list(found.notes),
    }


def _total(values: Any) -> float | None:
    """Return the sum of the known hours; None where none is known."""
    import numpy as np

    return float(np.nansum(values)) if np.isfinite(values).any() else None


def _lines(found: GridHours) -> list[str]:
    gaps = found.gaps
    span = f"{found.hour_utc[0]}:00 to {found.hour_utc[-1]}:59 UTC, {found.hour_utc.size:,} h"
    share = found.estimated_fraction
    estimated = "not stated" if share is None else f"{share:.1%} of the known hours"
    lines = [
        f"{found.zone}, {found.publisher} ({found.file_format}): {span}",
        f"hours without any value {found.unknown_hours:,} (no row {gaps.missing_hours:,}, in part "
        f"{gaps.partial_hours:,}, rows contradict {gaps.conflicting_hours:,}); rows repeated {gaps.repeated_rows:,}",
        f"estimated by the publisher: {estimated}",
    ]
    for one in found.intensity:
        lines += ["", *_months(found, one)]
    if found.generation_mwh:
        lines += ["", "generation of the known hours, MWh", *_mix(found)]
    return [*lines, *([""] if found.notes else []), *(f"note: {note}" for note in found.notes)]


def _months(found: GridHours, one: IntensityOfHours) -> list[str]:
    from energy.carbon.hours import monthly
    from energy.units import words

    head = (
        f"{one.kind} intensity, {one.boundary}, {one.attribution}-based, {one.gases}, {one.status} ({one.publisher}); "
        f"mean of the known hours, {words(one.unit)}"
    )
    rows = [
        f"  {month.month}{'not known' if month.mean_gco2e_per_kwh is None else f'{month.mean_gco2e_per_kwh:.1f}':>12}"
        f"  {month.known_hours} of {month.hours} h"
        for month in monthly(found.hour_utc, one.values_gco2e_per_kwh)
    ]
    return [head, *rows]


def _mix(found: GridHours) -> list[str]:
    totals = {name: _total(values) for name, values in found.generation_mwh.items()}
    ordered = sorted(totals, key=lambda name: -(totals[name] or 0.0))
    return [f"  {name:<20}{'not known' if totals[name] is None else f'{totals[name]:,.0f}':>18}" for name in ordered]
