"""The views and tables that can be asked, each column with its unit, its meaning and whether it may be summed."""

from __future__ import annotations

from functools import cache
from html import escape

from energy.schema import TABLES, Field, Table


@cache
def html() -> str:
    """Return the browser of views and tables as HTML: each is closed until it is opened.

    Examples
    --------
    >>> "<code>energy_facility_kwh</code> kWh_facility" in html()
    True

    """
    views = [table for table in TABLES.values() if table.kind == "view"]
    others = [table for table in TABLES.values() if table.kind != "view"]
    more = "".join(_table(table) for table in others)
    return (
        f'<div class="en en-schema">{"".join(_table(table) for table in views)}'
        f"<details><summary>Tables below the views</summary>{more}</details></div>"
    )


def _table(table: Table) -> str:
    name = table.name if table.layer == "main" else table.full_name
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    columns = "".join(_column(column.field) for column in table.columns)
    return (
        f"<details><summary><code>{escape(name)}</code></summary><p>One row: {escape(table.row)}.</p>{note}"
        f"<dl>{columns}</dl></details>"
    )


def _column(field: Field) -> str:
    return f"<dt><code>{escape(field.name)}</code> {escape(unit_words(field))}</dt><dd>{escape(meaning(field))}</dd>"


def unit_words(field: Field) -> str:
    """Return the unit of a column, or its type where it has none.

    Parameters
    ----------
    field : Field
        Of the field registry.
    """
    if field.unit is None:
        kind = {"VARCHAR": "text", "BIGINT": "key", "TIMESTAMPTZ": "instant, UTC"}
        return kind.get(field.type, field.type.lower())
    return field.unit or "count or ratio"


def meaning(field: Field) -> str:
    """Return what a column means, and whether it may be summed.

    Parameters
    ----------
    field : Field
        Of the field registry.
    """
    if field.additive == "not a number":
        return field.meaning
    return f"{field.meaning} May be summed: {field.additive}."
