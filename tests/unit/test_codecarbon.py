"""CodeCarbon: the last row of a run, one row of a machine, boards without the PUE, and rows that lost cells."""

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_helpers import at, context

from energy.errors import EnergyError, InputFileError
from energy.importers.codecarbon import importer
from energy.importers.kinds import columns_of

GOOD = {
    "timestamp": "2026-01-05T10:00:00",
    "project_name": "bio",
    "run_id": "r1",
    "experiment_id": "e1",
    "duration": "3600",
    "emissions": "0.25",
    "emissions_rate": "0.00007",
    "cpu_power": "120",
    "gpu_power": "500",
    "ram_power": "30",
    "cpu_energy": "0.12",
    "gpu_energy": "0.5",
    "ram_energy": "0.03",
    "energy_consumed": "0.65",
    "country_name": "Germany",
    "country_iso_code": "DEU",
    "region": "",
    "os": "Linux",
    "cpu_model": "EPYC 9554",
    "gpu_count": "2",
    "gpu_model": "2 x NVIDIA H100 80GB HBM3",
    "tracking_mode": "machine",
    "on_cloud": "N",
    "pue": "1.0",
    "host": "",
}
NAMES = ",".join(GOOD)
QUICK = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def line(**changes):
    return ",".join(str(value) for value in (GOOD | changes).values())


def read(folder, *lines, header=NAMES, raw=None, **changes):
    path = Path(folder) / "emissions.csv"
    path.write_bytes(raw if raw is not None else ("\n".join([header, *lines]) + "\n").encode("utf-8", "surrogatepass"))
    about = context(**({"timezone": "UTC", "site_id": "hall"} | changes))
    batches = list(importer.read(path, None, about))
    assert all(batch.table.schema == columns_of("jobs") for batch in batches)
    rows = pa.concat_tables([batch.table for batch in batches]).to_pylist()
    refused = pa.concat_tables([batch.rejects for batch in batches]).to_pylist()
    return rows, [(one["row_number"], one["reason"]) for one in refused], about.notes


def test_one_run(tmp_path):
    rows, refused, notes = read(tmp_path, line())
    assert refused == []
    assert {name: value for name, value in rows[0].items() if value is not None} == {
        "row_number": 2,
        "job_id": "r1",
        "site_id": "hall",
        "project": "bio",
        "start_utc": at("2026-01-05T09:00:00"),
        "end_utc": at("2026-01-05T10:00:00"),
        "chip_name_given": "NVIDIA H100 80GB HBM3",
        "chip_id": "nvidia_h100_sxm5_80",
        "node_count": 1,
        "chip_count": 2.0,
        "energy_chip_kwh": 0.5,
    }
    assert any("0.65 kWh" in note for note in notes)


def test_last_row_of_a_run(tmp_path):
    growing = [
        line(timestamp=f"2026-01-05T09:{minute}:01", duration=minute * 60 + 0.4, gpu_energy=minute / 100)
        for minute in (10, 20, 30)
    ]
    rows, _, notes = read(tmp_path, *growing)
    assert [(row["row_number"], row["energy_chip_kwh"]) for row in rows] == [(4, 0.3)]
    assert any(note.startswith("2 lines left out") for note in notes)
    unnamed = [text.replace(",r1,", ",,") for text in growing]
    rows, _, _ = read(tmp_path, *unnamed, line(run_id="", timestamp="2026-01-05T20:00:00"))
    assert [row["row_number"] for row in rows] == [4, 5]


def test_tasks_add_up(tmp_path):
    first = line(timestamp="2026-01-05T10:00:00") + ",load"
    second = line(timestamp="2026-01-05T11:00:00") + ",train"
    rows, _, _ = read(tmp_path, first, second, header=NAMES + ",task_name")
    assert [(row["job_id"], row["job_type"], row["energy_chip_kwh"]) for row in rows] == [
        ("r1/load", "load", 0.5),
        ("r1/train", "train", 0.5),
    ]


