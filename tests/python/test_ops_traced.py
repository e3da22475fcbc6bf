"""The expressions of ops_cases.py, compiled as functions of their tensors, have the eager results. Only those that read values cannot be compiled."""
import pytest

import ops_cases
import sindri as ms
from test_ops_expected import compare

# Expressions whose result's shape, or whose choice, depends on values: requesting a value ends the trace, and the caller continues eagerly.
EAGER = ("masked_select(x", "nonzero(f", "x.nonzero(", "NMSWithMask", ".item()", ".tolist()", "mnp.unique(", "mnp.histogram(")


def _tensors(names):
    return [n for n, v in names.items() if isinstance(v, ms.Tensor)]


@pytest.mark.parametrize("case", ops_cases.CASES)
def test_compiled_as_eager(case):
    names = ops_cases.names(ms)
    keys = _tensors(names)
    tensors = [names[k] for k in keys]
    code = compile(case, "case", "eval")
    eager = ops_cases.plain(ms, eval(code, dict(names)))
    if "Parameter(" in case:
        pytest.skip("creates a Parameter, which compiled code must not do")
    found = {}

    def run(inputs):
        # Tensors that the expression creates from numbers are constants; those of the namespace are inputs of the graph.
        result = eval(code, {**names, **dict(zip(keys, inputs))})
        found["skeleton"] = _skeleton(result)
        flat = []
        _collect(result, flat)
        return flat

    compiled = ms._core.CompiledFn(run, "case")
    if any(word in case for word in EAGER):
        with pytest.raises(ms.TracedValueError):
            compiled(tensors)
        return
    for _ in range(2):  # traced, then replayed
        out = compiled(tensors)
        compare(ops_cases.plain(ms, _restore(found["skeleton"], iter(out))), eager, 1e-6)


def _skeleton(v):
    return tuple(_skeleton(x) for x in v) if isinstance(v, (tuple, list)) else ... if isinstance(v, ms.Tensor) else v


def _collect(v, out):
    if isinstance(v, ms.Tensor):
        out.append(v)
    elif isinstance(v, (tuple, list)):
        for x in v:
            _collect(x, out)


def _restore(v, it):
    return tuple(_restore(x, it) for x in v) if isinstance(v, tuple) else next(it) if v is ... else v
