"""All factors of all zones as one readable file: the latest of each series, with the mean of all its years.

So a change of any number shows in the difference, and the file stays short.

Renew it with ``ENERGY_UPDATE_GOLDEN=1 pytest tests/golden/test_factors_resolved.py`` and read the difference.
"""

import csv
import io
import os
from pathlib import Path

from energy.catalogue import all_zones, factors_for

GOLDEN = Path(__file__).with_name("factors_resolved.csv")
COLUMNS = "zone_id zone kind years latest value unit mean boundary gases gwp_set publisher edition status factor_id"
HEADER = COLUMNS.split()


def resolved():
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for zone in all_zones():
        series = {}
        for kind in ("location", "residual"):
            for one in factors_for(zone.zone_id, kind):
                series.setdefault((kind, one.edition, one.boundary), []).append(one)
        for (kind, _, _), ones in series.items():
            last = ones[-1]
            basis = [last.boundary, last.gases, last.gwp_set, last.publisher, last.edition, last.status, last.factor_id]
            mean = round(sum(one.value for one in ones) / len(ones), 6)
            writer.writerow([zone.zone_id, zone.name, kind, len(ones), last.year, last.value, last.unit, mean, *basis])
        if not series:
            via = f"none of its own; annual zone: {zone.annual_zone_id or 'none'}"
            writer.writerow([zone.zone_id, zone.name, via, *[""] * (len(HEADER) - 3)])
    return stream.getvalue()


def test_all_factors_are_as_reviewed():
    if os.environ.get("ENERGY_UPDATE_GOLDEN"):
        GOLDEN.write_text(resolved(), encoding="utf-8")
    assert resolved() == GOLDEN.read_text(encoding="utf-8")
