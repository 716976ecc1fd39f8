"""Which layers a pipeline stage holds, and how many micro batches it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from energy.cost.architecture import Architecture
from energy.cost.mapping import Mapping
from energy.cost.schedules import is_v_shaped, micro_batches_in_flight

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Layers of one stage by kind, and micro batches in flight when it holds most.

    ``mixers`` has softmax and linear attention, ``parts`` dense feed-forward and mixtures, two arrays ``(n,)`` each.
    """

    layers: Numbers
    mixers: tuple[Numbers, Numbers]
    parts: tuple[Numbers, Numbers]
    in_flight: Numbers
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_]


def stages(architecture: Architecture, mapping: Mapping) -> Iterator[Stage]:
    """Yield the first, second and last stage: the ones of which some holds most.

    Layers that do not divide go to the middle, since the first stage has the embedding and the last the logits; in a V
    the first has both. How many micro batches a stage keeps says :mod:`energy.cost.schedules`. Dense first layers of a
    mixture lie in the first stage, other kinds spread evenly.

    Examples
    --------
    >>> mapping = Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=64, precision="bf16",
    ...                      pipeline_parallel_size=8)
    >>> [(float(one.layers[0]), float(one.in_flight[0]))
    ...  for one in stages(Architecture.of_model("Llama 3.1 405B"), mapping)]
    [(15.0, 8.0), (16.0, 7.0), (15.0, 1.0)]

    """
    p = mapping.pipeline_parallel_size
    yield _stage(architecture, mapping, np.zeros_like(p))
    if (p > 2).any():
        yield _stage(architecture, mapping, np.minimum(1.0, p - 1.0))
    if (p > 1).any():
        yield _stage(architecture, mapping, p - 1.0)


def _stage(a: Architecture, m: Mapping, index: Numbers) -> Stage:
    p = m.pipeline_parallel_size
    is_first = index == 0
    is_last = np.where(is_v_shaped(m), is_first, index == p - 1)
    low = np.floor(a.layers / p)
    rest = a.layers - low * p
    # p - 2 stages lie in the middle; one layer more than they take goes to the first.
    more = np.where(is_first, rest > np.maximum(p - 2, 0), np.where(is_last, False, rest > 0))
    layers = np.where(rest == 0, low, low + more)
    early = np.where(is_first, np.minimum(a.first_dense_layers, layers), 0.0)
    later = np.maximum(a.layers - a.first_dense_layers, 1.0)
    spread = (layers - early) / later
    mixtures = spread * a.moe_layers
    dense = early + spread * (a.dense_layers - a.first_dense_layers)
    share = layers / a.layers
    softmax = (a.attention_layers + a.cross_attention_layers) * share
    return Stage(
        layers=layers,
        mixers=(softmax, a.linear_layers * share),
        parts=(dense, mixtures),
        in_flight=micro_batches_in_flight(m, index),
        is_first=is_first,
        is_last=is_last,
    )
