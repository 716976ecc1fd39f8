"""Where in the text an expression stands: line and column from 1."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from energy.errors import SqlReadError, SqlUnitError


def line_and_column(sql: str, offset: int) -> tuple[int, int]:
    r"""Return line and column, both from 1, of a character.

    Examples
    --------
    >>> line_and_column("SELECT\n  pue", 9)
    (2, 3)

    """
    return sql.count("\n", 0, offset) + 1, offset - sql.rfind("\n", 0, offset)


def offset_of(node: exp.Expr | None) -> int | None:
    """Return where the first name, function or literal of an expression begins; None when the text has none."""
    if node is None:
        return None
    starts = [found.meta["start"] for found in node.walk() if "start" in found.meta]
    return min(starts, default=None)


def error_at(sql: str, message: str, node: exp.Expr | None) -> SqlUnitError:
    """Return the error with the place of an expression; of what it stands in, when it has none of its own."""
    seen = node
    offset = offset_of(node)
    while offset is None and seen is not None:
        seen = seen.parent
        offset = offset_of(seen)
    return SqlUnitError(message, *line_and_column(sql, offset or 0))


def read_error_at(sql: str, message: str, node: exp.Expr | None) -> SqlReadError:
    """Return the same for what cannot be followed, such as a name that is not known."""
    found = error_at(sql, "", node)
    return SqlReadError(message, found.line, found.column)


def syntax_error(sql: str, error: ParseError | TokenError) -> SqlReadError:
    """Return a parser's error in our words, with line and column."""
    if isinstance(error, ParseError) and error.errors:
        first = error.errors[0]
        highlight = str(first["highlight"] or "")
        # The parser counts the column at the end of the word.
        column = max(1, int(first["col"]) - len(highlight) + 1)
        reason = str(first["description"]).split(" but got <")[0]
        return SqlReadError(f"Not readable as SQL at {highlight!r}: {reason}.", int(first["line"]), column)
    place = line_and_column(sql, _unclosed(sql))
    return SqlReadError("Not readable as SQL: a quotation mark or comment is not closed.", *place)


_QUOTED = re.compile(r"--[^\n]*|/\*.*?\*/|'[^']*'|\"[^\"]*\"|(\$\w*\$).*?\1", re.DOTALL)
_OPENING = re.compile(r"'|\"|/\*|\$\w*\$")


def _unclosed(sql: str) -> int:
    """Return where the quotation or comment begins that has no end."""
    without = _QUOTED.sub(lambda match: " " * len(match[0]), sql)
    found = _OPENING.search(without)
    return found.start() if found else max(len(sql.rstrip()) - 1, 0)
