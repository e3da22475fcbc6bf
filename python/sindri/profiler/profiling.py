"""Profiler, under its module in MindSpore 1."""
from sindri.profiler.profiler import Profiler

__all__ = ["Profiler"]
