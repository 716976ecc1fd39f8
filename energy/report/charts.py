"""Charts as static SVG, each at 720 and 360 units of width so that its text keeps its size.

Colours come from classes of ``report.css``; every series has a second channel (hatch, outline, shape) that reads in
grey. The numbers of a chart stand in a table of the report too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

from energy.report import numbers
from energy.report.display import ColumnFormat, column_format
from energy.report.model import Cell, ChartBlock, Column, Series

WIDTHS = (720, 360)
HATCHED = {"modelled": "M0 6L6 0", "default": "M0 6L6 0M0 0L6 6"}
_RAMP_STEPS = 6
_GLYPH = 7.2  # mean width of a character at 13 px
_MOST_TICKS = 6
_ROOMY_DAY = 5  # units of width: room for six labels in a quarter


@dataclass(frozen=True, slots=True)
class Frame:
    """The place of a chart's plot on its page."""

    width: int
    left: float
    right: float

    @property
    def plot(self) -> float:
        """Width of the plot."""
        return self.width - self.left - self.right


def svg(chart: ChartBlock, width: int) -> str:
    """Draw a chart at one width.

    Parameters
    ----------
    chart : ChartBlock
        The chart's data.
    width : int
        720 or 360.

    Returns
    -------
    str
        One SVG element with title and description.
    """
    makers = {"tier_bars": _tier_bars, "method_bars": _method_bars, "lines": _lines, "heat": _heat, "strip": _strip}
    name = f"{chart.id.replace('.', '-')}-{width}"
    body, height = makers[chart.kind](chart, width, name)
    return (
        f'<svg viewBox="0 0 {width} {_n(height)}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{escape(chart.heading)}</title><desc id="{name}-d">{escape(chart.alt)}</desc>'
        f"{patterns(name)}{body}</svg>"
    )


def patterns(name: str) -> str:
    """Return the hatches of the tiers, with ids of their own in each drawing."""
    parts = [
        f'<pattern id="{name}-{tier}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" class="t-{tier}"/><path d="{path}" class="hatch"/></pattern>'
        for tier, path in HATCHED.items()
    ]
    return f"<defs>{''.join(parts)}</defs>"


def tier_fill(tier: str, name: str) -> str:
    """Return the attributes that fill a mark of a tier."""
    if tier in HATCHED:
        return f'fill="url(#{name}-{tier})"'
    return f'class="t-{tier}"'


def unit_of(chart: ChartBlock) -> ColumnFormat:
    """Return the one prefix and the decimals of a chart's numbers."""
    stacked = chart.kind == "tier_bars"
    if stacked:
        sums = [_sum(series.values[place] for series in chart.series) for place in range(len(chart.categories))]
        values: list[Decimal | None] = list(sums)
    else:
        values = [value for series in chart.series for value in series.values]
    return column_format(
        Column("value", "", chart.unit), [Cell("", value, chart.unit) for value in values if value is not None]
    )


def _sum(values: Iterable[Decimal | None]) -> Decimal:
    return sum((value for value in values if value is not None), Decimal(0))


