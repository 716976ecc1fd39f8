"""``energy validate`` and ``energy estimate``: what they print, and what they say of what cannot be."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from energy import cli
from energy.errors import UnknownNameError
from energy.validation.statistics import Compared, Failure, Outcome, document, write_rows
from energy.validation.training_rows import case_of, chip_of, measured_s, number

COLUMNS = (
    *("row_id", "source_group", "chip", "n_chips", "framework", "model_name", "model_family", "precision"),
    *("seq_len", "global_batch_seqs", "micro_batch_seqs", "tp", "pp", "dp", "iter_time_s", "tokens_per_s_per_chip"),
)
GOOD = {
    "row_id": "a",
    "source_group": "one",
    "chip": "NVIDIA H100 SXM",
    "n_chips": "64",
    "framework": "Megatron-Core",
    "model_name": "Llama 3.1 70B",
    "model_family": "dense",
    "precision": "bf16",
    "seq_len": "8192",
    "global_batch_seqs": "128",
    "micro_batch_seqs": "1",
    "tp": "4",
    "pp": "4",
    "dp": "4",
    "iter_time_s": "16.5",
}


def written(path: Path, *rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["energy", *words])
    code = 0
    try:
        cli.main()
    except SystemExit as error:
        code = int(error.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def energy(capsys, monkeypatch):
    return lambda *words: run(capsys, monkeypatch, *map(str, words))


# --- validate ---


def test_the_document_has_the_figures_of_the_design(energy, tmp_path):
    path = written(tmp_path / "rows.csv", GOOD, {**GOOD, "row_id": "b", "chip": "no such chip"})
    code, out, _ = energy("validate", "training", "--data", path, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["schema"] == "validation/1"
    assert (found["suite"], found["rows"], found["answered"]) == ("training", 2, 1)
    named = ("mape_pct", "median_ape_pct", "p90_ape_pct", "bias_pct", "within_10pct", "inside_80pct", "inside_95pct")
    assert all(isinstance(found[name], float) for name in named)
    assert set(found["groups"]) == {"kind", "chip", "stack", "source"}
    (failure,) = found["failures"]
    assert failure["row"] == "b" and "no such chip" in failure["reason"]


def test_rows_are_written_with_their_bands_and_the_reason_of_those_without(energy, tmp_path):
    path = written(tmp_path / "rows.csv", GOOD, {**GOOD, "row_id": "b", "chip": "no such chip"})
    assert energy("validate", "training", "--data", path, "--rows", tmp_path / "out.csv")[0] == 0
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        one, other = csv.DictReader(file)
    assert float(one["low"]) < float(one["low80"]) < float(one["predicted"]) < float(one["high80"]) < float(one["high"])
    assert float(one["measured"]) == 16.5
    assert other["predicted"] == "" and other["note"].startswith("not answered")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("validate", "trainin"), "There is no suite 'trainin'"),
        (("validate", "training", "--data", "absent.csv"), "absent.csv"),
    ],
)
def test_wrong_asking_is_one_line(energy, words, said):
    code, out, error = energy(*words)
    assert code == 1 and out == ""
    assert said in error and error.count("\n") == 1


def test_a_file_of_another_kind_names_the_column_that_it_lacks(energy, tmp_path):
    path = written(tmp_path / "rows.csv", GOOD, columns=("row_id", "chip"))
    code, _, error = energy("validate", "training", "--data", path)
    assert code == 1 and "lacks the column n_chips" in error


def test_an_empty_file_is_said(energy, tmp_path):
    code, _, error = energy("validate", "training", "--data", written(tmp_path / "rows.csv"))
    assert code == 1 and "has no rows" in error


BLANK = {key: GOOD[key] for key in ("row_id", "chip", "n_chips", "model_name")}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"framework": "a framework of tomorrow 9.9"},
        {"chip": "AWS Trainium 2"},
        {"chip": "NVIDIA B300 SXM", "precision": "nvfp4"},
        {"model_name": "Unheard-of 34B"},
        {"model_name": "Unheard-of-30B-A3B", "model_family": "moe"},
        {"model_name": "ResNet-50", "model_family": "cnn", "tokens_per_s_per_chip": "", "samples_per_s_total": "90000"},
        {"precision": "mxfp8", "chip": "NVIDIA A100 80GB SXM"},
        {"n_chips": "96"},
        {"n_chips": "1"},
        {"seq_len": "1048576", "n_chips": "1024"},
        {"model_name": "DeepSeek-V3", "n_chips": "2048", "precision": "fp8"},
        {"tp": "16", "pp": "1", "n_chips": "64", "global_batch_seqs": "100"},
    ],
)
def test_rows_that_say_little_are_answered(energy, tmp_path, changes):
    row = {**BLANK, "tokens_per_s_per_chip": "1000", **changes}
    path = written(tmp_path / "rows.csv", row, columns=(*COLUMNS, "samples_per_s_total"))
    code, out, _ = energy("validate", "training", "--data", path, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["answered"] == 1, found["failures"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"iter_time_s": "soon"}, "'soon' is no number"),
        ({"iter_time_s": ""}, "prints no time"),
        ({"chip": ""}, "chip"),
    ],
)
def test_rows_that_cannot_be_answered_say_why(energy, tmp_path, changes, reason):
    code, out, _ = energy("validate", "--data", written(tmp_path / "rows.csv", {**GOOD, **changes}), "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["answered"], found["mape_pct"]) == (0, 1, 0, None)
    assert reason in found["failures"][0]["reason"]


def test_memory_counts_only_rows_that_print_it(energy, tmp_path):
    rows = ({**GOOD, "memory_used_gb_per_chip": "60"}, {**GOOD, "row_id": "b"})
    path = written(tmp_path / "rows.csv", *rows, columns=(*COLUMNS, "memory_used_gb_per_chip"))
    found = json.loads(energy("validate", "memory", "--data", path, "--json")[1])
    assert (found["rows"], found["answered"]) == (1, 1)
    assert found["inside_80pct"] in (0.0, 100.0)


def test_products_are_read_from_text_too(energy, tmp_path):
    row = {
        "chip": "NVIDIA H100 SXM",
        "dtype": "bfloat16",
        "m": "4096",
        "n": "4096",
        "k": "4096",
        "latency_ms": "0.1743",
    }
    path = written(tmp_path / "g.csv", row, {**row, "m": "x"}, columns=tuple(row))
    found = json.loads(energy("validate", "gemm", "--data", path, "--json")[1])
    assert (found["rows"], found["answered"]) == (2, 1)
    assert found["mape_pct"] < 30


def test_statistics_are_those_of_the_rows():
    rows = [Compared(str(i), "time_s", 10.0, p, 9.0, 11.0, 8.0, 12.0, ()) for i, p in enumerate((10.0, 12.0, 5.0))]
    found = document(Outcome("training", "x", tuple(rows), (Failure("z", "why"),)))
    assert found["rows"] == 4 and found["answered"] == 3
    assert found["mape_pct"] == pytest.approx((0 + 20 + 50) / 3)
    assert found["median_ape_pct"] == pytest.approx(20)
    assert found["bias_pct"] == pytest.approx(-10)
    assert found["within_10pct"] == pytest.approx(100 / 3)
    assert found["inside_80pct"] == 100


def test_rows_that_cannot_be_written_leave_nothing_half_done(energy, tmp_path):
    path = written(tmp_path / "rows.csv", GOOD)
    code, _, error = energy("validate", "--data", path, "--rows", tmp_path / "absent" / "out.csv")
    assert code == 1 and "cannot be written" in error
    assert not (tmp_path / "absent").exists()


def test_rows_go_out_whole(tmp_path):
    write_rows(Outcome("training", "x", (), (Failure("z", "why"),)), tmp_path / "out.csv")
    assert not list(tmp_path.glob("*.part"))


# --- rows ---


def test_a_printed_time_counts_before_a_rate():
    from energy.cost.training import plan

    row = {**GOOD, "tokens_per_s_per_chip": "1"}
    assert measured_s(row, plan(case_of(row).request)) == 16.5


def test_the_two_rates_of_one_row_mean_one_time():
    from energy.cost.training import plan

    tokens = 128 * 8192 / 64 / 16.5
    row = {**GOOD, "iter_time_s": "", "tokens_per_s_per_chip": str(tokens)}
    assert measured_s(row, plan(case_of(row).request)) == pytest.approx(16.5)


def test_cells():
    assert number({"a": "1,024"}, "a") == 1024
    assert number({"a": "nan"}, "a") is None


def test_a_chip_that_is_not_exact_is_noted_and_a_part_of_a_word_is_no_name():
    exact, near, several = [], [], []
    assert chip_of({"chip": "NVIDIA B200 SXM"}, exact) == "nvidia_b200_sxm"
    assert chip_of({"chip": "NVIDIA V100 SXM"}, near).startswith("nvidia_v100_sxm2")
    assert chip_of({"chip": "NVIDIA V100"}, several).startswith("nvidia_v100")
    assert exact == [] and "is taken" in near[0] and "is taken" in several[0]
    for name in ("NVIDIA A1", "NVIDIA H10", "Nvid", ""):
        with pytest.raises(UnknownNameError):
            chip_of({"chip": name}, [])


# --- estimate ---

ESTIMATE = ("estimate", "--model", "Llama 3.1 70B", "--chip", "nvidia_h100_sxm5_80", "--chips", "64")


def test_an_estimate_has_figures_with_units_and_bands(energy):
    code, out, _ = energy(*ESTIMATE, "--tokens", "1e12", "--json")
    found = json.loads(out)
    assert code == 0 and found["schema"] == "estimate/1"
    for name in ("step_time", "throughput", "model_flop_utilisation", "training_time", "chip_hours"):
        one = found["figures"][name]
        assert one["low"] < one["low80"] < one["value"] < one["high80"] < one["high"], name
    memory = found["figures"]["memory_per_chip"]
    assert memory["low"] <= memory["low80"] <= memory["value"] <= memory["high80"] <= memory["high"]
    assert sum(found["states_s"].values()) == pytest.approx(found["figures"]["step_time"]["value"])
    assert found["layout"]["recompute"] in ("none", "selective", "alternate", "full")


def test_explain_shows_the_states_as_a_table(energy):
    _, plain, _ = energy(*ESTIMATE)
    _, out, _ = energy(*ESTIMATE, "--explain")
    assert "state of a step" in out and "bubble" in out
    assert "state of a step" not in plain


def test_every_chip_of_the_catalogue_with_a_memory_and_a_rate_is_answered_or_says_why(energy):
    from energy import catalogue
    from energy.cost.architecture import Architecture
    from energy.cost.estimates import estimate
    from energy.cost.requests import Request, usual_precision
    from energy.errors import CostError

    small = Architecture.of_model("Llama 3.2 1B")
    answered = 0
    for chip in catalogue.all_chips():
        try:
            precision = usual_precision(chip.chip_id)
            found = estimate(Request(architecture=small, kind="dense", chip=chip.chip_id, chips=8, precision=precision))
        except CostError as error:
            assert "\n" not in str(error)
            continue
        assert 0 < found.figures["model_flop_utilisation"].value < 100, chip.chip_id
        answered += 1
    assert answered > 60


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--chip", "H10"), "Nearest"),
        (("--model", "Llama 3.1 71B"), "Nearest"),
        (("--precision", "fp9"), "'fp9' is not known"),
        (("--chips", "0"), "chips is 0"),
        (("--chips", "nan"), "chips is nan"),
        (("--tokens", "-1"), "tokens is -1"),
        (("--tokens", "nan"), "tokens is nan"),
        (("--tensor-parallel", "6"), "tensor 6"),
        (("--chips", "2"), "does not fit"),
        (("--config", "absent.json"), "either --model"),
        (("--recompute", "some"), "'some' is not known"),
    ],
)
def test_what_cannot_be_estimated_is_one_line(energy, words, said):
    code, out, error = energy(*ESTIMATE, *words)
    assert code == 1 and out == ""
    assert said in error and error.count("\n") == 1


def test_tensor_ranks_beyond_the_domain_warn(energy):
    _, out, _ = energy(*ESTIMATE, "--tensor-parallel", "16", "--pipeline-parallel", "1")
    assert "beyond the scale-up domain" in out


def test_a_configuration_is_taken_instead_of_a_name(energy, tmp_path):
    config = {"model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048, "num_attention_heads": 32}
    config |= {"intermediate_size": 8192, "vocab_size": 32000, "tie_word_embeddings": False}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    words = (
        "estimate",
        "--config",
        tmp_path / "config.json",
        "--chip",
        "nvidia_h100_sxm5_80",
        "--chips",
        "8",
        "--json",
    )
    code, out, _ = energy(*words)
    assert code == 0 and json.loads(out)["figures"]["throughput"]["value"] > 0
