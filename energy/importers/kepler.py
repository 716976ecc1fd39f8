"""Kepler (Prometheus text): energy counters of the parts of a node, as RAPL counts them.

Zones are nested: core and uncore are inside their package, packages are inside the platform; DRAM stands apart. A part
is therefore named by its place, such as ``package-0/core``, so that nobody adds a part to what holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from energy.importers.base import Batch, Context
from energy.importers.prometheus_text import Sample, SampleTimes, detect_metric, samples
from energy.importers.reading_rows import ENERGY_TO_MICROJ, LEAST_CODE, MOST_MICROJ, Rows, host_of, text_or_none

_CURRENT = "kepler_node_cpu_joules_total"
_OLD = {  # before 0.10: one metric per zone; modes idle and dynamic are two counters of it that add up
    "kepler_node_package_joules_total": "package",
    "kepler_node_core_joules_total": "core",
    "kepler_node_uncore_joules_total": "uncore",
    "kepler_node_dram_joules_total": "dram",
    "kepler_node_platform_joules_total": "psys",
}
_OF_CONTAINERS = ("kepler_container_", "kepler_pod_", "kepler_process_", "kepler_vm_")
_CONTAINER_METRICS = {
    f"{start}{what}joules_total"
    for start in _OF_CONTAINERS
    for what in ("", "cpu_", "gpu_", "package_", "core_", "uncore_", "dram_", "other_")
}
_INSIDE_PACKAGE = ("core", "uncore")
_ZONE_PATH = re.compile(r"(intel-rapl(?:-mmio)?):([0-9]+)(?::([0-9]+))?/?\Z")
_HOST_LABELS = ("node_name", "node", "instance", "Hostname", "nodename")


def part_of(zone: str, path: str = "", package: str = "") -> str:
    """Return the name of a zone by its place in the node.

    Parameters
    ----------
    zone : str
        As Kepler names it: package, core, uncore, dram, psys.
    path : str
        Of the kernel, such as ``/sys/class/powercap/intel-rapl:0:0``.
    package : str
        Number of the package, of older releases.

    Examples
    --------
    >>> part_of("package", "/sys/class/powercap/intel-rapl:0")
    'package-0'
    >>> part_of("core", "/sys/class/powercap/intel-rapl:0:0"), part_of("dram", "/sys/class/powercap/intel-rapl:0:2")
    ('package-0/core', 'dram-0')
    >>> part_of("package", "/sys/class/powercap/intel-rapl-mmio:0")
    'package-0 (mmio)'

    """
    zone = zone.casefold()
    given = re.fullmatch(r"package-([0-9]+)", zone)
    found = _ZONE_PATH.search(path)
    number = given[1] if given else found[2] if found else package
    zone = "package" if given else "psys" if zone == "platform" else zone
    mmio = " (mmio)" if found and found[1].endswith("mmio") else ""
    if zone in _INSIDE_PACKAGE:
        return f"{_numbered('package', number)}{mmio}/{zone}"
    return zone if zone == "psys" else f"{_numbered(zone, number)}{mmio}"


def _numbered(zone: str, number: str) -> str:
    return f"{zone}-{number}" if number.isdigit() else zone


def outermost(parts: Iterable[str]) -> list[str]:
    """Return the parts that may be added: none inside another, none twice by a second interface.

    ``psys`` holds packages; what it says of DRAM differs by machine, so that with ``psys`` nothing else is added.

    Examples
    --------
    >>> outermost(["psys", "package-0", "package-0 (mmio)", "package-0/core"])
    ['psys']
    >>> outermost(["package-0", "package-0 (mmio)", "dram-0", "package-1", "package-0/core"])
    ['dram-0', 'package-0', 'package-1']

    """
    names = set(parts)
    if "psys" in names:
        return ["psys"]
    return sorted(
        name
        for name in names
        if name.rpartition("/")[0] not in names
        and not (name.endswith(" (mmio)") and name.removesuffix(" (mmio)") in names)
        and not (" (mmio)/" in name and name.replace(" (mmio)/", "/").partition("/")[0] in names)
    )


class KeplerImporter:
    """Kepler."""

    name = "kepler"
    meaning = "Kepler (Prometheus text): energy counters of the zones of a node; containers are only noted"
    kind = "part_readings"

    def detect(self, path: Path, head: bytes) -> str | None:
        """Return why the file is of this format, or ``None``."""
        return detect_metric(head, ("kepler_",), "Kepler's")

    def read(self, path: Path, mapping: Any, context: Context) -> Iterator[Batch]:
        """Yield one row for each zone and time."""
        rows, times = Rows(self.kind, context), SampleTimes(path, context)
        counted: dict[tuple[str, str, int], dict[str, tuple[int, float]]] = {}
        containers: dict[str, float] = {}
        for sample in samples(path, context, {_CURRENT, *_OLD, *_CONTAINER_METRICS}, rows):
            reason = _fault(sample)
            if reason is not None:
                rows.refuse(sample.line, reason, f"{sample.name} {sample.labels} {sample.value}")
            elif not 0 <= sample.value < LEAST_CODE:
                rows.gap()
            elif sample.name in _CONTAINER_METRICS:
                _note(sample, containers)
            else:
                key = (_host(sample.labels, path, context), _part(sample), times.of(sample))
                mode = sample.labels.get("mode", "")
                counted.setdefault(key, {}).setdefault(mode, (sample.line, sample.value))
        for (host, part, time_ms), modes in counted.items():
            _add(rows, modes, {"host": host, "part": part, "time_ms": time_ms})
            yield from rows.full()
        _say(containers, path, context)
        yield from rows.finish(path, "Kepler counter of a node (kepler_node_…)", may_be_empty=bool(containers))


def _fault(sample: Sample) -> str | None:
    if sample.value < 0 or sample.value == float("inf"):
        return f"the counter is {sample.value:g}: it must be a finite number that is not below zero"
    if sample.name == _CURRENT and not sample.labels.get("zone"):
        return "the series has no zone: keep the label zone, since zones are nested and must not be added"
    return None


def _host(labels: Mapping[str, str], path: Path, context: Context) -> str:
    """Return the node; ``instance`` is the node's name in older releases and may carry the port of the scrape."""
    host = next((text for name in _HOST_LABELS if (text := text_or_none(labels.get(name)))), None)
    return host_of(context, path) if host is None else re.sub(r":[0-9]{1,5}\Z", "", host)


