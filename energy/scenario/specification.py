"""What a scenario says: ``SCENARIO.yaml`` and the flags of ``energy estimate``, read once and checked as a whole.

Values carry their units as text; unknown keys are refused with the nearest. A key that is left out is not known: it is
searched, or what rests on it is not answered; nothing is taken for it in silence. Keys are grouped by what they
describe, so that a section (``site``, ``supply``) can grow without moving others.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from energy.errors import ScenarioError, did_you_mean
from energy.importers.yaml_text import parse_yaml, read_text
from energy.scenario.values import (
    KEY,
    Count,
    Date,
    Flag,
    Hour,
    NameOrKeys,
    Text,
    Whole,
    Year,
    amount,
    amount_or,
    one_of,
)

#: Ways to pay for chips; ``reserved`` is reserved for a year.
PRICES = ("on-demand", "reserved", "reserved-3y", "spot", "block", "owned")
_LEFT_OUT = "give a value, or leave the key out where nothing is known"
_OF_A_PART = ", since it divides a larger energy by a part of it"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Work(_Section):
    """What is trained: a model of the catalogue or a ``config.json``, on how many tokens, in which batches.

    ``chip_hours`` are those of a run that is known already: they take the place of the cost engine's time.
    """

    model: Text | None = None
    config: Text | None = None
    tokens: Annotated[float, amount("token")] | None = None
    chip_hours: Annotated[float, amount("chip*h")] | None = None
    sequence_length: Annotated[float, amount("token", whole=True)] | None = None
    global_batch: Count | None = None
    adapters: Flag = False
    expert_imbalance: Annotated[float, amount("", least=1.0)] | None = None


class System(_Section):
    """On what: chips, their network and cap, and what a node draws beyond its chips.

    ``power_per_chip`` is a mean that is known already, such as a published one: it takes the place of the model's.
    ``cooling`` is how servers give off their heat, for a modelled node overhead: fans inside are a part of it.
    """

    chip: Text
    chips: Annotated[float, amount("chip", whole=True)]
    chips_per_node: Annotated[float, amount("chip", whole=True)] | None = None
    network_bit_per_s: Annotated[float, amount("bit/s")] | None = Field(default=None, alias="network")
    network_link: Text | None = None
    power_per_chip_w: Annotated[float, amount("W_chip")] | None = Field(default=None, alias="power_per_chip")
    power_limit_w: Annotated[float, amount("W_chip")] | None = Field(default=None, alias="power_limit")
    cooling: Annotated[str, one_of("air", "liquid", "immersion", "passive")] | None = None
    node_overhead: (
        Annotated[float | str, amount_or("modelled", "kWh_it/kWh_chip", least=1.0, why=_OF_A_PART)] | None
    ) = None


class Software(_Section):
    """With what, and how the work is laid over the chips; sizes that are left out are searched."""

    framework: Text = ""
    precision: Text | None = None
    micro_batch: Count | None = None
    tensor_parallel: Count | None = None
    pipeline_parallel: Count | None = None
    virtual_stages: Count | None = None
    data_parallel: Count | None = None
    context_parallel: Count | None = None
    expert_parallel: Count | None = None
    zero_stage: Annotated[float, amount("", whole=True, least=0.0, most=3.0)] | None = None
    recompute: Text | None = None
    schedule: Text | None = None
    offload: Text | None = None
    offload_to: Text | None = None


class Published(_Section):
    """Whose printed PUE and WUE hold: an operator's of a region and year."""

    provider: Text
    region: Text
    year: Whole


class Site(_Section):
    """Where: what the site draws beyond its IT, its water, and the grid that it buys from.

    ``facility`` and ``weather`` take what ``site.yaml`` of a ledger takes: a name, a file, or keys. PUE and WUE are
    either given, or published, or follow from the facility's cooling and power chain in its weather.
    """

    pue: Annotated[float, amount("kWh_facility/kWh_it", least=1.0, why=_OF_A_PART)] | None = None
    wue_withdrawn_l_per_kwh_it: Annotated[float, amount("L/kWh_it", least=0.0)] | None = Field(
        default=None, alias="wue_withdrawn"
    )
    wue_consumed_l_per_kwh_it: Annotated[float, amount("L/kWh_it", least=0.0)] | None = Field(
        default=None, alias="wue_consumed"
    )
    grid_water_l_per_kwh_facility: Annotated[float, amount("L/kWh_facility", least=0.0)] | None = Field(
        default=None, alias="grid_water"
    )
    facility: NameOrKeys | None = None
    weather: NameOrKeys | None = None
    published: Published | None = None
    zone: Text | None = None
    residual_zone: Text | None = None
    hourly_zone: Text | None = None
    boundary: Annotated[str, one_of("direct", "lifecycle")] | None = None
    factor_policy: Annotated[str, one_of("exact", "nearest earlier", "nearest any")] | None = None
    intensity_gco2e_per_kwh_facility: Annotated[float, amount("gCO2e/kWh_facility", least=0.0)] | None = Field(
        default=None, alias="intensity"
    )
    market: Text | None = None
    reporter: Text | None = None


