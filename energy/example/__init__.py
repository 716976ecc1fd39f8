"""An example fleet that needs no other file: a whole quarter of jobs, nodes and GPU power, made from a seed.

Every value is synthetic. See :mod:`energy.example.quarter`.
"""

from energy.example.quarter import ExampleQuarter, generate, write

__all__ = ["ExampleQuarter", "generate", "write"]
