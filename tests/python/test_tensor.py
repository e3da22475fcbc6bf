"""Tensor: construction, text, NumPy and DLPack without copies, operators, indexing."""
import copy
import pickle
import threading
import time

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, ops


def test_types_of_python_values():
    assert Tensor(True).dtype is ms.bool_
    assert Tensor(2).dtype is ms.int64 and Tensor([1, 2]).dtype is ms.int64
    assert Tensor(1.5).dtype is ms.float32 and Tensor([[1.5], [2]]).dtype is ms.float32
    assert Tensor(np.zeros(2)).dtype is ms.float64
    assert Tensor(np.zeros(2, np.int16)).dtype is ms.int32 and Tensor(np.array([2**40], np.uint32 if False else np.uint64)).dtype is ms.int64
    assert Tensor([1, 2], ms.float16).dtype is ms.float16 and Tensor([1], np.float32).dtype is ms.float32 and Tensor(1, "int32").dtype is ms.int32
    assert Tensor([Tensor(1.0), Tensor(2.0)]).shape == (2,)


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="cannot make a Tensor|no tensor type"):
        Tensor("text")
    with pytest.raises(TypeError, match="no tensor type"):
        Tensor(np.array([1j]))
    with pytest.raises(ValueError, match="init needs a shape"):
        Tensor(init=object())
    with pytest.raises(TypeError, match="not an element type"):
        Tensor([1], ms.complex64)


def test_text_is_numpys_and_repr_mindspores():
    t = Tensor(np.array([1.5, -2], np.float32))
    assert str(t) == "[ 1.5 -2. ]"
    assert repr(t) == "Tensor(shape=[2], dtype=Float32, value= [ 1.50000000e+00, -2.00000000e+00])"
    assert repr(Tensor(np.arange(4).reshape(2, 2))) == "Tensor(shape=[2, 2], dtype=Int64, value=\n[[0, 1],\n [2, 3]])"
    assert repr(Tensor(np.zeros((2, 1, 2), np.float16))) == (
        "Tensor(shape=[2, 1, 2], dtype=Float16, value=\n[[[ 0.0000e+00,  0.0000e+00]],\n [[ 0.0000e+00,  0.0000e+00]]])")
    assert repr(Tensor(np.arange(2000, dtype=np.float32))) == (
        "Tensor(shape=[2000], dtype=Float32, value= [ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00 ...  1.99700000e+03,  1.99800000e+03,  1.99900000e+03])")
    assert repr(Tensor(2, ms.int32)) == "Tensor(shape=[], dtype=Int32, value= 2)"
    assert str(Tensor(np.float32(0.63745916))) == "0.63745916"


def test_asnumpy_shares_memory():
    t = Tensor(np.zeros(3, np.float32))
    t.asnumpy()[1] = 5
    assert t.asnumpy().tolist() == [0, 5, 0]


def test_from_numpy_shares_memory():
    a = np.arange(4, dtype=np.float32)
    t = Tensor.from_numpy(a)
    a[2] = 9
    assert (t + 1).asnumpy().tolist() == [1, 2, 10, 4]
    with pytest.raises(TypeError):
        Tensor.from_numpy([1.0])
    with pytest.raises(ValueError, match="not contiguous"):
        Tensor.from_numpy(np.zeros((2, 3), np.float32).T)


def test_constructor_copies():
    a = np.arange(4, dtype=np.float32)
    t, u = Tensor(a), Tensor(Tensor(a))
    a[:] = 0
    assert t.asnumpy().tolist() == u.asnumpy().tolist() == [0, 1, 2, 3]


def test_dlpack_both_ways():
    t = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    shared = np.from_dlpack(t)
    assert shared.tolist() == [[0, 1, 2], [3, 4, 5]] and np.shares_memory(shared, t.asnumpy())
    a = np.arange(3, dtype=np.int64)
    back = ms.from_dlpack(a)
    a[0] = 7
    assert back.asnumpy().tolist() == [7, 1, 2]


