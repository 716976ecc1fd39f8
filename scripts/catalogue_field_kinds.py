"""Kinds of fields of the data package."""

from __future__ import annotations

from typing import Any

Field = dict[str, Any]
STATUS = ["catalogue", "derived", "estimate", "default"]
STATUS_TEXT = (
    "catalogue: read in the named source; derived: computed from values read there; estimate: recalled, assumed or "
    "read second-hand, to be verified; default: a rule of thumb."
)
CONFIDENCE_TEXT = "read: read in the named source but for the recalled fields; recalled: general knowledge, unverified."


def field(name: str, description: str, type_: str = "string", unit: str = "", **constraints: Any) -> Field:
    """Declare one column."""
    declared: dict[str, Any] = {"name": name, "type": type_, "unit": unit, "description": description}
    if constraints:
        declared["constraints"] = constraints
    return declared


def key(name: str, description: str) -> Field:
    """Declare a column that identifies the row."""
    return field(name, description, required=True, unique=True)


def need(name: str, description: str, **constraints: Any) -> Field:
    """Declare a column that is never empty."""
    return field(name, description, required=True, **constraints)


def number(name: str, unit: str, description: str, **constraints: Any) -> Field:
    """Declare a number, not below zero unless said otherwise."""
    return field(name, description, "number", unit, **({"minimum": 0} | constraints))


def count(name: str, unit: str, description: str, **constraints: Any) -> Field:
    """Declare a whole number, not below zero unless said otherwise."""
    return field(name, description, "integer", unit, **({"minimum": 0} | constraints))


def status() -> Field:
    """Declare the column that says how a row is known."""
    return need("status", STATUS_TEXT, enum=STATUS)


SOURCE = need("source", "Keys of sources.csv, separated by semicolons.")
NOTE = field("note", "What a user of the row must know.")
RATE = "TFLOP/s"


def flag(name: str, description: str, *, required: bool = False) -> Field:
    """Declare true or false; empty is unknown unless the field is required."""
    return field(name, description, "boolean", **({"required": True} if required else {}))


def hour_columns(unit: str, description: str, **constraints: Any) -> list[Field]:
    """Declare one column per hour of the day."""
    return [
        field(f"hour_{hour:02}", f"{description} Hour [{hour}, {hour + 1}).", "number", unit, **constraints)
        for hour in range(24)
    ]


def verified() -> list[Field]:
    """Declare the columns that say how far a row can be trusted."""
    return [
        SOURCE,
        need("confidence", CONFIDENCE_TEXT, enum=["read", "recalled"]),
        field("recalled_fields", "Fields of this row that are recalled, separated by semicolons; all: the whole row."),
        NOTE,
    ]
