"""sindri.numpy compared with NumPy, for functions that ops_cases.py does not compare with mindspore.numpy."""
import decimal

import numpy as np
import pytest

import sindri as ms
from sindri import numpy as mnp

A = np.array([[1.5, -2.0, 3.0], [0.0, 4.0, -5.5]], np.float32)
V = np.array([0.5, 1.25, -3.0, 2.0, 2.0], np.float32)
P = np.array([0.25, 0.5, 2.0], np.float32)
N = np.array([[1, 2, 3], [4, 5, 6]], np.int32)

# (function of a namespace np or mnp); arrays are passed unchanged, because both accept them.
SAME = {
    name: expression for name, expression in (line.split(": ", 1) for line in """
absolute: m.absolute(A)
exp2: m.exp2(V)
log2: m.log2(P)
cbrt: m.cbrt(V)
fix: m.fix(V)
trunc: m.trunc(V)
reciprocal: m.reciprocal(P)
positive: m.positive(V)
arctan2: m.arctan2(V, V[::-1].copy())
arcsinh: m.arcsinh(V)
hypot: m.hypot(V, V)
logaddexp2: m.logaddexp2(V, 1)
float_power_int: m.float_power(N, 2)
heaviside: m.heaviside(V, 0.5)
copysign: m.copysign(V, -1)
signbit: m.signbit(V)
isposinf: m.isposinf(V)
divmod: m.divmod(N, 4)
around: m.around(V, 1)
clip_none: m.clip(V, None, 1)
average_axis: m.average(A, 1, P)
ptp: m.ptp(A, 1)
nanvar: m.nanvar(np.array([1, np.nan, 3], np.float32))
nanstd: m.nanstd(np.array([1, np.nan, 3], np.float32))
nancumsum: m.nancumsum(np.array([1, np.nan, 3], np.float32))
nanmin: m.nanmin(np.array([1, np.nan, 3], np.float32))
nansum: m.nansum(np.array([1, np.nan, 3], np.float32))
nanmean: m.nanmean(np.array([1, np.nan, 3], np.float32))
cumprod: m.cumprod(V)
cumsum_axis: m.cumsum(A, 1)
std: m.std(A, 0, ddof=1)
amax: m.amax(A, 0, keepdims=True)
max_where: m.max(A, initial=-1, where=A < 2)
trace: m.trace(A, 1)
inner: m.inner(A, A)
kron: m.kron(V, P)
multi_dot: m.multi_dot([A, A.T, A]) if m is mnp else np.linalg.multi_dot([A, A.T, A])
matrix_power: m.matrix_power(np.eye(2, dtype=np.float32) * 2, 3) if m is mnp else np.linalg.matrix_power(np.eye(2, dtype=np.float32) * 2, 3)
cross: m.cross(A, A[::-1].copy())
diff2: m.diff(A, 2)
diff_prepend: m.diff(V, prepend=0)
ediff1d: m.ediff1d(V, to_begin=[9], to_end=[8])
corrcoef: m.corrcoef(A)
cov_y: m.cov(V, V[::-1].copy())
isin_invert: m.isin(N, [2, 5], invert=True)
correlate: m.correlate(V, P)
correlate_full: m.correlate(V, P, 'full')
convolve_same_odd: m.convolve(V, P, 'same')
polyval: m.polyval(P, V)
bincount_weights: m.bincount(np.array([0, 2, 2]), P)
histogram_density: m.histogram(V, 3, density=True)
interp_outside: m.interp(V, np.array([0, 1, 2], np.float32), P)
eye_k: m.eye(3, 4, -1)
tri_k: m.tri(3, 4, 1)
identity: m.identity(2)
diag_k: m.diag(V, 1)
diag_of_matrix: m.diag(A)
diagflat: m.diagflat(A, -1)
vander: m.vander(P, 3, True)
tril_indices: m.tril_indices(3, 1)
triu_indices_from: m.triu_indices_from(A)
diag_indices: m.diag_indices(3)
indices: list(m.indices((2, 3)))
meshgrid_sparse: m.meshgrid(V, P, sparse=True)
meshgrid_ij: m.meshgrid(V, P, indexing='ij')
full_like: m.full_like(A, 2.5)
empty_like_shape: m.zeros_like(A, shape=(2,))
linspace_end: m.linspace(0, 1, 4, endpoint=False)
geomspace: m.geomspace(1, 100, 3)
expand_dims: m.expand_dims(A, (0, 3))
rollaxis: m.rollaxis(np.zeros((2, 3, 4)), 2)
rollaxis_to: m.rollaxis(np.zeros((2, 3, 4)), 0, 3)
moveaxis: m.moveaxis(np.zeros((2, 3, 4)), [0, 1], [-1, 0])
atleast_3d: m.atleast_3d(V)
broadcast_arrays: m.broadcast_arrays(V, np.zeros((2, 1)))
append: m.append(A, 5)
dstack: m.dstack((A, A))
column_stack: m.column_stack((P, P))
array_split: m.array_split(V, 3)
split_at: m.split(V, [1, 3])
hsplit: m.hsplit(A, 3)
tile: m.tile(A, 2)
repeat: m.repeat(A, [1, 2, 3], 1)
rot90: m.rot90(A, 1)
rot90_back: m.rot90(A, -1)
roll: m.roll(A, (1, -1), (0, 1))
flipud: m.flipud(A)
pad_pairs: m.pad(A, ((1, 0), (0, 2)), constant_values=7)
pad_edge: m.pad(V, (1, 2), 'edge')
pad_wrap: m.pad(V, (1, 2), 'wrap')
pad_reflect: m.pad(V, 2, 'reflect')
select: m.select([A > 2, A > 0], [A, -A], 9)
take_axis: m.take(A, [0, 2], 1)
take_along_axis: m.take_along_axis(A, np.argsort(A, 1), 1)
where_index: m.where(A > 1)
argwhere: m.argwhere(A > 1)
searchsorted: m.searchsorted(np.array([1, 2, 2, 3], np.float32), [2, 5], 'right')
digitize: m.digitize(V, [0, 1, 2])
digitize_falling: m.digitize(V, [2, 1, 0])
digitize_right: m.digitize(V, [0, 1, 2], True)
unravel_index: m.unravel_index(np.array([5, 1]), (2, 3))
ravel_multi_index: m.ravel_multi_index(np.array([[1, 0], [2, 5]]), (2, 3), mode='clip')
ix_: m.ix_([0, 1], [2, 0])
apply_along_axis: m.apply_along_axis(lambda r: r[:2] * 2, 1, A)
apply_to_scalar: m.apply_along_axis(lambda r: r.sum(), 0, A)
piecewise: m.piecewise(V, [V < 0, V >= 1], [-1, lambda x: x * 2])
array_equal: m.array_equal(A, A)
array_equiv: m.array_equiv(A, A[:1])
norm: m.norm(A, axis=1) if m is mnp else np.linalg.norm(A, axis=1)
in1d: m.in1d(V, [2, 0.5]) if m is mnp else np.isin(V, [2, 0.5])
sometrue: m.sometrue(N > 5, 1) if m is mnp else np.any(N > 5, 1)
size: m.size(A, 1)
isscalar: m.isscalar(3.0)
""".strip().splitlines())
}


