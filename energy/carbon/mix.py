"""Hourly intensity of a generation mix, and of zones that trade with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue.fuels import technologies
from energy.errors import FactorError, did_you_mean

Numbers = NDArray[np.float64]
STORAGE = frozenset({"storage", "battery", "battery storage", "hydro pumped storage", "pumped storage", "pumped"})
# Hours of a year in blocks keep the systems of large sets of zones small in memory.
_BLOCK_HOURS = 4096


@dataclass(frozen=True, slots=True)
class MixIntensity:
    """Intensity of a mix by hour, and what was left out on the way.

    Attributes
    ----------
    intensity_gco2e_per_kwh : array, shape (h,)
        Per kWh generated; not a number where nothing is known or nothing was generated.
    generation_mwh : array, shape (h,)
        What the intensity rests on.
    negative_mwh : dict of str to float
        Negative generation by fuel, counted as none.
    unknown_mwh_hours : dict of str to int
        Hours without a value, by fuel, in which other fuels have one: the intensity there rests on the others.
    storage : tuple of str
        Columns left out: what they give out was generated before.
    """

    intensity_gco2e_per_kwh: Numbers
    generation_mwh: Numbers
    negative_mwh: Mapping[str, float]
    unknown_hours: Mapping[str, int]
    storage: tuple[str, ...]


def mix_intensity(
    generation_mwh: Mapping[str, ArrayLike],
    boundary: str = "lifecycle",
    publication: str = "Electricity Maps defaults",
    factors: Mapping[str, float] | None = None,
) -> MixIntensity:
    """Return the production-based intensity of a mix by hour.

    Parameters
    ----------
    generation_mwh : mapping of str to array, shape (h,)
        Net generation by technology; not a number is unknown, negative is a plant's own use.
    boundary : str
        ``direct`` or ``lifecycle``.
    publication : str
        Set of factors of ``generation_factors.csv``.
    factors : mapping of str to float, optional
        Own factors by technology in g CO2e/kWh, in place of the set.

    Raises
    ------
    FactorError
        A technology has no factor in the set (the nearest are named), no technology is given, or hours do not fit.

    Notes
    -----
    I_h = Σ_f max(g_f,h, 0) EF_f / Σ_f max(g_f,h, 0) over technologies with a value in the hour. An hour in which a
    technology is unknown rests on the others, and is counted; an hour in which all are unknown is unknown.

    Examples
    --------
    >>> found = mix_intensity({"coal": [50.0, 0.0], "wind": [50.0, 100.0]}, "lifecycle")
    >>> found.intensity_gco2e_per_kwh.tolist()
    [415.5, 11.0]

    """
    names = [name for name in generation_mwh if name.casefold() not in STORAGE]
    if not names:
        raise FactorError("A mix of no technology: give generation by technology, such as coal, gas, wind.")
    known = factors or {name: one.value_gco2e_per_kwh for name, one in technologies(publication, boundary).items()}
    for name in names:
        if name not in known:
            where = "the factors given" if factors else f"{publication} ({boundary})"
            raise FactorError(
                f"No factor for {name!r} in {where}: it has {', '.join(known)}.{did_you_mean(name, known)}"
            )
    rows = [np.asarray(generation_mwh[name], dtype=np.float64) for name in names]
    if len({row.shape for row in rows}) > 1 or rows[0].ndim != 1:
        raise FactorError("Technologies of a mix have different numbers of hours: give the same hours for all.")
    made = np.vstack(rows)
    unknown, negative = np.isnan(made), made < 0
    counted = np.where(unknown | negative, 0.0, made)
    total = counted.sum(axis=0)
    rates = np.array([known[name] for name in names])
    with np.errstate(invalid="ignore", divide="ignore"):
        intensity = (rates @ counted) / total
    blank = unknown.all(axis=0)
    partly = unknown & ~blank
    return MixIntensity(
        intensity_gco2e_per_kwh=np.where(blank | (total <= 0), np.nan, intensity),
        generation_mwh=np.where(blank, np.nan, total),
        negative_mwh={
            name: float(row[bad].sum()) for name, row, bad in zip(names, made, negative, strict=True) if bad.any()
        },
        unknown_hours={name: int(row.sum()) for name, row in zip(names, partly, strict=True) if row.any()},
        storage=tuple(name for name in generation_mwh if name not in names),
    )


@dataclass(frozen=True, slots=True)
class Traded:
    """Consumption-based intensity of zones that trade.

    Attributes
    ----------
    intensity_gco2e_per_kwh : array, shape (z, h)
        Of what each zone consumes.
    consumption_mwh : array, shape (z, h)
        Generation and imports less exports.
    emissions_kgco2e : array, shape (z, h)
        Consumed; all zones together what they and the world outside generated for them.
    """

    intensity_gco2e_per_kwh: Numbers
    consumption_mwh: Numbers
    emissions_kgco2e: Numbers


def traded_intensity(
    generation_mwh: ArrayLike,
    intensity_gco2e_per_kwh: ArrayLike,
    flows_mwh: ArrayLike,
    links: Sequence[tuple[int, int]],
) -> Traded:
    """Return consumption-based intensity of zones by hour: flows are followed to where the energy was made.

    Parameters
    ----------
    generation_mwh, intensity_gco2e_per_kwh : arrays, shape (z, h)
        What each zone generates, and its production-based intensity. A zone outside the set that only exports has
        its whole export as generation.
    flows_mwh : array, shape (l, h)
        Flow of each link, from its first to its second zone; negative is the other way.
    links : sequence of (int, int)
        Zones of each link.

    Returns
    -------
    Traded

    Raises
    ------
    FactorError
        A value is not known or negative generation, a link is no pair of zones, or a zone exports more than it has.

    Notes
    -----
    With G generation, F_jz flow from j to z: x_z (G_z + Σ_j F_jz) = G_z e_z + Σ_j F_jz x_j, solved for all zones of an
    hour at once. Each zone is a well-mixed node: exports and consumption have its intensity, and Σ consumption × x =
    Σ G e.
    Method: flow tracing with average mix (Bialek 1996; Tranberg et al. 2019) [K].

    Examples
    --------
    >>> found = traded_intensity([[100.0], [50.0]], [[0.0], [800.0]], [[50.0]], [(0, 1)])
    >>> found.intensity_gco2e_per_kwh[:, 0].tolist(), found.consumption_mwh[:, 0].tolist()
    ([0.0, 400.0], [50.0, 100.0])

    """
    made = np.atleast_2d(np.asarray(generation_mwh, dtype=np.float64))
    rate = np.atleast_2d(np.asarray(intensity_gco2e_per_kwh, dtype=np.float64))
    flows = np.asarray(flows_mwh, dtype=np.float64).reshape(len(links), -1 if len(links) else made.shape[1])
    _check_trade(made, rate, flows, links)
    zones, hours = made.shape
    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    result = np.empty_like(made)
    imports = np.zeros_like(made)
    exports = np.zeros_like(made)
    forward, backward = np.maximum(flows, 0.0), np.maximum(-flows, 0.0)
    np.add.at(imports, ends[:, 1], forward)
    np.add.at(imports, ends[:, 0], backward)
    np.add.at(exports, ends[:, 0], forward)
    np.add.at(exports, ends[:, 1], backward)
    mixed = made + imports
    consumption = mixed - exports
    short = consumption < -1e-9 * np.maximum(mixed, 1.0)
    if short.any():
        zone, hour = (int(index[0]) for index in np.nonzero(short))
        raise FactorError(
            f"Zone {zone} exports {exports[zone, hour]:g} MWh in hour {hour} and has {mixed[zone, hour]:g}: generation "
            "or flows are not whole."
        )
    for start in range(0, hours, _BLOCK_HOURS):
        block = slice(start, min(start + _BLOCK_HOURS, hours))
        size = block.stop - block.start
        matrix = np.zeros((size, zones, zones))
        # a zone without energy in an hour has no intensity: its equation is x = 0, and it gives nothing to others
        empty = mixed[:, block].T <= 0
        index = np.arange(zones)
        matrix[:, index, index] = np.where(empty, 1.0, mixed[:, block].T)
        hours_of = np.arange(size)[:, None]
        np.add.at(matrix, (hours_of, ends[:, 1][None, :], ends[:, 0][None, :]), -forward[:, block].T)
        np.add.at(matrix, (hours_of, ends[:, 0][None, :], ends[:, 1][None, :]), -backward[:, block].T)
        right = np.where(made[:, block] > 0, made[:, block] * rate[:, block], 0.0).T
        try:
            solved = np.linalg.solve(matrix, right[..., None])[..., 0].T
        except np.linalg.LinAlgError:
            raise FactorError("Zones pass on energy in a circle that nobody generated: flows are not whole.") from None
        result[:, block] = np.where(empty.T, np.nan, solved)
    emissions = np.where(consumption > 0, np.nan_to_num(result) * consumption, 0.0)
    return Traded(result, np.maximum(consumption, 0.0), emissions)


def _check_trade(made: Numbers, rate: Numbers, flows: Numbers, links: Sequence[tuple[int, int]]) -> None:
    zones = made.shape[0]
    for link in links:
        if len(link) != 2 or link[0] == link[1] or not all(0 <= end < zones for end in link):
            raise FactorError(
                f"The link {link} does not join two of {zones} zones: give pairs of their numbers, from 0."
            )
    if rate.shape != made.shape or flows.shape[1:] != made.shape[1:]:
        raise FactorError(f"Hours do not fit: generation {made.shape}, intensity {rate.shape}, flows {flows.shape}.")
    if not bool(np.all(np.isfinite(made) & (made >= 0))):
        raise FactorError(
            "Generation of a zone is negative or not known in an hour: cut those hours, or fill them by name."
        )
    if not bool(np.all(np.isfinite(rate[made > 0]) & (rate[made > 0] >= 0))):
        raise FactorError("Intensity of a zone that generates is negative or not known in an hour.")
    if not bool(np.all(np.isfinite(flows))):
        raise FactorError("A flow is not known in an hour: cut those hours, or fill them by name.")
