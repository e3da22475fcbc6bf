"""Versions: Sindri's own, and the one of the MindSpore interface it offers."""
__version__ = '0.1.0'
# What `mindspore.__version__` says. Scripts compare it to choose between spellings of different releases.
mindspore_version = '2.10.0'
