"""PUE by hour. Constant by period for now; cooling by weather replaces it behind the same interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from energy.errors import SiteFileError


@dataclass(frozen=True, slots=True)
class PuePeriod:
    """PUE that holds in ``[start, end)``; ``None`` is open."""

    start: datetime | None
    end: datetime | None
    value: float
    low: float
    high: float


def _instant(moment: datetime) -> np.datetime64:
    """Return a time as NumPy's UTC; one without a zone is UTC already."""
    return np.datetime64(moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo is not None else moment)


def pue_by_hour(
    site_id: str, hours: npt.NDArray[np.datetime64], periods: Sequence[PuePeriod]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return PUE, low and high for each hour of a site.

    Parameters
    ----------
    site_id : str
        For messages.
    hours : array of datetime64, shape (n,)
        Starts of UTC hours.
    periods : sequence of PuePeriod
        From ``site.yaml``; must cover every hour once.

    Returns
    -------
    tuple of three arrays, shape (n,), kWh_facility/kWh_it
        Value, low end, high end.

    Raises
    ------
    SiteFileError
        An hour has no PUE, or two; a PUE is under 1.

    Notes
    -----
    PUE = E_facility / E_IT, ISO/IEC 30134-2; at least 1.

    Examples
    --------
    >>> hours = np.array(["2026-01-01T00"], dtype="datetime64[h]")
    >>> pue_by_hour("a", hours, [PuePeriod(None, None, 1.2, 1.2, 1.2)])[0].tolist()
    [1.2]

    """
    for period in periods:
        if not 1.0 <= period.low <= period.value <= period.high:
            raise SiteFileError(
                f"Site {site_id}: PUE must be at least 1 and lie within its range; got {period.value:g} "
                f"({period.low:g} to {period.high:g}). Correct pue in site.yaml."
            )
    return value_by_hour(site_id, hours, periods, "pue")


def value_by_hour(
    site_id: str, hours: npt.NDArray[np.datetime64], periods: Sequence[PuePeriod], key: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return a constant of ``site.yaml`` with low and high for each hour of a site, by its periods.

    Parameters
    ----------
    site_id : str
        For messages.
    hours : array of datetime64, shape (n,)
        Starts of UTC hours.
    periods : sequence of PuePeriod
        Must cover every hour once.
    key : str
        Of ``site.yaml``: ``pue``, or one of water.

    Returns
    -------
    tuple of three arrays, shape (n,), in the unit of the key

    Raises
    ------
    SiteFileError
        An hour has no value, or two.

    """
    what = "PUE" if key == "pue" else key
    result = np.full((3, hours.size), np.nan)
    for period in periods:
        inside = np.ones(hours.size, dtype=bool)
        if period.start is not None:
            inside &= hours >= _instant(period.start)
        if period.end is not None:
            inside &= hours < _instant(period.end)
        if bool(np.any(inside & ~np.isnan(result[0]))):
            raise SiteFileError(
                f"Site {site_id}: two {what} periods overlap. Correct from and to of {key} in site.yaml."
            )
        result[:, inside] = np.array([[period.value], [period.low], [period.high]])
    missing = np.isnan(result[0])
    if missing.any():
        first = hours[missing][0].astype("datetime64[s]").item()
        last = hours[missing][-1].astype("datetime64[s]").item() + timedelta(hours=1)
        raise SiteFileError(
            f"Site {site_id} has no {what} from {first:%Y-%m-%dT%H:%MZ} to {last:%Y-%m-%dT%H:%MZ} "
            f"({int(missing.sum())} h with data): add a period to {key} in site.yaml."
        )
    return result[0], result[1], result[2]
