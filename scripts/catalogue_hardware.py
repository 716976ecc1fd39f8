"""Hardware, models and prices of the curated tables."""

from __future__ import annotations

from pathlib import Path

import catalogue_selection as selection
from catalogue_fields import FIELDS
from catalogue_io import Row, number, read, short
from catalogue_sources import SOFTWARE_SOURCES

IDLE_SHARE, IDLE_SHARE_SMALL, IDLE_LOW, IDLE_HIGH, SMALL_CARD_W = 0.15, 0.20, 0.08, 0.25, 150.0
BOOLEAN = {"yes": "true", "no": "false", "": ""}
# Families with a learned table of positions (recalled); with it the formula gives the count of the shared table.
LEARNED_POSITIONS = ("GPT-2", "GPT-3", "OPT")
# Cells of models that the shared table recalled and a paper prints: expert frequency 1 (Switch Transformer, table 9),
# with which alone its layers make the published 1571 billion parameters.
READ_IN_PAPERS = {"switch_c": {"moe_every": "1"}}
# Single facts of a table that is CC BY-SA: the chips that are asked for by name, no more.
ACHIEVED = (
    ("nvidia_a100_sxm4_80", "bf16"),
    ("nvidia_h100_sxm5_80", "bf16"),
    ("nvidia_h100_sxm5_80", "fp8"),
    ("nvidia_b200_sxm", "bf16"),
    ("nvidia_b200_sxm", "fp8"),
    ("amd_mi300x", "bf16"),
    ("amd_mi355x", "bf16"),
    ("intel_gaudi3", "bf16"),
)


def recalled(row: dict[str, str], table: str) -> str:
    """Return the recalled fields of a row that the curated table carries, under its own names."""
    if "recalled_fields" not in row:
        return "all" if row["confidence"] == "recalled" else ""
    own = {"notes": "note", "interconnect_id": "link_id"}
    carried = {field["name"] for field in FIELDS[table]} | {"all"}
    names = (own.get(name, name) for name in row["recalled_fields"].split(";"))
    return ";".join(name for name in names if name in carried)


def carry(row: dict[str, str], table: str) -> Row:
    """Return the cells of a row that the curated table has a column for; whole numbers without a point."""
    cells: Row = {}
    for field in FIELDS[table]:
        name = field["name"]
        if name in row:
            text = row[name].strip()
            cells[name] = text.removesuffix(".0") if field["type"] == "integer" else text
    return cells | {"recalled_fields": recalled(row, table), "note": row["notes"].strip()}


def idle(row: dict[str, str]) -> Row:
    """Return idle power with range and origin.

    Where the shared table has a measured or recalled board value, it is used. Modelled values, values of another part
    and empty cells give way to the rule of the chips README: 15 % of the rated power, 20 % for small cards, 8 to 25 %.
    """
    tdp, value, kind = number(row["tdp_w"]), number(row["idle_w"]), row["idle_kind"]
    if tdp is None or row["family"] == "CPU":  # the rule is stated for accelerators
        return {}
    whole_computer = "at the wall" in kind or "whole box" in kind
    if value is not None and not kind.startswith(("modelled", "taken from")) and not whole_computer:
        status = "recalled" if "idle_w" in row["recalled_fields"].split(";") else "read"
        low, high, range_status = selection.IDLE_RANGES.get(
            row["chip_id"], (min(value, IDLE_LOW * tdp), max(value, IDLE_HIGH * tdp), "default")
        )
        return idle_cells(value, low, high, status, range_status, kind)
    small = tdp <= SMALL_CARD_W
    share = IDLE_SHARE_SMALL if small else IDLE_SHARE
    note = f"rule of thumb: {100 * share:g} % of the rated power ({'small card' if small else 'data-centre card'})"
    if not small and not row["memory_type"].startswith("HBM"):
        note += "; the rule is stated for cards with HBM"
    low, rule, high = IDLE_LOW * tdp, share * tdp, IDLE_HIGH * tdp
    if value is not None and kind.startswith("taken from"):
        rule, note = value, f"{kind}, measured 60 to 63 W"
    elif value is not None and whole_computer:
        note += f"; the whole computer idles at {value:g} W at the wall, which bounds it"
        scale = min(1.0, value / rule)
        low, rule, high = low * scale, min(rule, value), min(high, value)
    elif value is not None:
        note += f"; the modelled {value:g} W of the source is a fixed share too and known to be too low"
    return idle_cells(rule, low, high, "default", "default", note)


def idle_cells(value: float, low: float, high: float, status: str, range_status: str, note: str) -> Row:
    """Return the cells of idle power."""
    return {
        "idle_w": short(value),
        "idle_low_w": short(low),
        "idle_high_w": short(high),
        "idle_status": status,
        "idle_range_status": range_status,
        "idle_note": note,
    }


def chips(shared: Path) -> list[Row]:
    """Return all chips."""
    rows = []
    for row in read(shared / "chips/chips.csv"):
        power = idle(row)
        flagged = recalled(row, "chips").split(";")
        if power.get("idle_status") != "recalled":
            flagged = [name for name in flagged if name != "idle_w"]
        rows.append(
            carry(row, "chips")
            | {"idle_w": ""}
            | power
            | {
                "status_of_product": row["status"],
                "power_boundary": "it" if row["chip_id"] in selection.SYSTEM_POWER else "chip",
                "recalled_fields": ";".join(name for name in flagged if name),
            }
        )
    return rows


