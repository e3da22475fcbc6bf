"""Cell's state by path, buffers, hooks with keywords and on gradients, CellDict: the same results as MindSpore 2.10.0, unless noted."""
import copy
import pickle

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 3)
        self.scale = Parameter(Tensor([2.0]), name="scale")
        self.register_buffer("offset", Tensor([1.0, 2.0, 3.0]))
        self.register_buffer("scratch", Tensor([0.0]), persistent=False)
        self.register_buffer("none", None)

    def construct(self, x, factor=1.0):
        return (self.dense(x) + self.offset) * self.scale * factor


X = Tensor([[1.0, 2.0]])


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_buffers(mode):
    net = Net()
    assert [name for name, _ in net.named_buffers()] == ["offset", "scratch"] and [b.shape for b in net.buffers()] == [(3,), (1,)]
    outer = nn.SequentialCell(net, nn.ReLU())
    assert [name for name, _ in outer.named_buffers()] == ["0.offset", "0.scratch"] and list(outer.buffers(recurse=False)) == []
    assert [name for name, _ in outer.named_buffers(prefix="net")] == ["net.0.offset", "net.0.scratch"]
    assert outer.get_buffer("0.offset") is net.offset and outer.get_sub_cell("0.dense") is net.dense and outer.get_sub_cell("") is outer
    assert sorted(p.name for p in net.trainable_params()) == ["0.dense.bias", "0.dense.weight", "0.scale"]
    before = net(X).asnumpy()
    net.offset = Tensor([2.0, 3.0, 4.0])
    np.testing.assert_allclose(net(X).asnumpy(), before + 2.0, rtol=1e-6)
    assert net.get_buffer("offset").asnumpy().tolist() == [2, 3, 4]
    twin = copy.deepcopy(net)
    assert twin.offset is not net.offset and "offset" in twin.state_dict()
    del net.offset
    assert [name for name, _ in net.named_buffers()] == ["scratch"]
    for call, kind in ((lambda: net.register_buffer(3, X), TypeError), (lambda: net.register_buffer("a.b", X), KeyError), (lambda: net.register_buffer("", X), KeyError),
                       (lambda: net.register_buffer("dense", X), KeyError), (lambda: net.register_buffer("b", 3), TypeError),
                       (lambda: net.get_buffer("dense"), AttributeError), (lambda: net.get_sub_cell("nothing"), AttributeError),
                       (lambda: net.get_sub_cell("scale"), AttributeError)):
        with pytest.raises(kind):
            call()


def test_state_dict_and_load_state_dict(mode):
    net, other = Net(), Net()
    state = net.state_dict()
    assert list(state) == ["scale", "offset", "dense.weight", "dense.bias"] and state["dense.weight"] is net.dense.weight
    assert list(net.state_dict(prefix="p.")) == ["p.scale", "p.offset", "p.dense.weight", "p.dense.bias"]
    filled = {"mine": 1}
    assert net.state_dict(destination=filled) is filled and len(filled) == 5
    net.offset = Tensor([7.0, 8.0, 9.0])
    assert not np.array_equal(net(X).asnumpy(), other(X).asnumpy())
    result = other.load_state_dict(net.state_dict())
    assert result == ([], []) and result.missing_keys == [] and result.unexpected_keys == []
    assert np.array_equal(net(X).asnumpy(), other(X).asnumpy())
    half = {"scale": Tensor([3.0], ms.float16)}
    assert other.load_state_dict(half, strict=False).missing_keys == ["offset", "dense.weight", "dense.bias"]
    assert other.scale.dtype == ms.float32 and other.scale.asnumpy().tolist() == [3]
    for given, message in ((half, "missing keys: offset, dense.weight, dense.bias"), ({**net.state_dict(), "dense.other": X}, "unexpected keys: dense.other"),
                           ({**net.state_dict(), "lost.weight": X}, "unexpected keys: lost.weight"),
                           ({**net.state_dict(), "scale": Tensor([1.0, 2.0])}, r"'scale' has shape \[2\], expected \[1\]"),
                           ({**net.state_dict(), "scale": 3}, "'scale' is a int, expected a Tensor")):
        with pytest.raises(RuntimeError, match=message):
            other.load_state_dict(given)
    with pytest.raises(TypeError):
        other.load_state_dict([1])
    with pytest.raises(TypeError):
        net.state_dict(prefix=3)


