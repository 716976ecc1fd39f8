"""Overhead of nodes of which site.yaml states none: it follows the power of the boards, hour by hour."""

from __future__ import annotations

import pytest
from tiny_fleet import BUSY_W, H100, IDLE_W, Fleet, every_minute, holds, host, job, site

from energy.errors import SiteFileError
from energy.ledger.overheads import node_line
from energy.power.node import node_overhead, parts_of

DAY = ("2026-01-05 00:00", "2026-01-06 00:00")
HELD = ("2026-01-05 10:00", "2026-01-05 11:00")


def fleet_of(tmp_path, *hosts, **changes):
    described = site(hosts, **changes)
    described.pop("node_overhead")
    return Fleet(tmp_path / "ledger", {"a": described})


def lines(fleet, where):
    sql = f"SELECT * FROM energy_hourly WHERE {where} ORDER BY hour_utc, owner"
    return [
        {key: float(value) if key.startswith("energy") else value for key, value in row.items()}
        for row in fleet.rows(sql)
    ]


def ratio(line, end=""):
    return line[f"energy_it_{end}kwh"] / line[f"energy_chip_{end}kwh"]


def test_a_node_at_rest_takes_more_for_each_watt_of_its_boards_than_a_node_at_work(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 8))
    fleet.ingest(fleet.jobs([job("1", "h1", 8, *HELD)], *DAY))
    (busy,) = lines(fleet, "owner = 'p'")
    idle = lines(fleet, "owner = 'idle'")[0]
    parts = parts_of(chip="nvidia_h100_sxm5_80", chips_per_node=8)
    # a line through rest and work: exact at rest, and near the model in between
    assert ratio(idle) == pytest.approx(node_overhead(parts, IDLE_W[H100]).node_overhead, rel=1e-6)
    assert ratio(busy) == pytest.approx(node_overhead(parts, BUSY_W[H100]).node_overhead, rel=0.02)
    assert ratio(idle) > 2 * ratio(busy) > 2
    assert 1 <= ratio(busy, "low_") < ratio(busy) < ratio(busy, "high_")
    assert {row["node_overhead_status"] for row in fleet.rows("SELECT * FROM core.energy_hour")} == {"estimate"}


def test_owners_of_one_hour_share_the_overhead_of_their_node(tmp_path):
    """Half of the boards at work: both owners have the ratio of the node's mean power."""
    fleet = fleet_of(tmp_path, host("h1", 8))
    fleet.ingest(fleet.jobs([job("1", "h1", 4, *HELD)], *DAY))
    both = lines(fleet, "hour_utc = TIMESTAMPTZ '2026-01-05 10:00:00+00'")
    line = node_line("nvidia_h100_sxm5_80", 8)
    mean_w = (BUSY_W[H100] + IDLE_W[H100]) / 2
    assert [row["owner"] for row in both] == ["idle", "p"]
    assert [ratio(row) for row in both] == pytest.approx([line.slope + line.fixed_w / mean_w] * 2, rel=1e-6)


def test_readings_set_the_overhead_too_and_a_stated_one_wins(tmp_path):
    readings = every_minute("h1", 0, *HELD, w=650) + every_minute("h2", 0, *HELD, w=650)
    fleet = fleet_of(tmp_path, host("h1", 1), host("h2", 1, node_overhead=1.4))
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h2", 1, *HELD)], *DAY),
        fleet.allocations([holds("1", "h1", 0, *HELD), holds("2", "h2", 0, *HELD)]),
        fleet.readings(readings),
    )
    modelled, stated = lines(fleet, "owner = 'p'")
    line = node_line("nvidia_h100_sxm5_80", 1)
    assert sorted([ratio(modelled), ratio(stated)]) == pytest.approx([1.4, line.slope + line.fixed_w / 650], rel=1e-6)


def test_a_node_of_the_catalogue_is_taken_by_its_name(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 8, node="DGX H100"))
    fleet.ingest(fleet.jobs([job("1", "h1", 8, *HELD)], *DAY))
    idle = lines(fleet, "owner = 'idle'")[0]
    (source,) = fleet.rows("SELECT key_value FROM ref.setting WHERE key_name = 'node_overhead_source'")
    assert source["key_value"].startswith(f"8 nvidia_h100_sxm5_80: node {parts_of('DGX H100').name}")
    assert ratio(idle) == pytest.approx(node_overhead(parts_of("DGX H100"), IDLE_W[H100]).node_overhead, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"node": "DGX H100"}, "it holds 8 nvidia_h100_sxm5_80, not 4 nvidia_h100_sxm5_80"),
        ({"node": "DGX H1000"}, "DGX H1000"),
    ],
)
def test_a_node_that_does_not_fit_is_refused(tmp_path, changes, words):
    fleet = fleet_of(tmp_path, host("h1", 4, **changes))
    with pytest.raises(SiteFileError) as caught:
        fleet.ingest(fleet.jobs([job("1", "h1", 4, *HELD)], *DAY))
    assert words in str(caught.value)
    assert str(caught.value).endswith("State node_overhead.")
    assert "\n" not in str(caught.value)


