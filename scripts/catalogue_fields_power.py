"""Fields of the tables of chip power, which ``fit_power.py`` writes."""

from __future__ import annotations

from catalogue_field_kinds import NOTE, SOURCE, Field, count, field, need, number, status
from catalogue_fields_kernels import PRECISIONS

_KERNELS = "Coefficients fitted to measurements of AIConfigurator, Apache-2.0 (NVIDIA)"
_SERVING = "Coefficients fitted to measurements of the ML.ENERGY benchmark, Apache-2.0"

# table: (title, primary key, licences)
TABLES: dict[str, tuple[str, list[str], str]] = {
    "power_chip": ("Power curves of chips by precision", ["chip_id", "precision"], _KERNELS),
    "power_gemm": (
        "Power of matrix products by chip, precision and library",
        ["chip_id", "precision", "library"],
        _KERNELS,
    ),
    "power_gemm_surface": (
        "Measured over modelled power of matrix products, by shape",
        ["chip_id", "precision", "library", "m"],
        _KERNELS,
    ),
    "power_transfer": ("Errors of power on chips that were left out of the fit", ["model", "kin_step"], _KERNELS),
    "power_states": ("Measured power of chips in a state", ["chip_id", "state"], "Single facts cited; sources per row"),
    "power_caps": (
        "Power and slow-down of chips under a power limit",
        ["chip_id"],
        "Coefficients fitted to measurements of Zeus (NSDI'23), Apache-2.0",
    ),
    "power_serving": ("Coefficients of power in serving language models", ["term"], _SERVING),
    "power_serving_models": ("Shapes of models served in measurements of power", ["name_part"], "Own table of facts"),
}

_COEFFICIENTS = [
    number("base_fraction", "", "Power over the limit as the load goes to zero.", required=True, maximum=1),
    number("ceiling_fraction", "", "Power over the limit at full load.", required=True, maximum=1.05),
    number("memory_gain", "", "Weight of the share of the memory bandwidth.", required=True),
    number("cache_gain", "", "The same of bytes that stay in the cache.", required=True),
    number("memory_exponent", "", "Exponent of both.", required=True),
    number("compute_gain", "", "Weight of the rate over the dense peak.", required=True),
    number("compute_exponent", "", "Its exponent.", required=True),
    number("gap_us", "us", "Time between kernels in the measurements; not a property of the chip.", required=True),
]
_ERRORS = [
    number("rows", "", "Measured rows.", required=True),
    number("steady_rows", "", "Rows that agree with their neighbours: only these are fitted.", required=True),
    number("mape_fraction", "", "Mean error of steady rows of shapes left out of the fit.", required=True),
    number("median_error_fraction", "", "Their median error.", required=True),
    number("mape_all_fraction", "", "Mean error of all rows of shapes left out, unsteady ones too.", required=True),
    number("band80_ln", "", "Logarithmic error that 80 % of steady rows left out stay within.", required=True),
    number("band95_ln", "", "Likewise 95 %.", required=True),
]
_END: list[Field] = [SOURCE, status(), NOTE]

FIELDS: dict[str, list[Field]] = {
    "power_chip": [
        need("chip_id", "Chip of chips.csv."),
        need("precision", "Number format.", enum=PRECISIONS),
        *_COEFFICIENTS,
        *_ERRORS,
        *_END,
    ],
    "power_gemm": [
        need("chip_id", "Chip of chips.csv."),
        need("precision", "Number format.", enum=PRECISIONS),
        need("library", "Library of kernels; any: all libraries together."),
        *_COEFFICIENTS,
        *_ERRORS,
        *_END,
    ],
    "power_gemm_surface": [
        need("chip_id", "Chip of chips.csv."),
        need("precision", "Number format.", enum=PRECISIONS),
        need("library", "Library of kernels; any: all libraries together."),
        count("m", "", "Knot of m.", required=True),
        need(
            "ln_ratio_permille",
            "1000 ln(measured / prior) at the knots of (n, k), k fastest, separated by semicolons.",
        ),
        *_END,
    ],
    "power_transfer": [
        need("model", "kernel_wide (16 bits and more), kernel_narrow or serving."),
        count("kin_step", "", "1: kin of the same family; 2: of the same maker; 3: of another maker.", required=True),
        number("rows", "", "Rows of chips predicted without their own measurements; empty: none, an estimate."),
        number("mape_fraction", "", "Mean error on them."),
        number("band80_ln", "", "Logarithmic error that 80 % stay within.", required=True),
        number("band95_ln", "", "Likewise 95 %.", required=True),
        *_END,
    ],
    "power_states": [
        need("chip_id", "Chip of chips.csv."),
        need("state", "idle: no process; idle_context: a process holds the chip, clocks are up."),
        number("power_chip_w", "W", "Board power.", required=True),
        number("power_chip_low_w", "W", "Least of the readings."),
        number("power_chip_high_w", "W", "Greatest of the readings."),
        *_END,
    ],
    "power_caps": [
        need("chip_id", "Chip of chips.csv, or any: all measured chips together.", unique=True),
        number("ceiling_fraction", "", "Power over the limit of a load that wants more.", required=True, maximum=1.1),
        number("sharpness", "", "Exponent that joins uncapped power and ceiling.", required=True),
        number("floor_fraction", "", "Least power over the uncapped power of the load.", required=True, maximum=1),
        field("slow_linear", "ln(slow-down) by ln(uncapped / capped power): linear part.", "number", required=True),
        number("slow_square", "", "Its quadratic part.", required=True),
        number("rows", "", "Measured rows below the highest limit.", required=True),
        number("mape_power_fraction", "", "Mean error of power, whole data sets left out.", required=True),
        number("mape_time_fraction", "", "Mean error of time, likewise.", required=True),
        number("band80_ln", "", "Logarithmic error of power that 80 % stay within, likewise.", required=True),
        number("band95_ln", "", "Likewise 95 %.", required=True),
        number("band95_time_ln", "", "Likewise of time, 95 %.", required=True),
        *_END,
    ],
    "power_serving": [
        need("term", "Name of the coefficient: see energy/power/serving.py.", unique=True),
        field("value", "Coefficient; of input_tokens a count of tokens.", "number", required=True),
        *_END,
    ],
    "power_serving_models": [
        need("name_part", "Part of the model's name that tells it; the first row that fits counts.", unique=True),
        count("layers", "", "Layers.", required=True),
        number("kv_bytes_per_token", "byte", "Key-value cache of a token in 16 bits.", required=True),
        count("experts", "", "Routed experts of a layer; 0: dense.", required=True),
        count("experts_active", "", "Of them used by a token.", required=True),
        number("params_active_b", "", "Active parameters in billions, where measurements leave them out."),
        *_END,
    ],
}
