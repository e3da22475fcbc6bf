"""The calls that are compared: CASES, a list of texts for run_cases.py. Each part of the interface has a module with a list of the same name."""
import importlib

MODULES = "elementwise reduce shape index tensor linear numpy_ primitives random_ nn_ loss optim metrics dataset_ formulas semantics".split()


def load(modules=MODULES):
    """Returns the cases of some modules, each once, in order."""
    return list(dict.fromkeys(case for name in modules for case in importlib.import_module(f"{__name__}.{name}").CASES))


def lines(text):
    """Returns the lines of a text that are not comments."""
    return [line for line in (raw.strip() for raw in text.splitlines()) if line and not line.startswith("# ")]
