"""The spread: every set once, each difference named, equal to the ledger where it is the chosen one."""

from __future__ import annotations

import json
import sys

import pytest

from energy import cli
from energy.carbon.spread import WIDE_FROM, spread, width
from energy.catalogue.cloud import all_cloud_regions, cloud_years
from energy.catalogue.factors import factors_for
from energy.errors import FactorError, UnitError, UnknownNameError
from energy.ledger import Ledger
from energy.ledger.spread import spread_of_quarter
from energy.units import quantity as q

GWH = q(1.0, "GWh_facility")
COMPARED = ("kind", "boundary", "attribution", "gases", "zone_id", "year", "gwp_set", "edition")


@pytest.mark.parametrize("place", ["CAMX", "ERCT", "France", "Ireland", "SWE"])
def test_one_line_is_chosen_and_every_other_says_why_it_differs(place):
    lines = spread(place, GWH, 2026)
    chosen = [line for line in lines if line.is_chosen]
    assert len(chosen) == 1
    assert len({line.factor_id for line in lines}) == len(lines)
    for line in lines:
        differs = [name for name in COMPARED if getattr(line, name) != getattr(chosen[0], name)]
        assert bool(line.reasons) is bool(differs), line.factor_id
        assert line.emissions_kgco2e == pytest.approx(1000 * line.intensity_gco2e_per_kwh_facility)
        assert line.source
    intensities = [line.intensity_gco2e_per_kwh_facility for line in lines]
    assert intensities == sorted(intensities)


def test_of_each_edition_the_nearest_year_is_taken_and_its_direction_said():
    for year in (1999, 2010, 2026):
        line = next(one for one in spread("France", GWH, year) if one.factor_id.startswith("owid"))
        held = [one.year for one in factors_for("FRA", "location")]
        assert abs(line.year - year) == min(abs(one - year) for one in held)
        assert ("later" in line.year_note) is (line.year > year)
        assert ("earlier" in line.year_note) is (line.year < year)


def test_energy_at_another_boundary_negative_energy_and_unknown_places_are_refused():
    with pytest.raises(UnitError):
        spread("CAMX", q(1.0, "GWh_it"), 2026)
    for amount in (-1.0, float("nan")):
        with pytest.raises(FactorError, match="zero or more"):
            spread("CAMX", q(amount, "GWh_facility"), 2026)
    with pytest.raises(UnknownNameError, match="Nearest"):
        spread("Frankreich Nord", GWH, 2026)


def test_the_chosen_line_of_a_quarter_is_what_the_ledger_says(small_ledger):
    with Ledger(small_ledger) as opened:
        sites = spread_of_quarter(opened, "2026Q1")
        said = opened.rows(
            "SELECT site_id, sum(emissions_kgco2e) AS emissions_kgco2e FROM main.emissions_quarterly "
            "WHERE method = 'location' AND quarter = '2026Q1' GROUP BY site_id"
        )
    by_site = {one.site_id: sum(line.emissions_kgco2e for line in one.lines if line.is_chosen) for one in sites}
    assert by_site == pytest.approx({row["site_id"]: float(row["emissions_kgco2e"]) for row in said}, rel=1e-9)


def _run(monkeypatch, capfd, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["energy", "spread", *words])
    with pytest.raises(SystemExit) as left:
        cli.main()
    out, err = capfd.readouterr()
    return int(left.value.code or 0), out, err


def test_the_command_marks_the_chosen_line_and_its_json_has_every_line(monkeypatch, capfd):
    code, out, _ = _run(monkeypatch, capfd, "CAMX", "--energy", "1 GWh", "--year", "2026")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines() if line.startswith(">")] == ["egrid2023r2-CAMX"]
    assert "factor of 2023 for activity in 2026: 3 years earlier" in out
    code, text, _ = _run(monkeypatch, capfd, "CAMX", "--energy", "1 GWh", "--year", "2026", "--json")
    found = json.loads(text)
    assert found["schema"] == "spread/1"
    assert len(found["lines"]) == len(out.splitlines()) - 2


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("CAMX", "--energy", "1 GW", "--year", "2026"), 1, "multiply by the time"),
        (("Atlantis", "--energy", "1 GWh", "--year", "2026"), 1, "Atlantis"),
        (("CAMX", "--year", "2026"), 2, "energy and year"),
        (("2026Q1",), 2, "its ledger"),
    ],
)
def test_wrong_words_end_in_one_message(monkeypatch, capfd, words, code, says):
    left, out, err = _run(monkeypatch, capfd, *words)
    assert (left, out) == (code, "")
    assert says in err
    assert "Traceback" not in err


