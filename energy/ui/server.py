"""A running app in a process of its own, on a free port: for tests, pictures and measurements."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from energy.errors import EnergyError
from energy.resources import resource

START_S = 60.0
_STOP_S = 20.0


@contextmanager
def running(ledger: Path, folder: Path) -> Iterator[str]:
    """Serve a ledger as long as the context lasts.

    Parameters
    ----------
    ledger : pathlib.Path
        The ledger's folder.
    folder : pathlib.Path
        Where the server runs and leaves its log and the list of ledgers it opened.

    Yields
    ------
    str
        The app's address, as ``http://localhost:40001``; it answers.

    Raises
    ------
    EnergyError
        When the server ends or does not answer.
    """
    port = _free_port()
    environment = os.environ | {"ENERGY_LEDGER": str(ledger), "XDG_STATE_HOME": str(folder)}
    environment.pop("PYTHONWARNINGS", None)
    command = [sys.executable, "-m", "energy.ui", "run", str(resource("app.py"))]
    command += ["--server.address", "localhost", "--server.port", str(port), "--server.headless", "true"]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            _wait(f"http://localhost:{port}/_stcore/health", process, folder / "server.log")
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait(timeout=_STOP_S)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port: int = free.getsockname()[1]
    return port


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise EnergyError(f"The app's server ended at once: see {log}.")
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise EnergyError(f"The app's server did not answer within {START_S:.0f} s: see {log}.")
