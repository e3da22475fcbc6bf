"""Functions composed of operators, beyond the comparison with MindSpore 2.10 (tests/reference/mindspore_2_10/cases/formulas.py): digits of float64, types,
compiled
code, rejected inputs. Expected values come from NumPy, the C library or identities."""
import math

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri import numpy as mnp

R = np.random.default_rng(3)
SQUARE, RIGHT, TALL = R.standard_normal((2, 4, 4)), R.standard_normal((2, 4, 3)), R.standard_normal((5, 3))
I = lambda *v: Tensor(np.asarray(v, np.int32))  # noqa: E731
D = lambda v: Tensor(np.asarray(v, np.float64))  # noqa: E731


def close(got, want, rtol=1e-12, atol=1e-13):
    np.testing.assert_allclose(got.asnumpy(), want, rtol=rtol, atol=atol)


def test_polygamma_has_the_digits_of_double():
    x = np.concatenate([np.linspace(-7.7, -0.05, 40), np.linspace(0.05, 30, 60), [1e3, 1e6]])
    for n in (1, 2, 3, 7):
        step = ops.polygamma(I(n), D(x + 1)).asnumpy() - ops.polygamma(I(n), D(x)).asnumpy()
        want = (-1) ** n * math.factorial(n) * x ** (-n - 1)
        scale = np.abs(ops.polygamma(I(n), D(x)).asnumpy()) + np.abs(want)
        assert np.max(np.abs(step - want) / scale) < 1e-12
    zeta3 = 1.2020569031595942854
    close(ops.polygamma(I(1, 2, 3), D([1.0, 1.0, 1.0])), [np.pi ** 2 / 6, -2 * zeta3, np.pi ** 4 / 15], 1e-14)
    close(ops.polygamma(I(1, 2, 3), D([0.5, 0.5, 0.5])), [np.pi ** 2 / 2, -14 * zeta3, np.pi ** 4], 1e-14)
    close(ops.polygamma(0, D([0.3, 5.0])), ops.digamma(D([0.3, 5.0])).asnumpy(), 0, 0)
    close(ops.polygamma(2, D([0.0, -3.0, np.inf, -np.inf, np.nan])), [-np.inf, -np.inf, 0, np.nan, np.nan])
    assert ops.polygamma(I([1], [2]), Tensor([1.0, 2.0])).shape == (2, 2)


def test_i0_has_the_digits_of_double():
    x = np.concatenate([np.linspace(-45, 45, 181), [0.0, 1e-9, 19.999, 20.001, 300.0, 700.0]])
    close(ops.i0(D(x)), np.i0(x), 1e-14)
    close(ops.i0(Tensor([90.0, np.inf, -np.inf, np.nan])), np.array([np.i0(90.0), np.inf, np.inf, np.nan]), 1e-6)
    close(ms.grad(ops.i0)(D([0.0, 1.0, -2.0, 25.0])), [0, 0.5651591039924851, -1.590636854637329, 5657865129.87872], 1e-13)  # I1


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_nextafter_gives_the_very_neighbour(kind):
    info = np.finfo(kind)
    span = 4 if kind is np.float16 else 30
    x = np.concatenate([R.standard_normal(500) * 10.0 ** R.uniform(-span, span, 500), 2.0 ** np.arange(-12, 12), -2.0 ** np.arange(-12, 12),
                        [0.0, -0.0, info.max, -info.max, info.tiny, -info.tiny, info.tiny / 2, info.smallest_subnormal, -info.smallest_subnormal,
                         np.inf, -np.inf, np.nan]]).astype(kind)
    for target in (np.inf, -np.inf, 0.0, 1.0, np.nan):
        y = np.full_like(x, target)
        with np.errstate(all="ignore"):
            want = np.nextafter(x, y)
        np.testing.assert_array_equal(ops.nextafter(Tensor(x), Tensor(y)).asnumpy(), want)
    assert ops.nextafter(Tensor([1.0], ms.bfloat16), Tensor([2.0], ms.bfloat16)).astype(ms.float32).item() == 1.0078125
    dx, dy = ms.grad(ops.nextafter, (0, 1))(Tensor(np.array([1, 2, -3], kind)), Tensor(np.array([2, 1, 0], kind)))
    assert dx.asnumpy().tolist() == [1] * 3 and dy.asnumpy().tolist() == [0] * 3


