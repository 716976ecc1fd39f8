"""site.yaml and mappings: what is wrong is one line with file, key, rule and remedy."""

import pytest
from ingest_helpers import GOOD, H100, SITE, job, ledger, table, take

from energy.errors import EnergyError, MappingError, SiteFileError
from energy.importers.mapping import load_mapping
from energy.ledger import store
from energy.ledger.site_file import expand_pattern, parse_site_file, read_site_file

PUE = "pue: 1.2"
CHIP = "chip: NVIDIA A100-SXM4-80GB"
CASES = [
    ("", "site.yaml: no sites. Name at least one under `sites:`"),
    ("sites: {}", "no sites"),
    ("sites: [hall]", "no sites"),
    ("- a\n- b", "no sites"),
    ("sites:\n\thall: 1", "site.yaml, line 2: not valid YAML; check indents, colons and quotes"),
    (SITE + SITE.split("\n", 1)[1], "site.yaml, line 11: the key sites is written twice: keep one"),
    (SITE.replace("    zone: RFCE", "    zone: RFCE\n    zone: ERCT"), "line 5: the key zone is written twice"),
    (SITE.replace("zone: RFCE", "zone: RFCEE"), "sites.hall: "),
    (
        SITE.replace("zone: RFCE", "zone: NO"),
        "sites.hall.zone: Input should be a valid string, got False. YAML reads it as",
    ),
    (SITE.replace("    zone: RFCE\n", ""), "sites.hall.zone is missing: it has no default. Add it"),
    (SITE.replace("    pue: 1.2\n", ""), "sites.hall.pue is missing"),
    (SITE.replace("    pue: 1.2\n", ""), "sites.hall.pue is missing"),
    (
        SITE.replace("chips: 8}", "chips: 8, node: DGX H100, node_overhead: 1.3}", 1),
        "node and node_overhead both say what the host takes",
    ),
    (SITE.replace("node_overhead", "node_overhed"), "node_overhed: no such key. Nearest: node_overhead"),
    (SITE.replace("factor_policy", "factor_polcy"), "factor_polcy: no such key. Nearest: factor_policy"),
    (SITE.replace("nearest any", "nearest"), "factor_policy nearest: use exact, nearest earlier, nearest any"),
    (SITE.replace(CHIP, "chip: A10G-24"), "sites.hall: The chip 'A10G-24' is not in the catalogue. Nearest: "),
    (SITE.replace(CHIP, "chip: H100"), "sites.hall: The chip name 'H100' fits several chips"),
    (SITE.replace("chips: 0", "chips: -1"), "chips: Input should be greater than or equal to 0, got -1"),
    (SITE.replace("chips: 0", "chips: eight"), "chips: Input should be a valid integer"),
    (SITE.replace("chips: 0", "chips: 7.5"), "chips: Input should be a valid integer"),
    (SITE.replace("a100-001", "a100-[003-001]"), "sites.hall: hosts pattern a100-[003-001]: 003-001 is no range"),
    (SITE.replace("a100-001", "a100-[x]"), "hosts pattern a100-[x]: write it as name, name-[01-16]"),
    (SITE.replace("a100-001", "a100-[1-999999999]"), "more than 100,000 hosts in one range"),
    (SITE.replace(PUE, "pue: 0.9"), "PUE and node_overhead are at least 1"),
    (SITE.replace(PUE, "pue: {value: 1.2, low: 0.9, high: 1.3}"), "at least 1"),
    (SITE.replace(PUE, "pue: {value: 1.2, low: 1.25, high: 1.3}"), "value 1.2 lies outside its range 1.25 to 1.3"),
    (SITE.replace(PUE, "pue: .nan"), "sites.hall.pue"),
    (SITE.replace(PUE, "pue: high"), "sites.hall.pue"),
    (SITE.replace(PUE, "pue: []"), "sites.hall.pue"),
    (SITE.replace("overhead: 1.25", "overhead: 0.5"), "at least 1"),
    (
        SITE.replace(PUE, "pue: [{value: 1.2, to: 2026-02-01}, {value: 1.3, from: 2026-01-01}]"),
        "sites.hall.pue: two periods overlap from 2026-01-01: an hour has one PUE. Correct from and to",
    ),
    (SITE.replace(PUE, "pue: {value: 1.2, from: 2026-02-01, to: 2026-01-01}"), "`to` (2026-01-01) is not after `from`"),
    (SITE.replace(PUE, "pue: {value: 1.2, from: 2026}"), "is no date: write it as 2026-01-31 or"),
    (SITE.replace(PUE, "pue: {value: 1.2, from: 2026-01-01T00:00:00}"), "carries no zone: write its offset, as"),
    (SITE.replace(PUE, "pue: {value: 1.2, from: 2026-13-01}"), "month must be in 1..12"),
    (SITE.replace(PUE, "pue: {value: 1.2, from: soon}"), "is no date"),
    ("reporting_timezone: Europe/Berlyn\n" + SITE, "Europe/Berlyn is no IANA time zone; write one such as"),
    ("reporting_timezone: Asia/Kolkata\n" + SITE, "Asia/Kolkata is 5.5 h from UTC: the edges of its quarters"),
    ("reporting_timezone: Australia/Lord_Howe\n" + SITE, "fall inside an hour. Use a zone with whole hours"),
    ("chip_dialect: alibaba\n" + SITE, "chip_dialect alibaba: use alibaba-2020, alibaba-2023"),
    ("default_working_share: 50\n" + SITE, "default_working_share is a share between 0 and 1; you wrote 50"),
    ("default_utilisation: 0.5\n" + SITE, "default_utilisation is no longer read"),
    ("default_utilisation: 0.5\n" + SITE, "write default_working_share"),
    ("default_idle: warm\n" + SITE, "default_idle: Input should be 'bare' or 'context'"),
    (SITE.replace(PUE, PUE + "\n    timezone: Mars/Base"), "Mars/Base is no IANA time zone"),
    (
        SITE.replace(PUE, PUE + "\n    hourly_zone: US-CIS"),
        "sites.hall.hourly_zone: no hours for US-CIS. Nearest: US-CISO",
    ),
    (SITE.replace(PUE, PUE + "\n    boundary: net"), "sites.hall.boundary: use direct or lifecycle, got net"),
    (SITE.replace("hall:", "../hall:"), "sites.../hall: name a site with letters, digits"),
]


