"""Calls that work here but that the real MindSpore 2.10 rejects or computes differently have NumPy's results (numpy_forms.py, numpy_package.py). Tests every
call under
the headings of tests/reference/mindspore_2_10/differences.txt that begin as HEADINGS lists."""
import os
import sys

import numpy as np
import pytest

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference", "mindspore_2_10")
sys.path.insert(0, HERE)

import compare  # noqa: E402
import numpy_package  # noqa: E402
import run_cases  # noqa: E402

HEADINGS = ("Works here: ", "Changed in place", "NaN stays NaN", "Mean, variance and deviation of integers", "float64 statistics", "The sum of uint8",
            "A comparison of uint8", "Comparison with an array", "The method cumsum of bools")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from NumPy, for means of no elements
def test_calls_that_work_here_give_what_numpy_gives():
    listed = [case for case, reason in compare.decided().items() if reason.startswith(HEADINGS)]
    assert len(listed) >= 900
    with np.errstate(all="ignore"):
        expected = {case: numpy_package.evaluate(case) for case in listed}
    wrong = [(case, kind, ours, expected[case]) for case, ours in run_cases.isolated(listed, chunk=2000).items()
             if (kind := compare.difference(ours, expected[case])) or ours[0] == "error"]
    lines = [f"{kind}: {case}\n  here  {ours}\n  NumPy {theirs}" for case, kind, ours, theirs in wrong[:40]]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(listed)}", *lines])


@pytest.mark.parametrize("case, result", [
    ("bf([1.5, 2.01])", ["T", "bfloat16", [2], [1.5, 2.0156]]), ("i([3]) / 2", ["T", "float32", [1], [1.5]]),
    ("h([1]) + bf([2])", ["T", "float32", [1], [3.0]]), ("x = X(2, 3); y = x[0]; y.zero_(); x[0]", ["T", "float32", [3], [0.0, 0.0, 0.0]]),
    ("ops.std(b([True, False]))", ["T", "float32", [], [0.5]]), ("x = X(2); x.fill_(3); x", ["T", "float32", [2], [3.0, 3.0]])])
def test_the_forms_themselves(case, result):
    assert numpy_package.evaluate(case) == result
