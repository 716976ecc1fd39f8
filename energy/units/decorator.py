"""The boundary of a kernel: quantities outside, plain arrays in declared units inside."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, cast, overload

import numpy as np
import pint

from energy.errors import UnitError
from energy.units.registry import (
    Quantity,
    is_offset,
    parse_unit,
    same_dimension,
    scale,
    takes_bare_number,
    unit_text,
)
from energy.units.steps import missing_step
from energy.units.words import words

P = ParamSpec("P")
R = TypeVar("R")
Out = TypeVar("Out", covariant=True)


class UnitFunction(Protocol, Generic[P, R, Out]):
    """A function of quantities; ``kernel`` is the same function of plain numbers in the declared units."""

    kernel: Callable[P, R]
    result_unit: str | tuple[str | None, ...] | None
    argument_units: dict[str, str]
    __name__: str

    def __call__(self, *args: Any, **kwargs: Any) -> Out:
        """Take quantities, return quantities."""


class _Argument:
    """One declared argument: a table {unit seen: factor}, filled as units are met; None stands for factor 1."""

    __slots__ = ("bare", "factors", "function", "name", "optional", "unit")

    def __init__(self, function: str, name: str, unit: str, *, optional: bool) -> None:
        self.function = function
        self.name = name
        self.unit = parse_unit(unit)
        self.bare = takes_bare_number(self.unit)
        self.optional = optional
        self.factors: dict[Any, float | None] = {self.unit._units: None}

    def __call__(self, value: Any) -> Any:
        # pint's public `units` builds an object at 0.8 µs; the container behind it is the key and costs nothing.
        try:
            magnitude = value._magnitude
            factor = self.factors[value._units]
        except (AttributeError, KeyError):
            return self._first_time(value)
        return magnitude if factor is None else magnitude * factor

    def _first_time(self, value: Any) -> Any:
        """Handle a unit that was not seen before, or a value without unit."""
        if not isinstance(value, Quantity):
            return self._without_unit(value)
        if not same_dimension(value.units, self.unit) or is_offset(value.units) != is_offset(self.unit):
            raise UnitError(f"{self._place()}, got {words(value.units) or 'a plain ratio'}: {self._step(value)}.")
        factor = scale(value.units, self.unit)
        self.factors[value._units] = None if factor == 1.0 else factor
        return self(value)

    def _step(self, value: Quantity) -> str:
        if is_offset(value.units) or is_offset(self.unit):
            return "a temperature is given in degC, a difference of temperatures in K"
        return missing_step(value.units, self.unit) or "state it in the declared unit"

    def _place(self) -> str:
        return f"{self.function}(): {self.name} takes {words(self.unit) or 'a plain ratio or count'}"

    def _without_unit(self, value: Any) -> Any:
        if value is None and self.optional:
            return None
        if isinstance(value, pint.Quantity):
            raise UnitError(f"{self._place()}, got a quantity of another pint registry: use units.quantity().")
        is_number = isinstance(value, numbers.Real | np.ndarray) and not isinstance(value, bool | np.bool_)
        if is_number and self.bare and not (isinstance(value, np.ndarray) and value.dtype.kind not in "iuf"):
            return value
        if is_number:
            raise UnitError(
                f"{self._place()}, got a number without unit: use units.quantity(…, {unit_text(self.unit)!r})."
            )
        kind = type(value).__name__
        raise UnitError(
            f"{self._place()}, got {kind}: read texts with units.read, give arrays as units.quantity(array, …)."
        )


def _plain_only(function: str, name: str) -> Callable[[Any], Any]:
    """Return the check of an undeclared argument: a quantity there would meet plain numbers inside the kernel."""

    def check(value: Any) -> Any:
        if isinstance(value, Quantity):
            raise UnitError(f"{function}(): {name} takes no quantity, got {words(value.units)}: pass the plain value.")
        return value

    return check


def _checks_of(function: Callable[..., Any], argument_units: dict[str, str]) -> dict[str, Callable[[Any], Any]]:
    """Return one check per parameter, in order."""
    name = getattr(function, "__name__", "function")
    checks: dict[str, Callable[[Any], Any]] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise UnitError(f"{name}(): takes() needs named parameters, got *{parameter.name}.")
        if parameter.name in argument_units:
            optional = parameter.default is None
            unit = argument_units[parameter.name]
            checks[parameter.name] = _Argument(name, parameter.name, unit, optional=optional)
        else:
            checks[parameter.name] = _plain_only(name, parameter.name)
    unknown = sorted(set(argument_units) - set(checks))
    if unknown:
        raise UnitError(f"{name}(): takes() declares a unit for {', '.join(unknown)}, which is not a parameter.")
    return checks


def _wrapping(result_unit: str | tuple[str | None, ...] | None) -> Callable[[Any], Any]:
    """Return what gives the kernel's result its unit."""
    if result_unit is None:
        return lambda result: result
    if isinstance(result_unit, str):
        container = parse_unit(result_unit)._units
        return lambda result: Quantity(result, container)
    containers = [None if unit is None else parse_unit(unit)._units for unit in result_unit]

    def wrap(result: Any) -> Any:
        pairs = zip(result, containers, strict=True)
        return tuple(part if unit is None else Quantity(part, unit) for part, unit in pairs)

    return wrap


