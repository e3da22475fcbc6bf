"""Scripts in the style of MindSpore's users, one for each kind of use that once broke a user's script: run through `import mindspore`."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sindri
import sindri as ms

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(sindri.__file__)))


@pytest.fixture
def run(tmp_path):
    """Returns run(text), which runs the script in a separate process and folder and returns its printed lines. Fails unless the exit code is 0."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")]))

    def call(text):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()
    return call


def test_module_paths_of_mindspore_1(run):
    """Module paths that scripts of 2020 to 2022 import from; the objects are those of today's paths."""
    assert run("""
        import mindspore as ms
        from mindspore import nn
        from mindspore.common.initializer import Initializer, _assignment, _calculate_correct_fan, initializer
        from mindspore.nn.metrics.metric import Metric, rearrange_inputs
        from mindspore.nn.optim import FTRL, Adam, LazyAdam
        from mindspore.parallel import _cost_model_context as cost_model_context
        from mindspore.parallel._cost_model_context import _set_multi_subgraphs
        from mindspore.profiler.profiling import Profiler
        from mindspore.train.model import Model, ParallelMode
        from mindspore.train.train_thor.dataset_helper import DatasetHelper

        assert Metric is nn.Metric and ParallelMode is ms.ParallelMode and Profiler is ms.Profiler and FTRL is nn.FTRL
        assert DatasetHelper is ms.DatasetHelper
        _set_multi_subgraphs()
        cost_model_context.set_cost_model_context(costmodel_beta=280.0)
        assert cost_model_context.get_cost_model_context("is_multi_subgraphs")
        ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)


        class Fan(Initializer):
            def _initialize(self, arr):
                _assignment(arr, 1.0 / _calculate_correct_fan(arr.shape, "fan_out"))


        print(initializer(Fan(), (4, 2)).init_data().asnumpy().tolist())
        """) == [str([[0.25, 0.25]] * 4)]


def test_gradients_beside_other_outputs(run):
    """The outputs that are not differentiated are returned as a tuple, even if there is only one."""
    assert run("""
        import mindspore as ms
        from mindspore import Tensor


        def forward(x, w):
            z = x * w
            return z.sum(), z


        x, w = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            ms.set_context(mode=mode)
            grads, (z,) = ms.grad(forward, (0, 1), has_aux=True)(x, w)
            print(grads[0], grads[1], z)
            grad, (z,) = ms.grad(forward, has_aux=True)(x, w)
            print(grad, z)
        """) == ["[3. 4.] [1. 2.] [3. 8.]", "[3. 4.] [3. 8.]"] * 2


def test_scalars_print_as_in_mindspore(run):
    assert run("""
        import mindspore as ms
        from mindspore import Tensor

        print([Tensor(v, ms.float32) for v in (4, 1 / 3, 1e-8, 123456789, -2.5)])
        print([Tensor(2.0, ms.float16), Tensor(3), Tensor(True)])
        print(Tensor(4.0, ms.float32), Tensor(1 / 3, ms.float32))
        """) == ["[" + ", ".join(f"Tensor(shape=[], dtype=Float32, value= {v})" for v in ("4", "0.333333", "1e-08", "1.23457e+08", "-2.5")) + "]",
                 "[Tensor(shape=[], dtype=Float16, value= 2), Tensor(shape=[], dtype=Int64, value= 3), Tensor(shape=[], dtype=Bool, value= True)]",
                 "4.0 0.33333334"]


def test_sens_of_one_element_serves_any_output(mode):
    """Training cells of MindSpore 1 pass the loss scale with shape [1]."""
    net = ms.nn.Dense(2, 1, weight_init=ms.Tensor([[1.0, 2.0]]), has_bias=False)
    grad = ms.ops.GradOperation(get_by_list=True, sens_param=True)
    x, label = ms.Tensor([[1.0, 3.0]]), ms.Tensor([[5.0]])
    for sens in (ms.Tensor([4.0]), ms.Tensor(4.0), ms.ops.fill(ms.float16, (1, 1), 4)):
        loss = ms.nn.WithLossCell(net, ms.nn.MSELoss())
        got = grad(loss, ms.ParameterTuple(net.trainable_params()))(x, label, sens)
        np.testing.assert_allclose(got[0].asnumpy(), [[16.0, 48.0]], rtol=1e-6)
    with pytest.raises(ms.ShapeError):
        grad(loss, ms.ParameterTuple(net.trainable_params()))(x, label, ms.Tensor([1.0, 2.0]))


