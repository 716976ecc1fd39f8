"""YAML without its traps: a key that is written twice is an error, and what YAML cannot hold is one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from energy.errors import EnergyError, did_you_mean


class _Loader(yaml.SafeLoader):
    """The safe loader, which would let the last of two equal keys win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that occurs twice."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = str(getattr(key_node, "value", ""))
            if isinstance(key_node, yaml.ScalarNode) and key in seen:
                problem = f"the key {key} is written twice: keep one"
                raise yaml.constructor.ConstructorError(problem=problem, problem_mark=key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep)


def parse_yaml(text: str, where: str, error_class: type[EnergyError]) -> Any:
    r"""Parse YAML; whatever is wrong is one line with file, line and remedy.

    Examples
    --------
    >>> parse_yaml("a: {b: 1}", "x.yaml", EnergyError)
    {'a': {'b': 1}}
    >>> parse_yaml("a: 1\na: 2", "x.yaml", EnergyError)
    Traceback (most recent call last):
    ...
    energy.errors.EnergyError: x.yaml, line 2: the key a is written twice: keep one.

    """
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        known = isinstance(error, yaml.constructor.ConstructorError) and "written twice" in str(error.problem)
        problem = f"{error.problem}." if known else "not valid YAML; check indents, colons and quotes."  # type: ignore[attr-defined]
        raise error_class(f"{where}{place}: {problem}") from error
    except (ValueError, TypeError, RecursionError) as error:  # such as a date of a 13th month
        words = " ".join(str(error).split())[:120]
        raise error_class(f"{where}: a value cannot be read ({words}): correct it, or put it in quotes.") from error


def read_text(path: Path, error_class: type[EnergyError]) -> str:
    """Read a file as UTF-8.

    Raises
    ------
    EnergyError
        Of the given class, when the file is absent or a folder, cannot be opened, or is in another encoding.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise error_class(f"{path.name}, line {line}: not UTF-8: save the file as UTF-8.") from error
    except FileNotFoundError:
        near = sorted(one.name for one in path.parent.glob(f"*{path.suffix}")) if path.parent.is_dir() else []
        raise error_class(f"{path}: no such file: check the name.{did_you_mean(path.name, near)}") from None
    except IsADirectoryError:
        raise error_class(f"{path} is a folder: give a file in it.") from None
    except OSError as error:
        raise error_class(f"{path}: cannot be read ({error.strerror}): allow reading it.") from error