def test_a_quarter_that_the_ledger_does_not_hold_is_named(monkeypatch, capfd, small_ledger):
    code, _, err = _run(monkeypatch, capfd, "2025Q1", "--ledger", str(small_ledger))
    assert code == 1
    assert "2026Q1" in err


def test_a_cloud_region_has_its_provider_s_figures_beside_the_zone_s():
    lines = {line.factor_id: line for line in spread("gcp europe-north1", GWH, 2026)}
    zone_lines = spread("Finland", GWH, 2026)
    assert {line.factor_id for line in zone_lines} < set(lines)
    (own,) = [line for name, line in lines.items() if name.startswith("gcp-")]
    held = [one for one in cloud_years("gcp", "europe-north1") if one.grid_gco2e_per_kwh is not None]
    assert own.kind == "provider's figure"
    assert own.year == max(one.year for one in held)
    assert own.intensity_gco2e_per_kwh_facility == held[-1].grid_gco2e_per_kwh
    assert own.publisher == "Google Cloud"
    assert not own.is_chosen
    said = " ".join(own.reasons)
    assert "provider's figure, not annual average" in said
    assert "boundary not stated" in said


def test_a_suspect_figure_says_why_and_a_sound_one_of_the_year_goes_before_it():
    seen = set()
    for region in all_cloud_regions():
        rows = cloud_years(region.provider, region.region)
        for row in rows:
            for column in ("grid_gco2e_per_kwh", "market_based_gco2e_per_kwh"):
                if getattr(row, column) is None:
                    continue
                of_year = [one for one in rows if one.year == row.year and getattr(one, column) is not None]
                lines = spread(f"{region.provider} {region.region}", GWH, row.year)
                end = "grid" if column.startswith("grid") else "market"
                (line,) = [one for one in lines if one.factor_id.endswith(f"-{row.year}-{end}")]
                suspect = all(one.suspect for one in of_year)
                assert any(reason.startswith("suspect") for reason in line.reasons) is suspect
                seen.add((end, suspect))
    assert {("grid", False), ("market", True)} <= seen


def test_a_figure_of_zero_is_a_line_and_has_no_ratio_to_others():
    lines = spread("aws eu-west-1", GWH, 2023)
    zero = [line for line in lines if line.intensity_gco2e_per_kwh_facility == 0]
    assert [line.kind for line in zero] == ["provider's figure, market-based"]
    found = width(lines)
    assert found.zero_lines == 1
    above = [line.intensity_gco2e_per_kwh_facility for line in lines if line not in zero]
    assert found.highest_over_lowest == pytest.approx(max(above) / min(above))
    assert found.is_wide is (found.highest_over_lowest >= WIDE_FROM)
    assert width(tuple(zero)).highest_over_lowest is None


def test_the_last_line_and_the_json_flag_a_wide_spread(monkeypatch, capfd):
    words = ("aws eu-west-1", "--energy", "1 GWh", "--year", "2023")
    _, out, _ = _run(monkeypatch, capfd, *words)
    _, text, _ = _run(monkeypatch, capfd, *words, "--json")
    found = json.loads(text)["width"]
    last = out.splitlines()[-1]
    assert found["is_wide"] is last.startswith("wide spread")
    assert f"{found['highest_over_lowest']:.1f} times" in last
    assert "1 of zero left out" in last


@pytest.mark.parametrize("year", [-1, 0, 24, 1800, 20245])
def test_a_slip_of_the_pen_is_no_year(year):
    with pytest.raises(FactorError, match=f"The year {year} is none of 1900 to 2100"):
        spread("CAMX", GWH, year)
