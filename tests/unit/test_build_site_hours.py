"""PUE, water and purchase of a site by hour through the whole ingest: modelled, stated, printed, metered, refused.

``test_a_small_site_by_plain_loops`` reckons a site with weather, cooling, sun and battery a second time: one hour after
the other, without the ledger, its views, the mapping of weather to hours or the dispatch.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from tiny_fleet import Fleet, at, host, job, site

from energy.errors import SiteFileError
from energy.facility.cooling import Outdoors
from energy.facility.description import design_of
from energy.facility.site_year import facility_hours
from energy.ledger.diagnosis import doctor
from energy.ledger.intake import rebuild
from energy.ledger.reader import Ledger
from energy.ledger.site_file import parse_site_file
from energy.report.build import build as build_report
from energy.supply.photovoltaics import PhotovoltaicSystem, photovoltaic_year
from energy.weather.places import weather_of

DAY = ("2026-01-05 00:00", "2026-01-06 00:00")
HELD = ("2026-01-05 08:00", "2026-01-05 18:00")
WET = {
    "case": "large_waterside",
    "rated_it": "5 MW",
    "it_load": 0.7,
    "cooling": {"drift_fraction": 0.0001},
}  # with a tower, so that there is water
SUN = {"capacity": "20 kW", "mounting": "open rack", "tilt_deg": 30, "azimuth_deg": 180}
CELLS = {
    "capacity": "12 kWh",
    "charge_power": "3 kW",
    "discharge_power": "2 kW",
    "charge_efficiency": 0.95,
    "discharge_efficiency": 0.9,
    "minimum_state": 0.1,
    "maximum_state": 0.9,
}


def near(values, rel=1e-9):
    return pytest.approx(values, rel=rel, abs=1e-9)


def fleet_of(tmp_path, *without, chips=8, **changes):
    found = site([host("h1", chips)], **changes)
    for key in without:
        found.pop(key)
    return Fleet(tmp_path / "ledger", {"hall": found})


def one_job(fleet, held=HELD, window=DAY, **more):
    fleet.ingest(fleet.jobs([job("1", "h1", 8, *held, **more)], *window))


def hours(fleet, table):
    return fleet.rows(f"SELECT * FROM core.{table} ORDER BY hour_utc")


def instant(row):
    return row["hour_utc"].astimezone(UTC)


# --- by plain loops ---


def greedy_by_hand(load, generation):
    """Surplus charges, a deficit discharges, the grid does the rest; 12 kWh, from 1.2 to 10.8 kWh in the cells."""
    stored, bought = 1.2, []
    for need, own in zip(load, generation, strict=True):
        if own >= need:
            into = min(own - need, 3.0, (10.8 - stored) / 0.95)
            stored += 0.95 * into
            bought.append(0.0)
        else:
            out = min(need - own, 2.0, (stored - 1.2) * 0.9)
            stored -= out / 0.9
            bought.append(need - own - out)
    return bought


def test_a_small_site_by_plain_loops(tmp_path):
    supply = {"photovoltaics": SUN, "battery": CELLS}
    fleet = fleet_of(tmp_path, "pue", facility=WET, weather={"place": "Phoenix, Arizona"}, supply=supply)
    one_job(fleet, window=("2026-01-05 00:00", "2026-01-07 00:00"))
    design, weather = design_of({"name": "hall", **WET}, "x"), weather_of("Phoenix, Arizona")
    rows_of = {}
    for place, moment in enumerate(weather.start_utc.tolist()):
        rows_of.setdefault((moment.month, moment.day, moment.hour), place)
    sun = photovoltaic_year(
        weather.for_year(2026), PhotovoltaicSystem(20.0, "open rack", 30.0, 180.0)
    ).power_facility_kw

    it = {key: float(value) for key, value in fleet.total("energy_it_kwh", "hour_utc").items()}
    assert len(it) == 48
    pue, withdrawn, consumed, load, own = {}, {}, {}, {}, {}
    for moment in sorted(it):
        utc = moment.astimezone(UTC)
        place = rows_of[utc.month, utc.day, utc.hour]
        air = Outdoors(
            *(
                getattr(weather, name)[place : place + 1]
                for name in ("dry_bulb_c", "wet_bulb_c", "humidity_ratio", "pressure_pa")
            )
        )
        found = facility_hours(design.facility(), air, np.array([0.7]))
        pue[moment] = float(found.facility[0]) / 0.7
        withdrawn[moment] = float(np.broadcast_to(found.withdrawn_l_per_h, 1)[0]) / 0.7
        consumed[moment] = float(np.broadcast_to(found.consumed_l_per_h, 1)[0]) / 0.7
        load[moment] = it[moment] * pue[moment]
        own[moment] = float(sun[int((utc - datetime(2026, 1, 1, tzinfo=UTC)) / timedelta(hours=1))])
    bought = dict(
        zip(
            sorted(it), greedy_by_hand([load[one] for one in sorted(it)], [own[one] for one in sorted(it)]), strict=True
        )
    )
    share = {moment: bought[moment] / load[moment] for moment in it}
    assert min(share.values()) == 0.0 < sum(share.values()) < 48.0
    assert sum(withdrawn.values()) > sum(consumed.values()) > 0.0

    assert {row["hour_utc"]: row["pue"] for row in hours(fleet, "pue_hour")} == near(pue)
    assert {row["hour_utc"]: row["grid_share"] for row in hours(fleet, "supply_hour")} == near(share)
    water = fleet.rows(
        "SELECT sum(water_withdrawn_l) AS withdrawn, sum(water_consumed_l) AS consumed, "
        "sum(energy_purchased_facility_kwh) AS bought FROM water_monthly"
    )[0]
    assert float(water["withdrawn"]) == near(sum(it[one] * withdrawn[one] for one in it))
    assert float(water["consumed"]) == near(sum(it[one] * consumed[one] for one in it))
    assert float(water["bought"]) == near(sum(bought.values()))
    emitted = fleet.total("emissions_kgco2e", "method", view="emission_lines")["location"]
    assert emitted == near(sum(bought.values()) * 271.779 / 1000)


# --- weather and facility ---


def test_the_hours_of_a_measured_year_are_taken_themselves(tmp_path):
    day, held = ("2024-02-29 00:00", "2024-03-01 00:00"), ("2024-02-29 08:00", "2024-02-29 18:00")
    fleet = fleet_of(tmp_path, "pue", facility=WET, weather={"place": "Frankfurt", "year": 2024})
    one_job(fleet, held, day)
    found = hours(fleet, "pue_hour")
    assert {row["status"] for row in found} == {"estimate"}
    assert all("weather of that very hour of Frankfurt, historical 2024" in row["source"] for row in found)
    assert len({row["pue"] for row in found}) > 1
    assert all(1.0 < row["pue_low"] <= row["pue"] <= row["pue_high"] for row in found)


def test_another_year_is_mapped_and_says_so(tmp_path):
    fleet = fleet_of(tmp_path, "pue", facility=WET, weather="Frankfurt")
    one_job(fleet)
    words = {row["source"] for row in hours(fleet, "pue_hour")}
    assert len(words) == 1
    assert "weather of the same month, day and hour of Frankfurt, historical 2024 (open_meteo)" in words.pop()


def test_a_worked_design_with_its_own_weather_or_that_of_the_site(tmp_path):
    one = fleet_of(tmp_path / "one", "pue", facility="ashburn")
    two = fleet_of(tmp_path / "two", "pue", facility="ashburn", weather="Frankfurt")
    for fleet in (one, two):
        fleet.folder.parent.mkdir()
        one_job(fleet)
    assert "from ashburn.yaml (sha256 " in hours(one, "pue_hour")[0]["source"]
    assert "of Ashburn (Leesburg), Virginia, typical" in hours(one, "pue_hour")[0]["source"]
    assert "of Frankfurt, historical" in hours(two, "pue_hour")[0]["source"]


def test_constants_stay_as_they_were_and_can_replace_a_facility(tmp_path):
    fleet = fleet_of(tmp_path, pue={"value": 1.3, "low": 1.25, "high": 1.4})
    one_job(fleet)
    row = hours(fleet, "pue_hour")[0]
    assert [row[name] for name in ("pue", "pue_low", "pue_high", "source", "status", "note")] == [
        1.3, 1.25, 1.4, "site.yaml", "given", None,
    ]  # fmt: skip
    fleet.sites["hall"] |= {"facility": "ashburn"}
    fleet.sites["hall"].pop("pue")
    fleet.describe()
    rebuild(fleet.folder)
    assert hours(fleet, "pue_hour")[0]["source"].startswith("modelled: hyperscale at 0.8 of 20000 kW (IT)")


# --- water ---


def test_wrong_numbers_case_1_through_the_ledger(tmp_path):
    """100 kWh of IT energy at PUE 1.3: 50 L on the site and not 65, 390 L at power stations and not 507."""
    fleet = fleet_of(
        tmp_path,
        pue=1.3,
        wue_l_per_kwh_it={"consumed": 0.5},
        grid_water_l_per_kwh_facility={"consumed": 3.0, "source": "wrong numbers, case 1"},
    )
    one_job(fleet, kwh=80.0)  # at the boards: node overhead is 1.25
    found = fleet.rows("SELECT * FROM water_monthly WHERE owner = 'p'")[0]
    assert float(found["energy_it_kwh"]) == near(100.0)
    assert float(found["water_consumed_l"]) == near(50.0)
    assert float(found["water_off_site_consumed_l"]) == near(390.0)
    total = fleet.rows(
        "SELECT sum(water_consumed_l + water_off_site_consumed_l) AS l FROM water_hourly WHERE owner = 'p'"
    )
    assert float(total[0]["l"]) == near(440.0)
    assert found["water_withdrawn_l"] is None  # not stated is not zero


def test_a_site_that_states_no_water_has_none_and_no_zero(tmp_path):
    fleet = fleet_of(tmp_path)
    one_job(fleet)
    found = fleet.rows("SELECT * FROM water_monthly WHERE owner = 'p'")[0]
    assert found["energy_it_kwh"] > 0
    assert {value for name, value in found.items() if name.startswith("water_")} == {None}
    assert not hours(fleet, "wue_hour")


def test_the_printed_figures_of_an_operator_are_named(tmp_path):
    printed = {"provider": "aws", "region": "us-east-1", "year": 2023, "pue": True, "wue": "withdrawn"}
    fleet = fleet_of(tmp_path, "pue", published=printed)
    one_job(fleet)
    row, water = hours(fleet, "pue_hour")[0], hours(fleet, "wue_hour")[0]
    assert (row["pue"], row["status"]) == (1.15, "catalogue")
    assert row["source"] == "published by aws for us-east-1, 2023 (gsf_cloud)"
    assert water["wue_withdrawn_l_per_kwh_it"] == 0.18
    assert water["wue_consumed_l_per_kwh_it"] is None


def test_stated_water_goes_before_that_of_the_model(tmp_path):
    fleet = fleet_of(tmp_path, "pue", facility=WET, weather="Frankfurt", wue_l_per_kwh_it={"withdrawn": 0.7})
    one_job(fleet)
    assert {row["source"] for row in hours(fleet, "wue_hour")} == {"site.yaml"}
    assert hours(fleet, "pue_hour")[0]["status"] == "estimate"


# --- purchase ---


def test_without_own_plants_each_line_is_bit_equal_to_energy_times_factor(tmp_path):
    fleet = fleet_of(tmp_path, pue=1.37)
    one_job(fleet)
    other = (
        "SELECT count(*) AS lines FROM emission_lines WHERE emissions_kgco2e {} "
        "CAST(energy_facility_kwh * intensity_gco2e_per_kwh_facility / 1000 AS DECIMAL(38, 12))"
    )
    assert fleet.rows(other.format("="))[0]["lines"] > 0
    assert fleet.rows(other.format("<>"))[0]["lines"] == 0
    assert {row["grid_share"] for row in hours(fleet, "supply_hour")} == {1.0}


def written(fleet, rows):
    fleet.folder.mkdir(parents=True, exist_ok=True)
    with (fleet.folder / "meters.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def meter_rows(**changes):
    plain = {"grid_facility_kwh": 30.0, "generation_facility_kwh": 12.0, "exported_facility_kwh": 2.0}
    return [{"start_utc": f"2026-01-05T{hour:02}:00:00Z"} | plain | changes for hour in range(24)]


def test_metered_purchase_gives_the_share_and_exports_count_for_nothing(tmp_path):
    fleet = fleet_of(tmp_path, supply={"metered": {"file": "meters.csv"}})
    written(fleet, meter_rows())
    one_job(fleet)
    row = hours(fleet, "supply_hour")[3]
    assert row["grid_share"] == near(0.75)
    assert [float(row[f"{name}_facility_kwh"]) for name in ("load", "self_consumed", "excess")] == [40.0, 10.0, 2.0]
    assert row["status"] == "given"
    assert row["source"].startswith("meter readings of meters.csv (sha256 ")
    used = fleet.rows("SELECT * FROM factors_used WHERE method = 'location'")[0]
    assert float(used["energy_purchased_facility_kwh"]) == near(0.75 * float(used["energy_facility_kwh"]))
    assert float(used["emissions_kgco2e"]) == near(
        float(used["energy_purchased_facility_kwh"]) * used["intensity_gco2e_per_kwh_facility"] / 1000
    )


def test_a_stated_load_of_the_whole_site_spreads_own_plants_over_it(tmp_path):
    """The ledger's own energy takes the share of the site, not all of the sun."""
    own = fleet_of(tmp_path / "own", weather="Phoenix, Arizona", supply={"photovoltaics": SUN})
    whole = fleet_of(tmp_path / "whole", weather="Phoenix, Arizona", supply={"photovoltaics": SUN, "load": "60 kW"})
    for fleet in (own, whole):
        fleet.folder.parent.mkdir()
        one_job(fleet)
    shares = [sum(row["grid_share"] for row in hours(fleet, "supply_hour")) for fleet in (own, whole)]
    assert shares[0] < shares[1] < 24.0
    for row in hours(whole, "supply_hour"):
        assert float(row["load_facility_kwh"]) == 60.0
        assert float(row["self_consumed_facility_kwh"] + row["excess_facility_kwh"]) == near(
            float(row["generation_facility_kwh"])
        )


