"""Fields of the tables of what draws power under the name of each chip, and of what chips do in training."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, count, need, number, status

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "power_devices": (
        "What draws power under the name of each chip, up to which limit",
        ["chip_id"],
        "Own table of facts; sources per row",
    ),
    "power_training": (
        "What chips do in training, by model FLOPs utilisation",
        ["mfu"],
        "Medians of the cost engine's answers for published training runs",
    ),
    "power_diffusion": (
        "Coefficients of power in making images and videos by diffusion",
        ["term"],
        "Coefficients fitted to measurements of the ML.ENERGY benchmark, Apache-2.0",
    ),
}

FIELDS: dict[str, list[Field]] = {
    "power_devices": [
        need("chip_id", "Chip of chips.csv."),
        need(
            "device",
            "What draws the power.",
            enum=[
                *("board", "card", "half of a card", "chip", "package", "module", "socket", "system"),
                "share of a system",
            ],
        ),
        need("boundary", "Where it is counted: chip inside a node, it at a plug.", enum=["chip", "it"]),
        need(
            "model",
            "How power follows work: curve of loads; events or conversions per second; configured design; processor.",
            enum=["curve", "events", "conversions", "design", "processor"],
        ),
        number("limit_w", "W", "Most that the device draws for long.", required=True),
        number("limit_low_w", "W", "Low end (95 %).", required=True),
        number("limit_high_w", "W", "High end (95 %).", required=True),
        number("idle_w", "W", "Power without work.", required=True),
        number("idle_low_w", "W", "Low end (95 %).", required=True),
        number("idle_high_w", "W", "High end (95 %).", required=True),
        number("typical_w", "W", "Mean power in usual work, where its maker measured it."),
        need("like_chip_id", "Chip whose curve is taken: itself, or kin where no power of it is published."),
        SOURCE,
        status(),
        NOTE,
    ],
    "power_training": [
        number(
            "mfu", "", "Model FLOPs utilisation: rate of the model's own operations over the dense peak.", maximum=1
        ),
        number("compute", "", "Share of time in matrix products and attention.", required=True, maximum=1),
        number("compute_rate", "", "Rate over the dense peak in that time.", required=True, maximum=1),
        number("memory_bound", "", "Share of time that moves data in the chip's memory.", required=True, maximum=1),
        number("communication", "", "Share of time that waits for other chips' data.", required=True, maximum=1),
        number("idle", "", "Share of time that waits for pipeline or host.", required=True, maximum=1),
        count("rows", "", "Published runs behind it.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "power_diffusion": [
        need("term", "Gain and exponent of the load, or the half width of a band.", unique=True),
        number("value", "", "Its value.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
}