def test_extra_state():
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = 0

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    first, second = nn.SequentialCell(Counting()), nn.SequentialCell(Counting())
    first[0].count = 5
    assert list(first.state_dict()) == ["0._extra_state"]
    second.load_state_dict(first.state_dict())
    assert second[0].count == 5
    assert second.load_state_dict({}, strict=False).missing_keys == ["0._extra_state"]


def test_hooks_of_the_state():
    net, seen = Net(), []
    handles = [net.register_state_dict_pre_hook(lambda cell, prefix, keep: seen.append(("before", prefix, keep))),
               net.dense.register_state_dict_post_hook(lambda cell, state, prefix, meta: state.update(bias=state.pop(prefix + "bias"))),
               net.register_load_state_dict_pre_hook(lambda cell, state, prefix, meta, strict, missing, unexpected, errors: state.__delitem__("old")),
               net.register_load_state_dict_post_hook(lambda cell, keys: keys.missing_keys.clear())]
    state = net.state_dict(prefix="", keep_vars=True)
    assert seen == [("before", "", True)] and "dense.bias" not in state and state.pop("bias") is net.dense.bias
    assert net.load_state_dict({**state, "old": X}) == ([], [])
    for handle in handles:
        handle.remove()
    assert "dense.bias" in net.state_dict() and len(seen) == 1
    net.register_state_dict_post_hook(lambda cell, state, prefix, meta: 1)
    with pytest.raises(RuntimeError, match="must return None"):
        net.state_dict()
    with pytest.raises(TypeError):
        net.register_state_dict_pre_hook(3)


def test_apply():
    net, order = nn.SequentialCell(nn.Dense(2, 3), nn.SequentialCell(nn.Dense(3, 1))), []
    assert net.apply(lambda cell: order.append(type(cell).__name__)) is net
    assert order == ["Dense", "Dense", "SequentialCell", "SequentialCell"]

    def zeros(cell):
        if isinstance(cell, nn.Dense):
            cell.weight.set_data(ops.zeros_like(cell.weight))
            cell.bias.set_data(ops.ones_like(cell.bias))

    net.apply(zeros)
    assert net(X).asnumpy().tolist() == [[1.0]]


def test_forward_hooks_with_kwargs(mode):
    net, plain = Net(), Net()
    plain.load_state_dict(net.state_dict())
    one = plain(X).asnumpy()
    handle = net.register_forward_pre_hook(lambda cell, args, kwargs: (args, {**kwargs, "factor": 3.0}), with_kwargs=True)
    np.testing.assert_allclose(net(X, factor=2.0).asnumpy(), 3 * one, rtol=1e-6)
    handle.remove()
    handle = net.register_forward_hook(lambda cell, args, kwargs, out: out * kwargs["factor"], with_kwargs=True)
    np.testing.assert_allclose(net(X, factor=2.0).asnumpy(), 4 * one, rtol=1e-6)
    handle.remove()
    net.register_forward_hook(lambda cell, args, out: out + 1)
    net.register_forward_hook(lambda cell, args, out: out * 2, prepend=True)
    np.testing.assert_allclose(net(X).asnumpy(), 2 * one + 1, rtol=1e-6)
    net.register_forward_pre_hook(lambda cell, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="must return None or"):
        net(X)


def test_forward_hook_that_is_always_called():
    class Fails(nn.Cell):
        def construct(self, x):
            raise ValueError("on purpose")

    net, seen = Fails(), []
    net.register_forward_hook(lambda cell, args, out: seen.append("usual"))
    net.register_forward_hook(lambda cell, args, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="on purpose"):
        net(X)
    assert seen == [None]


def test_backward_pre_hook():
    net = nn.Dense(2, 1)
    net.weight.set_data(Tensor([[3.0, 4.0]]))
    order = []

    def before(cell, grads):
        order.append(("before", grads[0].asnumpy().tolist()))
        return grads[0] * 10

    def after(cell, inputs, outputs):
        order.append(("after", inputs[0].asnumpy().tolist(), outputs[0].asnumpy().tolist()))

    first, second = net.register_backward_pre_hook(before), net.register_backward_hook(after)
    gradient = ms.grad(lambda x: net(x).sum(), 0)
    assert gradient(X).asnumpy().tolist() == [[30, 40]]
    assert order == [("before", [[1.0]]), ("after", [[30.0, 40.0]], [[10.0]])]
    first.remove()
    assert gradient(X).asnumpy().tolist() == [[3, 4]]
    second.remove()
    assert gradient(X).asnumpy().tolist() == [[3, 4]] and len(order) == 3


