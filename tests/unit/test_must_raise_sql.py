"""Ten mistakes that public tools make and that must raise here (the SQL side).

A product alone is legal in SQL; its name, a sum or a comparison decides. So each wrong query names its result, and
beside each stands the right one, to show that it is the mistake that is refused and not the form.
"""

import pytest

from energy.errors import SqlUnitError
from energy.ledger.unit_check import infer

CHIP_POWER = "FROM core.job AS job JOIN ref.chip_power AS power ON power.chip_id = job.chip_id"
WITH_FACTOR = (
    "FROM main.energy_hourly AS line JOIN core.factor_hour AS factor "
    "ON factor.site_id = line.site_id AND factor.hour_utc = line.hour_utc"
)
GENERATION = "FROM main.energy_hourly, ref.factor AS factor"
PRICES = "WITH price AS (SELECT 0.12 AS price_usd_per_kwh_facility, 0.10 AS price_eur_per_kwh_facility) "

CASES = {
    "1 PUE twice": (
        "SELECT energy_it_kwh * pue * pue AS energy_facility_kwh FROM energy_hourly",
        "twice",
        "SELECT energy_it_kwh * pue AS energy_facility_kwh FROM energy_hourly",
        "kWh_facility",
    ),
    "2 grid factor on IT energy": (
        f"SELECT energy_it_kwh * intensity_gco2e_per_kwh_facility / 1000 AS emissions_kgco2e {WITH_FACTOR}",
        "multiply by PUE",
        f"SELECT energy_facility_kwh * intensity_gco2e_per_kwh_facility / 1000 AS emissions_kgco2e {WITH_FACTOR}",
        "kgCO2e",
    ),
    "2 grid factor on IT energy, added": (
        "SELECT emissions_kgco2e + energy_it_kwh * 0.4 AS x FROM emission_lines JOIN energy_hourly USING (hour_utc)",
        "Cannot add kgCO2e and kWh_it",
        "SELECT emissions_kgco2e + emissions_low_kgco2e AS x FROM emission_lines",
        "kgCO2e",
    ),
    "3 board watts and wall watts": (
        f"WITH wall AS (SELECT 500.0 AS power_it_w) SELECT power_chip_w * chip_count + power_it_w {CHIP_POWER}, wall",
        "Cannot add W_chip and W_it",
        f"WITH fan AS (SELECT 50.0 AS fan_chip_w) SELECT power_chip_w * chip_count + fan_chip_w {CHIP_POWER}, fan",
        "W_chip",
    ),
    "4 WUE on facility energy": (
        "WITH water AS (SELECT 0.5 AS wue_l_per_kwh_it) "
        "SELECT sum(energy_facility_kwh * wue_l_per_kwh_it) AS water_l FROM energy_monthly, water",
        "water_l says L",
        "WITH water AS (SELECT 0.5 AS wue_l_per_kwh_it) "
        "SELECT sum(energy_it_kwh * wue_l_per_kwh_it) AS water_l FROM energy_monthly, water",
        "L",
    ),
    "5 PUE on chip energy": (
        "SELECT energy_chip_kwh * pue AS energy_facility_kwh FROM energy_hourly",
        "multiply by the node overhead",
        "SELECT energy_chip_kwh * node_overhead * pue AS energy_facility_kwh FROM energy_hourly",
        "kWh_facility",
    ),
    "6 kg and kgCO2e": (
        "WITH leak AS (SELECT 2.5 AS refrigerant_kg) SELECT emissions_kgco2e + refrigerant_kg FROM "
        "emission_lines, leak",
        "Cannot add kgCO2e and kg",
        "WITH leak AS (SELECT 2.5 AS refrigerant_kg, 1430.0 AS gwp_kgco2e_per_kg) "
        "SELECT emissions_kgco2e + refrigerant_kg * gwp_kgco2e_per_kg FROM emission_lines, leak",
        "kgCO2e",
    ),
    "7 power of one chip where the node's is wanted": (
        "SELECT power_chip_w AS node_power_chip_w FROM ref.chip_power",
        "multiply by the number of chips",
        f"SELECT power_chip_w * chip_count AS node_power_chip_w {CHIP_POWER}",
        "W_chip",
    ),
    "8 production factor on facility energy": (
        "SELECT energy_facility_kwh * factor.intensity_gco2e_per_kwh_generation / 1000 AS "
        f"emissions_kgco2e {GENERATION}",
        "as_purchased",
        "SELECT energy_facility_kwh * as_purchased(factor.intensity_gco2e_per_kwh_generation) / 1000 "
        f"AS emissions_kgco2e {GENERATION}",
        "kgCO2e",
    ),
    "9 USD and EUR": (
        f"{PRICES} SELECT energy_facility_kwh * price_usd_per_kwh_facility + energy_facility_kwh "
        "* price_eur_per_kwh_facility AS cost_usd FROM energy_monthly, price",
        "dated exchange rate",
        f"{PRICES}, rate AS (SELECT 1.08 AS rate_usd_per_eur) SELECT energy_facility_kwh * price_usd_per_kwh_facility "
        "+ energy_facility_kwh * price_eur_per_kwh_facility * rate_usd_per_eur AS cost_usd "
        "FROM energy_monthly, price, rate",
        "USD",
    ),
    "10 kWh as mwh without a factor": (
        "SELECT sum(energy_it_kwh) AS energy_it_mwh FROM energy_monthly",
        "divide by 1000",
        "SELECT sum(energy_it_kwh) / 1000 AS energy_it_mwh FROM energy_monthly",
        "MWh_it",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_mistake_is_refused(case):
    wrong, message, _, _ = CASES[case]
    with pytest.raises(SqlUnitError, match=message) as caught:
        infer(wrong)
    assert caught.value.line == 1
    assert caught.value.column > len("SELECT")


@pytest.mark.parametrize("case", CASES)
def test_the_right_form_passes(case):
    _, _, right, unit = CASES[case]
    (column,) = infer(right)
    assert (column.unit, column.status) == (unit, "checked")
