import pytest
from reading_helpers import context

from energy.importers.prometheus_text import labels_of, parse_sample, samples
from energy.importers.reading_rows import POWER_TO_MILLIW, Rows, amount, checked_time, epoch_ms
from energy.importers.text_input import clean, text_lines


@pytest.mark.parametrize(
    ("line", "name", "labels", "value", "time_ms"),
    [
        ("up 1", "up", {}, 1, None),
        ("  up\t1 ", "up", {}, 1, None),
        ('a:b{c="d",} 1e3', "a:b", {"c": "d"}, 1000, None),
        ('up { a = "1" , b="2" } .5', "up", {"a": "1", "b": "2"}, 0.5, None),
        ('up{a="}{",b="x\\\\"} +Inf', "up", {"a": "}{", "b": "x\\"}, float("inf"), None),
        ('up{c="q\\"",d="l\\nm"} 1', "up", {"c": 'q"', "d": "l\nm"}, 1, None),
        ("up 2 1767600000123", "up", {}, 2, 1767600000123),
        ('up 2 1767600000.5 # {a="b"} 1', "up", {}, 2, 1767600000500),
        ("up{} -4", "up", {}, -4, None),
    ],
)
def test_lines(line, name, labels, value, time_ms):
    sample = parse_sample(line)
    assert (sample.name, sample.labels, sample.value, sample.time_ms) == (name, labels, value, time_ms)


def test_nan():
    value = parse_sample("up NaN").value
    assert value != value


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("1up 1", "names no metric"),
        ("up", "no number follows"),
        ('up{a="1} 1', "not closed"),
        ('up{a="1"', "not closed"),
        ("up{a=1} 1", "not written as"),
        ('up{a="1"b="2"} 1', "not written as"),
        ("up 1_0", "no number"),
        ("up 0x10", "no number"),
        ("up 1 2 3", "no number follows"),
        ("up 1 99999", "2010"),
    ],
)
def test_lines_that_cannot_be_read(line, word):
    assert word in parse_sample(line)


def test_no_line_takes_long():
    """Patterns must not try every way of cutting a long line."""
    assert "not closed" in parse_sample("up{" + 'a="b",' * 20_000 + '"')
    assert labels_of("{" + "a" * 100_000 + "}") is None


def test_unwanted_lines_are_not_looked_at(tmp_path):
    path = tmp_path / "text"
    path.write_text('# c\nother{a="} 1\nup 1\nupper{ 2\n\n')
    told = context()
    rows = Rows("part_readings", told)
    assert [(sample.line, sample.value) for sample in samples(path, told, {"up"}, rows)] == [(3, 1)]


def test_lines_over_blocks(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"\n".join([b"\xc3\xa4" * 500] * 5000) + b"\n")
    lines = list(text_lines(path, context()))
    assert len(lines) == 5000
    assert {line for _, line in lines} == {"ä" * 500}


@pytest.mark.parametrize(
    ("text", "milliwatts"),
    [("640", 640_000), ("640.5 W", 640_500), ("0,5 kW", 500_000), ("12 mW", 12), ("2 MW", 2e9), ("7 μW", 7e-3)],
)
def test_amounts(text, milliwatts):
    assert amount(text, POWER_TO_MILLIW, "w") == pytest.approx(milliwatts)


@pytest.mark.parametrize("value", [None, "", "N/A", "[Not Supported]", float("nan"), 2.0**64, 2**64 - 2, 2**63 - 14])
def test_no_value(value):
    assert amount(value, POWER_TO_MILLIW, "w") is None


@pytest.mark.parametrize("value", [True, [], {}, "1,234", "1,234.5", "-1", "inf", "1e999", "5 J", "5 5"])
def test_refused_amounts(value):
    assert isinstance(amount(value, POWER_TO_MILLIW, "w"), str)


def test_small_helpers():
    assert "300 digits" in amount(10**5000, POWER_TO_MILLIW, "w")
    assert clean("a\ud800\n b") == "a? b"
    assert clean([[1]] * 1000, 5) == "[[1],"
    assert isinstance(checked_time(float("nan")), str)
    assert epoch_ms("99") is not None
