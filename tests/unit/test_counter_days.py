"""Days are reckoned one at a time, and agree with a series that nothing cuts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tiny_fleet import Fleet, holds, host, job, site

from energy.errors import MappingError
from energy.importers.mapping import load_mapping
from energy.ledger import attribution, telemetry
from energy.ledger.counters import counted_intervals
from energy.ledger.day_rows import DayRows
from energy.ledger.intake import Request, withdraw
from energy.ledger.modelled import HeldSpans, Model
from energy.ledger.telemetry import NONE
from energy.power.readings import DAY_MS
from energy.power.utilisation import WORKING_SHARE, levels_of

MINUTE = 60_000
CURVE = levels_of("nvidia_h100_sxm5_80")
NOBODY = Model(HeldSpans(*(np.zeros(0, np.int64),) * 3), WORKING_SHARE)
SPAN = 262_143_328_850


def stored(folder, series, shift_ms):
    """Write a series, (device, ms, mW, use, counter, µJ) each, as files by day; return {day: paths}."""
    paths = {}
    for day in sorted({(row[1] + shift_ms) // DAY_MS for row in series}):
        rows = sorted(row for row in series if (row[1] + shift_ms) // DAY_MS == day)
        size = len(rows)
        columns = {
            "device_key": np.array([row[0] for row in rows], np.int32),
            "time_ms": np.array([(row[1] + shift_ms) % DAY_MS for row in rows], np.int32),
            "power_milliw": np.array([row[2] for row in rows], np.int32),
            "utilisation_pct": np.array([row[3] for row in rows], np.float32),
            "counter_microj": np.array([row[4] for row in rows], np.int64),
            "energy_microj": np.array([row[5] for row in rows], np.int64),
            "counter_range_microj": np.full(size, NONE if series[0][6] is None else series[0][6], np.int64),
            "interval_ms": np.full(size, MINUTE, np.int32),
            "batch_id": np.ones(size, np.int32),
        }
        file = telemetry.write_day(folder, ("hall", day), columns)
        paths[day] = [file.partition_path]
    return paths


def integrated(folder, paths):
    """Return µJ and ms by device and tier, and the faults of counters, day by day as the ledger does."""
    sums, faults = {}, np.zeros(5, np.int64)
    days = DayRows(folder, paths)
    for number in sorted(paths):
        for rows in days.of(number):
            curves = [attribution.Curve(key, -DAY_MS, 2 * DAY_MS, CURVE) for key in np.unique(rows["device_key"])]
            counted = counted_intervals(rows, attribution._limits(rows, curves))
            own = (rows["time_ms"] >= 0) & (rows["time_ms"] < DAY_MS)
            columns = (counted.fell, counted.wrapped, counted.ambiguous, counted.jumped)
            faults[:4] += [int(values[own].sum()) for values in columns]
            faults[4] += int(counted.least_microj[own].sum())
            found = attribution._readings(rows, curves, counted, NOBODY)
            for key, tier, power, start, end in zip(
                found.device_key.tolist(),
                found.tier_code.tolist(),
                found.power_milliw.tolist(),
                found.time_ms.tolist(),
                found.end_ms.tolist(),
                strict=True,
            ):
                assert 0 <= start < end <= DAY_MS
                microj, ms = sums.get((key, tier), (0, 0))
                sums[key, tier] = (microj + power * (end - start), ms + end - start)
    return sums, faults.tolist()


@st.composite
def series(draw):
    """Draw readings of two devices over some hours: power, use, energy, counters that restart, wrap and stand still."""
    out = []
    span = draw(st.sampled_from([None, SPAN]))
    for device in (1, 2):
        kind = draw(st.sampled_from(["power", "counter", "both", "mixed", "energy"]))
        time, total = draw(st.integers(0, MINUTE)), draw(st.integers(0, SPAN - 1))
        for _ in range(draw(st.integers(2, 14))):
            step = draw(st.sampled_from([MINUTE] * 6 + [MINUTE + 7, 80_000, 3 * MINUTE, 15 * MINUTE, 40 * MINUTE]))
            time += step
            event = draw(st.sampled_from(["run"] * 4 + ["still", "restart", "jump"]))
            if event == "run":
                total += draw(st.integers(1, 800_000)) * step
            elif event == "restart":
                total = draw(st.integers(0, 1000))
            elif event == "jump":
                total += 4_000_000 * step
            total = total % SPAN if span else total
            has_power = kind in ("power", "both") or (kind == "mixed" and draw(st.booleans()))
            has_counter = kind in ("counter", "both") or (kind == "mixed" and draw(st.booleans()))
            out.append(
                (
                    device,
                    time,
                    draw(st.integers(1, 1_000_000)) if has_power else NONE,
                    np.nan if draw(st.booleans()) else 50.0,
                    total if has_counter else NONE,
                    draw(st.integers(1, 10**10)) if kind == "energy" else NONE,
                    span,
                )
            )
    return out


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(series(), st.data())
def test_a_midnight_anywhere_changes_no_energy(tmp_path_factory, read, data):
    latest = {device: max(row[1] for row in read if row[0] == device) for device in (1, 2)}
    times = sorted({row[1] for row in read})
    cut = data.draw(st.sampled_from(times)) + data.draw(st.integers(-MINUTE, MINUTE))
    assume(0 < cut <= times[-1])
    # what is held after the very last reading ends with its day
    assume(all(last + MINUTE <= cut or last >= cut for last in latest.values()))
    folder = tmp_path_factory.mktemp("days")
    whole = integrated(folder, stored(folder, read, 0))
    assert integrated(folder, stored(folder, read, DAY_MS - cut)) == whole


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path / "ledger", {"a": site([host("h1", 2)])})


def counters(fleet, rows, counter_range=None):
    """Make a file of (time, joules) of one board's counter."""
    columns = {
        "time_utc": "time",
        "host": "host",
        "device_index": "gpu",
        "counter": {"column": "total", "unit": "J_chip"},
    }
    mapping = {"interval": "60 s", "columns": columns}
    if counter_range is not None:
        mapping["counter_range"] = counter_range
    table = [{"time": f"2026-01-{time}Z", "host": "h1", "gpu": 0, "total": total} for time, total in rows]
    path, rules = fleet._table("power", table, mapping)
    return Request("power", path, str(rules))


