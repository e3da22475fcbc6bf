"""Helpers that some scripts import from MindSpore's private package of this name."""
from sindri._extends.utils import cell_attr_register

__all__ = ['cell_attr_register']
