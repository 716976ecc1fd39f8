"""The catalogue as rows for people and programs: value, unit, source, status, and what is unverified."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from energy.catalogue import _tables
from energy.errors import AmbiguousNameError, UnknownNameError, did_you_mean

UNVERIFIED = "recalled, unverified"
_IDLE_STATUS = {"recalled": UNVERIFIED, "default": "default: a rule of thumb", "read": "read"}
_LEGEND = "Status: catalogue, read from its source; derived, computed from values read; estimate, recalled or assumed."


@dataclass(frozen=True, slots=True)
class Kind:
    """One catalogue: where its entries come from and which columns the list shows.

    Parts are named and not imported, so that a look at the chips reads nothing of the grid.
    """

    module: str
    listed: str
    look_up: str
    table: str
    shown: str
    more: str = ""

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function of the part."""
        found: Callable[..., Any] = getattr(import_module(f"energy.catalogue.{self.module}"), name)
        return found


KINDS: dict[str, Kind] = {
    "chips": Kind("chips", "all_chips", "chip", "chips", "chip_id name form_factor tdp_w idle_w idle_status status"),
    "nodes": Kind(
        "nodes", "all_nodes", "node", "nodes", "node_id name accelerator_count accelerator_chip_id max_kw status"
    ),
    "links": Kind(
        "links", "all_links", "link", "links", "link_id name generation bandwidth_gb_per_s_per_direction per status"
    ),
    "memories": Kind(
        "memories", "all_memories", "memory", "memories", "memory_id name max_gb_per_unit unit energy_pj_per_bit status"
    ),
    "operations": Kind(
        "operations", "all_operations", "operation", "energy_per_op", "operation_id number_format bits energy_pj status"
    ),
    "models": Kind(
        "models", "all_models", "model", "models", "model_id name params_total_b params_active_b year status", "_shape"
    ),
    "software": Kind(
        "software",
        "all_software_gains",
        "software_gain",
        "software_maturity",
        "gain_id stack chip speedup_factor status",
    ),
    "prices": Kind("prices", "all_prices", "price", "prices", "price_id chip_id kind provider price_date status"),
    "electricity-prices": Kind(
        "electricity_prices",
        "all_electricity_prices",
        "electricity_price",
        "electricity_prices",
        "price_id region period consumer price_usd_per_kwh status",
    ),
    "zones": Kind("zones", "all_zones", "zone", "zones", "zone_id kind name hourly_zone_id status", "_asked"),
    "factors": Kind(
        "factors", "all_factors", "factor", "factors_annual", "factor_id zone_id kind year value unit boundary status"
    ),
    "profiles": Kind(
        "profiles",
        "intensity_sets",
        "intensity_set",
        "intensity_sets",
        "profile_set zone_id year coverage status",
        "_means",
    ),
    "cloud-regions": Kind(
        "cloud",
        "all_cloud_regions",
        "cloud_region_by_name",
        "cloud_regions",
        "provider region location zone_id hourly_zone_id status",
        "_published",
    ),
    "marginal": Kind(
        "marginal", "all_marginal", "marginal_set", "marginal_sets", "marginal_id name mean_gco2_per_kwh n_hours status"
    ),
    "weather": Kind(
        "weather",
        "all_weather_places",
        "weather_place",
        "weather_places",
        "place_id name kind country elevation_m status",
        "_years",
    ),
    "losses": Kind("grid_losses", "all_losses", "losses", "td_losses", "zone_id year td_loss_pct_of_output status"),
    "sources": Kind("sources", "all_sources", "source", "sources", "source title licence"),
}
# Columns that a record names otherwise than its table.
_COLUMN_OF = {"chips": {"name": "chip"}, "nodes": {"name": "system"}}
_SEVERAL = {"prices": "prices_for", "electricity-prices": "electricity_prices_for"}


def _kind(kind: str) -> Kind:
    if kind not in KINDS:
        near = did_you_mean(kind, KINDS)
        raise UnknownNameError(f"No catalogue of {kind}.{near} Catalogues: {', '.join(KINDS)}.")
    return KINDS[kind]


def entries(kind: str) -> list[dict[str, Any]]:
    """Return all entries of a catalogue with their main columns; None where a value is not known.

    Where a catalogue has recalled fields, ``unverified`` names those that nobody verified.

    Raises
    ------
    UnknownNameError
        There is no such catalogue.

    Examples
    --------
    >>> entries("chips")[0]["chip_id"]
    'nvidia_p100_sxm2'

    """
    about = _kind(kind)
    rows = []
    for entry in about.function(about.listed)():
        row = {name: _plain(getattr(entry, name)) for name in about.shown.split()}
        if hasattr(entry, "recalled_fields"):
            row["unverified"] = _plain(entry.recalled_fields)
        rows.append(row)
    return rows