def test_determinants_and_solutions():
    close(ops.det(D(SQUARE)), np.linalg.det(SQUARE))
    sign, value = ops.slogdet(D(SQUARE))
    want = np.linalg.slogdet(SQUARE)
    close(sign, want[0])
    close(value, want[1])
    close(ops.logdet(D(SQUARE)), np.where(want[0] > 0, want[1], np.nan))
    assert ops.det(D(np.zeros((2, 0, 0)))).asnumpy().tolist() == [1, 1]
    big = np.eye(300) * 1e3  # the determinant itself overflows
    close(ops.slogdet(D(big))[1], 300 * np.log(1e3))
    close(ops.matrix_solve(D(SQUARE), D(RIGHT)), np.linalg.solve(SQUARE, RIGHT), 1e-10)
    close(ops.matrix_solve(D(SQUARE), D(RIGHT), True), np.linalg.solve(SQUARE.swapaxes(1, 2), RIGHT), 1e-10)
    close(ops.lstsq(D(TALL), D(RIGHT[0, :1].T @ RIGHT[0, :1] @ TALL.T).T), np.linalg.lstsq(TALL, (RIGHT[0, :1].T @ RIGHT[0, :1] @ TALL.T).T, None)[0], 1e-9, 1e-9)
    close(ops.lstsq(D(TALL.T), D(RIGHT[0, :3])), np.linalg.lstsq(TALL.T, RIGHT[0, :3], None)[0], 1e-9, 1e-9)  # the shortest of many solutions


def test_lu_solve_takes_exchanges_in_turn():
    a = D(SQUARE)
    packed, rows, _ = ms._core.ops.lu(a)
    pivots = []
    for order in rows.asnumpy():  # the exchanges that turn the identity into it, counted from 1
        now, exchanges = list(range(4)), []
        for i, wanted in enumerate(order):
            j = now.index(wanted)
            exchanges.append(j + 1)
            now[i], now[j] = now[j], now[i]
        pivots.append(exchanges)
    assert pivots != [[1, 2, 3, 4]] * 2
    close(ops.lu_solve(D(RIGHT), packed, I(*pivots)), np.linalg.solve(SQUARE, RIGHT), 1e-10)


def test_singular_matrices(mode):
    singular = D([[1.0, 2.0], [2.0, 4.0]])
    assert ops.det(singular).item() == 0 and [v.item() for v in ops.slogdet(singular)] == [0, -np.inf] and ops.logdet(singular).item() == -np.inf
    with pytest.raises(ValueError, match="singular"):
        ops.matrix_solve(singular, D([[1.0], [0.0]]))


