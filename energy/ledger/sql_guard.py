"""What a user's SQL may say: one SELECT over the ledger's own tables, judged on DuckDB's own parse tree.

The first of two walls. The second is the connection itself (``guarded``): read-only, without access to files or
network, with a locked configuration. Judging the tree that DuckDB will run leaves no room between two parsers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from energy.errors import SqlError, did_you_mean
from energy.schema import TABLES

if TYPE_CHECKING:
    import duckdb

LONGEST_TEXT = 100_000  # characters; a longer one is no question that a person asks
LARGEST_SIZE = 10_000
"""Most that one function may make of nothing: DuckDB can neither stop it half-way nor count its memory."""
LARGEST_PRODUCT = 1_000_000

_READS = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "EXPLAIN", "DESCRIBE", "DESC", "SHOW", "SUMMARIZE", "PIVOT",
          "UNPIVOT", "PIVOT_WIDER", "PIVOT_LONGER"}  # fmt: skip
_WRITES = {
    "ALTER", "ANALYZE", "ATTACH", "BEGIN", "CALL", "CHECKPOINT", "COMMENT", "COMMIT", "COPY", "CREATE", "DEALLOCATE",
    "DELETE", "DETACH", "DROP", "EXECUTE", "EXPORT", "FORCE", "IMPORT", "INSERT", "INSTALL", "LOAD", "MERGE", "PRAGMA",
    "PREPARE", "REPLACE", "RESET", "ROLLBACK", "SET", "START", "TRUNCATE", "UPDATE", "USE", "VACUUM",
}  # fmt: skip
_QUERY_NODES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_SOURCES = {"BASE_TABLE", "TABLE_FUNCTION", "JOIN", "SUBQUERY", "EMPTY", "EXPRESSION_LIST", "SHOW_REF", "PIVOT"}
_SHOWS = {'"tables"', "__show_tables_expanded"}
_INFORMATION = {"tables", "columns", "schemata"}
_TABLE_FUNCTIONS = {
    "duckdb_columns", "duckdb_functions", "duckdb_keywords", "duckdb_tables", "duckdb_types", "duckdb_views",
    "generate_series", "json_each", "json_tree", "pg_timezone_names", "range", "unnest",
}  # fmt: skip
_NO_FUNCTIONS = {
    "create_sort_key", "current_connection_id", "current_query", "current_setting", "currval", "getenv", "getvariable",
    "in_search_path", "index_key", "invoke", "json_deserialize_sql", "json_serialize_plan", "json_serialize_sql",
    "nextval", "parse_duckdb_log_message", "pg_sleep", "query", "query_table", "set_config", "setseed", "setval",
    "sleep_ms", "stats", "vector_type", "which_secret", "write_log",
}  # fmt: skip
_NO_PREFIXES = ("__internal", "duckdb_", "http", "pragma_", "read_", "inet_")
# Place of the argument that says how much is made.
_MAKES_MUCH = {
    "array_resize": (1,), "bitstring": (1,), "equi_width_bins": (2,), "generate_series": (0, 1, 2),
    "list_resize": (1,), "lpad": (1,), "range": (0, 1, 2), "repeat": (1,), "rpad": (1,),
}  # fmt: skip
_WORD = re.compile(
    r"(?P<skip>\s+|--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'?|\"(?:[^\"]|\"\")*\"?|(?P<dollar>\$\w*\$).*?(?P=dollar))"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<other>.)",
    re.DOTALL,
)
_EXPLAIN = re.compile(r"EXPLAIN\s*(?:\([^)]*\)\s*)?(?:ANALY[ZS]E\b\s*)?(?:\([^)]*\)\s*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that may run.

    Attributes
    ----------
    text : str
        As it was given.
    kind : str
        ``query``: its columns may have units; ``about``: EXPLAIN, DESCRIBE, SHOW, SUMMARIZE: rows about rows.
    """

    text: str
    kind: Literal["query", "about"]


def allowed(connection: duckdb.DuckDBPyConnection, text: str) -> Statement:
    """Return the one statement of a text, or refuse it.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Any; it parses, nothing is run.
    text : str
        What the user typed.

    Raises
    ------
    SqlError
        With line and column: not readable, more than one statement, anything but a query, a table that is not the
        ledger's, a function that reads files, settings or the machine, or one that makes more than memory holds.
    """
    if len(text) > LONGEST_TEXT:
        raise SqlError(f"The query has {len(text):,} characters, at most {LONGEST_TEXT:,} are read: shorten it.")
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise SqlError("The query has a character that is no text (NUL or half a surrogate): remove it.")
    words = list(_words(text))
    while words and words[0][0] == ";":
        words.pop(0)
    if not words:
        raise SqlError("The query is empty: write one, such as SELECT * FROM energy_monthly.")
    first, start = words[0]
    if first.upper() in _WRITES:
        raise _only_select(text, start, first)
    explained = _EXPLAIN.match(text, start)
    query = " " * explained.end() + text[explained.end() :] if explained is not None else text
    tree = _tree(connection, text if explained is None else query, words, explained is not None)
    _Judge(text, words).judge(tree)
    about = explained is not None or first.upper() in {"DESCRIBE", "DESC", "SHOW", "SUMMARIZE"}
    return Statement(text, "about" if about else "query")


