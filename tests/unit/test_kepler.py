from hypothesis import HealthCheck, given, settings
from reading_helpers import AT_MS, damaged, detected, error, read_text, survives

from energy.importers.kepler import outermost

PATH = "/sys/class/powercap/intel-rapl"
NODE = "".join(
    f'kepler_node_cpu_joules_total{{node_name="n-1",path="{PATH}{place}",zone="{zone}"}} {joules}\n'
    for place, zone, joules in (
        (":0", "package", 400000),
        (":0:0", "core", 3e5),
        (":0:2", "dram", 14),
        (":1", "package", 9),
    )
)
CONTAINER = 'kepler_container_cpu_joules_total{container_name="t",node_name="n-1",zone="core"} 80111.1\n'
OLD = "".join(
    f'kepler_node_{zone}_joules_total{{instance="n-1:9102",mode="{mode}",package="0"}} {joules}\n'
    for zone, mode, joules in (("package", "dynamic", 100), ("package", "idle", 20), ("core", "dynamic", 80))
)


def test_zones_by_their_place(tmp_path):
    rows, rejects, _ = read_text("kepler", tmp_path, NODE)
    assert rejects == []
    assert {row["part"]: row["counter_microj"] for row in rows} == {
        "package-0": 400_000_000_000,
        "package-0/core": 300_000_000_000,
        "dram-0": 14_000_000,
        "package-1": 9_000_000,
    }
    assert {(row["host"], row["time_ms"]) for row in rows} == {("n-1", AT_MS)}
    assert outermost(row["part"] for row in rows) == ["dram-0", "package-0", "package-1"]


def test_modes_add_up(tmp_path):
    rows, rejects, _ = read_text("kepler", tmp_path, OLD)
    assert [(row["host"], row["part"], row["counter_microj"]) for row in rows] == [("n-1", "package-0", 120_000_000)]
    assert "mode idle of package-0/core is absent" in rejects[0]["reason"]


def test_containers_are_noted(tmp_path):
    rows, rejects, notes = read_text("kepler", tmp_path, CONTAINER * 2)
    assert (rows, rejects) == ([], [])
    assert notes == [
        "input: kepler_container_cpu_joules_total (core) counts 160222 J over all its series; it is noted, not stored."
    ]


def test_refused(tmp_path):
    assert "--time" in error("kepler", tmp_path, NODE, time=None)
    assert "no Kepler counter" in error("kepler", tmp_path, "up 1\n")
    assert "--host" in error("kepler", tmp_path, 'kepler_node_cpu_joules_total{zone="core"} 1\n', host=None)
    text = "kepler_node_cpu_joules_total 5\n" + NODE.replace("400000", "+Inf").replace(" 14\n", " NaN\n")
    rows, rejects, notes = read_text("kepler", tmp_path, text)
    assert len(rows) == 2
    assert "no zone" in rejects[0]["reason"]
    assert "finite" in rejects[1]["reason"]
    assert len(notes) == 1


def test_detected():
    assert detected("kepler", NODE)
    assert detected("kepler", "DCGM_FI_DEV_GPU_UTIL 1") is None


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(damaged(NODE) | damaged(OLD + CONTAINER))
def test_whatever_it_holds(tmp_path, raw):
    survives("kepler", tmp_path, raw)
