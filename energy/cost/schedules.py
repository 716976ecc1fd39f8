"""Pipeline schedules: micro batches in flight on a rank, and the bubble of a step.

    1f1b        p - i in flight on rank i; bubble (p - 1) / v passes       arXiv 2104.04473, section 2.2
    zb-h1       p on every rank; (p - 1) / 3                               arXiv 2401.10241, section 2.3
    zbv         p; (p - 1) / 6                                             the same, section 6; V-shaped
    v-half      (p + 2) // 2; (p - 1) / 2                                  arXiv 2405.15362, table of its authors
    v-min       (p + 4) // 3; 2 (p - 1) / 3                                the same

A pass is forward and backward of one micro batch on one rank. The zero-bubble schedules split the backward pass into
that of the input and that of the weights and fill the bubble with the second; their bubbles hold for equal times of
the three. Interleaving with v pieces is 1f1b with (2 (p - i - 1) + (v - 1) p + 1) / v in flight (arXiv 2205.05198,
section 4.2). In a V, a rank holds two pieces, i and 2 p - 1 - i: the first has embedding and logits, and all ranks keep
equally many micro batches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from energy.cost.mapping import SCHEDULES, Mapping

Numbers = NDArray[np.float64]

_ZB_H1, _ZBV, _V_HALF, _V_MIN = (SCHEDULES.index(name) for name in ("zb-h1", "zbv", "v-half", "v-min"))
#: Bubble of 1f1b over that of each schedule, forward and the two backward passes taking equally long.
_FEWER = np.array([1.0, 3.0, 6.0, 2.0, 1.5])


def is_v_shaped(mapping: Mapping) -> NDArray[np.bool_]:
    """Return where the first rank holds the first and the last piece of the model.

    Examples
    --------
    >>> is_v_shaped(Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=1, precision="bf16",
    ...                        schedule=["zb-h1", "zbv"])).tolist()
    [False, True]

    """
    return np.asarray(mapping.schedule >= _ZBV)


def micro_batches_in_flight(mapping: Mapping, rank: Numbers) -> Numbers:
    """Return the micro batches whose activations a pipeline rank keeps when it keeps most.

    Parameters
    ----------
    mapping : Mapping
        Pipeline ranks, pieces, schedule and micro batches.
    rank : array
        Number of the rank from 0, ``(n,)``.

    Returns
    -------
    array
        In micro batches of all layers of the rank, at most the micro batches there are.

    Examples
    --------
    >>> eight = Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=64, precision="bf16",
    ...                    pipeline_parallel_size=8, virtual_stages=[1, 1, 2, 2, 2],
    ...                    schedule=["1f1b", "zb-h1", "zbv", "v-half", "v-min"])
    >>> micro_batches_in_flight(eight, np.zeros(5)).tolist()
    [8.0, 8.0, 8.0, 5.0, 4.0]

    """
    p, v, code = mapping.pipeline_parallel_size, mapping.virtual_stages, mapping.schedule
    pieces = np.where(v > 1, 2.0 * (p - rank - 1.0) + (v - 1.0) * p + 1.0, p - rank)
    if not code.any():
        return np.asarray(np.minimum(pieces / v, mapping.micro_batches))
    half, third = np.minimum((p + 2.0) // 2.0, p), np.minimum((p + 4.0) // 3.0, p)
    found = np.where(code == 0, pieces / v, p)
    found = np.where(code == _V_HALF, half, np.where(code == _V_MIN, third, found))
    return np.asarray(np.minimum(found, mapping.micro_batches))


def bubble_passes(mapping: Mapping) -> Numbers:
    """Return the bubble of a step in passes of the mean stage.

    Examples
    --------
    >>> seven = Mapping.of(sequence_length=1, micro_batch_size=1, global_batch_size=64, precision="bf16",
    ...                    pipeline_parallel_size=7, virtual_stages=[1, 2, 1, 2, 2, 2],
    ...                    schedule=["1f1b", "interleaved", "zb-h1", "zbv", "v-half", "v-min"])
    >>> bubble_passes(seven).tolist()
    [6.0, 3.0, 2.0, 1.0, 3.0, 4.0]

    """
    p, code = mapping.pipeline_parallel_size, mapping.schedule
    return np.asarray((p - 1.0) / np.where(code == 0, mapping.virtual_stages, _FEWER[code]))
