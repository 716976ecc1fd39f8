"""How many training scenarios a second are counted: parameters, FLOPs, memory-bound bytes, memory, the filter.

Run: ``python benchmarks/bench_cost.py``. Seconds are of one core's own work (process time), since other work on the
machine is not the engine's; the best of several runs counts. Figures are shown, never asserted.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from energy.cost.architecture import Architecture
from energy.cost.counts import parameters, step_flops
from energy.cost.mapping import Mapping
from energy.cost.memory import chip_memory
from energy.cost.traffic import memory_bound_bytes

NAMES = ("llama31_70b", "deepseek_v3", "gpt3_175b", "qwen3_235b_a22b", "gemma3_27b")
SIZES = (1, 1_000, 4_000, 20_000, 200_000)
TARGET = 200_000


def scenarios(count: int) -> tuple[Architecture, Mapping]:
    """Return random scenarios of five models, the same on each run."""
    rng = np.random.default_rng(5)

    def pick(*values: float) -> np.ndarray:
        return rng.choice(np.array(values, float), count)

    models = Architecture.of_model(NAMES)[rng.integers(0, len(NAMES), count)]
    mapping = Mapping.of(
        sequence_length=pick(2048, 8192, 32768),
        micro_batch_size=pick(1, 2, 4),
        global_batch_size=1024,
        precision="bf16",
        tensor_parallel_size=pick(1, 2, 4, 8),
        pipeline_parallel_size=pick(1, 2, 4, 8),
        data_parallel_size=pick(8, 16, 32),
        expert_parallel_size=pick(1, 8),
        zero_stage=pick(0, 1, 2, 3),
        recompute=rng.integers(0, 4, count),
        sequence_parallel=rng.random(count) > 0.5,
    )
    return models, mapping


def best_s(action: Callable[[], object], calls: int, repeats: int) -> float:
    """Return the least seconds of one call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            action()
        times.append((time.process_time() - start) / calls)
    return min(times)


def main() -> None:
    """Measure and print."""
    for count in SIZES:
        models, mapping = scenarios(count)
        actions: dict[str, Callable[[], object]] = {
            "parameters": lambda a=models: parameters(a),
            "flops": lambda a=models, m=mapping: step_flops(a, m),
            "traffic": lambda a=models, m=mapping: memory_bound_bytes(a, m),
            "memory": lambda a=models, m=mapping: chip_memory(a, m),
            "filter": lambda a=models, m=mapping: m.usable(a),
        }
        calls = 50 if count < 500 else 1
        times = {name: best_s(action, calls, 9) for name, action in actions.items()}
        parts = ", ".join(f"{name} {1e6 * seconds / count:.2f}" for name, seconds in times.items())
        print(f"{count:>7,} scenarios: {count / sum(times.values()):>9,.0f}/s; µs each: {parts}")
    print(f"target with many: {TARGET:,}/s on one core")


if __name__ == "__main__":
    main()
