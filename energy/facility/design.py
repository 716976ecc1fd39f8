"""A site as a person describes it: a named case, what differs from it, load, power chain, liquid cooling, reuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from energy.errors import FacilityError
from energy.facility.cases import CHAIN, Case, case, split
from energy.facility.liquid import AIR, Liquid, liquid, loop
from energy.facility.operators import Published
from energy.facility.plant import Chiller, System, check_bounds
from energy.facility.power_chain import AnyChain, Chain, FractionChain, Stage
from energy.facility.refrigerants import Leakage
from energy.facility.reuse import Reuse
from energy.facility.site_year import Facility

Numbers = NDArray[np.float64]
ItPower = Literal["air-cooled", "as built"]
_FANS = ("fan_exponent", "fan_floor", "fan_heat_fraction")
LOOP_PARAMETERS = ("capture_fraction", "supply_c", "pump_fraction")


@dataclass(frozen=True, slots=True)
class LiquidDesign:
    """A loop as described.

    ``it_power`` : of which servers the stated IT power is. ``air-cooled``: the same servers with fans, whose power
    falls when the fans go; ``as built``: it stays as stated. ``values`` : figures that differ from the technology's.
    """

    technology: str
    it_power: ItPower
    heat_sink: Literal["dry_cooler", "waterside"] = "dry_cooler"
    chiller: Chiller = "none"
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A site as described.

    ``rated_it_kw`` : kW of the IT that power chain and fans are laid out for; ``it_load`` : fraction of it, one number
    or one per hour; ``values`` : parameters that differ from the case's; ``stages`` : power chain by stages, else
    fractions; ``published`` : what an operator prints of the place, shown beside.
    """

    name: str
    case_id: str
    rated_it_kw: float
    it_load: float | Numbers
    values: Mapping[str, float] = field(default_factory=dict)
    stages: tuple[Stage, ...] | None = None
    liquid: LiquidDesign | None = None
    reuse: Reuse | None = None
    leaks: tuple[Leakage, ...] = ()
    published: Published | None = None

    def __post_init__(self) -> None:
        """Refuse names that are no parameter, a rating that is none, and parameters that nothing reads."""
        split(self.values)
        check_bounds(self.values, self.name)
        case(self.case_id)
        if not self.rated_it_kw > 0.0:
            raise FacilityError(f"{self.name}: rated_it {self.rated_it_kw:g} kW must be above zero.")
        _refuse_idle(self)
        unused = [name for name in CHAIN[:2] if name in self.values and self.stages is not None]
        if unused:
            raise FacilityError(f"{self.name}: {unused[0]} has no effect beside a power chain by stages: leave it out.")
        if self.liquid is not None:
            check_bounds(self.liquid.values, f"{self.name}: liquid")
        if self.liquid is not None and self.liquid.it_power not in ("air-cooled", "as built"):
            raise FacilityError(
                f"{self.name}: it_power {self.liquid.it_power!r} of liquid must be 'air-cooled' (fans go, IT power "
                "falls) or 'as built'."
            )

    @property
    def case(self) -> Case:
        """The named case."""
        return case(self.case_id)

    @property
    def fan_factor(self) -> float:
        """IT power as built over IT power as stated: below 1 where fans leave the servers."""
        if self.liquid is None or self.liquid.it_power == "as built":
            return 1.0
        before, after = liquid(AIR), liquid(self.liquid.technology)
        left = self.liquid.values.get("server_fan_fraction", after.server_fan_fraction)
        return (1.0 - before.server_fan_fraction) / (1.0 - left)

    @property
    def built_it_kw(self) -> float:
        """Rated IT power as built, kW."""
        return self.rated_it_kw * self.fan_factor

    def with_air(self) -> Design:
        """Return the same computing with air-cooled servers: no loop, no heat reuse, IT power of air-cooled servers."""
        rated = self.rated_it_kw
        if self.liquid is not None and self.liquid.it_power == "as built":
            before, after = liquid(AIR), liquid(self.liquid.technology)
            rated *= (1.0 - after.server_fan_fraction) / (1.0 - before.server_fan_fraction)
        return replace(self, liquid=None, reuse=None, rated_it_kw=rated, name=f"{self.name}, air-cooled")

    def facility(self, points: Mapping[str, Any] | None = None) -> Facility:
        """Return the site that can be computed.

        Parameters
        ----------
        points : mapping of str to float or array, optional
            Values of parameters in place of the middle of their ranges; what the design states goes before.

        """
        values: dict[str, Any] = {**self.case.middle(), **(points or {}), **self.values}
        plant, fractions = split({name: value for name, value in values.items() if not name.startswith("loop_")})
        chain: AnyChain
        if self.stages is None:
            chain = FractionChain(**{name: fractions[name] for name in CHAIN})
        else:
            chain = Chain(self.stages, fractions["lighting_fraction"])
        built = None
        if self.liquid is not None:
            drawn = {name: values[f"loop_{name}"] for name in LOOP_PARAMETERS if f"loop_{name}" in values}
            stated = {name: value for name, value in self.liquid.values.items() if name != "server_fan_fraction"}
            chosen: dict[str, Any] = drawn | stated
            sink = {"heat_sink": self.liquid.heat_sink, "chiller": self.liquid.chiller}
            built = loop(self.liquid.technology, **chosen, **sink)
        return Facility(self.case.system, plant, chain, built, self.reuse)

    def samples(self, count: int, seed: int) -> dict[str, Numbers]:
        """Return points of all ranges: of the case, and of the loop."""
        points = self.case.samples(count, seed)
        if self.liquid is not None:
            one, generator = liquid(self.liquid.technology), np.random.default_rng([seed, 1])
            for name in LOOP_PARAMETERS:
                low, high = _ends(one, name)
                places = (generator.permutation(count) + generator.random(count)) / count
                points[f"loop_{name}"] = low + (high - low) * places
        return points


def _refuse_idle(design: Design) -> None:
    """Refuse a stated parameter that neither the air side nor the loop reads."""
    read = {*CHAIN, *_FANS, *design.case.system.needed}
    if design.liquid is not None:
        read |= set(System(design.liquid.chiller, design.liquid.heat_sink).needed)
    idle = [name for name in design.values if name not in read]
    if idle:
        raise FacilityError(
            f"{design.name}: {idle[0]} has no effect, since {design.case_id} has no such part. Leave it out, or name "
            "another case."
        )


def _ends(one: Liquid, name: str) -> tuple[float, float]:
    return float(getattr(one, f"{name}_low")), float(getattr(one, f"{name}_high"))
