"""``site.yaml``: what the fleet is. Read once, checked as a whole; unknown keys are errors with the nearest key."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from energy.carbon.lookup import POLICIES
from energy.catalogue.chips import chip, chip_dialects
from energy.catalogue.profiles import all_profiles
from energy.catalogue.zones import abroad, zone
from energy.errors import BasisError, EnergyError, SiteFileError, did_you_mean
from energy.facility.pue import PuePeriod
from energy.importers.yaml_text import parse_yaml, read_text
from energy.ledger.periods import ZonePeriod, ZoneSpan, check_span, date_or_moment, midnight, zone_spans
from energy.ledger.site_scopes import FuelUse, GwpSet, RefrigerantLoss
from energy.power.scopes import dies_of
from energy.power.utilisation import WORKING_SHARE, Share, share_of
from energy.provenance import read_mixes

FILE_NAME = "site.yaml"
_SITE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")  # it names a folder of telemetry
_HOST_RANGE = re.compile(r"([^\[\],]*)\[([0-9,\-]+)\]([^\[\],]*)\Z")
MOST_HOSTS = 100_000
CATALOGUE: Literal["catalogue"] = "catalogue"
OWN_READINGS: Literal["own readings"] = "own readings"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))


class Ratio(_Frozen):
    """A ratio with its 95 % range; a plain number has no known range."""

    value: float = Field(allow_inf_nan=False)
    low: float | None = None
    high: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, data: Any) -> Any:
        return {"value": data} if isinstance(data, int | float) and not isinstance(data, bool) else data

    @model_validator(mode="after")
    def _ordered(self) -> Ratio:
        if not self.least <= self.value <= self.most:
            raise ValueError(f"value {self.value:g} lies outside its range {self.least:g} to {self.most:g}")
        return self

    @property
    def least(self) -> float:
        """Low end, or the value itself."""
        return self.value if self.low is None else self.low

    @property
    def most(self) -> float:
        """High end, or the value itself."""
        return self.value if self.high is None else self.high


def _moment(value: Any) -> datetime | None:
    return midnight(date_or_moment(value))


class Period(Ratio):
    """A ratio that holds from one instant to another (dates are UTC midnights; the end is not included)."""

    start: datetime | None = Field(None, alias="from")
    end: datetime | None = Field(None, alias="to")

    _start = field_validator("start", "end", mode="before")(_moment)

    @model_validator(mode="after")
    def _forward(self) -> Period:
        check_span(self.start, self.end)
        return self


class HostGroup(_Frozen):
    """Hosts of one kind: ``h100-[001-024,030]`` is a range, as Slurm writes it."""

    pattern: str
    chip: str
    chips: int = Field(ge=0, le=4096)
    start: datetime | None = Field(None, alias="from")
    end: datetime | None = Field(None, alias="to")
    node_overhead: Ratio | None = None
    node: str | None = None
    chips_are: Literal["packages", "dies"] | None = None

    _start = field_validator("start", "end", mode="before")(_moment)

    def dies(self, chip_id: str | None) -> int:
        """Return how many of what ``chips`` and the logs count make one chip of the catalogue."""
        return dies_of(chip_id) if chip_id is not None and self.chips_are == "dies" else 1

    @model_validator(mode="after")
    def _forward(self) -> HostGroup:
        check_span(self.start, self.end)
        if self.node is not None and self.node_overhead is not None:
            raise ValueError("node and node_overhead both say what the host takes beyond its boards: give one")
        return self


def _periods(data: Any) -> Any:
    return data if isinstance(data, list | tuple) else [data]


class Water(_Frozen):
    """Litres by kWh, as constants by period: what is withdrawn, what is consumed, or both."""

    withdrawn: tuple[Period, ...] = ()
    consumed: tuple[Period, ...] = ()

    _one = field_validator("withdrawn", "consumed", mode="before")(_periods)

    @model_validator(mode="after")
    def _stated(self) -> Water:
        if not self.withdrawn and not self.consumed:
            raise ValueError("say which water it is: withdrawn (taken in) or consumed (not given back)")
        return self


class GridWater(_Frozen):
    """Litres that power stations consume by kWh bought, as constants by period; ``source`` says whose figure it is."""

    consumed: tuple[Period, ...] = Field(min_length=1)
    source: str

    _one = field_validator("consumed", mode="before")(_periods)


class PublishedFigures(_Frozen):
    """Which printed figures of an operator's region and year stand for the site's own."""

    provider: str
    region: str
    year: int
    pue: bool = False
    wue: Literal["withdrawn", "consumed"] | None = None

    @model_validator(mode="after")
    def _something(self) -> PublishedFigures:
        if not self.pue and self.wue is None:
            raise ValueError("say what is taken: pue: true, or wue: withdrawn or consumed")
        return self


def _zone_form(data: Any) -> str:
    return "periods" if isinstance(data, list | tuple) else "text"


ZoneKey = Annotated[
    Annotated[str, Tag("text")] | Annotated[tuple[ZonePeriod, ...], Tag("periods")], Discriminator(_zone_form)
]


class Site(_Frozen):
    """One site: where it draws its power, how much it takes beyond the IT, which hosts it has."""

    name: str | None = None
    zone: ZoneKey
    residual_zone: str | None = None
    hourly_zone: str | None = None
    boundary: str | None = None
    market: str | None = None
    fuels: tuple[FuelUse, ...] = ()
    refrigerants: tuple[RefrigerantLoss, ...] = ()
    timezone: str = "UTC"
    pue: tuple[Period, ...] = ()
    facility: Any = None
    weather: Any = None
    published: PublishedFigures | None = None
    wue_l_per_kwh_it: Water | None = None
    grid_water_l_per_kwh_facility: GridWater | None = None
    supply: Any = None
    node_overhead: Ratio | None = None
    hosts: tuple[HostGroup, ...] = ()

    _one_period = field_validator("pue", mode="before")(_periods)

    @field_validator("facility", "weather", "supply", mode="before")
    @classmethod
    def _name_or_keys(cls, data: Any) -> Any:
        if not isinstance(data, str | dict) or not data:
            raise ValueError("give a name, a file, or keys with their values")
        return data

    def zone_spans(self, site_id: str) -> tuple[ZoneSpan, ...]:
        """Return the grid zones of the site by period; one that is open where ``zone`` is a name.

        Raises
        ------
        SiteFileError
            Two periods leave a gap or overlap, or zones stand beside a list and in it.
        """
        if isinstance(self.zone, str):
            return (ZoneSpan(None, None, self.zone, self.residual_zone, self.hourly_zone),)
        where = f"{FILE_NAME}: sites.{site_id}"
        for name, given in (("residual_zone", self.residual_zone), ("hourly_zone", self.hourly_zone)):
            if given is not None:
                raise SiteFileError(f"{where}.{name}: zone is a list of periods: write {name} {given} in each of them.")
        return zone_spans(where, self.zone, self.timezone)

    def pue_periods(self) -> list[PuePeriod]:
        """Return the PUE periods for ``facility.pue``."""
        return constant_periods(self.pue)


def constant_periods(periods: tuple[Period, ...]) -> list[PuePeriod]:
    """Return periods of a constant for ``facility.pue``."""
    return [PuePeriod(item.start, item.end, item.value, item.least, item.most) for item in periods]


class SiteFile(_Frozen):
    """The whole file."""

    entity: str = "entity not named"
    reporter: tuple[str, ...] = ()
    markets: dict[str, tuple[str, ...]] = {}
    vintage_months: int | None = Field(None, ge=0, le=120)
    gwp_set: GwpSet | None = None
    consolidation: str = "operational control"
    reporting_timezone: str = "UTC"
    factor_policy: str = "exact"
    basis_mix: str | None = None
    chip_dialect: str | None = None
    undisclosed_chips: tuple[str, ...] = ()
    default_power: Literal["catalogue", "own readings"] = CATALOGUE
    default_working_share: Ratio | None = None
    default_idle: Literal["bare", "context"] = "bare"
    sites: dict[str, Site]

    def working_share(self) -> Share:
        """Return how far chips work on which kernels run: as the file states, or as in fleets that were measured."""
        stated = self.default_working_share
        return WORKING_SHARE if stated is None else share_of(stated.value, stated.least, stated.most)

    @field_validator("reporter", mode="before")
    @classmethod
    def _names(cls, data: Any) -> Any:
        return [data] if isinstance(data, str) else data

    @field_validator("basis_mix")
    @classmethod
    def _known_mix(cls, text: str | None) -> str | None:
        try:
            read_mixes(text or "")
        except BasisError as error:
            raise ValueError(str(error)) from None
        return text

    def chip_of_name(self, name: str, dialect: str | None = None) -> str | None:
        """Return the chip id of a name as logs write it; None where the file lists it as undisclosed.

        Raises
        ------
        UnknownNameError
            With the nearest names.
        """
        if name in self.undisclosed_chips or "|" in name:  # "A|B": one of several, which one is not disclosed
            return None
        return chip(name, dialect=dialect or self.chip_dialect).chip_id


def expand_pattern(pattern: str) -> list[str]:
    """Return the host names of a pattern.

    Raises
    ------
    SiteFileError
        The pattern cannot be read.

    Examples
    --------
    >>> expand_pattern("h100-[001-003,007]")
    ['h100-001', 'h100-002', 'h100-003', 'h100-007']

    """
    if "[" not in pattern and "]" not in pattern:
        return [name.strip() for name in pattern.split(",") if name.strip()]
    match = _HOST_RANGE.match(pattern.strip())
    if match is None:
        raise SiteFileError(f"hosts pattern {pattern}: write it as name, name-[01-16] or name-[01-04,09].")
    before, ranges, after = match.groups()
    names: list[str] = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()) or int(last or first) < int(first):
            raise SiteFileError(f"hosts pattern {pattern}: {part or 'an empty part'} is no range of numbers.")
        if int(last or first) - int(first) >= MOST_HOSTS:
            raise SiteFileError(f"hosts pattern {pattern}: more than {MOST_HOSTS:,} hosts in one range.")
        names += [f"{before}{number:0{len(first)}d}{after}" for number in range(int(first), int(last or first) + 1)]
    return names


def read_site_file(folder: Path) -> SiteFile:
    """Read and check ``site.yaml`` of a ledger folder.

    Raises
    ------
    SiteFileError
        One line: file, key, rule, remedy.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise SiteFileError(
            f"No {FILE_NAME} in {folder}: start one with `energy init {folder}` and describe the fleet."
        )
    return parse_site_file(read_text(path, SiteFileError))


