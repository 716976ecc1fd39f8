"""Files that cannot be read at all: one line with file, place and remedy; nothing is stored."""

import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingest_helpers import GOOD, HEADERS, JOBS, job, ledger, read, reading, table, take

from energy.errors import EnergyError, InputFileError, MappingError
from energy.ledger import store

FORMATS = tuple(HEADERS)
GOOD_TEXT = {name: f"{HEADERS[name]}\n{GOOD[name]}\n" for name in FORMATS}


def one_line(caught, file_name, *words):
    text = str(caught.value)
    assert "\n" not in text
    assert file_name in text
    for word in words:
        assert word in text, text
    assert len(text) < 700


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", ["empty (0 bytes)", "Export it again"]),
        ("header.csv", None, ["a header and no rows"]),
        ("blank.csv", b"\n\n\n", ["line 1", "header is blank"]),
        ("utf16.csv", "a,b\n1,2\n".encode("utf-16"), ["not UTF-8", "Save the file as UTF-8"]),
        ("noise.bin", bytes(range(128, 256)) * 20, ["not UTF-8"]),
        ("long.csv", b"x" * 70_000, ["no end of line in 64 kB"]),
        ("cut.csv.gz", gzip.compress(b"a,b\n" + os.urandom(50_000))[:-9], ["cut.csv.gz"]),
        ("false.csv.gz", b"\x1f\x8b\x08\x00 no gzip at all", ["cannot be unpacked", "copy it again"]),
        ("false.csv.zst", b"\x28\xb5\x2f\xfd no zstd at all", ["cannot be unpacked"]),
        ("cut.parquet", b"PAR1 and nothing more", ["not a whole Parquet file", "Copy it again"]),
        ("other.csv", b"what,ever\n1,2\n", ["no built-in mapping fits its columns (what, ever)", "--mapping FILE"]),
    ],
)
def test_whole_files(tmp_path, format_name, name, content, words):
    path = tmp_path / name
    path.write_bytes(f"{HEADERS[format_name]}\n".encode() if content is None else content)
    with pytest.raises(EnergyError) as caught:
        take(ledger(tmp_path / "ledger"), format_name, path)
    one_line(caught, name, *words)
    assert store.versions(tmp_path / "ledger") == []


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_truncated_gz_of_many_rows(tmp_path, format_name):
    path = tmp_path / "cut.csv.gz"
    rows = "".join(f"{GOOD[format_name]}{number}\n" for number in range(40_000))
    path.write_bytes(gzip.compress(f"{HEADERS[format_name]}\n{rows}".encode())[:-20])
    with pytest.raises(InputFileError) as caught:
        read(format_name, path)
    one_line(caught, "cut.csv.gz", "cannot be unpacked to its end", "Nothing was stored")


def test_a_damaged_parquet(tmp_path):
    path = tmp_path / "damaged.parquet"
    size = 20_000
    pq.write_table(
        pa.table(
            {
                "ts": pa.array(range(1_767_600_000, 1_767_600_000 + size)).cast(pa.timestamp("s", "UTC")),
                "host": ["h100-001"] * size,
                "gpu": [0] * size,
                "power_w": [float(number) for number in range(size)],
                "gpu_util_pct": [1] * size,
            }
        ),
        path,
        use_dictionary=False,
    )
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputFileError) as caught:
        read("power", path)
    one_line(caught, "damaged.parquet", "not a whole Parquet file")
    path.write_bytes(whole[:100] + os.urandom(60_000) + whole[60_100:])
    with pytest.raises(InputFileError) as caught:
        read("power", path)
    one_line(caught, "damaged.parquet", "damaged Parquet", "after row 0")


