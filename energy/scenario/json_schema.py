"""The JSON Schema of scenario files, for editors that complete keys and mark what is wrong while one writes.

``python -m energy.scenario.json_schema`` prints it, and ``datasets/schemas/scenario.schema.json`` is that text. It is
made of the same classes that read scenarios, so that both name the same keys; what only the reader can know (names of
the catalogue, keys that exclude each other) it leaves to the reader.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from energy.scenario.key_words import WORDS
from energy.scenario.specification import Scenario

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of ``SCENARIO.yaml``.

    Examples
    --------
    >>> found = scenario_schema()
    >>> sorted(found["properties"])[:3], found["additionalProperties"]
    (['contracts', 'dates', 'name'], False)
    >>> found["$defs"]["Site"]["properties"]["pue"]["description"]
    'Energy of the site over that of its IT (ISO/IEC 30134-2), 1 or more. In kWh_facility/kWh_it.'

    """
    made = Scenario.model_json_schema(by_alias=True, mode="validation")
    for place, part in _parts(made):
        for key, field in part["properties"].items():
            _tidy(field, None if "$ref" in field else WORDS[f"{place}{key}"])
        part["description"] = part["description"].partition("\n")[0]
        del part["title"]
    return {"$schema": _DIALECT, "title": "Scenario of energy", **made}


def places() -> list[str]:
    """Return every key that a scenario can have, with its section.

    Examples
    --------
    >>> places()[:2]
    ['name', 'source']

    """
    made = Scenario.model_json_schema(by_alias=True, mode="validation")
    fields = ((f"{place}{key}", one) for place, part in _parts(made) for key, one in part["properties"].items())
    return [place for place, field in fields if "$ref" not in field]


def _parts(made: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", made
    for name, part in made["$defs"].items():
        yield f"{name.lower()}.", part


def _tidy(field: dict[str, Any], words: str | None) -> None:
    """Say what a key is, and drop what readers of files refuse or need not see: null, defaults, made-up titles."""
    for name in ("title", "default"):
        field.pop(name, None)
    kinds = [one for one in field.get("anyOf", []) if one.get("type") != "null"]
    if len(kinds) == 1:
        del field["anyOf"]
        field |= kinds[0]
    elif kinds:
        field["anyOf"] = kinds
    units = [one.pop("x-unit") for one in (field, *kinds) if one.get("x-unit") is not None]
    if words is not None:
        field["description"] = f"{words} In {units[0]}." if units and units[0] else words


def text() -> str:
    r"""Return the schema as the file holds it.

    Examples
    --------
    >>> text().endswith("}\n")
    True

    """
    return json.dumps(scenario_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