@pytest.mark.parametrize(("text", "words"), CASES)
def test_site_file(text, words):
    with pytest.raises(SiteFileError) as caught:
        parse_site_file(text)
    message = str(caught.value)
    assert message.startswith("site.yaml")
    assert "\n" not in message
    assert words in message
    assert len(message) < 700


def test_site_file_of_another_encoding(tmp_path):
    folder = ledger(tmp_path / "ledger")
    (folder / "site.yaml").write_bytes(SITE.encode() + b"# caf\xe9\n")
    with pytest.raises(SiteFileError, match=r"site\.yaml, line 11: not UTF-8: save the file as UTF-8"):
        read_site_file(folder)
    (folder / "site.yaml").write_text("\ufeff" + SITE, encoding="utf-8")
    assert list(read_site_file(folder).sites) == ["hall"]


def test_no_site_file(tmp_path):
    with pytest.raises(SiteFileError, match=r"No site\.yaml in .*: start one with `energy init "):
        read_site_file(tmp_path)


def test_dates_are_utc_midnights_and_offsets_are_kept():
    text = SITE.replace(PUE, 'pue: [{value: 1.2, to: "2026-01-01"}, {value: 1.3, from: 2026-01-01T01:00:00+01:00}]')
    first, second = parse_site_file(text).sites["hall"].pue
    assert first.end == second.start
    assert f"{second.start:%Y-%m-%dT%H:%M%z}" == "2026-01-01T00:00+0000"


@pytest.mark.parametrize(
    ("site", "words"),
    [
        (SITE.replace(PUE, "pue: {value: 1.2, to: 2026-01-05T09:00:00Z}"), "has no PUE from 2026-01-05T09:00Z"),
        (
            SITE.replace('"a100-001"', '"h100-[002-004]"').replace("NVIDIA A100-SXM4-80GB", H100),
            "Host h100-002 is described twice",
        ),
    ],
)
def test_what_only_shows_in_the_build(tmp_path, site, words):
    folder = ledger(tmp_path / "ledger", site)
    with pytest.raises(EnergyError, match=words):
        take(folder, "jobs", table(tmp_path / "a.csv", "jobs", job()))
    assert store.versions(folder) == []


def test_patterns():
    assert expand_pattern("a, b") == ["a", "b"]
    assert expand_pattern("a-[1-3]x") == ["a-1x", "a-2x", "a-3x"]


