"""Sindri's counterparts of PyTorch's and MindSpore's names: `sindri map`, from the data of docs/guide/migration.md.

    from sindri.tools import counterparts
    print(counterparts.find("torch.nn.Conv2d").text())

torch_names.json contains the tables of the page, and names that the page does not show. Other names are searched in the modules of their kind: a function of
`torch` in `mint`, which has PyTorch's arguments, then in `ops`; a layer in `nn`.
"""
import ast
import difflib
import functools
import json
import os
import sys
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple

from sindri.tools._errors import usage

__all__ = ["find", "scan", "tables", "names", "Answer", "Use"]

# The modules in which a PyTorch name X of a module is searched, in order. Longest module first.
_PLACES: Tuple[Tuple[str, Tuple[str, ...]], ...] = (
    ("torch.nn.functional", ("mint.nn.functional", "ops")),
    ("torch.nn.utils", ("nn.utils", "ops")),
    ("torch.nn", ("mint.nn", "nn")),
    ("torch.optim", ("mint.optim", "nn")),
    ("torch.linalg", ("mint.linalg", "ops")),
    ("torch.special", ("mint.special", "mint", "ops")),
    ("torch.fft", ("mint.fft", "ops")),
    ("torch.distributed", ("mint.distributed", "communication")),
    ("torch.utils.data", ("dataset",)),
    ("torch.Tensor", ("Tensor",)),
    ("torch", ("mint", "", "ops")),
    ("torchvision.datasets", ("dataset",)),
    ("torchvision.transforms.v2", ("dataset.vision",)),
    ("torchvision.transforms", ("dataset.vision",)),
    ("torchvision.models", ("models",)),
)
_ROOTS = ("torch", "torchvision", "mindspore")
_SHORT = {"nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "ms": "mindspore", "ops": "mindspore.ops", "mint": "mindspore.mint",
          "transforms": "torchvision.transforms", "Tensor": "torch.Tensor"}


@functools.lru_cache(maxsize=1)
def _data() -> Dict[str, Any]:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_names.json"), encoding="utf-8") as f:
        data: Dict[str, Any] = json.load(f)
    return data


@dataclass
class Answer:
    """The counterparts of a name.

    Args:
        name (str): The name.
        sindri (list[str]): The counterparts as full names, the closest first; empty if there are none. Default: none.
        rows (list[dict[str, str]]): Rows of the page's tables, text by column title. Default: none.
        differences (list[dict[str, str]]): Rows of the table of differences. Default: none.
        note (str): A note. Default: "".
        near (str): A name that was probably meant. Default: "".

    Examples:
        >>> from sindri.tools import counterparts
        >>> print(counterparts.Answer("torch.cat", ["sindri.ops.concat"]).text())
        torch.cat -> sindri.ops.concat
    """

    name: str
    sindri: List[str] = field(default_factory=list)
    rows: List[Dict[str, str]] = field(default_factory=list)
    differences: List[Dict[str, str]] = field(default_factory=list)
    note: str = ""
    near: str = ""

    def text(self) -> str:
        """Returns several lines of text."""
        out = [f"{self.name} -> {self.sindri[0] if self.sindri else 'no counterpart'}"]
        out += [f"  or:       {other}" for other in self.sindri[1:]]
        for row in self.rows:
            theirs, ours = row["PyTorch"], row["Sindri"]
            out += [f"  PyTorch:  {theirs}", f"  Sindri:   {ours}"] + ([f"  note:     {row['note']}"] if row.get("note") else [])
        if self.note:
            out.append(f"  note:     {self.note}")
        for d in self.differences:
            out.append(f"  differs:  {d['topic']} | PyTorch: {d['PyTorch']} | Sindri: {d['Sindri']}")
        if self.near:
            out.append(f"  did you mean {self.near}?")
        return "\n".join(_plain(line) for line in out)

    def record(self) -> Dict[str, Any]:
        """Returns the answer as a dict for JSON."""
        return {"name": self.name, "sindri": self.sindri, "rows": self.rows, "differences": self.differences, "note": self.note, "near": self.near}