GAP = [job("1", "h1", 8, *HELD), job("2", "h1", 8, "2026-01-07 08:00", "2026-01-07 09:00")]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"supply": {"battery": CELLS}}, "supply: no plant: name photovoltaics, wind or metered"),
        ({"supply": {"photovoltaics": SUN}}, "plants need weather: name a place"),
        ({"supply": {"solar": SUN}}, "supply: solar: no such key"),
        ({"supply": {"photovoltaics": SUN, "dispatch": {"goal": "cost"}}}, "dispatch has no effect here"),
        ({"supply": {"photovoltaics": SUN, "metered": {"file": "m.csv"}}}, "what was metered is not modelled besides"),
        ({"supply": "plants.yaml"}, "plants.yaml is no file in the ledger's folder"),
        ({"supply": {"metered": {"file": "absent.csv"}}}, "absent.csv cannot be read"),
        (
            {"supply": {"photovoltaics": SUN, "load": "1 kW"}, "weather": "Frankfurt"},
            "less than the ledger's own energy",
        ),
        ({"weather": "Frankfrt", "supply": {"photovoltaics": SUN}}, "Nearest: Frankfurt"),
    ],
)
def test_supply_that_cannot_be_taken_is_refused_in_one_line(tmp_path, changes, words):
    fleet = fleet_of(tmp_path, **changes)
    with pytest.raises(SiteFileError) as caught:
        one_job(fleet)
    assert str(caught.value).startswith("site.yaml: sites.hall")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(fleet.folder.glob("ledger*.duckdb"))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (meter_rows()[:20], "has no row for 4 h with energy, first 2026-01-05T20Z"),
        (meter_rows() + meter_rows()[:1], "has the hour 2026-01-05T00Z twice"),
        (meter_rows(exported_facility_kwh=13.0), "more is exported than own plants gave"),
        (meter_rows(grid_facility_kwh=-1.0), "grid_facility_kwh: a cell is no energy of zero or more"),
        (meter_rows(grid_facility_kwh=""), "grid_facility_kwh: a cell is no energy of zero or more"),
        ([{"start_utc": "2026-01-05", "grid_kwh": 1.0}], "has no column grid_facility_kwh"),
        ([{**meter_rows()[0], "start_utc": "2026-01-05T00:30"}], "is no whole hour of UTC"),
    ],
)
def test_meter_readings_that_cannot_be_taken_are_refused(tmp_path, rows, words):
    fleet = fleet_of(tmp_path, supply={"metered": {"file": "meters.csv"}})
    written(fleet, rows)
    with pytest.raises(SiteFileError) as caught:
        one_job(fleet)
    assert words in str(caught.value)


