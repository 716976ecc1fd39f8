"""The example quarter reckoned a second time, by plain loops from the rules alone, and compared with every view.

Nothing of the ledger's own arithmetic is used here: no NumPy, no SQL, no function of energy.power or energy.ledger but
the ingest that is under test. The rules:

- a reading is held until the device's next reading, also over midnight, at most for the interval (half an interval late
  is in time), the last one never past the end of its UTC day; the example has no gap short enough to be bridged;
- its energy belongs to whoever holds the device at its time; the time that it covers belongs to whoever holds the
  device then;
- a job's time without a reading is at the default busy power, an installed device's idle time at the idle power, both
  from the measured states and the curve of the board's nearest relative;
- jobs of which the device is not known share what their host has left, by chip-time, with the idle chips;
- board -> node by the node's overhead -> meter by the PUE of the hour -> emissions by the factor of the hour.

Every fifth job loses its device allocation here, so that hosts with both kinds of jobs occur.
"""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from energy.catalogue.chips import chip
from energy.catalogue.factors import factor
from energy.catalogue.profiles import profile
from energy.example import write
from energy.ledger.intake import Request, ingest
from energy.ledger.reader import Ledger

ZONE = "America/New_York"
SITE_FILE = f"""\
reporting_timezone: {ZONE}
factor_policy: nearest earlier
sites:
  site-a:
    zone: RFCE
    hourly_zone: US-PJM
    pue: {{value: 1.25, low: 1.22, high: 1.28}}
    node_overhead: {{value: 1.30, low: 1.25, high: 1.35}}
  site-b:
    zone: ERCT
    hourly_zone: US-ERCO
    pue:
      - {{to: 2026-02-01T06:00:00Z, value: 1.40, low: 1.36, high: 1.44}}
      - {{from: 2026-02-01T06:00:00Z, value: 1.32, low: 1.28, high: 1.36}}
    node_overhead: {{value: 1.20, low: 1.15, high: 1.25}}
"""
OVERHEAD = {"site-a": 1.30, "site-b": 1.20}
START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
NEW_PUE = datetime(2026, 2, 1, 6, tzinfo=UTC)
INTERVAL, HOUR, DAY = 60, 3600, 86_400
# power_states.csv and power_chip.csv: gain and exponent of memory and of compute, base share of the limit. Only the
# B200 has a curve of its own; the H100 takes the H200's, the other boards that of the nearest relative. Nothing stands
# with context below its bare idle, and nothing bare above a context that was read.
MEASURED_IDLE_W = {"nvidia_a100_sxm4_80": 62.0, "nvidia_h100_sxm5_80": 72.5}
CONTEXT_W = {
    "nvidia_a100_sxm4_80": 80.0,
    "nvidia_h100_sxm5_80": 121.7,
    "nvidia_b200_sxm": 253.1,
    "nvidia_p100_pcie_16": 33.5,
}
H200_CURVE = (2.221, 1.006, 4.673, 0.9875, 0.1769)
B200_CURVE = (1.077, 0.9027, 4.684, 0.4915, 0.2222)
CURVES = {
    "nvidia_a100_sxm4_80": H200_CURVE,
    "nvidia_b200_sxm": B200_CURVE,
    "nvidia_h100_sxm5_80": H200_CURVE,
    "nvidia_p100_pcie_16": H200_CURVE,
    "amd_mi300x": H200_CURVE,
}
FACTORS = {
    # eGRID 2023 rev 2 and Green-e 2018 for RFC East; eGRID 2022 and Green-e 2018 for ERCOT: the nearest earlier years
    "site-a": ("egrid2023r2-RFCE", "greene2018-RFCE-residual", "US-PJM"),
    "site-b": ("egrid2022-ERCT", "greene2018-ERCT-residual", "US-ERCO"),
}


def seconds(value):
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return round(value.timestamp())