def module_hook(cell, args):
    return None


def test_hooks_can_be_pickled():
    net = nn.Dense(2, 1)
    net.register_forward_pre_hook(module_hook)
    twin = pickle.loads(pickle.dumps(net))
    assert np.array_equal(twin(X).asnumpy(), net(X).asnumpy())


def test_cell_dict(mode):
    cells = nn.CellDict({"wide": nn.Dense(2, 3), "act": nn.ReLU()})
    cells.update([("last", nn.Dense(3, 1))])
    assert list(cells) == ["wide", "act", "last"] == list(cells.keys()) and len(cells) == 3 and "act" in cells and "none" not in cells
    assert [p.name for p in cells.trainable_params()] == ["wide.weight", "wide.bias", "last.weight", "last.bias"]

    class Uses(nn.Cell):
        def __init__(self):
            super().__init__()
            self.parts = cells

        def construct(self, x):
            for part in self.parts.values():
                x = part(x)
            return x

    net = Uses()
    want = cells["last"](cells["act"](cells["wide"](X))).asnumpy()
    np.testing.assert_allclose(net(X).asnumpy(), want, rtol=1e-6)
    assert [p.name for p in net.trainable_params()][0] == "parts.wide.weight"
    popped = cells.pop("wide")
    assert isinstance(popped, nn.Dense) and list(cells.items())[0][0] == "act"
    del cells["act"]
    cells.clear()
    assert len(cells) == 0 and cells.trainable_params() == []
    for call, kind in ((lambda: cells.update({3: nn.ReLU()}), TypeError), (lambda: cells.update({"": nn.ReLU()}), KeyError), (lambda: cells.update({"a.b": nn.ReLU()}), KeyError),
                       (lambda: cells.update({"construct": nn.ReLU()}), KeyError), (lambda: cells.update({"a": 3}), TypeError),
                       (lambda: cells.update({"a": nn.CellList([])}), TypeError), (lambda: cells.update(3), TypeError), (lambda: cells.update([3]), TypeError),
                       (lambda: cells.update([("a", nn.ReLU(), 1)]), ValueError), (lambda: cells["lost"], KeyError), (lambda: cells.pop("lost"), KeyError),
                       (lambda: cells(X), NotImplementedError)):
        with pytest.raises(kind):
            call()


def test_vmap_over_models():
    models = [nn.Dense(3, 2) for _ in range(4)]
    x = Tensor(np.arange(15, dtype=np.float32).reshape(5, 3))
    xs = Tensor(np.arange(60, dtype=np.float32).reshape(4, 5, 3))
    for given in (nn.CellList(models), list(models)):
        same = ops.vmap(given, in_axes=None)(x)
        assert same.shape == (4, 5, 2) and np.array_equal(same.asnumpy(), np.stack([m(x).asnumpy() for m in models]))
        own = ops.vmap(given, in_axes=0)(xs)
        assert np.array_equal(own.asnumpy(), np.stack([m(xs[i]).asnumpy() for i, m in enumerate(models)]))
        assert ops.vmap(given, in_axes=None, out_axes=1)(x).shape == (5, 4, 2)
    sequence = nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())  # a function, not a list
    assert ops.vmap(sequence)(xs).shape == (4, 5, 2)
    with pytest.raises(ValueError, match="4 functions for 3 slices"):
        ops.vmap(models)(xs[:3])
    with pytest.raises(ValueError, match="empty"):
        ops.vmap(nn.CellList([]), in_axes=None)(x)


def test_requires_grad_():
    net = nn.Dense(2, 1)
    assert net.weight.requires_grad_(False) is net.weight and net.weight.requires_grad is False
    assert [p.name for p in net.trainable_params()] == ["bias"]
    assert net.weight.requires_grad_().requires_grad is True and len(net.trainable_params()) == 2
    x = Tensor([1.0])
    assert x.requires_grad_() is x and x.requires_grad is True
    with pytest.raises(TypeError):
        x.requires_grad_(1)