@overload
def takes(result_unit: str, /, **argument_units: str) -> Callable[[Callable[P, R]], UnitFunction[P, R, Quantity]]: ...
@overload
def takes(
    result_unit: tuple[str, ...], /, **argument_units: str
) -> Callable[[Callable[P, R]], UnitFunction[P, R, tuple[Quantity, ...]]]: ...
@overload
def takes(
    result_unit: tuple[str | None, ...], /, **argument_units: str
) -> Callable[[Callable[P, R]], UnitFunction[P, R, tuple[Any, ...]]]: ...
@overload
def takes(result_unit: None, /, **argument_units: str) -> Callable[[Callable[P, R]], UnitFunction[P, R, R]]: ...
def takes(
    result_unit: str | tuple[str | None, ...] | None, /, **argument_units: str
) -> Callable[[Callable[P, R]], UnitFunction[P, R, Any]]:
    """Declare the units of a kernel: callers pass quantities, the kernel sees plain arrays in these units.

    A quantity in the declared unit is passed as the array itself, without a copy: kernels must not write into it.
    Defaults of the kernel are plain numbers in the declared unit; ``None`` passes where it is the default.

    Parameters
    ----------
    result_unit : str, tuple or None
        Unit of the result; ``""`` for a plain ratio or count; a tuple for a kernel that returns one, with ``None`` for
        a part without unit; ``None`` returns the kernel's result as it is.
    **argument_units : str
        Unit of each argument that is a quantity. Arguments that are not named must not be quantities. Bare numbers are
        taken only where the unit is a plain ratio, a pure count or a ratio of boundaries.

    Returns
    -------
    callable
        Decorator; the result has ``.kernel``, ``.result_unit`` and ``.argument_units``.

    Raises
    ------
    UnitError
        At declaration: an unknown unit or parameter. At a call: an argument of another dimension or boundary; the
        message names it, both units and the missing step.

    Examples
    --------
    >>> from energy.units import quantity
    >>> @takes("kgCO2e", energy_facility="kWh_facility", intensity="kgCO2e/kWh_facility")
    ... def emissions(energy_facility, intensity):
    ...     return energy_facility * intensity
    >>> print(emissions(quantity(2.0, "MWh_facility"), quantity(385.0, "gCO2e/kWh_facility")))
    770.0 kgCO2e
    >>> emissions.kernel(2000.0, 0.385)
    770.0

    """
    wrap = _wrapping(result_unit)

    def decorate(function: Callable[P, R]) -> UnitFunction[P, R, Any]:
        by_name = _checks_of(function, argument_units)
        in_order = tuple(by_name.values())
        count = len(in_order)

        @functools.wraps(function)
        def with_units(*args: Any, **kwargs: Any) -> Any:
            plain = [check(value) for check, value in zip(in_order, args, strict=False)]
            if len(args) > count:
                plain.extend(args[count:])  # the kernel itself raises Python's own message
            if kwargs:
                kwargs = {name: by_name[name](value) if name in by_name else value for name, value in kwargs.items()}
            return wrap(cast("Callable[..., Any]", function)(*plain, **kwargs))

        described = cast("Any", with_units)
        described.kernel = function
        described.result_unit = result_unit
        described.argument_units = dict(argument_units)
        return cast("UnitFunction[P, R, Any]", described)

    return decorate