def test_a_battery_needs_the_load_of_every_hour(tmp_path):
    sun = {"weather": "Frankfurt", "supply": {"photovoltaics": SUN, "battery": CELLS}}
    fleet = fleet_of(tmp_path, **sun)
    with pytest.raises(
        SiteFileError, match=r"no energy of the site in 38 h \(first 2026-01-05T18Z\).* state supply.load"
    ):
        fleet.ingest(fleet.jobs(GAP[:1], *HELD), fleet.jobs(GAP[1:], "2026-01-07 08:00", "2026-01-07 09:00"))
    fleet.sites["hall"]["supply"] = {"photovoltaics": SUN}
    fleet.ingest(fleet.jobs(GAP[:1], *HELD), fleet.jobs(GAP[1:], "2026-01-07 08:00", "2026-01-07 09:00"))
    assert len(hours(fleet, "supply_hour")) == 11


def test_a_load_of_which_a_part_is_not_known_is_stated_or_refused(tmp_path):
    """The sum of what is known would give own plants too large a share."""
    fleet = fleet_of(tmp_path, weather="Frankfurt", supply={"photovoltaics": SUN})
    fleet.sites["hall"]["hosts"].append(host("x1", 8, chip="secret"))
    fleet.top["undisclosed_chips"] = ["secret"]
    with pytest.raises(
        SiteFileError, match=r"the load is not known in 24 h \(first 2026-01-05T00Z\).* state supply.load"
    ):
        one_job(fleet)
    fleet.sites["hall"]["supply"] |= {"load": "40 kW"}
    one_job(fleet)
    assert {float(row["load_facility_kwh"]) for row in hours(fleet, "supply_hour")} == {40.0}


