"""The cost engine: how long a piece of AI work takes on a system, whether it fits, and what it costs.

Names are loaded when they are first used (PEP 562), so importing this package reads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy.lazy import attributes

if TYPE_CHECKING:
    from energy.cost.activations import activation_bytes_per_layer
    from energy.cost.architecture import Architecture
    from energy.cost.conventions import CONVENTIONS, converted, flops_per_token, tokens_per_second
    from energy.cost.counts import forward_flops_per_token, parameters, step_flops, training_flops_per_token
    from energy.cost.mapping import Mapping
    from energy.cost.memory import Memory, State, chip_memory, memory_by_stage
    from energy.cost.remedies import check_fits, what_would_fit
    from energy.cost.traffic import memory_bound_bytes

_HOMES = {
    "activations": ("activation_bytes_per_layer",),
    "architecture": ("Architecture",),
    "conventions": (
        "CONVENTIONS",
        "converted",
        "flops_per_token",
        "tokens_per_second",
    ),
    "counts": (
        "forward_flops_per_token",
        "parameters",
        "step_flops",
        "training_flops_per_token",
    ),
    "mapping": ("Mapping",),
    "memory": (
        "Memory",
        "State",
        "chip_memory",
        "memory_by_stage",
    ),
    "remedies": (
        "check_fits",
        "what_would_fit",
    ),
    "traffic": ("memory_bound_bytes",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CONVENTIONS",
    "Architecture",
    "Mapping",
    "Memory",
    "State",
    "activation_bytes_per_layer",
    "check_fits",
    "chip_memory",
    "converted",
    "flops_per_token",
    "forward_flops_per_token",
    "memory_bound_bytes",
    "memory_by_stage",
    "parameters",
    "step_flops",
    "tokens_per_second",
    "training_flops_per_token",
    "what_would_fit",
]

__getattr__, __dir__ = attributes(__name__, _HOME_OF)
