"""Tools for migration and training: conversion of weights (convert), comparison of one training step value by value (compare), and counterparts of other
frameworks' names (counterparts).

Their command lines are `sindri convert`, `sindri compare` and `sindri map`, each with --help; docs/guide/migration.md shows how to use them.
"""
from sindri.tools import compare, convert, counterparts

__all__ = ["compare", "convert", "counterparts"]
