"""``energy facility``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from energy.cli._app import JsonOption, app, print_json, say

if TYPE_CHECKING:
    from energy.facility.design import Design
    from energy.facility.results import AnnualRange, FacilityYear

_WORKED = "examples/facilities"


@app.command()
def facility(
    site: Annotated[str, typer.Argument(metavar="SITE", help="A YAML of the site, or a worked one: ashburn.")],
    year: Annotated[int | None, typer.Option(help="Map the weather to this calendar year.")] = None,
    hours: Annotated[Path | None, typer.Option(metavar="OUT.csv", help="Write every hour here.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute a site from its weather: PUE, water, losses.

    Annual figures are energy over energy, with the 5th and 95th percentile over the ranges of what is not stated.
    """
    from energy.facility.results import annual_range, facility_year, liquid_against_air

    design, weather = _site(site)
    if year is not None:
        weather = weather.for_year(year)
    found = facility_year(design, weather)
    bounds = annual_range(design, weather)
    against = None if design.liquid is None else liquid_against_air(design, weather)
    if hours is not None:
        _write_hours(found, hours)
    if as_json:
        print_json("facility/1", **_document(design, found, bounds, against))
        return
    say("\n".join(_lines(design, found, bounds, against)))


def _site(name: str) -> tuple[Design, Any]:
    from energy.errors import FacilityError, UnknownNameError, did_you_mean
    from energy.facility.description import design_of, weather_of
    from energy.importers.yaml_text import parse_yaml, read_text
    from energy.resources import resource

    path = Path(name)
    if not path.is_file():
        worked = {one.stem: one for one in sorted(resource("datasets").joinpath(_WORKED).glob("*.yaml"))}
        if name not in worked:
            raise UnknownNameError(
                f"{name} is neither a file nor a worked site: {', '.join(worked)}.{did_you_mean(name, worked)}"
            )
        path = worked[name]
    values = parse_yaml(read_text(path, FacilityError), path.name, FacilityError)
    return design_of(values, path.name), weather_of(values, path.name, path.parent)


def _document(design: Design, found: FacilityYear, bounds: AnnualRange, against: Any) -> dict[str, Any]:
    weather = found.weather
    return {
        "site": found.name,
        "case": design.case_id,
        "weather": {
            "place": weather.place,
            "kind": weather.kind,
            "source": weather.source,
            "licence": weather.licence,
            "from_utc": str(weather.start_utc[0]) + "Z",
            "hours": weather.hours,
        },
        "rated_it_kw": design.built_it_kw,
        "annual": asdict(found.annual),
        "ranges_p05_p50_p95": asdict(bounds),
        "liquid_against_air": None
        if against is None
        else {
            "air": asdict(against["air"]),
            "liquid": asdict(against["liquid"]),
            "energy_saved_fraction": against["energy_saved_fraction"],
        },
        "published": None if design.published is None else asdict(design.published),
        "refrigerants": [asdict(one) for one in design.leaks],
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }


def _lines(design: Design, found: FacilityYear, bounds: AnnualRange, against: Any) -> list[str]:
    year = found.annual
    lines = [f"{found.name}: {design.case.title}", f"weather: {found.weather.place}, {found.weather.kind} year", ""]
    lines.append(f"{'':30}{'year':>10}   5th to 95th percentile")
    ratios = (
        ("PUE", year.pue, bounds.pue),
        ("WUE withdrawn, L/kWh (IT)", year.wue_withdrawn_l_per_kwh_it, bounds.wue_withdrawn_l_per_kwh_it),
        ("WUE consumed, L/kWh (IT)", year.wue_consumed_l_per_kwh_it, bounds.wue_consumed_l_per_kwh_it),
    )
    lines += [f"{name:30}{value:>10.3f}   {ends[0]:.3f} to {ends[2]:.3f}" for name, value, ends in ratios]
    if design.reuse is not None:
        lines.append(f"{'ERF':30}{year.erf:>10.3f}   heat handed over at {design.reuse.needed_c:g} C")
    if design.published is not None:
        printed = design.published
        known = (("PUE", printed.pue), ("WUE", printed.wue_l_per_kwh_it))
        figures = [f"{name} {value:g}" for name, value in known if value is not None]
        lines.append(f"{printed.name}: {', '.join(figures)}{' (suspect)' if printed.suspect else ''}")
        lines[-1] += f"; {printed.note}" if printed.note else ""
    lines += ["", f"{'energy at the site':30}{'MWh':>10}{'of IT':>9}"]
    for name, value in year.energy_by_part_kwh.items():
        shown = "IT" if name == "it" else name.replace("_", " ")
        lines.append(f"{shown:30}{value / 1e3:>10,.0f}{value / year.energy_it_kwh:>9.2%}")
    lines.append(f"{'whole site':30}{year.energy_facility_kwh / 1e3:>10,.0f}{year.pue:>9.2%}")
    if against is not None:
        lines += ["", "the same computing            IT MWh  site MWh      PUE"]
        for name in ("air", "liquid"):
            side = against[name]
            parts = (side.energy_it_kwh / 1e3, side.energy_facility_kwh / 1e3)
            lines.append(f"{name:26}{parts[0]:>10,.0f}{parts[1]:>10,.0f}{side.pue:>9.3f}")
        lines.append(
            f"energy saved at the site: {against['energy_saved_fraction']:.1%}; server fans are in IT, PUE hides them"
        )
    for one in design.leaks:
        lines += ["", f"{one.refrigerant} lost a year: {one.leak_kg_per_y:.4g} kg ({one.leak_kg_per_y_low:.4g} to "]
        lines[-1] += f"{one.leak_kg_per_y_high:.4g}) of {one.charge_kg:.4g} kg in {one.machine}s ({one.status})"
    lines += ["", *(f"outside: {text}" for text in found.warnings), *(f"note: {text}" for text in found.notes)]
    return lines


def _write_hours(found: FacilityYear, path: Path) -> None:
    """Write the hours as CSV; the file is complete or absent."""
    import csv

    from energy.errors import FacilityError

    columns = {
        "start_utc": [f"{moment}Z" for moment in found.start_utc],
        "dry_bulb_c": found.weather.dry_bulb_c,
        "wet_bulb_c": found.weather.wet_bulb_c,
        "power_it_kw": found.it_kw,
        "power_facility_kw": found.facility_kw,
        "pue": found.pue,
        "wue_withdrawn_l_per_kwh_it": found.wue_withdrawn_l_per_kwh_it,
        "wue_consumed_l_per_kwh_it": found.wue_consumed_l_per_kwh_it,
        **{f"power_{name}_kw": values for name, values in found.parts_kw.items()},
    }
    size = found.start_utc.size
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*(_cells(values, size) for values in columns.values()), strict=True))
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise FacilityError(f"{path} cannot be written: {error.strerror}.") from None


def _cells(values: Any, size: int) -> list[str]:
    """Return one text a row; what is not known is empty."""
    import numpy as np

    if isinstance(values, list):
        return values
    return ["" if value != value else f"{value:.8g}" for value in np.broadcast_to(values, (size,)).tolist()]
