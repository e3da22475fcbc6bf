"""Counter-based values that both the C++ tests and these scripts compute (tests/ops/samples.cc, tests/models/formula.h)."""
import numpy as np

U64 = np.uint64


def fnv1a(text):
    h = 0xCBF29CE484222325
    for c in text.encode():
        h = ((h ^ c) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return h


def mix64(x):
    x = x + U64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


def mixed(key_text, n):
    with np.errstate(over="ignore"):
        return mix64(U64(fnv1a(key_text)) + np.arange(n, dtype=U64))


def unit(key_text, n):
    """Returns n values in [0, 1) with 53 bits."""
    return (mixed(key_text, n) >> U64(11)).astype(np.float64) * 2.0**-53
