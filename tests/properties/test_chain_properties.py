"""The chain of account.py and the chain of the SQL views are one: equal on random rows, exact in their sums."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from energy import account
from energy.errors import UnitError
from energy.ledger import build
from energy.schema import FIELDS, TABLES
from energy.schema.ddl import create_table
from energy.units import quantity, scale

VIEWS = [table for table in TABLES.values() if table.kind == "view"]
HOURS = [datetime(2026, 3, 31, 20, tzinfo=UTC) + timedelta(hours=shift) for shift in range(6)]  # over a quarter's edge
SITES = ("a", "b", "c")
BOUGHT = {"a": 1.0, "b": 0.25, "c": 0.7}  # share of the grid in the energy of each site
WUE_L_PER_KWH = {"b": (0.3, 0.5, 0.8)}
GRID_WATER_L_PER_KWH = {"b": (2.0, 3.0, 4.0), "c": (0.0, 1.0, 1.5)}
METHODS = {"a": ("location", "market", "hourly"), "b": ("location", "market"), "c": ("location", "market")}
TIERS = ("measured", "integrated", "modelled", "default")
ENDS = ("", "_low", "_high")

energies = st.one_of(st.just(0.0), st.floats(1e-6, 1e5))
chip_hours = st.floats(0, 1e4).map(lambda value: round(value, 6))
ratios = st.floats(1.0, 3.0)
factors = st.one_of(st.just(0.0), st.floats(0.01, 1500))


def in_order(values):
    return tuple(sorted(values))


@st.composite
def fleets(draw, most=12):
    """Draw PUE by site and hour, factors by site, hour and method, and lines of energy; some energies are not known."""
    pue = {(site, hour): in_order(draw(st.tuples(ratios, ratios, ratios))) for site in SITES for hour in HOURS[::3]}
    factor = {(site, method): draw(factors) for site in SITES for method in METHODS[site]}
    lines = []
    for number in range(draw(st.integers(1, most))):
        kwh = draw(st.one_of(st.none(), st.tuples(energies, energies, energies).map(in_order)))
        kind, owner = draw(st.sampled_from([("project", "p"), ("project", "q"), ("idle", "idle")]))
        lines.append(
            {
                "hour_utc": draw(st.sampled_from(HOURS)),
                "site_id": draw(st.sampled_from(SITES)),
                "host": f"h{number}",
                "owner_kind": kind,
                "owner": owner,
                "job_key": None if kind == "idle" else draw(st.integers(1, 3)),
                "chip_id": draw(st.sampled_from([None, "x", "y"])),
                "tier": "missing" if kwh is None else draw(st.sampled_from(TIERS)),
                "attribution": draw(st.sampled_from(["device", "host share", "job", "none"])),
                "chip_h": draw(chip_hours),
                "energy_chip_low_kwh": None if kwh is None else kwh[0],
                "energy_chip_kwh": None if kwh is None else kwh[1],
                "energy_chip_high_kwh": None if kwh is None else kwh[2],
                "overhead": in_order(draw(st.tuples(ratios, ratios, ratios))),
            }
        )
    return pue, factor, lines


@pytest.fixture(scope="module")
def connection():
    """A ledger in memory with the real tables and views."""
    with duckdb.connect() as opened:
        opened.execute("SET TimeZone = 'UTC'")
        for layer in ("raw", "ref", "core"):
            opened.execute(f"CREATE SCHEMA {layer}")
        for table in TABLES.values():
            if table.kind == "table":
                opened.execute(create_table(table))
        folder = Path(build.__file__).parent / "sql"
        for view in VIEWS:
            opened.execute(f"CREATE VIEW {view.full_name} AS {(folder / f'{view.name}.sql').read_text()}")
        yield opened


def rows(connection, sql):
    cursor = connection.execute(sql)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]


def insert(connection, table, *records):
    marks = ", ".join([f"({', '.join('?' * len(records[0]))})"] * len(records))
    values = [value for record in records for value in record.values()]
    connection.execute(f"INSERT INTO {table} ({', '.join(records[0])}) VALUES {marks}", values)


def load(connection, fleet):
    """Replace the core rows by those of a fleet; the same hours, sites and jobs each time."""
    pue, factor, lines = fleet
    for name in ("energy_hour", "pue_hour", "supply_hour", "wue_hour", "grid_water_hour", "factor_hour"):
        connection.execute(f"DELETE FROM core.{name}")
    if not rows(connection, "SELECT * FROM ref.calendar_hour"):
        for hour in HOURS:
            insert(
                connection,
                "ref.calendar_hour",
                {
                    "hour_utc": hour,
                    "local_date": f"{hour:%Y-%m-%d}",
                    "local_hour": hour.hour,
                    "month": f"{hour:%Y-%m}",
                    "quarter": f"{hour.year}Q{(hour.month + 2) // 3}",
                    "year": hour.year,
                },
            )
        for key in (1, 2, 3):
            job = {"job_key": key, "batch_id": 1, "row_number": key, "job_id": f"j{key}", "site_id": "a"}
            insert(
                connection,
                "core.job",
                job | {"start_utc": HOURS[0], "counted_end_utc": HOURS[-1], "chip_count": 1.0, "project": "p"},
            )
        for method in ("location", "market", "hourly"):
            about = dict.fromkeys(
                ("basis", "source", "edition", "licence", "publisher", "gwp_set", "gases", "boundary"), "-"
            )
            insert(
                connection,
                "ref.factor",
                {"factor_id": method, "factor_kind": "location", "status": "catalogue", "zone_id": "-"}
                | {"factor_year": 2023, "factor_attribution": "production"}
                | about,
            )
    insert(
        connection,
        "core.pue_hour",
        *(
            {"site_id": site, "hour_utc": start + timedelta(hours=shift), "source": "t", "status": "given"}
            | dict(zip(("pue_low", "pue", "pue_high"), values, strict=True))
            for (site, start), values in pue.items()
            for shift in range(3)
        ),
    )
    insert(
        connection,
        "core.supply_hour",
        *(
            {"site_id": site, "hour_utc": hour, "grid_share": BOUGHT[site], "source": "t", "status": "given"}
            for site in SITES
            for hour in HOURS
        ),
    )
    for table, name, values in (
        ("wue_hour", "wue_consumed{}_l_per_kwh_it", WUE_L_PER_KWH),
        ("grid_water_hour", "grid_water_consumed{}_l_per_kwh_facility", GRID_WATER_L_PER_KWH),
    ):
        insert(
            connection,
            f"core.{table}",
            *(
                {"site_id": site, "hour_utc": hour, "source": "t", "status": "given"}
                | {name.format(end): value for end, value in zip(("_low", "", "_high"), ends, strict=True)}
                for site, ends in values.items()
                for hour in HOURS
            ),
        )
    insert(
        connection,
        "core.factor_hour",
        *(
            {"site_id": site, "hour_utc": hour, "method": method, "factor_id": method}
            | {"intensity_gco2e_per_kwh_facility": value, "year_policy": "exact", "year_note": "-"}
            for (site, method), value in factor.items()
            for hour in HOURS
        ),
    )
    names = ("node_overhead_low", "node_overhead", "node_overhead_high")
    insert(
        connection,
        "core.energy_hour",
        *(
            {key: value for key, value in line.items() if key != "overhead"}
            | dict(zip(names, line["overhead"], strict=True))
            | {"node_overhead_status": "given"}
            for line in lines
        ),
    )


def magnitude(amount, unit):
    return amount.to(unit).magnitude


def close(found, expected):
    """Both sides of one product; the view's is cut to twelve decimals."""
    return math.isclose(float(found), expected, rel_tol=1e-12, abs_tol=1e-12)


