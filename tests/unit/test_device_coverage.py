"""Coverage of each device and hour: what was read, by tier, and what no reading covers."""

from __future__ import annotations

from decimal import Decimal

from energy.ledger import Ledger


def test_every_hour_of_a_read_device_is_read_or_missing(small_ledger):
    with Ledger(small_ledger) as ledger:
        rows = ledger.rows(
            "SELECT host, device_index, hour_utc, sum(chip_h) AS chip_h FROM device_coverage "
            "WHERE quarter = '2026Q1' GROUP BY host, device_index, hour_utc"
        )
    assert len(rows) == 36 * 90 * 24
    assert all(abs(row["chip_h"] - 1) < Decimal("1e-9") for row in rows)


def test_missing_time_has_no_energy_and_no_zero(small_ledger):
    with Ledger(small_ledger) as ledger:
        missing = ledger.rows(
            "SELECT count(*) AS n, count(energy_chip_kwh) AS known FROM device_coverage WHERE tier = 'missing'"
        )
        read = ledger.rows("SELECT sum(energy_chip_kwh) AS e FROM device_coverage WHERE tier <> 'missing'")[0]["e"]
        owned = ledger.rows("SELECT sum(energy_chip_kwh) AS e FROM coverage WHERE tier = 'integrated'")[0]["e"]
    assert missing[0]["n"] > 0
    assert missing[0]["known"] == 0
    assert abs(read - owned) < Decimal("1e-6")


def test_a_gap_shows_at_its_host_and_hour(small_ledger):
    with Ledger(small_ledger) as ledger:
        rows = ledger.rows(
            "SELECT host, sum(chip_h) AS chip_h FROM device_coverage WHERE tier = 'missing' "
            "AND hour_utc >= TIMESTAMPTZ '2026-01-06 02:00:00+00' AND hour_utc < TIMESTAMPTZ '2026-01-06 05:00:00+00' "
            "GROUP BY host"
        )
    assert [row["host"] for row in rows] == ["a100-001"]
    assert abs(rows[0]["chip_h"] - 20) < Decimal("0.001")  # eight boards, 2 h 30 min