class Contract(_Section):
    """A certificate, contract or supplier's rate that covers energy of the run, with what its quality rests on."""

    id: Text
    kind: Text
    energy_kwh_facility: Annotated[float, amount("kWh_facility")] = Field(alias="energy")
    intensity_gco2e_per_kwh_facility: Annotated[float, amount("gCO2e/kWh_facility", least=0.0)] = Field(
        alias="intensity"
    )
    vintage_from: datetime.date
    vintage_to: datetime.date
    registry: Text | None = None
    cancellation_id: Text | None = None
    beneficiary: Text | None = None
    conveys_rate: Flag | None = None
    is_sole_claim: Flag | None = None
    is_delivered: Flag | None = None
    goes_to_reporter: Flag | None = None


class Prices(_Section):
    """How chips are paid for. Rates of interruptions are of one machine; times are of the whole job."""

    kind: Annotated[str, one_of(*PRICES)] | None = None
    provider: Text | None = None
    region: Text | None = None
    undated: Flag = False
    chip_hour_usd: Annotated[float, amount("USD/chip/h")] | None = Field(default=None, alias="chip_hour")
    purchase_usd_per_chip: Annotated[float, amount("USD/chip")] | None = Field(default=None, alias="purchase")
    lifetime_h: Annotated[float, amount("h")] | None = Field(default=None, alias="lifetime")
    in_use: Annotated[float, amount("", most=1.0)] | None = None
    electricity_zone: Text | None = None
    electricity_consumer: Text | None = None
    electricity_usd_per_kwh_facility: Annotated[float, amount("USD/kWh_facility")] | None = Field(
        default=None, alias="electricity"
    )
    interruptions_per_day: Annotated[float, amount("")] | None = None
    checkpoint_time_s: Annotated[float, amount("s")] | None = Field(default=None, alias="checkpoint_time")
    checkpoint_byte_per_s: Annotated[float, amount("byte/s")] | None = Field(default=None, alias="checkpoint_rate")
    restart_time_s: Annotated[float, amount("s", least=0.0)] | None = Field(default=None, alias="restart_time")


class Dates(_Section):
    """When it runs (software gets faster), its first hour, and the date of the prices.

    With ``start`` the hours of the run itself count; with ``year`` alone it stands for the mean of all hours of it.
    """

    year: Year | None = None
    start: Hour | None = None
    prices: Date | None = None


class Scenario(_Section):
    """The whole: one section for each thing that it describes, and what it is called and from where."""

    name: Text | None = None
    source: Text | None = None
    work: Work
    system: System
    software: Software = Software()
    site: Site = Site()
    supply: NameOrKeys | None = None
    contracts: tuple[Contract, ...] = ()
    prices: Prices = Prices()
    dates: Dates = Dates()


#: Keys that hold a list of groups, with what one of them is.
_LISTS: dict[str, type[_Section]] = {"contracts": Contract}


def read_scenario(path: Path, overrides: Mapping[str, tuple[Any, str]] | None = None) -> Scenario:
    """Read and check a scenario file.

    Parameters
    ----------
    path : Path
        YAML, UTF-8. A ``config`` in it is looked for beside the file.
    overrides : mapping, optional
        Key with its section -> (value, what to call it in messages); they take the place of the file's.

    Raises
    ------
    ScenarioError
        One line: file, key, value, rule, remedy.
    """
    if path.is_dir():
        raise ScenarioError(f"{path} is a folder: give a scenario file, such as {path / 'scenario.yaml'}.")
    if not path.exists():
        near = sorted(one.name for one in path.parent.glob("*.y*ml")) if path.parent.is_dir() else []
        raise ScenarioError(f"{path}: no such file.{did_you_mean(path.name, near)}")
    scenario = parse_scenario(read_text(path, ScenarioError), path.name, overrides)
    config = scenario.work.config
    if config is None or "work.config" in (overrides or {}):
        return scenario
    return scenario.model_copy(update={"work": scenario.work.model_copy(update={"config": str(path.parent / config)})})


def parse_scenario(
    text: str, file_name: str = "scenario", overrides: Mapping[str, tuple[Any, str]] | None = None
) -> Scenario:
    r"""Parse and check the text of a scenario file; see :func:`read_scenario`.

    Examples
    --------
    >>> found = parse_scenario("work: {model: Llama 3.1 8B, tokens: 1e12 token}\nsystem: {chip: H100 SXM, chips: 64}")
    >>> found.work.tokens, found.system.chips
    (1000000000000.0, 64.0)

    """
    data = parse_yaml(text, file_name, ScenarioError)
    if not isinstance(data, dict):
        raise ScenarioError(
            f"{file_name}: no scenario. Write keys under work: and system:, such as {', '.join(_keys(Work)[:3])}."
        )
    return _checked(data, file_name, overrides or {})


def parse_keys(data: Mapping[str, Any], file_name: str = "scenario") -> Scenario:
    """Check the keys of a scenario that were read already; see :func:`read_scenario`.

    Examples
    --------
    >>> parse_keys({"work": {"model": "Llama 3.1 8B"}, "system": {"chip": "H100 SXM", "chips": 8}}).system.chips
    8.0

    """
    return _checked(dict(data), file_name, {})


