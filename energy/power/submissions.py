"""What a submission of MLPerf says of its system: accelerator, host, cooling, mode; and the node that it means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from energy.catalogue import _tables
from energy.catalogue.chips import Chip
from energy.catalogue.chips import chip as chip_of
from energy.errors import PowerError, UnknownNameError, did_you_mean
from energy.power.node_parts import NodeParts, catalogue_tdp_w, cooling_kind, host_class_of, term, usual_parts


@dataclass(frozen=True, slots=True)
class Submission:
    """What a submission of MLPerf says of its system; texts may be empty where the row is blank.

    ``power_mode`` is ``default`` or ``max_q`` (tuned for efficiency by limits of power or clocks). ``power_limit_w`` is
    the limit of a board that was set otherwise than usual.
    """

    suite: str
    accelerator: str
    chips_per_node: int
    benchmark: str
    scenario: str = "offline"
    nodes: int = 1
    host_cpu: str = ""
    cooling: str = ""
    power_mode: str = "default"
    round_name: str = ""
    power_limit_w: float | None = None


class Accelerator(NamedTuple):
    """An accelerator as submissions name it: its chip of the catalogue where it is one, and its maximum power."""

    name: str
    chip_id: str
    limit_w: float
    form: str
    source: str
    status: str


@cache
def _accelerators() -> Mapping[str, _tables.Row]:
    return MappingProxyType({row.text("accelerator"): row for row in _tables.rows("power_node_accelerators")})


def accelerator(name: str) -> Accelerator:
    """Return what is known of an accelerator that a submission names.

    Raises
    ------
    UnknownNameError
        Neither submissions nor the catalogue know it; the message gives the nearest names.
    PowerError
        Its maximum power is not known.

    Examples
    --------
    >>> accelerator("nvidia_h100_sxm").chip_id, accelerator("NVIDIA L4").limit_w
    ('nvidia_h100_sxm5_80', 72.0)

    """
    row = _accelerators().get(name)
    if row is not None and not row.text("chip_id"):
        return Accelerator(name, "", row.number("limit_w"), row.text("form"), row.text("source"), row.text("status"))
    try:
        known = chip_of(row.text("chip_id") if row is not None else name)
    except UnknownNameError as error:
        hint = did_you_mean(name, _accelerators())
        raise UnknownNameError(f"{error}{hint}") from None
    if known.tdp_w is None:
        raise PowerError(f"The catalogue has no maximum power of {known.chip_id}: its watts cannot be estimated.")
    return Accelerator(name, known.chip_id, known.tdp_w, _form(known), "chips.csv", known.status)


def _form(chip: Chip) -> str:
    return "soc" if chip.form_factor == "SoC" else "board"


_SOC_WORDS = ("snapdragon", "cortex", "carmel", "armv8")


def host_class(one: Submission, found: Accelerator) -> str:
    """Return the class of host by the name of its processor, and by its chips.

    Examples
    --------
    >>> a10 = accelerator("nvidia_a10")
    >>> host_class(Submission("inference", "nvidia_a10", 1, "bert", host_cpu="Intel Xeon D-2776NT"), a10)
    'edge_server'

    """
    words = one.host_cpu.casefold()
    if found.form == "soc" or any(word in words for word in _SOC_WORDS):
        return "embedded"
    if "ryzen" in words:
        return "desktop"
    if "xeon(r) d-" in words or "xeon d-" in words:
        return "edge_server"
    if found.chip_id:
        return host_class_of(chip_of(found.chip_id), one.chips_per_node)
    return "server_large" if one.chips_per_node >= 4 and found.limit_w >= 200.0 else "server"


_CORES = re.compile(r"(\d+)-core")
_TIERS = ("platinum", "gold", "silver")


class Processor(NamedTuple):
    """Maximum power of a processor, and the tier that it was told by; empty where the catalogue has it by name."""

    tdp_w: float
    tier: str


def processor(host_cpu: str) -> Processor | None:
    """Return the maximum power of a processor by its name: of the catalogue, else by its cores or its tier.

    None where the name says none of them.

    Examples
    --------
    >>> processor("EPYC 7763"), processor("")
    (Processor(tdp_w=280.0, tier=''), None)
    >>> processor("AMD EPYC 7282 16-Core Processor").tdp_w < processor("AMD EPYC 7713 64-Core Processor").tdp_w
    True

    """
    words = re.sub(r"\((r|tm)\)", "", host_cpu, flags=re.IGNORECASE).casefold()
    bare = _CORES.sub("", words.partition("@")[0]).replace("processor", "").replace("cpu", "").strip()
    exact = catalogue_tdp_w(bare)
    if exact is not None:
        return Processor(exact, "")
    cores = _CORES.search(words)
    if "epyc" in words and cores is not None:
        watts = term("cpu_tdp_base_w").value + float(cores[1]) * term("cpu_tdp_w_per_core").value
        return Processor(watts, "cores")
    tier = next((name for name in _TIERS if name in words), None)
    return None if tier is None else Processor(term(f"cpu_tdp_{tier}_w").value, tier)


#: Classes of hosts whose processors differ much; submissions name them.
NAMED_PROCESSOR = ("platform", "half_platform", "server", "server_large")
#: Any card: the parts of a host follow from its class, not from a card that is not in the catalogue.
_CARD = "nvidia_t4"


def system_parts(one: Submission) -> NodeParts:
    """Return the node of a submission: the usual parts of its class, with its cooling.

    Examples
    --------
    >>> system_parts(Submission("inference", "nvidia_h100_sxm", 8, "bert-99")).host_class
    'platform'

    """
    found = accelerator(one.accelerator)
    kind = host_class(one, found)
    cooling = cooling_kind(one.cooling) or ("passive" if kind == "embedded" else None)
    usual = usual_parts(found.chip_id or _CARD, one.chips_per_node, cooling=cooling, host_class=kind)
    named = processor(one.host_cpu) if kind in NAMED_PROCESSOR else None
    return usual if named is None else replace(usual, cpu_tdp_w=named.tdp_w)
