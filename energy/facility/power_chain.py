"""Losses between the site's meter and the plugs of IT, in series, by load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.errors import FacilityError, UnknownNameError, did_you_mean
from energy.units import takes

Numbers = NDArray[np.float64]
Redundancy = Literal["N", "N+1", "2N", "2(N+1)"]
Place = Literal["hall", "outside"]


@dataclass(frozen=True, slots=True)
class LossCurve:
    """Loss = a + b x + c x^2 of one unit, x load over rating, loss over rating; b is per load."""

    component: str
    no_load: float
    proportional: float
    square: float
    source: str
    status: str


@cache
def loss_curves() -> Mapping[str, LossCurve]:
    """Return the known curves by component.

    Examples
    --------
    >>> loss_curves()["ups_double_conversion_modern"].no_load
    0.01

    """
    return MappingProxyType(
        {
            row.text("component"): LossCurve(
                row.text("component"),
                row.number("no_load"),
                row.number("proportional"),
                row.number("square"),
                row.text("source"),
                row.text("status"),
            )
            for row in _tables.rows("facility_losses")
        }
    )


@takes("kW_facility", load="kW_facility", rating="kW_facility", no_load="", proportional="", square="", units="")
def unit_losses(load: Any, rating: Any, no_load: Any, proportional: Any, square: Any, units: Any = 1.0) -> Any:
    """Return the loss of units in parallel that share a load.

    Parameters
    ----------
    load : Quantity, kW_facility
        Power that leaves the units, together.
    rating : Quantity, kW_facility
        Rating of each unit.
    no_load, proportional, square : float
        Coefficients of one unit.
    units : float
        Units that run.

    Returns
    -------
    Quantity, kW_facility
        Loss of all units: sum of R (a + b x + c x^2) with x = load/(n R).

    Raises
    ------
    UnitError
        An argument is no power of the facility.

    Notes
    -----
    With 2N redundancy each unit carries half, so x is halved and the loss without load counts twice.

    Examples
    --------
    >>> from energy.units import quantity
    >>> one = quantity(100.0, "kW_facility")
    >>> print(round(unit_losses(one, one, 0.01, 0.01, 0.015, 1.0).magnitude, 3))
    3.5
    >>> print(round(unit_losses(one, one, 0.01, 0.01, 0.015, 2.0).magnitude, 3))
    3.75

    """
    share = load / (units * rating)
    return units * rating * (no_load + share * (proportional + share * square))


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the chain.

    ``size`` : rating of the load's whole worth of units over the rated IT power; ``redundancy`` : units beside it, of
    ``needed`` that carry the load; ``place`` : where its heat goes.
    """

    name: str
    curve: LossCurve
    size: float = 1.0
    redundancy: Redundancy = "N"
    needed: int = 1
    place: Place = "hall"

    @property
    def units(self) -> float:
        """Units that run, in worths of the whole load."""
        if self.redundancy not in get_args(Redundancy):
            known = ", ".join(get_args(Redundancy))
            raise FacilityError(f"Power chain: there is no redundancy {self.redundancy!r} of {self.name}: {known}.")
        if self.needed < 1 or not self.size > 0.0:
            raise FacilityError(f"Power chain: {self.name} needs a size above 0 and at least one unit.")
        extra = (self.needed + 1.0) / self.needed
        return {"N": 1.0, "N+1": extra, "2N": 2.0, "2(N+1)": 2.0 * extra}[self.redundancy]


@dataclass(frozen=True, slots=True)
class Chain:
    """Stages from the plugs of IT outwards; ``lighting`` over rated IT power, lit at any load."""

    stages: tuple[Stage, ...]
    lighting_fraction: float | Numbers

    def inside(self, it: Numbers) -> dict[str, Numbers]:
        """Return the losses of the stages in the hall and of the lighting, per kW of rated IT: heat of the hall."""
        found: dict[str, Numbers] = {}
        through = it
        for stage in self.stages:
            if stage.place == "hall":
                found[stage.name] = _loss(stage, through)
                through = through + found[stage.name]
        found["lighting"] = np.asarray(self.lighting_fraction, dtype=np.float64) + 0.0 * it
        return found

    def outside(self, through: Numbers) -> dict[str, Numbers]:
        """Return the losses of the stages outside, which carry everything, cooling too."""
        found: dict[str, Numbers] = {}
        for stage in self.stages:
            if stage.place == "outside":
                found[stage.name] = _loss(stage, through)
                through = through + found[stage.name]
        return found


@dataclass(frozen=True, slots=True)
class FractionChain:
    """Losses as fractions of IT power, side by side as in the published cases; for full load.

    UPS 1/eta - 1, distribution 1/(1 - l) - 1, lighting: each over IT power, not in series.
    """

    ups_efficiency: float | Numbers
    distribution_loss_fraction: float | Numbers
    lighting_fraction: float | Numbers

    def inside(self, it: Numbers) -> dict[str, Numbers]:
        """Return losses per kW of rated IT; the lighting is lit at any load."""
        lighting = np.asarray(self.lighting_fraction, dtype=np.float64)
        return {
            "ups": it * (1.0 / np.asarray(self.ups_efficiency) - 1.0),
            "distribution": it * (1.0 / (1.0 - np.asarray(self.distribution_loss_fraction)) - 1.0),
            "lighting": lighting + 0.0 * it,
        }

    def outside(self, through: Numbers) -> dict[str, Numbers]:
        """Return nothing: the fractions hold for the whole chain."""
        return {}


AnyChain = Chain | FractionChain


def _loss(stage: Stage, through: Numbers) -> Numbers:
    highest = float(np.nanmax(through)) if np.size(through) else 0.0
    if highest > stage.size * stage.units * (1.0 + 1e-9):
        raise FacilityError(
            f"Power chain: {stage.name} carries {highest:.3g} kW per kW of rated IT and is rated "
            f"{stage.size * stage.units:.3g}: give it a size of at least {highest:.3g}."
        )
    curve = stage.curve
    loss: Numbers = unit_losses.kernel(
        through, stage.size, curve.no_load, curve.proportional, curve.square, stage.units
    )
    return loss


def stage(
    name: str, component: str, *, size: float, redundancy: Redundancy = "N", needed: int = 1, place: Place = "hall"
) -> Stage:
    """Return a stage by the component of its loss curve.

    Raises
    ------
    UnknownNameError
        There is no such component; the message gives the nearest.

    Examples
    --------
    >>> stage("ups", "ups_eco_mode", size=1.1, redundancy="N+1", needed=4).units
    1.25

    """
    known = loss_curves()
    if component not in known:
        raise UnknownNameError(
            f"There is no component {component!r} of a power chain: {', '.join(known)}.{did_you_mean(component, known)}"
        )
    return Stage(name, known[component], size, redundancy, needed, place)


def usual_chain(ups: str = "ups_double_conversion_modern") -> tuple[Stage, ...]:
    """Return the stages of a usual chain: wiring, UPS with N+1 of four in the hall, transformer outside.

    Examples
    --------
    >>> [one.name for one in usual_chain()]
    ['wiring', 'ups', 'transformer']

    """
    return (
        stage("wiring", "cabling_and_switchgear", size=1.1),
        stage("ups", ups, size=1.1, redundancy="N+1", needed=4),
        stage("transformer", "dry_type_transformer_modern", size=1.7, place="outside"),
    )