def test_a_range_becomes_an_array(mode):
    """Detection networks build grids from `range(n)` while a graph is compiled."""
    got = ms.ops.tuple_to_array(range(1, 4))
    assert got.dtype == ms.int32 and got.asnumpy().tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="tuple of numbers"):
        ms.ops.tuple_to_array(range(0))


def test_vocab_cache_size_of_mindspore_1():
    table = ms.nn.EmbeddingLookup(4, 2, target="CPU", sparse=False, vocab_cache_size=0)
    assert table(ms.Tensor([1, 2], ms.int32)).shape == (2, 2)
    with pytest.raises(ms.NotYetError, match="vocab_cache_size"):
        ms.nn.EmbeddingLookup(4, 2, vocab_cache_size=100)


def test_floor_division_has_gradient_zero(mode):
    x = ms.Tensor([5.0, -7.0])
    for f in (lambda a: (a // 2).sum() + a.sum(), lambda a: (9 // a).sum() + a.sum(), lambda a: (a // a).sum() + a.sum()):
        np.testing.assert_array_equal(ms.grad(f)(x).asnumpy(), [1.0, 1.0])
    assert (x // 2).asnumpy().tolist() == [2.0, -4.0] and (9 // ms.Tensor([2, 4])).asnumpy().tolist() == [4, 2]


def test_vmap_is_at_the_top():
    assert ms.vmap(lambda a, b: a * b.sum(), in_axes=(0, None))(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 1.0])).asnumpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("value", [np.float64(4.5), np.float16(0.5), np.float32(1), np.int32(3), np.int64(2), np.uint8(3), np.bool_(True)])
def test_numpy_scalars_keep_their_type(value):
    t = ms.Tensor(value)
    assert t.shape == () and t.asnumpy().dtype == value.dtype and t.asnumpy() == value
    assert ms.Tensor(value, ms.float32).dtype == ms.float32


def test_numpy_float64_is_a_python_number_beside_a_tensor():
    assert (ms.Tensor([1.0]) * np.float64(2)).dtype == ms.float32 and ms.Tensor([np.float64(1)]).dtype == ms.float32


def test_type_none_prints_as_none():
    assert str(ms.type_none) == "None" and str(ms.float32) == "Float32"


def test_mutable_hands_back_what_it_gets(mode):
    double = ms.jit(lambda pair: pair[0] * pair[1])
    x = ms.mutable((ms.Tensor([1.0, 2.0]), 3))
    assert double(x).asnumpy().tolist() == [3.0, 6.0]
    assert ms.mutable([1, 2], dynamic_len=True) == [1, 2]
    for wrong in (lambda: ms.mutable({1}), lambda: ms.mutable(3, True), lambda: ms.mutable((1, object()))):
        with pytest.raises(TypeError, match="mutable"):
            wrong()


def test_keywords_of_calls(mode):
    """`ops.partial` binds keywords, and a primitive's inputs may be named."""
    assert ms.ops.partial(lambda x, y: x - y, y=1)(3) == 2
    assert ms.ops.ReduceSum(True)(ms.Tensor([[1.0, 2.0]]), axis=1).asnumpy().tolist() == [[3.0]]


def test_integer_gradients_through_a_cell(mode):
    """A Cell without Parameters has the gradients of its arithmetic for integers, too, like a function."""
    class Net(ms.nn.Cell):
        def construct(self, x, y):
            return {"product": x * y}, (x, 2)

    grads = ms.ops.GradOperation(get_all=True)(Net())(ms.Tensor(3, ms.int32), ms.Tensor(5, ms.int32))
    assert [g.dtype for g in grads] == [ms.int32] * 2 and [int(g) for g in grads] == [6, 3]
    value, grads = ms.value_and_grad(lambda x, y: x * x * y, (0, 1))(ms.Tensor(3, ms.int32), ms.Tensor([5], ms.int32))
    assert value.dtype == ms.int32 and value.asnumpy().tolist() == [45] and [g.asnumpy().tolist() for g in grads] == [30, [9]]
    assert int(ms.grad(lambda x: (x * x, x), has_aux=True)(ms.Tensor(3, ms.int32))[0]) == 6
