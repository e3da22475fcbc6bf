"""`python -m sindri`: the verbs of the `sindri` program (train, eval, predict, summary, benchmark, …), and those written in Python."""
import os
import shutil
import sys
from typing import List, NoReturn

_OWN_VERBS = ("convert", "compare", "map")  # the program knows their flags, for its help and man pages, and runs them through Python


def _program() -> str:
    """Returns the program next to the package, or in the build tree from which the package runs."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.path.join(here, "bin", "sindri"), os.environ.get("SINDRI_PROGRAM", ""), os.path.join(here, "..", "..", "build", "release", "sindri")):
        if path and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise SystemExit("error: the `sindri` program is not installed next to the package | fix: pip install ./python, or set SINDRI_PROGRAM to its path")


def _called_as() -> str:
    """Returns how the user called the program, for the commands that it suggests: `sindri`, or `python3 -m sindri`."""
    if os.path.basename(sys.argv[0]) == "__main__.py":
        return f"{os.path.basename(sys.executable)} -m sindri"
    name = os.path.basename(sys.argv[0])
    found = shutil.which(name)
    return name if found and os.path.samefile(found, sys.argv[0]) else sys.argv[0]


def _become_program(called: str, words: List[str]) -> NoReturn:
    """Replaces the process by the program, called by this name, so that it handles signals and exit codes; scripts it starts run in this Python."""
    program = _program()
    os.environ.setdefault("SINDRI_PYTHON", sys.executable)
    sys.stdout.flush()
    os.execv(program, [called] + words)


def main() -> None:
    """Runs one verb."""
    if len(sys.argv) > 1 and sys.argv[1] in _OWN_VERBS:
        from sindri.tools import cli
        raise SystemExit(cli.main(sys.argv[1:]))
    _become_program(_called_as(), sys.argv[1:] or ["--help"])


def msrun() -> None:
    """The command `msrun`: MindSpore's launcher, a verb of the program."""
    _become_program("sindri", ["msrun"] + sys.argv[1:])


if __name__ == "__main__":
    main()