def test_no_such_file_names_the_nearest(tmp_path):
    table(tmp_path / "jobs-january.csv", "jobs", job())
    with pytest.raises(InputFileError) as caught:
        take(ledger(tmp_path / "ledger"), "jobs", tmp_path / "jobs-januray.csv")
    one_line(caught, "jobs-januray.csv", "no such file", "Nearest: jobs-january.csv")
    with pytest.raises(InputFileError, match="is a folder: name the files in it"):
        take(tmp_path / "ledger", "jobs", tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputFileError, match="no regular file"):
        take(tmp_path / "ledger", "jobs", tmp_path / "pipe")


def test_unknown_format_names_the_nearest(tmp_path):
    with pytest.raises(EnergyError, match=r"No importer named job\. Nearest: jobs\."):
        take(ledger(tmp_path / "ledger"), "job", table(tmp_path / "a.csv", "jobs", job()))


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (JOBS.replace("gpu_num", "gpus_num"), ["acme-jobs, needs gpu_num besides"]),
        (JOBS.replace("type", "state"), ["line 1", "column state occurs twice", "Rename one"]),
        (JOBS.replace("type", '"ty'), ["line 1", "line break or a lone quotation mark"]),
    ],
)
def test_headers(tmp_path, header, words):
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n{job()}\n")
    with pytest.raises(EnergyError) as caught:
        read("jobs", path)
    one_line(caught, "a.csv", *words)


def test_a_parquet_column_that_occurs_twice(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["ts", "ts"]), path)
    with pytest.raises(InputFileError, match=r"a\.parquet: column ts occurs twice"):
        read("power", path)


def test_a_mapping_whose_column_is_absent_names_the_nearest(tmp_path):
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        "format: allocations\ncolumns: {job_id: job_id, host: host, device_index: gpu_index, "
        "start_utc: start_time, end_utc: end_time}\n"
    )
    path = table(tmp_path / "a.csv", "allocations", GOOD["allocations"])
    with pytest.raises(MappingError) as caught:
        read("allocations", path, mapping)
    one_line(caught, "a.csv", "no column gpu_index that the mapping names")


# --- files that are odd and right ---


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: b"\xef\xbb\xbf" + text, id="BOM"),
        pytest.param(lambda text: text.replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda text: text.replace(b"\n", b"\r"), id="CR"),
        pytest.param(lambda text: text.rstrip(b"\n"), id="no last line end"),
        pytest.param(lambda text: text + b"\n\n", id="blank lines at the end"),
        pytest.param(lambda text: text.replace(b",", b";"), id="semicolons"),
        pytest.param(lambda text: text.replace(b",", b"\t"), id="tabs"),
        pytest.param(lambda text: text.replace(b",", b" , "), id="spaces"),
        pytest.param(gzip.compress, id="gz without its name"),
        pytest.param(lambda text: pa.compress(text, "zstd", asbytes=True), id="zst without its name"),
    ],
)
def test_odd_and_right(tmp_path, format_name, change):
    plain, odd = tmp_path / "plain.csv", tmp_path / "odd.csv"
    plain.write_text(GOOD_TEXT[format_name])
    odd.write_bytes(change(GOOD_TEXT[format_name].encode()))
    accepted, refused = read(format_name, odd)
    assert refused == []
    assert accepted.to_pylist() == read(format_name, plain)[0].to_pylist()


def test_lines_are_counted_over_ragged_blank_and_broken_ones(tmp_path):
    """Every refused row names the line at which it begins, whatever came before."""
    lines = [
        job(1),
        "too,few",
        job(3) + ",too,many",
        "",
        job(5, host="nowhere"),
        job(6, user='"two\nlines"'),
        job(8, host="nowhere"),
        "1,2",
        job(10, user='"three\n\nlines"', host="nowhere"),
        job(13, host="nowhere"),
        "end",
    ]
    accepted, refused = read("jobs", table(tmp_path / "a.csv", "jobs", *lines))
    assert accepted["job_id"].to_pylist() == ["1", "6"]
    assert [line for line, _ in refused] == [3, 4, 6, 9, 10, 11, 14, 15]
    assert refused[0][1] == "2 values where the header names 12: complete or remove the line"
    assert refused[1][1].startswith("14 values where")
    plain = [line for line in lines if '"' not in line]  # the reader for files without quotation marks
    _, refused = read("jobs", table(tmp_path / "b.csv", "jobs", *plain))
    assert [line for line, _ in refused] == [3, 4, 6, 7, 8, 9, 10]


