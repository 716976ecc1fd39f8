"""The accounting basis of a number: what units cannot see, and the rule that bases are never mixed unsaid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from energy.errors import BasisError, did_you_mean

# What each field of a basis may hold; None = not applicable.
BASIS_VALUES: dict[str, tuple[str, ...]] = {
    "gases": ("CO2 only", "CO2e"),
    "gwp_set": ("AR4", "AR5", "AR6", "unstated"),
    "boundary": ("direct", "lifecycle"),
    "attribution": ("production", "consumption"),
    "method": ("location", "market", "hourly", "marginal"),
    "embodied": ("whole", "amortised"),
    "water": ("consumed", "withdrawn"),
}
_BASIS_REMEDIES = {
    "gases": "take factors with the same gases",
    "gwp_set": "recompute one with the other's GWP set",
    "boundary": "take both direct or both lifecycle",
    "attribution": "take both production-based or both consumption-based",
    "method": "methods are never added: report them side by side",
    "embodied": "amortise the whole, or compare whole with whole",
    "water": "take both consumed or both withdrawn",
}
_JOIN = " + "


@dataclass(frozen=True, slots=True)
class Basis:
    """What units cannot see of a number; ``None`` = not applicable.

    Attributes
    ----------
    gases : str or None
        ``CO2 only``, or ``CO2e`` with the other gases in it.
    gwp_set : str or None
        ``AR4``, ``AR5``, ``AR6``; ``unstated`` where the publisher does not say; ``None`` where there is CO2 alone.
    boundary : str or None
        ``direct`` (combustion) or ``lifecycle`` (with upstream).
    attribution : str or None
        ``production`` (what a zone generates) or ``consumption`` (what it uses). Restating a factor as purchased
        changes its unit and not this: the plants behind it stay the same.
    method : str or None
        Of Scope 2: ``location``, ``market``, ``hourly``, ``marginal``.
    embodied : str or None
        ``whole`` or ``amortised``.
    water : str or None
        ``consumed`` or ``withdrawn``.
    mix : str or None
        The name that the caller gave to a mix; fields then may hold several values, such as ``AR5 + AR6``.
    """

    gases: str | None = None
    gwp_set: str | None = None
    boundary: str | None = None
    attribution: str | None = None
    method: str | None = None
    embodied: str | None = None
    water: str | None = None
    mix: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in BASIS_VALUES.items():
            value = getattr(self, name)
            parts = [] if value is None else value.split(_JOIN)
            for part in parts:
                if part not in allowed:
                    raise BasisError(
                        f"Basis.{name} is {value!r}: use {', '.join(allowed)}, or None.{did_you_mean(part, allowed)}"
                    )
            if len(parts) > 1 and not self.mix:
                raise BasisError(f"Basis.{name} is {value!r} without a name for the mix: set mix='…'.")

    def described(self) -> str:
        """Return the fields that apply, as one line for people; a mix is shown.

        Examples
        --------
        >>> Basis(gwp_set="AR5", boundary="lifecycle").described()
        'GWP set AR5, boundary lifecycle'

        """
        labels = {"gwp_set": "GWP set"}
        shown = [f"{labels.get(n, n)} {getattr(self, n)}" for n in BASIS_VALUES if getattr(self, n) is not None]
        return ", ".join(shown) + (f" (mix: {self.mix})" if self.mix else "")

    @property
    def words(self) -> str:
        """The fields that apply, shortest: what a column ``basis`` holds.

        Examples
        --------
        >>> Basis(gases="CO2e", gwp_set="unstated", boundary="lifecycle", attribution="production").words
        'lifecycle, production, CO2e, GWP set unstated'

        """
        gwp_set = "GWP set unstated" if self.gwp_set == "unstated" else self.gwp_set
        shown = (self.boundary, self.attribution, self.gases, gwp_set, self.method, self.embodied, self.water)
        return ", ".join(part for part in shown if part) + (f" (mix: {self.mix})" if self.mix else "")


def factor_basis(boundary: str | None, attribution: str | None, gases: str | None, gwp_set: str | None) -> Basis:
    """Return the basis of a grid factor from the words of its row.

    Parameters
    ----------
    boundary, attribution, gases, gwp_set : str or None
        As in the tables of factors; ``none``, ``None`` and an empty text = not applicable.

    Raises
    ------
    BasisError
        A word is not known.

    Examples
    --------
    >>> factor_basis("direct", "production", "CO2 only", "none").words
    'direct, production, CO2 only'

    """
    words = {"gases": gases, "gwp_set": gwp_set, "boundary": boundary, "attribution": attribution}
    return Basis(**{name: None if word in (None, "", "none") else word for name, word in words.items()})


def differences(bases: Iterable[Basis]) -> dict[str, tuple[str, ...]]:
    """Return the fields in which bases differ, with their values; a field that does not apply differs from nothing.

    Examples
    --------
    >>> differences([Basis(boundary="direct"), Basis(boundary="lifecycle", gases="CO2e"), Basis(gases="CO2e")])
    {'boundary': ('direct', 'lifecycle')}

    """
    held = list(bases)
    found: dict[str, tuple[str, ...]] = {}
    for name, allowed in BASIS_VALUES.items():
        present = {part for basis in held for part in (getattr(basis, name) or "").split(_JOIN)}
        values = tuple(value for value in allowed if value in present)
        if len(values) > 1:
            found[name] = values
    return found


def combine(a: Basis, b: Basis, *, mix: str | None = None) -> Basis:
    """Return the basis of a number that was made from two numbers.

    A field that applies to one side only is taken from it. Two different values raise, unless the caller names the mix;
    the result then shows both values and the name. A mix that was named earlier stays named.

    Parameters
    ----------
    a, b : Basis
        Bases of the two numbers.
    mix : str, optional
        Name of an intended mix, such as ``"factor only published with AR5"``.

    Returns
    -------
    Basis
        The combined basis.

    Raises
    ------
    BasisError
        A field differs and the mix was not named: field, both values and the remedy.

    Examples
    --------
    >>> combine(Basis(gwp_set="AR6"), Basis(boundary="direct")).described()
    'GWP set AR6, boundary direct'
    >>> combine(Basis(gwp_set="AR5"), Basis(gwp_set="AR6"), mix="supplier's factor").described()
    "GWP set AR5 + AR6 (mix: supplier's factor)"

    """
    values: dict[str, str | None] = {}
    differing = differences((a, b))
    mixed = False
    for name in BASIS_VALUES:
        left, right = getattr(a, name), getattr(b, name)
        values[name] = _JOIN.join(differing[name]) if name in differing else left or right
        # A part of a mix that has a name already brings nothing new.
        if name in differing and left and right and values[name] not in (left, right):
            if not mix:
                raise BasisError(
                    f"{name} differs: {left} and {right} cannot be combined; "
                    f"{_BASIS_REMEDIES[name]}, or name the mix with combine(a, b, mix='…')."
                )
            mixed = True
    names = dict.fromkeys([*(side.mix for side in (a, b) if side.mix), *([mix] if mixed and mix else [])])
    return Basis(**values, mix="; ".join(names) or None)


def read_mixes(text: str) -> tuple[frozenset[str], ...]:
    """Read the mixes that a setting names: values joined by ``+``, mixes apart by commas.

    Raises
    ------
    BasisError
        A word is no value of a basis, or a mix has one value only.

    Examples
    --------
    >>> [sorted(mix) for mix in read_mixes("direct+lifecycle, CO2+CO2e")]
    [['direct', 'lifecycle'], ['CO2 only', 'CO2e']]

    """
    known = {value.casefold(): value for allowed in BASIS_VALUES.values() for value in allowed} | {"co2": "CO2 only"}
    mixes = []
    for part in filter(None, (piece.strip() for piece in text.replace(";", ",").split(","))):
        words = [" ".join(word.split()).casefold() for word in part.split("+")]
        for word in words:
            if word not in known:
                raise BasisError(
                    f"The mix {part!r} names {word!r}: write values of a basis joined by +, as in direct+lifecycle "
                    f"({', '.join(known.values())}).{did_you_mean(word, known)}"
                )
        mix = frozenset(known[word] for word in words)
        if not any(len(mix & set(allowed)) > 1 for allowed in BASIS_VALUES.values()):
            raise BasisError(f"The mix {part!r} joins nothing that differs: write it as direct+lifecycle.")
        mixes.append(mix)
    return tuple(mixes)


def unnamed_mixes(bases: Iterable[Basis], named: str) -> tuple[str, ...]:
    """Return the mixes that adding numbers of these bases would make and a setting does not name; methods never mix.

    Parameters
    ----------
    bases : iterable of Basis
        Of the numbers to be added.
    named : str
        The setting, as :func:`read_mixes` takes it.

    Returns
    -------
    tuple of str
        As the setting would name them; empty where the numbers may be added.

    Examples
    --------
    >>> found = [factor_basis("direct", "production", "CO2e", "AR5"), factor_basis("lifecycle", None, "CO2e", "AR5")]
    >>> unnamed_mixes(found, ""), unnamed_mixes(found, "direct+lifecycle")
    (('direct+lifecycle',), ())

    """
    allowed = read_mixes(named)
    found = differences(bases)
    return tuple(
        "+".join(values)
        for name, values in found.items()
        if name == "method" or not any(mix.issuperset(values) for mix in allowed)
    )


def combine_all(bases: Iterable[Basis], named: str) -> Basis:
    """Return the basis of a sum over numbers of these bases.

    Raises
    ------
    BasisError
        They differ in what the setting ``basis_mix`` does not name.

    Examples
    --------
    >>> combine_all([Basis(boundary="direct"), Basis(boundary="lifecycle")], "direct+lifecycle").words
    'direct + lifecycle (mix: direct+lifecycle)'

    """
    held = list(bases)
    unnamed = unnamed_mixes(held, named)
    if unnamed:
        raise BasisError(
            f"Not added: the factors mix {', '.join(unnamed)}. Name the mix in basis_mix of site.yaml to add them: "
            f"basis_mix: {', '.join(unnamed)}"
        )
    whole = Basis()
    for basis in held:
        whole = combine(whole, basis, mix=named or None)
    return whole
