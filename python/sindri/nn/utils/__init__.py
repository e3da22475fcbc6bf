"""Helpers for building networks."""
from sindri.nn.utils.init import no_init_parameters

__all__ = ["no_init_parameters"]
