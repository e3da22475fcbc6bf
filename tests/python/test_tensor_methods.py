"""Tensor methods that ops_cases.py does not compare: in place, conversions, forms of arguments, errors. Expected values are from NumPy or formulas."""
import inspect

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, ops
from sindri.ops import _method_names, _tensor_methods

X = np.array([[1.5, -2.0, 3.0], [0.0, 4.0, -5.5]], np.float32)


@pytest.fixture
def x():
    return Tensor(X.copy())


def test_every_method_of_the_contract_is_there():
    names = """abs all any argmin broadcast_to clip cumsum diagonal fill index_fill itemset masked_fill min narrow nonzero pow ptp ravel repeat
    resize swapaxes take trace
    var view where split select gather expand_dims item asnumpy astype reshape transpose sum mean max argmax squeeze flatten T shape dtype
    size""".split()
    assert [n for n in names if not hasattr(Tensor, n)] == []
    assert all(hasattr(Parameter, n) for n in names)


def test_attach_leaves_what_is_there():
    class Own:
        def sum(self):
            return "own"
    _tensor_methods.attach(Own)
    assert Own().sum() == "own" and hasattr(Own, "masked_fill")


def test_shapes_given_in_every_form(x):
    for form in ((3, 2), [3, 2], (np.int64(3), -1)):
        assert x.reshape(form).shape == (3, 2)
    assert x.reshape(3, 2).shape == x.view(3, -1).shape == x.reshape((-1, 2)).shape == (3, 2)
    assert x.transpose().shape == x.transpose(1, 0).shape == x.transpose([1, 0]).shape == x.T.shape == (3, 2)
    assert x.broadcast_to(4, 2, 3).shape == x.broadcast_to((4, 2, 3)).shape == x.expand(4, -1, -1).shape == (4, 2, 3)
    assert x.new_zeros(2, 3).shape == x.new_ones((2, 3), dtype=ms.int32).shape == (2, 3)
    with pytest.raises(ValueError):
        x.reshape(4, 2)
    with pytest.raises(TypeError, match="shape"):
        x.reshape("3")
    with pytest.raises(ValueError):
        x.transpose((0, 0))


