"""Whatever a file holds, an importer gives rows and reasons, or one line: never another exception."""

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ingest_helpers import GOOD, HEADERS, context

from energy.errors import EnergyError
from energy.importers import importer
from energy.importers.mapping import match_mapping
from energy.importers.tabular import header_of
from energy.ledger.site_file import parse_site_file

SCALARS = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "nan",
            "inf",
            "-1",
            "0",
            "1",
            "0.5",
            "8",
            "1e999",
            "1e18",
            "-1e300",
            "99999999999999999999",
            "273.51 W",
            "1,5",
            '"',
            '""',
            "h100-001",
            "a100-001",
            "nowhere",
            "NVIDIA H100 80GB HBM3",
            "H100",
            "A|B",
            "hall",
            "RUNNING",
            "2026-01-05T08:00:00Z",
            "2026-01-05 08:00",
            "2026-03-29T02:30:00",
            "0001-01-01T00:00:00",
            "9999-12-31T23:59:59",
            "2026-01-05T08:00:00.1234567890Z",
            "2026-01-05T08:00:00+23:59",
            "24:00",
            "2026-W05-1",
            "\x00",
            "\u2028",
            "é",
        ]
    ),
    st.text(max_size=12),
    st.floats().map(str),
    st.integers().map(str),
)
ZONES = st.sampled_from([None, "UTC", "Europe/Berlin", "America/New_York"])
QUICK = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def bring_in(path, format_name, content, timezone):
    path.write_bytes(content)
    try:
        mapping = match_mapping(header_of(path), format_name, path.name)
        for batch in importer(format_name).read(path, mapping, context(timezone=timezone)):
            assert batch.table.num_rows + batch.rejects.num_rows == batch.rows_read
            for reject in batch.rejects.to_pylist():
                assert reject["row_number"] >= 1
                assert reject["reason"]
    except EnergyError as error:
        assert str(error)
        assert "\n" not in str(error)


@pytest.mark.parametrize("format_name", list(HEADERS))
@QUICK
@given(data=st.data(), timezone=ZONES)
def test_cells(tmp_path, format_name, data, timezone):
    """Good rows of which some cells are anything."""
    width = len(HEADERS[format_name].split(","))
    lines = [HEADERS[format_name]]
    for changes in data.draw(st.lists(st.dictionaries(st.integers(0, width - 1), SCALARS, max_size=4), max_size=5)):
        cells = GOOD[format_name].split(",")
        for place, value in changes.items():
            cells[place] = value
        lines.append(data.draw(st.sampled_from([",", ",", ",", ";"])).join(cells))
    bring_in(tmp_path / "a.csv", format_name, "\n".join(lines).encode("utf-8", "surrogatepass"), timezone)


@pytest.mark.parametrize("format_name", list(HEADERS))
@QUICK
@given(
    head=st.sampled_from(["good", "none"]),
    body=st.one_of(st.binary(max_size=200), st.text(string.printable, max_size=200).map(str.encode)),
    timezone=ZONES,
)
def test_anything(tmp_path, format_name, head, body, timezone):
    """Any bytes, with or without a header before them."""
    start = f"{HEADERS[format_name]}\n".encode() if head == "good" else b""
    bring_in(tmp_path / "a.csv", format_name, start + body, timezone)


@QUICK
@given(st.one_of(st.text(max_size=100), st.text("abc:{}[]-#&*!|>'\" \n\t0", max_size=60)))
def test_site_file(text):
    try:
        parse_site_file(text)
    except EnergyError as error:
        assert "\n" not in str(error)


@QUICK
@given(
    st.sampled_from(["pue", "zone", "node_overhead", "hosts", "timezone", "name", "residual_zone", "boundary"]),
    st.recursive(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.dates(), st.datetimes()
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(["value", "low", "from", "to", "pattern", "chip", "chips", "x"]), inner, max_size=4
            ),
        ),
        max_leaves=6,
    ),
)
def test_site_file_values(key, value):
    """A good file in which one value is anything."""
    import yaml

    site = {"zone": "RFCE", "pue": 1.2, "node_overhead": 1.2, key: value}
    try:
        parse_site_file(yaml.safe_dump({"sites": {"hall": site}}, allow_unicode=True))
    except EnergyError as error:
        assert "\n" not in str(error)
