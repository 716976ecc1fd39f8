"""Worked queries of real questions: in ``docs/sql.md``, in the tests, and as saved queries of the app."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from energy.errors import EnergyError, UnknownNameError, did_you_mean

_KEYS = {"id", "question", "sql", "note"}


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A question, the SQL that answers it, and what to know before the answer is used."""

    id: str
    question: str
    sql: str
    note: str


@cache
def saved_queries() -> tuple[SavedQuery, ...]:
    """Return the worked queries in the order in which they are shown.

    Raises
    ------
    EnergyError
        The file of the package is not whole.

    Examples
    --------
    >>> saved_queries()[0].id
    'scope2-both-methods'

    """
    from energy.resources import resource

    return _read(resource("datasets/examples/queries.yaml"))


def saved_query(name: str) -> SavedQuery:
    """Return one worked query.

    Raises
    ------
    UnknownNameError
        With the nearest names.

    Examples
    --------
    >>> saved_query("top-jobs").question
    'Which ten jobs took most energy, and how much of each was read?'

    """
    known = {query.id: query for query in saved_queries()}
    if name not in known:
        raise UnknownNameError(f"No saved query named {name}.{did_you_mean(name, known)}")
    return known[name]


def _read(path: Path) -> tuple[SavedQuery, ...]:
    import yaml

    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    for entry in entries:
        if set(entry) != _KEYS or not all(isinstance(value, str) and value.strip() for value in entry.values()):
            raise EnergyError(f"{path.name}: {entry.get('id', entry)} must have the texts {', '.join(sorted(_KEYS))}.")
    queries = tuple(SavedQuery(**{key: str(value).strip() for key, value in entry.items()}) for entry in entries)
    if len({query.id for query in queries}) != len(queries):
        raise EnergyError(f"{path.name}: two queries have one id.")
    return queries
