r"""Power of chips that make images or videos by diffusion, from the rate at which they make them.

With the model FLOPs utilisation u of the denoising steps, of one chip with context power \(P_c\) and limit \(L\):

    P = P_c + (s L - P_c) (1 - exp(-k u^g)),   s = 0.98
    u = samples/s × passes × steps × (2 N T + 4 T² d l) / (chips × dense peak)

with N parameters and T latent positions (16 × 16 or 32 × 32 pixels), and attention over all of them in l layers of
width d, which are told from N. k and g are fitted by ``scripts/fit_power_diffusion.py`` on ML.ENERGY
(``power_diffusion.csv``); bands are of whole models left out. Text encoder and image decoder are not counted.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from energy.catalogue import _tables
from energy.catalogue.chips import chip as chip_of
from energy.cost.kernels.coefficients import kernel_chip, kin, peak_flop_per_s
from energy.errors import PowerError
from energy.power.states import Bands, StatePower, busy_power, curve_of, idle_watts, transfer

Numbers = NDArray[np.float64]
CEILING = 0.98
#: Chips that were measured.
MEASURED = ("nvidia_h100_sxm5_80", "nvidia_b200_sxm")
#: Pixels along one latent position, frames in one, and passes of a step; recalled, by part of the model's name.
_PIXELS, _COARSE_PIXELS, _COARSE = 16.0, 32.0, ("SANA",)
_FRAMES = 4.0
_ONE_PASS = ("FLUX", "HunyuanVideo")
_LINEAR_ATTENTION = ("SANA",)
#: Layers of a model of a billion parameters, and how they grow; weights of a layer over its width squared.
_LAYERS, _GROWTH, _WEIGHTS = 28.0, 0.2, 14.0


class Sample(NamedTuple):
    """One image or video: pixels, frames (1 for an image), and denoising steps."""

    height: float
    width: float
    frames: float
    steps: float


def sample_flop(model: str, params_b: float, sample: Sample) -> float:
    """Return the operations of one image or video in its denoising steps.

    Parameters
    ----------
    model : str
        Name: it tells the size of a latent position, and whether a step is one pass or two (guidance).
    params_b : float
        Parameters in billions.
    sample : Sample
        What is made.

    Raises
    ------
    PowerError
        A number is not above zero.

    Examples
    --------
    >>> small, large = (sample_flop("x", 1.0, Sample(side, side, 1, 20)) for side in (512, 1024))
    >>> large > 4 * small
    True

    """
    for name, value in (("params_b", params_b), *sample._asdict().items()):
        if not value > 0.0:
            raise PowerError(f"{name} is {value:g}: give a number above zero.")
    pixels = _COARSE_PIXELS if any(word in model for word in _COARSE) else _PIXELS
    positions = sample.height * sample.width / pixels**2 * ((sample.frames - 1.0) // _FRAMES + 1.0)
    layers = _LAYERS * params_b**_GROWTH
    width = np.sqrt(params_b * 1e9 / (_WEIGHTS * layers))
    linear = any(word in model for word in _LINEAR_ATTENTION)
    attention = 0.0 if linear else 4.0 * positions**2 * width * layers
    passes = 1.0 if any(word in model for word in _ONE_PASS) else 2.0
    return float(passes * sample.steps * (2.0 * params_b * 1e9 * positions + attention))


def diffusion_utilisation(chip: str, flop: ArrayLike, samples_per_s: ArrayLike, chips: ArrayLike) -> Numbers:
    """Return the model FLOPs utilisation of making samples at a rate.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    flop : array
        Operations of a sample: `sample_flop`.
    samples_per_s : array, 1/s
        Of all chips together.
    chips : array
        Chips that share the work.

    Raises
    ------
    CostError
        The dense peak of the chip is not known.

    Examples
    --------
    >>> float(diffusion_utilisation("nvidia_h100_sxm5_80", 2e14, 1.0, 1.0).round(3))
    0.202

    """
    kernel = kernel_chip(chip_of(chip).chip_id)
    peak = peak_flop_per_s(kernel, "bf16" if "bf16" in kernel.peaks_flop_per_s else "fp16")
    done = np.asarray(flop, dtype=np.float64) * np.asarray(samples_per_s, dtype=np.float64)
    return np.asarray(done / (np.asarray(chips, dtype=np.float64) * peak), dtype=np.float64)


@cache
def _terms() -> dict[str, float]:
    return {row.text("term"): row.number("value") for row in _tables.rows("power_diffusion")}


def fraction(context_fraction: ArrayLike, utilisation: ArrayLike, gain: float, exponent: float) -> Numbers:
    """Return power over the limit, by the law at the head of this module."""
    load = gain * np.asarray(utilisation, dtype=np.float64) ** exponent
    return np.asarray(busy_power.kernel(1.0, np.asarray(context_fraction, dtype=np.float64), CEILING, load))


def diffusion_power(chip: str, utilisation: ArrayLike) -> StatePower:
    """Return the board power of one chip that makes images or videos by diffusion.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    utilisation : array
        Model FLOPs utilisation: `diffusion_utilisation`.

    Raises
    ------
    PowerError
        A utilisation is not above zero, or the chip has no maximum power.
    UnknownNameError
        The chip is not known; the message gives the nearest names.

    Notes
    -----
    The law is at the head of this module; source: ML.ENERGY benchmark v3. Chips that were not measured have the band of
    chips left out in serving beside.

    Examples
    --------
    >>> found = diffusion_power("nvidia_h100_sxm5_80", [0.05, 0.2, 0.4])
    >>> bool(120 < found.power_chip_w[0] < found.power_chip_w[1] < found.power_chip_w[2] < 700)
    True

    """
    used = np.asarray(utilisation, dtype=np.float64)
    if np.any(~(used > 0.0)):
        bad = float(used[~(used > 0.0)].flat[0])
        raise PowerError(f"The model FLOPs utilisation is {bad:g}: give one above zero.")
    curve, terms = curve_of(chip, "bf16"), _terms()
    limit = curve.power_limit_w
    watts = idle_watts(curve.chip_id, curve, limit)
    power = limit * fraction(watts.context_w / limit, used, terms["gain"], terms["exponent"])
    bands = Bands(terms["band80_ln"], terms["band95_ln"])
    if curve.chip_id not in MEASURED:
        _, step = kin(kernel_chip(curve.chip_id), {one: kernel_chip(one) for one in MEASURED})
        other = transfer("serving", max(step, 1))
        bands = Bands(float(np.hypot(bands.ln80, other.ln80)), float(np.hypot(bands.ln95, other.ln95)))
    edges = (np.clip(power * np.exp(width), watts.idle_w, limit) for width in bands.widths)
    low80, high80, low, high = (np.asarray(edge, dtype=np.float64) for edge in edges)
    status = "derived" if curve.chip_id in MEASURED else "estimate"
    return StatePower(power, low80, high80, low, high, "power_diffusion.csv (mlenergy)", status)
