"""Versions: that of Sindri, and that of the MindSpore interface it provides."""
__version__ = '0.1.0'
# The value of `mindspore.__version__`. Scripts compare it to choose between the spellings of different releases.
mindspore_version = '2.10.0'
