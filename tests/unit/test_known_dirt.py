"""Dirt of the same kinds in files of every known format: encodings, packing, cut-off ends, web pages, wrong names."""

import bz2
import gzip
from datetime import UTC, datetime

import pytest
from ingest_helpers import context, ledger, take
from known_samples import JSON, SAMPLES, SITE

from energy.errors import EnergyError
from energy.importers import importer_names
from energy.importers.base import detect, known_format

TIME = datetime(2026, 1, 5, 8, tzinfo=UTC)


def bring(folder, name, data):
    """Import a file of a known format, told all that a file may leave open: rows, refused rows and notes."""
    path = folder / "input"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    told = context(SITE, host="h-1", site_id="hall", timezone="UTC", time=TIME, notes=[])
    stored, refused = [], []
    for batch in known_format(name).read(path, None, told):
        assert batch.rows_read == batch.table.num_rows + batch.rejects.num_rows or known_format(name).kind == "jobs"
        stored += [{key: row[key] for key in row if key != "row_number"} for row in batch.table.to_pylist()]
        refused += batch.rejects.to_pylist()
    return stored, refused, told.notes


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """Return what a clean file of each format gives."""
    return {name: bring(tmp_path_factory.mktemp(name), name, text) for name, text in SAMPLES.items()}


def test_every_known_format_has_a_sample():
    assert set(SAMPLES) == {name for name in importer_names() if known_format(name) is not None}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sample_is_good(name, clean):
    stored, refused, _ = clean[name]
    assert stored
    assert refused == []


