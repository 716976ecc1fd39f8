"""Suite ``pue``: annual PUE and WUE of a published model over its ranges, and of regions as operators report them.

Nothing is fitted. Rows of the published model are percentiles over the parameter ranges of their case, in the weather
of their zone. Operators' rows are all computed with the one case ``hyperscale``, in the weather nearest to them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from energy.errors import EnergyError, FacilityError
from energy.facility.cases import all_cases
from energy.facility.design import Design
from energy.facility.results import AnnualRange, annual_range, facility_year
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.validation.training_rows import Row, number, words
from energy.weather.places import weather_near, weather_of

NEEDED = ("row_id", "kind", "statistic", "pue", "wue_l_per_kwh", "ashrae_climate_zone", "latitude_deg", "longitude_deg")
PUBLISHED, OPERATOR = "published_model", "operator_reported"
SAMPLES, SEED, EVERY = 512, 1, 7
NEAR_KM = 250.0  # how far weather may lie from an operator's region
_PLACE = {"5th": 0, "50th": 1, "95th": 2}


def pue(path: Path) -> Outcome:
    """Return computed against published PUE of a file with the columns of pue_wue.csv; WUE beside it.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    rows = read_rows(path, NEEDED)
    answers = _Answers()
    compared: list[Compared] = []
    failures: list[Failure] = []
    water: dict[str, list[float]] = {PUBLISHED: [], OPERATOR: []}
    for row in rows:
        try:
            one, wue = answers.row(row)
        except EnergyError as error:
            failures.append(Failure(words(row, "row_id"), str(error)))
            continue
        compared.append(one)
        measured = number(row, "wue_l_per_kwh")
        if measured is not None:
            water[words(row, "kind")].append(wue - measured)
    return Outcome("pue", path.name, tuple(compared), tuple(failures), _further(compared, water))


class _Answers:
    """Computed years, each once."""

    def __init__(self) -> None:
        self.ranges: dict[tuple[str, str], AnnualRange] = {}
        self.operators: dict[str, tuple[float, float]] = {}
        self.numbered = {one.published_case: one.case_id for one in all_cases() if one.published_case}

    def row(self, row: Row) -> tuple[Compared, float]:
        """Return a row's PUE, and its computed WUE in L/kWh of IT."""
        kind, measured = words(row, "kind"), number(row, "pue")
        if kind not in (PUBLISHED, OPERATOR):
            raise FacilityError(f"The row is of kind {kind!r}: a fleet, or a facility without place and description.")
        if measured is None:
            raise FacilityError("The row prints no pue.")
        if not measured >= 1.0:
            raise FacilityError(f"A PUE of {measured:g} is no measurement: it is 1 or more.")
        value, wue, groups, note = self._published(row) if kind == PUBLISHED else self._operator(row)
        printed = number(row, "wue_l_per_kwh")
        note += f"; WUE {wue:.3f} L/kWh computed" + (f", {printed:.3f} printed" if printed is not None else "")
        groups = (("kind", kind), *groups)
        return Compared(words(row, "row_id"), "pue", measured, value, None, None, None, None, groups, note), wue

    def _published(self, row: Row) -> tuple[float, float, tuple[tuple[str, str], ...], str]:
        place = _PLACE.get(words(row, "statistic").split(" ")[0])
        digits = words(row, "note").removeprefix("case ").split(";")[0]
        case_id = self.numbered.get(int(digits) if digits.isdigit() else -1)
        if place is None or case_id is None:
            raise FacilityError(f"The row names no percentile or no case: {row['statistic']!r}, {row.get('note')!r}.")
        zone = words(row, "ashrae_climate_zone")
        if (case_id, zone) not in self.ranges:
            design = Design(case_id, case_id, 1000.0, 1.0)
            self.ranges[case_id, zone] = annual_range(design, weather_of(f"ASHRAE zone {zone}"), SAMPLES, SEED, EVERY)
        found = self.ranges[case_id, zone]
        groups = (("case", case_id), ("percentile", words(row, "statistic").split(" ")[0]), ("zone", zone))
        return found.pue[place], found.wue_withdrawn_l_per_kwh_it[place], groups, "weather from monthly normals"

    def _operator(self, row: Row) -> tuple[float, float, tuple[tuple[str, str], ...], str]:
        latitude, longitude = number(row, "latitude_deg"), number(row, "longitude_deg")
        if latitude is None or longitude is None:
            raise FacilityError("The row has no coordinates.")
        near = weather_near(latitude, longitude, words(row, "site"), within_km=NEAR_KM)
        key = f"{near.basis} {near.key}"
        if key not in self.operators:
            year = facility_year(Design("hyperscale", "hyperscale", 1000.0, 1.0), near.read()).annual
            self.operators[key] = (year.pue, year.wue_withdrawn_l_per_kwh_it)
        value, wue = self.operators[key]
        groups = (("operator", words(row, "operator")), ("weather", near.basis))
        return value, wue, groups, f"{near.basis} of {near.place}, {near.distance_km:.0f} km away"


def _further(compared: list[Compared], water: dict[str, list[float]]) -> tuple[tuple[str, float], ...]:
    """Return the figures that the suite is judged by; a kind without rows has none."""
    found: list[tuple[str, float]] = []
    by_kind = {kind: [one for one in compared if ("kind", kind) in one.groups] for kind in (PUBLISHED, OPERATOR)}
    if by_kind[PUBLISHED]:
        errors = [abs(one.predicted / one.measured - 1.0) * 100.0 for one in by_kind[PUBLISHED]]
        found.append(("published_model_pue_mape_pct", float(np.mean(errors))))
    if water[PUBLISHED]:
        found.append(("published_model_wue_mean_absolute_error_l_per_kwh_it", float(np.mean(np.abs(water[PUBLISHED])))))
    if by_kind[OPERATOR]:
        gaps = [abs(one.predicted - one.measured) for one in by_kind[OPERATOR]]
        found.append(("operator_pue_median_absolute_error", float(np.median(gaps))))
    if water[OPERATOR]:
        middle = float(np.median(np.abs(water[OPERATOR])))
        found.append(("operator_wue_median_absolute_error_l_per_kwh_it", middle))
    return tuple(found)
