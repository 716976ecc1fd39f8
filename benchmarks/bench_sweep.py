"""How many scenarios a second go through the whole chain: by the year, by the hour, with layouts given or searched.

Run: ``python benchmarks/bench_sweep.py``. Rates are rows of a sweep over the seconds that it took on this machine, with
nothing kept from a run before; figures are shown, never asserted.
"""

from __future__ import annotations

import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from energy.scenario import chain, hours
from energy.scenario.sweep import Outcome, run
from energy.scenario.sweep_file import Sweep, parse_sweep
from energy.scenario.sweep_table import writing

BASE = """
base:
  work: {model: Llama 3.1 8B, tokens: 1e12 token, sequence_length: 8192 token, global_batch: 2048}
  system: {chip: H100 SXM, chips: 64, node_overhead: modelled}
  software: {framework: megatron-core, precision: bf16, recompute: full, virtual_stages: 1, context_parallel: 1,
             expert_parallel: 1, tensor_parallel: 2, pipeline_parallel: 1, micro_batch: 1}
  site: {pue: 1.2, zone: DE, factor_policy: nearest any, grid_water: 1.1 L/kWh}
  dates: {year: 2023}
  prices: {chip_hour: 2 USD/chip/h}
"""
OPEN = """
base:
  work: {model: Llama 3.1 8B, tokens: 1e12 token, sequence_length: 8192 token, global_batch: 2048}
  system: {chip: H100 SXM, chips: 64, node_overhead: modelled}
  software: {framework: megatron-core, precision: bf16}
  site: {pue: 1.2, zone: DE, factor_policy: nearest any}
  dates: {year: 2023}
"""
HALL = """
base:
  work: {model: Llama 3.1 70B, chip_hours: 344064 chip*h}
  system: {chip: H100 SXM5 80GB, chips: 1024, power_per_chip: 620 W, node_overhead: 1.4}
  site: {facility: ashburn, zone: SRVC, factor_policy: nearest any}
  dates: {start: 2023-01-01T00:00Z}
"""
SUN = """
  supply:
    weather: Phoenix
    photovoltaics: {capacity: 3 MW, mounting: single axis, tilt_deg: 0, azimuth_deg: 180}
    battery: {capacity: 4 MWh, charge_power: 2 MW, discharge_power: 1 MW, charge_efficiency: 0.95,
              discharge_efficiency: 0.95}
"""
STARTS = ", ".join(f"2023-{month:02d}-{day:02d}" for month in range(1, 11) for day in range(1, 21))
CASES = {
    "every row its own step, layout given": BASE
    + """
axes:
  work.global_batch: {from: 1024, to: 131072, steps: 128}
  system.chips: [64, 128, 256, 512]
  work.sequence_length: {from: 4096, to: 12160, steps: 64} # even: two tensor ranks share a sequence
  software.micro_batch: [1, 2]
best: emissions_location
""",
    "axes beyond the engine": BASE
    + """
axes:
  system.chips: [64, 128, 256, 512]
  site.pue: {from: 1.05, to: 1.6, steps: 50}
  work.tokens: {from: 1e11, to: 1e13, steps: 50}
  prices.chip_hour: {from: 1 USD/chip/h, to: 5 USD/chip/h, steps: 20}
best: cost
""",
    "every row its own search": OPEN
    + """
axes:
  work.global_batch: {from: 512, to: 32768, steps: 64}
  system.chips: {from: 8, to: 512, steps: 64}
best: training_time
""",
    "hours of the run, facility": HALL + f"axes:\n  dates.start: [{STARTS}]\n  system.power_per_chip: [400 W, 620 W]\n",
    "hours of the run, sun, battery": HALL
    + SUN
    + f"axes:\n  dates.start: [{STARTS[:108]}]\n  system.power_per_chip: {{from: 300 W, to: 700 W, steps: 50}}\n",
    "all hours of a year, sun, battery": HALL.replace("start: 2023-01-01T00:00Z", "year: 2023")
    + SUN
    + "axes:\n  system.power_per_chip: {from: 300 W, to: 700 W, steps: 500}\n",
}


def fresh() -> None:
    """Forget what earlier rows left."""
    chain._KEPT.clear()
    hours._KEPT.clear()


def timed(sweep: Sweep, out: Path | None = None) -> tuple[Outcome, float]:
    """Return what a sweep found, and its seconds."""
    fresh()
    begin = time.perf_counter()
    with writing(sweep, out) if out is not None else nullcontext(None) as each:
        found = run(sweep, each=each)
    return found, time.perf_counter() - begin


def main() -> None:
    """Print rows a second."""
    run(parse_sweep(BASE + "axes: {system.chips: [64, 128]}"))  # libraries and tables are loaded
    for name, text in CASES.items():
        sweep = parse_sweep(text)
        found, seconds = timed(sweep)
        print(f"{name:40}{len(sweep):>9,} rows, {found.ran:>9,} run{seconds:8.2f} s{len(sweep) / seconds:>12,.0f}/s")
    with tempfile.TemporaryDirectory() as folder:
        sweep = parse_sweep(CASES["axes beyond the engine"])
        _, seconds = timed(sweep, Path(folder) / "rows.parquet")
        rate = len(sweep) / seconds
        print(f"{'the same, written as Parquet':40}{len(sweep):>9,} rows{'':16}{seconds:8.2f} s{rate:>12,.0f}/s")


if __name__ == "__main__":
    main()
