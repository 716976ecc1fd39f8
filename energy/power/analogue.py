r"""Power of chips that multiply in analogue arrays: idle floor, products, and the converters at the edge of each array.

With the rate of products r over the highest R, the share u of an array's rows that a layer fills, and the share c of
converters in the dynamic power of full arrays:

    P = P0 + (L - P0) (r / R) ((1 - c) + c / u)

A column is converted once however many rows are filled, so small layers pay more for each product. Inference only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue.chips import chip as chip_of
from energy.errors import PowerError
from energy.power.accelerators import Device, DevicePower, Span, device, device_power
from energy.power.bottom_up import EnergyOf
from energy.power.states import States, _share

Numbers = NDArray[np.float64]
#: Share of converters in the dynamic power of full arrays: an estimate, recalled from surveys of such macros.
CONVERTERS = Span(0.5, 0.25, 0.8)
_AT_RATE = 2.0


def _by_conversions(chip: str) -> Device:
    one = device(chip)
    if one.model != "conversions":
        raise PowerError(
            f"{one.chip_id} has no analogue arrays: use energy.power.accelerators.device_power with its states."
        )
    return one


def highest_products_per_s(chip: str) -> float:
    """Return the highest rate of products (multiply-adds) of a chip with full arrays.

    Raises
    ------
    PowerError
        The chip has no analogue arrays, or its rate is not known.

    Examples
    --------
    >>> highest_products_per_s("Mythic M1076") / 1e12
    12.5

    """
    one = _by_conversions(chip)
    known = chip_of(one.chip_id)
    rates = (
        known.int8_tops,
        known.bf16_tflops,
        known.fp16_tflops,
        known.fp8_tflops,
        known.int4_tops,
        known.fp32_tflops,
    )
    rate = next((value for value in rates if value is not None), None)
    if rate is None:
        raise PowerError(
            f"The catalogue has no rate of {one.chip_id}: use device_power with a share of its highest rate."
        )
    return rate * 1e12 / 2.0


def product_energy(chip: str, filled: float = 1.0) -> EnergyOf:
    """Return the energy of one product (a multiply-add) above the idle floor in pJ, converters included.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    filled : float, 0 to 1
        Share of the rows of an array that a layer fills; above zero.

    Raises
    ------
    PowerError
        The chip has no analogue arrays, its rate is not known, or the share is out of range.

    Examples
    --------
    >>> full, half = (product_energy("Mythic M1076", share).energy_pj for share in (1.0, 0.5))
    >>> round(full, 3), round(half / full, 2)
    (0.192, 1.5)

    """
    one, share = _by_conversions(chip), _filled(filled)
    most = highest_products_per_s(chip)
    value, low, high = (1.0 - part + part / share for part in (CONVERTERS.value, CONVERTERS.low, CONVERTERS.high))
    dynamic = one.limit_w.value - one.idle_w.value
    least = max(one.limit_w.low - one.idle_w.high, 0.0)
    full = 1e12 / most
    return EnergyOf(
        float(full * dynamic * value),
        float(min(full * least * low / _AT_RATE, full * dynamic * value)),
        float(full * (one.limit_w.high - one.idle_w.low) * high * _AT_RATE),
        f"limit less idle power over {most:g} products/s; converters {CONVERTERS.value:g} of it (estimate)",
    )


def _filled(filled: ArrayLike) -> Numbers:
    share = _share("filled", filled, 1.0)
    if np.any(share <= 0.0):
        raise PowerError("The share filled is 0: a layer fills some rows of an array; give a share above 0.")
    return share


def array_power(chip: str, products_per_s: ArrayLike, filled: ArrayLike = 1.0) -> DevicePower:
    """Return the power of a chip with analogue arrays at a rate of products.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    products_per_s : array, 1/s
        Multiply-adds of the whole chip.
    filled : array, 0 to 1
        Share of the rows of an array that the layers fill: tile utilisation.

    Raises
    ------
    PowerError
        The chip has no analogue arrays, or the rate is negative or above what arrays so filled can do.

    Notes
    -----
    The equation is at the head of this module; the range holds that of the share of converters.

    Examples
    --------
    >>> found = array_power("Mythic M1076", 5e12, [1.0, 0.5])
    >>> bool(found.power_w[0] < found.power_w[1] < 3.0)
    True

    """
    rate, share = np.broadcast_arrays(np.asarray(products_per_s, dtype=np.float64), _filled(filled))
    most = highest_products_per_s(chip)
    wrong = ~((rate >= 0.0) & (rate <= most * share * (1.0 + 1e-9)))
    if wrong.any():
        bad, at = float(rate[wrong].flat[0]), float(share[wrong].flat[0])
        raise PowerError(
            f"{bad:g} products/s of {chip}: arrays filled to {at:g} give from 0 to {most * at:.3g}; use more chips."
        )
    value, low, high = (_at(chip, rate / most, share, part) for part in CONVERTERS)
    edges = (
        np.minimum(value.power_low80_w, low.power_low80_w),
        np.maximum(value.power_high80_w, high.power_high80_w),
        np.minimum(value.power_low_w, low.power_low_w),
        np.maximum(value.power_high_w, high.power_high_w),
    )
    return DevicePower(value.device, value.power_w, *edges, value.source, "estimate")


def _at(chip: str, rate: Numbers, filled: Numbers, converters: float) -> DevicePower:
    load = np.minimum(rate * (1.0 - converters + converters / filled), 1.0)
    return device_power(chip, States(busy=np.ones_like(load), compute=load))
