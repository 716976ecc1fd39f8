"""What a sweep says: one scenario, the keys that move, limits, and what is to be small; ``SWEEP.yaml``.

``axes`` are crossed; keys under ``together`` move in step. Every value is read by the rule of its field, so a sweep and
a scenario file cannot differ in what they take.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from energy.errors import ScenarioError, did_you_mean
from energy.importers.yaml_text import parse_yaml, read_text
from energy.scenario.figure_units import UNITS
from energy.scenario.specification import Scenario, field_of, parse_keys
from energy.units import read

_KEYS = ("name", "base", "axes", "together", "limits", "best", "pareto")
_RANGE = ("from", "to", "steps", "scale")
_NUMBER = re.compile(r"\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)")
_LIMIT = re.compile(r"\s*([a-z_0-9]+)\s*(<=|>=)\s*(.+)")
#: More rows than this are no sweep that anyone reads; it also bounds the time.
MOST_ROWS = 20_000_000
_MOST_VALUES = 100_000


@dataclass(frozen=True, slots=True)
class Axis:
    """Keys that move in step: of each key the values as written."""

    values: dict[str, tuple[Any, ...]]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure may at most (or must at least) be, in its own unit."""

    figure: str
    is_most: bool
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """A checked sweep.

    ``base`` holds the keys of the scenario as written, ``folder`` is where its paths start from, ``read`` has the
    values of each key that moves as the scenario reads them: numbers in the unit of their field.
    """

    name: str
    base: dict[str, Any]
    folder: Path
    axes: tuple[Axis, ...]
    limits: tuple[Limit, ...]
    best: str | None
    pareto: tuple[str, ...]
    text: str
    read: dict[str, tuple[Any, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(len(axis) for axis in self.axes)

    def __len__(self) -> int:
        return math.prod(self.shape)

    def scenario(self, at: tuple[int, ...]) -> Scenario:
        """Return the scenario at one place of each axis.

        Raises
        ------
        ScenarioError
            The values contradict each other.
        """
        moved = {
            key: values[place] for axis, place in zip(self.axes, at, strict=True) for key, values in axis.values.items()
        }
        return parse_keys(with_keys(self.base, moved), self.name)


def with_keys(base: Mapping[str, Any], moved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a scenario with others in their place; None takes a key away.

    Examples
    --------
    >>> with_keys({"site": {"pue": 1.2}}, {"site.pue": 1.1, "dates.year": 2024})
    {'site': {'pue': 1.1}, 'dates': {'year': 2024}}

    """
    whole = {key: dict(part) if isinstance(part, dict) else part for key, part in base.items()}
    for place, value in moved.items():
        section, _, key = place.partition(".")
        if key:
            part = whole.setdefault(section, {})
            if isinstance(part, dict) and value is None:
                part.pop(key, None)
            elif isinstance(part, dict):
                part[key] = value
        else:
            whole[section] = value
    return whole


def read_sweep(path: Path) -> Sweep:
    """Read and check a sweep file.

    Raises
    ------
    ScenarioError
        One line: file, key, value, rule, remedy.
    """
    if not path.is_file():
        near = sorted(one.name for one in path.parent.glob("*.y*ml")) if path.parent.is_dir() else []
        raise ScenarioError(f"{path}: no such file.{did_you_mean(path.name, near)}")
    return parse_sweep(read_text(path, ScenarioError), path.name, path.parent)


def parse_sweep(text: str, file_name: str = "sweep", folder: Path = Path()) -> Sweep:
    r"""Parse and check the text of a sweep; see :func:`read_sweep`.

    Examples
    --------
    >>> found = parse_sweep('''
    ... base:
    ...   work: {model: Llama 3.1 8B, tokens: 1e12}
    ...   system: {chip: H100 SXM, chips: 64}
    ... axes:
    ...   system.chips: {from: 64, to: 512, steps: 4, scale: log}
    ...   software.precision: [bf16, fp8]
    ... limits: [training_time <= 30 day]
    ... best: energy_chips
    ... ''')
    >>> len(found), found.axes[0].values["system.chips"], found.limits[0].value
    (8, (64, 128, 256, 512), 30.0)

    """
    data = parse_yaml(text, file_name, ScenarioError)
    if not isinstance(data, dict):
        raise ScenarioError(f"{file_name}: no sweep. Write base:, and axes: with the keys that move.")
    wrong = next((key for key in data if key not in _KEYS), None)
    if wrong is not None:
        raise ScenarioError(f"{file_name}: {wrong}: no such key.{did_you_mean(str(wrong), _KEYS)}")
    base, where = _base(data.get("base"), file_name, folder)
    axes = _axes(data, file_name)
    rows = math.prod(len(axis) for axis in axes)
    if rows > MOST_ROWS:
        raise ScenarioError(f"{file_name}: {rows:,} rows; at most {MOST_ROWS:,}: give fewer values to an axis.")
    best, pareto = data.get("best"), data.get("pareto") or []
    if not isinstance(pareto, list):
        raise ScenarioError(f"{file_name}: pareto: give a list of figures, such as [training_time, cost].")
    moving = [key for axis in axes for key in axis.values]
    for name in ([] if best is None else [best]) + pareto:
        if name not in moving:
            check_figure(name, file_name)
    limits = data.get("limits") or []
    if not isinstance(limits, list):
        raise ScenarioError(f"{file_name}: limits: give a list, such as [training_time <= 30 day].")
    found = Sweep(
        str(data.get("name") or file_name),
        base,
        where,
        tuple(axes),
        tuple(limit_of(str(one), file_name) for one in limits),
        best,
        tuple(pareto),
        text,
        {},
    )
    return replace(found, read=_read_values(found, file_name))


def _base(said: Any, file_name: str, folder: Path) -> tuple[dict[str, Any], Path]:
    if isinstance(said, str):
        path = folder / said
        if not path.is_file():
            raise ScenarioError(f"{file_name}: base: {said} is no file beside the sweep: put it there, or write keys.")
        said, folder = parse_yaml(read_text(path, ScenarioError), path.name, ScenarioError), path.parent
    if not isinstance(said, dict):
        raise ScenarioError(f"{file_name}: base is missing: name a scenario file, or write its keys under base:.")
    return said, folder


def _axes(data: Mapping[str, Any], file_name: str) -> list[Axis]:
    said, together = data.get("axes") or {}, data.get("together") or []
    if not isinstance(said, dict) or not isinstance(together, list):
        raise ScenarioError(f"{file_name}: axes: give keys with lists of values; together: a list of such groups.")
    axes = [Axis({str(key): _values(str(key), values, file_name)}) for key, values in said.items()]
    for group in together:
        if not isinstance(group, dict) or not group:
            raise ScenarioError(f"{file_name}: together: give groups of keys with lists of one length.")
        lists = {str(key): _values(str(key), values, file_name) for key, values in group.items()}
        sizes = {key: len(values) for key, values in lists.items()}
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{key} {count}" for key, count in sizes.items())
            raise ScenarioError(f"{file_name}: together: lists have different lengths ({shown}): give one each.")
        axes.append(Axis(lists))
    if not axes:
        raise ScenarioError(f"{file_name}: no axes: name the keys that move, such as system.chips: [64, 128].")
    every = [key for axis in axes for key in axis.values]
    twice = next((key for key in every if every.count(key) > 1), None)
    if twice is not None:
        raise ScenarioError(f"{file_name}: {twice} moves twice: name it once.")
    return axes


def _values(key: str, said: Any, file_name: str) -> tuple[Any, ...]:
    if isinstance(said, dict):
        said = _steps(key, said, file_name)
    if not isinstance(said, list) or not said:
        raise ScenarioError(f"{file_name}: {key}: give a list of values, or from, to and steps.")
    if len(said) > _MOST_VALUES:
        raise ScenarioError(f"{file_name}: {key} has {len(said):,} values: give at most {_MOST_VALUES:,}.")
    return tuple(said)


def _steps(key: str, said: Mapping[str, Any], file_name: str) -> list[Any]:
    """Return evenly spaced values, in steps or in ratios; of keys of whole numbers the nearest ones, each once."""
    wrong = next((one for one in said if one not in _RANGE), None)
    if wrong is not None:
        raise ScenarioError(f"{file_name}: {key}.{wrong}: no such key.{did_you_mean(str(wrong), _RANGE)}")
    lacking = next((one for one in _RANGE[:3] if one not in said), None)
    if lacking is not None:
        raise ScenarioError(f"{file_name}: {key}: {lacking} is missing: give from, to and steps.")
    ends = [_NUMBER.fullmatch(str(said[name])) for name in ("from", "to")]
    count, scale = said["steps"], said.get("scale", "linear")
    if ends[0] is None or ends[1] is None or ends[0][2] != ends[1][2]:
        raise ScenarioError(f"{file_name}: {key}: from and to are numbers in the same unit, such as 300 W and 700 W.")
    if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= _MOST_VALUES:
        raise ScenarioError(f"{file_name}: {key}.steps is {count}: give a whole number, 2 to {_MOST_VALUES:,}.")
    low, high = float(ends[0][1]), float(ends[1][1])
    if scale not in ("linear", "log") or (scale == "log" and min(low, high) <= 0):
        raise ScenarioError(f"{file_name}: {key}.scale is {scale}: give linear, or log between numbers above zero.")
    shares = [place / (count - 1) for place in range(count)]
    values = [low * (high / low) ** x if scale == "log" else low + (high - low) * x for x in shares]
    unit = ends[0][2]
    if _is_whole(key):
        whole = dict.fromkeys(round(one) for one in values)
        return [f"{one} {unit}" for one in whole] if unit else list(whole)
    return [f"{one:.12g} {unit}" if unit else float(f"{one:.12g}") for one in values]


def _is_whole(key: str) -> bool:
    """Return whether a key takes whole numbers only."""
    section, _, name = key.partition(".")
    part = Scenario.model_json_schema(by_alias=True, mode="validation")["$defs"].get(section.capitalize(), {})
    field = part.get("properties", {}).get(name, {})
    return any(one.get("type") == "integer" for one in (field, *field.get("anyOf", ())))


def limit_of(text: str, file_name: str = "--limit") -> Limit:
    """Return a limit from words such as ``cost <= 5e6 USD``.

    Raises
    ------
    ScenarioError
        It is no limit, the figure is not known, or the unit is another kind.

    Examples
    --------
    >>> limit_of("training_time <= 48 h").value
    2.0

    """
    found = _LIMIT.fullmatch(text)
    if found is None:
        raise ScenarioError(
            f"{file_name}: {text!r} is no limit: write a figure, <= or >=, and an amount with its unit."
        )
    name, sign, amount = found.groups()
    check_figure(name, file_name)
    value = float(read(amount, UNITS[name], field=name).value.magnitude)
    return Limit(name, sign == "<=", value, " ".join(text.split()))


def check_figure(name: Any, file_name: str) -> None:
    """Raise for what is no figure of a run; the message gives the nearest."""
    if name not in UNITS:
        raise ScenarioError(f"{file_name}: {name}: no such figure.{did_you_mean(str(name), UNITS)}")


def _read_values(sweep: Sweep, file_name: str) -> dict[str, tuple[Any, ...]]:
    """Return every value as the rule of its field reads it."""
    firsts = (0,) * len(sweep.axes)
    found: dict[str, list[Any]] = {key: [] for axis in sweep.axes for key in axis.values}
    for place, axis in enumerate(sweep.axes):
        for at in range(len(axis)):
            try:
                scenario = sweep.scenario((*firsts[:place], at, *firsts[place + 1 :]))
            except ScenarioError as error:
                raise ScenarioError(f"{file_name}: {str(error).removeprefix(f'{sweep.name}: ')}") from None
            for key in axis.values:
                section, field = field_of(key)
                part = getattr(scenario, section)
                found[key].append(getattr(part, field) if field else part)
    return {key: tuple(values) for key, values in found.items()}
