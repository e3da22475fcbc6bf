#!/usr/bin/env python3
"""Writes the tables that the modified Bessel functions are computed from and the values they are compared with, using mpmath (PyTorch's environment has it):

    ops/elementwise/bessel_tables.h          Chebyshev coefficients of the smooth parts of I0, I1, K0, K1
    tests/python/expectations/bessel.json    values of all twelve functions in float64

    /path/to/pytorch/bin/python tests/reference/make_bessel_tables.py
"""
import json
import os

import mpmath as mp

mp.mp.dps = 40
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# name: (function of t in [-1, 1], description of the table)
TABLES = {
    "kI0Small": (lambda t: mp.exp(-(4 * t + 4)) * mp.besseli(0, 4 * t + 4), "e^-x I0(x), x = 4t + 4 in [0, 8]"),
    "kI0Large": (lambda t: _scaled_i(0, t), "e^-x sqrt(x) I0(x), 1/x = (t + 1)/16 in [0, 1/8]"),
    "kI1Small": (lambda t: mp.exp(-(4 * t + 4)) * mp.besseli(1, 4 * t + 4) / (4 * t + 4) if t > -1 else mp.mpf(1) / 2, "e^-x I1(x)/x, x = 4t + 4 in [0, 8]"),
    "kI1Large": (lambda t: _scaled_i(1, t), "e^-x sqrt(x) I1(x), 1/x = (t + 1)/16 in [0, 1/8]"),
    "kK0Small": (lambda t: _k0_rest(mp.sqrt(2 * t + 2)), "K0(x) + log(x/2) I0(x), x^2 = 2t + 2 in [0, 4]"),
    "kK0Large": (lambda t: _scaled_k(0, t), "e^x sqrt(x) K0(x), 1/x = (t + 1)/4 in [0, 1/2]"),
    "kK1Small": (lambda t: _k1_rest(mp.sqrt(2 * t + 2)), "x (K1(x) - log(x/2) I1(x)), x^2 = 2t + 2 in [0, 4]"),
    "kK1Large": (lambda t: _scaled_k(1, t), "e^x sqrt(x) K1(x), 1/x = (t + 1)/4 in [0, 1/2]"),
}
_FUNCTIONS = {
    "j0": lambda x: mp.besselj(0, x), "j1": lambda x: mp.besselj(1, x), "y0": lambda x: mp.bessely(0, x), "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x), "i0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), "i1": lambda x: mp.besseli(1, x),
    "i1e": lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), "k0": lambda x: mp.besselk(0, x), "k0e": lambda x: mp.besselk(0, x) * mp.exp(x),
    "k1": lambda x: mp.besselk(1, x), "k1e": lambda x: mp.besselk(1, x) * mp.exp(x),
}
PLACES = [1e-300, 1e-8, 0.01, 0.3, 1.0, 1.7, 2.0, 2.1, 3.3, 5.0, 7.9, 8.0, 8.3, 12.5, 31.0, 100.0, 333.25, 690.0]


def _scaled_i(n, t):
    if t <= -1:
        return 1 / mp.sqrt(2 * mp.pi)
    x = 16 / (t + 1)
    return mp.exp(-x) * mp.sqrt(x) * mp.besseli(n, x)


def _scaled_k(n, t):
    if t <= -1:
        return mp.sqrt(mp.pi / 2)
    x = 4 / (t + 1)
    return mp.exp(x) * mp.sqrt(x) * mp.besselk(n, x)


def _k0_rest(x):
    return mp.besselk(0, x) + mp.log(x / 2) * mp.besseli(0, x) if x > 0 else -mp.euler


def _k1_rest(x):
    return x * (mp.besselk(1, x) - mp.log(x / 2) * mp.besseli(1, x)) if x > 0 else mp.mpf(1)


def chebyshev(f, points=64):
    """Returns the coefficients c of c0/2 + sum ck Tk(t) that are significant in float64."""
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / points) for k in range(points)]
    values = [f(t) for t in nodes]
    c = [2 * mp.fsum(v * mp.cos(mp.pi * j * (k + mp.mpf(1) / 2) / points) for k, v in enumerate(values)) / points for j in range(points)]
    while abs(c[-1]) < mp.mpf(2) ** -58 * abs(c[0]):
        c.pop()
    return c


def main():
    lines = ["// Chebyshev coefficients of the modified Bessel functions: sum c[k] T_k(t) with c[0] halved, t in [-1, 1]. Written by",
             "// tests/reference/make_bessel_tables.py; do not edit.", "#pragma once", "", "namespace sindri::bessel {", "", "// clang-format off"]
    for name, (f, what) in TABLES.items():
        c = chebyshev(f)
        lines += [f"// {what}", f"inline constexpr double {name}[] = {{"]
        texts = [mp.nstr(v, 19, min_fixed=0, max_fixed=0) for v in c]
        lines += ["    " + ", ".join(texts[i:i + 5]) + "," for i in range(0, len(texts), 5)] + ["};"]
    lines += ["// clang-format on", "", "}  // namespace sindri::bessel", ""]
    with open(os.path.join(ROOT, "ops", "elementwise", "bessel_tables.h"), "w", encoding="utf-8") as f:
        f.write("\n".join(lines))
    values = {name: [mp.nstr(f(mp.mpf(x)), 20) for x in PLACES] for name, f in _FUNCTIONS.items()}
    with open(os.path.join(ROOT, "tests", "python", "expectations", "bessel.json"), "w", encoding="utf-8") as f:
        body = ",\n".join(f'"{name}": {json.dumps(v)}' for name, v in values.items())
        f.write(f'{{"places": {json.dumps(PLACES)},\n{body}}}\n')


if __name__ == "__main__":
    main()
