"""Fit the tables of node power in ``datasets/`` to results of MLPerf that measured the plug.

Run from the repository: ``python scripts/fit_power_node.py [SHARED]`` (default ``../shared``), after
``curate_catalogue.py`` has declared the tables. The same input gives the same bytes up to the rounding of the linear
algebra. Coefficients are pooled by chip, benchmark, scenario and class of host: none is of a row or a submitter, and
the single points of ``node_power_points.csv`` take no part. Errors in the tables are of whole systems, submitters and
chips that were left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import node_priors
import numpy as np
from catalogue_fields_node import FIELDS
from catalogue_io import write
from fit_robust import groups, parameters
from node_rows import Rows, gather
from numpy.typing import NDArray

from energy.catalogue import _tables
from energy.power import benchmarks, node_parts, submissions
from energy.power.benchmarks import KINDS

Floats = NDArray[np.float64]
ROOT = Path(__file__).resolve().parent.parent
TRAINING_WEIGHT = 4  # rows of training are few: each counts as so many of inference
LEAST_IDLE = 5  # idle nodes of a group of hosts: fewer take the errors of all
FOLDS = 12


def _write(table: str, rows: list[dict[str, Any]]) -> None:
    write(ROOT / "datasets" / f"{table}.csv", [field["name"] for field in FIELDS[table]], rows)
    print(f"{table}: {len(rows)} rows", file=sys.stderr)


def forget() -> None:
    """Clear what was read of the tables of this script."""
    for cached in (node_parts.terms, node_parts._classes, submissions._accelerators, benchmarks.coefficients):
        cached.cache_clear()


def start_from_priors() -> None:
    """Let the readers see the tables before the fit, without writing them: the same start gives the same result."""
    written = _tables.rows
    priors = {
        "power_node": node_priors.terms(),
        "power_node_hosts": node_priors.hosts(),
        "power_node_accelerators": node_priors.accelerators(),
    }

    def rows(table: str) -> tuple[_tables.Row, ...]:
        if table not in priors:
            return written(table)
        names = [field["name"] for field in FIELDS[table]]
        return tuple(
            _tables.Row({name: row.get(name) for name in names}, line) for line, row in enumerate(priors[table], 2)
        )

    vars(_tables)["rows"] = rows
    forget()


def load(shared: Path) -> Rows:
    """Return the measured rows; the tables before the fit must be set: see `start_from_priors`."""
    return Rows(gather(shared))


def fit(rows: Rows, which: NDArray[np.bool_]) -> Floats:
    """Return the parameters by the rows chosen; rows of training count several times."""
    chosen = np.flatnonzero(which)
    repeated = np.concatenate([chosen, *[chosen[rows.suite[chosen] == "training"]] * (TRAINING_WEIGHT - 1)])
    return parameters(lambda theta: (rows.ln_of(theta) - rows.ln_watts)[repeated], *_start(rows))


def _start(rows: Rows) -> tuple[Floats, Floats]:
    return np.array(rows.parameters.start), np.array(rows.parameters.pull)


def left_out(rows: Rows, labels: NDArray[np.str_]) -> Floats:
    """Return the errors in ln watts of whole groups left out of the fit."""
    errors = np.full(len(labels), np.nan)
    for group in np.unique(labels):
        test = labels == group
        theta = fit(rows, ~test)
        errors[test] = (rows.ln_of(theta) - rows.ln_watts)[test]
    return errors


def _folds(labels: NDArray[np.str_]) -> NDArray[np.str_]:
    """Return the fold of each row: whole systems stay together, since one fit for each of a hundred takes minutes."""
    numbers = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return groups(numbers, FOLDS).astype(np.str_)


def _mape(errors: Floats) -> float:
    return float(np.abs(np.expm1(errors)).mean())


def _terms(value: dict[tuple[str, str], float]) -> list[dict[str, Any]]:
    """Return the rows of ``power_node`` with what was fitted."""
    factor = {f"cpu_tdp_{name}_w": value["tier", name] for name in ("platinum", "gold", "silver")}
    factor |= dict.fromkeys(("cpu_tdp_base_w", "cpu_tdp_w_per_core"), value["tier", "cores"])
    result = node_priors.terms()
    for row in result:
        name = row["term"]
        fitted = value.get(("fan", name.removeprefix("fan_share_"))) if name.startswith("fan_share_") else None
        if name == "host_rest_fraction":
            fitted = min(value["rest", "any"], 1.0)
        if fitted is None and name in factor:
            fitted = row["value"] * factor[name]
        if fitted is not None:
            row["value"] = round(fitted, 4)
            row["value_low"], row["value_high"] = (min(row["value_low"], fitted), max(row["value_high"], fitted))
            row["source"] = f"mlperf_power;{row['source']}"
            row["note"] = f"fitted around: {row['note']}"
    return result


def _hosts(rows: Rows, value: dict[tuple[str, str], float], out: Floats) -> list[dict[str, Any]]:
    """Return the rows of ``power_node_hosts`` with what was fitted; bands are of idle nodes of systems left out."""
    idle = rows.at == "idle"
    around = np.abs(out) / rows.host_share
    result = node_priors.hosts()
    for row in result:
        name = row["host_class"]
        if ("host", name) not in value:
            continue
        own = rows.host_class == name
        alike = rows.level == benchmarks.BAND_GROUPS.get(name, "small")
        loss = value["supply", name] * (1.0 / row["supply_efficiency"] - 1.0)
        some = idle & alike if (idle & alike).sum() >= LEAST_IDLE else idle
        row |= {
            "scale": round(value["host", name], 4),
            "supply_efficiency": round(1.0 / (1.0 + loss), 4),
            "rows": int(own.sum()),
            "band80_ln": round(float(np.quantile(around[some], 0.8)), 4),
            "band95_ln": round(float(np.quantile(around[some], 0.95)), 4),
            "source": f"mlperf_power;{row['source']}",
        }
    return result


def _activity(rows: Rows, value: dict[tuple[str, str], float]) -> list[dict[str, Any]]:
    """Return the rows of ``power_node_activity``."""
    result = [
        {
            "kind": kind,
            "name": name,
            "value": round(min(found, 1.0) if kind == "waiting" else found, 4),
            "rows": rows.parameters.uses[kind, name],
            "source": "mlperf_power",
            "status": "derived",
        }
        for (kind, name), found in value.items()
        if kind in (*KINDS, "waiting")
    ]
    return sorted(result, key=lambda row: (row["kind"], row["name"]))


def _bands(rows: Rows, final: Floats, out: dict[str, Floats]) -> list[dict[str, Any]]:
    """Return the rows of ``power_node_bands``; for chips that nobody measured, of chips left out.

    Else of each row twice, as fitted and with its system left out: a system that is asked for is like some that were
    measured.
    """
    busy = rows.at != "idle"
    result = []
    for level in ("training", "platform", "server", "small", "chip"):
        own = busy & ((rows.suite == "inference") if level == "chip" else (rows.level == level))
        errors = {name: values[own] for name, values in out.items()}
        size = np.abs(errors["chip"]) if level == "chip" else np.abs(np.concatenate([final[own], errors["system"]]))
        result.append(
            {
                "level": level,
                "rows": int(own.sum()),
                "mape_fraction": round(_mape(final[own]), 4),
                **{f"mape_{name}_fraction": round(_mape(values), 4) for name, values in errors.items()},
                "band80_ln": round(float(np.quantile(size, 0.8)), 4),
                "band95_ln": round(float(np.quantile(size, 0.95)), 4),
                "source": "mlperf_power",
                "status": "derived",
            }
        )
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and write the tables."""
    parser = argparse.ArgumentParser(description="Fit the tables of node power.")
    parser.add_argument("shared", nargs="?", type=Path, default=ROOT / "../shared")
    options = parser.parse_args(arguments)
    start_from_priors()
    rows = load(options.shared)
    theta = fit(rows, np.ones(len(rows.ln_watts), np.bool_))
    final = rows.ln_of(theta) - rows.ln_watts
    value = {name: float(np.exp(one)) for name, one in zip(rows.parameters.names, theta, strict=True)}
    out = {"system": left_out(rows, _folds(rows.system)), "submitter": left_out(rows, rows.submitter)}
    out["chip"] = left_out(rows, rows.chip)
    for name, errors in {"final fit": final, **out}.items():
        print(f"-- {name}", file=sys.stderr)
        _report(rows, errors)
    _write("power_node_accelerators", node_priors.accelerators())
    _write("power_node", _terms(value))
    _write("power_node_hosts", _hosts(rows, value, out["system"]))
    _write("power_node_activity", _activity(rows, value))
    _write("power_node_bands", _bands(rows, final, out))


def _report(rows: Rows, error: Floats) -> None:
    busy = rows.at != "idle"
    for suite in ("training", "inference"):
        some = busy & (rows.suite == suite)
        print(f"{suite}: {_mape(error[some]):.4f} of {some.sum()} rows", file=sys.stderr)
        for name in np.unique(rows.submitter[some]):
            own = some & (rows.submitter == name)
            print(f"  {name}: {_mape(error[own]):.4f} {own.sum()}", file=sys.stderr)
    print(f"idle: {_mape(error[~busy]):.4f} of {(~busy).sum()}", file=sys.stderr)


if __name__ == "__main__":
    main()
