"""Fuels and refrigerants of a site, as ``site.yaml`` states them."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from energy.carbon.greenhouse_gases import leak
from energy.catalogue.fuels import fuel
from energy.errors import EnergyError
from energy.units import quantity

GwpSet = Literal["AR4", "AR5", "AR6"]


class _Dated(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    start: date = Field(alias="from")
    end: date = Field(alias="to")

    @model_validator(mode="after")
    def _forward(self) -> _Dated:
        if self.end <= self.start:
            raise ValueError(f"`to` ({self.end}) is not after `from` ({self.start})")
        return self


class FuelUse(_Dated):
    """Fuel that was burnt on the site in a period, by volume or by heat (higher heating value)."""

    fuel: str
    volume_l: float | None = Field(None, ge=0, allow_inf_nan=False)
    heat_kwh: float | None = Field(None, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _known(self) -> FuelUse:
        if (self.volume_l is None) == (self.heat_kwh is None):
            raise ValueError("give volume_l or heat_kwh (higher heating value), one of them")
        try:
            row = fuel(self.fuel)
        except EnergyError as error:
            raise ValueError(str(error)) from None
        if self.volume_l is not None and row.co2_kg_per_l is None:
            raise ValueError(f"nothing is known per litre of {row.fuel}: give heat_kwh")
        return self


class RefrigerantLoss(_Dated):
    """Refrigerant that leaked, or was topped up, in a period."""

    refrigerant: str
    lost_kg: float = Field(ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _known(self) -> RefrigerantLoss:
        try:
            leak(self.refrigerant, quantity(1.0, "kg"), "AR6")
        except EnergyError as error:
            raise ValueError(str(error)) from None
        return self
