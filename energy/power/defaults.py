"""Power of a chip of which nothing was read: by state, with a range, from the catalogue."""

from __future__ import annotations

from dataclasses import dataclass, replace

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


LEAST_CHIP_HOURS = 24.0
LEAST_BOARD_DAYS = 5


@dataclass(frozen=True, slots=True)
class OwnReadings:
    """What a ledger's own readings say of one chip in one state: mean watts, spread of boards' daily means, extent."""

    chip_id: str
    chip_state: str
    power_chip_w: float
    power_chip_low_w: float
    power_chip_high_w: float
    chip_h: float
    hosts: int
    board_days: int


def own_power(own: OwnReadings, catalogue: DefaultPower) -> DefaultPower:
    """Return the power by own readings, or the catalogue's where the readings are too few; the source says which.

    Parameters
    ----------
    own : OwnReadings
        Mean of the ledger's readings of this chip in this state.
    catalogue : DefaultPower
        What the catalogue gives, for too few readings.

    Returns
    -------
    DefaultPower
        Status ``estimate``: boards that were not read are taken to draw what those that were read drew. The range is
        the 2.5th to 97.5th percentile of the daily means of single boards, and holds the mean.

    Examples
    --------
    >>> few = OwnReadings("a", "idle", 50.0, 48.0, 52.0, 2.0, 1, 1)
    >>> own_power(few, DefaultPower("a", "idle", 60.0, 32.0, 100.0, "datasheet", "default")).power_chip_w
    60.0

    """
    extent = f"{own.chip_h:,.0f} chip-hours on {own.hosts} host{'s' if own.hosts != 1 else ''}"
    if own.chip_h < LEAST_CHIP_HOURS or own.board_days < LEAST_BOARD_DAYS:
        return replace(catalogue, source=f"{catalogue.source}; own readings too few ({extent})")
    return DefaultPower(
        own.chip_id,
        own.chip_state,
        own.power_chip_w,
        min(own.power_chip_low_w, own.power_chip_w),
        max(own.power_chip_high_w, own.power_chip_w),
        f"mean of own readings of {own.chip_state} boards, {extent}, {own.board_days} board-days",
        "estimate",
    )
