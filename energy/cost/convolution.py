"""Step time of image networks from FLOPs, activations and parameters of one image: work that has no layers of ours.

    step = b (3 F / (P e) + passes A bytes / (W 0.8)) + all-reduce of gradients that is not hidden

F are FLOPs of a forward pass (a multiply-add is two; 3x3 convolutions of stride 1 in a Winograd form do 2.25 times
fewer), A the values that all convolutions write. A convolution is a product whose inner length k is F / (2 A) in the
mean, so that e falls with few channels (k / (k + 300)), and with small batches, whose last layers have few pixels
(b / (b + 8)). Coarse: the factor of a stack and a wide band go over it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.cost.links import Fabric, group, reduce_s
from energy.cost.passes import MEMORY_REACHED
from energy.errors import CostError, UnknownNameError, did_you_mean

#: What long convolutions of large batches reach of the peak, with and without matrix units; inner length and images
#: that starting costs. Measured products have 130 to 180 for the length (``kernel_gemm.csv``); these were chosen with
#: sight of the published runs, the same for every network and chip.
_REACHED = {True: 0.5, False: 1.0}
_FILL_LENGTH, _FILL_IMAGES = 300.0, 8.0
#: Times that an activation is written or read in training: with and without batch normalisation.
_PASSES = {True: 14.0, False: 7.0}
_HIDDEN = 0.5


@dataclass(frozen=True, slots=True)
class ImageNetwork:
    """One network on its usual image. ``winograd_share`` is the part of FLOPs in 3x3 convolutions of stride 1."""

    name: str
    words: str
    forward_gflop: float
    activations_million: float
    parameters_million: float
    winograd_share: float
    has_batch_norm: bool


#: FLOPs, activations and parameters as listed by the model zoos of torchvision and timm (recalled, not read).
NETWORKS = (
    ImageNetwork("alexnet", r"alexnet", 1.43, 0.65, 61.1, 0.5, False),
    ImageNetwork("vgg16", r"vgg", 31.0, 13.6, 138.4, 0.99, False),
    ImageNetwork("resnext101", r"resnext.?101", 16.0, 21.2, 44.2, 0.0, True),
    ImageNetwork("resnet152", r"resnet.?152", 23.1, 22.6, 60.2, 0.5, True),
    ImageNetwork("resnet101", r"resnet.?101", 15.7, 16.2, 44.5, 0.5, True),
    ImageNetwork("resnet50", r"resnet", 8.2, 11.1, 25.6, 0.5, True),
    ImageNetwork("inception_v3", r"inception", 11.5, 9.0, 23.8, 0.3, True),
    ImageNetwork("efficientnet_b4", r"efficientnet", 8.8, 49.5, 19.3, 0.0, True),
)


def image_network(name: str) -> ImageNetwork:
    """Return the network that a name means.

    Raises
    ------
    UnknownNameError
        When there is none; the message gives the nearest.

    Examples
    --------
    >>> image_network("ResNet-50 v1.5").forward_gflop
    8.2

    """
    for one in NETWORKS:
        if re.search(one.words, name.casefold()):
            return one
    known = [one.name for one in NETWORKS]
    raise UnknownNameError(f"The network {name!r} is not known: {', '.join(known)}.{did_you_mean(name, known)}")


def image_step_s(network: ImageNetwork, chip: str, precision: str, images_per_chip: float, chips: float) -> float:
    """Return the time of one step in seconds, before the stack's factor.

    Parameters
    ----------
    network : ImageNetwork
        Of :func:`image_network`.
    chip, precision : str
        Chip of the catalogue and format.
    images_per_chip, chips : float
        Batch of one chip, and how many chips share the work.

    Raises
    ------
    CostError
        When the batch is not positive, or the chip lacks the precision.

    Examples
    --------
    >>> step = image_step_s(image_network("ResNet-50"), "nvidia_p100_sxm2", "fp32", 64, 1)
    >>> 100 < 64 / step < 400
    True

    """
    if not images_per_chip > 0 or not chips >= 1:
        raise CostError(f"{images_per_chip:g} images on {chips:g} chips: give one image and one chip or more.")
    one = kernel_chip(chip)
    peak = peak_flop_per_s(one, precision)
    plain = one.peaks_flop_per_s.get("fp32", peak)
    # Winograd forms are used by units for single products; matrix units multiply directly.
    has_units = peak > 2.5 * plain
    fewer = 1.0 if has_units else 1.0 - network.winograd_share * (1.0 - 1.0 / 2.25)
    length = network.forward_gflop * 1e3 / (2.0 * network.activations_million)
    reached = _REACHED[has_units] * length / (length + _FILL_LENGTH)
    reached = reached * images_per_chip / (images_per_chip + _FILL_IMAGES)
    compute = 3.0 * network.forward_gflop * 1e9 * fewer / (peak * reached)
    width = 4.0 if precision in ("fp32", "tf32") else 2.0
    moved = _PASSES[network.has_batch_norm] * network.activations_million * 1e6 * width
    memory = moved / ((one.bandwidth_bytes_per_s or np.nan) * MEMORY_REACHED)
    fabric = Fabric.of([chip])
    ranks = group(fabric, np.array([chips]), np.array([1.0]))
    gradients = float(reduce_s(ranks, np.array([network.parameters_million * 1e6 * width]))[0])
    return images_per_chip * (compute + memory) + (1.0 - _HIDDEN) * gradients
