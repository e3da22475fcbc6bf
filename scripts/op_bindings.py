#!/usr/bin/env python3
"""Generates the functions of sindri._core.ops from the ops' declarations in the public headers include/sindri/ops/*.h.

usage: op_bindings.py INCLUDE_DIR OUT.cc OUT.pyi        (run by the build of the extension)

Each `SINDRI_API` function that returns tensors becomes a function with the same name, argument names and defaults. A struct of attributes becomes one
argument per field. A single operand `x` is renamed to `input`, and the two operands `a, b` of an elementwise op to `input, other`, as in MindSpore.
The documentation comes from the op's record, or from the comment at the declaration if a function combines several ops. WRITTEN lists the exceptions,
which python/src/ops.cc, clip.cc and comm.cc implement.
"""
import pathlib
import re
import sys

# Hand-written functions, with their signatures for type checkers.
WRITTEN = {
    "where": "(cond: TensorLike, a: Any, b: Any) -> Tensor",
    "cast": "(x: TensorLike, dtype: DTypeLike) -> Tensor",
    "product": "(input: Any, other: Any) -> Tensor",
    "quotient": "(input: Any, other: Any) -> Tensor",
    "scalar_like": "(x: TensorLike, value: Any) -> Any",
    "clip_by_axes_norm": "(x: TensorLike, clip_norm: Any, axes: Sequence[int]) -> Tensor",
    "clip_by_global_norm": "(xs: Sequence[TensorLike], clip_norm: Any, norm: TensorLike | None = None) -> tuple[Tensor, ...]",
    "clip_by_total_norm": "(xs: Sequence[TensorLike], max_norm: float, norm: TensorLike) -> tuple[Tensor, ...]",
    "global_norm": "(xs: Sequence[TensorLike]) -> Tensor",
    "total_norm": "(xs: Sequence[TensorLike], p: float) -> Tensor",
    # From python/src/comm.cc: they wait for other ranks, so they release the interpreter lock regardless of size.
    "all_reduce": "(xs: Sequence[TensorLike], op: str = 'sum', group: str = 'world', what: str = 'all_reduce', index: int = 0, scale: float = 1.0, "
                  "wire: str = '') -> tuple[Tensor, ...]",
    "all_gather": "(x: TensorLike, group: str = 'world') -> Tensor",
    "reduce_scatter": "(x: TensorLike, op: str = 'sum', group: str = 'world') -> Tensor",
    "broadcast": "(xs: Sequence[TensorLike], root: int = 0, group: str = 'world') -> tuple[Tensor, ...]",
    "all_to_all": "(x: TensorLike, group: str = 'world') -> Tensor",
    "neighbor_exchange": "(xs: Sequence[TensorLike], to: Sequence[int], source: Sequence[int], shapes: Sequence[Sequence[int]], dtype: DTypeLike, "
                         "tag: int = 0, group: str = 'world') -> tuple[Tensor, ...]",
    "send": "(x: TensorLike, to: int, tag: int = 0, group: str = 'world') -> Tensor",
    "recv": "(shape: int | Sequence[int], dtype: DTypeLike, source: int, tag: int = 0, group: str = 'world') -> Tensor",
    "send_recv": "(x: TensorLike, to: int, source: int, tag: int = 0, group: str = 'world') -> Tensor",
}
# Ops for which a number combined with a tensor keeps its value if the tensor's type cannot hold it: comparisons, and quotients, which are fractions.
COMPARED = {"div", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}