@settings(deadline=None, max_examples=30)
@given(fleet=fleets())
def test_views_and_account_multiply_alike(connection, fleet):
    load(connection, fleet)
    bounds = {
        (row["site_id"], row["hour_utc"]): row for row in rows(connection, "SELECT * FROM core.pue_hour")
    }  # the view shows the PUE, not its ends
    seen = rows(
        connection,
        "SELECT line.*, core.node_overhead_low, core.node_overhead_high FROM energy_hourly AS line "
        "JOIN core.energy_hour AS core USING (host)",
    )
    assert len(seen) == len(fleet[2])
    for line in seen:
        pue = bounds[line["site_id"], line["hour_utc"]]
        for end in ENDS:
            chip = line[f"energy_chip{end}_kwh"]
            if chip is None:
                assert line[f"energy_it{end}_kwh"] is None
                assert line[f"energy_facility{end}_kwh"] is None
                continue
            node = account.node_energy(quantity(float(chip), "kWh_chip"), float(line[f"node_overhead{end}"]))
            meter = account.meter_energy(node, float(pue[f"pue{end}"]))
            assert close(line[f"energy_it{end}_kwh"], magnitude(node, "kWh_it"))
            assert close(line[f"energy_facility{end}_kwh"], magnitude(meter, "kWh_facility"))
    for line in rows(connection, "SELECT * FROM emission_lines"):
        for end in ENDS:
            meter = line[f"energy_facility{end}_kwh"]
            if meter is None:
                assert line[f"emissions{end}_kgco2e"] is None
                continue
            expected = account.scope_2_emissions(
                account.purchased_energy(quantity(float(meter), "kWh_facility"), BOUGHT[line["site_id"]]),
                quantity(line["intensity_gco2e_per_kwh_facility"], "gCO2e/kWh_facility"),
            )
            assert close(line[f"emissions{end}_kgco2e"], magnitude(expected, "kgCO2e"))


