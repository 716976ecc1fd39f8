"""What is said while a long file is read: rows and the part of its bytes, on a terminal only."""

import gzip
import io
import re
import sys
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
from dirt_kinds import FILES
from ingest_helpers import HEADERS, context, ledger, reading, rows
from known_samples import AT_S, SITE

from energy import cli
from energy.cli import _app
from energy.importers import importer, tabular
from energy.importers.mapping import match_mapping
from energy.importers.progress import followed, watch_of, watched
from energy.importers.tabular import header_of

COUNT = 200_000


def written(folder, kind):
    """Write a long file of a kind; return its format and path."""
    path = folder / "input"
    if kind == "sacct":
        head, row, _ = FILES["slurm-sacct"].split("\n", 2)
        path.write_text(f"{head}\n" + f"{row}\n" * COUNT, encoding="utf-8")
        return "slurm-sacct", path
    if kind == "scrape":
        line = FILES["dcgm"].splitlines()[0].replace(f"{AT_S}000", "{}000")
        head, tail = line.split("{}")
        path.write_text("".join(f"{head}{AT_S + n}{tail}\n" for n in range(COUNT)), encoding="utf-8")
        return "dcgm", path
    first = datetime.fromtimestamp(AT_S, UTC)
    lines = (f"{first + timedelta(seconds=n)},h-1,0,500.{n},80\n" for n in range(COUNT))
    text = HEADERS["power"] + "\n" + "".join(lines)
    path.write_bytes(gzip.compress(text.encode(), 1) if kind == "gzip" else text.encode())
    if kind == "parquet":
        table = pc.read_csv(path)
        pq.write_table(table.set_column(0, "ts", table["ts"].cast(pa.timestamp("s", "UTC"))), path)
    return "power", path


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet", "sacct", "scrape"])
def test_rows_and_percent_rise_to_the_whole_file(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(tabular, "_CSV_BLOCK_BYTES", 1 << 20)
    monkeypatch.setattr(tabular, "ROWS_PER_BATCH", 1 << 14)
    monkeypatch.setattr("energy.importers.sacct_lines._BLOCK_BYTES", 1 << 20)
    name, path = written(tmp_path, kind)
    mapping = match_mapping(header_of(path), name, path.name) if name == "power" else None
    told = context(SITE, timezone="UTC")
    said = []
    with watched(path, said.append):
        batches = list(followed(importer(name).read(path, mapping, told), path))
        assert watch_of(path).part == 1
    assert watch_of(path) is None
    found = [re.fullmatch(r"input: ([0-9,]+) rows, ([0-9]+) %", text) for text in said]
    counts = [int(match[1].replace(",", "")) for match in found]
    parts = [int(match[2]) for match in found]
    assert len(said) == len(batches) > 2
    assert counts == sorted(counts)
    assert counts[-1] == COUNT
    assert parts == sorted(parts)
    assert parts[0] < 80
    assert parts[-1] == 100
    plain = list(importer(name).read(path, mapping, told))
    assert [batch.table for batch in plain] == [batch.table for batch in batches]


class Terminal(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Ingest a file from the command line with a terminal, or none, for stderr."""
    folder = ledger(tmp_path / "ledger", SITE)
    monkeypatch.setattr(_app, "_LEAST_BETWEEN_S", 0.0)

    def ingest(path, *, is_terminal, format_name="ipmi-dcmi"):
        screen = Terminal(is_terminal)
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(sys, "argv", ["energy", "ingest", format_name, str(path), "--ledger", str(folder)])
        with pytest.raises(SystemExit) as left:
            cli.main()
        assert watch_of(path) is None
        return int(left.value.code or 0), screen.getvalue()

    return ingest


def shown(text):
    """Return what a terminal shows in the end of lines that are written over each other."""
    return [line.split("\r\x1b[K")[-1] for line in text.split("\n")]


def test_a_terminal_shows_one_line_that_goes_away(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(FILES["ipmi-dcmi"], encoding="utf-8")
    code, text = run(path, is_terminal=True)
    assert code == 0
    assert "\r\x1b[K  log.csv: 6 rows, 100 %" in text
    assert shown(text) == ["… reading log.csv", "… building the ledger", "… publishing version 1", ""]


def test_nothing_is_said_where_stderr_is_no_terminal(run, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(FILES["ipmi-dcmi"], encoding="utf-8")
    assert run(path, is_terminal=False) == (0, "")
    assert rows(tmp_path / "ledger", "SELECT rows_accepted FROM raw.batch") == [{"rows_accepted": 6}]


def test_an_error_stands_on_a_line_of_its_own(run, tmp_path):
    path = tmp_path / "log.csv.gz"
    lines = "".join(f"{reading(0)}{number}\n" for number in range(40_000))
    path.write_bytes(gzip.compress(f"{HEADERS['power']}\n{lines}".encode())[:-20])
    code, text = run(path, is_terminal=True, format_name="power")
    assert code == 1
    assert shown(text)[0] == "… reading log.csv.gz"
    assert shown(text)[-2].startswith("energy: log.csv.gz")


def test_a_short_file_has_no_line(run, tmp_path, monkeypatch):
    monkeypatch.setattr(_app, "_LEAST_BETWEEN_S", 1000.0)
    path = tmp_path / "log.csv"
    path.write_text(FILES["ipmi-dcmi"], encoding="utf-8")
    _, text = run(path, is_terminal=True)
    assert "\r" not in text
