"""Fields of the table of generation by technology and hour of day."""

from __future__ import annotations

from catalogue_field_kinds import SOURCE, Field, count, hour_columns, need, number, status

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "generation_hour": (
        "Generation by technology, mean of each UTC hour over a year",
        ["profile_set", "technology"],
        "US public domain (EIA-930); CC BY 4.0, recalled (ENTSO-E)",
    ),
}
FOREIGN_KEYS: dict[str, list[tuple[str, str, str]]] = {
    "generation_hour": [("profile_set", "intensity_sets", "profile_set")],
}
FIELDS: dict[str, list[Field]] = {
    "generation_hour": [
        need("profile_set", "Identifier of the set: zone and year."),
        need("technology", "As in generation_factors.csv; unknown: what the source calls other."),
        number("mean_mwh", "MWh_generation", "Mean of all measured hours, an hour.", required=True, minimum=0),
        *hour_columns(
            "MWh_generation",
            "Mean of the hour of day over the year; UTC; negative generation as none.",
            required=True,
            minimum=0,
        ),
        count("n_hours", "", "Hours that were measured.", required=True, maximum=8784),
        SOURCE,
        status(),
    ],
}
