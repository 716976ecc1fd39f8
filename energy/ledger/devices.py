"""Which device a reading is of: by UUID, then serial, then host and index; at the place where it was read.

A board that moves to another host gets a key of its own there, so that its energy stays with the host that held it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from energy.ledger.tables import insert_rows

if TYPE_CHECKING:
    import duckdb

NODE_INDEX = -1  # the plug of the node itself
_UNKNOWN_INDEX = -2  # boards whose log gives a UUID and no index count down from here

Place = tuple[str, int, str | None]


@dataclass(slots=True)
class Devices:
    """Keys of devices: those of the ledger, and new ones as they are met."""

    _by_place: dict[tuple[str, int], list[tuple[str | None, int]]]
    _by_identity: dict[tuple[str, str], dict[int, int]]
    _following: int
    _fresh: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, connection: duckdb.DuckDBPyConnection) -> Devices:
        """Return the devices that the ledger knows."""
        rows = connection.execute(
            "SELECT device_key, host, device_index, coalesce(uuid, serial) FROM core.device ORDER BY device_key"
        ).fetchall()
        devices = cls({}, {}, max((row[0] for row in rows), default=0) + 1)
        for key, host, index, identity in rows:
            devices._remember(key, host, index, identity)
        return devices

    def _remember(self, key: int, host: str, index: int, identity: str | None) -> None:
        self._by_place.setdefault((host, index), []).append((identity, key))
        if identity is not None:
            self._seen(host, identity, index, key)

    def _seen(self, host: str, identity: str, index: int, key: int) -> None:
        """Remember where a device was seen last: the last place of its dict."""
        places = self._by_identity.setdefault((host, identity), {})
        places.pop(index, None)
        places[index] = key

    def key(self, host: str, index: int | None, uuid: str | None = None, serial: str | None = None) -> int:
        """Return the key of a device at its place; a device that was never seen there gets a new one.

        A reading that gives an index alone is of the device that was last new at that place. A device that had no index
        so far moves to the one that it is given.
        """
        identity = uuid or serial
        if identity is None:
            at_place = self._by_place.get((host, self._index(index)))
            return at_place[-1][1] if at_place else self._new(host, self._index(index), None, None)
        known = self._by_identity.get((host, identity), {})
        if known and index is None:
            return known[next(reversed(known))]
        if index is not None and index in known:
            self._seen(host, identity, index, known[index])
            return known[index]
        if index is None:
            taken = [place for name, place in self._by_place if name == host]
            index = min([_UNKNOWN_INDEX + 1, *taken]) - 1
        for other, key in self._by_place.get((host, index), []):
            if other is None:  # the place was known without a name so far
                return self._name(key, host, index, uuid, serial)
        without = [place for place in known if place <= _UNKNOWN_INDEX]
        if without and index > _UNKNOWN_INDEX:
            return self._move(known.pop(without[0]), host, without[0], index, identity)
        return self._new(host, index, uuid, serial)

    @staticmethod
    def _index(index: int | None) -> int:
        return _UNKNOWN_INDEX if index is None else index

    def _name(self, key: int, host: str, index: int, uuid: str | None, serial: str | None) -> int:
        self._by_place[host, index] = [
            (uuid or serial if known == key else identity, known) for identity, known in self._by_place[host, index]
        ]
        self._seen(host, str(uuid or serial), index, key)
        self._fresh.append({"device_key": key, "uuid": uuid, "serial": serial})
        return key

    def _move(self, key: int, host: str, before: int, index: int, identity: str) -> int:
        """Give a device that was known by its name alone its index."""
        del self._by_place[host, before]
        self._remember(key, host, index, identity)
        self._fresh.append({"device_key": key, "device_index": index})
        return key

    def _new(self, host: str, index: int, uuid: str | None, serial: str | None) -> int:
        key = self._following
        self._following += 1
        scope = "node" if index == NODE_INDEX else "board"
        self._remember(key, host, index, uuid or serial)
        self._fresh.append(
            {
                "device_key": key,
                "host": host,
                "device_index": index,
                "device_scope": scope,
                "uuid": uuid,
                "serial": serial,
            }
        )
        return key

    def store(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write what was met for the first time."""
        insert_rows(connection, "core.device", [row for row in self._fresh if "host" in row])
        for row in self._fresh:
            if "host" not in row:
                changed = {name: value for name, value in row.items() if name != "device_key"}
                connection.execute(
                    f"UPDATE core.device SET {', '.join(f'{name} = ?' for name in changed)} WHERE device_key = ?",
                    [*changed.values(), row["device_key"]],
                )
        self._fresh.clear()
