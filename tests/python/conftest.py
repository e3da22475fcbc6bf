"""Fixtures of the Python tests. The tests use whichever package `import sindri` finds: the installed one, or with PYTHONPATH=python that of a build tree."""
import signal
import xml.etree.ElementTree

import numpy as np
import pytest

import simulated
import sindri as ms

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # ignored when a shell starts tests in the background, but tests send Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    """--in-tree: tests that need this tree's library, sources or a compiler fail instead of being skipped if they are missing."""
    parser.addoption("--passed-before", metavar="XML", help="omit tests that passed in an earlier run, according to its JUnit results")
    parser.addoption("--in-tree", action="store_true", help="fail if this tree's library, its sources or a compiler are missing; scripts/test.sh sets this option")


def _passed(path):
    """Returns (class name, name) of every passed test in a JUnit file."""
    cases = xml.etree.ElementTree.parse(path).iter("testcase")
    return {(c.get("classname"), c.get("name")) for c in cases if not {child.tag for child in c} & {"failure", "error", "skipped"}}


def _junit_name(item):
    """Returns (class name, name) as pytest writes them for a test's result."""
    path, bracket, parameters = item.nodeid.partition("[")
    file, *names = path.split("::")
    return ".".join([file.removesuffix(".py").replace("/", "."), *names[:-1]]), names[-1] + bracket + parameters


def pytest_collection_modifyitems(config, items):
    """Deselects the tests that --passed-before names. The suite runs against the installed wheel first, then runs the other tests from the build tree."""
    path = config.getoption("--passed-before")
    if not path:
        return
    passed = _passed(path)
    config.hook.pytest_deselected(items=[item for item in items if _junit_name(item) in passed])
    items[:] = [item for item in items if _junit_name(item) not in passed]


def pytest_configure(config):
    """Registers the marker; pytest warns about unknown ones."""
    config.addinivalue_line("markers", "slow: omitted by scripts/test.sh --quick and --fast")


@pytest.fixture(autouse=True)
def _same_start():
    """Starts every test with the same seed, in eager mode, and restores the context afterwards."""
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
    """Returns the function to call, with a reason, if something is missing that a build of this tree has."""
    return pytest.fail if request.config.getoption("--in-tree") else pytest.skip


@pytest.fixture(scope="session")
def simulator(missing):
    """Returns the library of the simulated accelerator."""
    path, why = simulated.find_library()
    if path is None:
        missing(why)
    return path


@pytest.fixture
def rng():
    """Returns a seeded NumPy generator."""
    return np.random.default_rng(7)


@pytest.fixture(scope="session")
def cuda_host():
    """Returns the plugin of the CUDA backend's host run. It needs the CUDA toolkit's headers, so tests are skipped in a build without it."""
    path, why = simulated.find_cuda_host()
    if path is None:
        pytest.skip(why)
    return path
