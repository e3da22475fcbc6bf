"""Tools around training: weights from and to other frameworks (convert), and one training step compared value by value (compare).

`python -m sindri convert --help` and `python -m sindri compare --help` are their command lines; docs/guide/migration.md shows them at work.
"""
from sindri.tools import compare, convert

__all__ = ["compare", "convert"]
