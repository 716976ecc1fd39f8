"""The ledger's own readings against the power that boards without a reading take by the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from energy.catalogue.chips import chip
from energy.ledger.reader import Ledger
from energy.ledger.site_file import SiteFile
from energy.power.defaults import default_power

_STATES = ("busy", "idle")
# a line is one job, or the idle boards, of one host in one hour, read device by device
_SQL = """
SELECT line.chip_id, line.chip_state, CAST(sum(line.chip_h) AS DOUBLE) AS chip_h,
    CAST(sum(CASE WHEN line.power_chip_w BETWEEN band.low80 AND band.high80 THEN line.chip_h ELSE 0 END) AS DOUBLE)
        AS inside80_chip_h,
    CAST(sum(CASE WHEN line.power_chip_w BETWEEN band.low AND band.high THEN line.chip_h ELSE 0 END) AS DOUBLE)
        AS inside95_chip_h,
    CAST(sum(line.energy_chip_kwh) AS DOUBLE) AS read_kwh,
    CAST(sum(line.chip_h) AS DOUBLE) * max(band.power) / 1000 AS model_kwh
FROM (
    SELECT chip_id, CASE WHEN job_key IS NULL THEN 'idle' ELSE 'busy' END AS chip_state, chip_h, energy_chip_kwh,
        energy_chip_kwh / chip_h * 1000 AS power_chip_w
    FROM core.energy_hour
    WHERE tier IN ('measured', 'integrated') AND attribution = 'device' AND owner_kind <> 'unallocated'
        AND chip_h > 0 AND energy_chip_kwh IS NOT NULL
) AS line
JOIN (VALUES {values}) AS band(chip_id, chip_state, power, low80, high80, low, high)
    ON band.chip_id = line.chip_id AND band.chip_state = line.chip_state
GROUP BY line.chip_id, line.chip_state
ORDER BY line.chip_id, line.chip_state
"""


@dataclass(frozen=True, slots=True)
class Inside:
    """Chip-hours of one chip and state that were read, those inside the ranges of the model, and both energies."""

    chip_id: str
    chip_state: str
    chip_h: float
    inside80_chip_h: float
    inside95_chip_h: float
    read_kwh: float
    model_kwh: float


def inside_ranges(ledger: Ledger, site_file: SiteFile) -> list[Inside]:
    """Return how the ledger's own readings lie against the model's power, by chip and state.

    Parameters
    ----------
    ledger : Ledger
        A published version.
    site_file : SiteFile
        Working share and idle state of the model. Own readings as default are left out: they would judge themselves.

    Returns
    -------
    list of Inside
        Empty where no board was read whose owner is known.
    """
    known = [chip(row["chip_id"]) for row in ledger.rows("SELECT chip_id FROM ref.chip ORDER BY 1")]
    if not known:
        return []
    share = site_file.working_share()
    models = [default_power(item, state, share, site_file.default_idle) for item in known for state in _STATES]
    values = ", ".join(
        f"('{model.chip_id}', '{model.chip_state}', {model.power_chip_w!r}, {model.power_chip_low80_w!r}, "
        f"{model.power_chip_high80_w!r}, {model.power_chip_low_w!r}, {model.power_chip_high_w!r})"
        for model in models
    )
    return [Inside(**row) for row in ledger.rows(_SQL.format(values=values))]
