"""What changes at a site by date: its grid zones, and the hosts that move in and out."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import ledger, reading, rejects, rows, table, take

from energy.errors import EnergyError, SiteFileError
from energy.ledger.intake import rebuild
from energy.ledger.site_file import parse_site_file

SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: %s
    timezone: %s
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "h100-001", chip: NVIDIA H100 80GB HBM3, chips: 8}
"""
TWO = "[{zone: RFCE, to: 2026-01-05T09:00:00Z}, {zone: ERCT, from: 2026-01-05T09:00:00Z}]"
USED = "SELECT method, zone_id, sum(energy_facility_kwh) AS kwh FROM factors_used GROUP BY ALL ORDER BY ALL"
BY_ZONE = (
    "SELECT fact.zone_id, min(hour_utc) AS first, max(hour_utc) AS last FROM core.factor_hour AS hour "
    "JOIN ref.factor AS fact ON fact.factor_id = hour.factor_id WHERE method = 'location' GROUP BY 1 ORDER BY 2"
)


def site(zone, timezone="UTC"):
    return SITE % (zone, timezone)


def power(path, *hours, host="h100-001", day=5):
    """Write a reading every minute of some hours."""
    lines = [f"2026-01-{day:02d}T{hour:02d}:{minute:02d}:00Z,{host},0,500,80" for hour in hours for minute in range(60)]
    return table(path, "power", *lines)


def test_factors_follow_the_zone_of_the_hour(tmp_path):
    folder = ledger(tmp_path / "ledger", site(TWO))
    take(folder, "power", power(tmp_path / "p.csv", 8, 9, 10))
    found = rows(folder, BY_ZONE)
    assert [(row["zone_id"], row["first"].hour, row["last"].hour) for row in found] == [("RFCE", 8, 8), ("ERCT", 9, 10)]
    used = rows(folder, USED)
    share = {(row["method"], row["zone_id"]): row["kwh"] for row in used}
    assert share["location", "ERCT"] == pytest.approx(2 * share["location", "RFCE"])
    whole = rows(folder, "SELECT sum(energy_facility_kwh) AS kwh FROM energy_hourly")[0]["kwh"]
    assert sum(kwh for (method, _), kwh in share.items() if method == "location") == whole
    assert rows(folder, "SELECT zone_id FROM core.site") == [
        {"zone_id": "RFCE to 2026-01-05T09:00+0000; ERCT from 2026-01-05T09:00+0000"}
    ]


def test_a_zone_by_name_and_one_open_period_are_the_same(tmp_path):
    totals = []
    for number, zone in enumerate(("RFCE", "[{zone: RFCE}]")):
        folder = ledger(tmp_path / str(number), site(zone))
        take(folder, "power", power(tmp_path / "p.csv", 8, 9))
        totals.append(rows(folder, "SELECT * FROM emissions_quarterly ORDER BY ALL"))
        assert rows(folder, "SELECT zone_id FROM core.site") == [{"zone_id": "RFCE"}]
    assert totals[0] == totals[1]


def test_residual_and_hourly_zone_change_with_the_period(tmp_path):
    zones = "[{zone: RFCE, hourly_zone: US-PJM, to: 2026-01-05T09:00:00Z}, {zone: CAMX, residual_zone: RFCE, "
    folder = ledger(tmp_path / "ledger", site(zones + "from: 2026-01-05T09:00:00Z}]"))
    take(folder, "power", power(tmp_path / "p.csv", 8, 9))
    hours = "SELECT method, fact.zone_id FROM core.factor_hour AS h JOIN ref.factor AS fact USING (factor_id) WHERE "
    first = rows(folder, hours + "hour(hour_utc AT TIME ZONE 'UTC') = 8 ORDER BY 1")
    second = rows(folder, hours + "hour(hour_utc AT TIME ZONE 'UTC') = 9 ORDER BY 1")
    assert [row["method"] for row in first] == ["hourly", "location", "market"]
    assert [(row["method"], row["zone_id"]) for row in second] == [("location", "CAMX"), ("market", "RFCE")]


@pytest.mark.parametrize(
    ("timezone", "day", "before", "after"),
    [
        ("UTC", "2026-01-05", "2026-01-04T23:00", "2026-01-05T00:00"),
        ("Europe/Berlin", "2026-01-05", "2026-01-04T22:00", "2026-01-04T23:00"),
        ("America/New_York", "2026-01-05", "2026-01-05T04:00", "2026-01-05T05:00"),
        ("Europe/Berlin", "2026-03-29", "2026-03-28T22:00", "2026-03-28T23:00"),  # a day of 23 h
        ("Europe/Berlin", "2026-03-30", "2026-03-29T21:00", "2026-03-29T22:00"),
        ("Europe/Berlin", "2026-10-26", "2026-10-25T22:00", "2026-10-25T23:00"),  # after a day of 25 h
    ],
)
def test_a_date_is_midnight_of_the_site(timezone, day, before, after):
    text = site(f"[{{zone: RFCE, to: {day}}}, {{zone: ERCT, from: {day}}}]", timezone)
    first, second = parse_site_file(text).sites["hall"].zone_spans("hall")
    at = datetime.fromisoformat(after).replace(tzinfo=UTC)
    assert first.end == second.start == at
    assert datetime.fromisoformat(before).replace(tzinfo=UTC) < at