def one(kind: str, name: str) -> list[dict[str, Any]]:
    """Return one entry, field by field, with unit and status of each: ``recalled`` means unverified.

    Prices are also found by their chip, prices of electricity by their region: then each row is one price.

    Raises
    ------
    UnknownNameError
        With the nearest names; AmbiguousNameError where a name fits several.

    Examples
    --------
    >>> [row["value"] for row in one("chips", "NVIDIA H100 80GB HBM3") if row["field"] == "form_factor"]
    ['SXM5']
    >>> one("zones", "SE3")[0]["status"]
    'part_of'
    >>> one("memories", "HBM2")[2]
    {'field': 'year', 'value': 2016, 'unit': 'year', 'status': 'recalled, unverified'}

    """
    about = _kind(kind)
    try:
        entry = about.function(about.look_up)(name)
    except AmbiguousNameError:
        raise
    except UnknownNameError as error:
        if kind in _SEVERAL:
            return _several(kind, name)
        raise UnknownNameError(f"{error} All of them: `energy catalogue {kind}`.") from error
    units = _units(about, entry)
    rows = [
        _row(field.name, getattr(entry, field.name), units.get(field.name, ""), _status(entry, field.name))
        for field in dataclasses.fields(entry)
        if field.name != "recalled_fields"
    ]
    own = {row["field"] for row in rows}
    if "status" not in own and hasattr(entry, "status"):
        rows.append(_row("status", entry.status))
    if about.more == "_asked":
        return _asked(name) + rows
    more: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
        "_shape": _shape,
        "_means": _means,
        "_published": _published,
        "_years": _weather_years,
    }
    return rows + (more[about.more](entry) if about.more else [])


def _row(field: str, value: Any, unit: str = "", status: str = "") -> dict[str, Any]:
    return {"field": field, "value": _plain(value), "unit": unit, "status": status}


def _units(about: Kind, entry: Any) -> dict[str, str]:
    """Return the unit of each field: as the data package declares it, or as the entry itself says."""
    units = _tables.units(about.table)
    for field, column in _COLUMN_OF.get(about.table, {}).items():
        units[field] = units[column]
    if about.table == "factors_annual":
        units |= dict.fromkeys(("value", "low", "high"), entry.unit)
    return units


def _several(kind: str, name: str) -> list[dict[str, Any]]:
    """Return one row per price of a chip or a region."""
    about = KINDS[kind]
    units = _tables.units(about.table)
    rows = []
    try:
        found = about.function(_SEVERAL[kind])(name)
    except AmbiguousNameError:
        raise
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} All of them: `energy catalogue {kind}`.") from error
    for entry in found:
        for column in units:
            value = getattr(entry, column, None)
            if column.startswith(("usd_", "price_usd")) and value is not None:
                about_it = (
                    (entry.price_date or "undated", entry.kind, entry.provider, column.removeprefix("usd_"))
                    if kind == "prices"
                    else (entry.period, entry.consumer, entry.taxes)
                )
                words = ", ".join((*filter(None, about_it), entry.status, "; ".join(entry.source)))
                rows.append(_row(entry.price_id, value, units[column], words))
    if not rows:
        raise UnknownNameError(f"No price of {name} is known. All of them: `energy catalogue {kind}`.")
    return rows


def _asked(name: str) -> list[dict[str, Any]]:
    """Return how a place stands to the zone that serves it, where it is not the zone itself."""
    from energy.catalogue.zones import zone_match

    match = zone_match(name)
    if match.relation == "same":
        return []
    return [_row("asked", f"{name}: {match.note}".rstrip(": "), "", match.relation)]


def _shape(entry: Any) -> list[dict[str, Any]]:
    """Return the parameters that the shape of a model gives, where it is known."""
    from energy.catalogue.parameters import parameters_of

    counted = parameters_of(entry)
    if counted is None:
        return []
    said = "derived: from the shape in this row, norms and biases left out"
    return [
        _row("params_total_from_shape", counted.total / 1e9, "billion", said),
        _row("params_active_from_shape", counted.active / 1e9, "billion", said),
    ]