BEFORE = [("05T23:58:30", 1000.0), ("05T23:59:30", 31_000.0)]
AFTER = [("06T00:00:30", 61_000.0), ("06T00:01:30", 97_000.0)]


def joules(fleet):
    rows = fleet.rows(
        "SELECT hour_utc, tier, CAST(energy_chip_kwh AS DOUBLE) * 3.6e6 AS j, CAST(chip_h AS DOUBLE) * 3600 AS s "
        "FROM device_coverage WHERE tier <> 'missing' ORDER BY ALL"
    )
    return [(row["hour_utc"].hour, row["tier"], pytest.approx(row["j"]), pytest.approx(row["s"])) for row in rows]


@pytest.mark.parametrize("order", ["together", "forward", "backward"])
def test_a_counter_is_chained_over_midnight(fleet, order):
    if order == "together":
        fleet.ingest(counters(fleet, BEFORE + AFTER))
    else:
        for rows in (BEFORE, AFTER) if order == "forward" else (AFTER, BEFORE):
            fleet.ingest(counters(fleet, rows))
    assert joules(fleet) == [(23, "measured", 45_000, 90), (0, "measured", 15_000 + 36_000, 90)]


def test_a_day_that_comes_or_goes_changes_its_neighbours_only(fleet):
    other = [("08T10:00:00", 0.0), ("08T10:01:00", 30_000.0)]
    digests = "SELECT partition_path, allocation_sha256 FROM core.attributed_file"
    fleet.ingest(counters(fleet, BEFORE))
    fleet.ingest(counters(fleet, other))
    alone, before = joules(fleet), {tuple(row.values()) for row in fleet.rows(digests)}
    fleet.ingest(counters(fleet, AFTER))
    after = {tuple(row.values()) for row in fleet.rows(digests)}
    assert {path.split("date=")[1][:10] for path, _ in before & after} == {"2026-01-08"}
    assert (23, "measured", 45_000, 90) in joules(fleet)
    withdraw(fleet.folder, 3)
    assert joules(fleet) == alone
    assert {tuple(row.values()) for row in fleet.rows(digests)} == before


