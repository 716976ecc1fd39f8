"""A scenario: what somebody thinks of running, from a file or from flags, and what it takes.

Names are loaded when they are first used (PEP 562), so importing this package reads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from energy.lazy import attributes

if TYPE_CHECKING:
    from energy.scenario.specification import Scenario, parse_scenario, read_scenario, scenario_of
    from energy.scenario.training import TrainingRun, request_of, training_run

_HOMES = {
    "specification": ("Scenario", "parse_scenario", "read_scenario", "scenario_of"),
    "training": ("TrainingRun", "request_of", "training_run"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Scenario",
    "TrainingRun",
    "parse_scenario",
    "read_scenario",
    "request_of",
    "scenario_of",
    "training_run",
]

__getattr__, __dir__ = attributes(__name__, _HOME_OF)
