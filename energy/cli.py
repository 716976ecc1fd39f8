"""Command line (placeholder while the parts are assembled)."""


def main() -> None:
    """Run."""
