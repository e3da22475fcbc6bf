"""`sindri map`: counterparts of PyTorch's and MindSpore's names, from the data in docs/guide/migration.md."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import sindri as ms
from sindri.tools import cli, counterparts

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("SINDRI_PROGRAM") or ROOT / "build" / "release" / "sindri")


def run(capsys, *words):
    code = cli.main(["map", *words])
    return code, capsys.readouterr()


def test_the_page_shows_the_data():
    """Compares every table of the page, row by row; a changed row must be changed in torch_names.json, too."""
    page = (ROOT / "docs/guide/migration.md").read_text(encoding="utf-8")
    tables, rows = counterparts.tables(), 0
    for part in tables.split("## ")[1:]:
        heading, *lines = [line for line in part.splitlines() if line]
        shown = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        assert [line for line in lines if line not in shown.splitlines()] == [], heading
        assert len([line for line in shown.splitlines() if line.startswith("|")]) == len(lines) + 1, f"{heading}: a row that the data does not have"
        rows += len(lines)
    assert rows > 70


def every_pair():
    for table in counterparts._data()["tables"]:
        for row in table["rows"]:
            yield from (row["names"] if "names" in row else {}).items()
    yield from ((row["name"], row["sindri"]) for row in counterparts._data()["more"])


def test_sindris_names_of_the_table_exist():
    assert [pair for pair in every_pair() if pair[1] and not counterparts._exists(pair[1])] == []


def test_pytorchs_names_of_the_table_exist():
    torch = pytest.importorskip("torch")
    import importlib
    missing = []
    for name in counterparts.names():
        if name.startswith("torch."):
            found = torch
            for i, part in enumerate(name.split(".")[1:], 2):
                if not hasattr(found, part):
                    try:
                        importlib.import_module(".".join(name.split(".")[:i]))
                    except ImportError:
                        pass
                found = getattr(found, part, None)
            # an object's attribute; another package's class
            if found is None and name not in ("torch.optim.Optimizer.param_groups", "torch.utils.tensorboard.SummaryWriter"):
                missing.append(name)
    assert missing == []


@pytest.mark.parametrize(("name", "counterpart"), [
    ("torch.nn.Conv2d", "sindri.nn.Conv2d"), ("nn.Linear", "sindri.nn.Dense"), ("torch.cat", "sindri.ops.concat"), ("F.relu", "sindri.mint.nn.functional.relu"),
    ("torch.float32", "sindri.float32"), ("torch.Tensor.view", "sindri.Tensor.reshape"), ("mindspore.ops.concat", "sindri.ops.concat"),
    ("ms.nn.Dense", "sindri.nn.Dense"), ("Conv2d", "sindri.nn.Conv2d"), ("torchvision.transforms.RandomResizedCrop", "sindri.dataset.vision.RandomResizedCrop"),
    ("torch.optim.lr_scheduler.OneCycleLR", "sindri.experimental.optim.lr_scheduler.LRScheduler"),
    ("torch.optim.lr_scheduler.CyclicLR", "sindri.experimental.optim.lr_scheduler.CyclicLR"), ("torch.optim.Adam", "sindri.nn.Adam"),
])
def test_names_are_found(name, counterpart):
    assert counterparts.find(name).sindri[0] == counterpart


def test_an_answer_says_what_differs():
    answer = counterparts.find("torch.nn.Conv2d")
    assert any("`pad_mode='same'`, no bias" in d["Sindri"] for d in answer.differences)
    assert "has_bias=True" in answer.text() and "groups is group" in answer.text()


@pytest.mark.parametrize(("name", "near"), [("torch.nn.Con2d", "torch.nn.Conv2d"), ("torch.nn.conv2d", "torch.nn.Conv2d"), ("torch.nn.functional.rellu", "torch.nn.functional.relu"),
                                            ("mindspore.nn.Dens", "mindspore.nn.Dense"), ("torch.optim.AdmW", "torch.optim.AdamW")])
def test_a_near_miss_is_suggested(name, near):
    answer = counterparts.find(name)
    assert answer.sindri == [] and answer.near == near and f"did you mean {near}?" in answer.text()


def test_what_a_later_version_brings_is_no_counterpart():
    assert counterparts.find("torch.optim.LBFGS").sindri == []
    assert not counterparts._exists("mindrecord.FileWriter") and counterparts._exists("nn.Dense")


def test_a_suggestion_is_another_name_that_exists():
    """Not the name itself, nor a name that only Sindri has."""
    later = counterparts.find("mindspore.mindrecord.FileWriter")
    assert later.near == "" and (later.sindri or "not available in this version yet" in later.note)
    assert counterparts.find("torch.distributed").near == "" and counterparts.find("nn.AvgPool").near == "torch.nn.AvgPool2d"


SCRIPT = '''import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import LBFGS as Best, Adam
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        x = F.relu(self.conv(x)).view(2, -1)
        return torch.cat([x, x.unsqueeze(1)[:, 0]])

opt = Best(Net().parameters())
other = Adam(Net().parameters())
rows = DataLoader([])
text = "torch.nn.Bilinear"  # a string does not count as a use
'''


def test_a_script_is_read_not_run(tmp_path, capsys):
    """Names imported in any way, methods that could be a tensor's, missing names first; without torch."""
    path = tmp_path / "net.py"
    path.write_text(SCRIPT)
    uses = {u.answer.name: u for u in counterparts.scan(str(path))}
    assert set(uses) == {"torch.nn.Module", "torch.nn.Conv2d", "torch.nn.functional.relu", "torch.cat", "torch.optim.LBFGS", "torch.optim.Adam",
                         "torch.utils.data.DataLoader", "torch.Tensor.view", "torch.Tensor.unsqueeze"}
    assert uses["torch.nn.Conv2d"].lines == [10] and uses["torch.Tensor.view"].method and uses["torch.optim.LBFGS"].lines == [16]
    code, out = run(capsys, str(path))
    assert code == 1 and out.out.splitlines()[0].endswith("9 names, 1 without a counterpart")
    lines = out.out.splitlines()
    assert lines[1] == "no counterpart:" and lines[2].startswith("  torch.optim.LBFGS -> no counterpart  (line 16)")
    path.write_text(SCRIPT.replace("LBFGS", "SGD"))
    assert run(capsys, str(path))[0] == 0


