"""Views: a write to a part of a tensor changes the tensor, as in MindSpore 2.10's PYNATIVE_MODE. Era 1 is tested in a separate process."""
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, ops


def tensor():
    return Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


VIEWS = {  # the part, as NumPy's view of the same array
    "row": (lambda x: x[0], lambda a: a[0]), "slice": (lambda x: x[0:1], lambda a: a[0:1]), "column": (lambda x: x[:, 1], lambda a: a[:, 1]),
    "ellipsis": (lambda x: x[...], lambda a: a[...]), "None": (lambda x: x[None], lambda a: a[None]), "True": (lambda x: x[True], lambda a: a[None]),
    "step": (lambda x: x[:, ::2], lambda a: a[:, ::2]), "backwards": (lambda x: x[::-1], lambda a: a[::-1]), "numpy int": (lambda x: x[np.int64(1)], lambda a: a[1]),
    "0-D tensor": (lambda x: x[Tensor(1)], lambda a: a[1]), "view": (lambda x: x.view(3, 2), lambda a: a.reshape(3, 2)),
    "reshape": (lambda x: ops.reshape(x, (3, 2)), lambda a: a.reshape(3, 2)), "same shape": (lambda x: x.reshape(2, 3), lambda a: a.reshape(2, 3)),
    "Reshape": (lambda x: ops.Reshape()(x, (3, 2)), lambda a: a.reshape(3, 2)), "T": (lambda x: x.T, lambda a: a.T),
    "transpose": (lambda x: x.transpose(1, 0), lambda a: a.T), "Transpose": (lambda x: ops.Transpose()(x, (1, 0)), lambda a: a.T),
    "permute": (lambda x: ops.permute(x, (1, 0)), lambda a: a.T), "swapaxes": (lambda x: x.swapaxes(0, 1), lambda a: a.T),
    "movedim": (lambda x: x.movedim(0, 1), lambda a: a.T), "mT": (lambda x: x.mT, lambda a: a.T), "t": (lambda x: x.t(), lambda a: a.T),
    "expand_dims": (lambda x: ops.expand_dims(x, 1), lambda a: a[:, None]), "unsqueeze": (lambda x: x.unsqueeze(-1), lambda a: a[..., None]),
    "squeeze": (lambda x: x[None].squeeze(0), lambda a: a[...]), "flatten": (lambda x: x.flatten(), lambda a: a.reshape(-1)),
    "ravel": (lambda x: x.ravel(), lambda a: a.reshape(-1)), "diagonal": (lambda x: x.diagonal(1), lambda a: a.reshape(-1)[1::4]),
    "split": (lambda x: x.split(1)[1], lambda a: a[1:2]), "chunk": (lambda x: x.chunk(3, 1)[2], lambda a: a[:, 2:]), "unbind": (lambda x: x.unbind(1)[1], lambda a: a[:, 1]),
    "tensor_split": (lambda x: ops.tensor_split(x, (1, 2), 1)[1], lambda a: a[:, 1:2]), "hsplit": (lambda x: x.hsplit(3)[1], lambda a: a[:, 1:2]),
    "narrow": (lambda x: x.narrow(1, 1, 2), lambda a: a[:, 1:]), "ops.slice": (lambda x: ops.slice(x, (0, 1), (2, 1)), lambda a: a[:, 1:2]),
    "strided_slice": (lambda x: ops.strided_slice(x, (0, 2), (2, 0), (1, -1)), lambda a: a[:, 2:0:-1]), "select": (lambda x: x.select(1, 2), lambda a: a[:, 2]),
    "view_as": (lambda x: x.view_as(Tensor(np.zeros((3, 2)))), lambda a: a.reshape(3, 2)), "iterated": (lambda x: list(x)[1], lambda a: a[1]),
    "same type": (lambda x: x.astype(ms.float32), lambda a: a[...]), "float": (lambda x: x.float(), lambda a: a[...]), "to": (lambda x: x.to(ms.float32), lambda a: a[...]),
    "chain": (lambda x: x.T[1:].reshape(4)[1:3], lambda a: None),
}