def read_inputs(paths):
    """Return hosts, jobs, allocations and readings as plain values; times in whole seconds since 1970."""
    jobs_path, nodes_path, power_path, allocations_path, _ = paths
    with nodes_path.open() as file:
        hosts = {row["host"]: (row["site"], row["gpu_model"], int(row["gpus"])) for row in csv.DictReader(file)}
    jobs = {
        row["job_id"]: (
            row["host"],
            row["project"],
            row["gpu_num"],
            seconds(row["start_time"]),
            seconds(END) if row["end_time"] is None else seconds(row["end_time"]),
        )
        for row in pq.read_table(jobs_path).to_pylist()
    }
    with allocations_path.open() as file:
        given = [
            (row["job_id"], row["host"], int(row["gpu"]), seconds(row["start_time"]), seconds(row["end_time"]))
            for row in csv.DictReader(file)
        ]
    readings = defaultdict(list)
    table = pq.read_table(power_path)
    columns = [table[name].to_pylist() for name in ("host", "gpu", "power_w")]
    times = [value // 1_000_000 for value in table["ts"].cast("int64").to_pylist()]
    for time, host, gpu, watts in zip(times, *columns, strict=True):
        readings[host, gpu].append((time, round(watts, 3)))  # readings are stored as whole milliwatts
    return hosts, jobs, given, readings


def hours_of(start, end):
    """Cut [start, end) at the full hours: (hour number, seconds in it)."""
    while start < end:
        edge = min(end, (start // HOUR + 1) * HOUR)
        yield start // HOUR, edge - start
        start = edge


def held_intervals(rows):
    """Return (time, watts, start, end) of the readings of one device."""
    rows = sorted(rows)
    out = []
    for place, (time, watts) in enumerate(rows):
        midnight = time // DAY * DAY
        following = rows[place + 1][0] if place + 1 < len(rows) else None
        if following is None:
            end = min(time + INTERVAL, midnight + DAY)
        else:
            assert not 1.5 * INTERVAL < following - time <= 900, "the example has no gap that is bridged"
            end = following if following <= time + 1.5 * INTERVAL else time + INTERVAL
        out.append((time, watts, time, end))
    return out


class Reckoning:
    """Chip-seconds and board energy (joules) by (site, model, owner, hour, tier)."""

    def __init__(self, hosts, jobs, given, readings):
        self.hosts, self.jobs = hosts, jobs
        self.chip_s = defaultdict(float)
        self.joules = defaultdict(float)
        self.devices = defaultdict(list)  # (host, gpu) -> [(start, end, job)] of jobs that hold it for their whole run
        self.held = defaultdict(set)
        for job_id, host, gpu, start, end in given:
            if job_id in jobs and jobs[job_id][0] == host and start <= jobs[job_id][3] and end >= jobs[job_id][4]:
                self.devices[host, gpu].append((jobs[job_id][3], jobs[job_id][4], job_id))
                self.held[job_id].add(gpu)
        self.pool = defaultdict(lambda: [0.0, 0.0])  # (host, hour) -> seconds, joules that no device allocation claims
        self.covered = defaultdict(float)  # (job, gpu, hour) -> seconds
        for device, rows in readings.items():
            self.give(device, rows)
        self.gaps_of_devices()
        self.shared_hosts()

    def add(self, host, owner, hour, tier, chip_s, joules):
        site, model, _ = self.hosts[host]
        key = (site, model, owner, hour, tier)
        self.chip_s[key] += chip_s
        self.joules[key] += joules

    def give(self, device, rows):
        host, gpu = device
        holders = sorted(self.devices[device])
        for time, watts, start, end in held_intervals(rows):
            owner = next((job for first, last, job in holders if first <= time < last), None)
            for hour, length in hours_of(start, end):
                if owner is None:
                    self.pool[host, hour][1] += watts * length
                else:
                    self.add(host, self.jobs[owner][1], hour, "integrated", 0, watts * length)
            free = dict(hours_of(start, end))
            for first, last, job in holders:
                for hour, length in hours_of(max(start, first), min(end, last)):
                    self.covered[job, gpu, hour] += length
                    self.add(host, self.jobs[job][1], hour, "integrated", length, 0)
                    free[hour] -= length
            for hour, length in free.items():
                self.pool[host, hour][0] += length

    def gaps_of_devices(self):
        for (host, gpu), holders in self.devices.items():
            for start, end, job in holders:
                for hour, length in hours_of(start, end):
                    gap = length - self.covered.get((job, gpu, hour), 0)
                    self.add(host, self.jobs[job][1], hour, "default", gap, gap * self.busy_w(host))

    def shared_hosts(self):
        """Give each host-hour's unclaimed readings to the jobs without device and to idle, by chip-time."""
        claims = defaultdict(lambda: defaultdict(float))  # (host, hour) -> owner -> chip-seconds
        on_devices = defaultdict(float)
        for job, (host, project, gpus, start, end) in self.jobs.items():
            for hour, length in hours_of(start, end):
                on_devices[host, hour] += length * len(self.held[job])
                if gpus > len(self.held[job]):
                    claims[host, hour][project] += length * (gpus - len(self.held[job]))
        for host, (_, _, gpus) in self.hosts.items():
            for hour in range(seconds(START) // HOUR, seconds(END) // HOUR):
                taken = sum(claims[host, hour].values()) + on_devices.get((host, hour), 0)
                claims[host, hour]["idle"] += gpus * HOUR - taken
        for (host, hour), owners in claims.items():
            read_s, joules = self.pool.get((host, hour), (0, 0))
            everything = sum(owners.values())
            for owner, chip_s in owners.items():
                part = chip_s / everything if everything else 0
                self.add(host, owner, hour, "integrated", read_s * part, joules * part)
                gap = chip_s - read_s * part
                watts = self.idle_w(host) if owner == "idle" else self.busy_w(host)
                self.add(host, owner, hour, "default", gap, gap * watts)

    def idle_w(self, host):
        known = chip(self.hosts[host][1])
        idle = MEASURED_IDLE_W.get(known.chip_id, known.idle_w)
        return min(idle, CONTEXT_W.get(known.chip_id, idle))

    def busy_w(self, host):
        """A board on which kernels run stands at 0.53 of the way from idle with context to the default load."""
        known = chip(self.hosts[host][1])
        memory, memory_exponent, compute, compute_exponent, base = CURVES[known.chip_id]
        context = max(CONTEXT_W.get(known.chip_id, base * known.tdp_w), self.idle_w(host))
        load = memory * 0.3**memory_exponent + compute * 0.4**compute_exponent
        working = context + (0.99 * known.tdp_w - context) * (1 - math.exp(-load))
        return context + 0.53 * (working - context)


def intensities(site, moment):
    location, residual, hourly = FACTORS[site]
    return {
        "location": factor(location).value,
        "market": factor(residual).value,
        "hourly": float(profile(hourly).values[moment.month - 1, moment.hour]),
    }


def chain(reckoning):
    """Carry each line to the meter and to emissions; return sums by (month, site, owner, chip[, tier or method])."""
    energy, by_tier, emissions = defaultdict(lambda: [0.0] * 4), defaultdict(lambda: [0.0] * 2), defaultdict(float)
    for key, chip_s in reckoning.chip_s.items():
        site, model, owner, hour, tier = key
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
        month = f"{moment.astimezone(ZoneInfo(ZONE)):%Y-%m}"
        pue = 1.25 if site == "site-a" else (1.40 if moment < NEW_PUE else 1.32)
        board = reckoning.joules[key] / 3.6e6
        line = (chip_s / HOUR, board, board * OVERHEAD[site], board * OVERHEAD[site] * pue)
        group = (month, site, owner, chip(model).chip_id)
        energy[group] = [a + b for a, b in zip(energy[group], line, strict=True)]
        by_tier[(*group, tier)] = [a + b for a, b in zip(by_tier[(*group, tier)], line[:2], strict=True)]
        for method, value in intensities(site, moment).items():
            emissions[(*group, method)] += line[3] * value / 1000
    return energy, by_tier, emissions


def compare(found, expected, what):
    """Hold two tables of lists side by side to 1e-9; a group that one side lacks must be nothing."""
    for key in {*found, *expected}:
        ours, theirs = expected.get(key), found.get(key)
        if ours is None or theirs is None:
            assert [value or 0 for value in (ours or theirs)] == pytest.approx([0] * len(ours or theirs), abs=1e-6), (
                what,
                key,
            )
        else:
            assert [float(value or 0) for value in theirs] == pytest.approx(ours, rel=1e-9, abs=1e-9), (what, key)


def without_every_fifth(path):
    """Drop the device allocations of every fifth job; return how many rows were dropped."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    kept = [row for row in rows if int(row["job_id"]) % 5]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(kept)
    return len(rows) - len(kept)


@pytest.mark.parametrize("scale", [0.08, pytest.param(1.0, marks=pytest.mark.slow)])
def test_the_views_say_what_plain_loops_say(tmp_path, scale):
    paths = write(tmp_path / "inputs", seed=7, scale=scale)
    assert without_every_fifth(paths[3]) > 0
    hosts, jobs, given, readings = read_inputs(paths)
    energy, by_tier, emissions = chain(Reckoning(hosts, jobs, given, readings))

    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "site.yaml").write_text(SITE_FILE, encoding="utf-8")
    ingest(
        folder,
        [
            Request("hosts", paths[1]),
            Request("jobs", paths[0], covers_from=START, covers_to=END),
            Request("allocations", paths[3]),
            Request("power", paths[2]),
        ],
    )
    group = "month, site_id, owner, chip_id"
    with Ledger(folder) as ledger:
        found = ledger.rows(
            f"SELECT {group}, sum(chip_h) a, sum(energy_chip_kwh) b, sum(energy_it_kwh) c, sum(energy_facility_kwh) d "
            f"FROM energy_monthly GROUP BY {group}"
        )
        tiers = ledger.rows(
            f"SELECT {group}, tier, sum(chip_h) a, sum(energy_chip_kwh) b FROM energy_monthly GROUP BY {group}, tier"
        )
        carbon = ledger.rows(
            f"SELECT {group}, method, sum(emissions_kgco2e) a FROM emissions_monthly GROUP BY {group}, method"
        )
        balance = ledger.rows("SELECT difference_chip_h, difference_energy_chip_kwh FROM reconciliation")
    compare({tuple(row.values())[:4]: list(row.values())[4:] for row in found}, energy, "energy")
    compare({tuple(row.values())[:5]: list(row.values())[5:] for row in tiers}, by_tier, "tier")
    compare(
        {tuple(row.values())[:5]: list(row.values())[5:] for row in carbon},
        {key: [value] for key, value in emissions.items()},
        "emissions",
    )
    assert max(abs(value or 0) for row in balance for value in row.values()) < 1e-6
    the_generator_agrees(energy_by_hour=Reckoning(hosts, jobs, [], {}), expected=json.loads(paths[4].read_text()))


def the_generator_agrees(energy_by_hour, expected):
    """Chip-hours in the quarter, by project and model, as the example's own file states them."""
    found = defaultdict(float)
    for (_, model, owner, hour, _), chip_s in energy_by_hour.chip_s.items():
        if owner != "idle" and seconds(START) <= hour * HOUR < seconds(END):
            found[f"{owner} | {model}"] += chip_s / HOUR
    assert {key: round(value, 4) for key, value in found.items() if value} == pytest.approx(
        {key: value for key, value in expected["gpu_hours_in_quarter"].items() if value}, abs=2e-4
    )
