"""Profiler under its MindSpore 1 module."""
from sindri.profiler.profiler import Profiler

__all__ = ["Profiler"]
