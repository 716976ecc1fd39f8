"""DDL and comments, generated from the declarations."""

from __future__ import annotations

import hashlib
import json

from energy.schema.model import Column, Table


def comment_json(column: Column) -> str:
    """Return the column's comment: one JSON object with unit, meaning, source, additive.

    The comment is the truth about a column's unit; the suffix of its name must agree with it.
    """
    field = column.field
    return json.dumps(
        {"unit": field.unit, "meaning": field.meaning, "source": column.source or None, "additive": field.additive},
        ensure_ascii=False,
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def create_table(table: Table) -> str:
    """Return ``CREATE TABLE`` with NOT NULL and CHECK from the fields' rules.

    Examples
    --------
    >>> from energy.schema.tables import table
    >>> print(create_table(table("core.log_window")))
    CREATE TABLE core.log_window (
      site_id VARCHAR NOT NULL,
      from_utc TIMESTAMPTZ NOT NULL,
      to_utc TIMESTAMPTZ NOT NULL
    )

    """
    lines = []
    for column in table.columns:
        field = column.field
        line = f"  {field.name} {field.type}"
        if column.required:
            line += " NOT NULL"
        if field.allowed:
            line += f" CHECK ({field.name} IN ({', '.join(_quoted(value) for value in field.allowed)}))"
        if field.minimum is not None:
            line += f" CHECK ({field.name} >= {field.minimum:g})"
        lines.append(line)
    return f"CREATE TABLE {table.full_name} (\n" + ",\n".join(lines) + "\n)"


def layout_of(table: Table) -> str:
    """Return what a table's rows depend on, as a short hash: names, types and rules of its columns.

    Examples
    --------
    >>> from energy.schema.tables import table
    >>> layout_of(table("core.pue_hour")) == layout_of(table("core.factor_hour"))
    False

    """
    text = create_table(table) if table.kind == "table" else ", ".join(item.field.name for item in table.columns)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def comments(table: Table) -> list[str]:
    """Return ``COMMENT ON`` statements for the table or view and each of its columns."""
    kind = table.kind.upper()
    about = {"row": table.row, "key": list(table.key), "note": table.note or None, "layout": layout_of(table)}
    row = json.dumps(about, ensure_ascii=False)
    out = [f"COMMENT ON {kind} {table.full_name} IS {_quoted(row)}"]
    out += [
        f"COMMENT ON COLUMN {table.full_name}.{column.field.name} IS {_quoted(comment_json(column))}"
        for column in table.columns
    ]
    return out
