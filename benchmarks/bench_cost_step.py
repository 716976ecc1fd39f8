"""How many training scenarios a second have a step time: alone, in thousands, in hundred thousands.

Run: ``python benchmarks/bench_cost_step.py``. Seconds are of one core's own work (process time); the best of several
runs counts. Alone means one scenario a call, other sizes each time, shapes seen before. Figures are shown, never
asserted; targets are those of two cores.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

from energy.cost.architecture import Architecture
from energy.cost.links import Fabric
from energy.cost.mapping import Mapping
from energy.cost.stack import overlap_of
from energy.cost.step import Work, step_time

SIZES = (1_000, 20_000, 200_000)
ALONE, MANY = 5_000, 200_000


def scenarios(count: int, models: tuple[str, ...]) -> Work:
    """Return random scenarios, the same on each run."""
    rng = np.random.default_rng(11)

    def pick(*values: float) -> np.ndarray:
        return rng.choice(np.array(values, float), count)

    ranks, batch = pick(8, 16, 32, 64), pick(1, 2, 4)
    mapping = Mapping.of(
        sequence_length=pick(2048, 4096, 8192),
        micro_batch_size=batch,
        global_batch_size=batch * ranks * pick(8, 16, 32),
        precision=rng.choice(["bf16", "fp8"], count),
        tensor_parallel_size=pick(1, 2, 4, 8),
        pipeline_parallel_size=pick(1, 2, 4, 8),
        data_parallel_size=ranks,
        zero_stage=pick(0, 1, 3),
        sequence_parallel=rng.random(count) > 0.5,
        recompute=rng.choice(["none", "selective", "full"], count),
    )
    shapes = Architecture.of_model(models)
    if len(models) > 1:
        shapes = shapes[rng.integers(0, len(models), count)]
    at, one = np.zeros(count, np.intp), np.ones(count)
    fabric, overlap = Fabric.of(["nvidia_h100_sxm5_80"])[at], overlap_of(["nemo"])[at]
    chips = ("nvidia_h100_sxm5_80",)
    return Work(shapes, mapping, chips, fabric, overlap, one, one, one, one, one, np.zeros(count, np.bool_))


def single(work: Work, place: int) -> Work:
    """Return one scenario of many."""
    at = np.array([place])
    one = np.ones(1)
    return Work(
        work.architecture,
        work.mapping[place],
        work.chips,
        work.fabric[at],
        work.overlap[at],
        *(one,) * 5,
        np.zeros(1, np.bool_),
    )


def best_s(action: Callable[[], object], repeats: int) -> float:
    """Return the least seconds of one call."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    many = scenarios(2_000, ("llama31_70b",))
    alone = [single(many, place) for place in range(2_000)]
    seconds = best_s(lambda: [step_time(one) for one in alone], 3)
    print(f"alone: {len(alone) / seconds:>9,.0f}/s on one core (target {ALONE:,}/s on two)")
    for names in (("llama31_70b",), ("llama31_70b", "deepseek_v3", "gpt3_175b", "qwen3_235b_a22b", "gemma3_27b")):
        for count in SIZES:
            work = scenarios(count, names)
            seconds = best_s(lambda work=work: step_time(work), 4)
            print(
                f"{count:>7,} scenarios of {len(names)} models: {count / seconds:>9,.0f}/s (target {MANY:,}/s on two)"
            )
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
