"""Fit the power of diffusion, ``datasets/power_diffusion.csv``, on ML.ENERGY.

Run from the repository: ``python scripts/fit_power_diffusion.py [diffusion_energy.csv]`` (default
``../shared/validation/diffusion_energy.csv``). Two terms for all chips, models and tasks; errors and bands are those of
whole models left out. The same input gives the same terms.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from catalogue_fields import FIELDS
from catalogue_io import Row, write
from numpy.typing import NDArray
from scipy.optimize import least_squares

from energy.power.diffusion import fraction
from energy.power.states import curve_of, idle_watts
from energy.validation.diffusion_energy import NEEDED, work_of
from energy.validation.statistics import read_rows
from energy.validation.training_rows import words

ROOT = Path(__file__).resolve().parent.parent
Numbers = NDArray[np.float64]
HUBER_LN = 0.1


def _fit(used: Numbers, context: Numbers, measured: Numbers) -> Numbers:
    """Return ln gain and exponent; rows far from the fit are held back."""

    def error(values: Numbers) -> Numbers:
        return np.log(fraction(context, used, float(np.exp(values[0])), float(values[1])) / measured)

    return np.asarray(least_squares(error, [2.0, 1.0], loss="soft_l1", f_scale=HUBER_LN).x)


def main(arguments: Sequence[str]) -> None:
    """Fit, leave models out, write the table."""
    path = Path(arguments[0]) if arguments else ROOT / "../shared/validation/diffusion_energy.csv"
    rows = read_rows(path, NEEDED)
    work = [work_of(row) for row in rows]
    curves = [curve_of(chip, "bf16") for chip, _, _ in work]
    limit = np.array([one.power_limit_w for one in curves])
    context = np.array([idle_watts(one.chip_id, one, one.power_limit_w).context_w for one in curves]) / limit
    used, measured = np.array([one for _, one, _ in work]), np.array([one for _, _, one in work]) / limit
    models = np.array([words(row, "model") for row in rows])
    left = np.zeros(len(rows))
    for model in np.unique(models):
        out = models == model
        gain, exponent = _fit(used[~out], context[~out], measured[~out])
        left[out] = np.log(fraction(context[out], used[out], float(np.exp(gain)), float(exponent)) / measured[out])
    gain, exponent = _fit(used, context, measured)
    size = np.abs(np.expm1(left))
    video = np.array([words(row, "task") == "text-to-video" for row in rows])
    note = (
        f"whole models left out: MAPE {100 * size.mean():.1f} %, median {100 * np.median(size):.1f} %, "
        f"images {100 * size[~video].mean():.1f} %, videos {100 * size[video].mean():.1f} %, {len(rows)} rows"
    )
    values = {
        "gain": float(np.exp(gain)),
        "exponent": float(exponent),
        "band80_ln": float(np.quantile(np.abs(left), 0.8)),
        "band95_ln": float(np.quantile(np.abs(left), 0.95)),
    }
    table: list[Row] = [
        {"term": term, "value": round(value, 4), "source": "mlenergy", "status": "derived", "note": note}
        for term, value in values.items()
    ]
    write(ROOT / "datasets/power_diffusion.csv", [field["name"] for field in FIELDS["power_diffusion"]], table)
    print(note, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
