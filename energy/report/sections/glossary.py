"""Section 14: each measure in one sentence, and how to read the marks and ranges."""

from __future__ import annotations

from energy.report.facts import QuarterFacts
from energy.report.model import Prose, Section

NUMBER, ID, TITLE = 14, "glossary", "Notes and glossary"

_TERMS = (
    ("Chip energy", "Electricity at the board of the accelerator chip."),
    ("IT energy", "Electricity at the plug of the node: chip energy times node overhead."),
    ("Facility energy", "Electricity at the site's meter: IT energy times PUE; it includes cooling and power losses."),
    ("PUE", "Power usage effectiveness: facility energy over IT energy (ISO/IEC 30134-2)."),
    ("Node overhead", "Plug energy of a node over the board energy of its chips."),
    ("Chip-hour", "One chip for one hour, whether it computes or not."),
    ("Idle", "Chip-hours that no job held."),
    ("Unallocated", "Chip-hours or energy with no known owner."),
    ("Location-based", "Scope 2 by the average factor of the grid zone where the electricity is used."),
    (
        "Market-based",
        "Scope 2 by what was contracted: certificates, contracts, supplier rates, and for the rest the residual mix.",
    ),
    (
        "Hourly",
        "Scope 2 by factors of each hour, where the zone publishes them; shown beside, never in place of, both.",
    ),
    ("Residual mix", "The grid's mix less what others have claimed by certificates."),
    ("Direct, lifecycle", "Direct: combustion at the plant only. Lifecycle: with fuel supply and construction."),
    ("Tier", "How the energy is known: measured, integrated, modelled, default, missing; best first."),
    ("Status", "given: stated by the operator; catalogue; default; estimate; derived."),
    (
        "Range",
        "Low and high, meant to hold the true value with 95 % and not tested against meters; see section 3, Ranges. "
        "The ranges of factors are not included.",
    ),
    ("no data", "Not known; never 0."),
    ("not applicable", "The quantity cannot exist here."),
    ("not added", "The parts rest on different bases, and the setting basis_mix does not name their mix."),
    ("< (below)", "Not zero, and smaller than the last digit of its column."),
    ("CO₂e", "Carbon dioxide equivalent with the potentials of the factor's own set."),
)


def build(facts: QuarterFacts) -> Section:
    """Build the section; its terms are the same in every quarter."""
    del facts
    notes = (
        "Where a site's market has no contractual instrument or residual mix, its grid average stands in the "
        "market-based total, and section 7 says so.",
        "A factor's date of retrieval and its previous value are not recorded in this version.",
    )
    return Section(
        NUMBER,
        ID,
        TITLE,
        "Every measure in one sentence.",
        (Prose("glossary.terms", terms=_TERMS), Prose("glossary.notes", "Notes", notes)),
    )
