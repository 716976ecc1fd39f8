"""Each view as Spark gets it: a change of a view, or of how it is translated, shows in the difference.

Renew with ``ENERGY_UPDATE_GOLDEN=1 pytest tests/golden/test_spark_views.py`` and read the difference.
"""

import os
from pathlib import Path

import pytest
import sqlglot

from energy.errors import SqlUnitError
from energy.ledger import unit_check
from energy.ledger.unit_check import to_spark

GOLDEN = Path(__file__).with_name("spark")
SQL_FOLDER = Path(unit_check.__file__).parents[1] / "sql"
VIEWS = sorted(path.stem for path in SQL_FOLDER.glob("*.sql"))
RENEW = "not current: run ENERGY_UPDATE_GOLDEN=1 pytest tests/golden/test_spark_views.py and read the difference"


def translated(name):
    return to_spark((SQL_FOLDER / f"{name}.sql").read_text(encoding="utf-8")) + "\n"


@pytest.mark.parametrize("name", VIEWS)
def test_the_view_is_as_reviewed(name):
    golden = GOLDEN / f"{name}.sql"
    if os.environ.get("ENERGY_UPDATE_GOLDEN"):
        golden.write_text(translated(name), encoding="utf-8")
    assert golden.exists(), f"{golden.name} is absent and {RENEW}"
    assert translated(name) == golden.read_text(encoding="utf-8"), f"{golden.name} is {RENEW}"


@pytest.mark.parametrize("name", VIEWS)
def test_spark_reads_what_was_written(name):
    assert sqlglot.parse_one(translated(name), dialect="spark").named_selects


def test_no_golden_file_is_left_over():
    assert sorted(path.stem for path in GOLDEN.glob("*.sql")) == VIEWS


def test_macros_are_written_out():
    sql = to_spark(
        "SELECT energy_facility_kwh - counted_at_facility(energy_it_kwh) AS overhead_kwh FROM main.energy_hourly"
    )
    assert "energy_facility_kwh - energy_it_kwh AS overhead_kwh" in sql


def test_what_spark_has_not_is_refused():
    with pytest.raises(SqlUnitError, match="ASOF"):
        to_spark("SELECT a.pue FROM main.energy_hourly AS a ASOF JOIN core.pue_hour AS b ON a.hour_utc >= b.hour_utc")