def test_machine_rows_are_copies(tmp_path):
    node = {"h100-001": "302.4", "h100-002": "298.8"}
    lines = [
        line(
            run_id=f"r{rank}" if rank % 2 else "r",
            host=host,
            duration=216_000,
            gpu_energy=energy,
            energy_consumed=energy,
        )
        for host, energy in node.items()
        for rank in range(8)
    ]
    rows, refused, _ = read(tmp_path, *lines)
    assert refused == []
    assert [(row["host"], row["energy_chip_kwh"]) for row in rows] == [("h100-001", 302.4), ("h100-002", 298.8)]


def test_process_rows_add_up(tmp_path):
    lines = [line(run_id=f"r{rank}", host="h100-001", tracking_mode="process") for rank in range(8)]
    rows, refused, _ = read(tmp_path, *lines)
    assert (len(rows), refused) == (8, [])


def test_conflict_is_reported(tmp_path):
    rows, refused, notes = read(
        tmp_path,
        line(run_id="a", host="h100-001"),
        line(run_id="b", host="h100-001", energy_consumed="0.7", gpu_energy="0.55"),
    )
    assert ([row["energy_chip_kwh"] for row in rows], refused) == ([0.55], [])
    assert any(note.startswith("conflict: lines 2 and 3") for note in notes)
    rows, refused, _ = read(tmp_path, line(run_id="a"), line(run_id="b", energy_consumed="0.7"))
    assert rows == []
    assert [number for number, _ in refused] == [2, 3]
    assert "name the machine in a column `host`" in refused[0][1]


def test_overlaps_on_one_machine(tmp_path):
    inner = line(run_id="b", host="h100-001", timestamp="2026-01-05T09:40:00", duration=600)
    later = line(run_id="c", host="h100-001", timestamp="2026-01-05T10:30:00")
    rows, refused, notes = read(tmp_path, line(host="h100-001"), inner, later)
    assert [row["job_id"] for row in rows] == ["r1"]
    assert refused == [(4, "overlaps line 2 on the same machine, and both measured all of it: keep one of them")]
    assert any("all that time" in note for note in notes)
    unnamed = [text.replace("h100-001", "") for text in (line(), inner, later)]
    rows, refused, notes = read(tmp_path, *unnamed)
    assert (len(rows), refused) == (3, [])
    assert any("their energy counts twice" in note for note in notes)


def test_pue_is_taken_out(tmp_path):
    rows, _, notes = read(tmp_path, line(pue="1.25"))
    assert rows[0]["energy_chip_kwh"] == pytest.approx(0.4, rel=1e-12)
    assert any("PUE" in note for note in notes)


def test_nothing_measured(tmp_path):
    rows, _, notes = read(tmp_path, line(gpu_energy="0"))
    assert (rows[0]["chip_count"], rows[0]["energy_chip_kwh"]) == (2.0, None)
    assert any("not measured" in note for note in notes)
    rows, _, _ = read(tmp_path, line(gpu_energy="0", gpu_count="", gpu_model=""))
    assert (rows[0]["chip_count"], rows[0]["energy_chip_kwh"]) == (0.0, None)


def test_rows_that_lost_cells(tmp_path):
    lost = ",".join(value for value in GOOD.values() if value)
    rows, refused, notes = read(tmp_path, lost)
    assert refused == []
    assert (rows[0]["energy_chip_kwh"], rows[0]["chip_count"], rows[0]["chip_name_given"]) == (0.5, None, None)
    assert any(note.startswith("lines that lost their empty cells: 2") for note in notes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"timestamp": ""}, "no timestamp"),
        ({"timestamp": "now"}, "no ISO 8601"),
        ({"duration": ""}, "no duration"),
        ({"duration": "-5"}, "duration is -5"),
        ({"gpu_energy": "nan"}, "not a finite number"),
        ({"gpu_count": "lots"}, "a column of numbers"),
        ({"gpu_model": "1 x NVIDIA H100 80GB HBM31 x Tesla T4"}, "several models"),
        ({"gpu_model": "2 x Abacus"}, "not in the catalogue"),
        ({"host": "nowhere"}, "in no site"),
        ({"host": "a100-001"}, "the log says"),
        ({"host": "h100-001", "gpu_count": "9"}, "of a host that has 8"),
    ],
)
def test_refused(tmp_path, changes, words):
    rows, refused, _ = read(tmp_path, line(**changes), line(run_id="r2", timestamp="2026-01-09T00:00:00"))
    assert [row["job_id"] for row in rows] == ["r2"]
    assert [number for number, _ in refused] == [2]
    assert words in refused[0][1]


