"""Robust least squares with NumPy: a few physical parameters, then a smooth correction over three sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from energy.cost.kernels.surface import Grid

Floats = NDArray[np.float64]
HUBER = 0.1  # ln: errors beyond 10 % count linearly
OUTLIER = np.log(1.5)  # a row that is 1.5 times off the median of its neighbours is screened


def parameters(log_ratio: Callable[[Floats], Floats], start: Floats, pull: Floats) -> Floats:
    """Return parameters with the least robust error, by damped Gauss-Newton steps.

    ``pull`` is the weight, in rows, that holds each parameter at its start: it keeps the physical meaning.
    """
    theta, damping = start.copy(), 1e-2

    def cost(ratio: Floats, at: Floats) -> float:
        size = np.abs(ratio)
        robust = np.where(size < HUBER, size**2 / 2, HUBER * (size - HUBER / 2)).sum()
        return float(robust + (pull * (at - start) ** 2).sum() / 2)

    ratio = log_ratio(theta)
    best = cost(ratio, theta)
    for _ in range(40):
        jacobian = np.stack([(log_ratio(theta + 1e-4 * unit) - ratio) / 1e-4 for unit in np.eye(len(theta))], axis=1)
        weight = np.where(np.abs(ratio) < HUBER, 1.0, HUBER / np.maximum(np.abs(ratio), 1e-12))
        normal = jacobian.T @ (jacobian * weight[:, None]) + np.diag(pull + 1e-9)
        slope = jacobian.T @ (weight * ratio) + pull * (theta - start)
        before = best
        for _ in range(8):
            step = np.clip(np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -slope), -0.5, 0.5)
            tried = log_ratio(theta + step)
            if cost(tried, theta + step) < best:
                theta, ratio = theta + step, tried
                best, damping = cost(ratio, theta), damping / 3
                break
            damping *= 4
        if before - best < 1e-5 * before:
            break
    return theta


def penalty(grid: Grid, curvature: Sequence[float], slope: float) -> Floats:
    """Return the matrix that punishes curvature along each size, and slope a little."""
    counts = [len(knots) for knots in grid.knots]
    total = np.eye(grid.size) * 1e-2
    for axis, count in enumerate(counts):
        steps = np.diff(np.eye(count), axis=0)
        bends = np.diff(np.eye(count), n=2, axis=0) if count > 2 else np.zeros((1, count))
        parts = [np.eye(one) for one in counts]
        parts[axis] = curvature[axis] * bends.T @ bends + slope * steps.T @ steps
        total += np.kron(np.kron(parts[0], parts[1]), parts[2])
    return total


def correction(grid: Grid, sizes: Sequence[Floats], log_ratio: Floats, stiff: Floats, rounds: int = 3) -> Floats:
    """Return the values at the knots, by penalised least squares with down-weighted outliers."""
    at, part = grid.corners(sizes)
    weight = np.ones(len(log_ratio))
    flat = (at[:, None, :] * grid.size + at[None, :, :]).reshape(64, -1)
    products = (part[:, None, :] * part[None, :, :]).reshape(64, -1)
    values = np.zeros(grid.size)
    for _ in range(rounds):
        normal = np.bincount(flat.ravel(), (products * weight).ravel(), grid.size**2).reshape(grid.size, grid.size)
        right = np.bincount(at.ravel(), (part * weight * log_ratio).ravel(), grid.size)
        values = np.linalg.solve(normal + stiff, right)
        rest = np.abs(log_ratio - (values[at] * part).sum(axis=0))
        spread = max(1.4826 * float(np.median(rest)), 0.01)
        weight = 1.0 / np.maximum(1.0, rest / (1.5 * spread))
    return values


def screened(log_ratio: Floats, axes: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """Return the rows that are far from the median of their neighbours on the grid of measured sizes.

    Neighbours differ in one size only, by one or two of its measured values; at least three must exist.
    """
    codes = [np.unique(axis, return_inverse=True)[1].astype(np.int64) for axis in axes]
    stride = np.array([10_000 ** (len(codes) - 1 - place) for place in range(len(codes))], dtype=np.int64)
    own = sum((code + 10) * step for code, step in zip(codes, stride, strict=True))
    order = np.argsort(own)
    sorted_keys = own[order]
    near = []
    for step in stride:
        for shift in (-2, -1, 1, 2):
            place = np.clip(np.searchsorted(sorted_keys, own + shift * step), 0, len(own) - 1)
            found = sorted_keys[place] == own + shift * step
            near.append(np.where(found, log_ratio[order[place]], np.nan))
    table = np.array(near)
    enough = (~np.isnan(table)).sum(axis=0) >= 3
    middle = np.full(len(own), np.nan)
    middle[enough] = np.nanmedian(table[:, enough], axis=0)
    return enough & (np.abs(log_ratio - middle) > OUTLIER)


def summary(errors_ln: Floats) -> dict[str, float]:
    """Return median and 90th percentile of the relative error, and the two bands, of logarithmic errors."""
    relative, size = np.abs(np.expm1(errors_ln)), np.abs(errors_ln)
    return {
        "median_error_fraction": round(float(np.median(relative)), 4),
        "p90_error_fraction": round(float(np.quantile(relative, 0.9)), 4),
        "sigma_fraction": round(float(np.quantile(size, 0.8)) / 1.2816, 4),
        "band95_ln": round(float(np.quantile(size, 0.95)), 4),
    }


def groups(labels: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """Return the fold of each row; rows with one label stay together. The same labels give the same folds."""
    known, inverse = np.unique(labels, return_inverse=True)
    return np.random.default_rng(7).permutation(len(known))[inverse] % folds
