"""The documentation cannot lie: what it names exists, what exists is named, and what it shows runs."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from energy import cli
from energy.errors import SqlUnitError
from energy.importers import importer_names
from energy.importers.mapping import FIELDS_OF_FORMAT, built_in_mappings, load_mapping
from energy.ledger import Ledger
from energy.ledger.bases import mixed_methods
from energy.ledger.site_file import HostGroup, Period, Ratio, Site, SiteFile, parse_site_file
from energy.ledger.unit_check import infer
from energy.schema import TABLES

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))]
PAGES = [page for page in PAGES if page.exists()]
COMMANDS = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def blocks_of(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def with_page(items: dict[Path, list[str]]) -> list[object]:
    """Return parameters named by page and number."""
    return [
        pytest.param(page, item, id=f"{page.name}-{number}")
        for page, found in items.items()
        for number, item in enumerate(found, 1)
    ]


# --- commands ---


def command_lines(page: Path) -> Iterator[str]:
    """Give every `energy …` command that a page shows, in a line of code or inside a sentence."""
    text = page.read_text(encoding="utf-8")
    fenced = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
    lines = [
        line
        for language, block in fenced.findall(text)
        if language in ("", "sh", "console")
        for line in block.splitlines()
    ]
    rest = fenced.sub("", text)
    lines += re.findall(r"^    (.*)$", rest, re.MULTILINE)
    for line in lines:
        for part in re.split(r"&&|;|\|", line.partition(" #")[0]):
            words = part.strip().removeprefix("$ ")
            if re.match(r"(\S*/)?energy( [a-z-]|$)", words):
                yield words
    yield from re.findall(r"`(energy [a-z-][^`]*)`", rest)


SHOWN = {page: list(dict.fromkeys(command_lines(page))) for page in PAGES}


@pytest.mark.parametrize(("page", "line"), with_page(SHOWN))
def test_shown_commands_exist(page, line):
    words = [word for word in shlex.split(line)[1:] if word not in ("…", "...")]
    if words in (["--help"], ["--version"]):
        return
    assert words, line
    assert words[0] in COMMANDS, f"{page.name}: no command {words[0]}"
    command = COMMANDS[words[0]]
    options = {name: parameter for parameter in command.params for name in parameter.opts if name.startswith("--")}
    arguments, rest = [], words[1:]
    while rest:
        word = rest.pop(0)
        if word == "--help":
            return
        if not word.startswith("-"):
            arguments.append(word)
            continue
        assert word in options, f"{page.name}: `{line}` has no option {word}"
        if not options[word].is_flag:
            assert rest, f"{page.name}: `{line}`: {word} needs a value"
            rest.pop(0)
    wanted = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    several = any(parameter.nargs == -1 for parameter in wanted)
    assert several or len(arguments) <= len(wanted), f"{page.name}: `{line}` has too many words"
    if " --" in line:  # anything shorter only mentions the command
        required = [parameter for parameter in wanted if parameter.required]
        assert len(arguments) >= len(required), f"{page.name}: `{line}` lacks {required[-1].metavar}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_commands_are_documented_and_have_help(name):
    assert any(line.split()[1] == name for lines in SHOWN.values() for line in lines), f"no page shows energy {name}"
    assert COMMANDS[name].help


# --- links and tables ---


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not re.match(r"https?://|mailto:|#", target):
            name, _, anchor = target.partition("#")
            goal = page.parent / name
            assert goal.exists(), f"{page.name}: {target} does not exist"
            if anchor:
                titles = re.findall(r"^#+ (.*)$", goal.read_text(encoding="utf-8"), re.MULTILINE)
                slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
                assert anchor in slugs, f"{page.name}: {target} has no such heading"


def test_every_page_is_reached_from_the_readme():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in DOCS.glob("*.md") if f"docs/{page.name}" not in readme]
    assert missing == [], "link these pages in README.md"


def test_table_reference_is_current():
    from energy.schema.docs import markdown

    order = sorted(TABLES.values(), key=lambda table: ("main", "core", "ref", "raw").index(table.layer))
    assert text_of("tables.md") == markdown(order), "renew it: python -m energy.schema.docs > docs/tables.md"


def test_sql_page_is_current():
    from energy.ledger.sql_docs import markdown

    assert text_of("sql.md") == markdown(), "renew it: python -m energy.ledger.sql_docs > docs/sql.md"


def test_views_are_named_in_the_ledger_page():
    views = [table.name for table in TABLES.values() if table.kind == "view"]
    assert [name for name in views if f"`{name}`" not in text_of("ledger.md")] == []


def test_readme_tells_the_true_size_of_the_example():
    from energy.example import generate

    shown = re.search(r"([\d,]+) jobs on ([\d,]+) chips", (REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert shown is not None
    quarter = generate()
    jobs, chips = (int(number.replace(",", "")) for number in shown.groups())
    assert (jobs, chips) == (quarter.jobs.num_rows, sum(quarter.nodes["gpus"].to_pylist()))


# --- formats, site.yaml, JSON ---


def test_formats_fields_and_mappings_are_documented():
    text = text_of("importers.md")
    assert set(FIELDS_OF_FORMAT) <= set(importer_names())
    names = {*importer_names(), *(field for fields in FIELDS_OF_FORMAT.values() for field in fields)}
    names |= {mapping.name for mapping in built_in_mappings()}
    assert sorted(name for name in names if f"`{name}`" not in text) == []


def test_required_fields_are_bold():
    text = text_of("importers.md")
    section = dict(re.findall(r"^\| `(\w+)` \|(.*?)(?=^\| `\w+` \||^\n)", text.split("## Fields")[1], re.M | re.S))
    for name, fields in FIELDS_OF_FORMAT.items():
        bold = {field for field in fields if f"**`{field}`**" in section[name]}
        assert bold == {field for field, needed in fields.items() if needed}, name


def test_the_example_mapping_can_be_read(tmp_path):
    (block,) = blocks_of(DOCS / "importers.md", "yaml")
    (tmp_path / "own.yaml").write_text(block, encoding="utf-8")
    mapping = load_mapping(str(tmp_path / "own.yaml"), "power")
    assert set(type(mapping).model_fields) - {"sha256"} <= set(re.findall(r"^(\w+):", block, re.MULTILINE))


@pytest.mark.parametrize("model", [SiteFile, Site, HostGroup, Period, Ratio], ids=lambda model: model.__name__)
def test_every_key_of_site_yaml_is_explained_and_shown(model):
    (example,) = blocks_of(DOCS / "site_file.md", "yaml")
    text = text_of("site_file.md").replace(example, "")
    for name, field in model.model_fields.items():
        key = field.alias or name
        assert f"`{key}`" in text, f"docs/site_file.md does not explain {key}"
        assert re.search(rf"\b{key}:", example), f"the example of docs/site_file.md does not show {key}"


def test_defaults_of_site_yaml_are_told():
    text = text_of("site_file.md")
    for model in (SiteFile, Site, HostGroup):
        for name, field in model.model_fields.items():
            key = field.alias or name
            (row,) = [
                line
                for line in text.splitlines()
                if re.match(rf"\| (`\w+`, )*`{key}`", line) and model_row(text, line, model)
            ]
            default = row.split("|")[3]
            if field.is_required():
                assert "no default" in default, key
            elif isinstance(field.default, str):
                assert f"`{field.default}`" in default, key


def model_row(text: str, line: str, model: type) -> bool:
    """Tell whether a row stands in the section of the model."""
    heading = {SiteFile: "## The whole file", Site: "## A site", HostGroup: "## Hosts"}[model]
    return line in text.partition(heading)[2].partition("\n## ")[0]


def test_the_example_site_file_can_be_read():
    (example,) = blocks_of(DOCS / "site_file.md", "yaml")
    assert set(parse_site_file(example).sites) == {"fra", "pit"}


DOCUMENTED = {
    name: set(re.findall(r"`([a-z_]+)`", keys))
    for name, keys in re.findall(r"^\| `([a-z-]+/\d+)` \|[^|]*\|([^|]*)\|$", text_of("json.md"), re.MULTILINE)
}


def test_every_json_document_is_described():
    sources = [*(REPOSITORY / "energy" / "cli").glob("*.py"), *(REPOSITORY / "energy" / "report").glob("*.py")]
    used = {name for path in sources for name in re.findall(r'"([a-z-]+/\d+)"', path.read_text(encoding="utf-8"))}
    assert used == set(DOCUMENTED)


@pytest.mark.parametrize(
    "words",
    [
        "rebuild --ledger LEDGER",
        "withdraw 4 --ledger LEDGER",
        "ingest hosts more.csv --ledger LEDGER",
        "init fresh",
        "report 2026Q1 --ledger LEDGER --format json",
        "verify LEDGER/report/report.json --ledger LEDGER",
        "explain front.scope2_market --ledger LEDGER",
        "doctor LEDGER",
        "catalogue chips",
        "catalogue chips T4",
        "sql VALUES(1) --ledger LEDGER",
    ],
)
def test_json_documents_are_as_described(words, own_ledger, tmp_path, monkeypatch, capsys):
    (tmp_path / "more.csv").write_text("host,gpu_model,gpus,site\nnew-001,H100,8,site-a\nnew-002,T4,4,site-a\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["energy", *words.replace("LEDGER", str(own_ledger)).split(), "--json"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert not left.value.code
    document = json.loads(capsys.readouterr().out)
    assert set(document) - {"schema"} == DOCUMENTED[document["schema"]]
    parts = [key for key in ("steps", "findings", "files", "entry") if key in document]
    for key in parts:
        for item in document[key]:
            if isinstance(item, dict):
                assert [name for name in item if f"`{name}`" not in text_of("json.md")] == []


# --- code that is shown ---

SQL = {
    page: [
        statement.strip()
        for block in blocks_of(page, "sql")
        for statement in re.findall(r"[^;]+;[^\n]*", block)
    ]
    for page in PAGES
}  # fmt: skip


@pytest.mark.parametrize(("page", "statement"), with_page(SQL))
def test_shown_sql_is_checked_and_runs(page, statement, small_ledger):
    """A statement with the comment "-- error" must be refused by the check of units; every other one must run."""
    query, _, comment = statement.partition(";")
    with Ledger(small_ledger) as ledger:
        mixed = mixed_methods(ledger)
        if "error" in comment:
            with pytest.raises(SqlUnitError):
                infer(query, mixed=mixed)
            return
        infer(query, mixed=mixed)
        assert ledger.rows(query) or "raw.rejects" in query


PYTHON = {page: [block for block in blocks_of(page, "python") if ">>>" not in block] for page in PAGES}


@pytest.mark.parametrize(("page", "block"), with_page(PYTHON))
def test_shown_python_runs(page, block, small_ledger, tmp_path, monkeypatch):
    """Blocks with >>> are doctests and run as such; the others run here, beside a ledger named my-ledger."""
    (tmp_path / "my-ledger").symlink_to(small_ledger)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(page), "exec"), {})
