"""The package's types: the stubs match the running module, and scripts are checked against them. Needs mypy (scripts/python_env.sh)."""
import os
import subprocess
import sys

import pytest

import sindri

pytestmark = pytest.mark.slow  # omitted by scripts/test.sh --quick and --fast

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PACKAGE = os.path.dirname(os.path.abspath(sindri.__file__))
in_tree = pytest.mark.skipif(PACKAGE != os.path.join(ROOT, "python", "sindri"), reason="the package under test is not the one in this tree")


@pytest.fixture(scope="module", autouse=True)
def _mypy():
    pytest.importorskip("mypy", reason="mypy is not installed: types are not checked (pip install mypy)")


def run(*command, **more):
    """Returns (exit code, output) of a Python module, run in the root folder, where mypy.ini is."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python"), **more})
    return done.returncode, done.stdout + done.stderr


def mypy(*arguments, **more):
    return run("mypy", "--cache-dir", os.path.join(ROOT, "build", "mypy"), "--no-color-output", *arguments, **more)


def test_the_package_ships_its_types():
    assert os.path.exists(os.path.join(PACKAGE, "py.typed"))
    assert os.path.exists(os.path.join(PACKAGE, "_core", "__init__.pyi"))


@in_tree
def test_stubs_are_up_to_date():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "python_stubs.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@in_tree
def test_package_and_examples_are_strictly_typed():
    """Each example separately: several have a train.py and a folder src."""
    examples = os.path.join("python", "examples")
    folders = sorted(os.path.join(examples, name) for name in os.listdir(os.path.join(ROOT, examples)) if os.path.isdir(os.path.join(ROOT, examples, name)))
    assert folders
    for paths in (["python/sindri", os.path.join(examples, "quickstart.py")], *([folder] for folder in folders)):
        has_src = os.path.isdir(os.path.join(ROOT, paths[0], "src"))  # others may use that of the ResNet example
        code, output = mypy("--strict", *paths, **({} if has_src else {"MYPYPATH": os.path.join(ROOT, examples, "resnet")}))
        assert code == 0, output


@in_tree
def test_stubs_agree_with_the_module():
    code, output = run("mypy.stubtest", "sindri", "--concise", "--mypy-config-file", "mypy.ini", "--ignore-unused-allowlist",
                       "--allowlist", os.path.join("tests", "python", "stubtest_allowlist.txt"))
    assert code == 0, output


SCRIPT = '''
import numpy as np
import sindri as ms
from sindri import nn, ops
from sindri.ops import operations as P

x = ms.Tensor(np.ones((2, 3), np.float32))
reveal_type(x + 1)
reveal_type(x.shape)
reveal_type(x.sum(axis=0).asnumpy())
reveal_type(x.add(2))
reveal_type(ops.matmul(x, x.T))
reveal_type(P.Add()(x, 1.0))
reveal_type(nn.Dense(3, 4).trainable_params())
reveal_type(ms.load_param_into_net)
reveal_type(ms.float32)
nn.Conv2d(3, 8)  # WRONG call-arg
nn.Dense("3", 4)  # WRONG arg-type
x.nope()  # WRONG attr-defined
ops.Adds()  # WRONG attr-defined
P.Softmax(axes=1)  # WRONG call-arg
P.ReduceSum(keep_dims="yes")  # WRONG arg-type
ms.set_seed("one")  # WRONG arg-type
x.reshape((3, 2)).astype(ms.float16, cpy=True)  # WRONG call-arg
'''
REVEALED = ["sindri._core.Tensor", "tuple[int, ...]", "numpy.ndarray[Any, Any]", "sindri._core.Tensor", "sindri._core.Tensor", "sindri._core.Tensor",
            "list[sindri._core.Parameter]", "LoadResult", "sindri._core.DType"]


@in_tree
def test_scripts_are_checked_against_the_types(tmp_path):
    """Correct code passes with the expected types, and every wrong line is found: if all types were Any, everything would pass."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    output = mypy("--strict", str(path))[1]
    shown = [line for line in output.splitlines() if "Revealed type" in line]
    assert len(shown) == len(REVEALED), output
    for line, wanted in zip(shown, REVEALED):
        assert wanted.replace("int", "builtins.int") in line or wanted in line, line
    for number, line in enumerate(SCRIPT.splitlines(), 1):
        found = [out for out in output.splitlines() if f"script.py:{number}: error" in out]
        if "# WRONG" in line:
            assert len(found) == 1 and f"[{line.split()[-1]}]" in found[0], (line, found)
        else:
            assert not found, found


def test_a_missing_extension_is_named(tmp_path):
    """The folder of stubs next to the extension must not be taken for it."""
    package = tmp_path / "sindri"
    package.mkdir()
    for name in os.listdir(PACKAGE):
        if not name.startswith("_core."):
            os.symlink(os.path.join(PACKAGE, name), package / name)
    done = subprocess.run([sys.executable, "-c", "import sindri"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and "is not built for this Python" in done.stderr, done.stderr
