"""Figures of a training run: their units, and the names of their columns where many runs stand in a table."""

from __future__ import annotations

#: Figure -> unit, in the order of the chain.
UNITS: dict[str, str] = {
    "step_time": "s",
    "throughput": "token/s",
    "throughput_per_chip": "token/s",
    "model_flop_utilisation": "%",
    "hardware_flop_utilisation": "%",
    "model_flop_rate_per_chip": "TFLOP/s",
    "memory_per_chip": "GiB",
    "training_time": "day",
    "elapsed_time": "day",
    "chip_hours": "h",
    "power_per_chip": "W_chip/chip",
    "energy_chips_per_token": "J_chip/token",
    "energy_chips": "kWh_chip",
    "node_overhead": "kWh_it/kWh_chip",
    "energy_it": "kWh_it",
    "pue": "kWh_facility/kWh_it",
    "energy_facility": "kWh_facility",
    "energy_grid": "kWh_facility",
    "energy_own_plants": "kWh_facility",
    "energy_generation_of_plants": "kWh_facility",
    "energy_excess_of_plants": "kWh_facility",
    "intensity_location": "gCO2e/kWh_facility",
    "intensity_market": "gCO2e/kWh_facility",
    "intensity_hourly": "gCO2e/kWh_facility",
    "emissions_location": "kgCO2e",
    "emissions_market": "kgCO2e",
    "emissions_hourly": "kgCO2e",
    "wue_withdrawn": "L/kWh_it",
    "wue_consumed": "L/kWh_it",
    "water_site_withdrawn": "L",
    "water_site_consumed": "L",
    "water_grid_consumed": "L",
    "cost": "USD",
}
_SUFFIXES = {
    "token/s": "token_per_s",
    "%": "pct",
    "TFLOP/s": "tflop_per_s",
    "GiB": "gib",
    "W_chip/chip": "w",
    "J_chip/token": "j",
    "kWh_chip": "kwh",
    "kWh_it": "kwh",
    "kWh_facility": "kwh",
    "kWh_it/kWh_chip": "",
    "kWh_facility/kWh_it": "",
    "gCO2e/kWh_facility": "gco2e_per_kwh_facility",
    "L/kWh_it": "l_per_kwh_it",
    "h": "",
}


def column_of(figure: str, end: str = "") -> str:
    """Return the column of a figure, or of one end of its 95 % range.

    Examples
    --------
    >>> column_of("energy_it"), column_of("emissions_location", "low"), column_of("pue", "high")
    ('energy_it_kwh', 'emissions_location_low_kgco2e', 'pue_high')

    """
    unit = UNITS[figure]
    suffix = _SUFFIXES.get(unit, unit.lower())
    return "_".join(part for part in (figure, end, suffix) if part)
