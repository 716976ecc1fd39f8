"""A real trace without energy, projects or dates: hours are found, energy stays unknown and is never 0."""

import csv
import gzip
from collections import Counter

import pytest
from ingest_helpers import ledger, rows

from energy.catalogue import chip
from energy.ledger import doctor
from energy.ledger.intake import Request, ingest

SITE = """\
factor_policy: nearest any
chip_dialect: alibaba-2023
undisclosed_chips: [G1, G2, G3]
sites:
  openb: {zone: CHN, pue: 1.3, node_overhead: 1.3}
"""
TRACE_END_S = 12_902_960


@pytest.fixture(scope="module")
def openb(shared_folder, tmp_path_factory):
    source = shared_folder / "data/inputs/openb_gpu_trace_2023"
    folder = ledger(tmp_path_factory.mktemp("openb"), SITE)
    nodes, pods = source / "openb_node_list_all_node.csv", source / "openb_pod_list_default.csv.gz"
    results = ingest(folder, [Request("hosts", nodes, site="openb"), Request("jobs", pods, site="openb")])
    with gzip.open(pods, "rt", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    with nodes.open(encoding="utf-8") as file:
        hosts = list(csv.DictReader(file))
    return folder, results, lines, hosts


def test_every_row_is_read_and_pods_that_never_ran_are_kept_apart(openb):
    folder, (hosts, pods), lines, _ = openb
    assert (hosts.rows_read, hosts.rows_accepted, hosts.rows_rejected) == (1523, 1523, 0)
    assert (pods.rows_read, pods.rows_accepted, pods.rows_rejected) == (8152, 8152, 0)
    never = sum(not line["scheduled_time"] for line in lines)
    assert never == 897
    assert rows(folder, "SELECT count(*) AS n FROM raw.job WHERE start_utc IS NULL")[0]["n"] == never
    assert rows(folder, "SELECT count(*) AS n FROM core.job")[0]["n"] == len(lines) - never


def test_pods_that_outlive_the_trace_are_open(openb):
    folder, _, lines, _ = openb
    still = sum(line["deletion_time"] == str(TRACE_END_S) for line in lines if line["scheduled_time"])
    assert still == 34
    assert rows(folder, "SELECT count(*) AS n FROM core.job WHERE end_utc IS NULL")[0]["n"] == still


def test_gpu_hours_equal_an_independent_sum(openb):
    folder, _, lines, _ = openb
    window = rows(folder, "SELECT epoch_ms(max(to_utc)) AS t FROM core.log_window")[0]["t"] // 1000 - 1_672_531_200
    seconds = 0.0
    for line in lines:
        if line["scheduled_time"]:
            open_end = line["deletion_time"] == str(TRACE_END_S)
            end = window if open_end else int(line["deletion_time"])
            chips = int(line["num_gpu"]) * int(line["gpu_milli"]) / 1000
            seconds += chips * (end - int(line["scheduled_time"]))
    found = rows(folder, "SELECT sum(chip_h) AS h FROM energy_hourly WHERE job_key IS NOT NULL")[0]["h"]
    assert float(found) == pytest.approx(seconds / 3600, abs=1e-3)


def test_energy_is_null_and_never_zero(openb):
    folder, _, _, _ = openb
    found = rows(folder, "SELECT DISTINCT tier, energy_chip_kwh, energy_facility_kwh FROM energy_hourly")
    assert found == [{"tier": "missing", "energy_chip_kwh": None, "energy_facility_kwh": None}]
    assert rows(folder, "SELECT count(*) AS n FROM emission_lines WHERE emissions_kgco2e IS NOT NULL")[0]["n"] == 0


def test_idle_is_not_inferred_where_pods_name_no_host(openb):
    folder, _, _, _ = openb
    assert rows(folder, "SELECT DISTINCT owner_kind FROM energy_hourly") == [{"owner_kind": "unallocated"}]


def test_chips_by_host_equal_the_list_of_nodes(openb):
    folder, _, _, hosts = openb
    known = {name: chip(name, dialect="alibaba-2023").chip_id for name in ("T4", "P100", "V100M16", "V100M32", "A10")}
    given = Counter()
    for line in hosts:
        if int(line["gpu"]):
            given[known.get(line["model"])] += int(line["gpu"])
    found = rows(
        folder,
        "SELECT chip_id, sum(installed_chip_count) AS n FROM core.host WHERE installed_chip_count > 0 GROUP BY ALL",
    )
    assert {row["chip_id"]: int(row["n"]) for row in found} == dict(given)
    assert sum(given.values()) == 6212


def test_doctor_says_what_is_not_disclosed(openb):
    folder, _, _, _ = openb
    texts = [finding.text for finding in doctor(folder).findings]
    assert any(text.startswith("100.0 % of chip-hours are of chips that the logs do not disclose") for text in texts)
    assert any("jobs of openb name no host" in text for text in texts)