def chip_aliases() -> list[Row]:
    """Return the aliases that hold everywhere, then those of one dialect."""
    rows = [
        {
            "alias": alias,
            "chip_id": chip_id,
            "seen_in": seen_in,
            "source": "log_names",
            "status": "estimate" if seen_in == selection.SEEN_RECALLED else "catalogue",
        }
        for seen_in, names in selection.ALIASES.items()
        for alias, chip_id in names.items()
    ]
    rows += [
        {
            "alias": alias,
            "chip_id": chip_id,
            "dialect": dialect,
            "seen_in": seen_in,
            "source": "log_names",
            "status": "estimate" if "assumed" in note else "catalogue",
            "note": note,
        }
        for dialect, alias, chip_id, seen_in, note in selection.DIALECT_ALIASES
    ]
    return rows


def chip_ambiguous() -> list[Row]:
    """Return the short names that are refused, one row per chip that they fit."""
    return [
        {"name": name, "chip_id": chip_id, "source": "log_names", "status": "catalogue"}
        for names, chip_ids in selection.AMBIGUOUS.items()
        for name in names
        for chip_id in chip_ids.split()
    ]


def nodes(shared: Path) -> list[Row]:
    """Return all nodes."""
    return [carry(row, "nodes") for row in read(shared / "chips/nodes.csv")]


def node_aliases() -> list[Row]:
    """Return names of nodes besides their product names."""
    return [
        {"alias": alias, "node_id": node_id, "source": "log_names", "status": "estimate", "note": "recalled"}
        for alias, node_id in selection.NODE_ALIASES.items()
    ]


def links(shared: Path) -> list[Row]:
    """Return all links; what uses them is split into chips of the catalogue and words."""
    known = {row["chip_id"] for row in read(shared / "chips/chips.csv")}
    rows = []
    for row in read(shared / "chips/interconnects.csv"):
        users = [user.strip() for user in row["chips_using_it"].split(";")]
        rows.append(
            carry(row, "links")
            | {
                "link_id": row["interconnect_id"],
                "chip_ids": ";".join(user for user in users if user in known),
                "used_by": "; ".join(user for user in users if user not in known),
            }
        )
    return rows


def memories(shared: Path) -> list[Row]:
    """Return all memory technologies."""
    return [carry(row, "memories") for row in read(shared / "chips/memories.csv")]


def energy_per_op(shared: Path) -> list[Row]:
    """Return the energy of all operations.

    A figure that is derived from a rated power or a rate that nobody verified is itself unverified: the shared table
    does not say so.
    """
    by_id = {row["chip_id"]: row for row in read(shared / "chips/chips.csv")}
    rows = []
    for row in read(shared / "chips/energy_per_op.csv"):
        cells = carry(row, "energy_per_op") | {"operation_id": row["entry_id"], "number_format": row["format"]}
        if row["source"] == "chips.csv":
            chip_id = row["notes"].split("chip_id=")[1].split(";")[0].strip()
            rate = row["entry_id"].removeprefix(f"derived_{chip_id}_")
            flagged = by_id[chip_id]["recalled_fields"].split(";")
            doubtful = [name for name in ("all", "tdp_w", f"{rate}_tflops", f"{rate}_tops") if name in flagged]
            cells |= {"chip_id": chip_id, "source": "chips_table", "note": ""}
            kind = by_id[chip_id]["tdp_kind"]
            if doubtful or "estimate" in kind or "guess" in kind:
                cells |= {
                    "recalled_fields": "energy_pj",
                    "note": f"rests on {', '.join(doubtful) or 'tdp_w'} of the chip, unverified ({kind})",
                }
        rows.append(cells)
    return rows


def achievable_matmul(shared: Path) -> list[Row]:
    """Return single facts of measured matrix rates."""
    rows = []
    for row in read(shared / "chips/achievable_matmul.csv"):
        if (row["chip_id"], row["format"]) in ACHIEVED:
            names = ("chip_id", "achieved_tflops", "peak_dense_tflops", "fraction_of_peak", "software", "source")
            rows.append(
                {name: row[name] for name in names}
                | {
                    "number_format": row["format"],
                    "status": "catalogue",
                    "note": "largest rate found by a search over shapes: an upper bound for real kernels",
                }
            )
    return rows


def models(shared: Path) -> list[Row]:
    """Return all models."""
    return [
        carry(row, "models")
        | {
            "tied_embeddings": BOOLEAN[row["tied_embeddings"]],
            "is_estimate": BOOLEAN[row["is_estimate"]],
            "learned_positions": "true" if row["family"] in LEARNED_POSITIONS else "false",
        }
        | READ_IN_PAPERS.get(row["model_id"], {})
        for row in read(shared / "models/models.csv")
    ]


def prices(shared: Path) -> list[Row]:
    """Return all prices of chips."""
    return [
        carry(row, "prices") | {"is_estimate": BOOLEAN[row["is_estimate"]]} for row in read(shared / "chips/prices.csv")
    ]


def electricity_prices(shared: Path) -> list[Row]:
    """Return all prices of electricity."""
    return [carry(row, "electricity_prices") for row in read(shared / "chips/electricity_prices.csv")]


def software_maturity(shared: Path) -> list[Row]:
    """Return speed-ups by software; what the shared table calls suspect is an estimate."""
    rows = []
    for place, row in enumerate(read(shared / "software_maturity.csv"), 1):
        source = next(key for text, key in SOFTWARE_SOURCES.items() if text in row["source"])
        rows.append(
            {
                "gain_id": f"sw{place:02}",
                "stack": row["stack"],
                "chip": row["chip"],
                "workload": row["workload"],
                "earlier": row["from_version_or_date"],
                "later": row["to_version_or_date"],
                "speedup_factor": row["speedup_factor"],
                "source": source,
                "status": "estimate" if "suspect" in row["detail"] else "catalogue",
                "note": row["detail"],
            }
        )
    return rows
