"""Files of known formats, brought to a ledger: whose energy, how much, and how it is known."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ingest_helpers import at, content, ledger, rejects, rows, take

from energy.errors import EnergyError
from energy.ledger.counters import counted_intervals
from energy.ledger.diagnosis import doctor
from energy.ledger.intake import Request, ingest, withdraw
from energy.ledger.telemetry import NONE

H100 = "NVIDIA H100 80GB HBM3"
SITE = """\
factor_policy: nearest any
sites:
  hall:
    zone: RFCE
    pue: 1.2
    node_overhead: {overhead}
    hosts:
      - {{pattern: "h-[1-3]", chip: NVIDIA H100 80GB HBM3, chips: 2}}
      - {{pattern: "a-1", chip: NVIDIA A100-SXM4-80GB, chips: 8}}
      - {{pattern: "mi-1", chip: AMD Instinct MI300X, chips: 8}}
      - {{pattern: "p-1", chip: Tesla P100-PCIE-16GB, chips: 1}}
"""
AT_MS = 1_767_600_000_000  # 2026-01-05T08:00:00Z
MINUTE = 60_000
POWER, COUNTER, USE = (f"DCGM_FI_DEV_{name}" for name in ("POWER_USAGE", "TOTAL_ENERGY_CONSUMPTION", "GPU_UTIL"))
DEVICES = (
    "SELECT device.host, device.device_index, reading.tier, sum(covered_chip_ms) / 1000 AS s, "
    "CAST(sum(energy_chip_microj) AS DOUBLE) / 1000000 AS j FROM core.device_hour AS reading "
    "JOIN core.device AS device ON device.device_key = reading.device_key GROUP BY ALL ORDER BY ALL"
)
FAULTS = (
    "SELECT sum(restart_count) AS fell, sum(stuck_count) AS stood, sum(jump_count) AS jumped FROM core.counter_hour"
)
SACCT = "JobID|User|Account|State|Start|End|Elapsed|NNodes|AllocTRES|ConsumedEnergyRaw|NodeList"


@pytest.fixture
def folder(tmp_path):
    return ledger(tmp_path / "ledger", SITE.format(overhead=1.25))


def read(folder):
    """Return seconds and joules by host, board and tier."""
    return {
        (row["host"], row["device_index"], row["tier"]): (float(row["s"]), pytest.approx(row["j"], rel=1e-12))
        for row in rows(folder, DEVICES)
    }


def faults(folder):
    return tuple(int(value) for value in rows(folder, FAULTS)[0].values())


def sample(metric, minute, value, host="h-1", gpu=0, uuid=None, **labels):
    """Make one line of a scrape with its time."""
    said = {"gpu": gpu, "UUID": uuid or f"GPU-{host}-{gpu}", "Hostname": host, "modelName": H100} | labels
    text = ",".join(f'{name}="{one}"' for name, one in said.items() if one is not None)
    return f"{metric}{{{text}}} {value} {AT_MS + round(minute * MINUTE)}"


def board(powers=(), counters=(), **labels):
    """Make the lines of one board: (minute, watts) and (minute, joules)."""
    return [sample(POWER, minute, watts, **labels) for minute, watts in powers] + [
        sample(COUNTER, minute, round(joules * 1000), **labels) for minute, joules in counters
    ]


def scrape(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sacct(path, *lines):
    path.write_text("\n".join([SACCT, *lines]) + "\n", encoding="utf-8")
    return path


def run(number, hosts="h-1", gpus=2, joules=0, start="00:00:00", end="02:00:00", nodes=1, kind="", account="p"):
    times = f"2026-01-05T{start}|2026-01-05T{end}|"
    tres = f"cpu=8,gres/gpu{kind}={gpus},node={nodes}"
    return f"{number}|u|{account}|COMPLETED|{times}|{nodes}|{tres}|{joules}|{hosts}"


# runs of Slurm


@pytest.mark.parametrize("overhead", [1.0, 1.25, 1.7])
def test_energy_of_a_run_that_held_its_hosts_whole(tmp_path, overhead):
    folder = ledger(tmp_path / "ledger", SITE.format(overhead=overhead))
    path = sacct(tmp_path / "s.txt", run(1, "h-[1-2]", 4, 7_200_001, nodes=2), run(2, "h-3", 1, 3_600_000))
    take(folder, "slurm-sacct", path, timezone="UTC")
    stored = rows(folder, "SELECT job_id, host, CAST(energy_it_kwh AS DOUBLE) AS kwh FROM core.job ORDER BY 1, 2")
    half = pytest.approx(7_200_001 / 3.6e6 / 2, rel=1e-12)
    assert [tuple(row.values()) for row in stored] == [("1", "h-1", half), ("1", "h-2", half), ("2", "h-3", 1.0)]
    lines = rows(
        folder,
        "SELECT job.job_id, line.tier, line.attribution, sum(line.energy_it_kwh) AS kwh, sum(line.chip_h) AS h "
        "FROM energy_hourly AS line JOIN core.job AS job ON job.job_key = line.job_key GROUP BY ALL ORDER BY ALL",
    )
    assert [(row["job_id"], row["tier"], row["attribution"], float(row["h"])) for row in lines] == [
        ("1", "measured", "job", 8.0),
        ("2", "default", "none", 2.0),  # energy at the plug of a shared node is not the run's
    ]
    assert float(lines[0]["kwh"]) == pytest.approx(7_200_001 / 3.6e6, abs=1e-9)
    assert float(lines[1]["kwh"]) == pytest.approx(2 * 0.385 * overhead, rel=1e-9)


def test_a_reported_energy_takes_the_place_of_readings(folder, tmp_path):
    minutes = [(minute, 500) for minute in range(60)]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board(minutes), *board(minutes, gpu=1)))
    hour = {"start": "08:00:00", "end": "09:00:00"}
    take(folder, "slurm-sacct", sacct(tmp_path / "s.txt", run(1, joules=4_500_000, **hour)), timezone="UTC")
    own = "SELECT tier, attribution, CAST(energy_it_kwh AS DOUBLE) AS kwh FROM energy_hourly WHERE job_key IS NOT NULL"
    expected = [("measured", "job", pytest.approx(1.25, abs=1e-9))]
    assert [tuple(row.values()) for row in rows(folder, own)] == expected
    listed = tmp_path / "given.csv"
    times = "2026-01-05T08:00:00Z,2026-01-05T09:00:00Z"
    listed.write_text(f"job_id,host,gpu,start_time,end_time\n1,h-1,0,{times}\n1,h-1,1,{times}\n", encoding="utf-8")
    take(folder, "allocations", listed)
    assert [tuple(row.values()) for row in rows(folder, own)] == expected
    apart = rows(folder, "SELECT sum(coalesce(difference_energy_chip_kwh, 0)) AS kwh FROM reconciliation")
    assert float(apart[0]["kwh"]) == 0


def test_every_run_of_a_requeued_job_counts(folder, tmp_path):
    path = sacct(tmp_path / "s.txt", run(1, end="01:00:00"), run(1, start="02:00:00", end="03:30:00"))
    assert take(folder, "slurm-sacct", path, timezone="UTC").rows_accepted == 2
    assert rows(folder, "SELECT CAST(sum(chip_h) AS DOUBLE) AS h FROM jobs")[0]["h"] == pytest.approx(5)


def test_instances_have_hours_and_no_energy(folder, tmp_path):
    """An instance is no whole board; what is left of its host is neither idle nor busy."""
    lines = [run(1, "a-1", 14, 9_000_000, kind=":1g.10gb", account="mig"), run(2, "a-1", 3, account="whole")]
    take(folder, "slurm-sacct", sacct(tmp_path / "s.txt", *lines), timezone="UTC")
    assert rows(folder, "SELECT chip_id FROM core.job ORDER BY job_id")[0]["chip_id"] is None
    shown = rows(
        folder,
        "SELECT owner, tier, CAST(sum(chip_h) AS DOUBLE) AS h, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh "
        "FROM energy_hourly WHERE host = 'a-1' AND hour_utc < TIMESTAMPTZ '2026-01-05 02:00Z' "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert [tuple(row.values()) for row in shown] == [
        ("mig", "missing", 28.0, None),
        ("whole", "default", 6.0, pytest.approx(6 * 0.231)),
    ]
    assert not any("more chips given out" in finding.text for finding in doctor(folder).findings)


def test_readings_of_a_host_with_instances_are_not_idle(folder, tmp_path):
    take(
        folder,
        "slurm-sacct",
        sacct(tmp_path / "s.txt", run(1, "a-1", 2, kind=":1g.10gb", start="08:00:00", end="09:00:00")),
        timezone="UTC",
    )
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board([(minute, 200) for minute in range(60)], host="a-1")))
    shown = rows(
        folder,
        "SELECT owner, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly "
        "WHERE host = 'a-1' AND hour_utc = TIMESTAMPTZ '2026-01-05 08:00Z' GROUP BY 1 ORDER BY 1",
    )
    assert [tuple(row.values()) for row in shown] == [("p", None), ("unallocated", pytest.approx(0.2))]


# counters


def test_counters_chain_over_files(folder, tmp_path):
    """Two scrapes in two files, in one call or two, say the same; the last reading is held for the usual step."""
    one = scrape(tmp_path / "one.prom", *board([(0, 600)], [(0, 1000)]))
    two = scrape(tmp_path / "two.prom", *board([(1, 600)], [(1, 1000 + 36_000)]))
    take(folder, "dcgm", two)
    take(folder, "dcgm", one)
    assert read(folder) == {("h-1", 0, "integrated"): (60, 36_000), ("h-1", 0, "measured"): (60, 36_000)}
    other = ledger(tmp_path / "other", SITE.format(overhead=1.25))
    ingest(other, [Request("dcgm", one), Request("dcgm", two)], threads=1)
    assert content(other) == content(folder)


def test_a_counter_knows_what_missing_readings_do_not(folder, tmp_path):
    minutes = [0, 1, 2, 12, 13]
    path = scrape(tmp_path / "r.prom", *board([(m, 300) for m in minutes], [(m, m * 24_000.0) for m in minutes]))
    take(folder, "dcgm", path)
    assert read(folder) == {("h-1", 0, "measured"): (780, 13 * 24_000), ("h-1", 0, "integrated"): (60, 18_000)}
    assert faults(folder) == (0, 0, 0)
    both = rows(folder, "SELECT energy_by_counter_chip_kwh AS c, energy_by_power_chip_kwh AS p FROM core.counter_hour")
    assert float(both[0]["c"]) == pytest.approx(3 * 24_000 / 3.6e6, abs=1e-9)  # where both were read in time
    assert float(both[0]["p"]) == pytest.approx(3 * 18_000 / 3.6e6, abs=1e-9)
    assert any("counter less power +33.3 %" in finding.text for finding in doctor(folder).findings)


def test_a_long_counted_interval_does_not_reach_back_to_midnight(folder, tmp_path):
    take(
        folder,
        "dcgm",
        scrape(
            tmp_path / "r.prom",
            *board([], [(0, 0.0), (1, 6000.0), (2, 12_000.0), (602, 3_612_000.0)], gpu=0),
            *board([], [(0, 0.0), (600, 3_600_000.0)], gpu=1),
        ),
    )
    assert read(folder) == {("h-1", 0, "measured"): (602 * 60, 3_612_000), ("h-1", 1, "measured"): (36_000, 3_600_000)}


def test_power_between_two_readings_of_the_counter(folder, tmp_path):
    """One file may give power every minute and another the counter every ten."""
    take(folder, "dcgm", scrape(tmp_path / "p.prom", *board([(minute, 500) for minute in range(21)])))
    take(folder, "dcgm", scrape(tmp_path / "c.prom", *board([], [(0, 0.0), (10, 330_000.0), (20, 660_000.0)])))
    assert read(folder) == {("h-1", 0, "measured"): (1200, 660_000), ("h-1", 0, "integrated"): (60, 30_000)}


@pytest.mark.parametrize(
    ("counters", "expected"),
    [
        ([0, 30, 60, 2, 32], (1, 0, 0)),  # restarted, or wrapped
        ([0, 30, 30, 30, 30], (0, 3, 0)),
        ([0, 30, 30, 30, 60], (0, 2, 0)),
        ([0, 30, 9000, 9030, 9060], (0, 0, 1)),
    ],
    ids=["fell", "stuck", "stuck for a while", "jumped"],
)
def test_power_stands_in_for_a_counter_that_cannot_be_trusted(folder, tmp_path, counters, expected):
    lines = board([(m, 500) for m in range(5)], [(m, kilojoules * 1000.0) for m, kilojoules in enumerate(counters)])
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert faults(folder) == expected
    assert sum(row["j"] for row in rows(folder, DEVICES)) == pytest.approx(5 * 30_000)
    told = [finding.text for finding in doctor(folder).findings if "board 0 of h-1" in finding.text]
    assert told == [
        f"board 0 of h-1: counter fell {expected[0]}, stood still {expected[1]}, jumped {expected[2]} times; "
        "counter less power +0.0 % where both were read"
    ]


def test_a_coarse_counter_counts_once(folder, tmp_path):
    """A plug's counter in steps of 0.1 kWh stands still between its steps: no energy twice, and nothing is stuck."""
    count = 55
    answers = [
        {
            "@odata.type": "#EnvironmentMetrics.v1_3_0.EnvironmentMetrics",
            "PowerWatts": {"Reading": 2400, "ReadingUnits": "W"},
            "EnergykWh": {"Reading": int(minute * 0.4 + 1e-9) / 10},
            "Timestamp": f"2026-01-05T08:{minute:02d}:00Z",
        }
        for minute in range(count)
    ]
    path = tmp_path / "r.json"
    path.write_text(json.dumps(answers), encoding="utf-8")
    take(folder, "redfish", path, host="h-1")
    node = rows(folder, "SELECT covered_ms, energy_it_microj FROM core.node_hour")[0]
    assert float(node["covered_ms"]) == count * MINUTE
    assert float(node["energy_it_microj"]) / 3.6e12 == pytest.approx(2.4 * count / 60, rel=0.03)
    assert faults(folder) == (0, 0, 0)


