"""Every expression of ops_cases.py has the result of the real MindSpore 2.10 (expectations/ops.json): values, shapes, element types."""
import json
import os

import numpy as np
import pytest

import ops_cases
import sindri as ms

with open(os.path.join(os.path.dirname(__file__), "expectations", "ops.json")) as _f:
    EXPECTED = json.load(_f)

# Cases in which MindSpore's result is not followed, with the reason.
DIFFERENT = {
    "P.Xlogy()(f([0, 2]), f([0, 3]))": "x·log(y) is 0 for x = 0, MindSpore's own description; its CPU kernel gives NaN at y = 0",
    "ops.full((2,), 2.5)": "a fraction gives float32; MindSpore 2.10 truncates it to int64",
    "after(P.ApplyMomentum(use_nesterov=True), Parameter(x, 'a'), Parameter(y, 'b'), 0.1, g, 0.9)":
        "Nesterov's step as documented; MindSpore's eager kernel omits it",
}


def compare(found, wanted, tolerance):
    if isinstance(wanted, dict):
        assert isinstance(found, dict), found
        assert found["shape"] == wanted["shape"]
        assert found["dtype"] == wanted["dtype"]
        np.testing.assert_allclose(np.array(found["values"], float), np.array(wanted["values"], float), rtol=tolerance, atol=tolerance)
    elif isinstance(wanted, list):
        assert isinstance(found, list) and len(found) == len(wanted), found
        for a, b in zip(found, wanted):
            compare(a, b, tolerance)
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-6)
    else:
        assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize("case", [c for c in ops_cases.CASES if c in EXPECTED])
def test_as_mindspore(case):
    if case in DIFFERENT:
        pytest.skip(DIFFERENT[case])
    found = ops_cases.plain(ms, eval(case, ops_cases.names(ms)))
    compare(found, EXPECTED[case], 2e-6)
