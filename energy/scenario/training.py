"""A training run from a scenario: time and memory of the cost engine, watts and energy of the chips, money."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from energy import catalogue
from energy.cost.architecture import Architecture
from energy.cost.estimates import Estimate, Figure
from energy.cost.estimates import estimate as estimated
from energy.cost.profile import Profile
from energy.cost.requests import Request, clock_of, kind_of, usual_precision
from energy.errors import ScenarioError
from energy.power.boards import board_device, board_parts, is_at_plug
from energy.power.node import node_overhead
from energy.power.phases import Phases, phases
from energy.power.profile import board_watts, profile_power
from energy.power.training import usual_node
from energy.scenario.costing import Money, elapsed_of, money_of
from energy.scenario.meter import Meter, at_site, banded, energy_at_the_plug
from energy.scenario.specification import Prices, Scenario, Site

#: What the energy of chips leaves out, for people.
NOT_IN_CHIP_ENERGY = (
    "Energy of the chips is that of their boards: host, its memory, network, fans, power supplies (node overhead) and "
    "cooling (PUE) are not in it."
)
#: The same of a system whose watts are counted at its plug.
AT_ITS_PLUG = (
    "Energy is that of whole systems, or shares of one, at the plug: no node overhead comes on top; cooling (PUE) is "
    "not in it."
)
_BANDS = "Bands of energy: ln errors of time and of power in quadrature, as independent; slow runs draw less, so wide."


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """Figures of a run by name, with the cost engine's answer, watts by phase and the money.

    ``estimate`` is None where chip-hours and watts are given, so that nothing was estimated.
    ``power_phases``: share of the step, watts of a chip and loads by what the chips do; empty where not known.
    ``factors``: method, identifier, year and note of each factor of the grid that was used.
    """

    scenario: Scenario
    request: Request
    figures: dict[str, Figure]
    estimate: Estimate | None
    power_phases: dict[str, dict[str, float]]
    money: Money | None
    factors: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Return the content of ``estimate/1``."""
        said, found = self.scenario, self.estimate
        return {
            "work": "training",
            "model": said.work.model or said.work.config,
            "chip": self.request.chip,
            "chips": self.request.chips,
            "scenario": said.model_dump(mode="json", by_alias=False, exclude_defaults=True),
            "figures": {name: asdict(figure) for name, figure in self.figures.items()},
            "layout": {} if found is None else found.layout,
            "states_s": {} if found is None else found.states_s,
            "profile": {} if found is None else found.profile,
            "memory_gib": {} if found is None else found.memory_gib,
            "power_phases": self.power_phases,
            "factors": self.factors,
            "money": None if self.money is None else _money_document(self.money),
            "notes": self.notes,
        }


def _money_document(money: Money) -> dict[str, Any]:
    found = asdict(money)
    del found["cost"]  # it stands among the figures
    return found


def request_of(scenario: Scenario) -> Request:
    r"""Return the request to the cost engine that a scenario means.

    Raises
    ------
    ScenarioError
        When neither or both of model and configuration are given.
    UnknownNameError
        When the model or the chip is not known.

    Examples
    --------
    >>> from energy.scenario.specification import parse_scenario
    >>> text = "work: {model: Llama 3.1 8B}\nsystem: {chip: H100 SXM, chips: 8, network: 400 Gbit/s}"
    >>> found = request_of(parse_scenario(text))
    >>> found.chip, found.precision, found.outside_gbit_per_s_per_chip
    ('nvidia_h100_sxm5_80', 'bf16', 400.0)

    """
    work, system, software = scenario.work, scenario.system, scenario.software
    if (work.model is None) == (work.config is None):
        raise ScenarioError("Give either --model, a name of the catalogue, or --config, a config.json.")
    if software.offload_to is not None and software.offload is None:
        raise ScenarioError("--offload-to says where to, but not what: give --offload too.")
    shape = Architecture.of_model(work.model) if work.model else Architecture.of_config(Path(work.config or ""))
    chip = catalogue.chip(system.chip).chip_id
    return Request(
        architecture=shape,
        kind="adapters" if work.adapters else kind_of(shape),
        chip=chip,
        chips=system.chips,
        precision=software.precision or usual_precision(chip),
        framework=software.framework,
        sequence_length=work.sequence_length,
        global_batch_size=work.global_batch,
        micro_batch_size=software.micro_batch,
        tensor_parallel_size=software.tensor_parallel,
        pipeline_parallel_size=software.pipeline_parallel,
        virtual_stages=software.virtual_stages,
        data_parallel_size=software.data_parallel,
        context_parallel_size=software.context_parallel,
        expert_parallel_size=software.expert_parallel,
        zero_stage=software.zero_stage,
        recompute=software.recompute,
        schedule=software.schedule,
        offload=software.offload or "none",
        offload_to=software.offload_to or "host",
        expert_imbalance=work.expert_imbalance or 1.0,
        chips_per_node=system.chips_per_node,
        outside_gbit_per_s_per_chip=_network_gbit_per_s(scenario),
        power_limit_w=system.power_limit_w,
        is_lora=work.adapters,
        year=scenario.dates.year,
    )