def test_several_names_and_json(capsys, tmp_path):
    code, out = run(capsys, "torch.nn.Linear", "torch.stack", "--json", "-")
    assert code == 0 and [a["sindri"][0] for a in json.loads(out.out)] == ["sindri.nn.Dense", "sindri.ops.stack"]
    code, out = run(capsys, "torch.nn.Linear", "torch.optim.LBFGS", "--json", str(tmp_path / "a.json"))
    assert code == 1 and "torch.nn.Linear -> sindri.nn.Dense" in out.out and len(json.loads((tmp_path / "a.json").read_text())) == 2
    code, out = run(capsys, "--all")
    assert code == 0 and out.out.count(" -> ") == len(counterparts.names())


@pytest.mark.parametrize(("words", "text"), [([], "no name given"), (["no/such.py"], "cannot read 'no/such.py'"), (["numpy.array"], "'numpy.array' is neither"),
                                             (["torch.nn.Conv2d()"], "'torch.nn.Conv2d()' is neither")])
def test_wrong_arguments(capsys, words, text):
    code, out = run(capsys, *words)
    assert code == 2 and text in out.err and "fix: " in out.err


def test_a_file_that_is_not_python(capsys, tmp_path):
    (tmp_path / "a.py").write_text("def f(:\n")
    code, out = run(capsys, str(tmp_path / "a.py"))
    assert code == 2 and "is not Python 3" in out.err and "a.py:1" in out.err


@pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")
@pytest.mark.parametrize("start", [[str(PROGRAM)], [sys.executable, "-m", "sindri"]])
def test_it_is_a_verb(start):
    """`sindri map` and `python -m sindri map`."""
    package = os.path.dirname(os.path.dirname(ms.__file__))
    env = {**os.environ, "SINDRI_PYTHON": sys.executable, "PYTHONPATH": package}
    done = subprocess.run([*start, "map", "torch.nn.Linear"], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("torch.nn.Linear -> sindri.nn.Dense\n")


@pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")
@pytest.mark.parametrize(("body", "text"), [(None, "this Python has no package sindri"), ("import no_such_module\n", "No module named 'no_such_module'")])
def test_a_python_without_the_package_is_named(tmp_path, body, text):
    """The error names a Python that the program found but that cannot run the verb."""
    if body is not None:
        (tmp_path / "sindri").mkdir()
        (tmp_path / "sindri/__init__.py").write_text(body)
    env = {**os.environ, "SINDRI_PYTHON": sys.executable, "PYTHONPATH": str(tmp_path)}
    probe = subprocess.run([sys.executable, "-c", "import sindri"], env=env, cwd=tmp_path, capture_output=True, check=False)
    if (PROGRAM.resolve().parents[1] / "__init__.py").is_file() or (body is None and probe.returncode == 0):
        pytest.skip("the package is installed in this Python, or the program is part of it")
    done = subprocess.run([PROGRAM, "map", "torch.nn.Linear"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and text in done.stderr and f"where: {sys.executable}" in done.stderr and "SINDRI_PYTHON" in done.stderr


@pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason="the sindri program is not built")
def test_the_program_knows_the_flags_of_pythons_verbs():
    """Help, man pages and completion of convert, compare and map list every flag of Python's command lines, and no other."""
    def flags(parser):
        found = {o for a in parser._actions for o in a.option_strings if o.startswith("--")}
        for action in parser._actions:
            for sub in (getattr(action, "choices", None) or {}).values() if isinstance(getattr(action, "choices", None), dict) else ():
                found |= flags(sub)
        return found
    verbs = next(a for a in cli._parser()._actions if isinstance(a.choices, dict)).choices
    assert set(verbs) == {"convert", "compare", "map"}
    completion = subprocess.run([PROGRAM, "completion"], capture_output=True, text=True, check=True).stdout
    for name, parser in verbs.items():
        words = re.search(rf'^    {name}\) words="(.*)" ;;$', completion, re.M)[1].split()
        assert {w for w in words if w.startswith("--")} == flags(parser), name
        page = subprocess.run([PROGRAM, "manual", name], capture_output=True, text=True, check=True).stdout
        assert f"sindri\\-{name}" in page
