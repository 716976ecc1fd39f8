"""Readings of boards: power, utilisation or energy by host, device index and time, from any CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from energy.importers.base import Batch, Context, HostPeriod
from energy.importers.convert import Floats, Ints, Mask, Refusals, numbers, words
from energy.importers.mapping import SHARES, Mapping, counter_range_microj
from energy.importers.places import Places, check_device, places
from energy.importers.tabular import RawBatch, ahead, read_batches
from energy.importers.times import instants

MOST_OF_TDP = (
    2.0  # a reading above twice the vendor's maximum is no reading: spikes seen in public traces stay under 1.5
)
MOST_W = 100_000.0  # of a chip whose maximum is not known: the largest single device, a wafer, draws a quarter of it
_MOST_ENERGY_MICROJ = 9e18  # a whole number of 64 bits


class PowerImporter:
    """Generic importer of board readings."""

    name = "power"
    meaning = "readings of boards: power (…_chip), utilisation, energy or a counter of it by host, device and time"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield readings: ``host`` (dictionary), ``device_index``, ``time_ms``, and what was read."""
        batches = read_batches(path, mapping.source_columns(), dictionary=[mapping.columns["host"].column])
        zeros = 0
        for batch in ahead(batches, lambda raw: _batch(raw, mapping, context)):
            zeros += _count_zeros(batch)
            yield batch
        if zeros:
            context.notes.append(
                f"{zeros:,} readings of 0 W are stored as they are, though a board that answers draws power: if they "
                "are gaps, withdraw the file and leave these rows out"
            )


def _count_zeros(batch: Batch) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    return int(pc.sum(pc.equal(batch.table.column("power_milliw"), pa.scalar(0, pa.int64()))).as_py() or 0)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw)
    time_ms, timed = instants(raw.table, mapping.columns["time_utc"], context.timezone or mapping.timezone, refusals)
    refusals.add_where(~timed, "the reading has no time: fill it in")
    host = words(raw.table, mapping.columns["host"].column)
    refusals.add_where(host.absent, "the reading names no host: fill it in")
    at = places(host, time_ms, timed, context, refusals)
    index, indexed = numbers(raw.table, mapping.columns["device_index"].column, refusals, whole=True, most=65_535)
    refusals.add_where(~indexed, "the reading has no device index: fill it in, counting from 0")
    check_device(index, indexed, host, at, refusals)
    power, has_power = _read(raw, mapping, "power", "mW_chip", refusals)
    shares = {name: _share(raw, mapping, name, refusals) for name in SHARES if name in mapping.columns}
    energy, has_energy = _energy(raw, mapping, "energy", refusals)
    counter, has_counter = _energy(raw, mapping, "counter", refusals)
    has_any = has_power | has_energy | has_counter
    for _, has_share in shares.values():
        has_any = has_any | has_share
    refusals.add_where(~has_any, "no reading in the row: leave it out; a gap is not zero")
    power = _check_most(power, has_power, at, refusals)
    return refusals.batch(
        {
            "host": host.array(),
            "device_index": pa.array(index.astype(np.int32)),
            "time_ms": pa.array(time_ms),
            "power_milliw": _whole(power, has_power),
            "utilisation_pct": pa.nulls(power.size, pa.float32()),
            **{
                f"{name}_pct": pa.array(share.astype(np.float32), mask=None if has_share.all() else ~has_share)
                for name, (share, has_share) in shares.items()
            },
            "energy_microj": _whole(energy, has_energy),
            "counter_microj": _whole(counter, has_counter),
            "counter_range_microj": _range(mapping, has_counter),
        }
    )


def _whole(values: Floats, present: Mask) -> object:
    import pyarrow as pa

    if not present.any():
        return pa.nulls(values.size, pa.int64())
    return pa.array(np.rint(values).astype(np.int64), mask=None if present.all() else ~present)


def _range(mapping: Mapping, has_counter: Mask) -> object:
    import pyarrow as pa

    span = counter_range_microj(mapping, mapping.name)
    if span is None:
        return pa.nulls(has_counter.size, pa.int64())
    return pa.array(np.full(has_counter.size, span), mask=None if has_counter.all() else ~has_counter)


def _read(raw: RawBatch, mapping: Mapping, field: str, unit: str, refusals: Refusals) -> tuple[Floats, Mask]:
    from energy import units

    rule = mapping.columns.get(field)
    if rule is None:
        return np.zeros(raw.table.num_rows), np.zeros(raw.table.num_rows, bool)
    values, present = numbers(raw.table, rule.column, refusals, most=1e290)
    return values * units.scale(str(rule.unit), unit), present


def _energy(raw: RawBatch, mapping: Mapping, field: str, refusals: Refusals) -> tuple[Floats, Mask]:
    energy, present = _read(raw, mapping, field, "uJ_chip", refusals)
    over = present & (energy > _MOST_ENERGY_MICROJ)
    if over.any():
        column = mapping.columns[field].column
        refusals.add_where(over, f"{column} is over 2.5 GWh in one reading: check its unit in the mapping")
        energy = np.where(over, 0.0, energy)
    return energy, present & ~over


def _share(raw: RawBatch, mapping: Mapping, name: str, refusals: Refusals) -> tuple[Floats, Mask]:
    rule = mapping.columns[name]
    values, present = numbers(raw.table, rule.column, refusals, most=1e30)
    percent = values * (1.0 if rule.unit in ("%", "percent") else 100.0)
    over = present & (percent > 100)
    refusals.add_where(over, f"{rule.column} is over 100 %: correct it, or check its unit in the mapping")
    return np.where(over, 0.0, percent) if over.any() else percent, present & ~over


def _most_milliw(period: HostPeriod) -> tuple[float, str]:
    from energy.catalogue.chips import chip

    tdp_w = None if period.chip_id is None else chip(period.chip_id).tdp_w
    if tdp_w is None:
        return MOST_W * 1000, f"more than any device draws ({MOST_W:g} W)"
    return MOST_OF_TDP * tdp_w * 1000, f"over twice the board's maximum of {tdp_w:g} W"


def _check_most(power: Floats, present: Mask, at: Places, refusals: Refusals) -> Floats:
    """Refuse readings that no such board can draw: mostly a wrong unit, such as mW mapped as W."""
    limits = [_most_milliw(period) for period in at.periods] + [(MOST_W * 1000, "more than any device draws")]
    most = np.array([limit for limit, _ in limits])[at.period]
    over = present & (power > most)
    if not over.any():
        return power
    period: Ints = at.period
    refusals.add_each(
        over, lambda row: f"{power[row] / 1000:g} W is {limits[period[row]][1]}: check the unit in the mapping"
    )
    return np.where(over, 0.0, power)


importer = PowerImporter()
