"""Compared watts of one board: what the suites of power share."""

from __future__ import annotations

from energy.validation.statistics import Compared


def compared_w(
    row_id: str,
    measured_w: float,
    predicted_w: float,
    bands_w: tuple[float, float, float, float],
    groups: tuple[tuple[str, str], ...],
    note: str = "",
) -> Compared:
    """Return one row; bands are low and high of 80 %, then of 95 %.

    Examples
    --------
    >>> compared_w("line 2", 300.0, 310.0, (290.0, 330.0, 270.0, 350.0), ()).low
    270.0

    """
    low80, high80, low, high = bands_w
    return Compared(
        row_id=row_id,
        quantity="power_chip_w",
        measured=measured_w,
        predicted=predicted_w,
        low80=low80,
        high80=high80,
        low=low,
        high=high,
        groups=groups,
        note=note,
    )
