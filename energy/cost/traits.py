"""What the catalogue's columns do not hold: windows, hybrid layers, parallel blocks and positions, by family or model.

Read in the public model configurations and papers named beside the rows; a model's entry goes over its family's.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_PARALLEL = {"parallel_block": True}
_NO_ROTARY = {"rotary": False}
# Gated DeltaNet layers, three for each attention layer (Qwen3-Next model card and configuration).
_DELTA_NET = {
    "full_attention_every": 4,
    "linear_key_heads": 16,
    "linear_key_dim": 128,
    "linear_value_dim": 128,
    "attention_gate": True,
}

#: Arguments of ``Architecture.of_shape`` by family or ``model_id`` of the catalogue.
TRAITS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # One norm feeds attention and feed-forward; no biases (papers of PaLM, section 2, and of Falcon, section 4).
        "PaLM": {**_PARALLEL, "biases": False, "norms_per_layer": 1},
        "Falcon": {**_PARALLEL, "biases": False},
        # Parallel residual with rotary positions (paper of Pythia, section 2; configuration of Phi-2).
        "Pythia": _PARALLEL,
        "phi_2": _PARALLEL,
        # Attention with linear biases, relative or learned positions instead of rotary ones.
        "BLOOM": _NO_ROTARY,
        "Gopher": _NO_ROTARY,
        "Chinchilla": _NO_ROTARY,
        "LaMDA": _NO_ROTARY,
        "GLaM": _NO_ROTARY,
        # Four norms a layer; local and global layers alternate (papers of Gemma 2, table 1, and Gemma 3, section 2).
        "gemma2_2b": {"window": 4096, "global_every": 2, "norms_per_layer": 4},
        "gemma2_9b": {"window": 4096, "global_every": 2, "norms_per_layer": 4},
        "gemma2_27b": {"window": 4096, "global_every": 2, "norms_per_layer": 4},
        "gemma3_1b": {"window": 512, "global_every": 6, "norms_per_layer": 4},
        "gemma3_4b": {"window": 1024, "global_every": 6, "norms_per_layer": 4},
        "gemma3_12b": {"window": 1024, "global_every": 6, "norms_per_layer": 4},
        "gemma3_27b": {"window": 1024, "global_every": 6, "norms_per_layer": 4},
        # Every layer slides (paper of Mistral 7B, table 1).
        "mistral_7b": {"window": 4096},
        "gpt-oss": {"window": 128, "global_every": 2, "biases": True},
        # Three chunked layers for each one without positions that sees all (configuration of Llama 4).
        "Llama 4": {"window": 8192, "global_every": 4, "window_is_chunk": True},
        "qwen3_next_80b": {**_DELTA_NET, "linear_value_heads": 32},
        # Value heads recalled, not read.
        "qwen35_397b": {**_DELTA_NET, "linear_value_heads": 64},
        # Embeddings are shared as in T5.
        "switch_c": {"tied_embeddings": True},
    }
)