def flat(v):
    if isinstance(v, (tuple, list)):
        return [a for x in v for a in flat(x)]
    return [np.asarray(v.asnumpy() if isinstance(v, ms.Tensor) else v)]


@pytest.mark.parametrize("name", SAME)
def test_as_numpy(name):
    space = {"A": A, "V": V, "P": P, "N": N, "np": np, "mnp": mnp}
    found, wanted = (flat(eval(SAME[name], {**space, "m": m})) for m in (mnp, np))
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.shape == b.shape
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=2e-6, atol=1e-6)


def test_types():
    assert mnp.array([1, 2]).dtype == mnp.int32 and mnp.array([1.0]).dtype == mnp.float32 and mnp.array(np.zeros(2)).dtype == mnp.float64
    assert mnp.array([mnp.ones(2), mnp.zeros(2)]).shape == (2, 2) and mnp.array(3, ndmin=2).shape == (1, 1) and mnp.array([True]).dtype == mnp.bool_
    assert mnp.result_type(mnp.ones(1), mnp.array([1])) == mnp.float32 and mnp.promote_types(mnp.int32, mnp.float16) == mnp.float16
    assert mnp.pi == np.pi and mnp.inf == np.inf and np.isnan(mnp.nan) and mnp.add([1, 2], 3, dtype=mnp.float32).dtype == mnp.float32
    assert mnp.randint(3, shape=(50,)).asnumpy().max() <= 2 and mnp.rand(2, 3).shape == (2, 3) and mnp.randn(4).dtype == mnp.float32
    assert mnp.trapz(P, [0, 1, 3]).item() == 2.875
    assert mnp.cumprod([True, False]).dtype == mnp.int64 and mnp.cumprod([2, 3]).dtype == mnp.int32
    whole = mnp.convolve([2 ** 24 + 1, 3], [1, 2])  # float32 would round it
    assert whole.dtype == mnp.int32 and whole.asnumpy().tolist() == [2 ** 24 + 1, 2 ** 25 + 5, 6]
    t = mnp.ones(2)
    assert mnp.asarray(t) is t and mnp.array(t) is not t and mnp.copy(t) is not t and mnp.empty((2,)).shape == (2,) and mnp.array_str(t) == "[1. 1.]"


@pytest.mark.parametrize("kind", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("decimals", [2, 0, -1, -2, -3])
def test_whole_numbers_are_rounded_exactly(kind, decimals):
    values = np.array([5, 14, 15, 25, 45, 50, 149, 150, 250], kind)
    if kind != "uint8":
        values = np.concatenate([values, -values, np.array([2 ** 31 - 648 if kind == "int32" else 2 ** 53 + 1], kind)])
    wanted = [int(decimal.Decimal(int(v)).quantize(decimal.Decimal((0, (1,), max(-decimals, 0))), decimal.ROUND_HALF_EVEN)) for v in values]
    for call in (lambda x: ms.ops.round(x, decimals=decimals), lambda x: mnp.around(x, decimals), lambda x: x.round(decimals=decimals)):
        found = call(ms.Tensor(values)).asnumpy()
        assert found.dtype == values.dtype and found.tolist() == np.array(wanted).astype(kind).tolist()
    assert ms.ops.round(ms.Tensor(values), decimals=-30).asnumpy().tolist() == [0] * len(values)


@pytest.mark.parametrize("call, error", [
    (lambda: mnp.array("abc"), TypeError), (lambda: mnp.split(mnp.arange(5), 2), ValueError), (lambda: mnp.cov(A, fweights=[1, 1, 1]), ValueError),
    (lambda: mnp.average(A, weights=P), ValueError), (lambda: mnp.pad(V, 1, "median"), ValueError), (lambda: mnp.convolve(V, P, "half"), ValueError)])
def test_errors(call, error):
    with pytest.raises(error, match=" | "):
        call()