def parse_site_file(text: str) -> SiteFile:
    """Parse and check the text of a site file."""
    data = parse_yaml(text, FILE_NAME, SiteFileError)
    if not isinstance(data, dict) or not isinstance(data.get("sites"), dict) or not data["sites"]:
        raise SiteFileError(f"{FILE_NAME}: no sites. Name at least one under `sites:` (docs/site_file.md).")
    if "default_utilisation" in data:
        raise SiteFileError(
            f"{FILE_NAME}: default_utilisation is no longer read, since power is no straight line from idle to the "
            "limit: write default_working_share (0: idle with context, 1: working), or remove it."
        )
    try:
        parsed = SiteFile.model_validate(data)
    except ValidationError as error:
        raise SiteFileError(f"{FILE_NAME}: {_first_problem(error)}") from error
    _check(parsed)
    return parsed


_SECTIONS = (SiteFile, Site, HostGroup, Period, ZonePeriod, Water, GridWater, PublishedFigures)


def _first_problem(error: ValidationError) -> str:
    # a key that is misspelt is also missing: the misspelling says more
    first = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
    path = first["loc"]
    if len(path) > 3 and path[2] == "zone":  # the form of the key, which nobody wrote
        path = path[:3] + path[4:]
    key = ".".join(str(part) for part in path)
    if first["type"] == "extra_forbidden":
        known = {name for model in _SECTIONS for name in _keys(model)}
        return f"{key}: no such key.{did_you_mean(str(first['loc'][-1]), sorted(known))}"
    if first["type"] == "missing":
        return f"{key} is missing: it has no default. Add it."
    message = first["msg"].removeprefix("Value error, ")
    quotes = " YAML reads it as true or false: put it in quotes." if isinstance(first["input"], bool) else ""
    shown = first["input"] if isinstance(first["input"], bool | int | float | str) else ""
    return " ".join(f"{key}: {message}{f', got {shown!r}' if shown != '' else ''}.{quotes}".split())[:300]


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _check(parsed: SiteFile) -> None:
    """Check what needs the catalogue: zones, chips, time zones, policies. Messages name the key."""
    for zone_name in (parsed.reporting_timezone, *(site.timezone for site in parsed.sites.values())):
        _check_timezone(zone_name)
    _check_whole_hours(parsed.reporting_timezone)
    if parsed.factor_policy not in POLICIES:
        near = did_you_mean(parsed.factor_policy, POLICIES)
        raise SiteFileError(f"{FILE_NAME}: factor_policy {parsed.factor_policy}: use {', '.join(POLICIES)}.{near}")
    _check_values(parsed)
    _check_markets(parsed)
    hourly = sorted({item.zone_id for item in all_profiles()})
    for site_id, site in parsed.sites.items():
        where = f"{FILE_NAME}: sites.{site_id}"
        if not _SITE_ID.match(site_id):
            raise SiteFileError(f"{where}: name a site with letters, digits, dot, dash and underscore.")
        _check_site_sources(where, site_id, site)
        spans = site.zone_spans(site_id)
        try:
            for name in (name for span in spans for name in (span.zone, span.residual_zone) if name is not None):
                zone(name)
            for group in site.hosts:
                expand_pattern(group.pattern)
                _check_dies(group, parsed.chip_of_name(group.chip))
        except EnergyError as error:
            raise SiteFileError(f"{where}: {error}") from error
        for name in (span.hourly_zone for span in spans if span.hourly_zone is not None):
            if name not in hourly:
                raise SiteFileError(
                    f"{where}.hourly_zone: no hours for {name}.{did_you_mean(name, hourly)} "
                    f"Zones with hours: {', '.join(hourly)}."
                )
        _check_countries(where, spans)
        if site.boundary not in (None, "direct", "lifecycle"):
            raise SiteFileError(f"{where}.boundary: use direct or lifecycle, got {site.boundary}.")
        stated = (site.node_overhead, *(group.node_overhead for group in site.hosts))
        for ratio in (*site.pue, *(ratio for ratio in stated if ratio is not None)):
            if ratio.least < 1:
                raise SiteFileError(
                    f"{where}: PUE and node_overhead are at least 1: they divide a larger energy by a part of it. "
                    f"You wrote {ratio.least:g}."
                )