def test_what_nothing_tells_is_asked_for(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 4, "secret"))
    fleet.top["undisclosed_chips"] = ["secret"]
    with pytest.raises(SiteFileError, match="host h1: the chip is not disclosed"):
        fleet.ingest(fleet.jobs([job("1", "h1", 4, *HELD)], *DAY))
    bare = fleet_of(tmp_path / "b")
    bare.folder.parent.mkdir()
    with pytest.raises(SiteFileError, match=r"sites\.a has jobs and no host"):
        bare.ingest(bare.jobs([job("1", None, 4, *HELD, chip=H100)], *DAY, site="a"))


def test_jobs_without_a_host_take_the_mean_of_their_site(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 8))
    fleet.ingest(fleet.jobs([job("1", None, 4, *HELD, chip=H100)], *DAY, site="a"))
    (line,) = lines(fleet, "owner = 'p'")
    assert ratio(line) == pytest.approx(node_line("nvidia_h100_sxm5_80", 8).value)


@pytest.mark.parametrize("name", ["cerebras_wse3", "intel_loihi2", "sambanova_sn40l"])
def test_the_overhead_of_a_site_is_not_put_on_a_system_at_its_plug(tmp_path, name):
    fleet = Fleet(tmp_path / "ledger", {"a": site([host("h1", 2, name), host("h2", 2)])})  # 1.25 for the site
    fleet.ingest(fleet.jobs([job("1", "h1", 2, *HELD), job("2", "h2", 2, *HELD)], *DAY))
    by_chip = {row["chip_id"]: ratio(row) for row in lines(fleet, "owner = 'p'")}
    assert by_chip == pytest.approx({name: 1.0, "nvidia_h100_sxm5_80": 1.25}, rel=1e-6)
    (power,) = fleet.rows(f"SELECT * FROM ref.chip_power WHERE chip_id = '{name}' AND chip_state = 'busy'")
    assert "system" in power["source"]


def test_an_overhead_stated_of_a_system_at_its_plug_is_refused(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 1, "cerebras_wse3", node_overhead=1.2))
    with pytest.raises(SiteFileError, match=r"at its plug.*remove its node_overhead of 1\.2") as caught:
        fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD)], *DAY))
    assert "\n" not in str(caught.value)


def test_an_unread_gpu_of_a_superchip_draws_no_module_and_its_processor_is_the_nodes(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 1, "nvidia_gh200_96"), host("h2", 1))
    fleet.ingest(fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h2", 1, *HELD)], *DAY))
    found = {row["chip_id"]: row for row in lines(fleet, "owner = 'p'")}
    module, board = found["nvidia_gh200_96"], found["nvidia_h100_sxm5_80"]
    assert module["energy_chip_kwh"] == pytest.approx(board["energy_chip_kwh"], rel=1e-6)
    assert module["energy_it_kwh"] > module["energy_chip_kwh"] + 0.05  # an idle Grace draws some 90 W


def test_chips_without_a_published_limit_have_energy_with_a_wide_range(tmp_path):
    fleet = fleet_of(tmp_path, host("h1", 4, "aws_trainium3"))
    fleet.ingest(fleet.jobs([job("1", "h1", 4, *HELD)], *DAY))
    (line,) = lines(fleet, "owner = 'p'")
    assert line["tier"] == "default"
    assert line["energy_chip_high_kwh"] > 2 * line["energy_chip_kwh"] > 4 * line["energy_chip_low_kwh"] > 0


@pytest.mark.parametrize("given", [{"chips": 2}, {"chips": 4, "chips_are": "dies"}])
def test_jobs_that_hold_dies_hold_packages(tmp_path, given):
    """A run on all dies of a host, by device, has the energy of its packages, read by any tool."""
    dies = given["chips"]
    described = {"pattern": "h1", "chip": "amd_mi250x"} | given
    fleet = Fleet(tmp_path / "ledger", {"a": site([described])})
    rows = [row for gpu in range(0, dies, dies // 2) for row in every_minute("h1", gpu, *HELD, w=480)]
    fleet.ingest(
        fleet.jobs([job("1", "h1", dies, *HELD)], *DAY),
        fleet.allocations([holds("1", "h1", gpu, *HELD) for gpu in range(dies)]),
        fleet.readings(rows),
    )
    assert fleet.total("chip_h", "owner", where="owner = 'p'") == pytest.approx({"p": 2.0})
    assert fleet.total("energy_chip_kwh", "owner", where="owner = 'p'") == pytest.approx({"p": 0.96})
    assert fleet.balance() == {"a": [0, 0]}
    assert {row["tier"] for row in fleet.rows("SELECT * FROM energy_hourly WHERE owner = 'p'")} == {"integrated"}


def test_a_job_on_one_die_holds_half_of_its_package(tmp_path):
    described = {"pattern": "h1", "chip": "amd_mi250x", "chips": 4, "chips_are": "dies"}
    fleet = Fleet(tmp_path / "ledger", {"a": site([described])})
    fleet.ingest(
        fleet.jobs([job("1", "h1", 1, *HELD), job("2", "h1", 1, *HELD, project="q")], *DAY),
        fleet.allocations([holds("1", "h1", 0, *HELD), holds("2", "h1", 1, *HELD)]),
        fleet.readings(every_minute("h1", 0, *HELD, w=480)),
    )
    shares = fleet.total("energy_chip_kwh", "owner", where="owner IN ('p', 'q')")
    assert shares == pytest.approx({"p": 0.24, "q": 0.24})
    assert fleet.balance() == {"a": [0, 0]}
