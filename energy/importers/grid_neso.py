"""Historic generation mix of Great Britain as NESO publishes it: half hours in MW, and the operator's intensity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from energy.carbon.hours import UNITS, GridHours, IntensityOfHours
from energy.errors import InputFileError
from energy.importers.grid_text import Asked, GridFormat, added, built, hours_of, need, read_text_table
from energy.importers.grid_times import utc_ms

_TIME, _TOTAL, _INTENSITY = "DATETIME", "GENERATION", "CARBON_INTENSITY"
_TECHNOLOGIES = {
    "GAS": "gas",
    "COAL": "coal",
    "NUCLEAR": "nuclear",
    "WIND": "wind",
    "WIND_EMB": "wind",
    "HYDRO": "hydro",
    "BIOMASS": "biomass",
    "OTHER": "unknown",
    "SOLAR": "solar",
    "STORAGE": "storage",
}
_HALF_HOUR_MS = 1_800_000
# Great Britain has made between 10 and 70 GW since 2009: a middle below a thousand is no MW.
_LEAST_MW = 1000.0
_PUBLISHER = "NESO"


def _matches(path: Path, names: Sequence[str]) -> bool:
    del path
    return {_TIME, "WIND_EMB", _INTENSITY} <= set(names)


def _read(path: Path, asked: Asked) -> GridHours:
    table = read_text_table(path)
    need(
        path, table.names, [_TIME, *_TECHNOLOGIES, "IMPORTS", _TOTAL, _INTENSITY], "the historic generation mix of NESO"
    )
    middle = float(np.nanmedian(table.numbers(_TOTAL)))
    if not middle >= _LEAST_MW:
        raise InputFileError(
            f"{path.name}: the middle of {_TOTAL} is {middle:g}, which is no MW of Great Britain (10,000 to 70,000). "
            "The file of NESO is in MW; name the unit of another file in its header (generation_gas_mwh)."
        )
    values = added([(name, table.numbers(column)) for column, name in _TECHNOLOGIES.items()])
    values["published"] = table.numbers(_INTENSITY)
    start = utc_ms(table, _TIME)
    on, found = hours_of(path, start, np.full(start.shape, _HALF_HOUR_MS), values, table.lines)
    published = found.pop("published")
    intensity = IntensityOfHours(
        "direct", "consumption", "average", "CO2 only", "none", UNITS["consumption"], "given", _PUBLISHER, published
    )
    return built(
        path,
        FORMAT.name,
        asked.zone or "GB",
        on,
        publisher=_PUBLISHER,
        intensity=(intensity,),
        generation=found,
        notes=("imports are in the published intensity and not in the generation", "wind holds embedded wind"),
    )


FORMAT = GridFormat(
    "neso-generation-mix",
    "historic generation mix of Great Britain (NESO): MW by fuel in half hours of UTC, and the operator's intensity",
    "header and rows as public documentation of the file shows them; no file of the publisher was at hand. That the "
    "intensity is direct CO2 with imports, and times are UTC, is recalled",
    _matches,
    _read,
)
