"""The sections, in one list: a new section is a module with ``NUMBER, ID, TITLE, build`` and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from energy.report.facts import QuarterFacts
from energy.report.model import Section
from energy.report.sections import (
    assurance,
    boundary,
    data_quality,
    emissions,
    energy_section,
    factors,
    front,
    glossary,
    scope2,
    water,
)

Builder: TypeAlias = Callable[[QuarterFacts], Section | None]

# Numbers follow the contents of the report; 4, 9, 12 and 13 are free for later versions.
SECTIONS: tuple[Builder, ...] = (
    front.build,
    boundary.build,
    data_quality.build,
    energy_section.build,
    emissions.build,
    scope2.build,
    water.build,
    factors.build,
    assurance.build,
    glossary.build,
)

__all__ = ["SECTIONS", "Builder"]