def test_medians_leave_nan_out():
    x = R.standard_normal((6, 7))
    x[R.uniform(size=x.shape) < 0.3] = np.nan
    x[2] = np.nan
    x[4, :2] = np.inf
    for axis in (0, 1):
        values, places = ops.nanmedian(D(x), axis)
        rows = x if axis == 1 else x.T
        for row, v, at in zip(rows, values.asnumpy(), places.asnumpy()):
            known = np.sort(row[~np.isnan(row)])
            want = known[(known.size - 1) // 2] if known.size else np.nan
            np.testing.assert_equal([v, row[at]], [want, want])
    assert ops.nanmedian(Tensor([[3, 1], [2, 5]]), 1, True)[0].asnumpy().tolist() == [[1], [2]]


def test_choices_of_elements():
    np.testing.assert_array_equal(ops.combinations(I(5, 6, 7, 8), 3).asnumpy(), [[5, 6, 7], [5, 6, 8], [5, 7, 8], [6, 7, 8]])
    np.testing.assert_array_equal(ops.combinations(I(5, 6), 2, True).asnumpy(), [[5, 5], [5, 6], [6, 6]])
    assert ops.combinations(I(5, 6), 3).shape == (0, 3)
    grids = np.stack([g.ravel() for g in np.meshgrid([1, 2], [3, 4, 5], [6, 7], indexing="ij")], 1)
    np.testing.assert_array_equal(ops.cartesian_prod(I(1, 2), I(3, 4, 5), I(6, 7)).asnumpy(), grids)
    with pytest.raises(ValueError, match="more than"):
        ops.combinations(Tensor(np.zeros(100000)), 3)


def test_windows_of_signals():
    for n in (0, 1, 2, 5, 8):
        for ours, theirs in ((ops.bartlett_window, np.bartlett), (ops.blackman_window, np.blackman), (ops.hamming_window, np.hamming),
                             (ops.hann_window, np.hanning), (ops.kaiser_window, lambda m: np.kaiser(m, 12.0))):
            close(ours(n, False, dtype=ms.float64), theirs(n))
            close(ours(n, dtype=ms.float64), theirs(n + 1)[:-1] if n > 1 else np.ones(n))
    assert [f(4).dtype for f in (mnp.bartlett, mnp.blackman, mnp.hamming, mnp.hanning, ops.hamming_window)] == [ms.float32] * 5


def test_polynomials_and_differences_as_numpy():
    p, q = [3.0, 0.5, 2.0], [1.0, -1.0, 4.0, 2.0]
    for name in ("polyadd", "polysub", "polymul"):
        close(getattr(mnp, name)(D(p), D(q)), getattr(np, name)(p, q))
    assert mnp.polymul(I(100003, 1), I(100019, 0)).dtype == ms.int32 and mnp.polymul(Tensor([2 ** 30 + 1]), Tensor([3])).item() == 3 * 2 ** 30 + 3
    close(mnp.polyder(D(q), 2), np.polyder(q, 2))
    close(mnp.polyint(D(q), 3, D([1.0, 2.0, 3.0])), np.polyint(q, 3, [1.0, 2.0, 3.0]))
    x = R.standard_normal((4, 5))
    for got, want in zip(mnp.gradient(D(x), 2.0, 0.5), np.gradient(x, 2.0, 0.5)):
        close(got, want)
    angles = np.cumsum(R.uniform(-9, 9, (3, 20)), 1)
    for discont in (np.pi, 5.0):
        close(mnp.unwrap(D(angles), discont), np.unwrap(angles, discont), 1e-12, 1e-12)
    close(mnp.apply_over_axes(mnp.sum, D(x.reshape(2, 2, 5)), [0, -1]), np.apply_over_axes(np.sum, x.reshape(2, 2, 5), [0, -1]))


def test_sets_grids_and_histograms_as_numpy():
    a, b = R.integers(0, 9, 20), R.integers(3, 15, 15)
    assert mnp.setdiff1d(a, b).asnumpy().tolist() == np.setdiff1d(a, b).tolist()
    for got, want in zip(mnp.intersect1d(a, b, return_indices=True), np.intersect1d(a, b, return_indices=True)):
        assert got.asnumpy().tolist() == want.tolist()
    for key in (np.s_[0:5], np.s_[1:6:2, 0:3], np.s_[0:1:5j, 2:4], np.s_[0:2:0.25]):
        np.testing.assert_allclose(mnp.mgrid[key].asnumpy(), np.mgrid[key], rtol=1e-6)
    for got, want in zip(mnp.ogrid[0:3, 1:2:3j, 4:0:-1], np.ogrid[0:3, 1:2:3j, 4:0:-1]):
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    choices = R.standard_normal((3, 4))
    for kind in ("clip", "wrap"):
        close(mnp.choose(I(0, 5, -2, 1), list(map(D, choices)), kind), np.choose([0, 5, -2, 1], choices, mode=kind))
    points, weights = R.standard_normal((50, 3)), R.uniform(size=50)
    for options in ({}, {"density": True}, {"weights": weights}):
        counts, edges = mnp.histogramdd(D(points), [2, 3, 4], **{k: D(v) if k == "weights" else v for k, v in options.items()})
        want, bounds = np.histogramdd(points, [2, 3, 4], **options)
        close(counts, want, 1e-5, 1e-7)
        for got, bound in zip(edges, bounds):
            close(got, bound, 1e-6)
    counts, x_edges, y_edges = mnp.histogram2d(D(points[:, 0]), D(points[:, 1]), 4, [(-1, 1), (-2, 2)])
    close(counts, np.histogram2d(points[:, 0], points[:, 1], 4, [(-1, 1), (-2, 2)])[0])
    assert (x_edges.shape, y_edges.asnumpy().tolist()) == ((5,), [-2, -1, 0, 1, 2])


def test_divisors_of_floats_end():
    close(mnp.gcd(D([1.5, -0.75, 7.0]), D([1.0, 0.5, 0.0])), [0.5, 0.25, 7.0])
    close(mnp.lcm(D([1.5, 4.0]), D([1.0, 6.0])), [3.0, 12.0])
    close(mnp.gcd(D([np.nan, np.inf, 2.0]), D([1.0, 1.0, np.nan])), [np.nan] * 3)
    assert ops.gcd(I(12, 18), 8).asnumpy().tolist() == [4, 2] and ops.lcm(4, I(6)).asnumpy().tolist() == [12]


def test_jacobians(mode):
    """As in the real package: a tensor for one output and one input, a tuple over outputs of tuples over positions."""
    x, y = D([1.0, 2.0]), D([3.0, 4.0])
    for jacobian in (ops.jacrev, ops.jacfwd):
        close(jacobian(lambda a: a * a)(x), [[2, 0], [0, 4]])
        weight = D(TALL)
        close(jacobian(lambda a: ops.matmul(weight, a))(D(np.ones((3, 2)))), np.einsum("ik,jl->ijkl", TALL, np.eye(2)))
        by_both = jacobian(lambda a, b: (a * b, (a + 2 * b).sum()), (0, 1))(x, y)
        assert isinstance(by_both, tuple) and all(isinstance(line, tuple) for line in by_both)
        for line, wanted in zip(by_both, (([[3, 0], [0, 4]], [[1, 0], [0, 2]]), ([1, 1], [2, 2]))):
            for got, want in zip(line, wanted):
                close(got, want)
        close(jacobian(lambda a, b: a * b, 1)(x, y), [[1, 0], [0, 2]])
        slope, aux = jacobian(lambda a: (a ** 3, a + 1), has_aux=True)(x)
        close(slope, [[3, 0], [0, 12]])
        close(aux, [2, 3])
        assert len(jacobian(lambda a: (a, a + 1, a + 2), has_aux=True)(x)[1]) == 2
        close(jacobian(lambda a, b: a * b, (0,))(x, y), [[3, 0], [0, 4]])  # a tuple of one position: a tensor, as with grad
        with pytest.raises(TypeError, match="has_aux"):
            jacobian(lambda a: a, has_aux=3)
    assert ms.jacrev is ops.jacrev and ms.jacfwd is ops.jacfwd
    close(ops.jacfwd(ops.jacrev(lambda a: (a ** 3).sum()))(x), [[6, 0], [0, 12]])  # the Hessian


def test_condition_numbers_as_numpy():
    for p in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf):
        close(ops.cond(D(SQUARE), p), [np.linalg.cond(m, p) for m in SQUARE], 1e-10)
    close(ops.cond(D(TALL)), np.linalg.cond(TALL), 1e-10)