def test_reductions_as_numpy(x):
    for name in ("sum", "mean", "prod", "max", "min"):
        for axis in (None, 0, -1, (0, 1)):
            np.testing.assert_allclose(getattr(x, name)(axis=axis).asnumpy(), getattr(X, name)(axis), rtol=1e-6, err_msg=f"{name} {axis}")
            np.testing.assert_allclose(getattr(x, name)(axis=axis, keepdims=True).asnumpy(), getattr(X, name)(axis, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose([x.std().item(), x.var(ddof=1).item(), x.ptp().item()], [X.std(), X.var(ddof=1), np.ptp(X)], rtol=1e-6)
    assert x.sum(dtype=ms.float64).dtype == ms.float64 and x.sum(initial=2.0).item() == X.sum() + 2
    assert x.mean(keep_dims=True).shape == (1, 1)
    assert x.max(initial=10.0).item() == 10 and x.max(initial=-1.0, where=Tensor(X < 2)).item() == 1.5
    values, index = x.max(axis=1, return_indices=True)
    assert values.asnumpy().tolist() == [3, 4] and index.asnumpy().tolist() == [2, 1]
    assert x.argmax().item() == 4 and x.argmin(1).asnumpy().tolist() == [1, 2]
    assert x.cumsum().asnumpy().tolist() == X.cumsum().tolist() and x.all().item() is False and x.any().item() is True


def test_item_and_itemset(x):
    assert x.item(4) == 4.0 and x.item((1, 2)) == -5.5 and x.item(-1) == -5.5 and Tensor(3).item() == 3
    with pytest.raises(ValueError, match="one element"):
        x.item()
    with pytest.raises(IndexError, match="out of range"):
        x.item(6)
    y = x.itemset((0, 1), 9.0)
    assert y.asnumpy()[0, 1] == 9 and x.asnumpy()[0, 1] == -2 and x.itemset(5, 1).asnumpy()[1, 2] == 1 and Tensor(1.0).itemset(4).item() == 4
    with pytest.raises(ValueError, match="one element"):
        x.itemset(3)


def test_in_place(x):
    assert x.add_(1) is x and x.asnumpy().tolist() == (X + 1).tolist()
    assert x.zero_() is x and not x.asnumpy().any()
    assert x.fill_(2.5).asnumpy().min() == 2.5 and x.mul_(2).sub_(1).div_(2).asnumpy().tolist() == [[2.0] * 3] * 2
    assert x.copy_(Tensor([1.0, 2, 3])).asnumpy().tolist() == [[1, 2, 3]] * 2 and x.clamp_(min=2).asnumpy().tolist() == [[2, 2, 3]] * 2
    assert x.assign_value(Tensor(X)) is x and x.asnumpy().tolist() == X.tolist()
    n = Tensor([1, 2])
    assert n.add_(5).dtype == ms.int64 and n.floor_divide_(2).asnumpy().tolist() == [3, 3]
    with pytest.raises(TypeError, match="Float32, the tensor of Int64"):
        n.add_(0.5)
    assert n.asnumpy().tolist() == [3, 3]
    p = Parameter(X, name="p")
    assert p.add_(1) is p and p.asnumpy().tolist() == (X + 1).tolist() and p.dtype == ms.float32


def test_a_copy_is_its_own(x):
    y = x.copy()
    y.asnumpy()[0, 0] = 99
    assert x.asnumpy()[0, 0] == 1.5
    n = Tensor([1, 2])
    n.clone().asnumpy()[0] = 5
    assert n.asnumpy().tolist() == [1, 2]


def test_types(x):
    assert [str(t.dtype) for t in (x.half(), x.float(), x.double(), x.int(), x.long(), x.bool(), x.bfloat16(), x.to(ms.int32), x.to("float16"),
                                   x.to(Tensor([1])))] == [
        "Float16", "Float32", "Float64", "Int32", "Int64", "Bool", "BFloat16", "Int32", "Float16", "Int64"]
    assert x.to("CPU") is x and x.type() == "Float32" and x.type(ms.int32).dtype == ms.int32 and x.type_as(Tensor([1])).dtype == ms.int64
    assert x.is_floating_point() and not Tensor([1]).is_floating_point() and x.dim() == x.ndimension() == 2 and x.numel() == x.nelement() == 6
    assert x.tolist() == X.tolist() and (x.numpy() == X).all() and x.contiguous() is x and x.is_contiguous() and x.element_size() == 4


def test_choosing(x):
    other = Tensor(np.zeros_like(X))
    assert x.where(x > 0, other).asnumpy().tolist() == np.where(X > 0, X, 0).tolist() == x.select(x > 0, other).asnumpy().tolist()
    assert x.take(Tensor([0, 7, -3])).asnumpy().tolist() == [1.5, -5.5, 1.5]
    assert x.take(Tensor([0, 7]), mode="wrap").asnumpy().tolist() == [1.5, -2.0] and x.take(Tensor([2]), 1).asnumpy().tolist() == [[3], [-5.5]]
    with pytest.raises(ValueError, match="mode"):
        x.take(Tensor([0]), mode="jump")
    with pytest.raises(ValueError):
        x.take(Tensor([9]), mode="raise")
    assert x.repeat(2).asnumpy().tolist() == np.repeat(X, 2).tolist() and x.repeat([1, 2, 0], 1).asnumpy().tolist() == np.repeat(X, [1, 2, 0],
                                                                                                                                 1).tolist()
    assert x.resize(2, 2).asnumpy().tolist() == [[1.5, -2], [3, 0]] and x.resize((4, 2)).asnumpy()[3].tolist() == [0, 0]
    assert x.diagonal(1).asnumpy().tolist() == [-2, -5.5] and x.trace().item() == 5.5 and x.trace(1, dtype=ms.float64).dtype == ms.float64
    assert x.index_put((Tensor([0, 1]), Tensor([1, 1])), Tensor([7.0, 8.0])).asnumpy()[:, 1].tolist() == [7, 8]
    assert x.index_put((Tensor([0, 0]), Tensor([1, 1])), Tensor([7.0, 8.0]), accumulate=True).asnumpy()[0, 1] == 13
    assert x.scatter_add(Tensor([[0, 0]]), Tensor([2.0])).asnumpy()[0, 0] == 3.5 and x.sum_to_size(1, 3).asnumpy().tolist() == [X.sum(0).tolist()]
    assert x.searchsorted is not None and Tensor([1.0, 2, 2, 3]).searchsorted(2.0, side="right").item() == 3
    assert x.flatten().shape == (6,) and x.flatten("F").asnumpy().tolist() == X.flatten("F").tolist() and x.mT.shape == (3, 2)


def test_methods_in_a_compiled_cell_with_gradients(mode):
    class Net(ms.nn.Cell):
        def construct(self, t):
            y = t.reshape(3, 2).transpose().masked_fill(t > 2, 0.0)
            return (y.expand_dims(0).sum(axis=(1, 2)) * t.max(axis=1).mean()).sum()
    net = Net()
    want = np.where(X > 2, 0, X.reshape(3, 2).T).sum() * X.max(1).mean()
    np.testing.assert_allclose(net(Tensor(X)).item(), want, rtol=1e-6)
    g = ms.grad(net)(Tensor(X)).asnumpy()
    numeric = np.zeros_like(X, np.float64)
    for at in np.ndindex(X.shape):
        near = X.astype(np.float64)
        for sign in (1, -1):
            near[at] = float(X[at]) + sign * 1e-6
            numeric[at] += sign * np.where(X > 2, 0, near.reshape(3, 2).T).sum() * near.max(1).mean() / 2e-6
    np.testing.assert_allclose(g, numeric, rtol=1e-4, atol=1e-5)


M = Tensor(np.array([[1, 5, 2], [7, 3, 4]], np.float32))
I, U = Tensor([3, 4], ms.int32), Tensor([200, 100], ms.uint8)
INDEX = Tensor([[0], [1]])


@pytest.mark.parametrize("call, expected", [
    (lambda: M.max(1), [[5, 7], [1, 0]]), (lambda: M.min(1), [[1, 3], [0, 1]]), (lambda: M.max(1, True), [[[5], [7]], [[1], [0]]]), (lambda: (M.max(),), [7]),
    (lambda: (M.max(axis=1),), [[5, 7]]), (lambda: (M.min(axis=0, keepdims=True),), [[[1, 3, 2]]]), (lambda: M.max(dim=1, keepdim=True), [[[5], [7]], [[1], [0]]]),
    (lambda: (M.max((0, 1)),), [7]), (lambda: M.max(axis=1, return_indices=True), [[5, 7], [1, 0]]), (lambda: (M.max(axis=1, initial=6),), [[6, 7]]),
    (lambda: M.argmax_with_value(1), [[5, 7], [1, 0]]), (lambda: M.argmin_with_value(), [[1, 3, 2], [0, 1, 0]]),
    (lambda: (M.transpose(0, 1),), [[[1, 7], [5, 3], [2, 4]]]), (lambda: (M.transpose((0, 1)),), [[[1, 5, 2], [7, 3, 4]]]),
    (lambda: (M[None].transpose(0, -1),), [[[[1], [7]], [[5], [3]], [[2], [4]]]]), (lambda: (M.transpose(dim0=0, dim1=1),), [[[1, 7], [5, 3], [2, 4]]]),
    (lambda: (M.sum(1, True),), [[[8], [14]]]), (lambda: (M.sum(1, ms.float64),), [[8, 14]]), (lambda: (M.sum(1, None, True),), [[[8], [14]]]),
    (lambda: (M.equal(M + 0),), [[[True] * 3] * 2]), (lambda: (M.gather(1, INDEX),), [[[1], [3]]]), (lambda: (M.gather(dim=1, index=INDEX),), [[[1], [3]]]),
    (lambda: (M.gather(Tensor([1]), 1),), [[[5], [3]]]), (lambda: (M.gather(Tensor([1]), axis=0),), [[[7, 3, 4]]]),
    (lambda: (M.index_add(0, Tensor([1]), Tensor([[1.0, 1, 1]])),), [[[1, 5, 2], [8, 4, 5]]]),
    (lambda: (M.index_add(dim=0, index=Tensor([1]), source=Tensor([[1.0, 1, 1]]), alpha=2),), [[[1, 5, 2], [9, 5, 6]]]),
    (lambda: (M.index_add(Tensor([1]), Tensor([[1.0, 1, 1]]), 0),), [[[1, 5, 2], [8, 4, 5]]]),
    (lambda: (M.select(0, 1),), [[7, 3, 4]]), (lambda: (M.select(dim=1, index=-1),), [[2, 4]]), (lambda: (M.select(M > 2, M * 0),), [[[0, 5, 0], [7, 3, 4]]]),
    (lambda: (M.sub(M, alpha=2),), [[[-1, -5, -2], [-7, -3, -4]]]), (lambda: (M.add(1, alpha=2),), [[[3, 7, 4], [9, 5, 6]]]), (lambda: (M.sub(1),), [[[0, 4, 1], [6, 2, 3]]]),
    (lambda: (M.squeeze(0), ops.squeeze(M[None], (0, 1))), [[[1, 5, 2], [7, 3, 4]]] * 2), (lambda: (M[0][True],), [[[1, 5, 2]]]),
    (lambda: Tensor([3.0, np.nan, 1]).median(), [None, 1]), (lambda: ops.median(Tensor([[3.0, np.nan, 1], [1, 2, 3]]), 1), [[None, 2], [1, 1]]),
])
def test_as_mindspore_2_10(call, expected):
    """Measured with MindSpore 2.10.0."""
    got = [np.where(np.isnan(a), None, a).tolist() if a.dtype.kind == "f" else a.tolist() for a in (t.asnumpy() for t in call())]
    assert got == expected


def test_types_of_products_and_sums():
    """Measured with MindSpore 2.10.0: methods and functions widen, primitives keep."""
    got = [I.prod(), ops.prod(I), U.prod(), ops.cumprod(I, 0), I.cumprod(0), U.cumsum(0), ops.cumsum(U, 0), I.cumsum(0), ops.ReduceProd()(I), ops.CumProd()(I, 0)]
    assert [str(t.dtype) for t in got] == ["Int64", "Int64", "Int64", "Int64", "Int64", "Int32", "UInt8", "Int32", "Int32", "Int32"]
    assert (Tensor([2 ** 20, 2 ** 20], ms.int32).prod().item(), U.cumsum(0).asnumpy().tolist()) == (2 ** 40, [200, 300])
    angle = ops.atan2(Tensor([1], ms.float16), Tensor([3.0]))
    assert angle.dtype == ms.float32 and abs(angle.item() - np.arctan2(1, 3)) < 1e-7


def test_small_regions_are_not_widened_where_their_last_pixel_counts():
    """As MindSpore 2.10.0's ROIAlign."""
    x = Tensor(np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6))
    for args, roi, expected in (((2, 2, 0.25, 2, 1), [0, 1, 1, 1.5, 1.5], [[2.40625, 2.59375], [3.53125, 3.71875]]),
                                ((2, 2, 0.25, 2, 0), [0, 1, 1, 1.5, 1.5], [[3.5, 4.0], [6.5, 7.0]]), ((2, 2, 1.0, 2, 1), [0, 1, 1, 4, 4], [[14, 16], [26, 28]])):
        assert ops.ROIAlign(*args)(x, Tensor([roi], ms.float32)).asnumpy()[0, 0].tolist() == expected


def test_arguments_under_both_names(mode):
    """axis and keepdims may also be called dim and keepdim, in compiled code as well; an argument may be given only once."""
    data = Tensor(np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32))
    extra = {"chunk": (2,), "index_select": (), "repeat_interleave": (2,), "scatter": (), "split": (2,)}
    named = {"index_select": {"index": Tensor([1, 0])}, "scatter": {"index": Tensor([[1], [0]]), "src": data[:2, :1]}, "var": {"correction": 0}}
    for name in sorted(_method_names.METHODS):
        args, more = extra.get(name, ()), named.get(name, {})
        call = lambda x, name=name, args=args, more=more: getattr(x, name)(*args, dim=1, **more)  # noqa: E731
        got, want = ms.jit(call)(data), getattr(data, name)(*args, axis=1, **more)
        for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got, want))):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy(), err_msg=name)
        with pytest.raises(TypeError):
            getattr(data, name)(*args, axis=1, dim=1, **more)
    for name in ("all", "any", "argmax", "argmin", "max", "mean", "median", "min", "prod", "std", "sum", "var"):
        out = getattr(data, name)(dim=0, keepdim=True, **named.get(name, {}))
        assert (out[0] if isinstance(out, tuple) else out).shape == (1, 4), name
    assert data.max(1, keepdim=True)[1].shape == data.sum(1, keepdim=True).shape == (3, 1)
    with pytest.raises(TypeError, match="twice"):
        data.min(0, dim=0)
    assert data.var(dim=1, correction=1).asnumpy() == pytest.approx(data.asnumpy().var(1, ddof=1), rel=1e-6)
    assert data.mean(dim=1, dtype=ms.float64).dtype == ms.float64
    signature = inspect.signature(Tensor.mean)
    assert list(signature.parameters)[:3] == ["self", "axis", "keep_dims"] and {"dim", "keepdim"} <= set(signature.parameters)


