"""One report model, three writers: HTML for people, JSON and CSV for machines.

``build`` computes every value once; ``write`` only sets them. ``verify`` recomputes a written report, ``explain``
gives the way back of one value.
"""

from __future__ import annotations

from energy.report.build import FORMATS, build, write
from energy.report.explain import explain
from energy.report.model import SCHEMA, Report
from energy.report.period import Held, Quarter, Reader, held_quarters, parse_quarter
from energy.report.sections._chain import Step
from energy.report.verify import Difference, verify

__all__ = [
    "FORMATS",
    "SCHEMA",
    "Difference",
    "Held",
    "Quarter",
    "Reader",
    "Report",
    "Step",
    "build",
    "explain",
    "held_quarters",
    "parse_quarter",
    "verify",
    "write",
]
