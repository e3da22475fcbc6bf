"""Helpers for building networks.

Written by scripts/python_stubs.py; do not edit."""


from sindri.nn.utils.init import no_init_parameters as no_init_parameters

__all__ = ["no_init_parameters"]
