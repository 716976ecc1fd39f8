"""From a row of published training throughput to a request of the cost engine, and what was measured.

Cells are texts; an empty one is unknown. What a row does not say is searched or assumed by :mod:`energy.cost.training`
and noted; nothing is taken from the measured columns but the FLOPs of a token (printed TFLOP/s over printed tokens/s)
where no shape is known, and what :mod:`energy.validation.contradictions` says of rows that contradict themselves.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from energy import catalogue
from energy.cost.architecture import Architecture
from energy.cost.conventions import flops_per_token
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s, supports
from energy.cost.mapping import SCHEDULES, codes_of
from energy.cost.requests import Request, usual_precision
from energy.cost.stack import stack_family
from energy.cost.training import Plan
from energy.errors import EnergyError
from energy.validation.cells import Row, flag, number, possible, words
from energy.validation.contradictions import reconciled

__all__ = [
    "Case",
    "Row",
    "case_of",
    "chip_of",
    "flag",
    "framework_of",
    "kind_of",
    "measured_s",
    "number",
    "precision_of",
    "shape_of",
    "source_of",
    "words",
    "year_of",
]

#: Words of the convention column, the first that is found counts.
_CONVENTIONS = (
    (r"hardware.*sc21|96\*b", "sc21"),
    (r"hardware", "hardware_full"),
    (r"non.causal|6n \+ 12|llm-foundry", "model_full"),
    (r"", "model_causal"),
)
_RECOMPUTE = {
    "full": "full",
    "none": "none",
    "selective": "selective",
    "alternate": "alternate",
    "minimal": "none",
    "qkv_proj_offloaded": "full",
}
_RATES = ("tflops_per_s_per_chip", "tokens_per_s_per_chip", "samples_per_s_total")
_PRECISIONS = (("mxfp8", "fp8"), ("nvfp4", "fp4"), ("fp8", "fp8"), ("fp4", "fp4"), ("int8", "int8"), ("fp16", "fp16"))
_WIDE = (("bf16", "bf16"), ("bfloat16", "bf16"), ("tf32", "tf32"), ("fp32", "fp32"), ("float32", "fp32"))
#: Parameters in a name: "175B", "1.7b", "350M"; of a mixture also the active ones, "30B-A3B".
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([tbm])\b", re.IGNORECASE)
_ACTIVE = re.compile(r"a(\d+(?:\.\d+)?)\s*b\b", re.IGNORECASE)
_UNIT = {"t": 1e12, "b": 1e9, "m": 1e6}


@dataclass(frozen=True, slots=True)
class Case:
    """A row as the engine sees it."""

    row_id: str
    source: str
    request: Request
    notes: tuple[str, ...]


def chip_of(row: Row, notes: list[str]) -> str:
    """Return the chip of the catalogue that a row names; of several, the SXM or largest one, which is noted.

    Raises
    ------
    UnknownNameError
        When no chip has that name; part of a word is no name, so that an A10 is never an A100.
    """
    name = words(row, "chip")
    tries = [name, f"{name} {words(row, 'chip_note')}", f"{name} SXM", f"{name}2 32GB", f"{name} 80GB"]
    errors: list[EnergyError] = []
    for place, one in enumerate(tries):
        try:
            found = catalogue.chip(one).chip_id
        except EnergyError as error:
            errors.append(error)
            continue
        if place > 0:
            notes.append(f"The chip name {name!r} is not exact: {found} is taken.")
        return found
    wanted = _folded(name)
    fits = [
        one
        for one in catalogue.all_chips()
        if any(_begins_with(_folded(full), wanted) for full in (f"{one.vendor} {one.name}", one.name))
    ]
    if not wanted or not fits:
        raise errors[0]
    found = max(fits, key=lambda one: one.memory_gb or 0.0).chip_id
    notes.append(f"The chip name {name!r} fits several: {found} is taken.")
    return found


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _begins_with(full: str, start: str) -> bool:
    """Return whether a name begins with another that does not end within a word or a number."""
    if not full.startswith(start):
        return False
    return full == start or full[len(start)].isdigit() != start[-1:].isdigit()


def precision_of(row: Row, chip: str, notes: list[str]) -> str:
    """Return the precision of the products; where the row is silent, the widest 16-bit format of the chip."""
    text = words(row, "precision").casefold()
    usual = usual_precision(chip)
    for word, name in (*_PRECISIONS, *_WIDE):
        if word in text:
            if supports(chip, name):
                return name
            notes.append(f"The chip has no {name}: {usual} is taken.")
            return usual
    notes.append(f"No precision is given: {usual} is assumed.")
    return usual


def kind_of(row: Row) -> str:
    """Return the kind of work of a row."""
    family = words(row, "model_family").casefold()
    name = words(row, "model_name").casefold()
    if "lora" in f"{words(row, 'task')} {name}".casefold():
        return "adapters"
    if "hybrid" in family:
        return "hybrid"
    if "cnn" in family or re.search(r"resnet|inception|vgg|alexnet|efficientnet|resnext", name):
        return "convolution"
    if "encoder" in family or re.search(r"\bbert|vit\b", name):
        return "encoder"
    return "moe" if "moe" in family or (number(row, "n_experts") or 0) > 1 else "dense"


def shape_of(row: Row, kind: str, notes: list[str]) -> Architecture:
    """Return the architecture of a row: of the catalogue where it agrees with the row, of the columns, of the size."""
    known = _of_catalogue(row)
    if known is not None:
        return known
    layers, hidden = number(row, "n_layers"), number(row, "hidden_size") or 0.0
    size = number(row, "params")
    if hidden and not layers and size and kind == "dense":
        vocab = number(row, "vocab_size") or 51200.0
        layers = float(max(round((size - vocab * hidden) / (12.0 * hidden**2)), 1))
        notes.append(f"No number of layers is given: {layers:g} from the parameters and the width.")
    if layers is not None and layers > 0 and hidden > 0:
        return _of_columns(row, layers, hidden)
    return _of_size(row, kind, notes)


def _of_catalogue(row: Row) -> Architecture | None:
    name = words(row, "model_name")
    short = re.sub(r"(?i)[\s_-]*(finetune|lora|clm|sft|pretrain)\b", "", name)
    for one in dict.fromkeys((name, short, re.sub(r"([a-z])(\d)", r"\1 \2", short), short.replace("GPT-", "GPT-3 "))):
        try:
            found = Architecture.of_model(one)
        except EnergyError:
            continue
        layers, hidden = number(row, "n_layers"), number(row, "hidden_size")
        if (layers is None or layers == found.layers[0]) and (hidden is None or hidden == found.hidden[0]):
            return found
        if layers is not None and hidden is not None and hidden == found.hidden[0] and found.is_mla[0]:
            return _of_columns(row, layers, hidden, like=found)
    return None


def _of_columns(row: Row, layers: float, hidden: float, like: Architecture | None = None) -> Architecture:
    heads = number(row, "n_heads") or _usual_heads(hidden, number(row, "tp") or 1.0)
    head_dim = number(row, "head_dim") or max(float(hidden // heads), 8.0)
    gated = flag(row, "gated_mlp")
    experts = number(row, "n_experts") or 0.0
    ffn = number(row, "ffn_hidden") or (4.0 * hidden if not gated else math.ceil(8 * hidden / 3 / 256) * 256)
    given: dict[str, float | bool] = {}
    if experts > 1:
        given = {
            "experts": experts,
            "experts_active": number(row, "experts_top_k") or 2.0,
            "moe_ffn": number(row, "moe_ffn_hidden") or ffn,
            "shared_experts": number(row, "shared_experts") or 0.0,
            "first_dense_layers": number(row, "n_dense_layers") or 0.0,
        }
    old = gated is not True
    family = kind_of(row)
    if family == "encoder":
        given |= {"encoder_layers": layers}
    if like is not None:
        names = ("q_lora", "kv_lora", "rope_dim")
        given |= {name: float(getattr(like, name)[0]) for name in names}
        given |= {"v_dim": float(like.v_dim[0])}
        head_dim = float(like.qk_dim[0])
    return Architecture.of_shape(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=number(row, "n_kv_heads") or heads,
        head_dim=head_dim,
        vocab=number(row, "vocab_size") or (51200.0 if old else 128256.0),
        ffn=ffn,
        gated=bool(gated),
        tied_embeddings=old,
        positions=number(row, "seq_len") or 0.0 if old else 0.0,
        dropout=bool(re.search(r"(?i)megatron", words(row, "framework")) and old),
        **given,
    )


def _usual_heads(hidden: float, tensor_ranks: float) -> float:
    """Return the number of heads that divides the width, is shared by the tensor ranks, and is about 128 wide."""
    usable = [
        one * tensor_ranks
        for one in range(1, 513)
        if hidden % (one * tensor_ranks) == 0 and one * tensor_ranks <= hidden
    ]
    return min(usable or [1.0], key=lambda one: abs(hidden / one - 128.0))


def _of_size(row: Row, kind: str, notes: list[str]) -> Architecture:
    """Return a transformer of the row's number of parameters, in the usual proportions (width 128 for each layer)."""
    active, total = _sizes(row, notes)
    layers = max(round((active / (12 * 128.0**2)) ** (1 / 3)), 2)
    hidden = max(round(math.sqrt(active / (12 * layers)) / 128), 1) * 128.0
    vocab = 51200.0 if kind != "encoder" else 30522.0
    shape: dict[str, float] = {}
    if total > 1.5 * active:
        # Experts hold what is not active: eight of them taken, as wide as their share.
        taken = 8.0
        width = max(round(0.5 * active / layers / (3 * hidden * taken) / 64), 1) * 64.0
        experts = max(round(total / layers / (3 * hidden * width)), taken + 1)
        experts = float(2 ** round(math.log2(experts)))
        shape = {"experts": experts, "experts_active": taken, "moe_ffn": width}
    if kind == "encoder":
        shape["encoder_layers"] = layers
    notes.append(f"No shape is given: one of usual proportions with {active / 1e9:.3g} billion active parameters.")
    return Architecture.of_shape(
        layers=layers,
        hidden=hidden,
        heads=max(hidden / 128, 1.0),
        vocab=vocab,
        ffn=4 * hidden,
        gated=bool(shape.get("experts")),
        tied_embeddings=True,
        **shape,
    )


