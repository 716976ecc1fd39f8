"""Reading files of known formats in tests."""

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import strategies as st

from energy.catalogue import chip
from energy.errors import EnergyError
from energy.importers.kinds import columns_of

AT = "2026-01-05T08:00:00Z"
AT_MS = 1_767_600_000_000


def context(host="node-1", time=AT, timezone="UTC"):
    """What an importer is told: as Context, with the host and time of files that name none."""
    return SimpleNamespace(
        site_id=None,
        timezone=timezone,
        hosts={},
        chip_of_name=lambda name, dialect: chip(name).chip_id,
        sites=(),
        notes=[],
        host=host,
        time=time,
    )


def read(format_name, path, **given):
    """Return rows without nulls, refused rows and notes."""
    importer = import_module(f"energy.importers.{format_name}").importer
    told = context(**given)
    rows, rejects = [], []
    for batch in importer.read(Path(path), None, told):
        assert batch.table.schema == columns_of(importer.kind)
        assert batch.rows_read == batch.table.num_rows + batch.rejects.num_rows
        rows += [{key: value for key, value in row.items() if value is not None} for row in batch.table.to_pylist()]
        rejects += batch.rejects.to_pylist()
    return rows, rejects, told.notes


def read_text(format_name, folder, content, name="input", **given):
    """Write a file and read it."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(format_name, path, **given)


def detected(format_name, content):
    """Return what a format says of a file's first bytes."""
    importer = import_module(f"energy.importers.{format_name}").importer
    return importer.detect(Path("input"), content if isinstance(content, bytes) else content.encode())


def error(format_name, folder, content, name="input", **given):
    """Return the one line with which a file is refused."""
    with pytest.raises(EnergyError) as raised:
        read_text(format_name, folder, content, name, **given)
    message = str(raised.value)
    assert "\n" not in message
    return message


def survives(format_name, folder, content, **given):
    """Read whatever the file holds: rows and reasons, or one line."""
    try:
        rows, rejects, _ = read_text(format_name, folder, content, **given)
    except EnergyError as problem:
        assert "\n" not in str(problem)
        return
    for row in rows:
        assert row.get("power_milliw", 1) > 0
        assert row.get("counter_microj", 1) >= 0
        assert 0 <= row.get("utilisation_pct", 1) <= 100
        assert "time_ms" in row
    assert all(reject["reason"] and "\n" not in reject["reason"] for reject in rejects)


PIECES = st.one_of(
    st.sampled_from(
        [
            *("N/A", "[N/A]", "NaN", "+Inf", "-1", "0", "0 W", "640,00", "1e999", "18446744073709551614", "9" * 400),
            *("9223372036854775794", "null", "[", "]", "{", "}", "]]", '"', "\\", "\\u", "\\ud800", "\r\n", "\n"),
            *(",", ";", "\x00", "é", "\u2028", "1767600000", "2026/01/05 08:00:00.123", "<html>", " ", "GPU-1", "mW"),
            *("true", "Infinity", "[" * 3000, '{"a":' * 3000),
        ]
    ),
    st.text(max_size=6),
    st.binary(max_size=6).map(lambda raw: raw.decode("latin-1")),
)


@st.composite
def damaged(draw, text):
    """A good file with up to four pieces put in, replaced or cut out."""
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.sampled_from([0, 0, 1, 3, 20, 10**6])))
        text = text[:begin] + draw(PIECES) + text[end:]
    raw = text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"])), "replace")
    return raw[: draw(st.sampled_from([len(raw), len(raw), len(raw) // 2, 1, 0]))]