def _means(entry: Any) -> list[dict[str, Any]]:
    """Return lowest, mean and highest hour of the average days of a profile."""
    from energy.catalogue._grids import HOURS

    rows = []
    for boundary in ("direct", "lifecycle"):
        cells = [
            row.maybe_number(column)
            for row in _tables.rows("intensity_month_hour")
            if (row.text("profile_set"), row.text("boundary")) == (entry.profile_set, boundary)
            for column in HOURS
        ]
        values = [value for value in cells if value is not None]
        if not values:
            rows.append(_row(f"{boundary}_mean", None, "gCO2e/kWh_generation"))
            continue
        for what, value in (("low", min(values)), ("mean", sum(values) / len(values)), ("high", max(values))):
            said = "derived: of the 288 hours of the average days"
            rows.append(_row(f"{boundary}_{what}", round(value, 3), "gCO2e/kWh_generation", said))
    return rows


def _published(entry: Any) -> list[dict[str, Any]]:
    """Return what the provider published of a region, by year."""
    from energy.catalogue.cloud import cloud_years

    units = _tables.units("cloud_region_annual")
    names = ("pue", "wue_l_per_kwh", "cfe_hourly_fraction", "cfe_annual_fraction", "grid_gco2e_per_kwh")
    return [
        _row(f"{name} {year.year}", getattr(year, name), units[name], year.note or year.status)
        for year in cloud_years(entry.provider, entry.region)
        for name in names
        if getattr(year, name) is not None
    ]


def _weather_years(entry: Any) -> list[dict[str, Any]]:
    """Return the hourly years of a place, and what its monthly normals say of the year."""
    from energy.catalogue.weather import all_weather_hours, weather_normals

    rows = [
        _row(
            f"{one.kind} year {one.year or ''}".strip(),
            one.weather_id,
            "",
            f"{', '.join(one.quantities)}; {one.licence}",
        )
        for one in all_weather_hours()
        if one.place_id == entry.place_id
    ]
    normals = weather_normals().get(entry.place_id)
    if normals is not None:
        months, said = normals.mean_temp_c, "derived: of the monthly normals"
        rows += [
            _row("mean_temp_c", round(sum(months) / 12.0, 1), "C", said),
            _row("coldest_month_c", min(months), "C", said),
            _row("warmest_month_c", max(months), "C", said),
        ]
    return rows


def _status(entry: Any, field: str) -> str:
    if field.startswith("idle_") and field.endswith("_w"):
        given = getattr(entry, "idle_status" if field == "idle_w" else "idle_range_status", "")
        return _IDLE_STATUS.get(given, given)
    recalled: frozenset[str] = getattr(entry, "recalled_fields", frozenset())
    identity = field.endswith("_id") or field in ("source", "confidence", "note", "is_estimate")
    return UNVERIFIED if field in recalled or ("all" in recalled and not identity) else ""


def table_lines(kind: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return entries as aligned lines: header, rows, and what the statuses mean.

    Examples
    --------
    >>> for line in table_lines("chips", [{"chip_id": "a", "tdp_w": 70.0}, {"chip_id": "b", "tdp_w": None}])[:3]:
    ...     print(line)
    chip_id      tdp_w
    a               70
    b        not known

    """
    names = list(rows[0])
    numeric = {name for name in names if any(_is_number(row[name]) for row in rows)}
    cells = [names, *([_text(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
    lines = [
        "  ".join(
            text.rjust(width) if name in numeric else text.ljust(width)
            for name, text, width in zip(names, line, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    legend = _LEGEND
    if "idle_status" in names:
        legend += " Idle power: read, recalled, or default (a rule of thumb)."
    if "unverified" in names:
        legend += " Unverified: fields that are recalled and that nobody verified."
    return [*lines, "", legend, f"One entry, with its source: energy catalogue {kind} NAME"]


def entry_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return one entry as lines of text: field, value with its unit, status.

    Examples
    --------
    >>> entry_lines([{"field": "tdp_w", "value": 540.0, "unit": "W", "status": "recalled, unverified"}])
    ['tdp_w  540 W  (recalled, unverified)']
    >>> entry_lines([{"field": "tdp_w", "value": None, "status": ""}])
    ['tdp_w  not known']

    """
    width = max(len(row["field"]) for row in rows)
    lines = []
    for row in rows:
        unit = f" {row['unit']}" if row.get("unit") and row["value"] is not None and row["unit"] != "year" else ""
        status = f"  ({row['status']})" if row["status"] else ""
        lines.append(f"{row['field']:{width}}  {_text(row['value'])}{unit}{status}".rstrip())
    return lines


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    """Return a value for people; years are no amounts and nothing is rounded away."""
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return "; ".join(str(part) for part in value)
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    return value