def test_a_board_without_counter(folder, tmp_path):
    lines = board([(minute, 30 if minute < 10 else 180) for minute in range(50)], host="p-1", modelName="Tesla P100")
    lines += [sample(COUNTER, 0, 9223372036854775794, host="p-1")]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert read(folder) == {("p-1", 0, "integrated"): (3000, (10 * 30 + 40 * 180) * 60)}
    assert rows(folder, "SELECT count(*) AS n FROM core.counter_hour")[0]["n"] == 0


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(1, 5_000_000),
            st.one_of(st.none(), st.integers(0, 10**12)),
            st.one_of(st.none(), st.integers(1, 700_000)),
        ),
        max_size=30,
    )
)
def test_no_energy_is_counted_twice(readings):
    """Whatever a counter does, its energy is at most the sum of its rises; where it only rises it is all of it."""
    device = np.array(sorted(one[0] for one in readings), np.int32)
    day = {
        "device_key": device,
        "time_ms": np.cumsum([one[1] % 2_000_000 + 1 for one in readings]).astype(np.int32),
        "counter_microj": np.array([NONE if one[2] is None else one[2] for one in readings], np.int64),
        "power_milliw": np.array([NONE if one[3] is None else one[3] for one in readings], np.int32),
    }
    counted = counted_intervals(day, np.full(device.size, 1e12))
    for key in np.unique(device):
        mine = device == key
        known = day["counter_microj"][mine & (day["counter_microj"] != NONE)]
        rises = np.diff(known)
        energy = float((counted.power_milliw * counted.interval_ms)[mine & counted.is_good].sum())
        rounding = float(counted.interval_ms[mine].sum())
        assert energy <= rises[rises > 0].sum() + rounding
        if (rises > 0).all() and known.size:
            assert energy >= known[-1] - known[0] - rounding
        if known.size:
            assert counted.fell[mine].sum() == (rises < 0).sum()
            assert counted.stood[mine].sum() <= (rises == 0).sum()