# --- what is refused in site.yaml ---

TEXT = """
sites:
  hall:
    zone: RFCE
    pue: 1.2
"""
NAMED = "published: {provider: aws, region: us-east-1, year: 2023, "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{TEXT}    facility: ashburn\n", "pue and facility both say what the site takes beyond its IT: give one"),
        (f"{TEXT}    {NAMED}pue: true}}\n", "pue and published both say"),
        (f"{TEXT}    {NAMED}}}\n".replace(", }", "}"), "say what is taken: pue: true, or wue"),
        (f"{TEXT}    weather: Frankfurt\n", "weather has no effect without facility or supply"),
        (f"{TEXT}    wue_l_per_kwh_it: {{}}\n", "say which water it is"),
        (f"{TEXT}    wue_l_per_kwh_it: {{consumed: -1}}\n", "water is zero or more, got -1"),
        (f"{TEXT}    wue_l_per_kwh_it: {{withdrawn: 1}}\n    {NAMED}wue: consumed}}\n", "both say what water it takes"),
        (f"{TEXT}    wue_l_per_kwh_it: {{used: 1}}\n", "no such key"),
        (f"{TEXT}    grid_water_l_per_kwh_facility: {{consumed: 1}}\n", "source is missing"),
        (
            TEXT.replace("pue: 1.2", "facility: {case: hyperscale, rated_it: 1 MW, it_load: 0.5}"),
            "facility needs weather",
        ),
        (
            TEXT.replace("pue: 1.2", "facility: {case: hyperscal, rated_it: 1 MW, it_load: 0.5, weather: Oslo}"),
            "Nearest: hyperscale",
        ),
        (
            TEXT.replace(
                "pue: 1.2", "facility: {case: hyperscale, rated_it: 1 MW, it_load: 0.5, colling: {}}\n    weather: Oslo"
            ),
            "there is no key 'colling'. Nearest: cooling",
        ),
    ],
)
def test_site_file(text, words):
    with pytest.raises(SiteFileError) as caught:
        parse_site_file(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_consumed_than_withdrawn_is_refused(tmp_path):
    fleet = fleet_of(tmp_path, wue_l_per_kwh_it={"withdrawn": 0.3, "consumed": 0.4})
    with pytest.raises(SiteFileError, match="more is consumed than withdrawn"):
        one_job(fleet)


def test_water_needs_a_value_for_each_hour(tmp_path):
    ends = [{"to": "2026-01-05T09:00:00Z", "value": 0.3}]
    fleet = fleet_of(tmp_path, wue_l_per_kwh_it={"withdrawn": ends})
    with pytest.raises(SiteFileError, match=r"has no wue_l_per_kwh_it.withdrawn from 2026-01-05T09:00Z"):
        one_job(fleet)


# --- the doctor ---


def test_the_doctor_says_what_a_site_rests_on(tmp_path):
    fleet = fleet_of(tmp_path, "pue", facility=WET, weather="Frankfurt", supply={"photovoltaics": SUN})
    fleet.sites["plain"] = site([host("p1", 8)])
    fleet.ingest(
        fleet.jobs([job("1", "h1", 8, *HELD)], *DAY, site="hall"),
        fleet.jobs([job("2", "p1", 8, *HELD)], *DAY, site="plain"),
    )
    lines = [item.text for item in doctor(fleet.folder).findings if item.text.startswith("site ")]
    assert "site plain: PUE 1.2, constant of site.yaml; no water stated; all energy bought" in lines
    hall = next(line for line in lines if line.startswith("site hall"))
    assert (
        "modelled: large_waterside at 0.7 of 5000 kW (IT); weather of the same month, day and hour of Frankfurt" in hall
    )
    assert "water withdrawn and consumed" in hall
    assert " % , " not in hall
    assert "bought " in hall
    assert "\n" not in hall


def test_neighbours_in_time_do_not_jump_over_midnight_of_the_mapped_year(tmp_path):
    """The local midnight of the source lies inside the activity; hours stay in their order."""
    fleet = fleet_of(tmp_path, "pue", facility=WET, weather="Frankfurt")
    one_job(fleet, ("2025-12-31 20:00", "2026-01-01 04:00"), ("2025-12-31 20:00", "2026-01-01 04:00"))
    found = [instant(row) for row in hours(fleet, "pue_hour")]
    assert [later - earlier for earlier, later in pairwise(found)] == [timedelta(hours=1)] * 7
    assert found[0] == at("2025-12-31 20:00")


# --- the report


def cells_of(document):
    return {
        cell.id: cell
        for section in document.sections
        for block in section.blocks
        if hasattr(block, "rows")
        for row in block.rows
        for cell in row.cells
    }


def test_the_report_has_water_and_purchase_where_a_site_states_them(tmp_path):
    fleet = fleet_of(
        tmp_path,
        pue=1.3,
        wue_l_per_kwh_it={"withdrawn": 0.5},
        grid_water_l_per_kwh_facility={"consumed": 3.0, "source": "a study"},
        supply={"metered": {"file": "meters.csv"}},
    )
    written(fleet, meter_rows())
    one_job(fleet, kwh=80.0)
    with Ledger(fleet.folder, threads=1) as ledger:
        made = build_report(ledger, "2026Q1")
        it = float(ledger.rows("SELECT sum(energy_it_kwh) AS kwh FROM energy_monthly")[0]["kwh"])
        emitted = ledger.rows("SELECT method, sum(emissions_kgco2e) AS kg FROM emission_lines GROUP BY 1")
    found = cells_of(made)
    assert float(found["water.site.1.water_withdrawn"].value) == near(0.5 * it)
    assert float(found["water.site.total.water_off_site_consumed"].value) == near(3.0 * it * 1.3 * 0.75)
    assert found["water.site.1.water_consumed"].value is None
    assert [found[f"water.source.{number}.source"].value for number in (1, 2)] == ["site.yaml", "site.yaml: a study"]
    assert not {"boundary.excluded.water.what", "boundary.excluded.generation.what"} & set(found)
    sample = sum(float(cell.value) for name, cell in found.items() if name.endswith(".location_emissions"))
    assert sample == near(float(next(row["kg"] for row in emitted if row["method"] == "location")))


def test_a_report_without_stated_water_has_no_section_of_it(tmp_path):
    fleet = fleet_of(tmp_path)
    one_job(fleet)
    with Ledger(fleet.folder, threads=1) as ledger:
        made = build_report(ledger, "2026Q1")
    assert "water" not in {section.id for section in made.sections}
    assert "boundary.excluded.water.what" in cells_of(made)
