"""The report as a workbook: rows of the ledger, live formulas from rows to totals, and checks.

``rows`` asks the ledger, ``cells`` writes values, ``formulas`` writes the formulas, and each other module makes the
sheets of its name. Imports xlsxwriter only when a workbook is written.
"""

from energy.report.workbook.book import content

__all__ = ["content"]