# boards


def test_instances_of_a_board_are_one_board(folder, tmp_path):
    lines = [
        sample(metric, minute, value, GPU_I_ID=number, GPU_I_PROFILE="1g.10gb")
        for minute in range(3)
        for number in (7, 8, 9)
        for metric, value in ((POWER, 214.5), (USE, number * 10))
    ]
    done = take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert (done.rows_read, done.rows_accepted, done.rows_rejected) == (9, 3, 0)
    assert "6 rows were joined with others of the same device and time" in done.notes
    assert read(folder) == {("h-1", 0, "integrated"): (180, 214.5 * 180)}


def test_a_board_that_moves_to_another_host(folder, tmp_path):
    lines = board([(0, 500), (1, 500)], [(0, 0.0), (1, 30_000.0)], uuid="GPU-x")
    lines += board([(10, 400), (11, 400)], [(10, 90_000.0), (11, 114_000.0)], uuid="GPU-x", host="h-2", gpu=1)
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert read(folder) == {
        ("h-1", 0, "measured"): (60, 30_000),
        ("h-1", 0, "integrated"): (60, 30_000),
        ("h-2", 1, "measured"): (60, 24_000),
        ("h-2", 1, "integrated"): (60, 24_000),
    }


def test_a_board_that_leaves_its_slot_and_comes_back(folder, tmp_path):
    for number, gpu in enumerate((0, 1, 0)):
        lines = board([(number * 10, 500), (number * 10 + 1, 500)], uuid="GPU-x", gpu=gpu)
        take(folder, "dcgm", scrape(tmp_path / f"{number}.prom", *lines))
    known = rows(folder, "SELECT device_index FROM core.device ORDER BY 1")
    assert [row["device_index"] for row in known] == [0, 1]
    assert read(folder) == {("h-1", 0, "integrated"): (240, 120_000), ("h-1", 1, "integrated"): (120, 60_000)}


