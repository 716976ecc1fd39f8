"""The power of one chip on a page: its states with ranges, its curve as a text plot, and the estimate from below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from energy.errors import EnergyError
from energy.power.accelerators import Device, DevicePower, device, power_curve, shown_states, usual_precision
from energy.power.bottom_up import cross_check, link_energy, memory_energy, moving

_WIDTH = 48
_LOADS = tuple(step / 10.0 for step in range(11))
_WHERE = {"chip": "inside a node (chip)", "it": "at its plug (IT)"}
_LOAD_OF = {"curve": "dense peak", "events": "highest rate of events", "conversions": "highest rate of products"}
#: Load at which the two estimates are compared: most of the peak, a fifth of the bandwidth.
_COMPARED = (0.7, 0.2)
_EDGES = ("power_w", "power_low80_w", "power_high80_w", "power_low_w", "power_high_w")


def power_card(chip: str, wanted: str | None = None) -> dict[str, Any]:
    """Return the power of a chip for people and programs: device, states, curve, and the estimate from below.

    Parameters
    ----------
    chip : str
        Any name of the catalogue.
    wanted : str, optional
        Precision; the widest matrix format of the chip without it.

    Returns
    -------
    dict
        ``unit`` carries the boundary; each state and each point of the curve has value, 80 % and 95 % range in watts.

    Raises
    ------
    UnknownNameError
        The chip or precision is not known; the message gives the nearest names.

    Examples
    --------
    >>> card = power_card("nvidia_h100_sxm5_80")
    >>> card["unit"], card["states"][0]["state"], len(card["curve"])
    ('W_chip/chip', 'idle', 11)

    """
    one = device(chip)
    states = shown_states(chip, wanted)
    curve = power_curve(chip, np.array(_LOADS), wanted) if one.model in _LOAD_OF else None
    name = usual_precision(one.chip_id) if wanted is None else wanted
    return {
        "chip_id": one.chip_id,
        "device": one.device,
        "boundary": one.boundary,
        "unit": f"W_{one.boundary}/chip",
        "model": one.model,
        "precision": name if one.model == "curve" else None,
        "limit_w": one.limit_w.value,
        "limit_low_w": one.limit_w.low,
        "limit_high_w": one.limit_w.high,
        "states": [
            {"state": shown.state, "meaning": shown.meaning, **_watts(found), "status": found.status}
            for shown, found in states
        ],
        "curve": [] if curve is None else [{"load": load, **_watts(curve, at)} for at, load in enumerate(_LOADS)],
        "from_below": _from_below(one, name),
        "source": states[0][1].source if curve is None else curve.source,
        "note": one.note,
    }


def _watts(found: DevicePower, at: int | None = None) -> dict[str, float]:
    values = (np.asarray(getattr(found, name)) for name in _EDGES)
    return {name: float(value if at is None else value[at]) for name, value in zip(_EDGES, values, strict=True)}


def _from_below(one: Device, precision: str) -> dict[str, Any]:
    """Return the estimate from operations and bytes beside the curve, or why there is none."""
    try:
        found = cross_check(one.chip_id, precision, *_COMPARED)
    except EnergyError as error:
        return {"refused": str(error)}
    gigabytes = 100e9
    return {
        "compute": _COMPARED[0],
        "memory": _COMPARED[1],
        "context_chip_w": found.context_chip_w,
        "arithmetic_chip_w": found.arithmetic_chip_w,
        "memory_chip_w": found.memory_chip_w,
        "bottom_up_chip_w": found.bottom_up_chip_w,
        "bottom_up_low_chip_w": found.bottom_up_low_chip_w,
        "bottom_up_high_chip_w": found.bottom_up_high_chip_w,
        "top_down_chip_w": found.top_down_chip_w,
        "difference_chip_w": found.top_down_chip_w - found.bottom_up_chip_w,
        "missing_fraction": found.missing_fraction,
        "per_100_gb_per_s_chip_w": {
            "memory behind CXL": moving(memory_energy("cxl_dram"), gigabytes)[:3],
            "pluggable optics": moving(link_energy("optics_pluggable"), gigabytes)[:3],
            "co-packaged optics": moving(link_energy("optics_cpo"), gigabytes)[:3],
        },
        "sources": found.sources,
        "status": "estimate",
    }


def card_lines(card: Mapping[str, Any]) -> list[str]:
    """Return the card as lines of text, at most 110 characters wide but for sources and notes.

    Parameters
    ----------
    card : mapping
        Of `power_card`.

    Examples
    --------
    >>> lines = card_lines(power_card("nvidia_h100_sxm5_80"))
    >>> lines[0]
    'Power of a board, counted inside a node (chip): 700 W at most for long.'
    >>> all(len(line) <= 110 for line in lines if not line.startswith(("Source", "Note", "Not told")))
    True

    """
    low, high = card["limit_low_w"], card["limit_high_w"]
    span = "" if low == high else f" ({watts(low)} to {watts(high)}, 95 %)"
    article = "a " if card["device"] != "half of a card" else ""
    lines = [
        f"Power of {article}{card['device']}, counted {_WHERE[card['boundary']]}: {watts(card['limit_w'])} W at most "
        f"for long{span}."
    ]
    lines += [f"Status of watts: {card['states'][-1]['status']}.", ""]
    lines += [f"{'state':18}{'W':>7}  {'80 %':>16}  {'95 %':>16}  what it does"]
    lines += [_state_line(state) for state in card["states"]]
    if card["curve"]:
        lines += ["", *_plot(card)]
    lines += ["", *_below_lines(card["from_below"])]
    lines += [f"Source of watts: {card['source']}"]
    return [*lines, f"Note: {card['note']}"] if card["note"] else lines


def watts(value: float) -> str:
    """Write watts with three digits, or whole from 100 up.

    Examples
    --------
    >>> watts(665.57), watts(22.04), watts(0.4523), watts(0.0)
    ('666', '22', '0.452', '0')

    """
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def _state_line(state: Mapping[str, Any]) -> str:
    narrow = f"{watts(state['power_low80_w'])} to {watts(state['power_high80_w'])}"
    wide = f"{watts(state['power_low_w'])} to {watts(state['power_high_w'])}"
    return f"{state['state']:18}{watts(state['power_w']):>7}  {narrow:>16}  {wide:>16}  {state['meaning']}"


def _plot(card: Mapping[str, Any]) -> list[str]:
    """Return the curve as lines: o the value, = the 80 % range, - the 95 % range."""
    curve: Sequence[Mapping[str, float]] = card["curve"]
    top = max(point["power_high_w"] for point in curve)
    said = f" in {card['precision']}" if card["precision"] else ""
    beside = ", no memory traffic beside" if card["model"] == "curve" else ""
    lines = [f"Busy, by share of the {_LOAD_OF[card['model']]}{said}{beside}"]
    lines.append(f"{'load':>6}{'W':>8}  0{' ' * (_WIDTH - len(watts(top)) - 2)}{watts(top)} W")
    for point in curve:
        cells = [" "] * _WIDTH
        for low, high, mark in (("power_low_w", "power_high_w", "-"), ("power_low80_w", "power_high80_w", "=")):
            first, last = _place(point[low], top), _place(point[high], top)
            cells[first : last + 1] = mark * (last + 1 - first)
        cells[_place(point["power_w"], top)] = "o"
        lines.append(f"{100 * point['load']:>4.0f} %{watts(point['power_w']):>8}  {''.join(cells)}".rstrip())
    lines.append(f"{'':16}o value, = 80 % range, - 95 % range")
    return lines


def _place(value: float, top: float) -> int:
    return min(_WIDTH - 1, int(value / top * _WIDTH))


def _below_lines(below: Mapping[str, Any]) -> list[str]:
    if "refused" in below:
        return [f"Not told from operations and bytes: {below['refused']}"]
    low, high = watts(below["bottom_up_low_chip_w"]), watts(below["bottom_up_high_chip_w"])
    missing = below["missing_fraction"]
    lines = [
        f"From below, at {100 * below['compute']:g} % of the peak and {100 * below['memory']:g} % of the bandwidth: "
        f"{watts(below['bottom_up_chip_w'])} W ({low} to {high}), a floor:",
        f"  held {watts(below['context_chip_w'])} W, operations {watts(below['arithmetic_chip_w'])} W, memory "
        f"{watts(below['memory_chip_w'])} W",
        f"  the curve says {watts(below['top_down_chip_w'])} W, {watts(below['difference_chip_w'])} W more"
        + ("" if missing is None else f" ({100 * missing:.0f} % of its dynamic power)"),
    ]
    added = (
        f"{name} {watts(value)} W ({watts(least)} to {watts(most)})"
        for name, (value, least, most) in below["per_100_gb_per_s_chip_w"].items()
    )
    return [*lines, "  each 100 GB/s adds: " + ", ".join(list(added)[:2]), f"  and {_last(below)}"]


def _last(below: Mapping[str, Any]) -> str:
    name, (value, least, most) = list(below["per_100_gb_per_s_chip_w"].items())[-1]
    return f"{name} {watts(value)} W ({watts(least)} to {watts(most)}), estimates"