def _network_gbit_per_s(scenario: Scenario) -> float | None:
    """Return the rate of the network one way for each chip, as given or of the named link; None: not said."""
    system = scenario.system
    if system.network_link is None:
        return None if system.network_bit_per_s is None else system.network_bit_per_s / 1e9
    if system.network_bit_per_s is not None:
        raise ScenarioError("Give either --network-gbit-per-s or --network-link, not both.")
    named = catalogue.link(system.network_link)
    rate = named.bandwidth_gb_per_s_per_direction
    if rate is None or named.per not in ("chip", "port", "adapter", "slot", "node"):
        raise ScenarioError(
            f"--network-link {named.link_id}: the catalogue has no rate of it for a chip or a node; give "
            "--network-gbit-per-s."
        )
    if named.per == "node" and system.chips_per_node is None:
        raise ScenarioError(f"--network-link {named.link_id} is of a node: give --chips-per-node, which share it.")
    return rate * 8.0 / (system.chips_per_node if named.per == "node" and system.chips_per_node else 1.0)


def training_run(scenario: Scenario, folder: Path = Path()) -> TrainingRun:
    r"""Return what a scenario of training takes.

    Parameters
    ----------
    scenario : Scenario
        With ``tokens`` for time, energy, emissions, water and money of the whole run.
    folder : Path
        What relative paths in it start from: the folder of its file.

    Returns
    -------
    TrainingRun
        Each figure with unit, bands, status and sources; one without a value says what to give.

    Raises
    ------
    EnergyError
        When the scenario contradicts itself, names are not known, or the run is not possible: one line.

    Examples
    --------
    >>> from energy.scenario.specification import parse_scenario
    >>> text = "work: {model: Llama 3.1 8B, tokens: 1e12}\nsystem: {chip: H100 SXM, chips: 64}"
    >>> run = training_run(parse_scenario(text))
    >>> run.figures["energy_chips"].unit, run.figures["cost"].reason[:12]
    ('kWh_chip', 'give --price')

    """
    request = request_of(scenario)
    figures: dict[str, Figure] = {}
    notes: list[str] = []
    found, split = _of_the_engine(scenario, request, figures, notes)
    money, meter = None, Meter()
    if "chip_hours" in figures:
        meter, money = _of_the_whole(scenario, request, figures, notes, folder)
    elif scenario.prices != Prices():
        money = money_of(scenario, request, figures, elapsed_of(scenario, request, 1.0))
    if money is not None:
        figures["cost"] = money.cost
    watts = figures["power_per_chip"].value
    if watts is not None:
        notes.append(_not_in_it(scenario, request, watts))
        notes += [] if found is None else [_BANDS]
    return TrainingRun(scenario, request, figures, found, split, money, meter.factors, tuple(dict.fromkeys(notes)))


