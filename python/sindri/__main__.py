"""`python -m sindri`: the verbs of the `sindri` program (train, eval, predict, summary, benchmark, …), and those written in Python (convert, compare)."""
import os
import sys


def _program() -> str:
    """The program beside the package, or in the build tree the package runs from."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.path.join(here, "bin", "sindri"), os.environ.get("SINDRI_PROGRAM", ""), os.path.join(here, "..", "..", "build", "release", "sindri")):
        if path and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise SystemExit("error: the `sindri` program is not installed beside the package | fix: pip install ./python, or set SINDRI_PROGRAM to its path")


def main() -> None:
    """Runs one verb; the process becomes the program, so signals and exit codes are its own."""
    verb = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if verb in ("convert", "compare"):
        from sindri.tools import cli
        raise SystemExit(cli.main(sys.argv[1:]))
    program = _program()
    sys.stdout.flush()
    os.execv(program, [program] + sys.argv[1:])


if __name__ == "__main__":
    main()
