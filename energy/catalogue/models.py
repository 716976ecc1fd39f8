"""Models: shape, parameter counts and, where published, training figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from energy.catalogue import _tables
from energy.catalogue._names import find, fold, grouped, listed
from energy.catalogue._records import Verified, build
from energy.errors import AmbiguousNameError


@dataclass(frozen=True, slots=True)
class Model(Verified):
    """One model. None is unknown, never zero.

    Counts ending in ``_b`` are in 1e9, ``training_flop`` in operations, ``mfu`` from 0 to 1. ``params_total_b`` and
    ``params_active_b`` are as published (active counts differ in whether the embedding table is in them);
    :func:`energy.catalogue.parameters.parameters_of` computes them from the shape. ``is_estimate``: the developer has
    not published the figures; ``training_flop`` is then known within three times either way.
    """

    model_id: str
    name: str
    family: str
    developer: str
    year: int | None
    kind: str
    layers: int | None
    hidden: int | None
    heads: int | None
    kv_heads: int | None
    head_dim: int | None
    ffn: int | None
    moe_ffn: int | None
    vocab: int | None
    context: int | None
    experts: int | None
    experts_active: int | None
    shared_experts: int | None
    first_dense_layers: int | None
    moe_every: int | None
    attention: str
    ffn_kind: str
    tied_embeddings: bool | None
    learned_positions: bool
    q_lora: int | None
    kv_lora: int | None
    qk_nope_dim: int | None
    qk_rope_dim: int | None
    v_dim: int | None
    params_total_b: float | None
    params_active_b: float | None
    training_tokens_b: float | None
    training_flop: float | None
    training_hardware: str
    training_chip_id: str
    training_chip_count: int | None
    training_hours: float | None
    training_chip_hours: float | None
    mfu: float | None
    forward_gflop_per_item: float | None
    item: str
    is_estimate: bool
    source: tuple[str, ...]
    confidence: str
    recalled_fields: frozenset[str]
    note: str

    @property
    def status(self) -> str:
        """Return ``catalogue``, or ``estimate`` where the row is recalled or its developer published no figures."""
        return "estimate" if self.is_estimate or self.confidence == "recalled" else "catalogue"


@cache
def all_models() -> tuple[Model, ...]:
    """Return all models, in the order of the table.

    Examples
    --------
    >>> all_models()[0].name
    'AlexNet'

    """
    return tuple(build(Model, row) for row in _tables.rows("models"))


@cache
def _by_id() -> Mapping[str, Model]:
    return {one.model_id: one for one in all_models()}


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    return grouped((text, one.model_id) for one in all_models() for text in (one.model_id, one.name))


def model(name: str) -> Model:
    """Return the model that a name means, exactly.

    Raises
    ------
    AmbiguousNameError
        When the name is a family or a developer; the message lists its models.
    UnknownNameError
        When the name is not in the catalogue; the message gives the nearest names.

    Examples
    --------
    >>> model("Llama 3.1 70B").hidden, model("gpt-3 175b").params_total_b
    (8192, 174.6)
    >>> model("Llama 3.1")
    Traceback (most recent call last):
    ...
    energy.errors.AmbiguousNameError: 'Llama 3.1' is a family or developer, not one model: llama31_8b, llama31_70b, \
llama31_405b. Name one of them.

    """
    if fold(name) not in _names():
        members = [one.model_id for one in all_models() if fold(name) in (fold(one.family), fold(one.developer))]
        if members:
            text = f"{name!r} is a family or developer, not one model: {listed(members)}. Name one of them."
            raise AmbiguousNameError(text)
    return _by_id()[find(name, _names(), "model", [one.name for one in all_models()])]