def place_of_byte(text: str, byte: int) -> tuple[int, int]:
    r"""Return line and column, both from 1, of a place that DuckDB gives in bytes of UTF-8.

    Examples
    --------
    >>> place_of_byte("SELECT 'ä',\n x", 13)
    (2, 1)

    """
    before = text.encode()[:byte].decode(errors="ignore")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Yield each bare word, semicolon or sign with its place; no comments, no quoted texts."""
    for match in _WORD.finditer(text):
        if match["skip"] is None:
            yield match[0], match.start()


def _at(text: str, character: int) -> tuple[int, int]:
    return text.count("\n", 0, character) + 1, character - text.rfind("\n", 0, character)


def _only_select(text: str, character: int, word: str) -> SqlError:
    return SqlError("Only SELECT is allowed.", *_at(text, character), word.upper())


def _tree(
    connection: duckdb.DuckDBPyConnection, query: str, words: list[tuple[str, int]], explained: bool
) -> dict[str, Any]:
    """Return DuckDB's parse tree of exactly one query."""
    ((serialized,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()
    document: dict[str, Any] = json.loads(serialized)
    if document["error"]:
        raise _not_a_query(query, document, words, explained)
    statements = document["statements"]
    if len(statements) != 1:
        semicolon = next((place for sign, place in words if sign == ";"), 0)
        after = next(((word, place) for word, place in words if place > semicolon and word != ";"), ("", semicolon))
        raise SqlError(f"One query is wanted, this text has {len(statements)}.", *_at(query, after[1]), after[0])
    node: dict[str, Any] = statements[0]
    return node


def _not_a_query(query: str, document: dict[str, Any], words: list[tuple[str, int]], explained: bool) -> SqlError:
    if document.get("error_type") == "parser":
        byte = int(document["position"]) if str(document.get("position", "")).isdigit() else None
        line, column = place_of_byte(query, byte) if byte is not None else (None, None)
        reason = str(document["error_message"]).splitlines()[0].rstrip(".")
        return SqlError(f"Not readable as SQL: {reason}.", line, column)
    starts = {";"} if not explained else {";", "EXPLAIN", "ANALYZE", ")"}
    for index, (word, place) in enumerate(words):
        begins = index == 0 or words[index - 1][0].upper() in starts
        if begins and word.upper() in _WRITES and word.upper() != "ANALYZE":
            return _only_select(query, place, word)
    for word, place in words:
        if word.upper() in {"PIVOT", "PIVOT_WIDER"}:
            rule = "PIVOT needs its values here, as in PIVOT … ON tier IN ('integrated', 'default')."
            return SqlError(rule, *_at(query, place))
    word, place = next((item for item in words if item[0].upper() not in _READS), words[0])
    return _only_select(query, place, word)


class _Judge:
    """Walks the parse tree; deep trees are no danger, since it does not recurse."""

    def __init__(self, text: str, words: list[tuple[str, int]]) -> None:
        self.text = text
        self.words = words
        self.named: set[str] = set()
        self.product = 1

    def judge(self, tree: dict[str, Any]) -> None:
        nodes = list(_nodes(tree))
        for node in nodes:
            self.named |= {entry["key"].lower() for entry in (node.get("cte_map") or {}).get("map", [])}
            if node.get("type") == "RECURSIVE_CTE_NODE":
                self.named.add(str(node.get("cte_name", "")).lower())
        for node in nodes:
            self._judge_node(node)

    def _judge_node(self, node: dict[str, Any]) -> None:
        kind = str(node.get("type", ""))
        if kind.endswith("_NODE") and kind not in _QUERY_NODES:
            word = kind.partition("_")[0]
            place = next((start for found, start in self.words if found.upper() == word), 0)
            raise _only_select(self.text, place, word)
        if "sample" in node and "alias" in node:
            self._judge_source(kind, node)
        if node.get("class") == "PARAMETER":
            raise self._error("Parameters are not taken here: write the value itself.", node)
        if "function_name" in node:
            self._judge_function(node)

    def _judge_source(self, kind: str, node: dict[str, Any]) -> None:
        if kind not in _SOURCES:
            raise self._error(f"Nothing can be read from {kind.lower().replace('_', ' ')} here.", node)
        if kind == "BASE_TABLE":
            self._judge_table(node)
        elif kind == "SHOW_REF":
            shown = node["show_type"]
            if node.get("query") is None and not (shown == "SHOW_SPECIAL" and node["table_name"] in _SHOWS):
                raise self._error("SHOW lists tables here: SHOW TABLES, or DESCRIBE jobs.", node)
        elif kind == "TABLE_FUNCTION":
            name = str(node["function"]["function_name"]).lower()
            if name not in _TABLE_FUNCTIONS:
                raise self._error(f"{name}() is not allowed: only tables and views of the ledger can be read.", node)

    def _judge_table(self, node: dict[str, Any]) -> None:
        path = [str(part) for part in node["qualified_name"]["path"]]
        name = ".".join(path).lower()
        if len(path) == 1 and name in self.named:
            return
        if len(path) == 3 and path[0].lower() == "ledger":
            name = name.partition(".")[2]
        if name.startswith("information_schema.") and name.partition(".")[2] in _INFORMATION:
            return
        if (name if "." in name else f"main.{name}") in TABLES:
            return
        plain = name.removeprefix("main.")
        near = did_you_mean(plain, [known.removeprefix("main.") for known in TABLES])
        raise self._error(f"No table or view of the ledger is named {'.'.join(path)}.{near}", node)

    def _judge_function(self, node: dict[str, Any]) -> None:
        name = str(node["function_name"]).lower()
        arguments = node.get("arguments") or node.get("children") or []
        if node.get("of_table"):
            return
        if name in _NO_FUNCTIONS or name.startswith(_NO_PREFIXES):
            raise self._error(f"{name}() is not allowed: it reads or changes something other than the ledger.", node)
        for place in _MAKES_MUCH.get(name, ()):
            if place < len(arguments):
                self._judge_size(name, _literal(arguments[place]), node)
        if name in {"format", "printf"}:
            pattern = _literal(arguments[0]) if arguments else ""
            if not isinstance(pattern, str) or re.search(r"\d{4}|\*|\{[^}]*\{", pattern):
                raise self._error(f"{name}() takes a pattern that is written out, with widths below 1,000.", node)
        if name in {"replace", "regexp_replace"} and len(arguments) > 2:
            new = _literal(arguments[2])
            if not isinstance(new, str) or len(new) > 100:
                raise self._error(f"{name}() takes a replacement that is written out, up to 100 characters.", node)

    def _judge_size(self, name: str, size: object, node: dict[str, Any]) -> None:
        """Bound what is made of nothing: one call, and all calls of the text together."""
        if isinstance(size, float) and abs(size) <= LARGEST_SIZE:
            self.product *= max(1, int(abs(size)))
            if self.product <= LARGEST_PRODUCT:
                return
            raise self._error(f"{name}() and its like make over {LARGEST_PRODUCT:,} things together: ask less.", node)
        also = " FROM range(…) gives longer series as rows." if name in {"range", "generate_series"} else ""
        raise self._error(f"{name}() takes a number up to {LARGEST_SIZE:,} that is written out here.{also}", node)

    def _error(self, message: str, node: dict[str, Any]) -> SqlError:
        """Return the error at a node; at the first name in it where the node has no place."""
        byte = node.get("query_location")
        if not isinstance(byte, int) or byte >= len(self.text.encode()):
            names = {str(node.get("function_name", "")).upper(), *(part.upper() for part in _path(node))} - {""}
            start = next((place for word, place in self.words if word.upper() in names), self.words[0][1])
            return SqlError(message, *_at(self.text, start))
        return SqlError(message, *place_of_byte(self.text, byte))


def _path(node: dict[str, Any]) -> list[str]:
    return [str(part) for part in (node.get("qualified_name") or {}).get("path", [])]


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every object of the tree; the function of FROM f(…) is marked, since its name is judged with its source."""
    waiting: list[Any] = [tree]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if item.get("type") == "TABLE_FUNCTION" and isinstance(item.get("function"), dict):
                item["function"]["of_table"] = True
            yield item
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def _literal(argument: dict[str, Any]) -> float | str | None:
    """Return the number or text that an argument states; None when it states none."""
    node = argument.get("expression", argument)
    literal = node.get("literal") or {}
    text = literal.get("text")
    if node.get("class") == "FUNCTION" and node.get("function_name") == "-" and len(node.get("arguments", [])) == 1:
        inner = _literal(node["arguments"][0])
        return -inner if isinstance(inner, float) else None
    if node.get("class") != "CONSTANT" or not isinstance(text, str):
        return None
    if literal.get("kind") == "STRING":
        return text
    try:
        return float(text)
    except ValueError:
        return None
