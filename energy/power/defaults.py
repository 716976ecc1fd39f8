"""Power of a chip of which nothing was read: by state, with a range, from the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from energy.catalogue.chips import Chip
from energy.errors import CatalogueError
from energy.power.chip import chip_power
from energy.units import quantity


@dataclass(frozen=True, slots=True)
class DefaultPower:
    """Watts of one chip in one state (95 % range), and where they come from."""

    chip_id: str
    chip_state: str
    power_chip_w: float
    power_chip_low_w: float
    power_chip_high_w: float
    source: str
    status: str


def default_power(chip: Chip, state: str, utilisation: tuple[float, float, float] = (0.5, 0.0, 1.0)) -> DefaultPower:
    """Return the power of one chip that is busy or idle and was not read.

    Parameters
    ----------
    chip : Chip
        Of the catalogue.
    state : str
        ``busy``: given to a job, at the default utilisation; ``idle``: given to none.
    utilisation : tuple of float
        Value, low, high of the default utilisation, from ``site.yaml``; by default half way, anywhere from 0 to 1.

    Returns
    -------
    DefaultPower
        With status ``default``.

    Raises
    ------
    CatalogueError
        The catalogue has no maximum power for the chip.

    Examples
    --------
    >>> from energy.catalogue.chips import chip
    >>> busy = default_power(chip("nvidia_a100_sxm4_80"), "busy")
    >>> busy.power_chip_w > busy.power_chip_low_w
    True

    """
    if chip.tdp_w is None or chip.idle_w is None:
        raise CatalogueError(f"{chip.chip_id} has no maximum power in the catalogue: its energy cannot be estimated.")
    cited = "; ".join(chip.source)
    low_idle = chip.idle_w if chip.idle_low_w is None else chip.idle_low_w
    high_idle = chip.idle_w if chip.idle_high_w is None else chip.idle_high_w
    if state == "idle":
        source = f"idle power of {chip.chip_id} ({chip.idle_status}): {cited}"
        return DefaultPower(chip.chip_id, state, chip.idle_w, low_idle, high_idle, source, "default")
    limit = quantity(chip.tdp_w, "W_chip/chip")
    value, low, high = (
        float(chip_power(quantity(idle, "W_chip/chip"), limit, share).magnitude)
        for idle, share in zip((chip.idle_w, low_idle, high_idle), utilisation, strict=True)
    )
    source = (
        f"straight line from idle to {chip.tdp_kind} {chip.tdp_w:g} W at a default utilisation of "
        f"{100 * utilisation[0]:g} % ({100 * utilisation[1]:g} to {100 * utilisation[2]:g} %): {cited}"
    )
    return DefaultPower(chip.chip_id, state, value, low, high, source, "default")
