"""Fields of the factors of software stacks, which ``fit_training.py`` writes."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, count, field, need, number, status

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "stack_factors": (
        "Factors of software stacks on the time of training, by term",
        ["term", "key"],
        "Coefficients fitted to single published figures, cited in the source",
    ),
}

TERMS = [
    *("all", "stack", "chip", "part", "stack_chip", "kind", "stack_kind", "chip_width", "stack_kind_year"),
    "stack_kind_chip",
]

FIELDS: dict[str, list[Field]] = {
    "stack_factors": [
        need("term", "What the factor is of; the factors of all terms of a run multiply.", enum=TERMS),
        field("key", "Stack family, chip family, chip, kind of work, width of the format; empty for all."),
        need(
            "ln_factor",
            "Natural logarithm of measured over physical time; of stack_kind_year for each year from the middle of "
            "year_low and year_high, not beyond them.",
        )
        | {"type": "number"},
        count("rows", "", "Published rows that have the term.", required=True),
        count("sources", "", "Sources of those rows.", required=True),
        number("median_error_fraction", "", "Median error of those rows in the fit.", required=True),
        number(
            "ln_half_width80",
            "",
            "Half width of the 80 % band in ln time: errors of rows that were left out of the fit.",
        ),
        number("ln_half_width95", "", "Likewise of the 95 % band."),
        number("year_low", "year", "First date of the rows, of stack_kind_year."),
        number("year_high", "year", "Last date of the rows, of stack_kind_year."),
        SOURCE,
        status(),
        NOTE,
    ],
}
