"""A ledger that an earlier version of the package wrote is refused with the remedy, and the remedy keeps its rows."""

from __future__ import annotations

import duckdb
import pytest
from tiny_fleet import Fleet, host, job, site

from energy.errors import LedgerError
from energy.ledger import doctor
from energy.ledger.intake import rebuild
from energy.ledger.layout import layout
from energy.ledger.reader import Ledger
from energy.schema import TABLES, Table
from energy.schema.ddl import layout_of

TABLE_NAMES = sorted(name for name, table in TABLES.items() if table.kind == "table")
RUN = ("2026-01-05 22:00", "2026-01-06 03:00")
DAYS = ("2026-01-05 00:00", "2026-01-07 00:00")


@pytest.fixture
def fleet(tmp_path):
    made = Fleet(tmp_path / "ledger", {"a": site([host("h1", 2)])})
    made.ingest(made.jobs([job("1", "h1", 1, *RUN)], *DAYS))
    return made


def change(fleet, *statements):
    """Write to the published version, as no user can."""
    path = (fleet.folder / "ledger.duckdb").resolve()
    path.chmod(0o644)
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    path.chmod(0o444)


def totals(fleet):
    return fleet.rows("SELECT * FROM energy_monthly ORDER BY ALL")


OLDER = {
    "a column less in a file's rows": "ALTER TABLE raw.job DROP COLUMN user_name",
    "a column less in what is rebuilt": "ALTER TABLE ref.factor DROP COLUMN basis",
    "a column less in what is kept by day": "ALTER TABLE core.device_hour DROP COLUMN sample_count",
    "another order": "ALTER TABLE core.pue_hour ADD COLUMN new_at_the_end INTEGER",
}


@pytest.mark.parametrize("kind", OLDER)
def test_an_older_layout_is_refused_and_rebuilt_with_the_same_totals(fleet, kind):
    before = totals(fleet)
    changed = OLDER[kind].split()[2]
    change(
        fleet, OLDER[kind], f"COMMENT ON TABLE {changed} IS '{{}}'", "DELETE FROM ref.setting WHERE key_name = 'layout'"
    )
    with pytest.raises(LedgerError, match=f"energy rebuild --ledger {fleet.folder}"):
        Ledger(fleet.folder)
    assert doctor(fleet.folder).next_command == f"energy rebuild --ledger {fleet.folder}"
    rebuild(fleet.folder)
    assert totals(fleet) == before


def test_all_tables_may_be_older(fleet):
    before = totals(fleet)
    change(fleet, *(f"COMMENT ON TABLE {name} IS NULL" for name in TABLE_NAMES), "DELETE FROM ref.setting")
    rebuild(fleet.folder)
    assert totals(fleet) == before
    with Ledger(fleet.folder) as ledger:
        left = ledger.rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%older%'")
    assert left == []


def test_rows_that_do_not_fit_are_refused_and_nothing_is_published(fleet):
    change(fleet, "ALTER TABLE raw.job DROP COLUMN job_id", "COMMENT ON TABLE raw.job IS NULL")
    with pytest.raises(LedgerError, match=r"raw\.job .* ingest the files again"):
        rebuild(fleet.folder)
    assert (fleet.folder / "ledger.duckdb").resolve().name == "ledger-1.duckdb"


def test_the_layout_follows_every_column(monkeypatch):
    before = layout()
    name, table = next(iter(TABLES.items()))
    shorter = Table(table.layer, table.name, table.row, table.columns[:-1], key=(), kind=table.kind)
    assert layout_of(shorter) != layout_of(table)
    monkeypatch.setitem(TABLES, name, shorter)
    layout.cache_clear()
    try:
        assert layout() != before
    finally:
        monkeypatch.undo()
        layout.cache_clear()


def test_a_database_of_something_else_is_no_ledger(fleet):
    change(fleet, "DROP TABLE ref.setting")
    with pytest.raises(LedgerError, match="no version of a ledger"):
        Ledger(fleet.folder)
