"""The functions of sindri._core.ops, which the build generates from the ops' declarations (scripts/op_bindings.py): one for every declaration, with the
defaults and
the documentation of the op's record."""
import ast
import importlib.util
import os
import pathlib

import pytest

import sindri
from sindri import _core, _signatures

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "op_bindings.py"


@pytest.fixture(scope="module")
def bindings():
    spec = importlib.util.spec_from_file_location("op_bindings", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions(bindings):
    found = [bindings.declarations(h)[0] for h in sorted((ROOT / "include" / "sindri" / "ops").glob("*.h"))]
    return [f for group in found for f in group]


def value(text):
    """Evaluates a default as written in the record or the signature; returns None for the text of an object."""
    try:
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (ValueError, SyntaxError):
        return None


def test_every_declared_function_is_there(bindings):
    declared = functions(bindings)
    assert len(declared) > 120
    for f in declared:
        arguments = [a.name for a in _signatures.parse(getattr(_core.ops, f.name).__doc__)[0]]
        assert f.name in bindings.WRITTEN or arguments[-1] in (f.arguments[-1].name, "input", "other", "groups", "count_include_pad"), f.name


def test_defaults_and_documentation_are_the_records(bindings):
    """The record and the declaration both contain the default, for C++ callers; the two must agree."""
    records, compared, different = set(_core.op_names()), 0, []
    for f in functions(bindings):
        if f.name not in records:
            continue
        record, function = _core.describe_op(f.name), getattr(_core.ops, f.name)
        assert function.__doc__.partition("\n")[2].strip() == record["doc"].strip() + bindings.sections(f), f.name
        for a in _signatures.parse(function.__doc__)[0]:
            if a.default and a.name in record["attrs"] and value(a.default) is not None:
                compared += 1
                different += [(f.name, a.name)] * (value(a.default) != value(record["attrs"][a.name]))
    assert compared > 60 and not different, different


def test_a_header_becomes_functions(bindings, tmp_path):
    """Names, defaults, attribute structs, kinds of results; an argument that cannot be bound is named."""
    folder = tmp_path / "sindri" / "ops"
    folder.mkdir(parents=True)
    (folder / "elementwise.h").write_text("SINDRI_API Tensor twice(const Tensor& x);  ///< 2x\n"
                                          "SINDRI_API Tensor plus(const Tensor& a, const Tensor& b);\n"
                                          "SINDRI_API void reset(int64_t seed);\n")
    (folder / "other.h").write_text("struct FooAttrs {\n  std::vector<int64_t> stride = {1, 1};  ///< steps\n  bool wide = false;\n"
                                    "  SINDRI_ATTRS(FooAttrs, stride, wide)\n};\n"
                                    "/// What it does\n/// in two lines.\n"
                                    "SINDRI_API std::pair<Tensor, Tensor> foo(const Tensor& x, const FooAttrs& attrs = {},\n"
                                    "                                         double eps = 1, const Tensor& skip = {});\n")
    run(bindings, tmp_path)
    code, types = (tmp_path / "out.cc").read_text(), (tmp_path / "out.pyi").read_text()
    assert "def twice(input: TensorLike) -> Tensor: ..." in types and "def plus(input: Any, other: Any) -> Tensor: ..." in types and "reset" not in types
    assert ("def foo(x: TensorLike, stride: Sequence[int] = ..., wide: bool = False, eps: float = 1.0, skip: TensorLike | None = None) "
            "-> tuple[Tensor, Tensor]: ...") in types
    assert 'py::arg("stride") = std::vector<int64_t>{1, 1}' in code and "ops::FooAttrs{.stride = stride, .wide = wide}" in code
    assert "What it does in two lines." in code and '"2x"' not in code and "(2x)" in code
    (folder / "other.h").write_text("SINDRI_API Tensor bar(const std::map<int, int>& m);\n")
    with pytest.raises(ValueError, match="is not an argument that can be bound"):
        run(bindings, tmp_path)


def run(bindings, folder):
    bindings.sys.argv = [str(SCRIPT), str(folder), str(folder / "out.cc"), str(folder / "out.pyi")]
    bindings.main()


def test_the_types_are_installed_beside_the_extension():
    assert os.path.exists(os.path.join(os.path.dirname(sindri.__file__), "_core", "ops.pyi"))
