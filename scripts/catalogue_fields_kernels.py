"""Fields of the coefficient tables of kernels, which ``fit_kernels.py`` writes."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, RATE, SOURCE, Field, count, field, need, number, status

PRECISIONS = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp8_block", "fp6", "fp4", "int8", "int4"]
_LICENCE = "Coefficients fitted to measurements of AIConfigurator, Apache-2.0 (NVIDIA)"

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "kernel_chips": (
        "Compute units of chips, and their names in kernel measurements",
        ["chip_id"],
        "Own table of facts",
    ),
    "kernel_gemm": ("Coefficients of the time of matrix products", ["chip_id", "precision"], _LICENCE),
    "kernel_gemm_surface": (
        "Measured over modelled time of matrix products, by shape",
        ["chip_id", "precision", "m"],
        _LICENCE,
    ),
    "kernel_attention": (
        "Coefficients of the time of fused attention",
        ["chip_id", "operation", "precision", "kv_precision", "head_dim", "windowed"],
        _LICENCE,
    ),
    "kernel_collective": (
        "Coefficients of the time of collectives inside a node",
        ["chip_id", "operation", "group_size"],
        _LICENCE,
    ),
    "kernel_transfer": ("Errors on chips that were left out of the fit", ["kernel", "kin_step"], _LICENCE),
}


def _errors() -> list[Field]:
    return [
        number("rows", "", "Measured rows.", required=True),
        number(
            "screened", "", "Rows far from their neighbours, left out of the fit but not of the errors.", required=True
        ),
        number("median_error_fraction", "", "Median error on rows left out of the fit.", required=True),
        number("p90_error_fraction", "", "Nine of ten errors are below it.", required=True),
        number("sigma_fraction", "", "Standard deviation that covers 80 % of the errors left out.", required=True),
        number("band95_ln", "", "Logarithmic error that 95 % of the rows left out stay within.", required=True),
    ]


def _end() -> list[Field]:
    return [SOURCE, status(), NOTE]


FIELDS: dict[str, list[Field]] = {
    "kernel_chips": [
        need("chip_id", "Chip of chips.csv, or of its own where vendor is filled.", unique=True),
        field("measured_name", "Name in the kernel measurements."),
        number("compute_units", "", "Parts that run tiles at the same time: SM, CU, Xe core, matrix unit."),
        field("vendor", "Only for a chip that chips.csv does not have."),
        field("family", "Likewise."),
        count("launch_year", "year", "Likewise."),
        number("bf16_tflops", RATE, "Likewise."),
        number("fp8_tflops", RATE, "Likewise."),
        number("memory_bandwidth_gb_per_s", "GB/s", "Likewise."),
        number("cache_mb", "MB", "Likewise."),
        *_end(),
    ],
    "kernel_gemm": [
        need("chip_id", "Chip of kernel_chips.csv."),
        need("precision", "Number format.", enum=PRECISIONS),
        number("launch_us", "us", "Time of an empty kernel.", required=True),
        number("compute_efficiency", "", "Share of the peak inside a large tile.", required=True),
        number("tile_loss", "", "Loss of a tile of 64 by 64 through loading.", required=True),
        number("fill_k", "", "Length in k that filling the pipeline costs.", required=True),
        number("quantisation", "", "1: a started wave costs a whole one; 0: none of it.", required=True, maximum=1),
        number("memory_efficiency", "", "Share of the memory bandwidth.", required=True),
        number("cache_speedup", "", "Bandwidth of operands in the cache over that of the memory.", required=True),
        number("sharpness", "", "Exponent that joins compute and memory time.", required=True),
        number("best_fraction_of_peak", "", "Best measured rate over the peak.", required=True),
        number("median_error_m_fraction", "", "Median error on values of m left out.", required=True),
        *_errors(),
        *_end(),
    ],
    "kernel_gemm_surface": [
        need("chip_id", "Chip of kernel_chips.csv."),
        need("precision", "Number format.", enum=PRECISIONS),
        count("m", "", "Knot of m.", required=True),
        need(
            "ln_ratio_permille",
            "1000 ln(measured / prior) at the knots of (n, k), k fastest, separated by semicolons.",
        ),
        *_end(),
    ],
    "kernel_attention": [
        need("chip_id", "Chip of kernel_chips.csv."),
        need("operation", "context: queries of a prompt; generation: one query.", enum=["context", "generation"]),
        need("precision", "Number format of the products.", enum=PRECISIONS),
        need("kv_precision", "Number format of the key-value cache.", enum=PRECISIONS),
        count("head_dim", "", "Width of a head.", required=True),
        field("windowed", "Whether the kernel was measured with a sliding window.", "boolean", required=True),
        number("launch_us", "us", "Time of an empty kernel.", required=True),
        number("compute_efficiency", "", "Share of the peak.", required=True),
        number("fill_length", "token", "Length that starting a block of queries or a split costs.", required=True),
        number("quantisation", "", "1: a started wave costs a whole one; 0: none of it.", required=True, maximum=1),
        number("memory_efficiency", "", "Share of the memory bandwidth.", required=True),
        number("sharpness", "", "Exponent that joins compute and memory time.", required=True),
        *_errors(),
        need(
            "ln_ratio_permille",
            "1000 ln(measured / prior) at the knots of (length, batch x heads, query heads a key head), last fastest.",
        ),
        *_end(),
    ],
    "kernel_collective": [
        need("chip_id", "Chip of kernel_chips.csv."),
        need("operation", "all_reduce, all_gather, reduce_scatter or all_to_all."),
        count("group_size", "chip", "Chips that take part.", required=True),
        number("latency_us", "us", "Time of a tiny message.", required=True),
        number("bus_gb_per_s", "GB/s", "Bytes per second and chip on the wire for large messages.", required=True),
        number(
            "efficiency",
            "",
            "The same over the rate of the link, or of the slot of a card without; up to 2 where the switch adds up.",
        ),
        *_errors(),
        need("ln_ratio_permille", "1000 ln(measured / prior) at whole log2(wire time / start-up), -8 to 8."),
        *_end(),
    ],
    "kernel_transfer": [
        need("kernel", "gemm, attention or collective."),
        count("kin_step", "", "1: kin of the same family; 2: of the same maker; 3: of another maker.", required=True),
        number("rows", "", "Rows of chips predicted without their own measurements; empty: none, an estimate."),
        number("median_error_fraction", "", "Median error on them."),
        number("p90_error_fraction", "", "Nine of ten errors are below it."),
        number("sigma_fraction", "", "Standard deviation that covers 80 % of the errors.", required=True),
        number("band95_ln", "", "Logarithmic error that 95 % stay within.", required=True),
        *_end(),
    ],
}