def _part(sample: Sample) -> str:
    labels = sample.labels
    zone = _OLD.get(sample.name) or labels["zone"]
    return part_of(zone, labels.get("path", ""), labels.get("package", labels.get("index", "")))


def _add(rows: Rows, modes: Mapping[str, tuple[int, float]], row: dict[str, Any]) -> None:
    """Add one counter: idle and dynamic are two parts of it; one without the other is no whole."""
    line = min(place for place, _ in modes.values())
    named = set(modes) - {""}
    if named and not {"idle", "dynamic"} <= named:
        absent = "idle" if "dynamic" in named else "dynamic"
        rows.refuse(line, f"mode {absent} of {row['part']} is absent: both modes add up; keep both", row)
        return
    joules = sum(value for mode, (_, value) in modes.items() if mode in ("idle", "dynamic") or not named)
    microj = joules * ENERGY_TO_MICROJ["j"]
    if microj >= MOST_MICROJ:
        rows.refuse(line, "the counter is over 2.5 GWh: check its unit", row)
        return
    rows.add(line, **row, counter_microj=round(microj))


def _note(sample: Sample, containers: dict[str, float]) -> None:
    """Add up a metric over its containers, per zone: zones are nested."""
    zone = sample.labels.get("zone")
    name = f"{sample.name} ({zone})" if zone else sample.name
    containers[name] = containers.get(name, 0.0) + sample.value


def _say(containers: Mapping[str, float], path: Path, context: Context) -> None:
    for name, joules in containers.items():
        context.notes.append(f"{path.name}: {name} counts {joules:g} J over all its series; it is noted, not stored.")


importer = KeplerImporter()