def test_what_a_tensor_is(x):
    assert x.stride() == [3, 1] and x.stride(0) == x.stride(dim=-2) == 3 and Tensor(1.0).stride() == []
    with pytest.raises(ValueError):
        x.stride(2)
    assert x.is_signed() and Tensor([1]).is_signed() and not x.byte().is_signed() and not Tensor([True]).is_signed()
    assert x.get_bytes() == X.tobytes() and Tensor([1.0, 2.0], ms.bfloat16).get_bytes() == b"\x80\x3f\x00\x40" and x.T.get_bytes() == X.T.tobytes()
    assert x.device == "CPU" and x.virtual_flag is False
    assert x.new_empty(2, 4).shape == (2, 4) and x.new_empty((3,), dtype=ms.int32).dtype == ms.int32
    assert Tensor([300, -1]).byte().asnumpy().tolist() == [44, 255]
    assert Tensor([1, 2], dtype=ms.float32, const_arg=True).asnumpy().tolist() == ms.tensor([1.0, 2.0], const_arg=True).asnumpy().tolist() == [1, 2]


def test_allclose(x, mode):
    assert x.allclose(x * (1 + 1e-6)) is True and x.allclose(x + 1e-3) is False and x.allclose(x + 1e-3, atol=1e-2) is True
    nan = Tensor([np.nan])
    assert not nan.allclose(nan) and nan.allclose(nan, equal_nan=True)