def test_a_restart_at_midnight_is_bridged_and_said_so(fleet):
    fleet.ingest(counters(fleet, BEFORE + [(time, total - 60_000) for time, total in AFTER]))
    assert joules(fleet) == [
        (23, "measured", 30_000, 60),
        (23, "modelled", 16_500, 30),  # the mean of 500 W before and 600 W after
        (0, "measured", 36_000, 60),
        (0, "modelled", 16_500, 30),
    ]
    assert [row["n"] for row in fleet.rows("SELECT sum(restart_count) AS n FROM core.counter_hour")] == [1]


def test_a_wrap_needs_the_range(fleet, tmp_path):
    rows = [("05T10:00:00", 262_000.0), ("05T10:01:00", 11_856.67115), ("05T10:02:00", 23_856.67115)]
    fleet.ingest(counters(fleet, rows, "262143.32885 J_chip"))
    assert joules(fleet) == [(10, "measured", 24_000, 120)]
    kept = fleet.rows("SELECT restart_count, wrap_count FROM core.counter_hour")
    assert [tuple(row.values()) for row in kept] == [(0, 1)]
    plain = Fleet(tmp_path / "plain", fleet.sites)
    plain.ingest(counters(plain, rows))
    assert joules(plain) == [(10, "measured", 12_000, 60)]
    kept = plain.rows("SELECT restart_count, wrap_count FROM core.counter_hour")
    assert [tuple(row.values()) for row in kept] == [(1, 0)]


@pytest.mark.parametrize(
    ("counter_range", "words"),
    [
        ("262143 J", "J"),
        ("5 kg", "kg"),
        ("0 J_chip", "between 1 J"),
        ("1e14 kWh_chip", "between 1 J"),
        ("many", "many"),
    ],
)
def test_a_range_that_cannot_be_is_refused(fleet, counter_range, words):
    request = counters(fleet, BEFORE, counter_range)
    if counter_range == "262143 J":  # the field says the boundary where the text has none
        fleet.ingest(request)
        return
    with pytest.raises(MappingError, match="counter_range") as told:
        fleet.ingest(request)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_range_needs_a_counter(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(
        "format: power\ncounter_range: 5 J_chip\ncolumns: {time_utc: t, host: h, device_index: g,"
        " power: {column: w, unit: W_chip}}\n",
        encoding="utf-8",
    )
    with pytest.raises(MappingError, match="counter_range belongs to a counter"):
        load_mapping(str(path), "power")


def test_readings_of_power_are_chained_over_midnight(fleet):
    """Each stands until the next: half a minute of 600 W after midnight, of the last reading before it."""
    rows = [
        {"time": f"2026-01-{time}Z", "host": "h1", "gpu": 0, "w": watts}
        for time, watts in (("05T23:58:30", 300), ("05T23:59:30", 600), ("06T00:00:30", 120))
    ]
    fleet.ingest(fleet.readings(rows))
    assert joules(fleet) == [(23, "integrated", 18_000 + 18_000, 90), (0, "integrated", 18_000 + 7200, 90)]


def test_a_job_in_a_gap_that_is_bridged_has_its_part(fleet):
    """What stands for missing readings belongs to whoever holds the board then."""
    held = ("2026-01-05 10:04", "2026-01-05 10:08")
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *held)], "2026-01-05 00:00", "2026-01-06 00:00"),
        fleet.allocations([holds("1", "h1", 0, *held)]),
        fleet.readings(
            [{"time": f"2026-01-05T10:{minute:02}:00Z", "host": "h1", "gpu": 0, "w": 600} for minute in (0, 1, 11, 12)]
        ),
    )
    assert fleet.total("energy_chip_kwh", "tier", where="owner = 'p'") == {"modelled": pytest.approx(0.6 * 4 / 60)}
