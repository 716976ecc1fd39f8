"""What a path on the command line stands for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from energy.errors import InputFileError
from energy.importers.paths import files_of, with_standard_input


def test_a_folder_stands_for_its_files_in_order(tmp_path):
    for name in ("b.csv", "date=2026-01-01/a.parquet", "_SUCCESS", ".hidden.csv", "date=2026-01-02/_metadata"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    names = [str(path.relative_to(tmp_path)) for path in files_of([tmp_path])]
    assert names == ["b.csv", "date=2026-01-01/a.parquet"]


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputFileError, match="folder without files"):
        files_of([tmp_path])


def test_standard_input_becomes_a_file_that_is_gone_afterwards():
    with with_standard_input([Path("-"), Path("a.csv")], io.BytesIO(b"job_id\n1\n")) as paths:
        copy = paths[0]
        assert copy.read_bytes() == b"job_id\n1\n"
        assert paths[1] == Path("a.csv")
    assert not copy.exists()


def test_standard_input_is_named_once():
    with pytest.raises(InputFileError, match="once"), with_standard_input([Path("-")] * 2, io.BytesIO(b"")):
        pass