def test_maxima_go_back_to_their_places():
    x = D(R.standard_normal((2, 3, 5, 6)))
    y, places = ops.max_pool2d(x, 2, return_indices=True)
    back = ops.max_unpool2d(y, places, 2, output_size=(2, 3, 5, 6)).asnumpy()
    assert back.shape == x.shape and np.count_nonzero(back) == y.size
    np.testing.assert_array_equal(back[back != 0], x.asnumpy()[back != 0])
    y, places = ops.max_pool2d(x[:, :, :4], 2, return_indices=True)
    np.testing.assert_array_equal(nn.MaxUnpool2d(2)(y[0], places[0]).asnumpy(), back[0, :, :4])


X = R.uniform(0.5, 2, (3, 3))
COMPILED = {
    "polygamma": lambda x: ops.polygamma(I(2), x), "i0": ops.i0, "nextafter": lambda x: ops.nextafter(x, x + 1), "trapz": ops.trapz, "det": ops.det,
    "slogdet": lambda x: ops.slogdet(x)[1], "logdet": ops.logdet, "matrix_solve": lambda x: ops.matrix_solve(x, x + 1), "lstsq": lambda x: ops.lstsq(x, x),
    "nanmedian": lambda x: ops.nanmedian(x)[0], "block_diag": lambda x: ops.block_diag(x, x[0], x[0, 0]), "vander": lambda x: ops.vander(x[0]),
    "cartesian_prod": lambda x: ops.cartesian_prod(x[0], x[1]), "combinations": lambda x: ops.combinations(x[0]), "isreal": ops.isreal, "real": ops.real,
    "imag": ops.imag, "lp_pool1d": lambda x: ops.lp_pool1d(x, 2.0, 2), "lp_pool2d": lambda x: ops.lp_pool2d(x.reshape(1, 3, 3), 2.0, 2, 1),
    "adaptive_avg_pool3d": lambda x: ops.adaptive_avg_pool3d(x.reshape(1, 1, 3, 3), 2), "hann_window": lambda x: ops.hann_window(3) * x,
    "adaptive_max_pool3d": lambda x: ops.adaptive_max_pool3d(x.reshape(1, 1, 3, 3), 2), "choose": lambda x: mnp.choose(I(0, 2, 1), x),
    "polymul": lambda x: mnp.polymul(x[0], x[1]), "polyint": lambda x: mnp.polyint(x[0], 2, 1.0), "polyder": lambda x: mnp.polyder(x[0]),
    "gradient": lambda x: mnp.gradient(x, axis=1), "unwrap": lambda x: mnp.unwrap(x * 4), "sum": lambda x: x.sum(dim=1, keepdim=True), "std": lambda x: x.std(dim=0),
    "LPPool2d": lambda x: nn.LPPool2d(2, 2)(x.reshape(1, 1, 3, 3)), "MultiLabelSoftMarginLoss": lambda x: nn.MultiLabelSoftMarginLoss()(x, x / 2),
    "slice_scatter": lambda x: ops.slice_scatter(x, x[:2] + 1, 0, 1), "diagonal_scatter": lambda x: ops.diagonal_scatter(x, x[0]),
    "fill_diagonal": lambda x: x.fill_diagonal(4.0), "masked_scatter": lambda x: x.masked_scatter(x > 1, x + 1), "renorm": lambda x: ops.renorm(x, 2, 0, 1.5),
    "pdist": ops.pdist, "mvlgamma": lambda x: ops.mvlgamma(x + 1, 2), "cond": ops.cond,
    "max_unpool3d": lambda x: ops.max_unpool3d(x.reshape(1, 1, 3, 3), Tensor(np.arange(0, 18, 2).reshape(1, 1, 3, 3)), (1, 1, 2)),
    "TripletMarginWithDistanceLoss": lambda x: nn.TripletMarginWithDistanceLoss(swap=True)(x, x + 1, x * 2),
    "histogram2d": lambda x: mnp.histogram2d(x[0], x[1], 2, [(0, 2), (0, 2)])[0],
}


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_as_eager(name):
    """Without leaving the graph: a function that reads values would raise."""
    call = COMPILED[name]
    compiled = ms._core.CompiledFn(lambda inputs: [call(inputs[0])], name)
    for _ in range(2):
        np.testing.assert_array_equal(compiled([D(X)])[0].asnumpy(), call(D(X)).asnumpy())


