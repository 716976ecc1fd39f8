"""All factors of all zones as one readable file: a change of any number shows in the difference.

Renew it with ``ENERGY_UPDATE_GOLDEN=1 pytest tests/golden/test_factors_resolved.py`` and read the difference.
"""

import csv
import io
import os
from pathlib import Path

from energy.catalogue import all_zones, factors_for

GOLDEN = Path(__file__).with_name("factors_resolved.csv")
COLUMNS = "zone_id zone kind year value unit boundary gases gwp_set publisher edition status factor_id"
HEADER = COLUMNS.split()


def resolved():
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for zone in all_zones():
        served = [one for kind in ("location", "residual") for one in factors_for(zone.zone_id, kind)]
        for one in served:
            basis = [one.unit, one.boundary, one.gases, one.gwp_set, one.publisher, one.edition, one.status]
            writer.writerow([zone.zone_id, zone.name, one.kind, one.year, one.value, *basis, one.factor_id])
        if not served:
            via = f"none of its own; annual zone: {zone.annual_zone_id or 'none'}"
            writer.writerow([zone.zone_id, zone.name, via, *[""] * (len(HEADER) - 3)])
    return stream.getvalue()


def test_all_factors_are_as_reviewed():
    if os.environ.get("ENERGY_UPDATE_GOLDEN"):
        GOLDEN.write_text(resolved(), encoding="utf-8")
    assert resolved() == GOLDEN.read_text(encoding="utf-8")
