"""Cells of a table of published runs: texts, of which an empty one is unknown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from energy.errors import CostError

Row = Mapping[str, str]

#: Commas stand between thousands and nowhere else: 1,5 is no number here, and not 15.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
#: No system, batch, sequence or width is larger.
_MOST = 1e8
#: No model has more parameters, and no rate in its unit is larger.
_LARGEST = 1e15
_MAY_BE_ZERO = ("n_experts", "experts_top_k", "moe_ffn_hidden", "shared_experts", "n_dense_layers", "head_dim")
_WHOLE = (
    *("n_chips", "chips_per_node", "seq_len", "global_batch_seqs", "micro_batch_seqs"),
    *("tp", "pp", "vpp", "cp", "ep", "fsdp_zero_stage"),
    *("n_layers", "hidden_size", "n_heads", "n_kv_heads", "head_dim", "ffn_hidden", "vocab_size"),
    *("n_experts", "experts_top_k", "moe_ffn_hidden", "shared_experts", "n_dense_layers"),
)
_ABOVE_ZERO = ("params", "active_params", "chip_power_limit_w", *("tflops_per_s_per_chip", "tokens_per_s_per_chip"))


def number(row: Row, column: str) -> float | None:
    """Return a cell as a number, None when it is empty.

    Raises
    ------
    CostError
        When it holds something else; a decimal comma is something else.

    Examples
    --------
    >>> number({"tp": "8"}, "tp"), number({"tp": ""}, "tp"), number({}, "tp")
    (8.0, None, None)

    """
    text = (row.get(column) or "").strip()
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    if not text or text.casefold() in ("nan", "na", "n/a", "none", "-"):
        return None
    try:
        value = float(text)
    except ValueError:
        raise CostError(f"Column {column}: {text!r} is no number.") from None
    return value if math.isfinite(value) else None


def flag(row: Row, column: str) -> bool | None:
    """Return a cell as true or false, None when it is empty."""
    text = (row.get(column) or "").strip().casefold()
    if text in _TRUE:
        return True
    return False if text in _FALSE else None


def words(row: Row, column: str) -> str:
    """Return a cell as text."""
    return (row.get(column) or "").strip()


def possible(row: Row, notes: list[str]) -> dict[str, str]:
    """Return a row without the numbers that cannot be: sizes below one, fractions of chips, ZeRO stage 7.

    What is left out is noted and taken as not given. A cell that is no number at all stays, and is refused where it is
    read.

    Examples
    --------
    >>> notes = []
    >>> possible({"tp": "-1", "pp": "4"}, notes), notes
    ({'tp': '', 'pp': '4'}, ['Column tp: -1 cannot be, and is taken as not given.'])

    """
    kept = dict(row)
    for column in (*_WHOLE, *_ABOVE_ZERO):
        try:
            value = number(row, column)
        except CostError:
            value = None
        if value is None:
            continue
        lowest, highest = (0.0, 3.0) if column == "fsdp_zero_stage" else (float(column not in _MAY_BE_ZERO), _MOST)
        is_whole = lowest <= value <= highest and value == math.floor(value)
        good = 0 < value <= _LARGEST if column in _ABOVE_ZERO else is_whole
        if not good:
            notes.append(f"Column {column}: {value:g} cannot be, and is taken as not given.")
            kept[column] = ""
    return kept
