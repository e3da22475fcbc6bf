"""Tools around training: weights from and to other frameworks (convert), one training step compared value by value (compare), and counterparts of other
frameworks' names (counterparts).

`sindri convert --help`, `sindri compare --help` and `sindri map --help` are their command lines; docs/guide/migration.md shows them at work.
"""
from sindri.tools import compare, convert, counterparts

__all__ = ["compare", "convert", "counterparts"]
