"""`python -m sindri`: the verbs of the `sindri` program (train, eval, predict, summary, benchmark, …), and those written in Python (convert, compare)."""
import os
import subprocess
import sys

_OWN_VERBS = {"convert": "Carry weights over between MindSpore, safetensors and PyTorch files",
              "compare": "Record one training step and compare two records value by value"}


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
    if verb in _OWN_VERBS:
        from sindri.tools import cli
        raise SystemExit(cli.main(sys.argv[1:]))
    program = _program()
    if verb in ("-h", "--help"):
        text = subprocess.run([program, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout.rstrip("\n")
        print("\n".join([text, *(f"  {name:<32}{what}" for name, what in _OWN_VERBS.items())]))
        return
    sys.stdout.flush()
    os.execv(program, [program] + sys.argv[1:])


if __name__ == "__main__":
    main()
