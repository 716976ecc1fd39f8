"""Hours of one grid zone as a file gives them: intensity as published, generation by technology, and what is absent.

What a file does not say is unknown, never filled: an hour without a row, an hour of which a part is absent, and an hour
with two rows that differ are not numbers, and are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.carbon.mix import MixIntensity, Traded, mix_intensity, traded_intensity
from energy.catalogue.profiles import BOUNDARIES, basis_of
from energy.errors import FactorError, did_you_mean

Numbers = NDArray[np.float64]
Hours = NDArray[np.datetime64]
HOUR_MS = 3_600_000
UNITS = {"production": "gCO2e/kWh_generation", "consumption": "gCO2e/kWh_facility"}


@dataclass(frozen=True, slots=True)
class HourGaps:
    """What keeps hours of a file from being known.

    Attributes
    ----------
    missing_hours : int
        Hours between the first and the last without any row.
    partial_hours : int
        Hours whose rows do not cover 60 minutes.
    conflicting_hours : int
        Hours with two rows of one time whose values differ, or with a local time that cannot be told apart.
    repeated_rows : int
        Rows that say again what another row says; each is counted once.
    """

    missing_hours: int = 0
    partial_hours: int = 0
    conflicting_hours: int = 0
    repeated_rows: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class IntensityOfHours:
    """One intensity by hour, with its basis.

    ``values_gco2e_per_kwh`` has the shape (n,) of the hours; ``unit`` says per kWh of what. ``kind`` is ``average`` or
    ``marginal``. ``attribution`` is ``production`` or ``consumption``.
    """

    boundary: str
    attribution: str
    kind: str
    gases: str
    gwp_set: str
    unit: str
    status: str
    publisher: str
    values_gco2e_per_kwh: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class GridHours:
    """Hours of one zone.

    Attributes
    ----------
    zone : str
        As the file names it.
    hour_utc : array of datetime64[h], shape (n,)
        Start of each hour, without gaps from the first to the last.
    intensity : tuple of IntensityOfHours
        As published, or computed from the mix; at most one of each boundary, attribution and kind.
    generation_mwh : mapping of str to array, shape (n,)
        By technology; negative as reported.
    publisher, source_file, file_format, status : str
    gaps : HourGaps
    estimated_fraction : float or None
        Share of the hours with values that the publisher estimated; None where the file does not say.
    notes : tuple of str
        What a reader must know.
    first_line : array of int, shape (n,), or None
        Line of the file at which each hour begins; 0 where no row is in it. None: the reader does not tell.
    refused : tuple of (int, str)
        Line and reason of each hour with rows whose time or value cannot be told.
    """

    zone: str
    hour_utc: Hours
    intensity: tuple[IntensityOfHours, ...]
    generation_mwh: Mapping[str, Numbers]
    publisher: str
    source_file: str
    file_format: str
    status: str
    gaps: HourGaps
    estimated_fraction: float | None
    notes: tuple[str, ...]
    first_line: NDArray[np.int64] | None = None
    refused: tuple[tuple[int, str], ...] = ()

    @property
    def unknown_hours(self) -> int:
        """Hours in which nothing has a value, those without a row included."""
        every = [*(one.values_gco2e_per_kwh for one in self.intensity), *self.generation_mwh.values()]
        return int(np.isnan(np.vstack(every)).all(axis=0).sum()) if every else int(self.hour_utc.size)

    def series(self, boundary: str, attribution: str | None = None, kind: str = "average") -> IntensityOfHours:
        """Return the intensity of one boundary.

        Raises
        ------
        FactorError
            There is none, or several attributions and none was named.

        """
        found = [one for one in self.intensity if one.boundary == boundary and one.kind == kind]
        if attribution is not None:
            found = [one for one in found if one.attribution == attribution]
        if len(found) == 1:
            return found[0]
        have = ", ".join(f"{one.boundary} {one.attribution} {one.kind}" for one in self.intensity) or "none"
        if found:
            raise FactorError(f"{self.zone} has {boundary} intensity by several attributions ({have}): name one.")
        more = " It has generation: compute it with intensity_of_mix." if self.generation_mwh else ""
        raise FactorError(f"{self.zone} has no {kind} {boundary} intensity ({have}).{more}")


@dataclass(frozen=True, slots=True, eq=False)
class OnHours:
    """Rows put on whole hours: ``values`` has the shape (columns, n); ``is_partial`` and ``is_conflicting`` (n,)."""

    hour_utc: Hours
    values: Numbers
    gaps: HourGaps
    is_partial: NDArray[np.bool_]
    is_conflicting: NDArray[np.bool_]
    first_line: NDArray[np.int64] | None = None


def on_hours(start_ms: ArrayLike, duration_ms: ArrayLike | None, values: ArrayLike) -> OnHours:
    """Return the mean of each whole hour of rows of an hour or less.

    Parameters
    ----------
    start_ms : array of int, shape (r,)
        Start of each row, ms since 1970 UTC.
    duration_ms : array of int, shape (r,), or None
        Length of each row; None: the smallest distance of two starts, which divides an hour.
    values : array, shape (columns, r)
        Not a number is unknown.

    Returns
    -------
    OnHours
        An hour is known in a column where its rows cover 60 minutes and all have a value.

    Raises
    ------
    FactorError
        There is no row, or a row is longer than an hour or lies in two hours.

    Examples
    --------
    >>> quarters = [0, 900_000, 1_800_000, 2_700_000, 7_200_000]
    >>> found = on_hours(quarters, [900_000] * 4 + [3_600_000], [[1.0, 2.0, 3.0, 6.0, 5.0]])
    >>> found.values.tolist(), found.gaps.missing_hours
    ([[3.0, nan, 5.0]], 1)

    """
    start = np.asarray(start_ms, dtype=np.int64)
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if not start.size:
        raise FactorError("There is no hour: the rows hold no time.")
    length = _found_length(start) if duration_ms is None else np.asarray(duration_ms, dtype=np.int64)
    if bool(np.any((length <= 0) | (start % HOUR_MS + length > HOUR_MS))):
        at = int(np.flatnonzero((length <= 0) | (start % HOUR_MS + length > HOUR_MS))[0])
        raise FactorError(
            f"The row of {np.datetime64(int(start[at]), 'ms')} lasts {length[at] / 60_000:g} minutes and is no part of "
            "one hour: give rows of an hour, or of parts that divide it."
        )
    start, length, table, differs, repeated = _once(start, length, table)
    hour = start // HOUR_MS
    place = hour - hour.min()
    count = int(place.max()) + 1
    covered = np.bincount(place, weights=length, minlength=count)
    sums = np.vstack([np.bincount(place, weights=row * length, minlength=count) for row in table])
    whole = covered == HOUR_MS
    conflicts = int(np.unique(hour[differs]).size)
    partial = (covered > 0) & ~whole
    gaps = HourGaps(int((covered == 0).sum()), int(partial.sum()), conflicts, repeated)
    hours = (hour.min() + np.arange(count)).astype("datetime64[h]")
    conflicting = np.zeros(count, dtype=bool)
    conflicting[place[differs]] = True
    return OnHours(hours, np.where(whole, sums / HOUR_MS, np.nan), gaps, partial, conflicting)


def _found_length(start: NDArray[np.int64]) -> NDArray[np.int64]:
    steps = np.diff(np.unique(start))
    least = int(steps.min()) if steps.size else HOUR_MS
    return np.full(start.shape, min(least, HOUR_MS), dtype=np.int64)


def _once(
    start: NDArray[np.int64], length: NDArray[np.int64], table: Numbers
) -> tuple[NDArray[np.int64], NDArray[np.int64], Numbers, NDArray[np.bool_], int]:
    """Keep one row of each time; where the rows of one time differ, its values are unknown."""
    order = np.argsort(start, kind="stable")
    start, length, table = start[order], length[order], table[:, order]
    first = np.concatenate([[True], start[1:] != start[:-1]])
    head = np.flatnonzero(first)[np.cumsum(first) - 1]
    same = (table == table[:, head]) | (np.isnan(table) & np.isnan(table[:, head]))
    unequal = ~same.all(axis=0) | (length != length[head])
    differs = np.zeros(start.shape, dtype=bool)
    differs[head[unequal]] = True
    table = np.where(differs[None, :], np.nan, table)
    repeated = int((~first & ~unequal).sum())
    return start[first], length[first], table[:, first], differs[first], repeated


def intensity_of_mix(
    hours: GridHours, boundary: str = "lifecycle", publication: str = "Electricity Maps defaults"
) -> tuple[GridHours, MixIntensity]:
    """Return the hours with the production-based intensity of their generation, and what was left out of it.

    Parameters
    ----------
    hours : GridHours
        With generation.
    boundary : str
        ``direct`` or ``lifecycle``.
    publication : str
        Set of factors by technology, as for :func:`energy.carbon.mix.mix_intensity`.

    Raises
    ------
    FactorError
        The hours have no generation, or a technology without a factor.

    Examples
    --------
    >>> hour = np.array(["2026-01-01T00"], dtype="datetime64[h]")
    >>> mix = {"coal": np.array([50.0]), "wind": np.array([50.0])}
    >>> one = GridHours("X", hour, (), mix, "us", "x.csv", "table", "given", HourGaps(), None, ())
    >>> intensity_of_mix(one)[0].series("lifecycle").values_gco2e_per_kwh.tolist()
    [415.5]

    """
    if not hours.generation_mwh:
        raise FactorError(f"{hours.zone} has no generation by technology in {hours.source_file}: nothing to compute.")
    found = mix_intensity(hours.generation_mwh, boundary, publication)
    gases, gwp_set = basis_of(boundary)
    computed = IntensityOfHours(
        boundary,
        "production",
        "average",
        gases,
        gwp_set,
        UNITS["production"],
        "derived",
        f"generation of {hours.publisher} x {publication}",
        found.intensity_gco2e_per_kwh,
    )
    others = [
        one
        for one in hours.intensity
        if (one.boundary, one.attribution, one.kind) != (boundary, "production", "average")
    ]
    return replace(hours, intensity=(*others, computed), notes=(*hours.notes, *_said(found, boundary))), found


def _said(found: MixIntensity, boundary: str) -> list[str]:
    """Return in words what an intensity of a mix leaves out."""
    said = [
        f"{name}: {-mwh:,.0f} MWh of negative generation counted as none ({boundary})"
        for name, mwh in found.negative_mwh.items()
    ]
    said += [
        f"{name}: not known in {count} hours, whose {boundary} intensity rests on the others"
        for name, count in found.unknown_hours.items()
    ]
    if found.storage:
        said.append(f"left out, generated before: {', '.join(found.storage)}")
    return said


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """Flows between zones: ``flow_mwh`` has the shape (links, n), from the first to the second zone of each link."""

    hour_utc: Hours
    links: tuple[tuple[str, str], ...]
    flow_mwh: Numbers
    source_file: str
    gaps: HourGaps


@dataclass(frozen=True, slots=True, eq=False)
class TradedHours:
    """Consumption-based intensity of several zones.

    ``traded`` has the zones in the order in which they were given, then those outside the set that only take.
    ``left_out_hours`` are hours in which a technology of a zone or a flow is not known: they are not numbers.
    """

    zones: tuple[GridHours, ...]
    traded: Traded
    left_out_hours: int


def traded_hours(zones: Sequence[GridHours], flows: Flows, boundary: str = "lifecycle") -> TradedHours:
    """Return the consumption-based intensity of zones that trade, hour by hour.

    Parameters
    ----------
    zones : sequence of GridHours
        With generation; each zone of ``flows`` that exports in sum of any hour must be among them.
    flows : Flows
        Between zones by their names.
    boundary : str
        Of the factors by technology.

    Raises
    ------
    FactorError
        A zone exports and its generation was not given, hours do not overlap, or flows are not whole.

    Notes
    -----
    See :func:`energy.carbon.mix.traded_intensity`. Generation is the sum over technologies without storage, negative
    values as none. A zone outside the set that only takes is a sink without generation.

    """
    names = [one.zone for one in zones]
    if len(set(names)) < len(names):
        raise FactorError(f"A zone is given twice among {', '.join(names)}: give each once.")
    hour = _common_hours([one.hour_utc for one in zones] + [flows.hour_utc])
    computed = [intensity_of_mix(one, boundary) for one in zones]
    flow = np.vstack([_cut(row, flows.hour_utc, hour) for row in flows.flow_mwh])
    sinks = _sinks(names, flows.links, flow)
    nothing = np.zeros((len(sinks), hour.size))
    made = np.vstack([*(_cut(_whole(one, mix), one.hour_utc, hour) for one, mix in computed), nothing])
    rate = np.vstack([*(_cut(mix.intensity_gco2e_per_kwh, one.hour_utc, hour) for one, mix in computed), nothing])
    known = np.isfinite(made).all(axis=0) & np.isfinite(flow).all(axis=0) & (np.isfinite(rate) | (made == 0)).all(0)
    if not known.any():
        raise FactorError("No hour has generation of every zone and every flow: give files of the same hours.")
    everyone = [*names, *sinks]
    links = [(everyone.index(a), everyone.index(b)) for a, b in flows.links]
    solved = traded_intensity(made[:, known], rate[:, known], flow[:, known], links)
    traded = Traded(
        _spread_out(solved.intensity_gco2e_per_kwh, known),
        _spread_out(solved.consumption_mwh, known),
        _spread_out(solved.emissions_kgco2e, known),
    )
    by = f"flow tracing over {', '.join(everyone)}"
    out = tuple(
        _consumed(one, hour, boundary, by, traded.intensity_gco2e_per_kwh[place])
        for place, (one, _) in enumerate(computed)
    )
    return TradedHours(out, traded, int((~known).sum()))


def _whole(one: GridHours, mix: MixIntensity) -> Numbers:
    """Return the generation of the hours in which every technology of a zone is known: of others a part is missing."""
    every = np.vstack(list(one.generation_mwh.values()))
    return np.where(np.isfinite(every).all(axis=0), mix.generation_mwh, np.nan)


def _consumed(one: GridHours, hour: Hours, boundary: str, by: str, values: Numbers) -> GridHours:
    """Return a zone with what it consumes in place of what it makes."""
    gases, gwp_set = basis_of(boundary)
    unit = UNITS["consumption"]
    intensity = IntensityOfHours(boundary, "consumption", "average", gases, gwp_set, unit, "derived", by, values)
    made = {name: _cut(row, one.hour_utc, hour) for name, row in one.generation_mwh.items()}
    return replace(one, hour_utc=hour, generation_mwh=made, intensity=(intensity,))


def _common_hours(all_hours: Sequence[Hours]) -> Hours:
    first, last = max(one[0] for one in all_hours), min(one[-1] for one in all_hours)
    if first > last:
        raise FactorError("The files share no hour: give files of the same time.")
    found: Hours = np.arange(first, last + np.timedelta64(1, "h"))
    return found


def _cut(values: Numbers, have: Hours, want: Hours) -> Numbers:
    start = int((want[0] - have[0]).astype(int))
    return values[start : start + want.size]


def _spread_out(values: Numbers, known: NDArray[np.bool_]) -> Numbers:
    out = np.full((values.shape[0], known.size), np.nan)
    out[:, known] = values
    return out


def _sinks(names: Sequence[str], links: Sequence[tuple[str, str]], flow: Numbers) -> list[str]:
    """Return zones outside the set, which may only take: what they would give has no known intensity."""
    outside = list(dict.fromkeys(end for link in links for end in link if end not in names))
    for name in outside:
        net = sum(
            (row if link[1] == name else -row for link, row in zip(links, flow, strict=True) if name in link),
            np.zeros(flow.shape[1]),
        )
        if bool(np.any(net < 0)):
            raise FactorError(
                f"Zone {name} gives energy to the set and its generation is not given: give its hours, or leave its "
                f"links out.{did_you_mean(name, names)}"
            )
    return outside


def month_hour(hour_utc: Hours, values: Numbers) -> Numbers:
    """Return the mean by month and UTC hour, shape (12, 24); not a number where no hour is known.

    Examples
    --------
    >>> hours = np.arange("2026-01-01T00", "2026-01-03T00", dtype="datetime64[h]")
    >>> month_hour(hours, np.arange(48.0))[0, :2].tolist()
    [12.0, 13.0]

    """
    month = hour_utc.astype("datetime64[M]").astype(int) % 12
    return _means(month * 24 + _hour_of_day(hour_utc), values, 288).reshape(12, 24)


def by_hour_of_day(hour_utc: Hours, values: Numbers) -> Numbers:
    """Return the mean by UTC hour, shape (24,)."""
    return _means(_hour_of_day(hour_utc), values, 24)


@dataclass(frozen=True, slots=True)
class MonthMean:
    """Mean of the known hours of one month (``2026-01``), how many they are, and how many the month has in the file."""

    month: str
    mean_gco2e_per_kwh: float | None
    known_hours: int
    hours: int


def monthly(hour_utc: Hours, values: Numbers) -> tuple[MonthMean, ...]:
    """Return the mean over the known hours of each month; each hour counts the same, whatever was used in it.

    Examples
    --------
    >>> hours = np.arange("2026-01-31T23", "2026-02-01T02", dtype="datetime64[h]")
    >>> [(one.month, one.mean_gco2e_per_kwh) for one in monthly(hours, np.array([1.0, np.nan, 3.0]))]
    [('2026-01', 1.0), ('2026-02', 3.0)]

    """
    months, place = np.unique(hour_utc.astype("datetime64[M]"), return_inverse=True)
    means = _means(place, values, months.size)
    known = np.bincount(place, weights=np.isfinite(values), minlength=months.size)
    every = np.bincount(place, minlength=months.size)
    return tuple(
        MonthMean(str(month), float(mean) if count else None, int(count), int(whole))
        for month, mean, count, whole in zip(months, means, known, every, strict=True)
    )


def _hour_of_day(hour_utc: Hours) -> NDArray[np.int64]:
    found: NDArray[np.int64] = (hour_utc - hour_utc.astype("datetime64[D]")).astype(np.int64)
    return found


def _means(place: NDArray[np.int64], values: Numbers, count: int) -> Numbers:
    known = np.isfinite(values)
    number = np.bincount(place[known], minlength=count)
    total = np.bincount(place[known], weights=values[known], minlength=count)
    with np.errstate(invalid="ignore"):
        return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def check_boundary(boundary: str) -> str:
    """Return a boundary that is one.

    Raises
    ------
    FactorError
        It is neither ``direct`` nor ``lifecycle``.

    """
    if boundary not in BOUNDARIES:
        raise FactorError(f"No boundary {boundary!r}: {' or '.join(BOUNDARIES)}.{did_you_mean(boundary, BOUNDARIES)}")
    return boundary