def _sizes(row: Row, notes: list[str]) -> tuple[float, float]:
    """Return active and total parameters: of the columns, of the printed rates, of the name."""
    name = words(row, "model_name")
    rate, tokens = number(row, "tflops_per_s_per_chip"), number(row, "tokens_per_s_per_chip")
    total, active = number(row, "params"), number(row, "active_params")
    found = _SIZE.search(name)
    if total is None and found:
        total = float(found[1]) * _UNIT[found[2].casefold()]
    if active is None and (inside := _ACTIVE.search(name)):
        active = float(inside[1]) * 1e9
    if active is None and rate and tokens:
        active = rate * 1e12 / tokens / 6.0
        notes.append("FLOPs of a token from the printed TFLOP/s over tokens/s.")
    if total is None and active is None:
        total = 0.3e9 if kind_of(row) == "encoder" else 70e9
        notes.append(f"Neither shape nor size is known: {total / 1e9:g} billion parameters are assumed.")
    if total is None:
        mixture = "moe" in words(row, "model_family").casefold()
        total = (active or 0.0) * (9.0 if mixture else 1.0)
    return active or total, total


def case_of(row: Row) -> Case:
    """Return the request that a row of a transformer makes.

    Raises
    ------
    EnergyError
        When its chip or a number cannot be understood.

    Examples
    --------
    >>> case = case_of({"row_id": "a", "chip": "NVIDIA H100 SXM", "n_chips": "8", "model_name": "llama3.1-8b",
    ...                 "precision": "bf16", "framework": "torchtitan"})
    >>> case.request.chip, float(case.request.architecture.layers[0])
    ('nvidia_h100_sxm5_80', 32.0)

    """
    notes: list[str] = []
    row = possible(row, notes)
    chip = chip_of(row, notes)
    kind = kind_of(row)
    chips = number(row, "n_chips")
    if chips is None:
        chips = number(row, "chips_per_node") or 8.0
        notes.append(f"No number of chips is given: {chips:g} are assumed.")
    recompute = _RECOMPUTE.get(words(row, "recompute").casefold())
    if recompute == "selective" and "titan" in words(row, "framework").casefold():
        recompute = "alternate"  # its word for every second layer
    shape = shape_of(row, kind, notes)
    schedule = _schedule(row)
    request = Request(
        architecture=shape,
        shape_is_assumed=any(note.startswith("No shape is given") for note in notes),
        kind=kind,
        chip=chip,
        chips=chips,
        precision=precision_of(row, chip, notes),
        framework=framework_of(row),
        sequence_length=number(row, "seq_len"),
        global_batch_size=number(row, "global_batch_seqs"),
        micro_batch_size=number(row, "micro_batch_seqs"),
        tensor_parallel_size=number(row, "tp"),
        pipeline_parallel_size=number(row, "pp"),
        virtual_stages=_virtual_stages(row, chip, schedule),
        schedule=schedule,
        context_parallel_size=number(row, "cp"),
        expert_parallel_size=number(row, "ep"),
        zero_stage=number(row, "fsdp_zero_stage"),
        sequence_parallel=flag(row, "sequence_parallel"),
        recompute=recompute,
        chips_per_node=number(row, "chips_per_node"),
        power_limit_w=number(row, "chip_power_limit_w"),
        memory_bytes_per_s=_bandwidth(row),
        memory_gb=_memory(row),
        outside_gbit_per_s_per_chip=_port(row),
        is_lora="lora" in f"{words(row, 'task')} {words(row, 'model_name')}".casefold(),
        is_finetuning=words(row, "task").casefold() in ("finetune", "sft", "lora"),
        year=year_of(row),
        must_fit=False,
    )
    rates = {one: number(row, one) for one in _RATES}
    return Case(words(row, "row_id"), source_of(row), reconciled(request, rates, notes), tuple(notes))