# --- mappings ---

JOBS = "format: jobs\ncolumns: {job_id: a, start_utc: b, end_utc: c, chip_count: d%s}\n"
POWER = "format: power\n%scolumns: {time_utc: a, host: b, device_index: c, %s}\n"
MAPPINGS = [
    ("jobs", "", "a mapping is a YAML table with format and columns"),
    ("jobs", "format: [", "line 1: not valid YAML"),
    ("jobs", "format: jobs\nformat: jobs", "line 2: the key format is written twice"),
    ("jobs", "format: jobs", "columns: Field required"),
    ("jobs", "format: job\ncolumns: {}", "format: Input should be 'jobs'"),
    ("jobs", JOBS % "" + "colums: 1", "colums"),
    ("jobs", JOBS % ", chip: e", "jobs has no field chip. Nearest: chip_"),
    ("jobs", "format: jobs\ncolumns: {job_id: a}", "names no column for start_utc, end_utc, chip_count. Add it under"),
    ("jobs", JOBS % ", chip_share: e", "chip_share (column e) needs its unit as a number"),
    ("jobs", JOBS % ", chip_share: {column: e, unit: milli}", 'needs its unit as a number: "1", or "0.001"'),
    ("jobs", JOBS % ", energy: e", "energy (column e) needs a unit with its measurement boundary, such as kWh_chip"),
    ("jobs", JOBS % ", energy: {column: e, unit: kWh}", "needs a unit with its measurement boundary"),
    ("jobs", JOBS % ", energy: {column: e, unit: kWh_it}", "reads readings of boards (…_chip) only"),
    ("jobs", JOBS % ", energy: {column: e, unit: W_chip}", "energy (column e) in W_chip: "),
    ("jobs", JOBS % ", energy: {column: e, unit: bananas_chip}", "energy (column e) in bananas_chip: "),
    ("jobs", JOBS % ", host: {column: e, unit: W}", "host (column e) takes no unit, origin or open_end: remove them"),
    ("jobs", JOBS % ", submit_utc: {column: e, open_end: 5}", "add `unit: s`"),
    ("jobs", JOBS % ", submit_utc: {column: e, unit: s, open_end: never}", "open_end"),
    (
        "power",
        POWER % ("", "utilisation: e"),
        'utilisation (column e) needs its unit: "%" for 0 to 100, "1" for 0 to 1',
    ),
    ("power", POWER % ("", "utilisation: {column: e, unit: permille}"), "got permille"),
    (
        "power",
        POWER % ("", "power: {column: e, unit: W}"),
        "needs a unit with its measurement boundary, such as W_chip",
    ),
    ("power", POWER % ("", "power: {column: e, unit: kWh_chip}"), "power (column e) in kWh_chip: "),
    (
        "power",
        "format: power\ncolumns: {time_utc: a, host: b, device_index: c}",
        "map at least one of power, utilisation",
    ),
    ("power", JOBS % "", "is for jobs, not for power"),
]


@pytest.mark.parametrize(("format_name", "text", "words"), MAPPINGS)
def test_mappings(tmp_path, format_name, text, words):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(MappingError) as caught:
        load_mapping(str(path), format_name)
    message = str(caught.value)
    assert "mine.yaml" in message
    assert "\n" not in message
    assert words in message


def test_a_mapping_that_is_not_there_names_the_built_in_ones():
    with pytest.raises(MappingError, match=r"No mapping file acme-job, and no built-in mapping.*Nearest: acme-jobs"):
        load_mapping("acme-job", "jobs")


@pytest.mark.parametrize(
    ("interval", "words"),
    [("0 s", "between 1 ms and 1 day"), ("60", "interval"), ("5 W", "interval"), ("-1 s", "interval")],
)
def test_intervals(tmp_path, interval, words):
    path = tmp_path / "mine.yaml"
    path.write_text(
        f'format: power\ninterval: "{interval}"\ncolumns:\n  time_utc: ts\n  host: host\n  device_index: gpu\n'
        "  power: {column: power_w, unit: W_chip}\n"
    )
    with pytest.raises(MappingError, match=words) as caught:
        take(ledger(tmp_path / "ledger"), "power", table(tmp_path / "a.csv", "power", GOOD["power"]), mapping=str(path))
    assert "a.csv" in str(caught.value)
