"""Files of weather: EPW, TMY3, PVGIS, Open-Meteo, PVWatts and free tables, told apart by what is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from energy.errors import WeatherError, did_you_mean
from energy.weather.readers._parsed import LONGEST_GAP_H, Fill, Parsed, finished
from energy.weather.readers._text import lines_of
from energy.weather.readers.epw import is_epw, read_epw
from energy.weather.readers.open_meteo import is_open_meteo, read_open_meteo
from energy.weather.readers.pvgis import is_pvgis, read_pvgis
from energy.weather.readers.pvwatts import is_pvwatts, read_pvwatts
from energy.weather.readers.table import read_table, write_table
from energy.weather.readers.tmy3 import is_tmy3, read_tmy3
from energy.weather.year import Convention, Kind, WeatherYear

__all__ = ["FORMATS", "LONGEST_GAP_H", "Fill", "format_of", "read_weather", "write_table"]

_Check = Callable[[list[str]], bool]
_Reader = Callable[[str, list[str], float | None], Parsed]
_KNOWN: dict[str, tuple[_Check, _Reader]] = {
    "epw": (is_epw, read_epw),
    "tmy3": (is_tmy3, read_tmy3),
    "pvgis": (is_pvgis, read_pvgis),
    "open-meteo": (is_open_meteo, read_open_meteo),
    "pvwatts": (is_pvwatts, read_pvwatts),
}
FORMATS = (*_KNOWN, "table")


def format_of(lines: list[str]) -> str:
    """Return the format of a file by its lines; ``table`` where it is none of the known ones.

    Examples
    --------
    >>> format_of(["LOCATION,Berlin,BE,DEU,SRC-TMYx,103840,52.47,13.40,1.0,49.0"]), format_of(["start_utc,dry_bulb_c"])
    ('epw', 'table')

    """
    return next((name for name, (is_it, _) in _KNOWN.items() if is_it(lines)), "table")


def read_weather(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - the word that people know
    fill: Fill = "refuse",
    standard_offset_h: float | None = None,
    zone: str | None = None,
    convention: Convention | None = None,
    columns: Mapping[str, str] | None = None,
    place: str | None = None,
    elevation_m: float | None = None,
    latitude_deg: float | None = None,
    longitude_deg: float | None = None,
    source: str | None = None,
    licence: str | None = None,
    kind: Kind | None = None,
) -> WeatherYear:
    r"""Return the year of weather in a file.

    Parameters
    ----------
    path : Path
        EPW, TMY3, PVGIS TMY, Open-Meteo CSV, PVWatts hourly CSV, or a table with headings such as ``dry_bulb_c`` or
        ``Temperature (°F)``.
    format : str, optional
        One of :data:`FORMATS`; without it the content decides.
    fill : refuse, leave or interpolate
        Missing hours, codes of missing values and values that air does not have: refused; left null; or, in gaps of up
        to :data:`LONGEST_GAP_H` hours, interpolated by straight lines. What was done is counted in the notes.
    standard_offset_h : float, h, optional
        Standard time less UTC; needed by PVWatts and by tables in standard time.
    zone : str, optional
        IANA name, for tables on a clock with summer time.
    convention : beginning, ending or instant, optional
        What a label of a table names, where its heading does not say.
    columns : mapping of str to str, optional
        Heading of a table to field, for headings that are not known.
    place, elevation_m, latitude_deg, longitude_deg, source, licence, kind : optional
        In place of what the file says; tables may need the first two.

    Returns
    -------
    WeatherYear

    Raises
    ------
    WeatherError
        The file cannot be read, is of no known format, or has a gap, a double or an impossible value.

    Notes
    -----
    EPW and TMY3 hours end with their label, and the sun is that of the middle of the hour. PVGIS labels are instants;
    the header says how much later the sun was seen. Open-Meteo's labels are instants, its irradiance that of the hour
    before: it is moved there. PVWatts hours begin with their label.

    Examples
    --------
    >>> import tempfile
    >>> text = "# place: a roof\n# elevation_m: 50\nstart_utc,Temp (°F),rh_pct\n2026-01-01T00:00Z,50,80\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "roof.csv"
    ...     count = path.write_text(text, encoding="utf-8")
    ...     year = read_weather(path)
    >>> year.dry_bulb_c.round(6).tolist(), year.relative_humidity.tolist(), year.convention
    ([10.0], [0.8], 'beginning')

    """
    lines = lines_of(path)
    known = format_of(lines) if format is None else format
    if known not in FORMATS:
        raise WeatherError(f"The format {known!r} is not known: {', '.join(FORMATS)}.{did_you_mean(known, FORMATS)}")
    about: dict[str, Any] = {
        "place": place,
        "elevation_m": elevation_m,
        "latitude_deg": latitude_deg,
        "longitude_deg": longitude_deg,
        "source": source,
        "licence": licence,
        "kind": kind,
    }
    if known == "table":
        parsed = read_table(path.name, lines, standard_offset_h, zone=zone, convention=convention, columns=columns)
        return finished(parsed, fill, about)
    if zone is not None or convention is not None or columns is not None:
        raise WeatherError(
            f"{path.name} is of the format {known}, which fixes zone, convention and columns: leave them out."
        )
    is_it, reader = _KNOWN[known]
    if not is_it(lines):
        raise WeatherError(f"{path.name} is not of the format {known}: it looks like {format_of(lines)}.")
    return finished(reader(path.name, lines, standard_offset_h), fill, about)