def source_of(row: Row) -> str:
    """Return the group of rows that were published together."""
    return words(row, "source_group") or words(row, "source") or "one"


def framework_of(row: Row) -> str:
    """Return what is said of the software; the framework first, the stack only where it is silent."""
    return words(row, "framework") or words(row, "software_stack")


def _schedule(row: Row) -> str | None:
    """Return the schedule of the pipeline that the notes name; plain and interleaved 1f1b need no name."""
    found = re.search(r"(?i)\b(zb-?h1|zb-?1p|zbb|zero-?bubble|zbv|v-?half|v-?min)\b", words(row, "notes"))
    if found is None or (number(row, "pp") or 1.0) < 2:
        return None
    return SCHEDULES[int(codes_of([found[1]], SCHEDULES, "schedule")[0])]


def _virtual_stages(row: Row, chip: str, schedule: str | None) -> float | None:
    """Return the pieces of a pipeline rank. A layout that is printed without them has one; two if only the word is.

    Schedules without a bubble have their own number, whatever is printed. Nothing can be said of stacks whose papers
    print no such number.
    """
    if schedule is not None:
        return 1.0 if schedule == "zb-h1" else 2.0
    given = number(row, "vpp")
    if given is not None:
        return given
    if re.search(r"(?i)interleav", words(row, "notes")):
        return 2.0
    return None if stack_family(framework_of(row), chip) in ("meta", "other") else 1.0