def test_a_board_by_its_name_alone_gets_its_index_later(folder, tmp_path):
    head = "timestamp, uuid, power.draw [W]"
    lines = [f"2026/01/05 08:0{minute}:00.000, GPU-x, 500.00 W" for minute in range(3)]
    path = tmp_path / "smi.csv"
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    take(folder, "nvidia-smi", path, host="h-1", timezone="UTC")
    assert [key[1] for key in read(folder)] == [-2]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board([(2, 500), (3, 500)], uuid="GPU-x", gpu=1)))
    assert read(folder) == {("h-1", 1, "integrated"): (240, 120_000)}


@pytest.mark.parametrize("first", ["readings", "allocation"])
def test_an_allocation_by_index_finds_the_board_by_name(folder, tmp_path, first):
    listed = tmp_path / "given.csv"
    listed.write_text(
        "job_id,host,gpu,start_time,end_time\n1,h-1,1,2026-01-05T08:00:00Z,2026-01-05T09:00:00Z\n", encoding="utf-8"
    )
    minutes = range(60)
    path = scrape(tmp_path / "r.prom", *board([(m, 100) for m in minutes]), *board([(m, 600) for m in minutes], gpu=1))
    files = {"readings": ("dcgm", path), "allocation": ("allocations", listed)}
    take(
        folder,
        "slurm-sacct",
        sacct(tmp_path / "s.txt", run(1, gpus=1, start="08:00:00", end="09:00:00")),
        timezone="UTC",
    )
    for name in (first, *({"readings", "allocation"} - {first})):
        take(folder, *files[name])
    line = rows(
        folder,
        "SELECT attribution, CAST(energy_chip_kwh AS DOUBLE) AS kwh FROM energy_hourly WHERE job_key IS NOT NULL",
    )
    assert [tuple(row.values()) for row in line] == [("device", pytest.approx(0.6))]


