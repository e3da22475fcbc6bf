"""Compares two results of run_cases.py."""
import os

RELATIVE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "float64": 1e-9, "complex64": 2e-5, "complex128": 1e-9}
HERE = os.path.dirname(os.path.abspath(__file__))


def _close(ours, theirs, relative, scale):
    if isinstance(theirs, list) or isinstance(ours, list):  # complex
        return isinstance(ours, list) and isinstance(theirs, list) and all(_close(a, b, relative, scale) for a, b in zip(ours, theirs))
    if isinstance(theirs, str) or isinstance(ours, str):
        return ours == theirs
    if isinstance(theirs, (bool, int)) and isinstance(ours, (bool, int)):
        return ours == theirs
    return abs(ours - theirs) <= relative * max(abs(theirs), scale)


def _values(ours, theirs, relative):
    numbers = [abs(v) for v in theirs if isinstance(v, (int, float))]
    scale = max(0.1, min(max(numbers, default=0), 10.0))
    return len(ours) == len(theirs) and all(_close(a, b, relative, scale) for a, b in zip(ours, theirs))


def difference(ours, theirs):
    """Returns '' for equal results (two errors are equal), else the kind of the first difference: 'type', 'dtype', 'shape', 'value', 'error here only',
    'error there only'."""
    if ours[0] == "error" or theirs[0] == "error":
        return "" if ours[0] == theirs[0] else "error here only" if ours[0] == "error" else "error there only"
    if ours[0] != theirs[0]:
        return "type"
    kind = theirs[0]
    if kind in "TPN":
        if ours[1] != theirs[1]:
            return "dtype"
        if ours[2] != theirs[2]:
            return "shape"
        relative = RELATIVE.get(theirs[1], 0)
        if not _values(ours[3], theirs[3], relative):
            return "value"
        return "" if len(theirs) < 5 or _values(ours[4:], theirs[4:], max(relative, 1e-4)) else "value"
    if kind == "~":
        return "" if all(abs(a - b) <= max(ours[1], theirs[1]) for a, b in zip(ours[2:4], theirs[2:4])) and all(
            abs(a - b) <= 6 * max(ours[1], theirs[1]) for a, b in zip(ours[4:], theirs[4:])) else "value"
    if kind in "([{":
        if len(ours) != len(theirs):
            return "shape"
        if kind == "{":
            if [k for k, _ in ours[1:]] != [k for k, _ in theirs[1:]]:
                return "value"
            return next((d for (_, a), (_, b) in zip(ours[1:], theirs[1:]) if (d := difference(a, b))), "")
        return next((d for a, b in zip(ours[1:], theirs[1:]) if (d := difference(a, b))), "")
    if kind in ("float", "np.float64", "np.float32", "complex"):
        return "" if _values(ours[1:], theirs[1:], 2e-5) else "value"
    return "" if ours[1:] == theirs[1:] else "value"


def decided(path=os.path.join(HERE, "differences.txt")):
    """Returns {case: reason} of the accepted differences. In the file, a line that starts with '## ' gives a reason, and the lines below it are its cases."""
    found, reason = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("## "):
                reason = line[3:].strip()
            elif line.strip() and not line.startswith("# "):
                assert reason, f"{path}: no reason above {line!r}"
                assert line not in found, f"{path}: {line!r} is listed twice"
                found[line] = reason
    return found


def findings(ours, theirs, listed):
    """Returns a tree's findings: [(case, kind)] of differences that are not listed, and of listed ones that no longer occur. A reason that starts with 'open:'
    marks a case that is being fixed: it may differ or not."""
    wrong = []
    for case, result in theirs.items():
        kind = difference(ours[case], result)
        if kind and case not in listed:
            wrong.append((case, kind))
        if not kind and case in listed and not listed[case].startswith("open:"):
            wrong.append((case, "listed as different, is not"))
    return wrong + [(case, "listed, but no case") for case in listed if case not in theirs]
