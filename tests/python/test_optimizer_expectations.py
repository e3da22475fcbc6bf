"""Every optimizer over fifty steps, compared with MindSpore's results: the expectations that tests/optim/expectations_test.cc reads."""
import os
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
import optimizer_cases as cases  # noqa: E402

EXPECTED = cases.read(os.path.join(HERE, "..", "optim", "expectations", "optimizers.txt"))


@pytest.mark.parametrize("case", cases.CASES, ids=lambda c: c["name"])
def test_fifty_steps(case, mode):
    want = EXPECTED[case["name"]]
    params = {n: ms.Parameter(ms.Tensor(np.array(v, np.float32).reshape(cases.SHAPES[n])), name=n) for n, v in cases.STARTS.items()}
    opt = cases.build(nn, params, case)
    scale = np.float32(case["settings"].get("loss_scale", 1.0))

    def near(p, values, where):
        np.testing.assert_allclose(p.asnumpy().ravel(), values, 5e-5, 5e-6, err_msg=where)

    for step in range(1, cases.STEPS + 1):
        opt(tuple(ms.Tensor((np.array(cases.gradient(step, p.name), np.float32) * scale).reshape(cases.SHAPES[p.name])) for p in opt.parameters))
        for name, values in want["at"].get(step, {}).items():
            near(params[name], values, f"{name} after step {step}")
    state = {p.name: p for p in opt.get_parameters()}
    for name, values in want["state"].items():
        near(state[name], values, name)


def test_every_case_is_there():
    assert set(EXPECTED) == {c["name"] for c in cases.CASES}