@dataclass
class Use:
    """A name that a script uses.

    Args:
        answer (Answer): The name's counterparts.
        lines (list[int]): The lines that use it.
        method (bool): Whether it is a method call on an object of unknown type. Default: False.

    Examples:
        >>> from sindri.tools import counterparts
        >>> use = counterparts.Use(counterparts.find("torch.cat"), [3, 8])
        >>> use.answer.sindri[0], use.lines
        ('sindri.ops.concat', [3, 8])
    """

    answer: Answer
    lines: List[int]
    method: bool = False


def _plain(text: str) -> str:
    return text.replace("`", "").replace("\\|", "|").replace("**", "")


def _rows_of(table: Dict[str, Any], name: str) -> Iterator[Dict[str, str]]:
    for row in table["rows"]:
        if name in row.get("names", row.get("about", ())):
            yield dict(zip(table["columns"], row["cells"]))


def _exists(path: str) -> bool:
    """Whether `sindri.<path>` exists and works, unlike names of features that are not available yet."""
    found: Any = sys.modules["sindri"]  # importing this module imported the package
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            return False
    call = getattr(found, "__init__", None) if isinstance(found, type) else found
    code = getattr(call, "__code__", None)
    # Functions that only raise NotYetError.
    return code is None or "not_yet" not in code.co_names or not {"not_yet", "type", "__name__"}.issuperset(code.co_names)


def _looked_up(name: str) -> List[str]:
    """Returns counterparts by the name alone."""
    for module, places in _PLACES:
        if name.startswith(module + "."):
            rest = name[len(module) + 1:]
            return [p for p in (f"{place}.{rest}" if place else rest for place in places) if _exists(p)]
    return []


def _entries() -> Dict[str, List[Optional[str]]]:
    """Returns Sindri's names by PyTorch's name, from the tables and from the entries that the page does not show."""
    out: Dict[str, List[Optional[str]]] = {}
    for table in _data()["tables"]:
        for row in table["rows"]:
            for name, ours in (row["names"] if "names" in row else {}).items():
                out.setdefault(name, [])
                if ours not in out[name]:
                    out[name].append(ours)
    for row in _data()["more"]:
        out.setdefault(row["name"], [row["sindri"]])
    return out


def _whole(name: str) -> str:
    """Returns the full name: `nn.Conv2d` becomes `torch.nn.Conv2d`. Raises InvalidValueError unless it is a dotted name of the three packages."""
    head, _, rest = name.partition(".")
    if head in _SHORT and rest:
        return f"{_SHORT[head]}.{rest}"
    if head == "sindri":
        return "mindspore." + rest
    if head not in _ROOTS and not rest and name.isidentifier():
        for guess in (f"torch.nn.{name}", f"torch.{name}", f"torch.nn.functional.{name}", f"torch.Tensor.{name}", f"torch.optim.{name}"):
            if guess in _entries() or _looked_up(guess):
                return guess
        return f"torch.{name}"
    if head not in _ROOTS or not all(part.isidentifier() for part in name.split(".")):
        raise usage(f"'{name}' is neither a name of torch, torchvision or mindspore nor a Python file", name, "write it as torch.nn.Conv2d, or give the path of a script")
    return name


def names() -> List[str]:
    """Returns PyTorch's names in the tables, sorted.

    Examples:
        >>> from sindri.tools import counterparts
        >>> "torch.nn.Conv2d" in counterparts.names()
        True
    """
    return sorted(_entries())


def _nearest(name: str) -> str:
    known = set(_entries())
    for module, places in _PLACES:
        for place in places:
            found: Any = sys.modules["sindri"]
            for part in place.split(".") if place else ():
                found = getattr(found, part, None)
            if place:
                known.update(f"{module}.{n}" for n in getattr(found, "__all__", ()) or (dir(found) if isinstance(found, type) else ()) if n[0] != "_")
    by_case = {k.lower(): k for k in sorted(known)}
    if name.lower() in by_case:
        return by_case[name.lower()]
    for candidates in (_entries(), known):  # the first contains only existing names of PyTorch
        close = difflib.get_close_matches(name, sorted(n for n in candidates if not n.startswith(name + ".")), n=1, cutoff=0.86)
        if close:
            return close[0]
    return ""


