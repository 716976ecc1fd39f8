r"""Power of chips that serve language models, from batch and token rate: what a benchmark of serving prints.

Loads of one chip, with the steps per second r = token rate / batch, weight bytes W that a step touches (of a mixture
the share 1 - (1 - k/E)^batch of the routed experts), key-value bytes K of the batch, and the dense peak and bandwidth:

    u_w = W r / bandwidth, u_k = K r / bandwidth, u_d = 2 active parameters × token rate / peak (decoding),
    u_p = u_d × tokens read / tokens written (prompts)
    load = ((k_w u_w + k_k u_k)^g m + (k_d u_d + k_p u_p)^h c) exp(terms)
    P = L (p0 + (s - p0) (1 - exp(-load)))

The terms are logarithms of few traits of the work (chips in a group, layers per second, batch, format, kind of task,
age of the software); m and c carry the task and the chip's family. All are fitted by ``scripts/fit_power.py`` on
ML.ENERGY (``power_serving.csv``); bands are of whole models left out. ``w`` and ``k`` are traffic per step, so a
scheduler that interleaves prompts is seen through the token rate alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.catalogue.chips import chip as chip_of
from energy.cost.kernels.coefficients import bandwidth_bytes_per_s, kernel_chip, kin, peak_flop_per_s, precision
from energy.errors import PowerError
from energy.power.states import Bands, busy_power, curve_of, idle_watts, transfer

Numbers = NDArray[np.float64]
CEILING = 0.98
FAMILIES = {"ampere": "nvidia_a100_sxm4_40", "hopper": "nvidia_h100_sxm5_80", "blackwell": "nvidia_b200_sxm"}
TASKS = (
    *("gpqa", "image-chat", "llm-chat", "llm-code", "lm-arena-chat", "mllm-chat", "sourcegraph-fim", "video-chat"),
)
_VISION = ("image-chat", "mllm-chat", "video-chat")
#: Tokens of a prompt by task: recalled or assumed, since the measurements do not print them (estimate).
INPUT_TOKENS = dict(zip(TASKS, (300.0, 2000.0, 250.0, 150.0, 400.0, 900.0, 4000.0, 6000.0), strict=True))
_USUAL_INPUT_TOKENS = 400.0
CORE = ("base", "weights", "cache", "decode", "prompt", "memory_exponent", "compute_exponent")


class Shape(NamedTuple):
    """Shape of a served model, and whether it is only told from its size."""

    layers: float
    kv_bytes_per_token: float
    experts: float
    experts_active: float
    params_active_b: float | None
    assumed: bool


def shape_of(model: str, params_total_b: float) -> Shape:
    """Return the shape of a served model by its name; of an unknown one a usual shape of its size, marked as assumed.

    Parameters
    ----------
    model : str
        Name, as benchmarks print it.
    params_total_b : float
        Parameters in billions.

    Examples
    --------
    >>> shape_of("meta-llama/Llama-3.1-70B-Instruct", 70.0).layers, shape_of("some/new-model", 8.0).assumed
    (80.0, True)

    """
    for row in _tables.rows("power_serving_models"):
        if row.text("name_part").casefold() in model.casefold():
            return Shape(
                row.number("layers"),
                row.number("kv_bytes_per_token"),
                row.number("experts"),
                row.number("experts_active"),
                row.maybe_number("params_active_b"),
                False,
            )
    layers = 32.0 * (params_total_b / 8.0) ** 0.4
    return Shape(layers, 4096.0 * layers, 0.0, 0.0, None, True)


@dataclass(frozen=True, slots=True, eq=False)
class Serving:
    """Work of serving, arrays ``(n,)``, one entry per measurement; ``chip`` and ``task`` are text.

    ``step_s`` is the time between two tokens of a sequence; ``batch`` and ``tokens_per_s`` are of all ``chips``.
    """

    chip: NDArray[np.str_]
    task: NDArray[np.str_]
    chips: Numbers
    replicas: Numbers
    expert_parallel: Numbers
    stages: Numbers
    params_total_b: Numbers
    params_active_b: Numbers
    bytes_per_param: Numbers
    layers: Numbers
    kv_bytes_per_token: Numbers
    experts: Numbers
    experts_active: Numbers
    batch: Numbers
    tokens_per_s: Numbers
    output_tokens: Numbers
    step_s: Numbers
    software_2024: Numbers

    def __getitem__(self, which: NDArray[Any]) -> Serving:
        """Return the chosen entries."""
        return Serving(**{one.name: getattr(self, one.name)[which] for one in fields(self)})


class _ChipFacts(NamedTuple):
    limit_w: float
    idle_w: float
    bandwidth: float
    peak_16: float
    peak_8: float
    family: str
    kin_step: int


@cache
def _facts(name: str, excluded: frozenset[str] = frozenset()) -> _ChipFacts:
    known, kernel = chip_of(name), kernel_chip(chip_of(name).chip_id)
    if known.tdp_w is None:
        raise PowerError(f"The catalogue has no maximum power of {known.chip_id}: its watts cannot be estimated.")
    measured = {one: kernel_chip(one) for one in FAMILIES.values() if one not in excluded}
    nearest, step = kin(kernel, measured)
    family = next(word for word, one in FAMILIES.items() if one == nearest)
    wide = "bf16" if "bf16" in kernel.peaks_flop_per_s else "fp16"
    peak = peak_flop_per_s(kernel, wide)
    narrow = kernel.peaks_flop_per_s.get("fp8", peak)
    idle = idle_watts(known.chip_id, curve_of(known.chip_id, wide), known.tdp_w).idle_w
    return _ChipFacts(known.tdp_w, idle, bandwidth_bytes_per_s(kernel), peak, narrow, family, step)


def _columns(work: Serving, excluded: frozenset[str]) -> dict[str, NDArray[Any]]:
    names, at = np.unique(work.chip, return_inverse=True)
    found = [_facts(str(name), excluded) for name in names]
    return {name: np.array([getattr(one, name) for one in found])[at] for name in _ChipFacts._fields}


def loads(work: Serving, *, excluded: frozenset[str] = frozenset()) -> dict[str, Numbers]:
    """Return the loads of one chip by kind: ``weights``, ``cache``, ``decode``, ``prompt``; and limit and idle power.

    Parameters
    ----------
    work : Serving
        What is served.
    excluded : frozenset of str, optional
        Chips that count as not measured.

    Raises
    ------
    PowerError
        A batch, rate, count or time is not above zero.
    """
    for name in (
        "chips",
        "replicas",
        "params_total_b",
        "params_active_b",
        "batch",
        "tokens_per_s",
        "output_tokens",
        "step_s",
    ):
        values = getattr(work, name)
        if np.any(~(values > 0.0)):
            raise PowerError(f"{name} is {values[~(values > 0.0)].flat[0]:g}: give a number above zero.")
    facts = _columns(work, excluded)
    routed = work.experts > 0
    chosen = np.where(routed, work.experts_active / np.maximum(work.experts, 1.0), 1.0)
    # total = rest + experts, active = rest + chosen × experts
    inside = np.where(
        routed, (work.params_total_b - work.params_active_b) / np.where(chosen < 1.0, 1.0 - chosen, 1.0), 0.0
    )
    inside = np.minimum(np.maximum(inside, 0.0), 0.98 * work.params_total_b)
    touched = np.where(routed, 1.0 - (1.0 - chosen) ** work.batch, 0.0)
    held = ((work.params_total_b - inside) * work.replicas + inside * touched) * 1e9 * work.bytes_per_param / work.chips
    steps = work.tokens_per_s / work.batch
    prompt = np.array([INPUT_TOKENS.get(str(task), _USUAL_INPUT_TOKENS) for task in work.task])
    context = prompt + work.output_tokens / 2.0
    peak = np.where(work.bytes_per_param < 2.0, facts["peak_8"], facts["peak_16"])
    decode = 2.0 * work.params_active_b * 1e9 * work.tokens_per_s / work.chips / peak
    return {
        "weights": held * steps / facts["bandwidth"],
        "cache": work.batch * context * work.kv_bytes_per_token / work.chips * steps / facts["bandwidth"],
        "decode": decode,
        "prompt": decode * prompt / work.output_tokens,
        "limit_w": facts["limit_w"],
        "idle_w": facts["idle_w"],
        "kin_step": facts["kin_step"],
    }


def traits(work: Serving, *, excluded: frozenset[str] = frozenset()) -> dict[str, Numbers]:
    """Return the traits of the work whose terms multiply the loads, by name, centred near the middle of the rows."""
    family = _columns(work, excluded)["family"]
    flags = {word: np.asarray(family == word, dtype=np.float64) for word in FAMILIES}
    ln_chips = np.log(work.chips)
    layer_rate = np.log(work.layers / work.step_s / 1e3) - 2.5
    batch = np.log(work.batch) - 4.0
    mixture = np.asarray(work.experts > 0, dtype=np.float64)
    tasks = {f"task {name}": np.asarray(work.task == name, dtype=np.float64) for name in TASKS}
    vision = np.asarray(np.isin(work.task, _VISION), dtype=np.float64)
    scale = {
        "wait": np.log(work.tokens_per_s * work.step_s / work.batch),
        "group": np.asarray(work.chips > 1, dtype=np.float64),
        "chips": ln_chips,
        "mixture": mixture,
        "expert_parallel": np.asarray(work.expert_parallel > 1, dtype=np.float64),
        "layer_rate": layer_rate,
        "batch": batch,
        "8 bit": np.asarray(work.bytes_per_param == 1.0, dtype=np.float64),
        "4 bit": np.asarray(work.bytes_per_param < 1.0, dtype=np.float64),
        "active": np.log(work.params_active_b) - 2.5,
        "total": np.log(work.params_total_b) - 2.5,
        "replicas": np.asarray(work.replicas > 1, dtype=np.float64),
        "stages": np.asarray(work.stages > 1, dtype=np.float64),
        **tasks,
        "software_2024": work.software_2024,
        "hopper": flags["hopper"],
        "blackwell": flags["blackwell"],
        "ampere layer_rate": flags["ampere"] * layer_rate,
        "ampere batch": flags["ampere"] * batch,
        "ampere chips": flags["ampere"] * ln_chips,
        "blackwell mixture": flags["blackwell"] * mixture,
        "blackwell vision": flags["blackwell"] * vision,
    }
    part = {**tasks, "hopper": flags["hopper"], "blackwell": flags["blackwell"]}
    result = {f"scale {name}": value for name, value in scale.items()}
    result |= {f"memory {name}": value for name, value in part.items()}
    result |= {f"compute {name}": value for name, value in part.items()}
    return result | {f"base {word}": flags[word] for word in ("hopper", "blackwell")}


def fraction(values: Mapping[str, float], load: Mapping[str, Numbers], trait: Mapping[str, Numbers]) -> Numbers:
    """Return power over the limit; ``values`` holds natural logarithms of `CORE` and the terms of `traits`."""

    def factor(part: str) -> Numbers:
        terms = [values[name] * value for name, value in trait.items() if name.split(" ", 1)[0] == part]
        return np.asarray(np.exp(np.sum(terms, axis=0)))

    core = {name: float(np.exp(values[name])) for name in CORE}
    memory = (core["weights"] * load["weights"] + core["cache"] * load["cache"]) ** core["memory_exponent"]
    compute = (core["decode"] * load["decode"] + core["prompt"] * load["prompt"]) ** core["compute_exponent"]
    total = (memory * factor("memory") + compute * factor("compute")) * factor("scale")
    base = np.minimum(load["idle_w"] / load["limit_w"] * core["base"] * factor("base"), 0.9 * CEILING)
    return np.asarray(busy_power.kernel(1.0, base, CEILING, total))


@dataclass(frozen=True, slots=True, eq=False)
class ServingPower:
    """Board watts of one chip and the bands around them, arrays ``(n,)``."""

    power_chip_w: Numbers
    power_chip_low80_w: Numbers
    power_chip_high80_w: Numbers
    power_chip_low_w: Numbers
    power_chip_high_w: Numbers


@cache
def _values() -> dict[str, float]:
    return {row.text("term"): float(row.text("value")) for row in _tables.rows("power_serving")}


def serving_power(work: Serving) -> ServingPower:
    """Return the board power of chips that serve language models in a steady state.

    Parameters
    ----------
    work : Serving
        What is served, at which batch and token rate.

    Raises
    ------
    PowerError
        A batch, rate, count or time is not above zero; the chip has no maximum power.
    UnknownNameError
        A chip is not known; the message gives the nearest names.

    Notes
    -----
    The equation is at the head of this module; source: ML.ENERGY benchmark (``power_serving.csv``). Bands of measured
    chips are of whole models left out, of other chips of whole chips left out.

    Examples
    --------
    >>> one = serving("nvidia_h100_sxm5_80", "lm-arena-chat", "meta-llama/Llama-3.1-8B-Instruct", params_total_b=8.0,
    ...               batch=64.0, tokens_per_s=5000.0, output_tokens=500.0)
    >>> bool(72 < serving_power(one).power_chip_w[0] < 700)
    True

    """
    load = loads(work)
    values = _values()
    power = fraction(values, load, traits(work)) * load["limit_w"]
    own = Bands(values["band80_ln"], values["band95_ln"])
    by_step = [own, *(transfer("serving", step) for step in (1, 2, 3))]
    step = np.asarray(load["kin_step"], dtype=np.intp)
    near, far = (np.array([getattr(one, name) for one in by_step])[step] for name in ("ln80", "ln95"))

    def bound(width: Numbers) -> Numbers:
        return np.asarray(np.minimum(np.maximum(power * np.exp(width), load["idle_w"]), load["limit_w"]))

    return ServingPower(power, bound(-near), bound(near), bound(-far), bound(far))


_BYTES = {"bfloat16": 2.0, "float16": 2.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0}


def bytes_per_param(weight_precision: str) -> float:
    """Return the bytes of a weight in a format, as benchmarks name it.

    Examples
    --------
    >>> bytes_per_param("bfloat16"), bytes_per_param("mxfp4")
    (2.0, 0.55)

    """
    word = weight_precision.strip().casefold()
    if word in ("mxfp4", "nvfp4", "fp4", "int4"):
        return 0.55  # four bits, and scales of blocks
    return _BYTES[word] if word in _BYTES else float(precision(word).input_bytes)


def serving(
    chip: str,
    task: str,
    model: str,
    *,
    params_total_b: float,
    batch: float,
    tokens_per_s: float,
    output_tokens: float,
    params_active_b: float | None = None,
    weight_precision: str = "bfloat16",
    chips: float = 1.0,
    replicas: float = 1.0,
    expert_parallel: float = 1.0,
    stages: float = 1.0,
    step_s: float | None = None,
    software_2024: bool = False,
) -> Serving:
    """Return one entry of work, from what a benchmark prints; the shape of the model by its name.

    Parameters
    ----------
    chip, task, model : str
        Names; a task that was not measured has no terms of its own.
    params_total_b, params_active_b : float
        Parameters in billions; active ones of a mixture.
    batch, tokens_per_s : float
        Mean batch and output tokens per second of all chips.
    output_tokens : float
        Mean length of an answer.
    step_s : float, s, optional
        Time between two tokens of a sequence; without it batch / token rate.
    software_2024 : bool
        The serving software is of 2024 or before.

    Examples
    --------
    >>> serving("h100", "llm-chat", "x", params_total_b=8, batch=8, tokens_per_s=800, output_tokens=100).step_s
    array([0.01])

    """
    shape = shape_of(model, params_total_b)
    active = params_active_b or shape.params_active_b or params_total_b
    values: dict[str, Any] = {
        "chip": chip,
        "task": task,
        "chips": chips,
        "replicas": replicas,
        "expert_parallel": expert_parallel,
        "stages": stages,
        "params_total_b": params_total_b,
        "params_active_b": active,
        "bytes_per_param": bytes_per_param(weight_precision),
        "layers": shape.layers,
        "kv_bytes_per_token": shape.kv_bytes_per_token,
        "experts": shape.experts,
        "experts_active": shape.experts_active,
        "batch": batch,
        "tokens_per_s": tokens_per_s,
        "output_tokens": output_tokens,
        "step_s": batch / tokens_per_s if step_s is None else step_s,
        "software_2024": float(software_2024),
    }
    texts = ("chip", "task")
    return Serving(
        **{key: np.array([value]) if key in texts else np.array([value], float) for key, value in values.items()}
    )


def joined(parts: Sequence[Serving]) -> Serving:
    """Return several entries as one."""
    return Serving(**{one.name: np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Serving)})