def test_lines_are_counted_over_blocks(tmp_path, monkeypatch):
    from energy.importers import tabular

    monkeypatch.setattr(tabular, "_CSV_BLOCK_BYTES", 2000)
    lines, wrong = [], []
    for number in range(300):
        if number % 7 == 3:
            wrong.append(len(lines) + 2)
            lines.append("ragged")
        elif number % 11 == 5:
            wrong.append(len(lines) + 2)
            lines.append(job(number, host="nowhere"))
        else:
            lines.append(job(number))
    _, refused = read("jobs", table(tmp_path / "a.csv", "jobs", *lines))
    assert [line for line, _ in refused] == wrong


def test_a_quotation_mark_that_is_never_closed_swallows_no_rows(tmp_path):
    path = table(tmp_path / "a.csv", "jobs", job(1), job(2, user='"open'), job(3))
    with pytest.raises(InputFileError) as caught:
        read("jobs", path)
    one_line(caught, "a.csv", "opened and never closed")


def test_latin_1_far_into_the_file(tmp_path):
    path = table(tmp_path / "a.csv", "jobs", *(job(number) for number in range(2000)))
    path.write_bytes(path.read_bytes() + job(1, user="caf\xe9").encode("latin-1") + b"\n")
    with pytest.raises(InputFileError) as caught:
        read("jobs", path)
    one_line(caught, "a.csv", "UTF8", "near line", "Nothing was stored")


# --- kinds of Parquet columns ---


def power_table(**changes):
    size = 4
    columns = {
        "ts": pa.array([1_767_600_000 + 60 * number for number in range(size)]).cast(pa.timestamp("s", "UTC")),
        "host": pa.array(["h100-001"] * size),
        "gpu": pa.array([0, 0, 1, 1]),
        "power_w": pa.array([100.0, 200.5, 300.0, 400.0]),
        "gpu_util_pct": pa.array([1.0, 2.0, None, 4.0]),
    }
    return pa.table(columns | changes)


SECONDS = [1_767_600_000 + 60 * number for number in range(4)]


@pytest.mark.parametrize(
    "changes",
    [
        {"gpu": pa.array([0, 0, 1, 1], pa.int32())},
        {"gpu": pa.array([0, 0, 1, 1], pa.uint8())},
        {"gpu": pa.array([0.0, 0.0, 1.0, 1.0])},
        {"gpu": pa.array(["0", "0", "1", "1"])},
        {"host": pa.array(["h100-001"] * 4, pa.large_string())},
        {"host": pa.array(["h100-001"] * 4, pa.string_view())},
        {"host": pa.array(["h100-001"] * 4).dictionary_encode()},
        {
            "host": pa.DictionaryArray.from_arrays(
                pa.array([0, 1, 0, 1], pa.int8()), pa.array(["h100-001", " h100-001 "])
            )
        },
        {"host": pa.array(["h100-001"] * 4, pa.large_string()).dictionary_encode()},
        *(
            {"ts": pa.array([s * 10**power for s in SECONDS]).cast(pa.timestamp(unit, zone))}
            for unit, power in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))
            for zone in ("UTC", "Asia/Kathmandu", "+02:00")
        ),
        {"ts": pa.array([s * 10**9 + 999_999 for s in SECONDS]).cast(pa.timestamp("ns", "UTC"))},
        {"power_w": pa.array([100.0, 200.5, 300.0, 400.0], pa.float32())},
        {"power_w": pa.array(["100", "200.5", "3e2", "400"])},
        {"power_w": pa.array(["100", "200.5", "300", "400"], pa.large_string())},
        {"power_w": pa.array(["100", "200.5", "300", "400"]).cast(pa.decimal128(10, 2))},
    ],
)
@pytest.mark.parametrize("group", [1, 3, 100])
def test_every_kind_of_column_is_read_alike(tmp_path, changes, group):
    pq.write_table(power_table(), tmp_path / "plain.parquet")
    pq.write_table(power_table(**changes), tmp_path / "odd.parquet", row_group_size=group)
    accepted, refused = read("power", tmp_path / "odd.parquet")
    assert refused == []
    assert accepted.to_pylist() == read("power", tmp_path / "plain.parquet")[0].to_pylist()


