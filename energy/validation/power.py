"""Suite ``power``: board power of measured matrix products, and how far single readings can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from energy.cost.kernels.coefficients import measured_names, precision
from energy.errors import EnergyError, InputFileError
from energy.power.gemm import gemm_power
from energy.validation.statistics import Compared, Failure, Outcome, read_rows
from energy.validation.watts import compared_w

NEEDED = ("chip", "dtype", "m", "n", "k", "power_w")
OPTIONAL = ("framework", "latency_ms", "power_limit_w")
Columns = dict[str, NDArray[Any]]
_STEADY_LN, _SPREAD_LN, _ENOUGH = 0.15, 0.2, 4


def _columns(path: Path) -> Columns:
    """Return the columns of a Parquet or CSV file; an optional one that is absent is left out."""
    if path.suffix.casefold() == ".csv":
        rows = read_rows(path, NEEDED)
        names = [name for name in (*NEEDED, *OPTIONAL) if name in rows[0]]
        texts = {name: [row[name] for row in rows] for name in names}
        try:
            return {name: _typed(name, values) for name, values in texts.items()}
        except ValueError as error:
            raise InputFileError(f"{path} has a cell that is no number: {error}.") from None
    from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(path)
    except (OSError, ArrowException) as error:
        raise InputFileError(f"{path} is no Parquet file: {str(error).splitlines()[0]}.") from None
    missing = [name for name in NEEDED if name not in table.column_names]
    if missing:
        raise InputFileError(f"{path} lacks the column {missing[0]}: a file of this suite has {', '.join(NEEDED)}.")
    names = [name for name in (*NEEDED, *OPTIONAL) if name in table.column_names]
    return {name: table[name].to_numpy() for name in names}


def _typed(name: str, values: list[str]) -> NDArray[Any]:
    if name in ("chip", "dtype", "framework"):
        return np.array(values)
    return np.array([float(value) if value.strip() else np.nan for value in values])


def steadiness(m: NDArray[Any], n: NDArray[Any], k: NDArray[Any], power_w: NDArray[Any]) -> NDArray[np.str_]:
    """Return for each reading ``steady``, ``unsteady`` or ``alone``, by the readings of neighbouring shapes.

    A reading is steady within 15 % of the median of at least four neighbours (one size up to three measured values
    away), if half of those lie within 20 % of each other; alone where there are fewer. Readings of short tests are
    means over the start-up and fall anywhere between idle and full power, so single rows are no truth.

    Examples
    --------
    >>> size = np.arange(1.0, 10.0)
    >>> ones = np.ones(9)
    >>> power = np.array([700.0, 700, 700, 150, 700, 700, 700, 700, 700])
    >>> steadiness(size, ones, ones, power)[2:5].tolist()
    ['steady', 'unsteady', 'steady']

    """
    log_power = np.log(np.asarray(power_w, dtype=np.float64))
    codes = [np.unique(axis, return_inverse=True)[1].astype(np.int64) for axis in (m, n, k)]
    stride = [10_000**power for power in (2, 1, 0)]
    own = np.sum([(code + 10) * step for code, step in zip(codes, stride, strict=True)], axis=0)
    order = np.argsort(own, kind="stable")
    ordered = own[order]
    near = np.full((18, len(own)), np.nan)
    for line, (step, shift) in enumerate((step, shift) for step in stride for shift in (-3, -2, -1, 1, 2, 3)):
        place = np.minimum(np.searchsorted(ordered, own + shift * step), len(own) - 1)
        found = ordered[place] == own + shift * step
        near[line, found] = log_power[order[place[found]]]
    result = np.full(len(own), "alone", dtype="<U8")
    enough = (~np.isnan(near)).sum(axis=0) >= _ENOUGH
    if enough.any():
        low, middle, high = np.nanquantile(near[:, enough], [0.25, 0.5, 0.75], axis=0)
        agrees = (np.abs(log_power[enough] - middle) < _STEADY_LN) & (high - low < _SPREAD_LN)
        result[enough] = np.where(agrees, "steady", "unsteady")
    return result


def power(path: Path) -> Outcome:
    """Return predicted against measured board power of the products of a file with the columns of gemm_power.parquet.

    Every row is compared as it was read; the group ``reading`` tells steady from unsteady readings.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    columns = _columns(path)
    count = len(columns["power_w"])
    columns.setdefault("framework", np.full(count, "any"))
    library = np.array([(str(text).split() or ["any"])[0] for text in columns["framework"]])
    keys = np.array(
        [f"{chip}|{kind}|{one}" for chip, kind, one in zip(columns["chip"], columns["dtype"], library, strict=True)]
    )
    compared: list[Compared] = []
    failures: list[Failure] = []
    for key in np.unique(keys):
        at = np.flatnonzero(keys == key)
        chip, kind, one = str(key).split("|")
        good = np.ones(len(at), dtype=bool)
        for name in ("m", "n", "k", "power_w"):
            values = columns[name][at].astype(np.float64)
            good &= np.isfinite(values) & (values > 0)
        failures += [Failure(f"line {place + 2}", "a size or the power is not above zero") for place in at[~good]]
        at = at[good]
        try:
            compared += _part(columns, at, measured_names().get(chip, chip), kind, one)
        except EnergyError as error:
            failures += [Failure(f"line {place + 2}", str(error)) for place in at]
    return Outcome("power", path.name, tuple(compared), tuple(failures))


def _part(columns: Columns, at: NDArray[np.intp], chip: str, kind: str, library: str) -> list[Compared]:
    m, n, k = (columns[name][at].astype(np.float64) for name in "mnk")
    time = columns["latency_ms"][at].astype(np.float64) * 1e-3 if "latency_ms" in columns else None
    if time is not None and not np.all(time > 0):
        time = None
    limits = columns["power_limit_w"][at].astype(np.float64) if "power_limit_w" in columns else np.full(len(at), np.nan)
    measured = columns["power_w"][at].astype(np.float64)
    reading = steadiness(m, n, k, measured)
    found = gemm_power(chip, kind, m, n, k, time, library=library)
    name = precision(kind).name
    nominal = gemm_power(chip, kind, 1.0, 1.0, 1.0, 1.0).limit_w
    watts = found.power_chip_w * np.where(np.isfinite(limits), limits, nominal) / nominal
    groups = {
        value: (("reading", value), ("chip", chip), ("precision", name), ("library", f"{chip} {name} {library}"))
        for value in ("steady", "unsteady", "alone")
    }
    low80, high80, low, high = (watts * np.exp(width) for width in found.bands.widths)
    return [
        compared_w(
            f"line {place + 2}",
            float(measured[i]),
            float(watts[i]),
            (float(low80[i]), float(high80[i]), float(low[i]), float(high[i])),
            groups[str(reading[i])],
        )
        for i, place in enumerate(at)
    ]
