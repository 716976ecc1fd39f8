"""How a number is known, and the publication it was read in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from energy.errors import EnergyError, did_you_mean


class Status(StrEnum):
    """How a number is known, strongest first; a result has the weakest status of what made it.

    ``given``: the user or a meter said it. ``catalogue``: a published figure for just this thing. ``derived``: computed
    from others by a stated formula. ``estimate``: a model's answer for this case. ``default``: nobody said anything
    about this case, a typical figure stands in.
    """

    GIVEN = "given"
    CATALOGUE = "catalogue"
    DERIVED = "derived"
    ESTIMATE = "estimate"
    DEFAULT = "default"


_STRENGTH = {status: place for place, status in enumerate(Status)}


def weakest(statuses: Iterable[Status | str]) -> Status:
    """Return the status of a result that was made from numbers of these statuses: the weakest wins.

    Parameters
    ----------
    statuses : iterable of Status or str
        At least one.

    Returns
    -------
    Status
        The one that stands last in :class:`Status`.

    Raises
    ------
    EnergyError
        There is none, or a word is no status.

    Examples
    --------
    >>> weakest(["given", "default", "catalogue"]).value
    'default'

    """
    known = [status_of(status) for status in statuses]
    if not known:
        raise EnergyError("weakest() got no status: a result without any input has no status.")
    return max(known, key=_STRENGTH.__getitem__)


def status_of(word: Status | str) -> Status:
    """Return the status of a word.

    Raises
    ------
    EnergyError
        With the nearest words.

    Examples
    --------
    >>> status_of("given").value
    'given'

    """
    try:
        return Status(word)
    except ValueError:
        allowed = [status.value for status in Status]
        raise EnergyError(f"{word!r} is no status: use {', '.join(allowed)}.{did_you_mean(word, allowed)}") from None


@dataclass(frozen=True, slots=True)
class Source:
    """A publication, data set or file that a number was read in.

    Attributes
    ----------
    id : str
        Short key, unique in the catalogue.
    title, publisher : str
        As the publisher writes them.
    edition : str
        Version, issue or month of publication; empty where the source has none.
    year : int or None
        Year that the source was published; ``None`` where it does not say.
    licence : str
        SPDX id or the publisher's own words.
    where : str
        Page, table, address or commit where the value stands.
    recalled : bool
        Written from general knowledge and not seen in the source: shown as unverified, never the only ground of a test.
    """

    id: str
    title: str
    publisher: str = ""
    edition: str = ""
    year: int | None = None
    licence: str = ""
    where: str = ""
    recalled: bool = False

    def __post_init__(self) -> None:
        if not self.id or not self.title:
            raise EnergyError(f"A source needs an id and a title, got id={self.id!r}, title={self.title!r}.")

    def cited(self) -> str:
        """Return one line for people.

        Examples
        --------
        >>> Source("ar6", "AR6 WG1 chapter 7", publisher="IPCC", year=2021, where="table 7.15").cited()
        'IPCC, AR6 WG1 chapter 7, 2021, table 7.15'

        """
        parts = [self.publisher, self.title, self.edition, str(self.year or ""), self.where]
        return ", ".join(part for part in parts if part) + (" (recalled, unverified)" if self.recalled else "")