@pytest.mark.parametrize("op,expected", [
    (lambda t: t + 1, [2.0, 3.0, 5.0]), (lambda t: 1 - t, [0.0, -1.0, -3.0]), (lambda t: 2 / t, [2.0, 1.0, 0.5]), (lambda t: t ** 2, [1.0, 4.0, 16.0]),
    (lambda t: 2 ** t, [2.0, 4.0, 16.0]), (lambda t: t % 3, [1.0, 2.0, 1.0]), (lambda t: t // 3, [0.0, 0.0, 1.0]), (lambda t: -t, [-1.0, -2.0, -4.0]),
    (lambda t: t > 1, [False, True, True]), (lambda t: t == 2, [False, True, False]), (lambda t: t != 2, [True, False, True]),
    (lambda t: abs(t - 3), [2.0, 1.0, 1.0]), (lambda t: np.ones(3, np.float32) + t, [2.0, 3.0, 5.0]),
])
def test_operators(op, expected):
    assert op(Tensor([1.0, 2.0, 4.0])).asnumpy().tolist() == expected


def _of(results):
    return [(str(r.dtype), r.asnumpy().tolist()) for r in results]


def test_operators_of_integers_work_on_their_bits():
    """As in MindSpore 2.10, except for ~, which returns bool there: here it inverts every bit, as the operator is defined."""
    i, u, b = (lambda *v: Tensor(v, ms.int32)), (lambda *v: Tensor(v, ms.uint8)), (lambda *v: Tensor(v, ms.bool_))
    assert _of([i(6) & i(3), i(6) | 1, i(6) ^ i(5), ~i(5), ~u(5), i(6) & Tensor([3]), u(6) & i(3), b(True) | i(4), 1 & i(3), u(6) & -1]) == [
        ("Int32", [2]), ("Int32", [7]), ("Int32", [3]), ("Int32", [-6]), ("UInt8", [250]), ("Int64", [2]), ("Int32", [2]), ("Int32", [5]), ("Int32", [1]),
        ("UInt8", [6])]
    assert _of([b(True, False) & b(True, True), b(True, False) | b(False, False), b(True, False) ^ b(True, True), ~b(True, False)]) == [
        ("Bool", v) for v in ([True, False], [True, False], [False, True], [False, True])]
    assert _of([ops.bitwise_left_shift(i(1, -8, 1), i(3, 2, 64)), ops.bitwise_right_shift(i(16, -8, -1), i(3, 2, -1)), ops.bitwise_and(i(6), 3),
                ops.BitwiseOr()(i(6), i(1)), ops.BitwiseXor()(i(6), i(3)), ops.BitwiseAnd()(i(6), i(3)), i(6).bitwise_xor(3), i(6).bitwise_not()]) == [
        ("Int32", v) for v in ([8, -32, 0], [2, -2, -1], [2], [7], [5], [2], [5], [-7])]
    for call in (lambda: Tensor([1.0]) & Tensor([2.0]), lambda: Tensor([1.0]) & 1, lambda: i(6) | 1.5, lambda: ~Tensor([1.0]), lambda: ops.bitwise_xor(Tensor([1.0]), 1)):
        with pytest.raises(TypeError, match="bitwise_.*integers and bool"):
            call()


def test_bools_and_bytes_beside_others():
    u = Tensor([3, 255], ms.uint8)
    assert _of([Tensor([True, True]) - Tensor([True, False]), Tensor([True]) - 1, u - 5, u + (-1), u == -1, u != -1, u > -1, u < 300, -1 < u,
                ops.equal(u, -1), Tensor([3], ms.int32) == 2 ** 40]) == [
        ("Bool", [False, True]), ("Int64", [0]), ("UInt8", [254, 250]), ("UInt8", [2, 254]), ("Bool", [False, False]), ("Bool", [True, True]),
        ("Bool", [True, True]), ("Bool", [True, True]), ("Bool", [True, True]), ("Bool", [False, False]), ("Bool", [False])]


def test_products_of_integer_matrices_are_exact():
    rng = np.random.default_rng(0)
    for dtype, low, high in ((np.uint8, 0, 256), (np.int32, -2 ** 31, 2 ** 31), (np.int64, -2 ** 63, 2 ** 63 - 1)):
        a, b = rng.integers(low, high, (2, 3, 5), dtype), rng.integers(low, high, (5, 4), dtype)
        for got in (Tensor(a) @ Tensor(b), ops.matmul(Tensor(a), Tensor(b))):
            assert got.asnumpy().dtype == dtype and got.asnumpy().tolist() == (a @ b).tolist()
        assert ops.MatMul(True, True)(Tensor(a[0].T.copy()), Tensor(b.T.copy())).asnumpy().tolist() == (a[0] @ b).tolist()


def test_promotion():
    half, i = Tensor([1], ms.float16), Tensor([1], ms.int32)
    assert (half + 1.5).dtype is ms.float16 and (i + 1).dtype is ms.int32 and (i + 0.5).dtype is ms.float32
    assert (half + Tensor([1.0])).dtype is ms.float32 and (i + Tensor([1])).dtype is ms.int64 and (i / 2).dtype is ms.float32


def test_matmul_ranks():
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal((Tensor(a) @ Tensor(b)).asnumpy(), a @ b)
    assert np.array_equal((Tensor(a) @ Tensor(b[:, 0])).asnumpy(), a @ b[:, 0])
    assert np.array_equal((Tensor(a[0]) @ Tensor(b)).asnumpy(), a[0] @ b)
    assert (Tensor(a[0]) @ Tensor(a[1])).item() == float(a[0] @ a[1])


def test_scalars():
    assert bool(Tensor(True)) and int(Tensor([3])) == 3 and float(Tensor(2.5)) == 2.5 and [0, 1, 2][Tensor(1)] == 1 and len(Tensor([1, 2])) == 2
    with pytest.raises(ValueError, match="ambiguous"):
        bool(Tensor([1, 2]))
    with pytest.raises(ValueError, match="one element"):
        float(Tensor([1.0, 2.0]))
    with pytest.raises(TypeError):
        len(Tensor(1))


BESIDE = [(ms.bool_, ms.bool_, ms.int64, ms.float32), (ms.uint8, ms.uint8, ms.uint8, ms.float32), (ms.int32, ms.int32, ms.int32, ms.float32),
          (ms.int64, ms.int64, ms.int64, ms.float32), (ms.float16, ms.float16, ms.float16, ms.float16), (ms.float32, ms.float32, ms.float32, ms.float32),
          (ms.float64, ms.float64, ms.float64, ms.float64)]


@pytest.mark.parametrize("dtype, beside_bool, beside_int, beside_float", BESIDE, ids=[str(b[0]) for b in BESIDE])
def test_the_kind_of_a_number_decides_not_its_value(dtype, beside_bool, beside_int, beside_float):
    """The types of MindSpore 2.10. Before, a whole-valued float combined with integers became an integer: a mean of `(x > 1) * 1.0` was 0."""
    x = Tensor([1, 1], dtype)
    for want, numbers in ((beside_bool, (True, np.bool_(True))), (beside_int, (2, np.int32(2), np.int64(2))), (beside_float, (1.0, 2.5, np.float32(2), np.float64(2)))):
        for n in numbers:
            got = [x * n, ops.Add()(x, n), ops.maximum(x, n), ops.where(Tensor([True, False]), x, n), x[0] * n]
            if type(n) in (bool, int, float):
                got += [n * x, ops.add(n, x)]
            assert [t.dtype for t in got] == [want] * len(got), repr(n)
            assert (x < n).dtype == ms.bool_


def test_numbers_beside_integers():
    assert ((Tensor([1, 2, 3]) > 1) * 1.0).mean().item() == np.float32(2 / 3)
    np.testing.assert_allclose((Tensor([10], ms.int32) ** -1.0).asnumpy(), [0.1], rtol=1e-6)
    assert (Tensor([200], ms.uint8) * 2.0).item() == 400 and (Tensor([2000000000], ms.int32) * 2.0).item() == 4e9
    x = Tensor([1, 2]) * 1.0
    x[0] = 0.5
    assert x.asnumpy().tolist() == [0.5, 2.0]
    with pytest.raises(ValueError, match="does not fit"):
        Tensor([1], ms.uint8) * 300


def test_integers_are_exact():
    """With int64 they were once converted through a double, which holds 53 bits."""
    big = 2 ** 53 + 1
    x = Tensor([big])
    assert x.dtype == ms.int64 and (x == big).item() and (x == np.int64(big)).item() and not (x == big + 1).item()
    assert (Tensor([0]) + (2 ** 63 - 1)).item() == 2 ** 63 - 1 and (x - big).item() == 0 and (-big + x).item() == 0
    assert ops.full((1,), big, dtype=ms.int64).item() == big
    p = ms.Parameter(Tensor([0, 0], ms.int64), name="p")
    assert p.set_data(big).asnumpy().tolist() == [big, big] and ops.assign(p, Tensor([1, 2])) is not None
    for call in (lambda: Tensor(2 ** 63), lambda: x + 2 ** 63, lambda: ops.reshape(x, (2 ** 70,)), lambda: Tensor([1], ms.int32) + 2 ** 31):
        with pytest.raises(ValueError, match="does not fit"):
            call()


def test_parameters_hold_what_they_are_given():
    for n in (2 ** 40, -2 ** 35, 2 ** 31 + 5):
        with pytest.raises(ValueError, match="int32"):
            ms.Parameter(n)
    with pytest.raises(ValueError, match="uint8"):
        ms.Parameter(Tensor([0], ms.uint8)).set_data(300)
    p = ms.Parameter([1.0, 2.0], name="p")
    with pytest.raises(ValueError, match="made once"):
        p.__init__([5.0, 6.0])


class Named(ms.Parameter):
    def __init__(self, value, note):
        super().__init__(value, name="named")
        self.note = note


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))], ids=["copy", "deepcopy", "pickle"])
def test_copies_of_parameters_are_parameters(duplicate):
    p = Named([1.0, 2.0], ["note"])
    p.comm_fusion, p.requires_grad = 3, False
    q = duplicate(p)
    assert type(q) is Named and q is not p and (q.name, q.note, q.comm_fusion, q.requires_grad) == ("named", ["note"], 3, False)
    q.set_data(Tensor([5.0, 6.0]))
    assert p.asnumpy().tolist() == [1.0, 2.0]


