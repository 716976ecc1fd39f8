"""Suite ``training-energy``: energy of published training runs, from their hours and our power.

A run whose energy was measured is answered by hours × our power at the row's scope (boards, system, facility by the
row's own PUE); its measured power is not read. A row that is itself hours × an assumed power is scored as arithmetic.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from energy import catalogue
from energy.cost.kernels.coefficients import kernel_chip, peak_flop_per_s
from energy.errors import PowerError
from energy.power.accelerators import usual_precision
from energy.power.node import node_power
from energy.power.training import training_power, usual_node
from energy.power.training_profile import Utilisation, usual_utilisation
from energy.validation.statistics import Compared, Outcome, each_row, read_rows
from energy.validation.training_rows import Row, chip_of, number, words

Numbers = NDArray[np.float64]
NEEDED = (
    *("model", "accelerator", "accelerator_hours", "power_per_accelerator_w", "power_basis", "pue"),
    *("reported_energy_mwh", "energy_scope", "independent_of_tdp"),
)
#: Form factors that the file leaves open; the first generation of memory of that chip.
_CHIPS = {
    "nvidia_v100_sxm2": "nvidia_v100_sxm2_16",
    "nvidia_a100_sxm_40gb": "nvidia_a100_sxm4_40",
    "nvidia_a100_sxm_80gb": "nvidia_a100_sxm4_80",
    "nvidia_h100_sxm": "nvidia_h100_sxm5_80",
}
#: A utilisation from parameters and tokens leaves attention and restarts out: within so much either way.
_COUNTED = 0.2
_BOUNDARY = {"boards": "chip", "system": "it", "facility": "facility"}


class Watts(NamedTuple):
    """Watts per chip at a scope: value, then low and high of 80 %, then of 95 %."""

    value: float
    bands: tuple[float, float, float, float]


def training_energy(path: Path) -> Outcome:
    """Return predicted against measured energy of training runs, of a file with the columns of training_energy.csv.

    Raises
    ------
    InputFileError
        When the file cannot be read.
    """
    compared, failures = each_row(
        read_rows(path, NEEDED),
        lambda row, row_id: _measured(row, row_id) if _is_measured(row) else _arithmetic(row, row_id),
        lambda row: f": {words(row, 'model')}",
    )
    return Outcome("training-energy", path.name, tuple(compared), tuple(failures))


def _is_measured(row: Row) -> bool:
    return words(row, "independent_of_tdp").split(" ")[0] in ("yes", "partly")


def _scope(row: Row) -> str:
    """Return what the row's energy covers: boards, system, or facility."""
    said = f"{words(row, 'energy_scope')}; {words(row, 'power_basis')}".casefold()
    scope = words(row, "energy_scope").casefold()
    if "before pue" in scope or "gpu only" in scope:
        return "boards" if "gpu" in said else "system"
    if any(word in scope for word in ("facility", "incl. pue", "x pue", "data centre", "data center")):
        return "facility"
    if "gpu board" in said or "gpu only" in said:
        return "boards"
    if "system" in said:
        return "system"
    raise PowerError(f"The row does not say what its energy covers ({scope or 'empty'}): boards, system or facility.")


def _reported_mwh(row: Row) -> float | None:
    energy_mwh = number(row, "reported_energy_mwh")
    if energy_mwh is not None and not energy_mwh > 0.0:
        raise PowerError(f"An energy of {energy_mwh:g} MWh is no measurement.")
    return energy_mwh


def _needed(row: Row, name: str, why: str) -> float:
    value = number(row, name)
    if value is None or not value > 0.0:
        raise PowerError(f"The row prints no {name}: {why}.")
    return value


def _measured(row: Row, row_id: str) -> Compared:
    scope, chip = _scope_or_energy(row), _chip(row)
    hours = number(row, "accelerator_hours")
    if hours is None or not hours > 0.0:
        raise PowerError(_without_hours(row, chip, scope))
    pue = _needed(row, "pue", "its energy includes that of the facility") if scope == "facility" else 1.0
    energy_mwh = _reported_mwh(row)
    if energy_mwh is None:
        watts = _needed(row, "power_per_accelerator_w", "nor energy: nothing was measured")
        energy_mwh = hours * watts * pue / 1e6
    utilisation, note = _utilisation(row, chip, hours)
    found = scope_watts(chip, scope, utilisation)
    factor = hours * pue / 1e3
    low80, high80, low, high = (factor * edge for edge in found.bands)
    own = catalogue.chip(chip).tdp_w
    peer = (
        "" if own is None else f" Hours × rated power × PUE: {100.0 * (factor * own / 1e3 / energy_mwh - 1.0):+.0f} %."
    )
    groups = (
        ("energy", "measured"),
        ("independent_of_tdp", words(row, "independent_of_tdp")),
        ("scope", scope),
        ("chip", chip),
        ("run", f"{words(row, 'model')} ({found.value:.0f} W)"),
    )
    return Compared(
        row_id=row_id,
        quantity=f"energy_{_BOUNDARY[scope]}_kwh",
        measured=energy_mwh * 1e3,
        predicted=factor * found.value,
        low80=low80,
        high80=high80,
        low=low,
        high=high,
        groups=groups,
        note=f"{note}{peer}",
    )