def test_lines_of_another_width(tmp_path):
    rows, refused, _ = read(tmp_path, line() + ",,", line() + ",x", "2026-01-05T10:00:00,bio,r2,e")
    assert ([row["row_number"] for row in rows], [number for number, _ in refused]) == ([2], [3, 4])


def test_other_writing_of_the_same(tmp_path):
    expected = read(tmp_path, line())[0]
    data = (NAMES + "\n" + line() + "\n").encode()
    assert read(tmp_path, raw=b"\xef\xbb\xbf" + data)[0] == expected
    assert read(tmp_path, raw=data.replace(b"\n", b"\r\n"))[0] == expected
    assert read(tmp_path, raw=data.replace(b",", b";"))[0] == expected
    assert read(tmp_path, line(), NAMES, line(run_id="r2", timestamp="2026-01-09T00:00:00"))[0][:1] == expected


def test_decimal_comma(tmp_path):
    text = line().replace(",", ";").replace("0.5", "0,5")
    _, refused, _ = read(tmp_path, text, header=NAMES.replace(",", ";"))
    assert "decimal point" in refused[0][1]


def test_version_1(tmp_path):
    header = "timestamp,project_name,duration,emissions,energy_consumed,country_name,country_iso_code"
    rows, refused, _ = read(tmp_path, "2021-06-29T11:00:38,x,210.4,0.001,0.0013,Morocco,MAR", header=header)
    assert rows == []
    assert "no gpu_energy" in refused[0][1]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "empty"),
        (NAMES.encode() + b"\n", "no rows"),
        (b"a,b\n1,2\n", "no line names timestamp"),
        (b"<html>no</html>", "web page"),
        ((NAMES + ",os\n" + line() + ",x").encode(), "os occurs twice"),
        ((NAMES + '\n"' + "x" * 140_000).encode(), "field larger"),
    ],
)
def test_no_such_file(tmp_path, raw, words):
    with pytest.raises(InputFileError) as caught:
        read(tmp_path, raw=raw)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_zone_and_site_are_needed(tmp_path):
    with pytest.raises(InputFileError, match="--timezone"):
        read(tmp_path, line(), timezone=None)
    assert "pass --site" in read(tmp_path, line(), site_id=None)[1][0][1]


def test_detect():
    path = Path("emissions.csv")
    assert importer.detect(path, (NAMES + "\n" + line()).encode())
    assert importer.detect(path, b"timestamp,host,power\n") is None
    assert importer.detect(path, b"") is None


CELLS = st.one_of(
    st.sampled_from(
        [
            "",
            "nan",
            "inf",
            "-1",
            "0",
            "1e999",
            '"',
            "2 x NVIDIA H100 80GB HBM3",
            "1 x ",
            "h100-001",
            "process",
            "DEU",
            "2026-03-29T02:30:00",
            "9999-12-31T23:59:59",
            "0001-01-01T00:00:00",
            "\x00",
            "\u2028",
            "1e9",
            "99999999999",
        ]
    ),
    st.text(max_size=8),
)


@QUICK
@given(
    lines=st.lists(st.dictionaries(st.sampled_from(list(GOOD)), CELLS, max_size=4), max_size=6),
    zone=st.sampled_from([None, "UTC", "Europe/Berlin"]),
    cut=st.integers(0, 40),
    tail=st.one_of(st.binary(max_size=40), st.just(b"\n")),
)
def test_whatever_it_holds(tmp_path, lines, zone, cut, tail):
    data = "\n".join([NAMES, *(line(**changes) for changes in lines)]).encode("utf-8", "surrogatepass")
    try:
        read(tmp_path, raw=data[: len(data) - cut] + tail, timezone=zone)
    except EnergyError as error:
        assert str(error)
        assert "\n" not in str(error)