def test_a_board_that_was_exchanged(folder, tmp_path):
    """The log does not say which board of the slot it means: the run shares its host's readings, each once."""
    lines = board([(m, 500) for m in range(30)], uuid="GPU-x") + board([(m, 600) for m in range(30, 60)], uuid="GPU-y")
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    listed = tmp_path / "given.csv"
    listed.write_text(
        "job_id,host,gpu,start_time,end_time\n1,h-1,0,2026-01-05T08:00:00Z,2026-01-05T09:00:00Z\n", encoding="utf-8"
    )
    take(folder, "allocations", listed)
    path = sacct(tmp_path / "s.txt", run(1, gpus=2, start="08:00:00", end="09:00:00"))
    take(folder, "slurm-sacct", path, timezone="UTC")
    line = rows(
        folder,
        "SELECT tier, CAST(sum(chip_h) AS DOUBLE) AS h, CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh "
        "FROM energy_hourly WHERE job_key IS NOT NULL GROUP BY 1 ORDER BY 1",
    )
    assert [tuple(row.values()) for row in line] == [
        ("default", 1.0, pytest.approx(0.385)),
        ("integrated", 1.0, pytest.approx(0.55)),
    ]


def test_readings_that_have_no_place_are_refused(folder, tmp_path):
    lines = board([(0, 500)], host="nowhere") + board([(0, 500)], gpu=2) + board([(0, 500)], host=None)
    lines = [line.replace('Hostname="None",', "") for line in lines]
    done = take(folder, "dcgm", scrape(tmp_path / "r.prom", *lines))
    assert (done.rows_read, done.rows_accepted, done.rows_rejected) == (3, 0, 3)
    reasons = [reason for _, reason in rejects(folder)]
    assert "host nowhere is in no site" in reasons[0]
    assert reasons[1] == "device 2 of host h-1, which has 2 (0 to 1): correct the index, or chips in site.yaml"
    assert "--host" in reasons[2]


