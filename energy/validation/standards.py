"""``standards``: worked examples of accounting standards through the public functions, to the printed digits.

Examples are wired by identifier: one without a function here is not answered. Nothing is fitted and nothing has a band.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from energy.errors import EnergyError, InputFileError
from energy.provenance import Basis
from energy.units import quantity as q
from energy.validation.statistics import Compared, Failure, Outcome

Inputs = Mapping[str, Any]
Answers = Mapping[str, float | str | list[float]]


def standards(path: Path) -> Outcome:
    """Return what our functions give for each worked example of a file like ``standards_examples.json``.

    Raises
    ------
    InputFileError
        The file is no list of examples.
    """
    compared: list[Compared] = []
    failures: list[Failure] = []
    for one in _examples(path):
        name = str(one["id"])
        if name not in WORKED:
            failures.append(Failure(name, "No function is wired to this example."))
            continue
        try:
            found = WORKED[name](one["inputs"])
        except (EnergyError, KeyError, TypeError) as error:
            failures.append(Failure(name, f"{type(error).__name__}: {error}"))
            continue
        _compare(one, found, compared, failures)
    return Outcome("standards", path.name, tuple(compared), tuple(failures))


def _examples(path: Path) -> list[dict[str, Any]]:
    try:
        examples = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputFileError(f"{path.name} is no JSON: {error}.") from None
    needed = {"id", "inputs", "expected"}
    if not (isinstance(examples, list) and all(isinstance(one, dict) and needed <= one.keys() for one in examples)):
        raise InputFileError(f"{path.name} is no list of examples with id, inputs, expected.")
    return examples


def _compare(one: Mapping[str, Any], found: Answers, compared: list[Compared], failures: list[Failure]) -> None:
    """Compare each expected figure; a text that differs, or a figure outside the tolerance, is a failure too."""
    name, tolerance = str(one["id"]), float(one.get("tolerance", 1e-6))
    for key, expected in one["expected"].items():
        row = f"{name}: {key}"
        if key not in found:
            failures.append(Failure(row, "Our functions give no such figure."))
            continue
        groups = (("standard", str(one.get("standard", ""))),)
        if isinstance(expected, str):
            same = float(found[key] == expected)
            compared.append(
                Compared(row, key, 1.0, same, None, None, None, None, groups, f"{found[key]}: 1 if the same")
            )
            continue
        wanted = expected if isinstance(expected, list) else [expected]
        ours: Any = found[key] if isinstance(expected, list) else [found[key]]
        for place, (value, own) in enumerate(zip(wanted, ours, strict=True)):
            label = row if len(wanted) == 1 else f"{row} {place + 1}"
            compared.append(Compared(label, key, float(value), float(own), None, None, None, None, groups))
            if abs(float(own) - float(value)) > tolerance * max(1.0, abs(float(value))):
                failures.append(Failure(label, f"{own:g} is not {value:g} within {tolerance:g}."))


def _embodied_share(given: Inputs) -> Answers:
    from energy.carbon.software import embodied_share

    life = q(given["lifespan_years"] * given["hours_per_year"], "h")
    whole = q(float(given["total_embodied_kg"]), "kgCO2e")
    share = embodied_share(whole, life, q(float(given["reserved_h"]), "h"), given["resource_share"])
    return {"embodied_gco2e": share.to("gCO2e").magnitude}


def _intensity(given: Inputs, units: float, unit: str) -> Any:
    from energy.carbon.software import software_carbon_intensity

    operational, embodied = q(float(given["operational_kg"]), "kgCO2e"), q(float(given["embodied_kg"]), "kgCO2e")
    return software_carbon_intensity(operational, embodied, q(units, unit), Basis(method="location"))


def _consumer(given: Inputs) -> Answers:
    score = _intensity(given, given["tokens"], "token")
    return {
        "kg_per_billion_tokens": score.to("kgCO2e/Gtoken").magnitude,
        "g_per_million_tokens": score.to("gCO2e/Mtoken").magnitude,
    }


def _provider(given: Inputs) -> Answers:
    return {"g_per_1e15_flop": _intensity(given, given["flop"], "FLOP").to("gCO2e/PFLOP").magnitude}


def _egrid(given: Inputs) -> Answers:
    from energy.account import scope_2_emissions
    from energy.carbon.greenhouse_gases import co2_equivalent
    from energy.units import as_purchased

    rates = {gas: q(given[f"{gas.lower()}_lb_per_mwh"], "lb/MWh_generation") for gas in ("CO2", "CH4", "N2O")}
    factor, _ = co2_equivalent(rates, str(given["gwp"]).split()[0])
    purchased = as_purchased(q(factor.to("gCO2e/kWh_generation").magnitude, "gCO2e/kWh_generation"))
    return {
        "co2e_lb_per_mwh": factor.to("lbCO2e/MWh_generation").magnitude,
        "kg_per_mwh": factor.to("kgCO2e/MWh_generation").magnitude,
        "tco2e": scope_2_emissions(q(float(given["mwh"]), "MWh_facility"), purchased).to("tCO2e").magnitude,
    }


def _market(given: Inputs) -> Answers:
    from energy.carbon.instruments import Instrument, Use, assess
    from energy.carbon.market import Site, market_based

    year, after, who = date(2018, 1, 1), date(2019, 1, 1), "the reporter"
    instruments = [
        Instrument(
            f"{one['type']}-{number}",
            "certificate",
            float(one["mwh"]),
            float(one["kg_per_mwh"]),
            year,
            after,
            one["market"],
            registry=one["type"],
            cancellation_id=f"{number}" if one["retired"] else "",
            beneficiary=who,
        )
        for number, one in enumerate(given["instruments"], 1)
    ]
    residual = float(given["residual_kg_per_mwh"])
    site = Site("the site", given["instruments"][0]["market"], float(given["load_mwh"]), residual, residual)
    found = market_based([site], assess(instruments, Use(who, year, after, frozenset({site.market}))))
    return {"market_based_t": found.market_kgco2e / 1000.0}


def _united_kingdom(given: Inputs) -> Answers:
    from energy.carbon.category3 import united_kingdom

    parts = united_kingdom(q(float(given["kwh"]), "kWh_facility"))
    tonnes = {name: part.to("tCO2e").magnitude for name, part in parts.items()}
    return {
        "cat3_td_loss_t": tonnes["losses"],
        "cat3_wtt_generation_t": tonnes["upstream"],
        "cat3_wtt_td_t": tonnes["upstream_of_losses"],
        "cat3_total_t": sum(tonnes.values()),
    }


def _losses(given: Inputs) -> Answers:
    from energy.carbon.category3 import losses_of_electricity, lost_of_output

    lost = lost_of_output(q(float(given["kwh"]), "kWh_facility"), given["loss_fraction_of_output"])
    factor = q(float(given["ef_kg_per_kwh"]), "kgCO2e/kWh_generation")
    return {"lost_kwh": lost.magnitude, "kg": losses_of_electricity(lost, factor).magnitude}


def _indicators(given: Inputs) -> Answers:
    from energy.facility import indicators

    site, it = q(float(given["e_dc_kwh"]), "kWh_facility"), q(float(given["e_it_kwh"]), "kWh_it")
    reused, renewable = q(float(given["e_reuse_kwh"]), "kWh_facility"), q(float(given["e_res_tot_kwh"]), "kWh_facility")
    water = q(float(given["w_in_m3"]), "m**3")
    return {
        "pue": indicators.power_usage_effectiveness(site, it).magnitude,
        "wue_l_per_kwh": indicators.water_usage_effectiveness(water, it).magnitude,
        "erf": indicators.energy_reuse_factor(reused, site).magnitude,
        "ref": indicators.renewable_energy_factor(renewable, site).magnitude,
    }


def _carbon_free(given: Inputs) -> Answers:
    import numpy as np

    from energy.supply.matching import matching

    load, contracted = (q(np.array(given[name], dtype=float), "kWh_facility") for name in ("load", "contracted_cfe"))
    found = matching(load, contracted, np.array(given["grid_cfe"], dtype=float))
    return {
        "hourly": found.score_by_hour.ravel().tolist(),
        "score": found.score,
        "excess": float(found.excess_facility_kwh.sum()),
        "annual_matching": found.annual_matching,
    }


def _regions(given: Inputs) -> Answers:
    from energy.carbon.matching import effective_intensity

    found: dict[str, float] = {
        name: effective_intensity(q(float(one["grid_g"]), "gCO2e/kWh_facility"), one["cfe"]).magnitude
        for name, one in given.items()
    }
    return {f"{name}_g": value for name, value in found.items()} | {
        "cleaner": min(found, key=lambda name: found[name]).replace("_", "-")
    }


WORKED: dict[str, Callable[[Inputs], Answers]] = {
    "sci_embodied_time_share": _embodied_share,
    "sci_ai_consumer_llm": _consumer,
    "sci_ai_provider_flop": _provider,
    "egrid_co2e_and_scope2": _egrid,
    "scope2_dual_residual": _market,
    "scope3_cat3_uk_2025": _united_kingdom,
    "td_loss_of_output": _losses,
    "eed_indicators": _indicators,
    "cfe_score_three_hours": _carbon_free,
    "gcp_region_cfe_effective": _regions,
}
