"""What the rows of a known format are: the columns of each kind, as pyarrow types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

#: Share of cycles in which the multiprocessors have work, the tensor pipe and the memory interface are active.
ACTIVITY = ("sm_active_pct", "tensor_active_pct", "dram_active_pct")
KINDS = ("jobs", "board_readings", "node_readings", "part_readings")


def columns_of(kind: str) -> pa.Schema:
    """Return the columns that batches of a kind have; every column but ``row_number`` and times may be null.

    Examples
    --------
    >>> columns_of("node_readings").names
    ['row_number', 'host', 'time_ms', 'power_milliw', 'counter_microj']

    """
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    moment = pa.timestamp("ms", "UTC")
    reading = [("time_ms", whole), ("power_milliw", whole), ("counter_microj", whole)]
    schemas: dict[str, list[tuple[str, pa.DataType]]] = {
        "jobs": [
            ("row_number", whole),
            ("job_id", text),
            ("site_id", text),
            ("host", text),
            ("user_name", text),
            ("project", text),
            ("job_type", text),
            ("state", text),
            ("submit_utc", moment),
            ("start_utc", moment),
            ("end_utc", moment),
            ("chip_name_given", text),
            ("chip_id", text),
            ("node_count", pa.int32()),
            ("chip_count", real),
            ("energy_chip_kwh", real),
            ("energy_it_kwh", real),
        ],
        "board_readings": [
            ("row_number", whole),
            ("host", text),
            ("uuid", text),
            ("serial", text),
            ("device_index", pa.int32()),
            ("chip_name_given", text),
            *reading,
            ("utilisation_pct", pa.float32()),
            ("energy_microj", whole),
            ("instance", text),
            ("scope", text),
            *((name, pa.float32()) for name in ACTIVITY),
        ],
        "node_readings": [("row_number", whole), ("host", text), *reading],
        "part_readings": [("row_number", whole), ("host", text), ("part", text), *reading],
    }
    return pa.schema(schemas[kind])