def test_power_and_counter_in_series_of_their_own(folder, tmp_path):
    labels = {"gpu": "0", "UUID": "GPU-0", "Hostname": "h-1", "modelName": H100}
    series = [
        {"metric": {"__name__": name, **labels}, "values": [[AT_MS / 1000 + 60 * m, str(value(m))] for m in range(4)]}
        for name, value in ((POWER, lambda _: 450), (COUNTER, lambda m: 1_000_000 + m * 30_000_000))
    ]
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}}))
    done = take(folder, "prometheus-range", path)
    assert (done.rows_read, done.rows_accepted, done.rows_duplicate) == (8, 4, 0)
    assert read(folder) == {("h-1", 0, "measured"): (180, 90_000), ("h-1", 0, "integrated"): (60, 27_000)}


# plugs, parts and other tools


def ipmi(path, watts, minutes=60):
    lines = [f"{AT_MS // 1000 + 60 * minute},h-1,{watts},activated" for minute in range(minutes)]
    path.write_text("\n".join(["epoch,host,watts,state", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("watts", "minutes", "overhead", "status"),
    [(1500, 60, 1.5, "derived"), (900, 60, 1.25, "given"), (1500, 50, 1.25, "given")],
    ids=["read whole", "less than its boards", "not read whole"],
)
def test_overhead_of_a_node_from_its_plug(folder, tmp_path, watts, minutes, overhead, status):
    read_each = [(minute, 500) for minute in range(60)]
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board(read_each), *board(read_each, gpu=1)))
    take(folder, "ipmi-dcmi", ipmi(tmp_path / "i.csv", watts, minutes))
    node = rows(folder, "SELECT CAST(energy_it_microj AS DOUBLE) AS e FROM core.node_hour")
    assert node[0]["e"] == pytest.approx(watts * minutes * 60e6)
    line = rows(folder, "SELECT node_overhead, node_overhead_status FROM core.energy_hour WHERE energy_chip_kwh > 0")
    assert [tuple(row.values()) for row in line] == [(pytest.approx(overhead), status)]
    total = rows(folder, "SELECT CAST(sum(energy_it_kwh) AS DOUBLE) AS it FROM energy_hourly")[0]["it"]
    assert total == pytest.approx(overhead)


def test_overhead_needs_all_boards(folder, tmp_path):
    take(folder, "dcgm", scrape(tmp_path / "r.prom", *board([(minute, 500) for minute in range(60)])))
    take(folder, "ipmi-dcmi", ipmi(tmp_path / "i.csv", 1500))
    assert {
        row["node_overhead_status"] for row in rows(folder, "SELECT node_overhead_status FROM core.energy_hour")
    } == {"given"}


