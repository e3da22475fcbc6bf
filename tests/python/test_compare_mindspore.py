"""Thousands of small calls have the results of the real MindSpore 2.10 (tests/reference/mindspore_2_10/results.json), except for decided differences
(differences.txt there). The same applies to names, parameters and defaults (signatures.json). tests/reference/compare_mindspore.py records and compares."""
import ast
import json
import os
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference", "mindspore_2_10")
sys.path.insert(0, HERE)

import cases  # noqa: E402
import compare  # noqa: E402
import random_cases  # noqa: E402
import run_cases  # noqa: E402
import signatures  # noqa: E402


def stored(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return json.load(file)


def report(wrong, tell):
    return f"{len(wrong)} findings; mend them, or list them with a reason in {tell}\n" + "\n".join(f"{kind}: {case}" for case, kind in wrong[:60])


def test_calls():
    """In child processes, so that a crash affects only one call and the modules' state stays untouched."""
    theirs = stored("results.json")
    assert list(theirs) == cases.load(), "cases and results.json differ: compare_mindspore.py record"
    assert len(theirs) >= 3000
    wrong = compare.findings(run_cases.isolated(theirs, chunk=2000), theirs, compare.decided())
    assert not wrong, report(wrong, "differences.txt")


def test_signatures():
    wrong = signatures.findings(signatures.collect(), stored("signatures.json"), compare.decided(signatures.DECIDED))
    assert not wrong, report(wrong, "signature_differences.txt")


def test_a_difference_is_found():
    """Each kind of difference, and a listed difference that no longer exists."""
    theirs = ["T", "float32", [2], [1.0, 2.0]]
    kinds = {"value": ["T", "float32", [2], [1.0, 2.001]], "dtype": ["T", "int32", [2], [1, 2]], "shape": ["T", "float32", [2, 1], [1.0, 2.0]],
             "type": ["P", "float32", [2], [1.0, 2.0]], "error here only": ["error", "ValueError"]}
    for kind, ours in kinds.items():
        assert compare.findings({"c": ours}, {"c": theirs}, {}) == [("c", kind)]
        assert compare.findings({"c": ours}, {"c": theirs}, {"c": "reason"}) == []
    assert compare.findings({"c": theirs}, {"c": ["error", "ValueError"]}, {}) == [("c", "error there only")]
    assert compare.findings({"c": theirs}, {"c": theirs}, {"c": "reason", "d": "reason"}) == [("c", "listed as different, is not"), ("d", "listed, but no case")]
    assert compare.difference(["error", "ValueError"], ["error", "RuntimeError"]) == ""
    assert compare.difference(["T", "float32", [1], ["nan"]], ["T", "float32", [1], ["nan"]]) == ""


def test_a_crash_or_hang_costs_one_call():
    found = run_cases.isolated(["1 + 1", "__import__('os')._exit(3)", "__import__('time').sleep(60)", "2 + 2"], seconds=4)
    assert list(found.values()) == [["int", 2], ["error", "crash"], ["error", "timeout"], ["int", 4]]


def test_random_calls():
    """The calls that tests/reference/compare_random.py compares with an installed MindSpore: a seed always gives the same ones, each is valid Python, none ends
    the process."""
    drawn = random_cases.draw(300, 1)
    assert len(drawn) == 300 and drawn == random_cases.draw(300, 1) and set(drawn) != set(random_cases.draw(300, 2))
    for case in drawn:
        ast.parse(case)
    found = run_cases.isolated(drawn)
    assert [case for case, result in found.items() if result in (["error", "crash"], ["error", "timeout"])] == []
    assert sum(result[0] != "error" for result in found.values()) > 200
