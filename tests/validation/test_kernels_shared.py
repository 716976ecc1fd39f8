"""Kernel times against the measured kernels: errors on shapes, lengths and chips that were left out of the fit."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from energy.catalogue import _tables
from energy.cost.kernels.collectives import node_collective_time_s
from energy.cost.kernels.validation import ATTENTION_COLUMNS, GEMM_COLUMNS, compare_attention, compare_gemm

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def kernels(shared_folder):
    folder = shared_folder / "data/kernels"
    if not (folder / "gemm_latency.parquet").is_file():
        pytest.skip(f"no measured kernels at {folder}")
    return folder


@pytest.fixture(scope="module")
def fit(kernels):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPTS))
        yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith("fit_")]:
        del sys.modules[name]


def _table(path, columns):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(path, columns=list(columns))
    return {name: table[name].to_numpy() for name in columns}


def _errors(found):
    return np.abs(found.predicted_s / found.measured_s - 1)


@pytest.mark.parametrize(
    "row", _tables.rows("kernel_gemm"), ids=lambda row: f"{row.text('chip_id')}-{row.text('precision')}"
)
def test_products_left_out_are_within_eight_per_cent(row):
    assert row.number("median_error_fraction") <= 0.08
    assert row.number("median_error_m_fraction") <= 0.08


def test_the_stored_errors_are_those_of_a_fit_without_the_shapes(fit, kernels):
    """The table is refitted for two kernels: coefficients and errors come out again."""
    module = fit("fit_gemm")
    data = module.load(kernels)
    stored = {(row.text("chip_id"), row.text("precision")): row for row in _tables.rows("kernel_gemm")}
    for key in (("nvidia_h100_sxm5_80", "bf16"), ("nvidia_b200_sxm", "fp4")):
        made, surface = module.fit(*key, data[key])
        for name in ("compute_efficiency", "memory_efficiency", "median_error_fraction", "median_error_m_fraction"):
            assert made[name] == pytest.approx(stored[key].number(name), rel=0.01), name
        assert len(surface) == 15


def test_products_of_all_chips_lie_in_their_bands(kernels):
    found = compare_gemm(_table(kernels / "gemm_latency.parquet", GEMM_COLUMNS))
    assert not found.reasons
    assert np.median(_errors(found)) < 0.04
    inside80 = np.mean((found.low80_s <= found.measured_s) & (found.measured_s <= found.high80_s))
    inside95 = np.mean((found.low95_s <= found.measured_s) & (found.measured_s <= found.high95_s))
    # Bands come from rows left out, so that they hold a little more of the rows that were fitted.
    assert 0.78 < inside80 < 0.90
    assert 0.94 < inside95 < 0.99


def test_a_bias_is_small_on_every_chip(kernels):
    table = _table(kernels / "gemm_latency.parquet", GEMM_COLUMNS)
    found = compare_gemm(table)
    for chip in np.unique(table["chip"]):
        rows = table["chip"] == chip
        assert abs(np.median(found.predicted_s[rows] / found.measured_s[rows]) - 1) < 0.015, chip


def test_attention_left_out_is_within_ten_per_cent_but_for_the_widest_heads():
    for row in _tables.rows("kernel_attention"):
        limit = 0.2 if row.integer("head_dim") == 512 else 0.1
        assert row.number("median_error_fraction") <= limit, row.values


def test_attention_lies_in_its_bands_where_the_rows_can_be_true(kernels, fit):
    found = compare_attention(_table(kernels / "attention_latency_power.parquet", ATTENTION_COLUMNS))
    assert not found.reasons
    assert np.median(_errors(found)) < 0.05
    inside = np.mean((found.low80_s <= found.measured_s) & (found.measured_s <= found.high80_s))
    assert 0.72 < inside < 0.92


def test_large_caches_are_read_below_the_bandwidth_although_rows_say_otherwise(kernels):
    """The suspect rows of the B200 read faster than its memory: the model must not follow them."""
    from energy.cost.kernels import attention_time_s

    for chip, bandwidth in (("nvidia_b200_sxm", 8e12), ("nvidia_gb200", 8e12), ("nvidia_h200_sxm", 4.8e12)):
        batch, keys = np.array([64.0, 256.0, 512.0]), np.array([131072.0, 32768.0, 16384.0])
        time = attention_time_s(chip, "bf16", batch, 64, 8, 128, 1, keys).time_s
        assert (2 * batch * 8 * 128 * keys * 2 / time < bandwidth).all(), chip


def test_collectives_are_met_at_every_size(fit, kernels):
    """In all, and for each chip, kind and size of a group within the error that its row of the table states."""
    from energy.catalogue import _tables

    stated = {
        (row.text("chip_id"), row.text("operation"), row.integer("group_size")): row.number("band95_ln")
        for row in _tables.rows("kernel_collective")
    }
    data = fit("fit_collectives").load(kernels)
    assert data.keys() == stated.keys()
    errors = {
        (chip, kind, count): np.log(node_collective_time_s(chip, kind, size, count).time_s / time)
        for (chip, kind, count), (size, time) in data.items()
    }
    for key, own in errors.items():
        assert np.mean(np.abs(own) <= stated[key]) >= 0.85, key
    every = np.abs(np.expm1(np.concatenate(list(errors.values()))))
    assert np.median(every) < 0.03
    assert np.quantile(every, 0.9) < 0.15


def test_chips_left_out_are_predicted_by_their_kin_within_the_stored_errors(fit, kernels):
    module = fit("fit_gemm")
    data = {key: rows for key, rows in module.load(kernels).items() if key[0].startswith("nvidia_h")}
    by_step = module.left_out(data)
    assert np.median(np.abs(np.concatenate([errors for _, _, errors in by_step[1]]))) < 0.05
