"""Scripts as MindSpore's users write them, one per class of usage that a script of theirs once tripped over: run through `import mindspore`."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sindri

PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(sindri.__file__)))


@pytest.fixture
def run(tmp_path):
    """run(text): the lines that the script printed, in a process and folder of its own. Fails unless it exits with 0."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([PACKAGES, os.environ.get("PYTHONPATH", "")]))

    def call(text):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text))
        done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.splitlines()
    return call


def test_module_paths_of_mindspore_1(run):
    """Where scripts of 2020 to 2022 import from; the objects are those of today's paths."""
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
    """The outputs that are not differentiated come as a tuple, also when there is one."""
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
