"""How work is laid over chips: parallel sizes, batch, sequence, precision and recompute, as arrays of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.errors import CostError, did_you_mean

if TYPE_CHECKING:
    from energy.cost.architecture import Architecture

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int8]

#: Which activations are thrown away and computed again: nothing; the attention core (scores, softmax, values); every
#: second layer whole; each layer whole.
RECOMPUTE = ("none", "selective", "alternate", "full")
#: Precision of the matrix products; weights are kept in 16 bits below 16.
PRECISIONS = ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8")
#: Order of forward and backward passes in a pipeline (:mod:`energy.cost.schedules`); interleaving is 1f1b with more
#: than one virtual stage.
SCHEDULES = ("1f1b", "zb-h1", "zbv", "v-half", "v-min")
#: What lies in a slower memory than the chip's (:mod:`energy.cost.offload`).
OFFLOADS = ("none", "optimizer", "optimizer+parameters", "activations")
_ALIASES = {
    **{"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "mxfp8": "fp8", "nvfp4": "fp4"},
    **{"interleaved": "1f1b", "1f1b-interleaved": "1f1b", "interleaved-1f1b": "1f1b"},
    **dict.fromkeys(("zbb", "zero-bubble", "zerobubble", "zb1p", "zb-1p", "zbh1"), "zb-h1"),
    **{"v-zb": "zbv", "zb-v": "zbv", "vhalf": "v-half", "vmin": "v-min", "optimiser": "optimizer"},
    **{"optimiser+parameters": "optimizer+parameters"},
}
_SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "virtual_stages", "data_parallel_size")
_SIZES_MORE = ("context_parallel_size", "expert_parallel_size")
_NAMES = {"recompute": RECOMPUTE, "precision": PRECISIONS, "schedule": SCHEDULES, "offload": OFFLOADS}
_BATCH = ("micro_batch_size", "global_batch_size", "sequence_length")

_Rule = tuple[Flags, Callable[[int], str]]


def codes_of(values: ArrayLike, names: Sequence[str], what: str) -> Codes:
    """Return the place of each name in ``names``.

    Parameters
    ----------
    values : array_like of str or int
        Names, or codes that are taken as they are when they lie in range.
    names : sequence of str
        What is known, in the order of the codes.
    what : str
        Word for the message.

    Raises
    ------
    CostError
        When a value is not known; the message gives the nearest.

    Examples
    --------
    >>> codes_of(["full", "none"], RECOMPUTE, "recompute").tolist()
    [3, 0]

    """
    if isinstance(values, str) and values in names:
        return np.asarray(names.index(values), np.int8)
    given = np.asarray(values)
    if given.dtype.kind in "iu":
        if given.size and (given.min() < 0 or given.max() >= len(names)):
            bad = int(given[(given < 0) | (given >= len(names))].flat[0])
            raise CostError(f"The {what} code {bad} is not known: 0 to {len(names) - 1} stand for {', '.join(names)}.")
        return given.astype(np.int8)
    unique, inverse = np.unique(given.astype(str), return_inverse=True)
    found = []
    for text in unique.tolist():
        name = text.strip().casefold()
        if name not in names:
            name = _ALIASES.get(name.replace("_", "-"), name.replace("_", "-") if what == "schedule" else name)
        if name not in names:
            raise CostError(f"The {what} {text!r} is not known: {', '.join(names)}.{did_you_mean(text, names)}")
        found.append(names.index(name))
    return np.asarray(found, np.int8)[inverse].reshape(given.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """Scenarios of one shape ``(n,)``; make them with :meth:`of`. Sizes are whole numbers held as float64.

    ``tensor_parallel_size`` x ``pipeline_parallel_size`` x ``context_parallel_size`` x ``data_parallel_size`` is the
    number of chips; ``expert_parallel_size`` divides tensor x context x data. ``virtual_stages`` is the number of
    pieces of the model that one pipeline rank holds (1 is 1F1B). ``zero_stage`` says what is sharded over data x
    context: 0 nothing, 1 optimiser, 2 gradients too, 3 weights too (FSDP). ``micro_batch_size`` and
    ``global_batch_size`` count sequences, ``sequence_length`` tokens. ``recompute`` and ``precision`` are codes of
    :data:`RECOMPUTE` and :data:`PRECISIONS`. ``attention_fused``: scores stay on the chip (FlashAttention).
    ``schedule`` and ``offload`` are codes of :data:`SCHEDULES` and :data:`OFFLOADS`.
    """

    tensor_parallel_size: Numbers
    pipeline_parallel_size: Numbers
    virtual_stages: Numbers
    data_parallel_size: Numbers
    context_parallel_size: Numbers
    expert_parallel_size: Numbers
    zero_stage: Numbers
    micro_batch_size: Numbers
    global_batch_size: Numbers
    sequence_length: Numbers
    sequence_parallel: Flags
    attention_fused: Flags
    recompute: Codes
    precision: Codes
    schedule: Codes
    offload: Codes

    @classmethod
    def of(
        cls,
        *,
        sequence_length: ArrayLike,
        micro_batch_size: ArrayLike,
        global_batch_size: ArrayLike,
        precision: ArrayLike,
        tensor_parallel_size: ArrayLike = 1,
        pipeline_parallel_size: ArrayLike = 1,
        virtual_stages: ArrayLike = 1,
        data_parallel_size: ArrayLike = 1,
        context_parallel_size: ArrayLike = 1,
        expert_parallel_size: ArrayLike = 1,
        zero_stage: ArrayLike = 0,
        sequence_parallel: ArrayLike = False,
        attention_fused: ArrayLike = True,
        recompute: ArrayLike = "none",
        schedule: ArrayLike = "1f1b",
        offload: ArrayLike = "none",
    ) -> Self:
        """Return scenarios from numbers, names and arrays of them, broadcast to one shape ``(n,)``.

        What is left out is not used: sizes of 1, ZeRO stage 0, no sequence parallelism, no recompute, no offload;
        attention is fused, pipelines run 1f1b. Numbers that cannot be (NaN, zero, negative, fractions) are refused by
        :meth:`check`.

        Raises
        ------
        CostError
            When a name is not known, a value is no number, or the arrays have different lengths.

        Examples
        --------
        >>> mapping = Mapping.of(sequence_length=4096, micro_batch_size=[1, 2], global_batch_size=512,
        ...                      precision="bf16", tensor_parallel_size=8, data_parallel_size=16)
        >>> len(mapping), mapping.chips.tolist(), mapping.micro_batches.tolist()
        (2, [128.0, 128.0], [32.0, 16.0])

        """
        given = dict(locals())
        del given["cls"]
        arrays: dict[str, NDArray[np.generic]] = {}
        for one in fields(cls):
            value = given[one.name]
            if one.name in _NAMES:
                arrays[one.name] = codes_of(value, _NAMES[one.name], one.name)
            elif one.name in ("sequence_parallel", "attention_fused"):
                arrays[one.name] = _flags(one.name, value)
            else:
                arrays[one.name] = _numbers(one.name, value)
        try:
            shaped = np.broadcast_arrays(*(np.atleast_1d(array) for array in arrays.values()))
        except ValueError:
            sizes = ", ".join(f"{name} {array.size}" for name, array in arrays.items() if array.size != 1)
            raise CostError(f"The numbers of the mapping have different lengths: {sizes}. Give one each.") from None
        return cls(*(np.ascontiguousarray(array) for array in shaped))

    def __len__(self) -> int:
        return len(self.micro_batch_size)

    def __getitem__(self, index: slice | NDArray[np.generic] | Sequence[int] | int) -> Self:
        """Return the scenarios at ``index``; one number gives arrays of one."""
        chosen = [index] if isinstance(index, (int, np.integer)) else index
        return type(self)(*(getattr(self, one.name)[chosen] for one in fields(self)))

    @property
    def chips(self) -> Numbers:
        """Return the number of chips: tensor x pipeline x context x data."""
        return (
            self.tensor_parallel_size
            * self.pipeline_parallel_size
            * self.context_parallel_size
            * self.data_parallel_size
        )

    @property
    def micro_batches(self) -> Numbers:
        """Return the number of micro batches that one pipeline runs in a step: B / (b D)."""
        return self.global_batch_size / (self.micro_batch_size * self.data_parallel_size)

    @property
    def tokens_per_step(self) -> Numbers:
        """Return the tokens of one step: B s."""
        return self.global_batch_size * self.sequence_length

    @property
    def operand_bytes(self) -> Numbers:
        """Return the bytes of one number that enters a matrix product."""
        return OPERAND_BYTES[self.precision]

    def check(self, architecture: Architecture, chips: ArrayLike | None = None) -> None:
        """Raise where a scenario cannot run.

        Parameters
        ----------
        architecture : Architecture
            One, or as many as there are scenarios.
        chips : array_like of float, optional
            Number of chips that there are; without it the mapping's own product counts.

        Raises
        ------
        CostError
            For the first rule that is broken and its first scenario: which number does not divide what, and the
            nearest that does. Memory is another question: see :mod:`energy.cost.memory`.

        Examples
        --------
        >>> from energy.cost.architecture import Architecture
        >>> llama = Architecture.of_model("Llama 3.1 8B")
        >>> Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=16, precision="bf16",
        ...            tensor_parallel_size=6).check(llama)
        Traceback (most recent call last):
        ...
        energy.errors.CostError: tensor_parallel_size 6 does not divide the 32 attention heads: 4 or 8 does.

        """
        for bad, message in self._rules(architecture, chips):
            if bad.any():
                place = int(np.argmax(bad))
                where = f"Scenario {place}: " if len(bad) > 1 else ""
                raise CostError(where + message(place))

    def usable(self, architecture: Architecture, chips: ArrayLike | None = None) -> Flags:
        """Return where :meth:`check` has nothing to say, as an array ``(n,)``: the filter of a search.

        Examples
        --------
        >>> from energy.cost.architecture import Architecture
        >>> llama = Architecture.of_model("Llama 3.1 8B")
        >>> Mapping.of(sequence_length=8192, micro_batch_size=1, global_batch_size=16, precision="bf16",
        ...            tensor_parallel_size=[1, 2, 3, 8]).usable(llama).tolist()
        [True, True, False, True]

        """
        good = np.ones(np.broadcast_shapes((len(self),), (len(architecture),)), np.bool_)
        for bad, _ in self._rules(architecture, chips):
            good &= ~bad
        return good

    def _rules(self, architecture: Architecture, chips: ArrayLike | None) -> Iterator[_Rule]:
        """Yield (where it is broken, its message) of each rule, the ones that later rules rest on first."""
        if len({len(self), len(architecture)} - {1}) > 1:
            raise CostError(f"{len(self)} mappings do not pair with {len(architecture)} architectures: give one each.")
        for name in (*_SIZES, *_SIZES_MORE, *_BATCH):
            yield self._whole(name, lowest=1)
        yield self._whole("zero_stage", lowest=0, highest=3)
        yield from self._batch_rules(chips)
        yield from self._shape_rules(architecture)

    def _whole(self, name: str, lowest: int, highest: int | None = None) -> _Rule:
        values = getattr(self, name)
        with np.errstate(invalid="ignore"):
            bad = ~(values >= lowest) | ~np.isfinite(values) | (values != np.floor(values))
        if highest is not None:
            bad |= values > highest
        reach = f"{lowest} to {highest}" if highest is not None else f"{lowest} or more"
        return bad, lambda i: f"{name} is {values[i]:g}: give a whole number, {reach}."

    def _batch_rules(self, chips: ArrayLike | None) -> Iterator[_Rule]:
        if chips is not None:
            there = np.broadcast_to(_numbers("chips", chips), (len(self),))
            with np.errstate(invalid="ignore"):
                bad = ~(there >= 1) | (there != np.floor(there))
            yield bad, lambda i: f"chips is {there[i]:g}: give a whole number, 1 or more."
            yield self.chips != there, lambda i: self._chips_text(i, there[i])
        share = self.micro_batch_size * self.data_parallel_size
        yield (
            _remainder(self.global_batch_size, share),
            lambda i: (
                f"global_batch_size {self.global_batch_size[i]:g} is not a multiple of micro_batch_size "
                f"{self.micro_batch_size[i]:g} x data_parallel_size {self.data_parallel_size[i]:g} = {share[i]:g}: "
                f"{_multiples(self.global_batch_size[i], share[i])} is."
            ),
        )
        yield from self._divides("context_parallel_size", self.sequence_length, "tokens of the sequence")
        with_sequence = np.where(self.sequence_parallel, self.tensor_parallel_size, 1.0) * self.context_parallel_size
        yield (
            _remainder(self.sequence_length, with_sequence),
            lambda i: (
                f"sequence_length {self.sequence_length[i]:g} is not a multiple of tensor x context parallel size "
                f"{with_sequence[i]:g}, which sequence parallelism needs: "
                f"{_multiples(self.sequence_length[i], with_sequence[i])} is."
            ),
        )
        yield from self._schedule_rules()
        yield (
            (self.virtual_stages > 1) & (self.pipeline_parallel_size < 2),
            lambda i: (
                f"virtual_stages is {self.virtual_stages[i]:g} but pipeline_parallel_size is 1: interleaving needs "
                "2 or more pipeline ranks, or virtual_stages 1."
            ),
        )

    def _schedule_rules(self) -> Iterator[_Rule]:
        special = self.schedule > 0

        def named(i: int) -> str:
            return SCHEDULES[int(self.schedule[i])]

        yield (
            special & (self.pipeline_parallel_size < 2),
            lambda i: (
                f"schedule is {named(i)} but pipeline_parallel_size is 1: give 2 or more pipeline "
                "ranks, or leave the schedule out."
            ),
        )
        wanted = np.where(self.schedule == SCHEDULES.index("zb-h1"), 1.0, 2.0)
        yield (
            special & (self.virtual_stages != wanted),
            lambda i: (
                f"virtual_stages is {self.virtual_stages[i]:g} but schedule {named(i)} gives a rank "
                f"{'one piece' if wanted[i] == 1 else 'two pieces'} of the model: give {wanted[i]:g}."
            ),
        )

    def _shape_rules(self, architecture: Architecture) -> Iterator[_Rule]:
        one = architecture
        pieces = self.pipeline_parallel_size * self.virtual_stages
        layers = np.broadcast_to(one.layers, np.broadcast_shapes(one.layers.shape, pieces.shape))
        # Embedding and loss may be pieces of their own (Megatron's account for them in the split).
        yield (
            pieces > layers + 2,
            lambda i: (
                f"pipeline_parallel_size x virtual_stages = {_at(pieces, i):g} is more than the {layers[i]:g} layers, "
                f"embedding and loss: at most {layers[i] + 2:g}."
            ),
        )
        yield from self._divides("tensor_parallel_size", one.heads, "attention heads")
        kv_heads = np.where(one.kv_heads > 0, one.kv_heads, one.heads)
        # Fewer key-value heads than ranks are held several times.
        replicated = _remainder(self.tensor_parallel_size, kv_heads)
        split = _remainder(kv_heads, self.tensor_parallel_size)
        yield (
            split & replicated,
            lambda i: (
                f"tensor_parallel_size {_at(self.tensor_parallel_size, i):g} neither divides the "
                f"{_at(kv_heads, i):g} key-value heads nor is a multiple of them: "
                f"{_divisors(_at(kv_heads, i), _at(self.tensor_parallel_size, i))} does."
            ),
        )
        yield from self._divides("tensor_parallel_size", one.ffn, "columns of the feed-forward layer")
        yield from self._divides("expert_parallel_size", one.experts, "experts")
        yield (
            (self.expert_parallel_size > 1) & (one.experts == 0),
            lambda i: (
                f"expert_parallel_size is {_at(self.expert_parallel_size, i):g} but the model has no experts: give 1."
            ),
        )
        group = self.tensor_parallel_size * self.context_parallel_size * self.data_parallel_size
        yield (
            _remainder(group, self.expert_parallel_size),
            lambda i: (
                f"expert_parallel_size {_at(self.expert_parallel_size, i):g} does not divide tensor x context x data "
                f"parallel size {_at(group, i):g}: "
                f"{_divisors(_at(group, i), _at(self.expert_parallel_size, i))} does."
            ),
        )

    def _divides(self, name: str, whole: Numbers, what: str) -> Iterator[_Rule]:
        size = getattr(self, name)
        yield (
            _remainder(whole, size),
            lambda i: (
                f"{name} {_at(size, i):g} does not divide the {_at(whole, i):g} {what}: "
                f"{_divisors(_at(whole, i), _at(size, i))} does."
            ),
        )

    def _chips_text(self, i: int, there: float) -> str:
        other = self.chips[i] / self.data_parallel_size[i]
        fits = (
            f"data_parallel_size {there / other:g} does" if there % other == 0 else f"{_multiples(there, other)} would"
        )
        return (
            f"{self.chips[i]:g} chips follow from tensor {self.tensor_parallel_size[i]:g} x pipeline "
            f"{self.pipeline_parallel_size[i]:g} x context {self.context_parallel_size[i]:g} x data "
            f"{self.data_parallel_size[i]:g}, but there are {there:g}: {fits}."
        )


#: Bytes of one operand of a matrix product, by code of :data:`PRECISIONS`; scales of block formats are left out.
OPERAND_BYTES = np.array([4.0, 4.0, 2.0, 2.0, 1.0, 0.5, 1.0])


def _at(values: Numbers, i: int) -> float:
    return float(values[i if len(values) > 1 else 0])


def _remainder(whole: Numbers, size: Numbers) -> Flags:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.remainder(whole, size) != 0)


def _divisors(whole: float, size: float) -> str:
    """Return the divisors of ``whole`` next below and above ``size``."""
    number = int(whole)
    known = [one for one in range(1, min(number, 1 << 20) + 1) if number % one == 0]
    below, above = [one for one in known if one < size][-1:], [one for one in known if one > size][:1]
    return " or ".join(str(one) for one in below + above)


def _multiples(value: float, share: float) -> str:
    """Return the multiples of ``share`` next below and above ``value``."""
    below = np.floor(value / share) * share
    near = [below, below + share] if below > 0 else [below + share]
    return " or ".join(f"{one:g}" for one in near)


def _numbers(name: str, value: ArrayLike) -> Numbers:
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise CostError(f"{name} is {value!r}: give a whole number.") from None


def _flags(name: str, value: ArrayLike) -> Flags:
    array = np.asarray(value)
    if array.dtype != np.bool_:
        raise CostError(f"{name} is {value!r}: give true or false.")
    return array