def _check_dies(group: HostGroup, chip_id: str | None) -> None:
    dies = group.dies(chip_id)
    if group.chips_are == "dies" and dies == 1:
        raise SiteFileError(f"chips_are: dies, but {chip_id or group.chip} is one device: remove chips_are.")
    if group.chips % dies:
        raise SiteFileError(
            f"chips_are: dies, and {group.chips} dies of {chip_id} are no whole packages of {dies}: correct chips."
        )


def _check_values(parsed: SiteFile) -> None:
    if parsed.chip_dialect is not None and parsed.chip_dialect not in chip_dialects():
        near = did_you_mean(parsed.chip_dialect, chip_dialects())
        raise SiteFileError(f"{FILE_NAME}: chip_dialect {parsed.chip_dialect}: use {', '.join(chip_dialects())}.{near}")
    stated = parsed.default_working_share
    if stated is not None and not 0 <= stated.least <= stated.most <= 1:
        raise SiteFileError(
            f"{FILE_NAME}: default_working_share is a share between 0 and 1; you wrote {stated.least:g} to "
            f"{stated.most:g}."
        )


def _check_countries(where: str, spans: Iterable[ZoneSpan]) -> None:
    """Refuse a residual or hourly zone that lies in another country than the place."""
    for span in spans:
        for name in ("residual_zone", "hourly_zone"):
            other = getattr(span, name)
            if other is not None and (said := abroad(zone(span.zone), zone(other))):
                raise SiteFileError(f"{where}.{name}: {said}.")


