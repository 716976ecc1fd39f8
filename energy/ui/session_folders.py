"""Folders of private ledgers: for the app's user alone, and gone when their session, their age or the server ends."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

MOST_AGE_S = 8 * 3600.0  # since the last upload
MOST_AWAY_S = 150.0  # a reader whose line was cut may come back for two minutes
LOOK_EVERY_S = 15.0
_ROOT = re.compile(r"energy-app-(\d+)-[^/]*\Z")


@cache
def root() -> Path:
    """Return the folder of this process's private ledgers; only its user can read it."""
    _sweep(Path(tempfile.gettempdir()))
    made = Path(tempfile.mkdtemp(prefix=f"energy-app-{os.getpid()}-")).resolve()
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def _sweep(folder: Path) -> None:
    """Remove what processes left that were killed: of this user, of no living process, and past its age."""
    for path in folder.glob("energy-app-*"):
        match = _ROOT.search(str(path))
        try:
            state = path.lstat()
            if match is None or path.is_symlink() or state.st_uid != os.getuid() or _lives(int(match[1])):
                continue
            if time.time() - state.st_mtime > MOST_AGE_S:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # another process removed it meanwhile


def _lives(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def is_private(folder: Path | str) -> bool:
    """Tell whether a folder belongs to the private ledgers of any session, of this server or another."""
    return any(_ROOT.fullmatch(part) for part in Path(folder).resolve().parts)


class Clock:
    """Removes a folder when its session has ended or its age is reached; it knows the folder, never the ledger."""

    def __init__(self, home: Path, is_open: Callable[[], bool] | None) -> None:
        self._home, self._is_open = home, is_open
        self._ended = threading.Event()
        self.restart()
        threading.Thread(target=self._watch, daemon=True, name=f"clock of {home.name}").start()

    def restart(self) -> None:
        """Count the age from now on."""
        self._end_s = time.monotonic() + MOST_AGE_S

    def end(self) -> None:
        """Remove the folder now."""
        self._ended.set()
        shutil.rmtree(self._home, ignore_errors=True)

    def _watch(self) -> None:
        """Look again and again: Streamlit forgets an ended session only when another begins or ends."""
        seen_s = time.monotonic()
        while not self._ended.wait(min(LOOK_EVERY_S, max(self._end_s - time.monotonic(), 0.0))):
            now_s = time.monotonic()
            if self._is_open is None or self._is_open():
                seen_s = now_s
            if now_s >= self._end_s or now_s - seen_s >= MOST_AWAY_S:
                self.end()