def test_lazy_tensors():
    """Drawn once, even if two threads read it; the value must have the declared shape and type; a rejected second __init__ changes nothing."""
    class Slow:
        def __init__(self, value):
            self.value, self.calls = value, 0

        def _draw(self, shape, dtype):
            self.calls += 1
            n = self.calls
            time.sleep(0.05)
            return self.value(n)
    init = Slow(lambda n: Tensor([float(n), 0.0]))
    t = Tensor(shape=(2,), dtype=ms.float32, init=init)
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(float(t.asnumpy()[0]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1 and float(t.asnumpy()[0]) == seen[0]
    with pytest.raises(ValueError, match="declared"):
        Tensor(shape=(2,), dtype=ms.float32, init=Slow(lambda n: Tensor([1.0] * 5))).asnumpy()
    lazy = Tensor(shape=(2,), dtype=ms.float32, init=Slow(lambda n: Tensor([1.0, 2.0])))
    with pytest.raises(ValueError):
        lazy.__init__(init=init)
    assert lazy.asnumpy().tolist() == [1.0, 2.0]


def test_identity_hash_and_none():
    t = Tensor([1.0])
    assert {t: 1}[t] == 1 and (t == None) is False and (t != None) is True  # noqa: E711


KEYS = [1, -1, slice(None), slice(1, None), slice(None, None, 2), slice(None, None, -1), slice(2, 0, -1), Ellipsis, None, (1, 2), (slice(None), 1), (Ellipsis, 0),
        (slice(0, 1), slice(1, 3), slice(None, None, 2)), (None, 1), (1, None, 2), [0, 2], np.array([2, 0, 1]), (slice(None), [0, 3]), ([0, 1], [2, 3]),
        ([0, 1], slice(None), [0, 1]), (slice(None), [0, 1], [1, 0]), (0, [1, 2]), (slice(2, 2),), np.array([[0, 1], [2, 2]]), (Ellipsis, None)]


@pytest.mark.parametrize("key", KEYS, ids=[str(i) for i in range(len(KEYS))])
def test_indexing_is_numpys(key, rng):
    a = rng.standard_normal((3, 4, 5)).astype(np.float32)
    assert np.array_equal(Tensor(a)[key].asnumpy(), a[key])


def test_masks_and_index_tensors(rng):
    a = rng.standard_normal((3, 4)).astype(np.float32)
    t = Tensor(a)
    assert np.array_equal(t[t > 0].asnumpy(), a[a > 0]) and np.array_equal(t[a[:, 0] > 0].asnumpy(), a[a[:, 0] > 0])
    assert np.array_equal(t[Tensor([2, 0])].asnumpy(), a[[2, 0]]) and np.array_equal(t[Tensor(1)].asnumpy(), a[1])
    with pytest.raises(IndexError, match="out of range"):
        t[3]
    with pytest.raises(IndexError, match="too many indices"):
        t[0, 0, 0]


@pytest.mark.parametrize("key", [1, (slice(None), 2), ([0, 2], [1, 1]), slice(0, 2), Ellipsis, (1, slice(None, None, 2))], ids=str)
def test_item_assignment(key, rng):
    a = rng.standard_normal((3, 4)).astype(np.float32)
    t, before = Tensor(a), Tensor(a)
    u = t + 0
    t[key] = 7.0
    a2 = a.copy()
    a2[key] = 7.0
    assert np.array_equal(t.asnumpy(), a2) and np.array_equal(u.asnumpy(), before.asnumpy())


def test_indexing_has_a_gradient(mode):
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    g = ms.grad(lambda t: (t[:, 1:] * 2).sum() + t[1, 0] * 5)(x)
    assert g.asnumpy().tolist() == [[0, 2, 2], [5, 2, 2]]


def test_copy_and_pickle():
    t = Tensor([1.0, 2.0])
    u, v = copy.deepcopy(t), pickle.loads(pickle.dumps(t))
    t[0] = 9.0
    assert u.asnumpy().tolist() == v.asnumpy().tolist() == [1, 2] and v.dtype is ms.float32


def test_bfloat16_prints_and_converts():
    t = Tensor([1.0, 2.5], ms.bfloat16)
    assert t.dtype is ms.bfloat16 and str(t) == "[1.  2.5]" and t.astype(ms.float32).asnumpy().tolist() == [1, 2.5]
    with pytest.raises(TypeError, match="no bfloat16"):
        t.asnumpy()


def test_errors_are_sindris_and_builtins():
    with pytest.raises(ms.ShapeError) as e:
        Tensor(np.zeros((2, 3), np.float32)) @ Tensor(np.zeros((2, 3), np.float32))
    assert isinstance(e.value, ValueError) and e.value.code == 2001 and "inner dimensions" in e.value.message and " | " in str(e.value)