def _check_site_sources(where: str, site_id: str, site: Site) -> None:
    """Check that PUE and water come from one place each, and that constants do not overlap."""
    of_pue = {"pue": bool(site.pue), "facility": site.facility is not None}
    of_pue["published"] = site.published is not None and site.published.pue
    named = [name for name, is_there in of_pue.items() if is_there]
    if not named:
        raise SiteFileError(
            f"{where}.pue is missing: it has no default. Add it, or facility with weather, or published with pue: true."
        )
    if len(named) > 1:
        raise SiteFileError(f"{where}: {named[0]} and {named[1]} both say what the site takes beyond its IT: give one.")
    if site.wue_l_per_kwh_it is not None and site.published is not None and site.published.wue is not None:
        raise SiteFileError(f"{where}: wue_l_per_kwh_it and published.wue both say what water it takes: give one.")
    if site.weather is not None and site.facility is None and site.supply is None:
        raise SiteFileError(f"{where}.weather has no effect without facility or supply: leave it out, or add one.")
    stated: dict[str, tuple[Period, ...]] = {"pue": site.pue}
    if site.wue_l_per_kwh_it is not None:
        stated["wue_l_per_kwh_it.withdrawn"] = site.wue_l_per_kwh_it.withdrawn
        stated["wue_l_per_kwh_it.consumed"] = site.wue_l_per_kwh_it.consumed
    if site.grid_water_l_per_kwh_facility is not None:
        stated["grid_water_l_per_kwh_facility.consumed"] = site.grid_water_l_per_kwh_facility.consumed
    for key, periods in stated.items():
        _check_once(f"{where}.{key}", periods, "PUE" if key == "pue" else "value")
    for key, periods in stated.items():
        low = min((item.least for item in periods), default=0.0)
        if low < 0:
            raise SiteFileError(f"{where}.{key}: water is zero or more, got {low:g}.")
    if isinstance(site.facility, dict):
        from energy.ledger.site_facility import check_keys

        check_keys(where, site_id, site.facility, site.weather)


