"""Fields of the tables of MLPerf Training, which ``fit_mlperf.py`` writes."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, count, field, need, number, status

_LICENCE = "Own table; figures of MLPerf Training results and convergence points, Apache-2.0 (MLCommons)"

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "mlperf_benchmarks": ("Benchmarks of MLPerf Training: work of a sample, usual batch", ["benchmark"], _LICENCE),
    "mlperf_convergence": (
        "Samples that benchmarks of MLPerf Training need, by global batch",
        ["benchmark", "until_round", "global_batch_size"],
        _LICENCE,
    ),
    "mlperf_coefficients": (
        "Factors on the time to train of MLPerf benchmarks, by what they depend on",
        ["column", "group", "key"],
        _LICENCE,
    ),
    "mlperf_bands": ("Errors of rows of MLPerf Training left out of the fit", ["level", "benchmark"], _LICENCE),
}

KINDS = [
    *("image", "speech", "translation", "encoder", "language_model", "diffusion"),
    *("recommender", "graph", "reinforcement"),
]
COLUMNS = ["constant", "chips", "chips_above_64", "batch", "year", "nodes"]
GROUPS = [
    *("all", "kind", "benchmark", "family", "chip"),
    *("kind_family", "benchmark_family", "benchmark_chip"),
]

FIELDS: dict[str, list[Field]] = {
    "mlperf_benchmarks": [
        need("benchmark", "Name of the benchmark.") | {"constraints": {"required": True, "unique": True}},
        need("title", "Network, data set and what is trained."),
        need("kind", "Kind of work.", enum=KINDS),
        need("sample", "What a sample is."),
        number("flop_per_sample", "FLOP/sample", "Forward and backward; a multiply-add is two.", required=True),
        number("bytes_per_sample", "byte/sample", "Moved to and from memory.", required=True),
        number("reached_fraction", "", "Share of the dense peak that the physics assumes.", required=True, maximum=1),
        count("narrowest_bits", "bit", "Narrowest format that stacks train in, where the chip has it.", required=True),
        number("step_overhead_s", "s", "Time of a step that more chips do not shorten.", required=True),
        need("batch_ln_intercept", "Usual ln(global batch) on one chip.") | {"type": "number"},
        need("batch_ln_slope", "Its rise for each ln(chips).") | {"type": "number"},
        number("batch_low", "sample", "Usual global batch on few chips.", required=True),
        number("batch_high", "sample", "Largest one.", required=True),
        number("first_year", "year", "First round with a result.", required=True),
        number("last_year", "year", "Last one.", required=True),
        count("rows", "", "Results; 0: none was published where we looked.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "mlperf_convergence": [
        need("benchmark", "Benchmark of mlperf_benchmarks.csv."),
        field("until_round", "Last round that the points hold for; empty: the latest."),
        number("global_batch_size", "sample", "Samples of one step.", required=True),
        number("samples", "sample", "Samples to the target: the mean of the reference, made monotone.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
    "mlperf_coefficients": [
        need("column", "Number that the factor depends on.", enum=COLUMNS),
        need("group", "What shares the coefficient.", enum=GROUPS),
        field("key", "Kind, benchmark, chip family, chip or a pair; empty for all."),
        need("ln_factor", "Natural logarithm of measured over physical time, for each unit of the column.")
        | {"type": "number"},
        count("rows", "", "Results that have it.", required=True),
        count("submitters", "", "Submitters of those.", required=True),
        number("chips_low", "chip", "Fewest chips seen; of a benchmark on a chip."),
        number("chips_high", "chip", "Most chips seen."),
        SOURCE,
        status(),
        NOTE,
    ],
    "mlperf_bands": [
        need(
            "level",
            "What was left out of the fit: the single result, the count, the chip, its family, the benchmark.",
            enum=["seen", "count", "chip", "family", "benchmark"],
        ),
        field("benchmark", "Benchmark; empty for all."),
        number("ln_half_width80", "", "Error in ln time that 80 % of those rows stay within.", required=True),
        number("ln_half_width95", "", "Likewise 95 %.", required=True),
        number("median_error_fraction", "", "Their median error.", required=True),
        count("rows", "", "Rows left out.", required=True),
        SOURCE,
        status(),
        NOTE,
    ],
}