# Examples of elementwise functions, an expression in sindri.ops and what it prints; their documentation gets sections.
EXAMPLES = {
    "abs": ("abs(ms.Tensor([-1.0, 2.0]))", "[1. 2.]"),
    "neg": ("neg(ms.Tensor([1.0, -2.0]))", "[-1.  2.]"),
    "sign": ("sign(ms.Tensor([-2.0, 0.0, 3.0]))", "[-1.  0.  1.]"),
    "floor": ("floor(ms.Tensor([1.7, -1.7]))", "[ 1. -2.]"),
    "ceil": ("ceil(ms.Tensor([1.7, -1.7]))", "[ 2. -1.]"),
    "round": ("Rint()(ms.Tensor([0.5, 1.5, -1.7]))", "[ 0.  2. -2.]"),
    "exp": ("exp(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[1.     2.7183]"),
    "expm1": ("expm1(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.     1.7183]"),
    "log": ("log(ms.Tensor([1.0, 2.0])).asnumpy().round(4)", "[0.     0.6931]"),
    "log1p": ("log1p(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.     0.6931]"),
    "sqrt": ("sqrt(ms.Tensor([4.0, 9.0]))", "[2. 3.]"),
    "rsqrt": ("rsqrt(ms.Tensor([4.0, 16.0]))", "[0.5  0.25]"),
    "square": ("square(ms.Tensor([2.0, -3.0]))", "[4. 9.]"),
    "reciprocal": ("reciprocal(ms.Tensor([2.0, 4.0]))", "[0.5  0.25]"),
    "sin": ("sin(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.     0.8415]"),
    "cos": ("cos(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[1.     0.5403]"),
    "erf": ("erf(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.     0.8427]"),
    "tanh": ("tanh(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.     0.7616]"),
    "sigmoid": ("sigmoid(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.5    0.7311]"),
    "relu": ("relu(ms.Tensor([-1.0, 0.5]))", "[0.  0.5]"),
    "relu6": ("relu6(ms.Tensor([-1.0, 8.0]))", "[0. 6.]"),
    "silu": ("silu(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.     0.7311]"),
    "softplus": ("softplus(ms.Tensor([0.0, 1.0])).asnumpy().round(4)", "[0.6931 1.3133]"),
    "hswish": ("hardswish(ms.Tensor([0.0, 3.0]))", "[0. 3.]"),
    "hsigmoid": ("hardsigmoid(ms.Tensor([0.0, 3.0]))", "[0.5 1. ]"),
    "logical_not": ("logical_not(ms.Tensor([True, False]))", "[False  True]"),
    "isnan": ('isnan(ms.Tensor([1.0, float("nan")]))', "[False  True]"),
    "isfinite": ('isfinite(ms.Tensor([1.0, float("inf")]))', "[ True False]"),
    "add": ("add(ms.Tensor([1, 2]), ms.Tensor([3, 4]))", "[4 6]"),
    "sub": ("sub(ms.Tensor([5, 6]), ms.Tensor([1, 2]))", "[4 4]"),
    "mul": ("mul(ms.Tensor([1, 2]), ms.Tensor([3, 4]))", "[3 8]"),
    "floor_div": ("floor_div(ms.Tensor([7, -7]), ms.Tensor([2, 2]))", "[ 3 -4]"),
    "mod": ("floor_mod(ms.Tensor([7, -7]), ms.Tensor([3, 3]))", "[1 2]"),
    "pow": ("pow(ms.Tensor([2, 3]), ms.Tensor([3, 2]))", "[8 9]"),
    "maximum": ("maximum(ms.Tensor([1, 5]), ms.Tensor([3, 2]))", "[3 5]"),
    "minimum": ("minimum(ms.Tensor([1, 5]), ms.Tensor([3, 2]))", "[1 2]"),
    "equal": ("equal(ms.Tensor([1, 2]), ms.Tensor([1, 3]))", "[ True False]"),
    "not_equal": ("not_equal(ms.Tensor([1, 2]), ms.Tensor([1, 3]))", "[False  True]"),
    "less": ("less(ms.Tensor([1, 2]), ms.Tensor([2, 2]))", "[ True False]"),
    "less_equal": ("less_equal(ms.Tensor([1, 3]), ms.Tensor([2, 2]))", "[ True False]"),
    "greater": ("greater(ms.Tensor([1, 3]), ms.Tensor([2, 2]))", "[False  True]"),
    "greater_equal": ("greater_equal(ms.Tensor([1, 2]), ms.Tensor([2, 2]))", "[False  True]"),
    "logical_and": ("logical_and(ms.Tensor([True, True]), ms.Tensor([True, False]))", "[ True False]"),
    "logical_or": ("logical_or(ms.Tensor([True, False]), ms.Tensor([False, False]))", "[ True False]"),
    "logical_xor": ("logical_xor(ms.Tensor([True, True]), ms.Tensor([True, False]))", "[False  True]"),
    "bitwise_and": ("bitwise_and(ms.Tensor([6, 5]), ms.Tensor([3, 3]))", "[2 1]"),
    "bitwise_or": ("bitwise_or(ms.Tensor([6, 5]), ms.Tensor([3, 3]))", "[7 7]"),
    "bitwise_xor": ("bitwise_xor(ms.Tensor([6, 5]), ms.Tensor([3, 3]))", "[5 6]"),
    "bitwise_left_shift": ("bitwise_left_shift(ms.Tensor([1, 2]), ms.Tensor([2, 2]))", "[4 8]"),
    "bitwise_right_shift": ("bitwise_right_shift(ms.Tensor([4, 9]), ms.Tensor([2, 2]))", "[1 2]"),
}

PYTHON_TYPES = {"Tensor": "TensorLike", "std::vector<Tensor>": "Sequence[TensorLike]", "Shape": "int | Sequence[int]", "int64_t": "int", "double": "float",
                "bool": "bool", "DType": "DTypeLike", "std::string": "str", "std::vector<int64_t>": "Sequence[int]", "std::vector<double>": "Sequence[float]", "Axes": "Sequence[int]"}