@pytest.mark.parametrize(
    ("zone", "words"),
    [
        ("[]", "sites.hall.zone: the list is empty. Name at least one period"),
        (
            "[{zone: RFCE, to: 2026-02-01}, {zone: ERCT, from: 2026-03-01}]",
            "sites.hall.zone: no grid zone from 2026-02-01 to 2026-03-01, between RFCE and ERCT",
        ),
        (
            "[{zone: RFCE, to: 2026-03-01}, {zone: ERCT, from: 2026-02-01}]",
            "sites.hall.zone: RFCE and ERCT overlap from 2026-02-01 to 2026-03-01",
        ),
        ("[{zone: RFCE}, {zone: ERCT, from: 2026-02-01}]", "RFCE and ERCT overlap from 2026-02-01 to the end"),
        ("[{zone: RFCE, from: 2026-02-01, to: 2026-02-01}]", "`to` (2026-02-01) is not after `from` (2026-02-01)"),
        ("[{zone: RFCEE}]", "sites.hall: "),
        ("[{zone: RFCE, residual_zone: RFCEE}]", "sites.hall: "),
        ("[{zone: RFCE, hourly_zone: US-CIS}]", "sites.hall.hourly_zone: no hours for US-CIS. Nearest: US-CISO"),
        ("[{zone: DEU, hourly_zone: US-CISO}]", "sites.hall.hourly_zone: US-CISO lies in USA, and zone DEU in DEU"),
        (
            "[{zone: RFCE, to: 2026-01-05}, {zone: DEU, residual_zone: FRA, from: 2026-01-05}]",
            "residual_zone: FRA lies in FRA",
        ),
        ("[{zon: RFCE}]", "zon: no such key. Nearest: zone"),
        ("[{from: 2026-02-01}]", "sites.hall.zone.0.zone is missing"),
        ("[{zone: RFCE, from: soon}]", "sites.hall.zone.0.from: is no date"),
        ("[{zone: RFCE, from: 2026-02-01T00:00:00}]", "carries no zone: write its offset"),
        ("[{zone: NO}]", "sites.hall.zone.0.zone: Input should be a valid string, got False"),
        ("5", "sites.hall.zone: Input should be a valid string, got 5"),
        ("[{zone: RFCE}]\n    hourly_zone: US-PJM", "sites.hall.hourly_zone: zone is a list of periods: write hourly_"),
        ("[{zone: RFCE}]\n    residual_zone: RFCE", "write residual_zone RFCE in each of them"),
    ],
)
def test_wrong_periods_are_one_line(zone, words):
    with pytest.raises(SiteFileError) as caught:
        parse_site_file(site(zone))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_hours_without_a_zone_are_an_error_and_nothing_is_published(tmp_path):
    folder = ledger(tmp_path / "ledger", site("[{zone: RFCE, to: 2026-01-05T09:00:00Z}]"))
    words = r"Site hall has no grid zone from 2026-01-05T09:00Z to 2026-01-05T11:00Z \(2 h with data\): add a period"
    with pytest.raises(EnergyError, match=words):
        take(folder, "power", power(tmp_path / "p.csv", 8, 9, 10))
    assert not (folder / "ledger.duckdb").exists()


@given(st.lists(st.integers(1, 27), min_size=1, max_size=4, unique=True), st.randoms())
def test_periods_in_any_order_cover_every_hour_once(days, random):
    edges = [None, *sorted(days), None]
    names = ["RFCE", "ERCT", "DEU", "FRA", "RFCE"]
    parts = []
    for name, begin, finish in zip(names, edges, edges[1:], strict=False):
        start = f", from: 2026-01-{begin:02d}" if begin else ""
        end = f", to: 2026-01-{finish:02d}" if finish else ""
        parts.append(f"{{zone: {name}{start}{end}}}")
    random.shuffle(parts)
    spans = parse_site_file(site(f"[{', '.join(parts)}]")).sites["hall"].zone_spans("hall")
    assert [span.zone for span in spans] == names[: len(spans)]
    assert all(before.end == after.start for before, after in pairwise(spans))


# --- hosts that move between sites ---

MOVING = """\
factor_policy: nearest any
sites:
  east:
    zone: RFCE
    pue: 1.2
    node_overhead: 1.25
    hosts:
      - {pattern: "h100-001", chip: NVIDIA H100 80GB HBM3, chips: 8, to: %s}
      - {pattern: "h100-009", chip: NVIDIA H100 80GB HBM3, chips: 8}
  west:
    zone: ERCT
    pue: 1.5
    node_overhead: 1.25
    hosts:
      - {pattern: "h100-001", chip: NVIDIA H100 80GB HBM3, chips: 8, from: %s}
"""
BY_SITE = (
    "SELECT site_id, sum(energy_chip_kwh) AS kwh, sum(chip_h) AS chip_h FROM energy_hourly "
    "WHERE tier = 'integrated' GROUP BY 1"
)