@settings(deadline=None, max_examples=30)
@given(fleet=fleets())
def test_water_is_of_it_energy_on_the_site_and_of_purchased_energy_off_it(connection, fleet):
    load(connection, fleet)
    energy = {row["host"]: row for row in rows(connection, "SELECT * FROM energy_hourly")}
    seen = rows(connection, "SELECT * FROM water_hourly")
    assert len(seen) == len(energy)
    places = {"_low": 0, "": 1, "_high": 2}
    for line in seen:
        source, site = energy[line["host"]], line["site_id"]
        for end, place in places.items():
            it, meter = source[f"energy_it{end}_kwh"], source[f"energy_facility{end}_kwh"]
            on_site, off_site = line[f"water_consumed{end}_l"], line[f"water_off_site_consumed{end}_l"]
            assert line[f"water_withdrawn{end}_l"] is None  # no figure of it is stated
            assert (on_site is None) == (it is None or site not in WUE_L_PER_KWH)
            assert (off_site is None) == (meter is None or site not in GRID_WATER_L_PER_KWH)
            if on_site is not None:
                wue = quantity(WUE_L_PER_KWH[site][place], "L/kWh_it")
                assert close(on_site, magnitude(quantity(float(it), "kWh_it") * wue, "L"))
            if off_site is not None:
                bought = account.purchased_energy(quantity(float(meter), "kWh_facility"), BOUGHT[site])
                assert close(
                    off_site, magnitude(bought * quantity(GRID_WATER_L_PER_KWH[site][place], "L/kWh_facility"), "L")
                )
    names = [f"water_{kind}{end}_l" for kind in ("consumed", "off_site_consumed") for end in ENDS]
    columns = ", ".join(f"sum({name})" for name in names)
    assert rows(connection, f"SELECT {columns} FROM water_monthly") == rows(
        connection, f"SELECT {columns} FROM water_hourly"
    )


@settings(deadline=None, max_examples=30)
@given(fleet=fleets())
def test_views_lose_no_row_and_double_none(connection, fleet):
    load(connection, fleet)
    _, _, lines = fleet
    assert rows(connection, "SELECT count(*) AS n FROM energy_hourly") == [{"n": len(lines)}]
    per_method = sum(len(METHODS[line["site_id"]]) for line in lines)
    assert rows(connection, "SELECT count(*) AS n FROM emission_lines") == [{"n": per_method}]
    sums = "sum(chip_h) AS h, sum(energy_chip_kwh) AS chip"
    (core,) = rows(connection, f"SELECT {sums} FROM core.energy_hour")
    for view in ("energy_hourly", "energy_monthly", "coverage"):
        assert rows(connection, f"SELECT {sums} FROM {view}") == [core], view
    (of_jobs,) = rows(connection, f"SELECT {sums} FROM core.energy_hour WHERE job_key IS NOT NULL")
    assert rows(connection, f"SELECT {sums} FROM jobs") == [of_jobs]
    columns = ", ".join(f"sum(energy_{where}{end}_kwh)" for where in ("chip", "it", "facility") for end in ENDS)
    assert rows(connection, f"SELECT {columns} FROM energy_monthly") == rows(
        connection, f"SELECT {columns} FROM energy_hourly"
    )