@pytest.mark.parametrize(
    "changes",
    [
        {"host": pa.array([["h100-001"]] * 4)},
        {"host": pa.array([b"h100-001"] * 4)},
        {"power_w": pa.array([True] * 4)},
        {"power_w": pa.array([{"w": 1.0}] * 4)},
        {"ts": pa.array([1.5] * 4)},
        {"ts": pa.array(SECONDS)},
        {"gpu": pa.array(SECONDS).cast(pa.timestamp("s"))},
    ],
)
def test_columns_of_another_kind_name_the_column(tmp_path, changes):
    pq.write_table(power_table(**changes), tmp_path / "odd.parquet")
    with pytest.raises(MappingError) as caught:
        take(ledger(tmp_path / "ledger"), "power", tmp_path / "odd.parquet")
    one_line(caught, "odd.parquet", next(iter(changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"host": pa.nulls(4)},
        {"ts": pa.nulls(4)},
        {"gpu": pa.nulls(4)},
        {"power_w": pa.nulls(4), "gpu_util_pct": pa.nulls(4)},
    ],
)
def test_columns_without_values_refuse_every_row(tmp_path, changes):
    pq.write_table(power_table(**changes), tmp_path / "odd.parquet")
    accepted, refused = read("power", tmp_path / "odd.parquet")
    assert accepted.num_rows == 0
    assert [line for line, _ in refused] == [1, 2, 3, 4]


def test_a_job_log_as_large_strings_and_dictionaries(tmp_path):
    path = table(tmp_path / "a.csv", "jobs", job(1), job(2, project="", host="cpu-001", gpu_num=0, gpu_model=""))
    plain, _ = read("jobs", path)
    header = JOBS.split(",")
    cells = [line.split(",") for line in path.read_text().splitlines()[1:]]
    columns = {name: pa.array([row[place] or None for row in cells]) for place, name in enumerate(header)}
    for kind in (pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        pq.write_table(pa.table({name: values.cast(kind) for name, values in columns.items()}), tmp_path / "a.parquet")
        odd, refused = read("jobs", tmp_path / "a.parquet")
        assert refused == []
        drop = ["row_number"]
        assert odd.drop_columns(drop).to_pylist() == plain.drop_columns(drop).to_pylist()


def test_refused_rows_are_shown_whatever_their_columns_hold(tmp_path):
    odd = power_table(
        ts=pa.array([s * 10**9 + 7 for s in SECONDS]).cast(pa.timestamp("ns", "Europe/Berlin")),
        power_w=pa.array([-1.0, float("nan"), float("inf"), 1e9]),
        gpu=pa.array([0, 0, 1, 1], pa.uint8()),
    )
    pq.write_table(odd, tmp_path / "a.parquet")
    accepted, refused = read("power", tmp_path / "a.parquet")
    assert accepted.num_rows == 0
    assert len(refused) == 4


def test_text_of_a_refused_row(tmp_path):
    from ingest_helpers import HEADERS, context

    from energy.importers import importer
    from energy.importers.mapping import match_mapping

    path = table(tmp_path / "a.csv", "power", reading(0, power=-1))
    (batch,) = importer("power").read(path, match_mapping(HEADERS["power"].split(","), "power", "a.csv"), context())
    (row,) = batch.rejects.to_pylist()
    assert row["row_text"] == "ts=2026-01-05T08:00:00Z, host=h100-001, gpu=0, power_w=-1, gpu_util_pct=80"