def _scope_or_energy(row: Row) -> str:
    if not words(row, "accelerator"):
        raise PowerError("The row names no accelerator.")
    return _scope(row)


def scope_watts(chip: str, scope: str, utilisation: Utilisation) -> Watts:
    """Return our power of one chip in training at a scope, before PUE.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    scope : str
        ``boards``: of the chip alone; ``system`` or ``facility``: its share of the node at the plug.
    utilisation : Utilisation
        Model FLOPs utilisation with its range.

    Raises
    ------
    PowerError
        The watts of the chip are not known.

    Examples
    --------
    >>> one = Utilisation(0.4, 0.4, 0.4)
    >>> board, system = (scope_watts("nvidia_h100_sxm5_80", scope, one).value for scope in ("boards", "system"))
    >>> 1.2 < system / board < 1.8
    True

    """
    power = training_power(chip, utilisation)
    if scope == "boards" or power.device.boundary == "it":
        edges = (power.power_low80_w, power.power_high80_w, power.power_low_w, power.power_high_w)
        return Watts(float(power.power_w[0]), _four(edges, 1))
    parts = usual_node(chip)
    node = node_power(parts, power.state_power())
    bands = (node.power_it_low80_w, node.power_it_high80_w, node.power_it_low_w, node.power_it_high_w)
    return Watts(float(node.power_it_w[0]) / parts.chip_count, _four(bands, parts.chip_count))


def _four(edges: tuple[Numbers, Numbers, Numbers, Numbers], count: int) -> tuple[float, float, float, float]:
    low80, high80, low, high = (float(edge[0]) / count for edge in edges)
    return low80, high80, low, high


def _chip(row: Row) -> str:
    name = words(row, "accelerator")
    if name in _CHIPS:
        return _CHIPS[name]
    return chip_of({"chip": name.replace("_", " ")}, [])


def _utilisation(row: Row, chip: str, hours: float) -> tuple[Utilisation, str]:
    """Return the utilisation that the row reports, or that its work and hours give, or the usual one; and a note."""
    reported = number(row, "mfu_reported")
    if reported is not None:
        return Utilisation(reported, reported, reported), f"MFU {reported:.3g} as reported."
    flop = _training_flop(row)
    peak = kernel_chip(chip).peaks_flop_per_s.get(usual_precision(chip))
    if flop is not None and peak is not None:
        value = flop / (hours * 3600.0 * peak)
        if 0.0 < value < 1.0 / (1.0 + _COUNTED):
            said = f"MFU {value:.3g} from six operations per active parameter and token."
            return Utilisation(value, value * (1.0 - _COUNTED), value * (1.0 + _COUNTED)), said
    usual = usual_utilisation()
    return usual, f"MFU not reported: {usual.value:.2g} ({usual.low:.2g} to {usual.high:.2g}) as in published runs."


def _training_flop(row: Row) -> float | None:
    active, tokens = number(row, "active_params_b"), number(row, "tokens_b")
    return None if active is None or tokens is None else 6.0 * active * 1e9 * tokens * 1e9


def _without_hours(row: Row, chip: str, scope: str) -> str:
    """Return why a measured row has no answer, and which hours and utilisation its energy would mean."""
    said = "The row prints no accelerator_hours, so hours × power is not told"
    energy_mwh, flop = _reported_mwh(row), _training_flop(row)
    if energy_mwh is None or flop is None or scope == "facility":
        return f"{said}."
    watts = scope_watts(chip, scope, usual_utilisation()).value
    hours = energy_mwh * 1e6 / watts
    share = flop / (hours * 3600.0 * peak_flop_per_s(kernel_chip(chip), usual_precision(chip)))
    return f"{said}; at our {watts:.0f} W its energy would be {hours:,.0f} chip-hours, at an MFU of {share:.2f}."


def _arithmetic(row: Row, row_id: str) -> Compared:
    """Return a row that is hours × an assumed power by construction: only the multiplication is scored."""
    kind = words(row, "independent_of_tdp")
    if kind.split(" ")[0] not in ("no", "time"):
        raise PowerError(f"independent_of_tdp is {kind!r}: write yes, partly, no, or time only.")
    if kind.startswith("time"):
        raise PowerError("The row carries no energy: time only.")
    energy_mwh = _reported_mwh(row)
    if energy_mwh is None:
        raise PowerError("The row prints no energy: its emissions are hours × rated power × one factor.")
    hours = _needed(row, "accelerator_hours", "hours × assumed power is not told")
    watts = _needed(row, "power_per_accelerator_w", "hours × assumed power is not told")
    scope = words(row, "energy_scope").casefold()
    with_pue = "pue" in scope and "before pue" not in scope
    pue = _needed(row, "pue", "its energy includes it") if with_pue else 1.0
    groups = (
        ("energy", "arithmetic"),
        ("independent_of_tdp", kind),
        ("scope", "facility" if with_pue else "boards"),
        ("chip", _chip(row)),
    )
    return Compared(
        row_id=row_id,
        quantity="energy_facility_kwh" if with_pue else "energy_chip_kwh",
        measured=energy_mwh * 1e3,
        predicted=hours * watts * pue / 1e3,
        low80=None,
        high80=None,
        low=None,
        high=None,
        groups=groups,
        note=f"hours × the power that the row assumes ({watts:g} W): arithmetic, nothing was measured",
    )