@settings(deadline=None, max_examples=30)
@given(fleet=fleets())
def test_sums_of_emissions_are_equal_to_the_last_digit(connection, fleet):
    load(connection, fleet)
    columns = ", ".join(
        [f"sum(emissions{end}_kgco2e)" for end in ENDS] + [f"sum(energy_facility{end}_kwh)" for end in ENDS]
    )
    group = "quarter, site_id, scope, category, method"
    expected = rows(connection, f"SELECT {group}, {columns} FROM emission_lines GROUP BY {group} ORDER BY {group}")
    for view in ("emissions_hourly", "emissions_monthly", "emissions_quarterly"):
        found = rows(connection, f"SELECT {group}, {columns} FROM {view} GROUP BY {group} ORDER BY {group}")
        assert found == expected, view
        assert all(isinstance(value, Decimal | None) for row in found for value in list(row.values())[5:])
    used = rows(connection, "SELECT method, sum(emissions_kgco2e) AS kg FROM factors_used GROUP BY ALL ORDER BY 1")
    assert used == rows(
        connection, "SELECT method, sum(emissions_kgco2e) AS kg FROM emission_lines GROUP BY ALL ORDER BY 1"
    )


@settings(deadline=None, max_examples=30)
@given(fleet=fleets())
def test_each_method_stands_over_the_same_energy(connection, fleet):
    load(connection, fleet)
    by_method = defaultdict(dict)
    for row in rows(
        connection,
        "SELECT site_id, method, sum(chip_h) AS h, sum(energy_facility_kwh) AS kwh FROM emissions_monthly GROUP BY ALL",
    ):
        by_method[row["site_id"]][row["method"]] = (row["h"], row["kwh"])
    for site, values in by_method.items():
        assert set(values) == set(METHODS[site])
        assert len(set(values.values())) == 1
    # whoever adds over methods counts each kWh twice: the declarations say so
    for view in VIEWS:
        if any(column.field.name == "method" for column in view.columns):
            for column in view.columns:
                if column.field.additive not in ("no", "not a number"):
                    assert column.field.additive == "within method", (view.name, column.field.name)


@settings(deadline=None, max_examples=25)
@given(fleet=fleets(), step=st.floats(0.001, 0.5))
@pytest.mark.parametrize("what", ["pue", "overhead", "factor"])
def test_more_overhead_pue_or_factor_is_never_less(connection, fleet, step, what):
    pue, factor, lines = fleet
    load(connection, fleet)
    sums = "SELECT method, sum(energy_facility_kwh) AS kwh, sum(emissions_kgco2e) AS kg FROM emission_lines"
    before = rows(connection, f"{sums} GROUP BY 1 ORDER BY 1")
    if what == "pue":
        pue = {key: tuple(value + step for value in values) for key, values in pue.items()}
    elif what == "overhead":
        lines = [line | {"overhead": tuple(value + step for value in line["overhead"])} for line in lines]
    else:
        factor = {key: value + step for key, value in factor.items()}
    load(connection, (pue, factor, lines))
    after = rows(connection, f"{sums} GROUP BY 1 ORDER BY 1")
    grown = any((line["energy_chip_kwh"] or 0) > 0.001 for line in lines)
    for low, high in zip(before, after, strict=True):
        if low["kwh"] is None:
            assert high["kwh"] is None
            continue
        assert high["kwh"] >= low["kwh"]
        assert high["kg"] >= low["kg"]
    if grown:
        assert after != before


