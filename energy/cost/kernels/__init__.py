"""Time of kernels: matrix products, attention, operations that move bytes, and collectives.

Names are loaded when they are first used (PEP 562), so importing this package reads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy.lazy import attributes

if TYPE_CHECKING:
    from energy.cost.kernels.attention import attention_backward_time_s, attention_time_s
    from energy.cost.kernels.coefficients import KernelTime, supports
    from energy.cost.kernels.collectives import node_collective_time_s
    from energy.cost.kernels.gemm import gemm_time_s, models
    from energy.cost.kernels.memory_bound import memory_bound_time_s

_HOME_OF = {
    "KernelTime": "coefficients",
    "attention_backward_time_s": "attention",
    "attention_time_s": "attention",
    "gemm_time_s": "gemm",
    "memory_bound_time_s": "memory_bound",
    "models": "gemm",
    "node_collective_time_s": "collectives",
    "supports": "coefficients",
}

__all__ = [
    "KernelTime",
    "attention_backward_time_s",
    "attention_time_s",
    "gemm_time_s",
    "memory_bound_time_s",
    "models",
    "node_collective_time_s",
    "supports",
]

__getattr__, __dir__ = attributes(__name__, _HOME_OF)
