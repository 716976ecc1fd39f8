"""Readings of boards: power, utilisation or energy by host, device index and time, from any CSV or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from energy.importers.base import Batch, Context
from energy.importers.convert import Floats, Mask, Refusals, instants, numbers
from energy.importers.mapping import Mapping
from energy.importers.tabular import RawBatch, read_batches

if TYPE_CHECKING:
    import pyarrow as pa

MOST_OF_TDP = (
    2.0  # a reading above twice the vendor's maximum is no reading: spikes seen in public traces stay under 1.5
)


class PowerImporter:
    """Generic importer of board readings."""

    name = "power"
    meaning = "readings of boards: power (…_chip), utilisation or energy by host, device and time"

    def read(self, path: Path, mapping: Mapping, context: Context) -> Iterator[Batch]:
        """Yield readings: ``host`` (dictionary), ``device_index``, ``time_ms``, and what was read."""
        for raw in read_batches(path, mapping.source_columns(), dictionary=[mapping.columns["host"].column]):
            yield _batch(raw, mapping, context)


def _batch(raw: RawBatch, mapping: Mapping, context: Context) -> Batch:
    import pyarrow as pa

    refusals = Refusals(raw.table, raw.row_number)
    time_ms, timed = instants(raw.table, mapping.columns["time_utc"], context.timezone or mapping.timezone, refusals)
    refusals.add_where(~timed, "the reading has no time")
    host = _host(raw, mapping, context, refusals)
    index, indexed = numbers(raw.table, mapping.columns["device_index"].column, refusals)
    refusals.add_where(~indexed, "the reading has no device index")
    power, has_power = _read(raw, mapping, "power", "mW_chip", refusals)
    used, has_use = _utilisation(raw, mapping, refusals)
    energy, has_energy = _read(raw, mapping, "energy", "uJ_chip", refusals)
    nothing = ~(has_power | has_use | has_energy)
    refusals.add_where(nothing, "no reading in the row: leave it out; a gap is not zero")
    _check_most(power, has_power, host, context, refusals)
    table = pa.table(
        {
            "row_number": pa.array(raw.row_number),
            "host": host,
            "device_index": pa.array(index.astype(np.int32)),
            "time_ms": pa.array(time_ms),
            "power_milliw": pa.array(np.rint(power).astype(np.int64), mask=~has_power),
            "utilisation_pct": pa.array(used.astype(np.float32), mask=~has_use),
            "energy_microj": pa.array(np.rint(energy).astype(np.int64), mask=~has_energy),
        }
    )
    accepted = refusals.accepted()
    rejects = sorted([*raw.rejects, *refusals.rejects()], key=lambda reject: reject.row_number)
    table = table if accepted.all() else table.filter(pa.array(accepted))
    return Batch(table, rejects, raw.table.num_rows + len(raw.rejects))


def _host(raw: RawBatch, mapping: Mapping, context: Context, refusals: Refusals) -> pa.DictionaryArray:
    """Return the hosts as a dictionary; refuse rows of hosts that no site has."""
    import pyarrow as pa

    column = raw.table.column(mapping.columns["host"].column).combine_chunks()
    encoded = column if pa.types.is_dictionary(column.type) else column.cast(pa.string()).dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.unify_dictionaries().combine_chunks()
    names = [None if name is None else name.strip() for name in encoded.dictionary.to_pylist()]
    indices = np.asarray(encoded.indices.fill_null(-1)).astype(np.int64)
    refusals.add_where(indices < 0, "the reading names no host")
    for position, name in enumerate(names):
        if not name or context.site_of_host(name) is None:
            refusals.add_where(
                indices == position,
                f"host {name or '(blank)'} is in no site: add it to hosts in site.yaml, or ingest an inventory",
            )
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(names, pa.string()))


def _read(raw: RawBatch, mapping: Mapping, field: str, unit: str, refusals: Refusals) -> tuple[Floats, Mask]:
    from energy import units

    rule = mapping.columns.get(field)
    if rule is None:
        return np.zeros(raw.table.num_rows), np.zeros(raw.table.num_rows, bool)
    values, present = numbers(raw.table, rule.column, refusals)
    return values * units.scale(str(rule.unit), unit), present


def _utilisation(raw: RawBatch, mapping: Mapping, refusals: Refusals) -> tuple[Floats, Mask]:
    rule = mapping.columns.get("utilisation")
    if rule is None:
        return np.zeros(raw.table.num_rows), np.zeros(raw.table.num_rows, bool)
    values, present = numbers(raw.table, rule.column, refusals)
    percent = values * (1.0 if rule.unit in ("%", "percent") else 100.0)
    refusals.add_where(present & (percent > 100), f"{rule.column} is over 100 %: check its unit in the mapping")
    return percent, present


def _check_most(power: Floats, present: Mask, host: Any, context: Context, refusals: Refusals) -> None:
    """Refuse readings that no such board can draw: mostly a wrong unit, such as mW mapped as W."""
    from energy.catalogue.chips import chip

    indices = np.asarray(host.indices.fill_null(0)).astype(np.int64)
    most = np.full(len(host.dictionary) or 1, np.inf)
    for position, name in enumerate(host.dictionary.to_pylist()):
        chip_id = context.chip_of_host(name) if name else None
        tdp_w = None if chip_id is None else chip(chip_id).tdp_w
        if tdp_w is not None:
            most[position] = MOST_OF_TDP * tdp_w * 1000
    for row in np.flatnonzero(present & (power > most[indices])).tolist():
        limit = most[indices[row]] / 1000 / MOST_OF_TDP
        refusals.add(row, f"{power[row] / 1000:g} W is over twice the board's maximum of {limit:g} W: check the unit")


importer = PowerImporter()