def _of_the_engine(
    scenario: Scenario, request: Request, figures: dict[str, Figure], notes: list[str]
) -> tuple[Estimate | None, dict[str, dict[str, float]]]:
    """Add time and watts: as given where the scenario gives them, else of cost engine and power model."""
    hours, power = scenario.work.chip_hours, scenario.system.power_per_chip_w
    if hours is not None and power is not None:
        _add_given(scenario, request, figures)
        return None, {}
    found = estimated(request, tokens=scenario.work.tokens)
    figures |= found.figures
    notes += found.notes
    precision = str(found.layout["precision"])
    shares = Profile(**{name: np.array([value]) for name, value in found.profile.items()})
    watts = figures["power_per_chip"] = _power(request, shares, precision, notes)
    _add_given(scenario, request, figures)
    if figures["power_per_chip"].value is not None:
        by_token = figures["throughput_per_chip"].over(1.0, "s/token")
        figures["energy_chips_per_token"] = by_token.joined(figures["power_per_chip"], 1.0, "J_chip/token")
    is_modelled = power is None and watts.value is not None
    return found, _by_phase(request, shares, precision) if is_modelled else {}


def _add_given(scenario: Scenario, request: Request, figures: dict[str, Figure]) -> None:
    """Put chip-hours and watts that the scenario gives in place of the modelled ones: exact, as given."""
    hours, power = scenario.work.chip_hours, scenario.system.power_per_chip_w
    said = ("given in the scenario",)
    if hours is not None:
        days = hours / request.chips / 24.0
        figures["training_time"] = banded(days, days, days, "day", "given", said)
        figures["chip_hours"] = banded(hours, hours, hours, "h", "given", said)
    if power is not None:
        figures["power_per_chip"] = banded(power, power, power, "W_chip/chip", "given", said)


def _of_the_whole(
    scenario: Scenario, request: Request, figures: dict[str, Figure], notes: list[str], folder: Path
) -> tuple[Meter, Money]:
    """Add energy, emissions and water of the whole run, and return what its site and its money say."""
    hours, watts = figures["chip_hours"], figures["power_per_chip"]
    elapsed = elapsed_of(scenario, request, hours.known / request.chips)
    if elapsed.interruptions is not None:
        figures["elapsed_time"] = figures["training_time"].times(elapsed.factor, "day")
        notes += [*elapsed.notes, "Hours that interruptions cost draw as much as those of work."]
    figures["energy_chips"] = (
        Figure.not_known("kWh_chip", f"power of the chip: {watts.reason}")
        if watts.value is None
        else hours.joined(watts, elapsed.factor / 1000.0, "kWh_chip")
    )
    meter = _at_the_site(scenario, request, figures, hours.known / request.chips * elapsed.factor, folder)
    notes += meter.notes
    return meter, money_of(scenario, request, figures, elapsed)


def _not_in_it(scenario: Scenario, request: Request, power_chip_w: float) -> str:
    """Return what the energy of the chips leaves out, with the node overhead to give where none is given."""
    if is_at_plug(request.chip):
        return AT_ITS_PLUG
    if scenario.system.node_overhead is not None:
        return NOT_IN_CHIP_ENERGY
    found = _modelled_overhead(request, power_chip_w, scenario.system.cooling)
    return (
        f"{NOT_IN_CHIP_ENERGY} {found.sources[0]} take {found.known:.2f} times their boards (95 %: {found.low:.2f} to "
        f"{found.high:.2f}) at {power_chip_w:.0f} W each: --node-overhead {found.known:.2f} or modelled, not applied."
    )


def _modelled_overhead(request: Request, power_chip_w: float, cooling: str | None) -> Figure:
    """Return the node overhead of the usual node of a chip at some watts of each, cooled as said or as is usual."""
    count = int(request.chips_per_node or min(usual_node(request.chip).chip_count, request.chips))
    parts = board_parts(request.chip, count, cooling=cooling)
    found = node_overhead(parts, power_chip_w)
    named = f"Nodes of {parts.name} (usual {parts.host_class}, {parts.cooling})"
    value, low, high = found.node_overhead, found.node_overhead_low, found.node_overhead_high
    return banded(value, low, high, "kWh_it/kWh_chip", "estimate", (named,))


