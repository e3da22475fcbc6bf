"""docs/guide/python.md and migration.md match the code."""
import ast
import os
import pathlib
import re

import pytest

import sindri as ms
from sindri import context
from sindri.common import no_effect
from sindri.common.not_yet import PARTS, NotYetError

GUIDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "docs", "guide")


def text(name):
    with open(os.path.join(GUIDE, name), encoding="utf-8") as f:
        return f.read()


@pytest.mark.parametrize("mark, table", [("stored-context", context._STORED), ("acting-context", context._ACTING),
                                         ("warned-context", no_effect.CONTEXT_KEYS), ("warned-parallel", no_effect.PARALLEL_KEYS),
                                         ("warned-profiler", no_effect.PROFILER_OPTIONS)])
def test_context_keys_are_listed(mark, table):
    listed = re.search(rf"<!-- {mark} -->(.*?)<!-- end -->", text("python.md"), re.S)[1]
    assert set(re.findall(r"`(\w+)`", listed)) == set(table)


def test_names_of_the_migration_tables_exist():
    """Every `nn.X`, `ops.x`, `ds.X`, `vision.X` in the tables' Sindri columns can be looked up, as can dotted ms names."""
    from sindri import dataset, nn, ops
    roots = {"nn": nn, "ops": ops, "ds": dataset, "vision": dataset.vision, "ms": ms}
    seen = 0
    for line in text("migration.md").splitlines():
        cells = line.split("|")
        if len(cells) < 4:
            continue
        for root, path in re.findall(r"`?\b(nn|ops|ds|vision|ms)\.([A-Za-z_][\w.]*)", "|".join(cells[2:])):
            found = roots[root]
            for part in path.rstrip(".").split("."):
                found = getattr(found, part)
            seen += 1
    assert seen > 60


@pytest.mark.parametrize("call", [
    lambda: ms.nn.LSTM(2, 3), lambda: ms.nn.GRU(2, 3), lambda: ms.mindrecord.FileWriter("a"),
    lambda: ms.dataset.TFRecordDataset("a"), lambda: ms.dataset.MindDataset("a"), lambda: ms.load("a.mindir"), lambda: ms.nn.GraphCell(None),
    lambda: ms.set_ps_context(enable_ps=True), lambda: ms.nn.AdaSumByGradWrapCell(None),
])
def test_what_is_not_there_yet_says_so(call):
    with pytest.raises(NotYetError, match="is not available yet"):
        call()


def test_what_is_not_there_yet_belongs_to_a_part():
    """The parts that may be missing; everything else must exist."""
    found = []
    for folder, _, files in os.walk(os.path.dirname(ms.__file__)):
        for path in (os.path.join(folder, f) for f in files if f.endswith(".py")):
            with open(path, encoding="utf-8") as f:
                calls = [n for n in ast.walk(ast.parse(f.read())) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "not_yet"]
            found += [(path, n.lineno, n.args[1].value) for n in calls]
    assert len(found) > 40
    assert not [f for f in found if f[2] not in PARTS]
    parts = dict((os.path.basename(path), part) for path, _, part in found)
    assert (parts["rnns.py"], parts["datasets_standard_format.py"]) == ("recurrent layers", "record files")
    with open("docs/guide/python.md", encoding="utf-8") as f:
        rows = re.findall(r"^\| (\w[\w ]*) \|", f.read().split("## Not yet")[1].split("## ")[0], re.M)
    assert sorted(rows) == sorted([*PARTS, "part"])


def test_eras(monkeypatch):
    monkeypatch.setenv("SINDRI_MINDSPORE_ERA", "1")
    assert context.era() == 1
    monkeypatch.setenv("SINDRI_MINDSPORE_ERA", "3")
    with pytest.raises(ValueError, match="SINDRI_MINDSPORE_ERA must be 1 or 2"):
        context.era()


def test_every_environment_variable_is_listed():
    listed = set(re.findall(r"SINDRI_[A-Z_]+", text(os.path.join("..", "environment.md"))))
    read = set()
    for folder, endings in (("src", (".cc", ".h")), ("ops", (".cc",)), ("dataset", (".cc",)), ("python/sindri", (".py",))):
        for path in pathlib.Path(GUIDE, "..", "..", folder).rglob("*"):
            if path.suffix in endings:
                read |= set(re.findall(r"""(?:getenv|env_int|env_flag|variable|environ\.get|environ)[(\[]["'](SINDRI_[A-Z_]+)["']""", path.read_text()))
    assert {"SINDRI_TUNE", "SINDRI_NUM_THREADS", "SINDRI_MINDSPORE_ERA"} <= read
    assert read <= listed, f"missing in docs/environment.md: {sorted(read - listed)}"


def test_settings_files_that_the_documents_name_exist():
    root = pathlib.Path(GUIDE, "..", "..")
    documents = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("configs/*.md"), *root.glob("src/cli/*.cc")]
    named = {(path, name) for path in documents for name in re.findall(r"--config[ =]+([a-z][\w./-]*\.yaml)|(configs/[a-z][\w-]*\.yaml)", path.read_text())}
    files = {(path.name, a or b) for path, (a, b) in named if (a or b).islower()}  # NAME is a placeholder
    assert len(files) >= 5
    shown = {(path.name, name) for path in documents for name in re.findall(r"^```yaml\n# (\S+)$", path.read_text(), re.M)}  # shown on the page itself
    assert not [f for f in files - shown if not (root / f[1]).exists()]


def test_a_process_without_a_group_is_a_communication_error(monkeypatch):
    for name in ("OMPI_COMM_WORLD_SIZE", "MS_ROLE", "RANK_TABLE_FILE", "MINDSPORE_HCCL_CONFIG_PATH", "RANK_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ms.CommError, match="not launched"):
        ms.communication.init()
    with pytest.raises(RuntimeError, match="there is no process group"):
        ms.communication.get_rank()