class Argument:
    """An argument of a C++ function: its type without const and &, its name, and its default in C++ ('' for none)."""

    def __init__(self, text):
        declared, _, self.default = (part.strip() for part in text.partition("="))
        found = re.fullmatch(r"(?:const )?([\w:<>]+)(&?) (\w+)", declared)
        if found is None:
            raise ValueError(f"{text!r} is not an argument that can be bound | op_bindings.py | bind it in python/src/ops.cc and list it in WRITTEN")
        self.type, self.name = found[1], found[3]
        self.passed = f"const {found[1]}&" if found[2] else found[1]


class Function:
    """A declared function."""

    def __init__(self, header, result, name, arguments, doc):
        self.header, self.result, self.name, self.arguments, self.doc = header, result, name, arguments, doc


def split_arguments(text):
    """Splits at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text + ","):
        depth += (c in "<{(") - (c in ">})")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [p for p in parts if p]


def comment_of(lines, first, last):
    """Returns the text of the comment before a declaration, or after it on the same line."""
    behind = lines[last].partition("///<")[2].strip()
    if behind:
        return behind
    above = []
    while first > 0 and lines[first - 1].startswith("/// "):
        first -= 1
        above.insert(0, lines[first][4:].strip())
    return " ".join(above)


def structs(text):
    """Returns the plain structs of a header: name -> [(type, field, default)]."""
    out = {}
    for found in re.finditer(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        out[found[1]] = re.findall(r"^  ([\w:<>]+) (\w+)(?: = ([^;]+))?;", found[2], re.M)
    return out


def declarations(path):
    """Returns (functions that return tensors, structs) of a header."""
    text = path.read_text()
    lines, known, out, i = text.split("\n"), structs(text), [], 0
    while i < len(lines):
        first = i
        if lines[i].startswith("SINDRI_API "):
            while ");" not in lines[i]:
                i += 1
            whole = " ".join(line.partition("///<")[0].strip() for line in lines[first:i + 1])
            found = re.fullmatch(r"SINDRI_API ([\w:<>, ]+) (\w+)\((.*)\);", whole)
            if found is not None and "Tensor" in found[1] + "".join(t for t, *_ in known.get(found[1], [])):
                out.append(Function(path.name, found[1], found[2], [Argument(a) for a in split_arguments(found[3])], comment_of(lines, first, i)))
        i += 1
    return out, known


def names_of(f):
    """Returns the arguments' names in Python."""
    names, operands = [a.name for a in f.arguments], [a for a in f.arguments if a.type == "Tensor"]
    if names == ["x"]:
        return ["input"]
    if is_binary(f) and len(operands) == 2:
        return ["input", "other"]
    return names


def is_binary(f):
    return f.header == "elementwise.h" and [a.name for a in f.arguments] == ["a", "b"]


def cpp_default(kind, text):
    """Returns the default as a C++ expression of the argument's type."""
    if text == "{}":
        return {"Tensor": "py::none()"}.get(kind, f"{'ops::' if kind == 'Axes' else ''}{kind}{{}}")
    if text.startswith("{"):
        return f"{kind}{text}"
    return f"double({text})" if kind == "double" else f"std::string({text})" if kind == "std::string" else text


def python_default(kind, text):
    """Returns the default as written in a stub."""
    if text == "{}" and kind == "Tensor":
        return "None"
    if text in ("true", "false"):
        return text.capitalize()
    if kind == "double":
        return repr(float(text))
    return text.replace('"', "'") if kind in ("int64_t", "std::string") else "..."


def flat_arguments(f, known):
    """Returns [(type, how it is passed, Python name, default)] and the C++ arguments that pass them on. An attribute struct is replaced by its fields."""
    rows, passed = [], []
    for a, name in zip(f.arguments, names_of(f)):
        if a.type in known:
            fields = known[a.type]
            rows += [(t, f"const {t}&" if ":" in t else t, field, default) for t, field, default in fields]
            passed.append(f"ops::{a.type}{{{', '.join(f'.{field} = {field}' for _, field, _ in fields)}}}")
        else:
            rows.append((a.type, a.passed.replace("Axes", "ops::Axes"), name, a.default))
            passed.append(name)
    return rows, passed


def sections(f):
    """Returns the sections of an elementwise function's docstring: arguments, result and example; '' for a function without an example."""
    if f.name not in EXAMPLES:
        return ""
    if is_binary(f):
        arguments = ["input (Tensor or number): The first operand.", "other (Tensor or number): The second operand; the operands broadcast."]
    else:
        arguments = ["input (Tensor): The input, of any shape."]
    expression, result = EXAMPLES[f.name]
    return "\n".join(["", "", "Args:", *(f"    {a}" for a in arguments), "", "Returns:", f"    A tensor of {'the broadcast' if is_binary(f) else 'the same'} shape.",
                      "", "Examples:", "    >>> import sindri as ms", f"    >>> print(ms.ops.{expression})", f"    {result}"])