def _n(value: float) -> str:
    """Write a coordinate: at most one decimal, so that drawings are small and the same everywhere."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    names = f' class="{kind}"' if kind else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{_n(x)}" y="{_n(y)}"{names}{place}>{escape(words)}</text>'


def _fit(words: str, room: float) -> str:
    """Shorten a label to its room; the table has it whole."""
    most = max(int(room / _GLYPH), 4)
    return words if len(words) <= most else words[: most - 1] + "…"


def ticks(largest: float) -> list[float]:
    """Return at most six round ticks from 0 to just above the largest value.

    Examples
    --------
    >>> ticks(318), ticks(0)
    ([0.0, 100.0, 200.0, 300.0, 400.0], [0.0, 1.0])

    """
    if largest <= 0:
        return [0.0, 1.0]
    power = 10.0 ** (len(str(int(largest))) - 1 if largest >= 1 else _exponent(largest))
    for factor in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5, 10):
        step = factor * power
        count = int(-(-largest // step))
        if count < _MOST_TICKS:
            return [round(step * place, 10) for place in range(count + 1)]
    return [0.0, largest]


def _exponent(value: float) -> int:
    return Decimal(repr(value)).adjusted()


def _axis(frame: Frame, marks: Sequence[float], top: float, bottom: float) -> str:
    """Draw the value axis of bars: grid lines, and round numbers under them."""
    out = []
    for mark in marks:
        x = frame.left + frame.plot * mark / marks[-1]
        out.append(f'<path d="M{_n(x)} {_n(top)}V{_n(bottom)}" class="{"base" if mark == 0 else "grid"}"/>')
        anchor = "start" if mark == 0 else "middle"
        out.append(_text(x, bottom + 15, f"{mark:,g}".replace(",", numbers.THIN), "tick", anchor))
    return "".join(out)


def _labels(width: int, categories: Sequence[str]) -> tuple[Frame, bool]:
    """Choose where names stand: left of the bars on a wide page, above them on a narrow one."""
    if width < WIDTHS[0]:
        return Frame(width, 0, 86), True
    longest = max((len(name) for name in categories), default=0) * _GLYPH
    return Frame(width, min(max(longest, 60), 190) + 12, 90), False


def _tier_bars(chart: ChartBlock, width: int, name: str) -> tuple[str, float]:
    frame, above = _labels(width, chart.categories)
    form = unit_of(chart)
    sums = [_sum(series.values[place] for series in chart.series) for place in range(len(chart.categories))]
    marks = ticks(float(max(sums, default=Decimal(0)) / form.factor))
    scale = frame.plot / marks[-1]
    pitch, bar = (42.0, 16.0) if above else (26.0, 16.0)
    bottom = pitch * len(sums) + 6
    out = [_axis(frame, marks, 0, bottom)]
    for place, category in enumerate(chart.categories):
        y = pitch * place + (22 if above else 6)
        if above:
            out.append(_text(0, y - 5, _fit(category, width)))
        else:
            out.append(_text(0, y + 12.5, _fit(category, frame.left - 12)))
        x = frame.left
        for series in chart.series:
            value = series.values[place]
            length = float((value or Decimal(0)) / form.factor) * scale
            if length > 0:
                out.append(
                    f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(length, 0.5))}" height="{_n(bar)}" '
                    f'{tier_fill(series.key, name)} stroke-width="1" stroke="var(--muted)"/>'
                )
                x += length
        words = numbers.plain(sums[place] / form.factor, form.decimals) if sums[place] else "0"
        out.append(_text(x + 6, y + 12.5, words, "value"))
    return "".join(out), bottom + 20


def _method_bars(chart: ChartBlock, width: int, name: str) -> tuple[str, float]:
    del name
    frame, above = _labels(width, chart.categories)
    frame = Frame(frame.width, frame.left, 128)
    form = unit_of(chart)
    ends = [value for series in chart.series for value in (*series.values, *series.high) if value is not None]
    marks = ticks(float(max(ends, default=Decimal(0)) / form.factor))
    scale = frame.plot / marks[-1]
    bar, head = 15.0, 20.0 if above else 4.0
    pitch = head + (bar + 4) * len(chart.series) + 8
    bottom = pitch * len(chart.categories)
    out = [_axis(frame, marks, 0, bottom)]
    for place, category in enumerate(chart.categories):
        top = pitch * place + head
        if above:
            out.append(_text(0, top - 5, _fit(category, width)))
        else:
            out.append(_text(0, top + bar + 6.5, _fit(category, frame.left - 12)))
        for number, series in enumerate(chart.series):
            y = top + number * (bar + 4)
            out.append(_method_bar(series, place, frame, y, bar, scale, form))
    return "".join(out), bottom + 20


def _method_bar(
    series: Series, place: int, frame: Frame, y: float, bar: float, scale: float, form: ColumnFormat
) -> str:
    value = series.values[place]
    label = series.label.lower()
    if value is None:
        return _text(frame.left + 4, y + 12, f"{label}: no data or not added", "tick")
    length = float(value / form.factor) * scale
    out = [
        f'<rect x="{_n(frame.left)}" y="{_n(y)}" width="{_n(max(length, 0.5))}" '
        f'height="{_n(bar)}" class="m-{series.key}"/>'
    ]
    end = length
    low = series.low[place] if series.low else None
    high = series.high[place] if series.high else None
    if low is not None and high is not None:
        first, last = (frame.left + float(edge / form.factor) * scale for edge in (low, high))
        middle = y + bar / 2
        path = f"M{_n(first)} {_n(middle)}H{_n(last)}M{_n(first)} {_n(middle - 3)}v6M{_n(last)} {_n(middle - 3)}v6"
        out.append(f'<path d="{path}" class="halo"/><path d="{path}" class="whisker"/>')
        end = max(length, last - frame.left)
    words = f"{numbers.plain(value / form.factor, form.decimals)} {label}"
    out.append(_text(frame.left + end + 6, y + 12, words, f"w-{series.key}"))
    return "".join(out)


def _lines(chart: ChartBlock, width: int, name: str) -> tuple[str, float]:
    del name
    frame = Frame(width, 44, 96 if width == WIDTHS[0] else 84)
    form = unit_of(chart)
    values = [value for series in chart.series for value in series.values if value is not None]
    marks = ticks(float(max(values, default=Decimal(0)) / form.factor))
    top, height = 10.0, 180.0
    count = max(len(chart.categories) - 1, 1)
    xs = [frame.left + frame.plot * place / count for place in range(len(chart.categories))]
    out = []
    for mark in marks:
        y = top + height * (1 - mark / marks[-1])
        out.append(
            f'<path d="M{_n(frame.left)} {_n(y)}H{_n(frame.left + frame.plot)}" class="{"grid" if mark else "base"}"/>'
        )
        out.append(_text(frame.left - 6, y + 4, f"{mark:,g}".replace(",", numbers.THIN), "tick", "end"))
    every = max(1, -(-len(xs) // (_MOST_TICKS if width == WIDTHS[0] else 3)))
    for place, category in enumerate(chart.categories):
        if place % every == 0:
            out.append(_text(xs[place], top + height + 16, category, "tick", "middle"))
    ends = []
    for series in chart.series:
        points = [
            None if value is None else top + height * (1 - float(value / form.factor) / marks[-1])
            for value in series.values
        ]
        out.append(_line(series.key, xs, points))
        if points[-1] is not None:
            words = f"{series.label} {numbers.plain((series.values[-1] or Decimal(0)) / form.factor, form.decimals)}"
            ends.append((points[-1], series.key, words))
    out.append(_end_labels(ends, frame.left + frame.plot + 10))
    return "".join(out), top + height + 26


def _end_labels(ends: list[tuple[float, str, str]], x: float) -> str:
    """Write the labels at the ends of lines, apart from each other."""
    out, last = [], -100.0
    for y, key, words in sorted(ends):
        place = max(y + 4, last + 15)
        last = place
        out.append(_text(x, place, words, f"w-{key}"))
    return "".join(out)


def _line(key: str, xs: list[float], points: list[float | None]) -> str:
    """Draw a line with its marks; a quarter without data stays a gap."""
    path, pen = "", "M"
    marks = []
    for x, y in zip(xs, points, strict=True):
        if y is None:
            pen = "M"
            continue
        path += f"{pen}{_n(x)} {_n(y)}"
        pen = "L"
        if key == "location":
            marks.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="3.5" class="p-{key}"/>')
        else:
            marks.append(f'<rect x="{_n(x - 3.5)}" y="{_n(y - 3.5)}" width="7" height="7" class="p-{key}"/>')
    return f'<path d="{path}" class="l-{key}"/>{"".join(marks)}' if path else ""


def _heat(chart: ChartBlock, width: int, name: str) -> tuple[str, float]:
    """Draw days across and hours down in six equal steps; one path for each step keeps the file small."""
    del name
    left, top, cell_height = 40.0, 40.0, 9.0 if width == WIDTHS[0] else 8.0
    cell = (width - left) / len(chart.categories)
    known = [value for series in chart.series for value in series.values if value is not None]
    least, most = min(known), max(known)
    form = unit_of(chart)
    paths: dict[str, list[str]] = {}
    ring = ""
    for row, series in enumerate(chart.series):
        for column, value in enumerate(series.values):
            x, y = left + column * cell, top + row * cell_height
            share = 0.0 if most == least or value is None else float((value - least) / (most - least))
            kind = "hn" if value is None else f"h{min(int(share * _RAMP_STEPS), _RAMP_STEPS - 1)}"
            paths.setdefault(kind, []).append(f"M{_n(x)} {_n(y)}h{_n(cell)}v{_n(cell_height)}h-{_n(cell)}z")
            if value == most and not ring:
                box = f'x="{_n(x - 1)}" y="{_n(y - 1)}" width="{_n(cell + 2)}" height="{_n(cell_height + 2)}"'
                ring = f'<rect {box} class="ring"/>'
    bottom = top + cell_height * len(chart.series)
    out = [_ramp_key(least, most, form, "hn" in paths)]
    out += [f'<path d="{"".join(paths[kind])}" class="{kind}"/>' for kind in sorted(paths)]
    out.append(ring)
    out += [_text(left - 6, top + hour * cell_height + 10, f"{hour:02}", "tick", "end") for hour in (0, 6, 12, 18)]
    out += _day_ticks(chart.categories, left, cell, bottom)
    return "".join(out), bottom + 22


def _ramp_key(least: Decimal, most: Decimal, form: ColumnFormat, gaps: bool) -> str:
    words = [numbers.plain(value / form.factor, max(form.decimals, 0)) for value in (least, most)]
    start = len(words[0]) * _GLYPH + 8
    out = [_text(0, 18, words[0], "tick")]
    out += [
        f'<rect x="{_n(start + 18 * step)}" y="6" width="18" height="14" class="h{step}"/>'
        for step in range(_RAMP_STEPS)
    ]
    end = start + 18 * _RAMP_STEPS + 8
    out.append(_text(end, 18, f"{words[1]} {form.unit}, highest ringed", "tick"))
    if gaps:
        place = end + len(f"{words[1]} {form.unit}, highest ringed") * _GLYPH + 10
        out.append(
            f'<rect x="{_n(place)}" y="6" width="14" height="14" class="hn"/>{_text(place + 20, 18, "no data", "tick")}'
        )
    return "".join(out)


def _day_ticks(days: Sequence[str], left: float, cell: float, bottom: float) -> list[str]:
    """Name the first of each month, and the middle where there is room; else the first and the last day."""
    wanted = ("01", "15") if cell > _ROOMY_DAY else ("01",)
    named = [(place, day) for place, day in enumerate(days) if day[-2:] in wanted]
    if not named:
        last = len(days) - 1
        out = [_text(left, bottom + 16, days[0], "tick")]
        return [*out, _text(left + (last + 1) * cell, bottom + 16, days[last], "tick", "end")] if last else out
    return [
        _text(left + place * cell, bottom + 16, day[5:] if day.endswith("15") else day, "tick") for place, day in named
    ]


def _strip(chart: ChartBlock, width: int, name: str) -> tuple[str, float]:
    """Draw one strip for each site: a column for each day, best tier at the bottom."""
    cell = width / len(chart.categories)
    height, pitch = 26.0, 50.0
    groups: dict[str, list[Series]] = {}
    for series in chart.series:
        groups.setdefault(series.key.rsplit("|", 1)[0], []).append(series)
    out = []
    for place, group in enumerate(groups.values()):
        top = pitch * place + 18
        out.append(_text(0, top - 5, _fit(group[0].label, width)))
        out += _strip_paths(group, top, height, cell, name)
        out.append(f'<rect x="0" y="{_n(top)}" width="{width}" height="{_n(height)}" class="frame"/>')
    bottom = pitch * len(groups) - 4
    out += _day_ticks(chart.categories, 0, cell, bottom)
    return "".join(out), bottom + 22


def _strip_paths(group: list[Series], top: float, height: float, cell: float, name: str) -> list[str]:
    """Draw a site's tiers; days of equal shares in a row become one rectangle."""
    days = list(zip(*(series.values for series in group), strict=True))
    paths: dict[str, list[str]] = {}
    start = 0
    for place in range(1, len(days) + 1):
        if place < len(days) and days[place] == days[start]:
            continue
        x, wide = start * cell, (place - start) * cell
        base = top + height
        for series, value in zip(group, days[start], strict=True):
            tall = float(value or 0) * height
            if tall > 0:
                base -= tall
                tier = series.key.rsplit("|", 1)[1]
                paths.setdefault(tier, []).append(f"M{_n(x)} {_n(base)}h{_n(wide)}v{_n(tall)}h-{_n(wide)}z")
        start = place
    return [f'<path d="{"".join(parts)}" {tier_fill(tier, name)}/>' for tier, parts in paths.items()]