def moving(end, start=None):
    return MOVING % (end, start or end)


def by_site(folder):
    return {row["site_id"]: (float(row["kwh"]), float(row["chip_h"])) for row in rows(folder, BY_SITE)}


@pytest.mark.parametrize(("instant", "east"), [("2026-01-05T09:00:00Z", 1), ("2026-01-06", 3), ("2026-01-05", 0)])
def test_readings_of_a_host_that_moves_go_to_its_site_of_the_time(tmp_path, instant, east):
    folder = ledger(tmp_path / "ledger", moving(instant))
    done = take(folder, "power", power(tmp_path / "p.csv", 8, 9, 10))
    assert (done.rows_accepted, done.rows_rejected) == (180, 0)
    found = by_site(folder)
    for name, hours in (("east", east), ("west", 3 - east)):
        assert found.get(name, (0, 0)) == pytest.approx((0.5 * hours, hours), abs=1e-9)
    stored = rows(folder, "SELECT site_id, row_count FROM raw.telemetry_file ORDER BY 1")
    assert {row["site_id"]: row["row_count"] for row in stored} == {
        name: 60 * hours for name, hours in (("east", east), ("west", 3 - east)) if hours
    }
    balance = rows(folder, "SELECT difference_energy_chip_kwh AS kwh FROM reconciliation")
    assert all(row["kwh"] == 0 for row in balance)


def test_a_host_that_moves_later_than_told_takes_its_readings_along(tmp_path):
    folder = ledger(tmp_path / "ledger", moving("2026-01-05T09:00:00Z"))
    take(folder, "power", power(tmp_path / "p.csv", 8, 9, 10))
    before = rows(folder, "SELECT sum(energy_chip_kwh) AS kwh FROM energy_hourly WHERE tier = 'integrated'")
    (folder / "site.yaml").write_text(moving("2026-01-05T10:00:00Z"), encoding="utf-8")
    rebuild(folder, threads=1)
    assert by_site(folder)["east"] == pytest.approx((1.0, 2.0))
    assert rows(folder, "SELECT sum(energy_chip_kwh) AS kwh FROM energy_hourly WHERE tier = 'integrated'") == before
    fresh = ledger(tmp_path / "fresh", moving("2026-01-05T10:00:00Z"))
    take(fresh, "power", power(tmp_path / "p.csv", 8, 9, 10))
    totals = "SELECT * FROM energy_hourly ORDER BY ALL"
    assert rows(folder, totals) == rows(fresh, totals)


def test_readings_between_two_sites_are_refused(tmp_path):
    folder = ledger(tmp_path / "ledger", moving("2026-01-05T09:00:00Z", "2026-01-05T10:00:00Z"))
    done = take(folder, "power", power(tmp_path / "p.csv", 8, 9, 10))
    assert (done.rows_accepted, done.rows_rejected) == (120, 60)
    assert rejects(folder)[0][1].startswith("host h100-001 is in no site at 2026-01-05T09:00Z: correct its from and to")


def test_stored_readings_that_lose_their_site_are_an_error(tmp_path):
    folder = ledger(tmp_path / "ledger", moving("2026-01-05T09:00:00Z"))
    take(folder, "power", power(tmp_path / "p.csv", 8, 9, 10))
    (folder / "site.yaml").write_text(moving("2026-01-05T09:00:00Z", "2026-01-05T10:00:00Z"), encoding="utf-8")
    with pytest.raises(SiteFileError, match=r"Host h100-001 is in no site at 2026-01-05T09:00Z, but .* \(batch 1\)"):
        rebuild(folder, threads=1)


def test_known_formats_follow_the_host_too(tmp_path):
    folder = ledger(tmp_path / "ledger", moving("2026-01-05T09:00:00Z", "2026-01-05T09:30:00Z"))
    lines = ["timestamp, index, uuid, power.draw [W]"]
    lines += [f"2026/01/05 {8 + m // 60:02d}:{m % 60:02d}:00.000, 0, GPU-1, 500.00 W" for m in range(180)]
    path = tmp_path / "n.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = take(folder, "nvidia-smi", path, host="h100-001", timezone="UTC")
    assert (done.rows_accepted, done.rows_rejected) == (150, 30)
    assert rejects(folder)[0][1].startswith("host h100-001 is in no site at 2026-01-05T09:00Z")
    stored = rows(folder, "SELECT site_id, row_count FROM raw.telemetry_file ORDER BY 1")
    assert [(row["site_id"], row["row_count"]) for row in stored] == [("east", 60), ("west", 90)]


def test_two_hosts_of_one_file_at_their_sites(tmp_path):
    folder = ledger(tmp_path / "ledger", moving("2026-01-05T09:00:00Z"))
    lines = [reading(minute, host) for minute in range(120) for host in ("h100-001", "h100-009")]
    take(folder, "power", table(tmp_path / "p.csv", "power", *lines))
    found = by_site(folder)
    assert found["east"] == pytest.approx((1.5, 3.0))
    assert found["west"] == pytest.approx((0.5, 1.0))