def find(name: str) -> Answer:
    """Returns the counterparts of a name.

    Args:
        name (str): A name such as `torch.nn.Conv2d`, `F.relu` or `mindspore.ops.concat`.

    Returns:
        Answer.

    Raises:
        InvalidValueError: If it cannot be such a name.

    Examples:
        >>> from sindri.tools import counterparts
        >>> counterparts.find("torch.cat").sindri[0]
        'sindri.ops.concat'
    """
    name = _whole(name)
    answer = Answer(name)
    if name.startswith("mindspore."):
        path = name[len("mindspore."):]
        if _exists(path):
            answer.sindri = ["sindri." + path]
        else:
            answer.near = _nearest_of_ours(path)
            answer.note = "" if answer.near else _not_yet(path)
        return answer
    entries = _entries()
    table_name = name
    if name not in entries and not _looked_up(name) and name.rpartition(".")[0] in ("torch.optim.lr_scheduler", "torch.nn.init"):
        table_name = name.rpartition(".")[0]
    ours = [x for x in entries.get(table_name, []) if x and _exists(x)]
    known_missing = table_name in entries and not ours
    ours += [x for x in ([] if known_missing else _looked_up(name)) if x not in ours]
    answer.sindri = ["sindri." + x for x in ours]
    for table in _data()["tables"]:
        found = list(_rows_of(table, table_name))
        if "about" in table["rows"][0]:
            answer.differences += [{"topic": row[table["columns"][0]], "PyTorch": row["PyTorch"], "Sindri": row[table["columns"][2]]} for row in found]
        else:
            answer.rows += found
    answer.note = next((row["note"] for row in _data()["more"] if row["name"] == table_name), "")
    if any(x.startswith("mint.") for x in ours):
        answer.note = "; ".join(part for part in (answer.note, "sindri.mint has PyTorch's arguments and defaults") if part)
    if not answer.sindri and table_name not in entries:
        answer.near = _nearest(name)
    return answer


def _not_yet(path: str) -> str:
    """Returns a note if `sindri.<path>` exists but is not available in this version."""
    found: Any = sys.modules["sindri"]
    for part in path.split("."):
        found = getattr(found, part, None)
    return "" if found is None else "not available in this version yet; the name raises NotYetError"


def _nearest_of_ours(path: str) -> str:
    module, _, last = path.rpartition(".")
    found: Any = sys.modules["sindri"]
    for part in module.split(".") if module else ():
        found = getattr(found, part, None)
    if hasattr(found, last):  # exists, but is not available in this version
        return ""
    close = difflib.get_close_matches(last, [n for n in dir(found) if n[0] != "_"] if found is not None else [], n=1, cutoff=0.75)
    return "mindspore." + ".".join(p for p in (module, close[0]) if p) if close else ""