def _check_once(key: str, periods: tuple[Period, ...], what: str) -> None:
    """Refuse periods that overlap: an hour has one PUE."""
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    spans = sorted((item.start or first, item.end or last) for item in periods)
    for (_, end), (start, _) in pairwise(spans):
        if start < end:
            raise SiteFileError(
                f"{key}: two periods overlap from {start:%Y-%m-%d}: an hour has one {what}. Correct from and to."
            )


def _check_markets(parsed: SiteFile) -> None:
    """Refuse a place of issue that belongs to two markets, and fuels without a GWP set."""
    if parsed.gwp_set is None and any(site.fuels or site.refrigerants for site in parsed.sites.values()):
        raise SiteFileError(
            f"{FILE_NAME}: gwp_set is missing: fuels and refrigerants are reckoned by it. Write AR5 or AR6."
        )
    of_place: dict[str, str] = {}
    for market, places in parsed.markets.items():
        for place in (market, *places):
            if of_place.setdefault(place, market) != market:
                raise SiteFileError(
                    f"{FILE_NAME}: markets: {place} belongs to {of_place[place]} and to {market}: name it once."
                )


def _check_timezone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SiteFileError(f"{FILE_NAME}: {name} is no IANA time zone; write one such as Europe/Berlin.") from error


def _check_whole_hours(name: str) -> None:
    """Refuse reporting zones whose days do not start on a UTC hour: the ledger's hours could not be cut at them."""
    zone_info = ZoneInfo(name)
    for month in range(1, 13):
        offset = zone_info.utcoffset(datetime(2026, month, 15, tzinfo=UTC).replace(tzinfo=None))
        if offset is not None and offset.total_seconds() % 3600:
            raise SiteFileError(
                f"{FILE_NAME}: reporting_timezone {name} is {offset.total_seconds() / 3600:g} h from UTC: the edges of "
                "its quarters fall inside an hour. Use a zone with whole hours, such as UTC."
            )
