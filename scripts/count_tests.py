#!/usr/bin/env python3
"""Counts test results in the XML files of GoogleTest and pytest: prints "passed failed skipped", and lists failures and skips on stderr.

usage: count_tests.py RESULTS_DIR BUILD_DIR

A test that CTest ran (Testing/Temporary/LastTest.log) but that wrote no XML timed out, or crashed outside its cases. It counts as one failure.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ET


def count(results: pathlib.Path):
    """Returns (passed, failed, skipped, notes, names of the tests found) over all XML files in a folder."""
    passed = failed = skipped = 0
    notes, seen = [], set()
    for path in sorted(results.glob("*.xml")):
        test = path.stem.split(".crash")[0]  # run_cases.py writes TEST.xml and TEST.crashN.PID.xml
        seen.add(test)
        for case in ET.parse(path).getroot().iter("testcase"):
            name = f"{test}: {case.get('classname')}.{case.get('name')}"
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                notes.append(f"FAILED {name}")
            elif case.get("status") == "notrun":
                continue  # excluded by a filter, or disabled
            elif case.get("result") == "skipped" or case.find("skipped") is not None:
                skipped += 1
                message = case.find("skipped")
                reason = (message.get("message") or message.text or "") if message is not None else ""
                notes.append(f"SKIPPED {name}: {' '.join(reason.split())}")
            else:
                passed += 1
    return passed, failed, skipped, notes, seen


def ran(build: pathlib.Path):
    """Returns the names of the tests in CTest's last log."""
    log = build / "Testing" / "Temporary" / "LastTest.log"
    if not log.exists():
        return set()
    return set(re.findall(r"^\d+/\d+ Testing: (\S+)$", log.read_text(errors="replace"), re.M))


def main():
    results, build = map(pathlib.Path, sys.argv[1:3])
    passed, failed, skipped, notes, seen = count(results)
    for name in sorted(ran(build) - seen):
        failed += 1
        notes.append(f"FAILED {name}: ended without results (crash or timeout)")
    print("\n".join(notes), file=sys.stderr, end="\n" if notes else "")
    print(passed, failed, skipped)


if __name__ == "__main__":
    main()
