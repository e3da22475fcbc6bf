"""Finds and runs the sindri program for hccl_tools.py and merge_hccl.py. Not meant to be run directly."""
import os
import shutil
import subprocess
import sys


def run_program(arguments):
    """Runs `sindri ARGUMENTS` and returns the exit code. The program is SINDRI_PROGRAM, else this tree's build, else the one in PATH."""
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "release", "sindri")
    program = os.environ.get("SINDRI_PROGRAM") or (built if os.access(built, os.X_OK) else shutil.which("sindri"))
    if not program:
        print("error: the sindri program was not found: build it with scripts/build.sh, or set SINDRI_PROGRAM", file=sys.stderr)
        return 2
    return subprocess.run([program, *arguments], check=False).returncode