@settings(deadline=None, max_examples=25)
@given(fleet=fleets())
def test_nothing_in_nothing_out_and_ranges_stay_in_order(connection, fleet):
    pue, factor, lines = fleet
    load(connection, fleet)
    for view in ("energy_hourly", "energy_monthly", "emission_lines", "emissions_monthly"):
        for row in rows(connection, f"SELECT * FROM {view}"):
            for name in ("energy_chip", "energy_it", "energy_facility", "emissions"):
                unit = "kgco2e" if name == "emissions" else "kwh"
                if f"{name}_{unit}" in row:
                    low, value, high = (row[f"{name}{end}_{unit}"] for end in ("_low", "", "_high"))
                    assert (value is None) == (low is None) == (high is None)
                    assert value is None or 0 <= low <= value <= high
    nothing = [
        line | {f"energy_chip{end}_kwh": None if line["energy_chip_kwh"] is None else 0.0 for end in ENDS}
        for line in lines
    ]
    load(connection, (pue, factor, nothing))
    for row in rows(
        connection, "SELECT energy_facility_high_kwh AS kwh, emissions_high_kgco2e AS kg FROM emission_lines"
    ):
        assert row["kwh"] in (None, 0)
        assert row["kg"] in (None, 0)


KERNELS = [
    (account.board_energy, {"power": "W_chip/chip", "chips": "chip", "duration": "d"}, "MWh_chip"),
    (account.node_energy, {"energy_chip": "MJ_chip", "node_overhead": "kWh_it/kWh_chip"}, "kWh_it"),
    (account.meter_energy, {"energy_it": "GWh_it", "pue": "kWh_facility/kWh_it"}, "J_facility"),
    (account.scope_2_emissions, {"energy_facility": "MWh_facility", "intensity": "gCO2e/kWh_facility"}, "tCO2e"),
]


@pytest.mark.parametrize(("kernel", "units", "result"), KERNELS, ids=lambda value: getattr(value, "__name__", None))
@given(values=st.tuples(*[st.floats(0.01, 1e6)] * 3))
def test_a_kernel_ends_in_its_declared_unit_whatever_units_it_is_given(kernel, units, result, values):
    arguments = {name: quantity(value, unit) for (name, unit), value in zip(units.items(), values, strict=False)}
    found = kernel(**arguments)
    assert str(found.units) == str(quantity(1.0, kernel.result_unit).units)
    plain = kernel.kernel(*(argument.to(kernel.argument_units[name]).magnitude for name, argument in arguments.items()))
    assert math.isclose(magnitude(found, result), plain * scale(kernel.result_unit, result), rel_tol=1e-12)


@pytest.mark.parametrize(("kernel", "units", "result"), KERNELS, ids=lambda value: getattr(value, "__name__", None))
def test_a_kernel_refuses_energy_of_another_boundary(kernel, units, result):
    del result
    first, *others = units
    at_plant = {"power": "W_it/chip"}.get(first, "kWh_generation")
    arguments = {first: quantity(1.0, at_plant)} | {name: quantity(1.0, units[name]) for name in others}
    with pytest.raises(UnitError):
        kernel(**arguments)


@given(st.floats(1, 1500), st.floats(0.1, 1e4), st.floats(0.001, 1e4), ratios, ratios, factors)
def test_the_chain_is_the_product_of_its_steps(watts, chips, hours, overhead, pue, intensity):
    steps = account.chain(
        quantity(watts, "W_chip/chip"),
        quantity(chips, "chip"),
        quantity(hours, "h"),
        overhead,
        pue,
        {
            "location": quantity(intensity, "gCO2e/kWh_facility"),
            "market": quantity(2 * intensity, "gCO2e/kWh_facility"),
        },
    )
    board = watts * chips * hours / 1000
    assert math.isclose(magnitude(steps["energy_chip"], "kWh_chip"), board, rel_tol=1e-12)
    assert math.isclose(magnitude(steps["energy_facility"], "kWh_facility"), board * overhead * pue, rel_tol=1e-12)
    location = magnitude(steps["emissions_location"], "kgCO2e")
    assert math.isclose(location, board * overhead * pue * intensity / 1000, rel_tol=1e-12)
    assert math.isclose(magnitude(steps["emissions_market"], "kgCO2e"), 2 * location, rel_tol=1e-12)


def test_every_sum_of_the_ledger_is_a_decimal_or_a_whole_number():
    """Sums of floating point numbers depend on the order of the threads."""
    for table in TABLES.values():
        for column in table.columns:
            if table.layer == "main" and column.field.additive in ("yes", "within method"):
                assert column.field.type in ("DECIMAL(38,12)", "BIGINT"), (table.name, column.field.name)
    assert FIELDS["emissions_kgco2e"].additive == "within method"
