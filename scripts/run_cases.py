#!/usr/bin/env python3
"""Runs a GoogleTest program so that a crash in one case does not lose the results of the others.

usage: run_cases.py [--results NAME] PROGRAM [ARGUMENT...]
       run_cases.py --self-test

If a program crashes, it is started again with the cases that have not run yet. The finished cases, and the crashed case as a failure, are written as XML to
the folder of GTEST_OUTPUT (xml:FOLDER/), next to the file that the last start writes. NAME, by default the program's name, is the prefix of these files' names;
give parts of one program that run at the same time different names. The exit code is 0 if every case passed.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

MOST_CRASHES = 20  # after this many crashes, running the remaining cases gives no more information


def run(command, env):
    """Runs the command and shows its output. Returns (exit code, {case: OK, FAILED or SKIPPED}, the case that was running or None)."""
    results, running = {}, None
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as process:
        for line in process.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            found = re.search(rb"\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^ ,\s]+)", line)
            if found is None:
                continue
            what, name = found[1].decode(), found[2].decode()
            if what == "RUN":
                running = name
            elif name == running:  # excludes the list of failures at the end
                results[name], running = what, None
    return process.returncode, results, running


def cases(program, arguments, env):
    """Returns all cases that the environment's filter and shard select, in order, without disabled cases."""
    text = subprocess.run([program, *arguments, "--gtest_list_tests"], env={**env, "GTEST_OUTPUT": ""}, stdout=subprocess.PIPE, check=True, text=True).stdout
    names, suite = [], ""
    for line in text.splitlines():
        bare = line.split("#")[0].rstrip()
        if not line.startswith(" "):
            suite = bare
        elif "DISABLED_" not in suite + bare:
            names.append(suite + bare.strip())
    return names[int(env.get("GTEST_SHARD_INDEX", 0))::int(env.get("GTEST_TOTAL_SHARDS", 1))]


def write_xml(path, results, crashed, why):
    root = ET.Element("testsuites")
    for name, result in {**results, crashed: "CRASHED"}.items():
        suite, _, case = name.rpartition(".")
        at = ET.SubElement(root, "testcase", classname=suite, name=case, status="run", result="skipped" if result == "SKIPPED" else "completed")
        if result == "SKIPPED":
            ET.SubElement(at, "skipped", message="see the output of the run that crashed")
        elif result != "OK":
            ET.SubElement(at, "failure", message=why if result == "CRASHED" else "see the output of the run that crashed")
    ET.ElementTree(root).write(path)


def main(name, program, arguments, env):
    output = env.get("GTEST_OUTPUT", "")
    folder = pathlib.Path(output[len("xml:"):]) if output.startswith("xml:") and output.endswith("/") else None
    if folder is not None:
        env = {**env, "GTEST_OUTPUT": f"xml:{folder / name}.xml"}
    ok, done, command = True, set(), [program, *arguments]
    with tempfile.TemporaryDirectory() as temporary:
        for crash in range(MOST_CRASHES):
            code, results, running = run(command, env)
            if running is None:
                return 0 if ok and code == 0 else max(code, 1)
            ok = False
            end = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            print(f"{running}: the program ended in this case ({end}); the rest is run without it", flush=True)
            if folder is not None:
                write_xml(folder / f"{name}.crash{crash + 1}.{os.getpid()}.xml", results, running, f"the program ended: {end}")
            if crash == 0:
                planned = cases(program, arguments, env)
            done |= {*results, running}
            rest = [case for case in planned if case not in done]
            if not rest:
                return 1
            # the list of cases already includes their effect
            env = {k: v for k, v in env.items() if k not in ("GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_FILTER")}
            flags = pathlib.Path(temporary) / "flags"
            flags.write_text("--gtest_filter=" + ":".join(rest) + "\n")
            command = [program, *[a for a in arguments if not a.startswith("--gtest_filter")], f"--gtest_flagfile={flags}"]
    return 1


# Behaves like a test program whose case A.two crashes and whose case B.one fails.
FAKE = """#!/usr/bin/env python3
import os, signal, sys
flags = [open(a.split("=")[1]).read() for a in sys.argv if a.startswith("--gtest_flagfile=")]
cases = flags[0].strip().split("=")[1].split(":") if flags else ["A.one", "A.two", "B.one", "B.two/0"]
if "--gtest_list_tests" in sys.argv:
    sys.exit(print("A.\\n  one\\n  two\\n  DISABLED_three\\nB.\\n  one  # TypeParam = int\\n  two/0  # GetParam() = 3"))
for case in cases:
    print(f"[ RUN      ] {case}\\nnoise", end="", flush=True)
    if case == "A.two":
        os.kill(os.getpid(), signal.SIGFPE)
    print("[  FAILED  ]" if case == "B.one" else "[       OK ]", case, "(0 ms)", flush=True)
open(os.environ["GTEST_OUTPUT"][4:], "w").write("<a>" + "".join(f'<testcase classname="c" name="{c}" status="run">' + (
    '<failure/>' if c == "B.one" else "") + "</testcase>" for c in cases) + "</a>")
sys.exit("B.one" in cases)
"""


def self_test():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import count_tests
    with tempfile.TemporaryDirectory() as folder:
        fake = pathlib.Path(folder) / "fake_tests"
        fake.write_text(FAKE)
        fake.chmod(0o755)
        code = main("fake.1", str(fake), [], {**os.environ, "GTEST_OUTPUT": f"xml:{folder}/"})
        passed, failed, skipped, notes, seen = count_tests.count(pathlib.Path(folder))
    got = (code, passed, failed, skipped, sorted(notes), seen)
    wanted = (1, 2, 2, 0, ["FAILED fake.1: A.two", "FAILED fake.1: c.B.one"], {"fake.1"})
    print("self-test:", "ok" if got == wanted else f"expected {wanted}, got {got}")
    return 0 if got == wanted else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    named = sys.argv[1] == "--results"
    started = sys.argv[3:] if named else sys.argv[1:]
    sys.exit(main(sys.argv[2] if named else pathlib.Path(started[0]).name, started[0], started[1:], dict(os.environ)))
