"""``energy explain``: the way back of one value of the report to the lines and factors that made it."""

from __future__ import annotations

from decimal import localcontext

from energy.errors import ReportError, UnknownNameError, did_you_mean
from energy.report.build import build_from
from energy.report.facts import QuarterFacts, load_facts
from energy.report.model import Cell
from energy.report.period import Reader, held_quarters, parse_quarter
from energy.report.sections._chain import Step, emission_chain, energy_chain, result_step

_PRECISION = 60
_ENERGY_UNITS = {"kWh_chip": "energy_chip", "kWh_it": "energy_it", "kWh_facility": "energy_facility"}
_SHARE_FROM = "Section 5, chip-hours by use"


def explain(cell_id: str, reader: Reader, quarter: str | None = None) -> list[Step]:
    """Return the steps that lead to a value.

    Parameters
    ----------
    cell_id : str
        Id of the value, such as ``front.energy_facility`` or ``emissions.by_project.llm-pretrain.location``.
    reader : Reader
        The ledger.
    quarter : str, optional
        As ``2026Q1``; the latest that the ledger holds when absent.

    Returns
    -------
    list of Step
        First the readings by tier, last the value itself.

    Raises
    ------
    UnknownNameError
        When the report has no such value; the nearest ids are given.
    ReportError
        When the quarter has no rows.
    """
    held = held_quarters(reader)
    if not held.quarters and quarter is None:
        raise ReportError("The ledger holds no rows at all; ingest a file first.")
    wanted = parse_quarter(quarter or held.quarters[-1], held.quarters)
    if wanted.key not in held.quarters:
        raise ReportError(held.empty_message(wanted))
    with localcontext() as context:
        context.prec = _PRECISION
        facts = load_facts(reader, wanted, held)
        cells = {cell.id: cell for cell in build_from(facts).cells()}
        if cell_id not in cells:
            raise UnknownNameError(
                f"No value named {cell_id} in the report of {wanted.text}.{did_you_mean(cell_id, cells)}"
            )
        return steps_of(cells[cell_id], facts)


def steps_of(cell: Cell, facts: QuarterFacts) -> list[Step]:
    """Return the steps of a cell: by its selection of lines where it is a sum of lines, else by its table."""
    if cell.selection is not None and cell.value == 0 and not _has_lines(cell, facts):
        return [result_step(cell.id, cell, "No line of the ledger belongs here: an exact 0")]
    if cell.selection is not None and cell.unit == "kgCO2e":
        chosen = dict(cell.selection)
        method = chosen.pop("method")
        return emission_chain(facts, tuple(chosen.items()), method)
    if cell.selection is not None and cell.unit in _ENERGY_UNITS:
        return energy_chain(facts, cell.selection, _ENERGY_UNITS[cell.unit])
    if cell.id.startswith("front."):
        return _front_steps(cell, facts)
    block = cell.id.rsplit(".", 2)[0]
    return [result_step(cell.id, cell, f"A value of the table {block}, as the ledger holds it")]


def _has_lines(cell: Cell, facts: QuarterFacts) -> bool:
    return bool(facts.energy_rows(tuple(pair for pair in cell.selection or () if pair[0] != "method")))


def _front_steps(cell: Cell, facts: QuarterFacts) -> list[Step]:
    name = cell.id.removeprefix("front.")
    if name == "pue":
        return [
            *energy_chain(facts, ()),
            result_step("Facility energy over IT energy", cell, "Quotient of the two sums"),
        ]
    used = facts.chip_hours((("owner_kind", "project"),))
    hours = result_step("Chip-hours given to projects", Cell("", used, "chip*h"), _SHARE_FROM)
    if name == "intensity_energy":
        return [*energy_chain(facts, ()), hours, result_step("Facility energy per chip-hour", cell, "Quotient")]
    if name.startswith("intensity_"):
        method = name.removeprefix("intensity_")
        return [*emission_chain(facts, (), method), hours, result_step("Emissions per chip-hour", cell, "Quotient")]
    return [result_step(name.replace("_", " "), cell, _SHARE_FROM)]
