"""Generation by technology and hour of day, of the zones and hours that the intensity by hour rests on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from catalogue_hours import FUELS, PROFILES
from catalogue_io import Row

_TECHNOLOGIES = {"other": "unknown"}


def generation_hours(shared: Path) -> list[Row]:
    """Return the mean of each hour of day over the measured hours of the year, a row a technology."""
    import pyarrow.parquet as parquet

    rows: list[Row] = []
    for zone, zone_id, (file, source), year, _ in PROFILES:
        table = parquet.read_table(shared / f"grid/hourly/{file}.parquet", filters=[("zone", "=", zone)])
        hour = table["datetime_utc"].to_numpy().astype("datetime64[h]")
        made = {fuel: np.asarray(table[f"{fuel}_mwh"].to_numpy(), dtype=float) for fuel in FUELS}
        made = {fuel: values for fuel, values in made.items() if np.isfinite(values).any()}
        # an hour in which a fuel is not known is left out for all of them: the mix of the others would be another one
        whole = np.all([np.isfinite(values) for values in made.values()], axis=0)
        whole &= hour.astype("datetime64[Y]").astype(int) + 1970 == year
        whole &= np.sum([np.maximum(values, 0.0) for values in made.values()], axis=0) > 0
        of_day = (hour - hour.astype("datetime64[D]")).astype(int)[whole]
        for fuel, values in made.items():
            counted = np.maximum(values[whole], 0.0)
            means = np.bincount(of_day, counted, 24) / np.bincount(of_day, minlength=24)
            rows.append(
                {
                    "profile_set": f"{zone_id.lower()}-{year}",
                    "technology": _TECHNOLOGIES.get(fuel, fuel),
                    "mean_mwh": round(float(counted.mean()), 2),
                    **{f"hour_{place:02}": round(float(mean), 2) for place, mean in enumerate(means)},
                    "n_hours": int(whole.sum()),
                    "source": source,
                    "status": "derived",
                }
            )
    return rows