def year_of(row: Row) -> float | None:
    """Return when a row was measured, in years: of a release named after its month, else of the source's date.

    Examples
    --------
    >>> year_of({"framework": "Megatron-Bridge 26.04.01"}), year_of({"source_date": "2021-04"}), year_of({})
    (2026.25, 2021.25, None)

    """
    release = re.search(r"\b(2\d)\.(0[1-9]|1[0-2])\b", words(row, "framework"))
    if release:
        return 2000.0 + float(release[1]) + (float(release[2]) - 1.0) / 12.0
    date = re.match(r"(20\d\d)(?:-?(0[1-9]|1[0-2]))?", words(row, "source_date"))
    if date is None:
        return None
    return float(date[1]) + ((float(date[2]) - 1.0) / 12.0 if date[2] else 0.5)


def _bandwidth(row: Row) -> float | None:
    """Return the memory bandwidth that the chip's note prints."""
    found = re.search(r"(\d+(?:\.\d+)?)\s*TB/s", words(row, "chip_note"))
    return float(found[1]) * 1e12 if found else None


def _memory(row: Row) -> float | None:
    """Return the memory of a chip in GB that its note prints."""
    found = re.search(r"(\d+)\s*GB HBM", words(row, "chip_note"))
    return float(found[1]) if found and float(found[1]) > 0 else None