def test_a_plug_is_no_board(folder, tmp_path):
    take(folder, "ipmi-dcmi", ipmi(tmp_path / "i.csv", 1500))
    assert rows(folder, DEVICES) == []
    assert any("no readings of boards" in finding.text for finding in doctor(folder).findings)


def test_parts_of_nodes_are_counted_and_not_stored(folder, tmp_path):
    text = 'kepler_node_cpu_joules_total{node_name="h-1",path="/sys/class/powercap/intel-rapl:0",zone="package"} 4000\n'
    path = scrape(tmp_path / "k.prom", text)
    done = take(folder, "kepler", path, time=at("2026-01-05 08:00"))
    assert (done.rows_read, done.rows_accepted) == (1, 0)
    assert any(note.startswith("1 readings are of parts inside nodes") for note in done.notes)
    assert rows(folder, "SELECT count(*) AS n FROM core.energy_hour")[0]["n"] == 0


def test_idle_that_opencost_lists_is_idle(folder, tmp_path):
    def entry(name, gpus):
        return {
            "name": f"cl/{name}",
            "properties": {"cluster": "cl", "node": "h-1", "namespace": name.split("/")[0], "pod": name.split("/")[1]},
            "window": {"start": "2026-01-05T00:00:00Z", "end": "2026-01-06T00:00:00Z"},
            "start": "2026-01-05T00:00:00Z",
            "end": "2026-01-06T00:00:00Z",
            "minutes": 1440,
            "gpuHours": gpus * 24.0,
        }

    path = tmp_path / "o.json"
    entries = {name: entry(name, gpus) for name, gpus in (("bio/a", 1), ("__idle__/__idle__", 1))}
    path.write_text(json.dumps({"code": 200, "data": [entries]}), encoding="utf-8")
    take(folder, "opencost", path)
    shown = rows(
        folder,
        "SELECT owner_kind, owner, CAST(sum(chip_h) AS DOUBLE) AS h, "
        "CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly WHERE host = 'h-1' "
        "GROUP BY ALL ORDER BY ALL",
    )
    assert [tuple(row.values()) for row in shown] == [
        ("idle", "idle", 24.0, pytest.approx(24 * 0.07)),
        ("project", "bio", 24.0, pytest.approx(24 * 0.385)),
    ]


CODECARBON = (
    "timestamp,project_name,run_id,duration,emissions,gpu_energy,energy_consumed,country_iso_code,gpu_count,gpu_model\n"
)


def test_codecarbon_has_energies_and_no_window(folder, tmp_path):
    path = tmp_path / "e.csv"
    path.write_text(CODECARBON + f"2026-01-05T10:30:00,bio,r1,7200,0.1,0.5,0.7,DEU,1,1 x {H100}\n", encoding="utf-8")
    take(folder, "codecarbon", path, timezone="UTC", host="h-1")
    assert rows(folder, "SELECT * FROM core.log_window") == []
    shown = rows(
        folder,
        "SELECT owner, tier, attribution, CAST(sum(chip_h) AS DOUBLE) AS h, "
        "CAST(sum(energy_chip_kwh) AS DOUBLE) AS kwh FROM energy_hourly GROUP BY ALL",
    )
    assert [tuple(row.values()) for row in shown] == [("bio", "measured", "job", pytest.approx(2), pytest.approx(0.5))]


def test_a_run_whose_chips_are_not_known(tmp_path, folder, monkeypatch):
    """Its energy counts over its time, without chip-hours; with neither chips nor energy there is nothing to count."""
    path = tmp_path / "e.csv"
    cells = "2026-01-05T10:30:00,bio,{},7200,0.1,{},0.7,DEU"
    path.write_text(CODECARBON + cells.format("r1", 0.5) + "\n" + cells.format("r2", 0) + "\n", encoding="utf-8")
    done = take(folder, "codecarbon", path, timezone="UTC", host="h-1")
    assert (done.rows_read, done.rows_accepted, done.rows_rejected) == (2, 1, 1)
    assert "neither how many chips" in done.first_reject
    assert any("without chip-hours" in note for note in done.notes)
    shown = rows(
        folder,
        "SELECT hour(hour_utc) AS h, CAST(chip_h AS DOUBLE) AS chip_h, "
        "CAST(energy_chip_kwh AS DOUBLE) AS kwh FROM energy_hourly ORDER BY 1",
    )
    assert [(row["chip_h"], row["kwh"]) for row in shown] == [(0, pytest.approx(kwh)) for kwh in (0.125, 0.25, 0.125)]