@pytest.mark.parametrize("part, of_numpy", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("parameter", [False, True], ids=["Tensor", "Parameter"])
def test_a_write_to_a_part_changes_the_tensor(part, of_numpy, parameter):
    x, a = tensor(), np.arange(6, dtype=np.float32).reshape(2, 3)
    if parameter:
        x = Parameter(x, name="x")
        if part in (VIEWS["same type"][0], VIEWS["float"][0], VIEWS["to"][0]):
            pytest.skip("a second name of a Parameter's value is a separate tensor")
    y, b = part(x), of_numpy(a)
    if b is None:  # NumPy copies in the middle of this chain
        y[0] = 70.0
        y += 0
        assert x.asnumpy().tolist() == [[0, 1, 2], [3, 70, 5]]
        return
    assert y.asnumpy().tolist() == b.tolist()
    y[0] = 70.0
    b[0] = 70.0
    assert x.asnumpy().tolist() == a.tolist() and y.asnumpy().tolist() == b.tolist()
    x[1, 2] = 90.0
    a[1, 2] = 90.0
    assert y.asnumpy().tolist() == b.tolist()
    y.mul_(2.0)
    b *= 2
    assert x.asnumpy().tolist() == a.tolist() and y.asnumpy().tolist() == b.tolist()


def test_chained_subscripts_and_parts_of_parts():
    x = tensor()
    x[0][1] = 7
    x[1][1:][0] += 10
    assert x.asnumpy().tolist() == [[0, 7, 2], [3, 14, 5]]
    first, second = x[0], x[:, 1]
    first[1] = 8
    assert second.asnumpy().tolist() == [8, 14] and x[0, 1].item() == 8
    temporary = (x * 1)[None]
    inner = temporary[0]
    inner[0] = 0
    assert temporary.asnumpy()[0, 0].tolist() == [0, 0, 0] and x[0, 1].item() == 8
    row = x[0]
    x = None
    gc.collect()
    row[0] = 5
    assert row.asnumpy().tolist() == [5, 8, 2]


def test_what_is_no_view():
    x = tensor()
    for y in (x.copy(), x.clone(), Tensor(x), x[[0, 1]], x[x > -1].reshape(2, 3), x.flip(0), x.tile((1, 1)), x.roll(0), x + 0, x.index_select(0, Tensor([0, 1]))):
        y[0] = 70.0
        assert x.asnumpy().tolist() == tensor().asnumpy().tolist()
    y = x[0]
    y.assign_value(Tensor([1.0, 1.0, 1.0]))
    assert x[0].asnumpy().tolist() == [0, 1, 2]
    y = x[0]
    x.assign_value(tensor() + 1)
    assert y.asnumpy().tolist() == [0, 1, 2]
    y[0] = 9
    assert x[0, 0].item() == 1
    p = Parameter(tensor(), name="p")
    y = p.view(6)
    ops.assign(p, tensor() + 1)
    assert y.asnumpy().tolist() == [1, 2, 3, 4, 5, 6]
    p.set_data(tensor())
    assert y.asnumpy().tolist() == [1, 2, 3, 4, 5, 6]
    wide = x[0:1].expand((2, 3))
    with pytest.raises(ValueError, match="share memory.*copy"):
        wide[0, 0] = 7
    with pytest.raises(ValueError, match="share memory.*copy"):
        wide.add_(1.0)
    x[0] = 5
    assert wide.asnumpy().tolist() == [[5] * 3] * 2


def test_gradients_through_writes():
    def f(x, v):
        y = x * 2
        z = y[0]
        z[1] = v
        y.T[2][1] = v * v
        return (y * y).sum()

    def g(x, v):
        y = x * 2
        y[0, 1] = v
        y[1, 2] = v * v
        return (y * y).sum()

    x, v = tensor(), Tensor(3.0)
    for own, plain in zip(ms.grad(f, (0, 1))(x, v), ms.grad(g, (0, 1))(x, v)):
        assert own.asnumpy().tolist() == plain.asnumpy().tolist()
    assert ms.grad(f, (0, 1))(x, v)[1].item() == 114.0  # 2 v + 4 v^3


def test_in_graphs():
    """Writes reach the tensor as in eager mode; a part taken before keeps its value, as in MindSpore's graphs."""
    @ms.jit
    def f(x):
        y = x * 1
        y[0][1] = 7
        z = y[1]
        z[0] = 8
        row = y[0]
        y[0] = y[1]
        y[1] = row
        return y, z

    for _ in range(2):
        y, z = f(tensor())
        assert y.asnumpy().tolist() == [[8, 4, 5], [0, 7, 2]] and z.asnumpy().tolist() == [8, 4, 5]

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(tensor(), name="p")
            self.first = self.p[0]

        def construct(self, x):
            self.p[1][0] = x
            return self.first.sum() + self.p.sum()

    net = Net()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        got = [net(Tensor(float(i))).item() for i in (10, 20)]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert got == [25.0, 35.0] and net.p.asnumpy().tolist() == [[0, 1, 2], [20, 4, 5]] and net.first.asnumpy().tolist() == [0, 1, 2]
    net.p[0][0] = 5
    assert net.first.asnumpy().tolist() == [5, 1, 2]


def test_long_chains_and_many_parts():
    x = tensor()
    y = x
    for _ in range(200):
        y = y.T
    assert len(y._link_of()[1]) <= 33
    y[0, 0] = 9
    assert x[0, 0].item() == 9
    for _ in range(2000):
        x[0][0] = 1
    gc.collect()
    assert x._link_of() is None


def test_copies_of_views_are_tensors_of_their_own():
    import copy
    import pickle
    x = tensor()
    for y in (copy.copy(x[0]), copy.deepcopy(x[0]), pickle.loads(pickle.dumps(x[0])), Parameter(x[0], name="p")):
        y[0] = 9
        assert x[0, 0].item() == 0


def test_era_1_in_a_process_of_its_own():
    """MindSpore 1.8: an indexing result writes to the tensor and keeps its value when the tensor is written; nothing else is a view. Results recorded with 1.x.
    """
    script = """
import numpy as np, sindri as ms
from sindri import Tensor, ops
ms.set_context(mode=ms.PYNATIVE_MODE)
x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
x[0][1] = 7
y = x[0]
y[0] = 8
x[0, 2] = 9
z = x.reshape(6)
z[0] = -1
print(x.asnumpy().tolist(), y.asnumpy().tolist())
m = Tensor(np.arange(4, dtype=np.int32).reshape(2, 2))
print(m.transpose(0, 1).asnumpy().tolist(), m.max(1).asnumpy().tolist(), [t.asnumpy().tolist() for t in m.argmax_with_value(1)])
print(m.prod().dtype, m.cumprod(0).dtype, m.astype(ms.uint8).cumsum(0).dtype)
try:
    x.squeeze(0)
except ValueError as e:
    print("ValueError")
"""
    env = dict(os.environ, SINDRI_MINDSPORE_ERA="1")
    out = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=120)
    assert out.stdout.splitlines() == ["[[8.0, 7.0, 9.0], [3.0, 4.0, 5.0]] [8.0, 7.0, 2.0]", "[[0, 1], [2, 3]] [1, 3] [[1, 1], [1, 3]]",
                                       "Int32 Int32 UInt8", "ValueError"], out.stdout + out.stderr