class _Uses(ast.NodeVisitor):
    """The names of the three packages that a module uses, and the names of methods that it calls on other objects."""

    def __init__(self) -> None:
        self.aliases: Dict[str, str] = {}
        self.found: Dict[str, List[int]] = {}
        self.methods: Dict[str, List[int]] = {}
        self.stars: List[str] = []

    def visit_Import(self, node: ast.Import) -> None:
        for a in node.names:
            root = a.name.split(".")[0]
            if root in _ROOTS:
                self.aliases[a.asname or root] = a.name if a.asname else root

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.split(".")[0] not in _ROOTS:
            return
        for a in node.names:
            if a.name == "*":
                self.stars.append(module)
            else:
                self.aliases[a.asname or a.name] = f"{module}.{a.name}"

    def _resolve(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = self._resolve(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._resolve(node)
        if name:
            self.found.setdefault(name, []).append(node.lineno)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        name = self.aliases.get(node.id, "")
        if name and isinstance(node.ctx, ast.Load):
            self.found.setdefault(name, []).append(node.lineno)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Attribute) and not self._resolve(node.func):
            self.methods.setdefault(node.func.attr, []).append(node.func.end_lineno or node.lineno)
        self.generic_visit(node)


def scan(path: str) -> List[Use]:
    """Returns the PyTorch and MindSpore names that a Python file uses, those without a counterpart first. The file is read, not run.

    Args:
        path (str): The Python file.

    Returns:
        list[Use].

    Raises:
        InvalidValueError: If the file cannot be read or is not Python.

    Examples:
        >>> import os, tempfile
        >>> from sindri.tools import counterparts
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "script.py")
        ...     with open(path, "w") as file:
        ...         _ = file.write("import torch; net = torch.nn.Linear(2, 1)")
        ...     [use.answer.name for use in counterparts.scan(path)]
        ['torch.nn.Linear']
    """
    try:
        with open(path, encoding="utf-8") as f:
            tree = ast.parse(f.read(), path)
    except (OSError, UnicodeDecodeError) as e:
        raise usage(f"cannot read '{path}': {getattr(e, 'strerror', None) or 'not UTF-8 text'}", path, "give the path of a Python file") from None
    except (SyntaxError, ValueError) as e:
        raise usage(f"'{path}' is not Python {sys.version_info.major}: {getattr(e, 'msg', e)}", f"{path}:{getattr(e, 'lineno', 1)}", "map reads valid Python files only") from None
    uses = _Uses()
    imports = [n for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    for node in imports:
        uses.visit(node)
    uses.visit(tree)
    modules = {module for module, _ in _PLACES} | {"torch.utils", "torch.cuda", "mindspore", "torchvision"}
    out = [Use(find(name), sorted(set(lines))) for name, lines in uses.found.items() if name not in modules]
    entries = _entries()
    for method, lines in uses.methods.items():
        if any(name.startswith("torch") for name in uses.aliases.values()) and f"torch.Tensor.{method}" in entries:
            out.append(Use(find(f"torch.Tensor.{method}"), sorted(set(lines)), method=True))
    return sorted(out, key=lambda u: (bool(u.answer.sindri), u.method, u.lines[0]))


def scan_text(path: str, uses: List[Use]) -> str:
    """Formats the report on a script.

    Args:
        path (str): The script.
        uses (list[Use]): The result of `scan`.

    Returns:
        str, the report.
    """
    lacking = [u for u in uses if not u.answer.sindri]
    own, methods = [u for u in uses if u.answer.sindri and not u.method], [u for u in uses if u.answer.sindri and u.method]
    out = [f"{path}: {len(uses)} name{'' if len(uses) == 1 else 's'}, {len(lacking) or 'none'} without a counterpart"]
    for title, part in (("no counterpart", lacking), ("counterparts", own), ("methods, if the object is a tensor", methods)):
        if part:
            out.append(title + ":")
        for u in part:
            head, *rest = u.answer.text().split("\n")
            out.append(f"  {head}  (line {', '.join(map(str, u.lines[:5]))}{', …' if len(u.lines) > 5 else ''})")
            out += ["  " + line for line in rest]
    return "\n".join(out)


def tables() -> str:
    """Returns the tables of docs/guide/migration.md as Markdown, each under its heading.

    Examples:
        >>> from sindri.tools import counterparts
        >>> counterparts.tables().startswith("## ")
        True
    """
    out = []
    for table in _data()["tables"]:
        out.append(f"## {table['heading']}\n")
        out.append("|" + "|".join(f" {c} " if c else " " for c in table["columns"]) + "|")
        out += ["|" + "|".join(f" {c} " if c else " " for c in row["cells"]) + "|" for row in table["rows"]]
        out.append("")
    return "\n".join(out)
