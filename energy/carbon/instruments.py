"""Contractual instruments: the eight quality criteria, each tested and listed.

GHG Protocol Scope 2 Guidance (2015), table 7.1. Clauses marked [K] rest on general knowledge of the guidance. An
instrument that fails one criterion is set aside as a whole; what is not stated is not passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from energy.errors import FactorError, did_you_mean

# In the order of the hierarchy [K, table 6.3]: what stands first covers first.
KINDS = ("certificate", "contract", "supplier rate")
CRITERIA = (
    "conveys the direct emission rate",
    "only instrument with the claim",
    "tracked and cancelled for the reporter",
    "vintage close to the consumption",
    "same market as the consumption",
    "supplier rate of delivered energy, with certificates",
    "all instruments of a direct contract go to the reporter",
    "residual mix known, or its absence disclosed",
)
PASSED, FAILED, NOT_APPLICABLE, NOT_STATED = "passed", "failed", "not applicable", "not stated"


@dataclass(frozen=True, slots=True)
class Instrument:
    """One certificate, contract or supplier's rate, as the reporter states it; None is "not stated".

    Attributes
    ----------
    instrument_id : str
        Identifier of the certificate or contract; the same one twice is used once.
    kind : str
        ``certificate`` (REC, GO, REGO, I-REC), ``contract`` (PPA), ``supplier rate``.
    energy_mwh : float
        What it covers, at the site's meter.
    intensity_gco2e_per_kwh : float
        Emission rate that it conveys: combustion, at the site's meter.
    vintage_from, vintage_to : date
        Half-open period of generation.
    market : str
        Market that it was issued in, such as ``US`` or ``AIB``.
    site_id : str
        Only site that it may cover; empty: any site of its market.
    conveys_rate, is_sole_claim, is_delivered, goes_to_reporter : bool or None
        Criteria 1, 2, 6 and 7, where no register settles them.
    registry, cancellation_id, beneficiary : str
        Where, under which number and for whom it was cancelled.
    """

    instrument_id: str
    kind: str
    energy_mwh: float
    intensity_gco2e_per_kwh: float
    vintage_from: date
    vintage_to: date
    market: str
    site_id: str = ""
    conveys_rate: bool | None = None
    is_sole_claim: bool | None = None
    is_delivered: bool | None = None
    goes_to_reporter: bool | None = None
    registry: str = ""
    cancellation_id: str = ""
    beneficiary: str = ""

    def __post_init__(self) -> None:
        name = f"Instrument {self.instrument_id!r}"
        if not self.instrument_id:
            raise FactorError("An instrument without identifier: name the certificate or contract.")
        if self.kind not in KINDS:
            raise FactorError(f"{name}: kind {self.kind!r}; use {', '.join(KINDS)}.{did_you_mean(self.kind, KINDS)}")
        if not (np.isfinite(self.energy_mwh) and self.energy_mwh > 0):
            raise FactorError(f"{name} covers {self.energy_mwh:g} MWh: give what was bought, above zero.")
        if not (np.isfinite(self.intensity_gco2e_per_kwh) and self.intensity_gco2e_per_kwh >= 0):
            raise FactorError(f"{name} has {self.intensity_gco2e_per_kwh:g} g/kWh: give its rate, zero or more.")
        if self.vintage_from >= self.vintage_to:
            raise FactorError(f"{name}: its vintage ends {self.vintage_to}, not after it begins {self.vintage_from}.")


@dataclass(frozen=True, slots=True)
class Use:
    """What instruments are tested against: who reports, when, and what is said of the residual mix.

    Attributes
    ----------
    reporter : str
        Beneficiary that cancellations must name.
    starts, ends : date
        Half-open period of consumption.
    markets : frozenset of str
        Of the sites that consume.
    residual_is_known : bool
        A residual mix of the market is used.
    absence_is_disclosed : bool
        Where none is known, the report says so.
    vintage_months : int
        How far outside the period a vintage may lie. None: within the calendar years of the period, as annual
        programmes take it [K].
    """

    reporter: str
    starts: date
    ends: date
    markets: frozenset[str]
    residual_is_known: bool = True
    absence_is_disclosed: bool = True
    vintage_months: int | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """An instrument and what each of the eight criteria says of it."""

    instrument: Instrument
    results: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def is_accepted(self) -> bool:
        """Whether no criterion failed and none that applies was left unstated."""
        return not {FAILED, NOT_STATED} & set(self.results)

    @property
    def failed(self) -> tuple[str, ...]:
        """The criteria that it does not meet, each with the reason."""
        return tuple(
            f"{number}. {name}: {remark}"
            for number, (name, result, remark) in enumerate(zip(CRITERIA, self.results, self.remarks, strict=True), 1)
            if result in (FAILED, NOT_STATED)
        )


def assess(instruments: Sequence[Instrument], use: Use) -> tuple[Assessment, ...]:
    """Test each instrument against the eight quality criteria.

    Parameters
    ----------
    instruments : sequence of Instrument
        In order; of two with the same identifier or cancellation the first is used.
    use : Use
        Reporter, period, markets, residual mix.

    Returns
    -------
    tuple of Assessment
        One per instrument, in the same order.

    Raises
    ------
    FactorError
        The period is empty, or no reporter is named.

    Examples
    --------
    >>> rec = Instrument("REC-1", "certificate", 6000.0, 0.0, date(2026, 1, 1), date(2027, 1, 1), "US",
    ...                  registry="M-RETS", cancellation_id="R-77", beneficiary="Example Ltd")
    >>> use = Use("Example Ltd", date(2026, 1, 1), date(2026, 4, 1), frozenset({"US"}))
    >>> assess([rec], use)[0].is_accepted
    True
    >>> assess([rec], Use("Another", use.starts, use.ends, use.markets))[0].failed
    ('3. tracked and cancelled for the reporter: cancelled for Example Ltd, the reporter is Another',)

    """
    if use.starts >= use.ends:
        raise FactorError(f"The period of consumption ends {use.ends}, not after it begins {use.starts}.")
    if not use.reporter.strip():
        raise FactorError("No reporter is named: criterion 3 asks for whom instruments were cancelled.")
    first_of: dict[tuple[str, str], int] = {}
    found = []
    for row, one in enumerate(instruments):
        names = [("identifier", one.instrument_id)]
        if one.cancellation_id:
            names.append(("cancellation", f"{one.registry}/{one.cancellation_id}"))
        earlier = [(what, name) for what, name in names if first_of.setdefault((what, name), row) != row]
        tests = [
            _conveys(one),
            _sole(one, earlier),
            _cancelled(one, use),
            _vintage(one, use),
            _market(one, use),
            _delivered(one),
            _exclusive(one),
            _residual(use),
        ]
        results, remarks = zip(*tests, strict=True)
        found.append(Assessment(one, tuple(results), tuple(remarks)))
    return tuple(found)


def set_aside(assessments: Sequence[Assessment]) -> Counter[str]:
    """Return how many instruments each criterion set aside.

    Examples
    --------
    >>> set_aside([])
    Counter()

    """
    return Counter(failed.partition(":")[0] for one in assessments for failed in one.failed)


def _stated(value: bool | None, yes: str, no: str, unknown: str) -> tuple[str, str]:
    if value is None:
        return NOT_STATED, unknown
    return (PASSED, yes) if value else (FAILED, no)


def _conveys(one: Instrument) -> tuple[str, str]:
    if one.kind == "certificate" and one.registry and one.conveys_rate is None:
        return PASSED, f"a certificate of {one.registry} carries the attributes of its generation"
    return _stated(
        one.conveys_rate, "stated", "it conveys no emission rate", "say whether it conveys the emission rate"
    )


def _sole(one: Instrument, earlier: list[tuple[str, str]]) -> tuple[str, str]:
    if earlier:
        what, name = earlier[0]
        return FAILED, f"{what} {name} is used already"
    if one.kind == "certificate" and one.registry and one.is_sole_claim is None:
        return PASSED, f"{one.registry} issues one certificate per unit of energy"
    return _stated(
        one.is_sole_claim, "stated", "another instrument carries the claim", "say whether it is the only claim"
    )


def _cancelled(one: Instrument, use: Use) -> tuple[str, str]:
    if not one.cancellation_id:
        if one.kind == "supplier rate" and one.is_delivered:
            return PASSED, "the supplier cancels certificates for its customers"
        return NOT_STATED, "no number of a cancellation, retirement or redemption"
    if one.beneficiary.strip().casefold() != use.reporter.strip().casefold():
        return FAILED, f"cancelled for {one.beneficiary or 'nobody'}, the reporter is {use.reporter}"
    return PASSED, f"{one.registry or 'register not named'} {one.cancellation_id}"


def _shifted(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    last = 28 if day.day > 28 else day.day
    return date(index // 12, index % 12 + 1, last)


def _vintage(one: Instrument, use: Use) -> tuple[str, str]:
    if use.vintage_months is None:
        last = use.ends.year if (use.ends.month, use.ends.day) != (1, 1) else use.ends.year - 1
        first_day, end_day = date(use.starts.year, 1, 1), date(last + 1, 1, 1)
        rule = f"the calendar year{'s' if last > use.starts.year else ''} of the consumption"
    else:
        first_day, end_day = _shifted(use.starts, -use.vintage_months), _shifted(use.ends, use.vintage_months)
        rule = f"{use.vintage_months} months around the consumption"
    if first_day <= one.vintage_from and one.vintage_to <= end_day:
        return PASSED, f"within {rule}"
    return FAILED, f"generated {one.vintage_from} to {one.vintage_to}, not within {rule} ({first_day} to {end_day})"


def _market(one: Instrument, use: Use) -> tuple[str, str]:
    if not one.market:
        return NOT_STATED, "its market is not named"
    if one.market not in use.markets:
        return FAILED, f"issued in {one.market}, consumed in {', '.join(sorted(use.markets)) or 'no market'}"
    return PASSED, one.market


def _delivered(one: Instrument) -> tuple[str, str]:
    if one.kind != "supplier rate":
        return NOT_APPLICABLE, "no supplier rate"
    unknown = "say whether the rate rests on delivered energy with certificates retired for the customers"
    return _stated(one.is_delivered, "stated", "certificates were sold apart: residual mix", unknown)


def _exclusive(one: Instrument) -> tuple[str, str]:
    if one.kind != "contract":
        return NOT_APPLICABLE, "no direct contract"
    return _stated(
        one.goes_to_reporter,
        "stated",
        "instruments of the contract went to others",
        "say whether all instruments of the contract go to the reporter",
    )


def _residual(use: Use) -> tuple[str, str]:
    if use.residual_is_known:
        return PASSED, "a residual mix is used"
    if use.absence_is_disclosed:
        return PASSED, "no residual mix is known, and the report says so"
    return FAILED, "no residual mix is known, and its absence is not disclosed"
