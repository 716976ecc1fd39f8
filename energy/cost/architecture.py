"""Shapes of transformers by layer kind, as arrays of one shape: what every count rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.cost.traits import TRAITS
from energy.errors import CostError, did_you_mean

if TYPE_CHECKING:
    from energy.catalogue.models import Model

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FLAGS = (
    "gated",
    "tied_embeddings",
    "biases",
    "dropout",
    "rotary",
    "parallel_block",
    "attention_gate",
    "window_is_chunk",
)
_POSITIVE = ("layers", "hidden", "vocab")
_LANGUAGE = "transformer decoder", "transformer encoder", "transformer encoder-decoder"
#: Columns of the catalogue that a count needs, and must be known.
_NEEDED = ("layers", "hidden", "heads", "kv_heads", "head_dim", "vocab", "ffn_kind", "tied_embeddings")


@dataclass(frozen=True, slots=True, eq=False)
class Architecture:
    """Shapes ``(n,)``; make them with :meth:`of_model`, :meth:`of_config` or :meth:`of_shape`.

    Numbers are whole and held as float64, so that products do not overflow; zero means the part is absent. Layers are
    counted by kind: ``full_attention_layers`` see the whole sequence, ``window_attention_layers`` the last ``window``
    tokens (or their chunk of that length, ``window_is_chunk``), ``linear_layers`` keep a state; ``dense_layers`` have
    one feed-forward part, ``moe_layers`` a mixture. ``encoder_layers`` of them look both ways, and
    ``cross_attention_layers`` also look at the encoder. ``qk_dim`` and ``v_dim`` are widths of one head;
    ``kv_lora`` above zero means a compressed key-value cache (MLA), of which ``rope_dim`` carries the position.
    ``biases`` stands for biases of linear layers and norms, ``attention_gate`` for a gate as wide as the queries.
    """

    layers: Numbers
    hidden: Numbers
    vocab: Numbers
    positions: Numbers
    heads: Numbers
    kv_heads: Numbers
    qk_dim: Numbers
    v_dim: Numbers
    q_lora: Numbers
    kv_lora: Numbers
    rope_dim: Numbers
    full_attention_layers: Numbers
    window_attention_layers: Numbers
    window: Numbers
    linear_layers: Numbers
    linear_key_heads: Numbers
    linear_value_heads: Numbers
    linear_key_dim: Numbers
    linear_value_dim: Numbers
    encoder_layers: Numbers
    cross_attention_layers: Numbers
    dense_layers: Numbers
    moe_layers: Numbers
    first_dense_layers: Numbers
    ffn: Numbers
    moe_ffn: Numbers
    experts: Numbers
    experts_active: Numbers
    shared_experts: Numbers
    norms_per_layer: Numbers
    gated: Flags
    tied_embeddings: Flags
    biases: Flags
    dropout: Flags
    rotary: Flags
    parallel_block: Flags
    attention_gate: Flags
    window_is_chunk: Flags

    @classmethod
    def of_shape(
        cls,
        *,
        layers: ArrayLike,
        hidden: ArrayLike,
        heads: ArrayLike,
        vocab: ArrayLike,
        ffn: ArrayLike = 0,
        kv_heads: ArrayLike | None = None,
        head_dim: ArrayLike | None = None,
        v_dim: ArrayLike | None = None,
        gated: ArrayLike,
        tied_embeddings: ArrayLike,
        positions: ArrayLike = 0,
        window: ArrayLike = 0,
        global_every: ArrayLike = 0,
        full_attention_every: ArrayLike = 0,
        moe_every: ArrayLike = 1,
        **others: ArrayLike,
    ) -> Self:
        """Return architectures from numbers or arrays of them, broadcast to one shape.

        Parameters
        ----------
        layers, hidden, heads, vocab, ffn : array_like
            Shape; ``ffn`` is the width of a dense layer and may be left out where every layer is a mixture.
        kv_heads, head_dim, v_dim : array_like, optional
            Heads of keys and values (``heads`` where left out), width of one head (``hidden / heads``), width of one
            head's values (``head_dim``).
        gated, tied_embeddings : array_like of bool
            Three matrices instead of two in a feed-forward part; output layer shares the embedding table.
        positions : array_like
            Rows of a table of learned positions.
        window, global_every : array_like
            Window in tokens of sliding layers; every ``global_every``-th layer sees all (0: none does).
        full_attention_every : array_like
            Every such layer has full attention, the others a linear one (0: there are no linear layers).
        moe_every : array_like
            After ``first_dense_layers``, every such layer is a mixture, where there are ``experts``.
        **others : array_like
            Any other field of the class.

        Raises
        ------
        CostError
            When a number is no positive whole number, when a name is no field, or a part misses its width.

        Examples
        --------
        >>> one = Architecture.of_shape(layers=96, hidden=12288, heads=96, vocab=51200, ffn=49152, gated=False,
        ...                             tied_embeddings=True, positions=2048)
        >>> len(one), float(one.qk_dim[0])
        (1, 128.0)

        """
        given: dict[str, ArrayLike] = dict(others)
        for key, value in (("layers", layers), ("hidden", hidden), ("heads", heads), ("vocab", vocab), ("ffn", ffn)):
            given[key] = _number(key, value)
        given |= {"gated": gated, "tied_embeddings": tied_embeddings, "positions": positions, "window": window}
        depth, experts = _number("layers", layers), _number("experts", others.get("experts", 0))
        given["kv_heads"] = given["heads"] if kv_heads is None else kv_heads
        if head_dim is None:
            head_dim = _number("hidden", hidden) / _positive("heads", heads)
        given["qk_dim"] = head_dim
        given["v_dim"] = head_dim if v_dim is None else v_dim
        first = _number("first_dense_layers", others.get("first_dense_layers", 0))
        mixtures = np.where(experts > 0, np.floor((depth - first) / _positive("moe_every", moe_every)), 0.0)
        given.setdefault("moe_layers", mixtures)
        given.setdefault("dense_layers", depth - _number("moe_layers", given["moe_layers"]))
        every = _number("full_attention_every", full_attention_every)
        linear = np.where(every > 0, depth - np.floor(depth / np.where(every > 0, every, 1.0)), 0.0)
        given.setdefault("linear_layers", linear)
        softmax = depth - _number("linear_layers", given["linear_layers"])
        seeing = _number("global_every", global_every)
        all_of_them = np.where(seeing > 0, np.floor(softmax / np.where(seeing > 0, seeing, 1.0)), 0.0)
        windowed = np.where(_number("window", window) > 0, softmax - all_of_them, 0.0)
        given.setdefault("window_attention_layers", windowed)
        given.setdefault("full_attention_layers", softmax - _number("w", given["window_attention_layers"]))
        given.setdefault("norms_per_layer", 2)
        given.setdefault("rotary", np.logical_not(np.asarray(_number("positions", positions) > 0)))
        return cls._made(given)

    @classmethod
    def _made(cls, given: Mapping[str, ArrayLike]) -> Self:
        names = [one.name for one in fields(cls)]
        for key in given:
            if key not in names:
                raise CostError(f"{key!r} is no part of a shape.{did_you_mean(key, names)}")
        arrays: list[NDArray[Any]] = []
        for name in names:
            if name in _FLAGS:
                arrays.append(np.asarray(given.get(name, False), np.bool_))
            else:
                arrays.append(_number(name, given.get(name, 0)))
        try:
            shaped = np.broadcast_arrays(*(np.atleast_1d(array) for array in arrays))
        except ValueError:
            sizes = ", ".join(
                f"{name} {array.size}" for name, array in zip(names, arrays, strict=True) if array.size > 1
            )
            raise CostError(f"The numbers of the shape have different lengths: {sizes}. Give one each.") from None
        made = cls(*(np.ascontiguousarray(array) for array in shaped))
        made._check()
        return made

    def _check(self) -> None:
        for one in fields(self):
            if one.name in _FLAGS:
                continue
            values = getattr(self, one.name)
            lowest = 1 if one.name in _POSITIVE else 0
            whole = one.name not in ("qk_dim", "v_dim")
            bad = ~np.isfinite(values) | ~(values >= lowest) | (whole & (values != np.floor(values)))
            if bad.any():
                raise CostError(f"{one.name} is {values[bad][0]:g}: give a whole number, {lowest} or more.")
        needs = (
            (self.dense_layers, self.ffn, "dense_layers", "ffn, the width of a dense layer"),
            (self.moe_layers, self.moe_ffn, "moe_layers", "moe_ffn, the width of one expert"),
            (self.moe_layers, self.experts_active, "moe_layers", "experts_active, the experts that a token takes"),
            (self.linear_layers, self.linear_value_dim, "linear_layers", "linear_value_dim, the width of a head"),
            (self.layers - self.linear_layers, self.heads, "attention layers", "heads"),
        )
        for count, width, what, missing in needs:
            bad = (count > 0) & (width <= 0)
            if bad.any():
                raise CostError(f"There are {count[bad][0]:g} {what} without a width: give {missing}.")
        over = self.experts_active > self.experts
        if over.any():
            raise CostError(
                f"experts_active {self.experts_active[over][0]:g} is more than the {self.experts[over][0]:g} experts."
            )

    @classmethod
    def of_model(cls, names: str | Sequence[str]) -> Self:
        """Return the architectures of models of the catalogue.

        Parameters
        ----------
        names : str or sequence of str
            Identifiers or names of language models.

        Raises
        ------
        CostError
            When a model is none of language, or its shape is not published; the message says what would help.
        UnknownNameError
            When a name is not in the catalogue; the message gives the nearest.

        Examples
        --------
        >>> both = Architecture.of_model(["Llama 3.1 8B", "DeepSeek-V3"])
        >>> both.moe_layers.tolist(), both.kv_lora.tolist()
        ([0.0, 58.0], [0.0, 512.0])
        >>> Architecture.of_model("ResNet-50")
        Traceback (most recent call last):
        ...
        energy.errors.CostError: 'ResNet-50' is a convolutional image classifier, not a language model: use its \
