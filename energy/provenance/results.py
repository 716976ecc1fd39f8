"""What stands behind one result, and how it combines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from energy.errors import EnergyError
from energy.provenance.basis import Basis, combine
from energy.provenance.status import Status, status_of, weakest


@dataclass(frozen=True, slots=True)
class Provenance:
    """What stands behind one result, beside its unit and range.

    Attributes
    ----------
    status : Status
        Weakest status of what made it.
    factors : tuple of str
        Ids of the factors that made it, in order of use.
    basis : Basis
        Accounting basis.
    recalled : bool
        Something in it was written from general knowledge and is not verified.
    notes : tuple of str
        Lines such as "boundary from the field" or "as purchased: …".
    """

    status: Status
    factors: tuple[str, ...] = ()
    basis: Basis = field(default_factory=Basis)
    recalled: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", status_of(self.status))

    def noted(self, *lines: str) -> Provenance:
        """Return the same provenance with more notes.

        Examples
        --------
        >>> Provenance(Status.GIVEN).noted("CO2 only").notes
        ('CO2 only',)

        """
        return replace(self, notes=tuple(dict.fromkeys([*self.notes, *lines])))


def merge(parts: Iterable[Provenance], *, mix: str | None = None) -> Provenance:
    """Return the provenance of a result made from several numbers.

    Status: the weakest. Factors and notes: each once, in order. Recalled: if any part is. Basis: :func:`combine`.

    Parameters
    ----------
    parts : iterable of Provenance
        At least one.
    mix : str, optional
        Name of an intended mix of bases.

    Returns
    -------
    Provenance
        Of the result.

    Raises
    ------
    BasisError
        Bases differ and the mix was not named.
    EnergyError
        There are no parts.

    Examples
    --------
    >>> made = merge([Provenance(Status.GIVEN), Provenance(Status.CATALOGUE, factors=("grid-de-2025",))])
    >>> made.status.value, made.factors
    ('catalogue', ('grid-de-2025',))

    """
    items = list(parts)
    if not items:
        raise EnergyError("merge() got no provenance: a result without any input has none.")
    basis = items[0].basis
    for item in items[1:]:
        basis = combine(basis, item.basis, mix=mix)
    return Provenance(
        weakest(item.status for item in items),
        tuple(dict.fromkeys(name for item in items for name in item.factors)),
        basis,
        any(item.recalled for item in items),
        tuple(dict.fromkeys(line for item in items for line in item.notes)),
    )