def scenario_of(overrides: Mapping[str, tuple[Any, str]]) -> Scenario:
    """Return the scenario of flags alone; see :func:`read_scenario`.

    Examples
    --------
    >>> scenario_of({"work.model": ("Llama 3.1 8B", "--model"), "system.chip": ("H100 SXM", "--chip"),
    ...              "system.chips": ("0", "--chips")})
    Traceback (most recent call last):
    ...
    energy.errors.ScenarioError: --chips is 0: give a whole number, 1 or more.

    """
    return _checked({}, "", overrides)


def field_of(key: str) -> tuple[str, str]:
    """Return the section and the field that a key with its section names; the field is empty for a key of its own.

    Examples
    --------
    >>> field_of("system.power_limit"), field_of("supply")
    (('system', 'power_limit_w'), ('supply', ''))

    """
    section, _, name = key.partition(".")
    if not name:
        return section, ""
    model = dict(_sections())[section]
    return section, next(field for field, info in model.model_fields.items() if (info.alias or field) == name)


def _checked(data: dict[Any, Any], file_name: str, overrides: Mapping[str, tuple[Any, str]]) -> Scenario:
    whole = {key: dict(part) if isinstance(part, dict) else part for key, part in data.items()}
    _refuse_keys(whole, file_name)
    for section in ("work", "system"):
        whole.setdefault(section, {})
    for place, (value, _) in overrides.items():
        section, _, key = place.partition(".")
        if key:
            whole.setdefault(section, {})[key] = value
        else:
            whole[section] = value
    if whole["work"].get("model") is not None and "work.config" in overrides and "work.model" not in overrides:
        del whole["work"]["model"]  # a flag takes the place of what the file says of the same thing
    if whole["work"].get("config") is not None and "work.model" in overrides and "work.config" not in overrides:
        del whole["work"]["config"]
    try:
        return Scenario.model_validate(whole)
    except ValidationError as error:
        raise ScenarioError(_first_problem(error, file_name, overrides)) from None


def _refuse_keys(data: dict[Any, Any], file_name: str) -> None:
    """Raise for a key that is none, or a section that is no group of keys: the first one wins over other faults."""
    sections = dict(_sections())
    for name in _LISTS:
        if name in data and not isinstance(data[name], list):
            raise ScenarioError(f"{file_name}: {name}: give a list, each entry after a dash.")
    for key, part in data.items():
        if key not in Scenario.model_fields:
            elsewhere = [f"{name}.{key}" for name, model in sections.items() if key in _keys(model)]
            moved = f" Write it under {elsewhere[0].partition('.')[0]}:." if elsewhere else ""
            raise ScenarioError(
                f"{file_name}: {key}: no such key.{moved or did_you_mean(str(key), Scenario.model_fields)}"
            )
        if part is None and key not in sections:
            raise ScenarioError(f"{file_name}: {key} is empty: {_LEFT_OUT}.")
        if key not in sections:
            continue
        if not isinstance(part, dict):
            raise ScenarioError(f"{file_name}: {key}: give keys under it, such as {_keys(sections[key])[0]}.")
        for inner, value in part.items():
            known = _keys(sections[key])
            if value is None and inner in known:
                raise ScenarioError(f"{file_name}: {key}.{inner} is empty: {_LEFT_OUT}.")
            if inner not in known:
                other = [name for name, model in sections.items() if inner in _keys(model)]
                moved = f" It stands under {other[0]}." if other else did_you_mean(str(inner), known)
                raise ScenarioError(f"{file_name}: {key}.{inner}: no such key.{moved}")


def _first_problem(error: ValidationError, file_name: str, overrides: Mapping[str, tuple[Any, str]]) -> str:
    # what is written wrongly says more than what is not written
    first = min(error.errors(), key=lambda item: item["type"] == "missing")
    place = ".".join(str(part) for part in first["loc"])
    where = f"{file_name}: " if file_name else ""
    if first["type"] == "missing":
        words = {"system.chip": "the chip", "system.chips": "the number of chips"}
        flag = {"system.chip": ", or --chip", "system.chips": ", or --chips"}.get(place, "")
        return f"{where}{words.get(place, place)} is missing: give {place} in a scenario file{flag}."
    if first["type"] == "extra_forbidden":
        known = _keys(_LISTS.get(str(first["loc"][0]), Published))
        return f"{where}{place}: no such key.{did_you_mean(str(first['loc'][-1]), known)}"
    shown = overrides[place][1] if place in overrides else f"{where}{place}"
    message = first["msg"].removeprefix("Value error, ")
    message = message.replace(KEY, shown, 1) if KEY in message else f"{shown}: {message}."
    return " ".join(message.split())[:400]


def _sections() -> Iterator[tuple[str, type[_Section]]]:
    for name, field in Scenario.model_fields.items():
        kind = field.annotation
        if isinstance(kind, UnionType):
            kind = get_args(kind)[0]
        if isinstance(kind, type) and issubclass(kind, _Section):
            yield name, kind


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]