ENCODINGS = {
    "mark": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16 of the other order": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "bz2": lambda text: bz2.compress(text.encode()),
    "gzip of utf-16": lambda text: gzip.compress(text.encode("utf-16")),
    "blank lines at the end": lambda text: (text + "\n\n  \n").encode(),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("how", ENCODINGS)
def test_other_writing_of_the_same_gives_the_same(tmp_path, clean, name, how):
    stored, refused, _ = bring(tmp_path, name, ENCODINGS[how](SAMPLES[name]))
    assert (stored, refused) == clean[name][:2]
    assert name in [found for found, _ in detect(tmp_path / "input")]


@pytest.mark.parametrize("name", SAMPLES)
def test_latin_1_is_read_or_refused_in_one_line(tmp_path, clean, name):
    text = SAMPLES[name]
    try:
        stored, refused, notes = bring(tmp_path, name, text.encode("latin-1"))
    except EnergyError as error:
        assert "is not UTF-8. Save the file as UTF-8" in str(error)
        assert "\n" not in str(error)
        return
    assert (stored, refused) == clean[name][:2]
    assert "é" not in text or any("read as Latin-1" in note for note in notes)


NO_DATA = {
    "page": (b"<!DOCTYPE html>\n<html><title>Sign in</title></html>\n", "web page"),
    "xml": (b'<?xml version="1.0"?><Error/>\n', "web page"),
    "blanks": (b"\n \n\n", "blank"),
    "nothing": (b"", "empty"),
    "object": (b"{}", ""),
    "list": (b"[]", ""),
    "null": (b"null\n", ""),
    "words": (b"connection refused\n", ""),
    "packed and cut": (gzip.compress(bytes(range(256)) * 40)[:-12], "unpacked"),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("what", NO_DATA)
def test_what_is_no_data_is_one_line_or_refused_rows(tmp_path, name, what):
    data, words = NO_DATA[what]
    try:
        stored, refused, _ = bring(tmp_path, name, data)
    except EnergyError as error:
        assert "\n" not in str(error)
        assert words in str(error)
        return
    assert not words
    assert stored == []
    assert refused


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_that_was_cut_off_is_said(tmp_path, clean, name):
    """Whatever is lost is refused, noted or an error; of what is stored no row but the last differs."""
    text = SAMPLES[name].rstrip()
    try:
        stored, refused, notes = bring(tmp_path, name, text[: len(text) - 4])
    except EnergyError as error:
        assert "\n" not in str(error)
        return
    assert name not in JSON
    assert refused or any("no end" in note for note in notes)
    assert all(row in clean[name][0] for row in stored[:-1])


PAIRS = [(name, other) for name in SAMPLES for other in SAMPLES if name != other]
ALIKE = {
    (name, other)
    for name in ("dcgm", "kepler", "slurm-job-exporter")
    for other in ("dcgm", "kepler", "slurm-job-exporter")
}


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_another_format_stores_nothing_by_chance(tmp_path, name, other):
    try:
        stored, refused, _ = bring(tmp_path, name, SAMPLES[other])
    except EnergyError as error:
        assert "\n" not in str(error)
        return
    assert stored == []
    assert refused or (name, other) in ALIKE
    assert name not in [found for found, _ in detect(tmp_path / "input")]


@pytest.mark.parametrize(
    ("name", "other"),
    [("nvidia-smi", "dcgm"), ("dcgm", "kepler"), ("slurm-sacct", "codecarbon"), ("redfish", "opencost")],
)
def test_a_wrong_name_is_answered_with_the_right_one(tmp_path, name, other):
    folder = ledger(tmp_path / "ledger", SITE)
    path = tmp_path / "input"
    path.write_text(SAMPLES[other], encoding="utf-8")
    with pytest.raises(EnergyError) as caught:
        take(folder, name, path, host="h-1", site="hall", timezone="UTC", time=TIME)
    message = str(caught.value)
    assert f"looks like {other} (" in message
    assert f"try `energy ingest {other}`" in message
    assert "\n" not in message
    assert not (folder / "ledger.duckdb").exists()


def test_a_wrong_name_is_answered_where_some_rows_fit_by_chance(tmp_path):
    folder = ledger(tmp_path / "ledger", SITE)
    path = tmp_path / "input"
    watts = next(line for line in SAMPLES["dcgm"].splitlines())
    path.write_text(SAMPLES["nvidia-smi"] + watts + "\n", encoding="utf-8")
    with pytest.raises(EnergyError, match=r"input looks like nvidia-smi .*, not dcgm: . of . rows cannot be read"):
        take(folder, "dcgm", path)
    assert not (folder / "ledger.duckdb").exists()


WRONG_VALUES = [
    ("amd-smi", "18446744073709551615", "9000.5", "1 readings without value"),
    ("amd-smi", '"mW"', '"W"', "0.64 W is less than any board draws that answers (1 W): check its unit"),
    ("codecarbon", ",500000,", ",0.5,", "is 3,000,000,000 W, more than its GPUs can draw"),
    ("dcgm", " 0.5 ", " 500 ", "0.5 W is less than any board draws"),
    ("ipmi-dcmi", ",65535,", ",6300,", "65535 W is what 16 bits hold at most"),
    ("nvidia-smi", "640.00 mW", "640.00 W", "0.64 W is less than any board draws"),
    ("prometheus-range", '"0.5"', '"500"', "is less than any board draws"),
    ("redfish", "65535", "6342", "65535 W is what 16 bits hold at most"),
    ("slurm-job-exporter", "302", "3e5", "0.302 W is less than any board draws"),
    ("slurm-sacct", "|18446744073709551614|", "|0|", "1 energies left out: a number that Slurm writes for no value"),
    ("slurm-sacct", "|4294967294|", "|0|", "1 energies left out: a number that Slurm writes for no value"),
]


@pytest.mark.parametrize(("name", "dirt", "good", "words"), WRONG_VALUES)
def test_a_value_that_cannot_be_is_never_stored_in_silence(tmp_path, name, dirt, good, words):
    stored, refused, notes = bring(tmp_path, name, SAMPLES[name].replace(good, dirt, 1))
    assert any(words in text for text in (*(row["reason"] for row in refused), *notes))
    assert not any(row.get("power_milliw") in (640, 500, 302, 65_535_000) for row in stored)
    assert not any((row.get("energy_it_kwh") or 0) > 0 or (row.get("energy_chip_kwh") or 0) > 1 for row in stored)