forward_gflop_per_item from the catalogue.

        """
        from energy.catalogue.models import model

        listed = [names] if isinstance(names, str) else list(names)
        if not listed:
            raise CostError("No model is named: give one name or more.")
        unique = {name: cls._of_row(model(name)) for name in dict.fromkeys(listed)}
        return cls.concat([unique[name] for name in listed])

    @classmethod
    def _of_row(cls, row: Model) -> Self:
        if not row.kind.startswith(_LANGUAGE):
            remedy = "use its forward_gflop_per_item from the catalogue"
            if row.kind.startswith("closed"):
                raise CostError(
                    f"The shape of {row.name!r} is not published: give one with Architecture.of_shape, or name an "
                    "open model of its size."
                )
            raise CostError(f"{row.name!r} is a {row.kind}, not a language model: {remedy}.")
        added = {**TRAITS.get(row.family, {}), **TRAITS.get(row.model_id, {})}
        missing = [name for name in _NEEDED if getattr(row, name) in (None, "") and name not in added]
        if row.attention == "MLA":
            missing = [one for one in missing if one != "kv_heads"]
        if missing:
            raise CostError(
                f"The catalogue does not know {', '.join(missing)} of {row.name!r}: give the shape with "
                "Architecture.of_shape."
            )
        return cls.of_shape(**{**_shape_of_row(row), **added})

    @classmethod
    def of_config(cls, config: str | Path | Mapping[str, Any]) -> Self:
        """Return the architecture that a Hugging Face ``config.json`` describes.

        Parameters
        ----------
        config : path or mapping
            The file, or what is in it.

        Raises
        ------
        CostError
            When the file cannot be read, its ``model_type`` is not known, or a key is missing.

        Examples
        --------
        >>> tiny = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
        ...         "intermediate_size": 128, "vocab_size": 1000, "tie_word_embeddings": False}
        >>> float(Architecture.of_config(tiny).layers[0])
        2.0

        """
        from energy.cost.hugging_face import shape_of_config

        if isinstance(config, Mapping):
            return cls.of_shape(**shape_of_config(config))
        path = Path(config)
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CostError(f"The configuration {path} cannot be read: {error.strerror}.") from None
        except ValueError as error:
            raise CostError(f"The configuration {path} is no JSON: {error}.") from None
        if not isinstance(read, dict):
            raise CostError(f"The configuration {path} holds no object: give the config.json of a model.")
        return cls.of_shape(**shape_of_config(read))

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Return the architectures one after another.

        Examples
        --------
        >>> len(Architecture.concat([Architecture.of_model("GPT-3 175B"), Architecture.of_model("PaLM 540B")]))
        2

        """
        if not parts:
            raise CostError("There are no architectures to put together: give one or more.")
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, index: slice | NDArray[np.generic] | Sequence[int] | int) -> Self:
        """Return the architectures at ``index``; one number gives arrays of one."""
        chosen = [index] if isinstance(index, (int, np.integer)) else index
        return type(self)(*(getattr(self, one.name)[chosen] for one in fields(self)))

    @property
    def attention_layers(self) -> Numbers:
        """Return the layers with softmax attention."""
        return self.full_attention_layers + self.window_attention_layers

    @property
    def is_mla(self) -> Flags:
        """Return where keys and values come from a compressed cache."""
        return self.kv_lora > 0

    @property
    def shared_ffn(self) -> Numbers:
        """Return the width of all shared experts together."""
        return self.shared_experts * self.moe_ffn