def overhead_given(scenario: Scenario) -> float | str | None:
    """Return the node overhead as given, ``modelled`` where that is asked for, or 1 at a plug; None: not said.

    Raises
    ------
    ScenarioError
        A node overhead is given for a system whose watts are those at its plug, or a cooling beside a given one.
    """
    said, cooling = scenario.system.node_overhead, scenario.system.cooling
    if cooling is not None and (isinstance(said, float) or is_at_plug(scenario.system.chip)):
        raise ScenarioError(
            f"system.cooling is {cooling}, which has no effect on a given node overhead: leave it out, or write "
            "node_overhead: modelled."
        )
    if is_at_plug(scenario.system.chip):
        if said not in (None, 1.0):
            raise ScenarioError(
                f"--node-overhead {said}: the watts of {scenario.system.chip} are those of a system at its plug, so "
                "nothing comes on top: leave it out."
            )
        return 1.0
    return said


def _overhead(scenario: Scenario, request: Request, power_chip_w: float) -> Figure | None:
    """Return the node overhead as a figure; None: not said."""
    said = overhead_given(scenario)
    if said is None:
        return None
    if isinstance(said, str):
        return _modelled_overhead(request, power_chip_w, scenario.system.cooling)
    return banded(said, said, said, "kWh_it/kWh_chip", "given", ("node overhead given in the scenario",))


def _at_the_site(
    scenario: Scenario, request: Request, figures: dict[str, Figure], elapsed_h: float, folder: Path
) -> Meter:
    """Add energy at the plug, and return what follows at the site; what is not named is not assumed."""
    watts, energy = figures["power_per_chip"].value, figures["energy_chips"]
    if watts is None:
        return Meter()
    overhead = _overhead(scenario, request, watts)
    site = scenario.site
    is_placed = site != Site() or scenario.supply is not None or bool(scenario.contracts)
    if overhead is None:
        lacking = "the node overhead (--node-overhead, a number or modelled)"
        return Meter(notes=(f"Energy at the meter is not told: {lacking} is not given.",) if is_placed else ())
    if not is_placed and scenario.system.node_overhead is None:
        return Meter()
    figures["node_overhead"] = overhead
    figures["energy_it"] = energy_at_the_plug(energy, overhead)
    if not is_placed:
        return Meter(notes=("Energy at the meter is not told: the PUE (--pue, or a facility) is not given.",))
    found = at_site(scenario, figures["energy_it"], elapsed_h, folder)
    figures |= found.figures
    return found


def _power(request: Request, shares: Profile, precision: str, notes: list[str]) -> Figure:
    """Return the watts of a chip."""
    most_w = board_device(request.chip).limit_w.value
    if request.power_limit_w is not None and request.power_limit_w > most_w:
        notes.append(
            f"The power limit of {request.power_limit_w:g} W is above the maximum of {request.chip}, {most_w:g} W, and "
            "changes nothing."
        )
    found = profile_power(request.chip, shares, precision, power_limit_w=request.power_limit_w, clock=clock_of(request))
    ends = (found.power_chip_low80_w, found.power_chip_high80_w, found.power_chip_low_w, found.power_chip_high_w)
    return Figure.with_ends(
        float(found.power_chip_w[0]),
        "W_chip/chip",
        [float(one[0]) for one in ends],
        found.status,
        (found.source,),
    )


_PHASES = ("compute", "memory_bound", "communication", "idle")


def _by_phase(request: Request, shares: Profile, precision: str) -> dict[str, dict[str, float]]:
    """Return share, watts and loads by phase, before any power limit."""
    split: Phases = phases(shares, clock=clock_of(request))
    watts = board_watts(request.chip, split.states, precision)[:, 0]
    compute, memory = np.asarray(split.states.compute)[:, 0], np.asarray(split.states.memory)[:, 0]
    return {
        name: {
            "share": float(split.shares[place, 0]),
            "power_chip_w": float(watts[place]),
            "compute_load": float(compute[place]),
            "memory_load": float(memory[place]),
        }
        for place, name in enumerate(_PHASES)
    }
