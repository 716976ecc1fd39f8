"""``energy sql``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from energy.cli._app import JsonOption, LedgerOption, app, flush, print_json, say
from energy.errors import EnergyError

if TYPE_CHECKING:
    from energy.ledger.query import Result
    from energy.ledger.reader import Ledger

ROWS_OF_TEXT = 200
MOST_ROWS_OF_TEXT = 10_000


@app.command()
def sql(
    ledger: LedgerOption,
    query: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="One SELECT; - reads it from standard input.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", help="File with the query.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV: plain names, every digit.")] = False,
    as_json: JsonOption = False,
    parquet: Annotated[Path | None, typer.Option("--parquet", help="Write the rows to this new Parquet file.")] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Stop after so many seconds.")] = 30.0,
    memory: Annotated[str, typer.Option("--memory", help="Most memory of the query: 512MB, 4GB.")] = "1GB",
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="Most rows; 200 on the screen, else all.")] = None,
) -> None:
    """Ask the ledger in SQL: read-only, units checked.

    Errors name line and column; each column shows its unit, or "not checked".
    """
    if as_csv + as_json + (parquet is not None) > 1:
        raise typer.BadParameter("--csv, --json and --parquet exclude each other.")
    text = _text_of(query, file)
    from energy.ledger import Ledger

    with Ledger(ledger) as opened:
        if parquet is not None:
            _to_parquet(opened, text, parquet, timeout, memory, limit)
        elif as_csv or as_json:
            _to_programs(opened.sql(text, timeout_s=timeout, memory=memory, row_limit=limit), as_json=as_json)
        else:
            shown = min(ROWS_OF_TEXT if limit is None else limit, MOST_ROWS_OF_TEXT)
            _to_people(opened.sql(text, timeout_s=timeout, memory=memory, row_limit=shown))


def _text_of(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise typer.BadParameter('Give a QUERY, - or --file: energy sql "SELECT * FROM energy_monthly" --ledger DIR')
    try:
        if file is not None:
            return file.read_text(encoding="utf-8-sig")
        return sys.stdin.buffer.read().decode("utf-8-sig") if query == "-" else str(query)
    except UnicodeDecodeError as error:
        raise EnergyError(f"{file or 'Standard input'} is not UTF-8 text: save the query as UTF-8.") from error


def _to_parquet(ledger: Ledger, text: str, path: Path, timeout_s: float, memory: str, row_limit: int | None) -> None:
    from energy.ledger.export import write_parquet
    from energy.report.numbers import plain

    with ledger.sql_batches(text, timeout_s=timeout_s, memory=memory) as query:
        rows = write_parquet(query, path, row_limit)
    say(f"Wrote {plain(rows, 0)} rows to {path}.")


def _to_programs(result: Result, *, as_json: bool) -> None:
    if not as_json:
        import io

        from energy.ledger.export import write_csv

        buffer = io.BytesIO()
        write_csv(result, buffer)
        say(buffer.getvalue().decode().removesuffix("\n"))
        return
    from energy.ledger.export import document

    print_json("sql/1", **document(result))


def _to_people(result: Result) -> None:
    from energy.cli._sql_table import table_lines
    from energy.report.numbers import plain

    if [column.name for column in result.columns] == ["explain_key", "explain_value"]:
        say("\n".join(str(row[1]).rstrip() for row in result.rows()))
        return
    lines, shortened = table_lines(result)
    say("\n".join(lines))
    notes = []
    if result.truncated:
        notes.append(
            f"The first {plain(result.row_count, 0)} of {plain(result.total_rows, 0)} rows are shown; "
            "--csv, --json and --parquet have all."
        )
    elif not result.row_count:
        notes.append("No rows.")
    if shortened:
        notes.append("Shortened for reading; --csv, --json and --parquet have every digit.")
    if notes:
        say("\n" + "\n".join(notes))
    flush()