HALF = {name: call for name, call in COMPILED.items() if name not in ("matrix_solve", "lstsq", "cond", "hann_window", "histogram2d", "isreal")}


@pytest.mark.parametrize("name", HALF)
@pytest.mark.parametrize("kind", [ms.float16, ms.float32])
def test_types_stay(name, kind):
    """The result has the argument's type and is float64's result, rounded."""
    x = Tensor(X).astype(kind)
    got, want = HALF[name](x), HALF[name](x.astype(ms.float64)).asnumpy()
    assert got.dtype == kind
    close(got, want, 2e-2 if kind == ms.float16 else 2e-5, 2e-2 if kind == ms.float16 else 1e-5)


@pytest.mark.parametrize("call, error", [
    (lambda: ops.polygamma(I(-1), D([1.0])), ValueError), (lambda: ops.polygamma(D([1.0]), D([1.0])), TypeError), (lambda: ops.polygamma(101, D([1.0])), ValueError),
    (lambda: ops.nextafter(I(1), I(2)), TypeError), (lambda: ops.det(D([[1.0, 2.0]])), ValueError), (lambda: ops.det(D([1.0])), ValueError),
    (lambda: ops.matrix_solve(D(SQUARE), D(RIGHT[:, :2])), ValueError), (lambda: ops.lstsq(D(TALL), D([1.0, 2.0])), ValueError),
    (lambda: ops.lu_solve(D(RIGHT), D(SQUARE), I([1, 2, 3, 5], [1, 2, 3, 4])), ValueError), (lambda: ops.block_diag(D(SQUARE)), ValueError),
    (lambda: ops.vander(D(TALL)), ValueError), (lambda: ops.vander(D([1.0]), 0), ValueError), (lambda: ops.cartesian_prod(D(TALL)), ValueError),
    (lambda: ops.cartesian_prod([1.0]), TypeError), (lambda: ops.cartesian_prod(), ValueError), (lambda: ops.combinations(D(TALL)), ValueError),
    (lambda: ops.combinations(I(1), 0), ValueError), (lambda: ops.unique_with_pad(D(TALL), 0), ValueError), (lambda: ops.lp_pool1d(D(TALL), 0, 2), ValueError),
    (lambda: ops.lp_pool2d(D(SQUARE), "2", 2), TypeError), (lambda: ops.lp_pool2d(D(SQUARE), 2.0, 2, 0), ValueError), (lambda: ops.hann_window(-1), ValueError),
    (lambda: ops.hann_window(3, dtype=ms.int32), TypeError), (lambda: ops.adaptive_avg_pool3d(D(TALL), 2), ValueError),
    (lambda: ops.adaptive_max_pool3d(D(SQUARE[None]), (1, 2)), ValueError), (lambda: ops.nanmedian(D(np.zeros((2, 0)))), ValueError),
    (lambda: mnp.choose(D([0.0]), [D([1.0])]), TypeError), (lambda: mnp.choose(I(2), [I(1), I(2)], "raise"), ValueError), (lambda: mnp.choose(I(0), []), ValueError),
    (lambda: mnp.choose(I(0), [I(1)], "cut"), ValueError), (lambda: mnp.mgrid[5], TypeError), (lambda: mnp.mgrid[1:], ValueError),
    (lambda: mnp.polyder(D([1.0]), -1), ValueError), (lambda: mnp.polyint(D([1.0]), 3, [1, 2]), ValueError), (lambda: mnp.polyadd(D(TALL), D([1.0])), ValueError),
    (lambda: mnp.gradient(D([1.0])), ValueError), (lambda: mnp.gradient(D(TALL), 1.0, 2.0, 3.0), ValueError), (lambda: mnp.gradient(D(TALL), edge_order=2), ValueError),
    (lambda: mnp.histogramdd(D(TALL), [1, 2]), ValueError), (lambda: mnp.apply_over_axes(lambda x, axis: x[0, 0], D(TALL), 0), ValueError),
    (lambda: ops.slice_scatter(D(TALL), D(TALL), 0, 1), ValueError), (lambda: ops.slice_scatter(D(TALL), D(TALL), 0, step=0), ValueError),
    (lambda: ops.diagonal_scatter(D(TALL), D(TALL)), ValueError), (lambda: ops.diagonal_scatter(D(TALL), D(TALL), 0, 1, -1), ValueError),
    (lambda: D([1.0]).fill_diagonal(1.0), ValueError), (lambda: D(np.zeros((2, 3, 2))).fill_diagonal(1.0), ValueError),
    (lambda: D(TALL).masked_scatter(D(TALL), D(TALL)), TypeError), (lambda: D(TALL).masked_scatter(D(TALL) > -9, Tensor([1.0])), TypeError),
    (lambda: D(TALL).masked_scatter(D(TALL) > -9, D([1.0])), ValueError), (lambda: ops.renorm(D(TALL), 2, 0, -1.0), ValueError),
    (lambda: ops.renorm(D(TALL), 0.5, 0, 1.0), ValueError), (lambda: ops.pdist(D([1.0])), ValueError), (lambda: ops.pdist(D(TALL), -1.0), ValueError),
    (lambda: ops.mvlgamma(D([1.0]), 0), ValueError), (lambda: ops.cond(D(TALL), 1), ValueError), (lambda: ops.jacrev(5), TypeError),
    (lambda: ops.jacrev(ops.sin, 1)(D([1.0])), ValueError), (lambda: ops.max_unpool1d(D([[1.0]]), I([2]), 2), ValueError),
    (lambda: ops.max_unpool1d(D([[1.0]]), I([0, 1]), 2), ValueError), (lambda: ops.max_unpool2d(D([[[1.0]]]), I([[0]]), 2, 0), ValueError),
    (lambda: ops.max_unpool2d(D([[[1.0]]]), Tensor(np.array([[[0]]])), 2, output_size=(1, 5, 5)), ValueError),
    (lambda: nn.TripletMarginWithDistanceLoss(5), TypeError), (lambda: nn.TripletMarginWithDistanceLoss(margin=0.0), ValueError),
    (lambda: ops.trapz(D(TALL), dim=2), ValueError), (lambda: ops.logsumexp(D(TALL), 1, dim=1), TypeError),
])
def test_refused(call, error):
    with pytest.raises(error):
        call()
