"""Fixtures of the Python tests. They run against `import sindri` as it is found: installed, or PYTHONPATH=python in a build tree."""
import signal
import xml.etree.ElementTree

import numpy as np
import pytest

import simulated
import sindri as ms

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # started in the background by a shell: tests press Ctrl-C all the same
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    """--in-tree: a test that needs this tree's library, its sources or a compiler fails where it finds none, instead of being skipped."""
    parser.addoption("--passed-before", metavar="XML", help="leave out the tests that passed in an earlier run, by its JUnit results")
    parser.addoption("--in-tree", action="store_true", help="fail where the library of this tree, its sources or a compiler are missing; scripts/test.sh says so")


def _passed(path):
    """(class name, name) of every test of a JUnit file that passed."""
    cases = xml.etree.ElementTree.parse(path).iter("testcase")
    return {(c.get("classname"), c.get("name")) for c in cases if not {child.tag for child in c} & {"failure", "error", "skipped"}}


def _junit_name(item):
    """(class name, name) under which pytest writes a test's result."""
    path, bracket, parameters = item.nodeid.partition("[")
    file, *names = path.split("::")
    return ".".join([file.removesuffix(".py").replace("/", "."), *names[:-1]]), names[-1] + bracket + parameters


def pytest_collection_modifyitems(config, items):
    """Deselects what --passed-before names: the suite runs against the installed wheel first, and from the build tree what the wheel alone cannot run."""
    path = config.getoption("--passed-before")
    if not path:
        return
    passed = _passed(path)
    config.hook.pytest_deselected(items=[item for item in items if _junit_name(item) in passed])
    items[:] = [item for item in items if _junit_name(item) not in passed]


def pytest_configure(config):
    """Names the mark, which pytest warns about otherwise."""
    config.addinivalue_line("markers", "slow: left out by scripts/test.sh --quick and --fast")


@pytest.fixture(autouse=True)
def _same_start():
    """Every test starts with one seed, eager, and leaves the context as it was."""
    ms.set_seed(1)
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", device_id=0)
    ms.reset_auto_parallel_context()
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", device_id=0)


@pytest.fixture(params=["graph", "pynative"])
def mode(request):
    """Runs a test in both modes."""
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    return request.param


@pytest.fixture(scope="session")
def missing(request):
    """What to call, with the reason, where something is missing that a build of this tree has."""
    return pytest.fail if request.config.getoption("--in-tree") else pytest.skip


@pytest.fixture(scope="session")
def simulator(missing):
    """The library of the simulated accelerator."""
    path, why = simulated.find_library()
    if path is None:
        missing(why)
    return path


@pytest.fixture
def rng():
    """A seeded NumPy generator."""
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def cuda_host():
    """The plugin of the CUDA backend's host run. It needs the CUDA toolkit's headers, so tests skip in a build without it."""
    path, why = simulated.find_cuda_host()
    if path is None:
        pytest.skip(why)
    return path
