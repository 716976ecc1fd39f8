"""``python -m energy.cli`` is ``energy``."""

from energy.cli import main

main()
