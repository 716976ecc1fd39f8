"""Where a number came from, how sure we are, and on which accounting basis it stands.

Units see dimensions and measurement boundaries. What they cannot see (GWP set, direct or lifecycle, location or market,
whole or amortised, consumed or withdrawn) is a field of :class:`Basis`, and combining two bases raises unless the
caller names the mix. Plain numbers here: the unit stands beside the range, in the quantity or the column.
"""

from energy.provenance.basis import (
    BASIS_VALUES,
    Basis,
    combine,
    combine_all,
    differences,
    factor_basis,
    read_mixes,
    unnamed_mixes,
)
from energy.provenance.ranges import Range
from energy.provenance.results import Provenance, merge
from energy.provenance.status import Source, Status, status_of, weakest

__all__ = [
    "BASIS_VALUES",
    "Basis",
    "Provenance",
    "Range",
    "Source",
    "Status",
    "combine",
    "combine_all",
    "differences",
    "factor_basis",
    "merge",
    "read_mixes",
    "status_of",
    "unnamed_mixes",
    "weakest",
]