def _port(row: Row) -> float | None:
    """Return the network rate of a chip in Gbit/s that its note prints, of a node shared by its chips."""
    note = words(row, "chip_note")
    each = re.search(r"(\d+)\s*Gb/s[^,;]*per GPU", note)
    if each:
        return float(each[1])
    many = re.search(r"(\d+)x(\d+)\s*Gb/s", note)
    chips = number(row, "chips_per_node") or 8.0
    if many:
        return float(many[1]) * float(many[2]) / chips
    whole = re.search(r"(\d+)\s*Gb/s (?:RoCE )?(?:node-node|inter-node)", note)
    return float(whole[1]) / chips if whole else None


def measured_s(row: Row, plan: Plan) -> float | None:
    """Return the measured time of the plan's step in seconds, from what the row prints of it; None where nothing is.

    A printed time counts first, then tokens/s, samples/s, TFLOP/s and utilisation in their convention.
    """
    mapping, request = plan.mapping, plan.request
    tokens, chips = float(mapping.tokens_per_step[0]), request.chips
    time = number(row, "iter_time_s")
    if time and request.global_batch_size is not None and number(row, "global_batch_seqs") is not None:
        return time
    rate = number(row, "tokens_per_s_per_chip")
    if rate:
        return tokens / (rate * chips)
    samples = number(row, "samples_per_s_total")
    if samples:
        return float(mapping.global_batch_size[0]) / samples
    return _from_flops(row, plan, tokens * 1.0, chips) or time


def _from_flops(row: Row, plan: Plan, tokens: float, chips: float) -> float | None:
    request, text = plan.request, words(row, "flops_convention").casefold()
    convention = next(name for pattern, name in _CONVENTIONS if re.search(pattern, text))
    tflops, mfu, hfu = (number(row, one) for one in ("tflops_per_s_per_chip", "mfu_pct", "hfu_pct"))
    peak = peak_flop_per_s(kernel_chip(request.chip), request.precision)
    if tflops:
        rate = tflops * 1e12
    elif mfu:
        rate = mfu / 100 * peak
    elif hfu:
        rate, convention = hfu / 100 * peak, "hardware_causal"
    else:
        return None
    each = flops_per_token(request.architecture, plan.mapping.sequence_length, convention, plan.mapping.recompute)
    return float(np.asarray(each)[0]) * tokens / (rate * chips)