# every format


def _formats(folder):
    """Write one small file of each format; return its options."""
    minutes = range(5)
    scrape(folder / "dcgm", *board([(m, 500) for m in minutes], [(m, m * 31_000.0) for m in minutes]))
    lines = [run(1, joules=7_200_000), run(2, "h-[2-3]", 2, nodes=2), run(3, "a-1", 2, kind=":1g.10gb")]
    sacct(folder / "slurm-sacct", *lines)
    smi = "timestamp, index, uuid, power.draw [W]\n" + "".join(
        f"2026/01/05 08:0{m}:00.000, 0, GPU-x, {500 + m}.00 W\n" for m in minutes
    )
    (folder / "nvidia-smi").write_text(smi, encoding="utf-8")
    ipmi(folder / "ipmi-dcmi", 1500, 5)
    answer = {"@odata.type": "#Power.v1_7_1.Power", "PowerControl": [{"PowerConsumedWatts": 1500}]}
    (folder / "redfish").write_text(json.dumps(answer), encoding="utf-8")
    amd = [{"gpu": 0, "power": {"socket_power": {"value": 548, "unit": "W"}}}]
    (folder / "amd-smi").write_text(json.dumps(amd), encoding="utf-8")
    scrape(folder / "slurm-job-exporter", 'slurm_job_power_gpu{gpu="0",slurmjobid="1"} 302176.0')
    text = CODECARBON + f"2026-01-05T10:30:00,bio,r1,7200,0.1,0.5,0.7,DEU,1,1 x {H100}\n"
    (folder / "codecarbon").write_text(text, encoding="utf-8")
    return {"host": "h-1", "time": at("2026-01-05 08:00"), "timezone": "UTC"}


FORMATS = ("dcgm", "slurm-sacct", "nvidia-smi", "ipmi-dcmi", "redfish", "amd-smi", "slurm-job-exporter", "codecarbon")


def whole(folder):
    """Return everything that follows from the files; the number of a run is of the file that told it last."""
    views = {name: [row | {"job_key": 0} for row in shown] for name, shown in content(folder).items()}
    return views, rows(folder, DEVICES), rows(folder, "SELECT * FROM core.node_hour")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_once_and_the_same_again(folder, tmp_path, name):
    here = _formats(tmp_path)
    path = tmp_path / name
    first = take(folder, name, path, **here)
    assert first.rows_accepted > 0, first.first_reject
    assert first.rows_rejected == 0, first.first_reject
    told = whole(folder)
    assert take(folder, name, path, **here).batch_id is None
    withdraw(folder, 1, threads=1)
    assert rows(folder, "SELECT count(*) AS n FROM core.energy_hour")[0]["n"] == 0
    assert rows(folder, "SELECT count(*) AS n FROM core.node_hour")[0]["n"] == 0
    assert rows(folder, "SELECT count(*) AS n FROM core.counter_hour")[0]["n"] == 0
    take(folder, name, path, **here)
    assert whole(folder) == told
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    done = take(folder, name, packed, **here)
    assert done.rows_duplicate == first.rows_accepted
    assert whole(folder) == told
    other = ledger(tmp_path / "other", SITE.format(overhead=1.25))
    take(other, name, packed, **here)
    assert whole(other) == told


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_another_format_changes_no_total(folder, tmp_path, name):
    """It is refused, whole or row by row, and never read as numbers."""
    here = _formats(tmp_path)
    other = "dcgm" if name != "dcgm" else "slurm-sacct"
    try:
        done = take(folder, name, tmp_path / other, **here)
    except EnergyError as error:
        assert "\n" not in str(error)
    else:
        assert done.rows_accepted == 0