def binding(f, known):
    """Returns the C++ code that binds a function."""
    rows, passed = flat_arguments(f, known)
    args = "".join(f', py::arg("{name}")' + (f" = {cpp_default(kind, default)}" if default else "") for kind, _, name, default in rows)
    more = f', R"doc({sections(f)})doc"' if sections(f) else ""
    head = f'into, "{f.name}", declared_doc("{f.name}", R"({f.doc})"{more}), '
    if is_binary(f):
        compared = "true" if f.name in COMPARED else "false"
        return f"  def_documented_op({head}&binary_op<static_cast<BinaryOp>(&ops::{f.name}), {compared}>{args});"
    call = f"ops::{f.name}({', '.join(passed)})"
    parameters = ", ".join(f"{how} {name}" for _, how, name, _ in rows)
    if f.result == "Tensor" and passed == [row[2] for row in rows]:  # a plain function pointer: functions with the same signature share their code
        types = ", ".join(how for _, how, *_ in rows)
        return f"  def_documented_op({head}static_cast<Tensor (*)({types})>(&ops::{f.name}){args});"
    if f.result == "Tensor":
        return f"  def_documented_op({head}[]({parameters}) {{ return {call}; }}{args});"
    if f.result == "std::vector<Tensor>":
        return f"  def_documented_op({head}[]({parameters}) {{ return TensorTuple{{{call}}}; }}{args});"
    if f.result in known:
        members = ", ".join(f"out.{field}" for _, field, _ in known[f.result])
        return f"  def_documented_op({head}[]({parameters}) {{ const auto out = {call}; return TensorTuple{{{{{members}}}}}; }}{args});"
    return (f'  into.def("{f.name}", []({parameters}) {{ return {call}; }}{args}, py::call_guard<ReleaseForLongCall>(), '
            f'declared_doc("{f.name}", R"({f.doc})").c_str());')


def stub(f, known):
    """Returns the function's line in the stub."""
    if is_binary(f):
        return f"def {f.name}(input: Any, other: Any) -> Tensor: ..."
    args = []
    for kind, _, name, default in flat_arguments(f, known)[0]:
        optional = " | None" if kind == "Tensor" and default else ""
        args.append(f"{name}: {PYTHON_TYPES[kind]}{optional}" + (f" = {python_default(kind, default)}" if default else ""))
    count = len(re.findall("Tensor", f.result)) if f.result.startswith(("std::pair", "std::tuple")) else len(known.get(f.result, ()))
    result = f"tuple[{', '.join(['Tensor'] * count)}]" if count else "tuple[Tensor, ...]" if f.result == "std::vector<Tensor>" else "Tensor"
    return f"def {f.name}({', '.join(args)}) -> {result}: ..."


CPP_HEAD = """// _core.ops: made by scripts/op_bindings.py of the headers below; do not edit.
#include "python/src/op_function.h"
{includes}
namespace sindri::python {{

namespace {{
// Returns the doc of the op's record, or the declaration's comment if no record has that name, followed by the sections.
std::string declared_doc(const char* name, const char* declared, const char* sections = "") {{
  const std::string text = op_doc(name);
  return (text.empty() ? declared : text) + sections;
}}
}}  // namespace

void bind_declared_ops(py::module_& into) {{
"""
PYI_HEAD = '''"""The functions of include/sindri/ops: eager, recorded by a tape or traced, depending on the active scopes.

Written by scripts/op_bindings.py at every build; do not edit."""

from collections.abc import Sequence
from typing import Any
from sindri._core import Tensor, _DTypeLike as DTypeLike, _TensorLike as TensorLike

'''


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, source, types = (pathlib.Path(a) for a in sys.argv[1:])
    known, functions, headers = {}, [], sorted((folder / "sindri" / "ops").glob("*.h"))
    for header in headers:
        found, own = declarations(header)
        known.update(own)
        functions += [f for f in found if f.name not in WRITTEN]
    includes = "".join(f'#include "sindri/ops/{h.name}"\n' for h in headers)
    lines = [f"def {name}{signature}: ..." for name, signature in WRITTEN.items()] + [stub(f, known) for f in functions]
    code = CPP_HEAD.format(includes=includes) + "\n".join(binding(f, known) for f in functions) + "\n}\n\n}  // namespace sindri::python\n"
    for path, text in ((source, code), (types, PYI_HEAD + "\n".join(sorted(lines)) + "\n")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