def _number(name: str, value: ArrayLike) -> Numbers:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise CostError(f"{name} is {value!r}: give a whole number.") from None


def _positive(name: str, value: ArrayLike) -> Numbers:
    numbers = _number(name, value)
    bad = ~(numbers > 0)
    if bad.any():
        raise CostError(f"{name} is {numbers[bad].flat[0]:g}: give a whole number, 1 or more.")
    return numbers


def _shape_of_row(row: Model) -> dict[str, Any]:
    """Return the arguments of ``of_shape`` for a row of the catalogue, absent parts as zero."""
    heads, layers = row.heads or 0, row.layers or 0
    gated = row.ffn_kind.startswith("gated")
    shape: dict[str, Any] = {
        "layers": layers,
        "hidden": row.hidden,
        "heads": heads,
        "kv_heads": row.kv_heads if row.attention != "MLA" else heads,
        "head_dim": row.head_dim,
        "vocab": row.vocab,
        "ffn": row.ffn or 0,
        "gated": gated,
        "tied_embeddings": bool(row.tied_embeddings),
        "positions": (row.context or 0) if row.learned_positions else 0,
        "biases": not gated,
        "dropout": row.learned_positions,
    }
    if row.attention == "MLA":
        rope, nope = row.qk_rope_dim or 0, row.qk_nope_dim or 0
        shape |= {"q_lora": row.q_lora or 0, "kv_lora": row.kv_lora or 0, "rope_dim": rope}
        shape |= {"head_dim": nope + rope, "v_dim": row.v_dim or 0}
    if row.experts is not None:
        shape |= {
            "experts": row.experts,
            "experts_active": row.experts_active or 0,
            "moe_ffn": row.moe_ffn or 0,
            "shared_experts": row.shared_experts or 0,
            "first_dense_layers": row.first_dense_layers or 0,
            "moe_every": row.moe_every or 1,
        }
    if row.kind == "transformer encoder":
        shape |= {"encoder_layers": layers, "positions": row.context or 0, "dropout": True}
    elif row.kind.startswith("transformer encoder-decoder"):
        half = layers // 2
        shape |= {"encoder_layers": half, "cross_attention_layers": layers - half, "biases": False, "dropout": True}
        shape["rotary"] = False
    return shape
