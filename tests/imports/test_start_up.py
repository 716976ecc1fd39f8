"""What gets loaded when: proved in fresh interpreters, as a linter cannot see imports inside functions.

Why it matters: numpy costs 0.13 s, pint 0.35 s, duckdb 0.15 s, pydantic 0.1 s, sqlglot 0.2 s, pandas 0.5 s, pvlib 1.8.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import energy

HEAVY = (
    "numpy", "pint", "pandas", "duckdb", "pyarrow", "streamlit", "pvlib", "scipy", "sqlglot", "jinja2", "pydantic",
    "yaml", "plotly", "xlsxwriter",
)  # fmt: skip
MODULES = sorted(
    info.name for info in pkgutil.walk_packages(energy.__path__, "energy.") if not info.name.endswith("__main__")
)
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("PYTHONWARNINGS", "ENERGY_DEBUG")}
REPORT = "import sys; sys.stderr.write(' '.join(sorted({name.partition('.')[0] for name in sys.modules})))"


def run(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that finds the same package as this one."""
    package = str(Path(energy.__file__).resolve().parents[1])
    paths = [package, *filter(None, [ENVIRONMENT.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(paths)},
    )


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules that are loaded after the code."""
    done = run(f"{code}\n{REPORT}")
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import energy", (*HEAVY, "typer")),
        ("import energy; dir(energy); energy.__version__", (*HEAVY, "typer")),
        ("import energy.errors", (*HEAVY, "typer")),
        ("import energy.cli", (*HEAVY, "rich")),
        ("import energy.ledger, energy.importers, energy.catalogue, energy.schema", (*HEAVY, "typer")),
        # the cores that other tools may use alone
        ("import energy.units", ("duckdb", "pyarrow", "pydantic", "yaml", "sqlglot", "jinja2", "typer")),
        ("import energy.account", ("duckdb", "pyarrow", "sqlglot", "jinja2", "typer")),
        (
            "from energy.catalogue import chip, zone, factor, node; chip('T4'); zone('DEU'); node('dgx_h100')",
            ("pint", "numpy", "duckdb", "pyarrow", "pydantic", "sqlglot", "jinja2", "typer"),
        ),
        ("from energy.importers import importer_names; importer_names()", ("duckdb", "pyarrow", "numpy", "pint")),
        # the report asks the ledger, which is handed to it
        ("import energy.report", ("duckdb", "pyarrow", "sqlglot", "jinja2", "pandas", "typer", "streamlit")),
        ("import energy.report.verify, energy.report.explain, energy.report.csv_twin", ("duckdb", "jinja2", "sqlglot")),
        # no part of these needs them; pint itself looks whether scipy is there
        ("import energy.ledger.reader, energy.ledger.intake, energy.demo", ("pandas", "streamlit", "pvlib")),
    ],
)  # fmt: skip
def test_loads_none_of(code, forbidden):
    assert sorted(loaded_by(code) & set(forbidden)) == []


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["--help"], set()),
        (["--version"], set()),
        # typer loads pydantic itself as soon as it reads the words of a subcommand
        (["report", "--help"], {"pydantic"}),
        (["ingest", "--help"], {"pydantic"}),
        (["supply", "--help"], {"pydantic"}),
        (["nosuch"], {"pydantic"}),
    ],
)
def test_help_loads_none_of_the_heavy(words, allowed):
    code = (
        "import sys\n"
        f"sys.argv = ['energy', *{words!r}]\n"
        "sys.stdout = open('/dev/null', 'w')\n"
        "from energy.cli import main\n"
        "from contextlib import redirect_stderr, suppress\n"
        "import io\n"
        "with suppress(SystemExit), redirect_stderr(io.StringIO()):\n"
        "    main()"
    )
    assert sorted(loaded_by(code) & {*HEAVY, "rich"} - allowed) == []


def test_catalogue_command_reads_tables_with_the_standard_library():
    code = (
        "import sys\n"
        "sys.argv = ['energy', 'catalogue', 'chips']\n"
        "from energy.cli import main\n"
        "from contextlib import suppress\n"
        "with suppress(SystemExit):\n"
        "    main()"
    )
    assert sorted(loaded_by(code) & {"numpy", "pint", "duckdb", "pyarrow", "pandas"}) == []


@pytest.fixture(scope="module")
def imported_alone() -> dict[str, subprocess.CompletedProcess[str]]:
    """Import each module in an interpreter of its own, as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda module: run(f"import {module}", "-W", "error"), MODULES)
        return dict(zip(MODULES, done, strict=True))


@pytest.mark.parametrize("module", MODULES)
def test_every_module_imports_alone_and_without_warnings(imported_alone, module):
    """Circular imports only show when the wrong module comes first: so each comes first once."""
    done = imported_alone[module]
    assert (done.returncode, done.stderr) == (0, "")
