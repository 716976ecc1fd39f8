"""Power of a chip of which nothing was read: by state, with ranges, from the curve of its states."""

from __future__ import annotations

from dataclasses import dataclass, replace

from energy.catalogue.chips import Chip
from energy.errors import PowerError
from energy.power.utilisation import (
    DEFAULT_LOAD,
    WORKING_SHARE,
    WORKING_SOURCE,
    Levels,
    Share,
    Watts,
    held_power,
    levels_of,
)

#: What chips stand with that no job holds: no process, or a process that keeps the clocks up.
BARE, CONTEXT = "bare", "context"


@dataclass(frozen=True, slots=True)
class DefaultPower:
    """Watts of one chip in one state (80 % and 95 % ranges), and where they come from."""

    chip_id: str
    chip_state: str
    power_chip_w: float
    power_chip_low80_w: float
    power_chip_high80_w: float
    power_chip_low_w: float
    power_chip_high_w: float
    source: str
    status: str


def default_power(chip: Chip, state: str, share: Share = WORKING_SHARE, idle: str = BARE) -> DefaultPower:
    """Return the power of one chip that is busy or idle and was not read.

    Parameters
    ----------
    chip : Chip
        Of the catalogue.
    state : str
        ``busy``: held by a job, kernels of unknown load run; ``idle``: held by none.
    share : Share
        How far a busy chip works, from idle with context (0) to the default load (1): as ``site.yaml`` states, or as
        in the fleets that were measured.
    idle : str
        What idle chips stand with: ``bare`` (no process) or ``context`` (a process holds them).

    Returns
    -------
    DefaultPower
        With status ``default``, at the boundary of the device: of a system at its plug nothing is to be added.

    Raises
    ------
    PowerError
        The state is not known, or ``power_devices.csv`` has no row of the chip.

    Examples
    --------
    >>> from energy.catalogue.chips import chip
    >>> busy = default_power(chip("nvidia_a100_sxm4_80"), "busy")
    >>> round(busy.power_chip_w), default_power(chip("nvidia_a100_sxm4_80"), "idle").power_chip_w
    (234, 62.0)

    """
    if state not in ("busy", "idle"):
        raise PowerError(f"{chip.chip_id}: the state {state} has no default power: use busy or idle.")
    levels = levels_of(chip.chip_id)
    cited = _cited(chip, levels)
    if state == "busy":
        whose = WORKING_SOURCE if share == WORKING_SHARE else "as site.yaml states"
        source = (
            f"kernels run: {100 * share.value:g} % of the way from idle with context, {levels.context.value:.0f} W, to "
            f"work at {100 * DEFAULT_LOAD.compute:g} % of peak, {levels.working_w:.0f} W ({whose}); {levels.source}; "
            f"maximum {levels.limit_w:g} W: {cited}"
        )
        return _default(chip.chip_id, state, held_power(levels, share), source)
    if idle == CONTEXT:
        return _default(chip.chip_id, state, levels.context, f"idle with a process on it: {levels.source}; {cited}")
    return _default(
        chip.chip_id, state, levels.idle, f"bare idle power of {chip.chip_id} ({chip.idle_status}): {cited}"
    )


def _cited(chip: Chip, levels: Levels) -> str:
    """Return the sources of the limit, and what it is of where that is no board."""
    if levels.curve is not None:
        return "; ".join(chip.source)
    one = levels.device
    return "; ".join(part for part in (one.source, f"power_devices.csv: {one.device}, {one.status}", one.note) if part)


def _default(chip_id: str, state: str, watts: Watts, source: str) -> DefaultPower:
    return DefaultPower(
        chip_id, state, watts.value, watts.low80, watts.high80, watts.low, watts.high, source, "default"
    )


LEAST_CHIP_HOURS = 24.0
LEAST_BOARD_DAYS = 5


@dataclass(frozen=True, slots=True)
class OwnReadings:
    """What a ledger's own readings say of one chip in one state: mean watts, spread of boards' daily means, extent."""

    chip_id: str
    chip_state: str
    power_chip_w: float
    power_chip_low80_w: float
    power_chip_high80_w: float
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
    >>> few = OwnReadings("a", "idle", 50.0, 49.0, 51.0, 48.0, 52.0, 2.0, 1, 1)
    >>> own_power(few, DefaultPower("a", "idle", 60.0, 50.0, 80.0, 32.0, 100.0, "datasheet", "default")).power_chip_w
    60.0

    """
    extent = f"{own.chip_h:,.0f} chip-hours on {own.hosts} host{'s' if own.hosts != 1 else ''}"
    if own.chip_h < LEAST_CHIP_HOURS or own.board_days < LEAST_BOARD_DAYS:
        return replace(catalogue, source=f"{catalogue.source}; own readings too few ({extent})")
    return DefaultPower(
        own.chip_id,
        own.chip_state,
        own.power_chip_w,
        min(own.power_chip_low80_w, own.power_chip_w),
        max(own.power_chip_high80_w, own.power_chip_w),
        min(own.power_chip_low_w, own.power_chip_w),
        max(own.power_chip_high_w, own.power_chip_w),
        f"mean of own readings of {own.chip_state} boards, {extent}, {own.board_days} board-days",
        "estimate",
    )