def test_set_dtype_changes_the_tensor(x):
    view = x[0]
    assert x.set_dtype(ms.float16) == ms.float16 and x.dtype == ms.float16 and x.asnumpy().tolist() == X.tolist()
    assert view.dtype == ms.float32 and view.asnumpy().tolist() == X[0].tolist()
    part = x[1]
    part.set_dtype(ms.int32)
    part[0] = 9
    assert part.asnumpy().tolist() == [9, 4, -5] and x[1, 0].item() == 0


def test_random_values_in_place(mode):
    x = Tensor(np.zeros((100, 100), np.float32))
    assert x.normal_(3, 0.5) is x
    assert abs(x.asnumpy().mean() - 3) < 0.05 and abs(x.asnumpy().std() - 0.5) < 0.05
    before = x.asnumpy().copy()
    assert x.uniform_(-1, 3) is x and not np.array_equal(x.asnumpy(), before)
    assert -1 <= x.asnumpy().min() < -0.99 and 2.99 < x.asnumpy().max() < 3
    p = Parameter(Tensor(np.zeros(1000, np.float16)), name="p")
    assert p.uniform_().dtype == ms.float16 and 0.4 < p.asnumpy().astype(np.float32).mean() < 0.6
    row = x[0]
    row.normal_(50, 1)
    assert x[0].asnumpy().min() > 40 and x[1].asnumpy().max() < 3  # a view writes to its base
    for call, error in ((lambda: Tensor([1]).normal_(), TypeError), (lambda: Tensor([1]).uniform_(), TypeError), (lambda: x.normal_(0, -1), ValueError),
                        (lambda: x.uniform_(2, 1), ValueError), (lambda: x.normal_(generator=object()), ValueError)):
        with pytest.raises(error):
            call()
