"""Gradients of composed functions compared with central differences in float64."""
import numpy as np
import pytest

import sindri as ms
from sindri import ops
from sindri import numpy as mnp
from sindri.ops import operations as P

I = lambda v: ms.Tensor(np.asarray(v, np.int32))  # noqa: E731
B = lambda v: ms.Tensor(np.asarray(v, bool))  # noqa: E731
D = lambda v: ms.Tensor(np.asarray(v, np.float64))  # noqa: E731

# name: (function, ranges of the inputs: (shape, low, high))
S, M, Z, IMG = (2, 3), (3, 3), (2, 3, 4), (2, 3, 5, 4)
CASES = {
    "tan": (ops.tan, [(S, -1, 1)]),
    "asin": (ops.asin, [(S, -0.9, 0.9)]),
    "acos": (ops.acos, [(S, -0.9, 0.9)]),
    "atan": (ops.atan, [((9,), -3, 3)]),
    "atan2": (ops.atan2, [(S, -2, 2), (S, -2, 2)]),
    "sinh": (ops.sinh, [(S, -2, 2)]),
    "cosh": (ops.cosh, [(S, -2, 2)]),
    "asinh": (ops.asinh, [(S, -3, 3)]),
    "acosh": (ops.acosh, [(S, 1.2, 3)]),
    "atanh": (ops.atanh, [(S, -0.9, 0.9)]),
    "hypot": (ops.hypot, [(S, 0.5, 2), (S, 0.5, 2)]),
    "sinc": (ops.sinc, [(S, 0.2, 2)]),
    "lerp": (ops.lerp, [(S, -1, 1), (S, -1, 1), (S, 0, 1)]),
    "logaddexp": (ops.logaddexp, [(S, -2, 2), (S, -2, 2)]),
    "logaddexp2": (ops.logaddexp2, [(S, -2, 2), (S, -2, 2)]),
    "xlogy": (ops.xlogy, [(S, 0.5, 2), (S, 0.5, 2)]),
    "div_no_nan": (lambda x, y: P.DivNoNan()(x, ops.where(B([[True, False, True], [True, True, False]]), y, 0.0)), [(S, -1, 1), (S, 0.5, 2)]),
    "truncate_mod": (P.TruncateMod(), [(S, 3.1, 3.9), (S, 0.9, 1.0)]),
    "addcdiv": (lambda x, a, b: ops.addcdiv(x, a, b, 0.3), [(S, -1, 1), (S, -1, 1), (S, 1, 2)]),
    "squared_difference": (P.SquaredDifference(), [(S, -1, 1), ((3,), -1, 1)]),
    "logit": (lambda x: ops.logit(x, 1e-6), [(S, 0.2, 0.8)]),
    "cumprod": (lambda x: ops.cumprod(x, 1), [((2, 5), 0.5, 2)]),
    "cumprod_exclusive_reverse": (lambda x: P.CumProd(True, True)(x, 1), [((2, 5), 0.5, 2)]),
    "cumsum_reverse": (lambda x: P.CumSum(True, True)(x, 1), [((2, 5), -1, 1)]),
    "cummax": (lambda x: ops.cummax(x, 1)[0], [((2, 5), -1, 1)]),
    "logcumsumexp": (lambda x: ops.logcumsumexp(x, 0), [((5,), -2, 2)]),
    "max_along": (lambda x: ops.max(x, 1)[0], [(S, -1, 1)]),
    "arg_min_with_value": (lambda x: P.ArgMinWithValue(1)(x)[1], [(S, -1, 1)]),
    "sort": (lambda x: ops.sort(x, 1, True)[0], [(S, -1, 1)]),
    "median": (lambda x: ops.median(x, 1)[0], [((2, 5), -1, 1)]),
    "std": (lambda x: ops.std(x, 1, 1), [((2, 5), -1, 1)]),
    "var_mean": (lambda x: ops.concat([t.reshape(-1) for t in ops.var_mean(x, 0)]), [((4, 3), -1, 1)]),
    "norm3": (lambda x: ops.norm(x, 3, 1), [(S, 0.2, 1)]),
    "norm_inf": (lambda x: ops.norm(x, float("inf"), 1), [(S, -1, 1)]),
    "matrix_norm_nuc": (lambda x: ops.matrix_norm(x, "nuc"), [((3, 2), -1, 1)]),
    "matrix_norm_2": (lambda x: ops.matrix_norm(x, 2), [((3, 2), -1, 1)]),
    "matrix_norm_1": (lambda x: ops.matrix_norm(x, 1), [((3, 2), -1, 1)]),
    "l2_normalize": (P.L2Normalize(1), [(S, 0.2, 1)]),
    "gather_batch": (lambda x: ops.gather(x, I([[0, 2], [1, 1]]), 1, 1), [(Z, -1, 1)]),
    "gather_nd": (lambda x: ops.gather_nd(x, I([[0, 2], [0, 2], [1, 0]])), [(Z, -1, 1)]),
    "embedding_lookup": (lambda x: P.EmbeddingLookup()(x, I([0, 3, 1]), 0), [(S, -1, 1)]),
    "scatter_update": (lambda x, u: P.TensorScatterUpdate()(x, I([[0], [1], [0]]), u), [((3, 2), -1, 1), ((3, 2), -1, 1)]),
    "scatter_add": (lambda x, u: P.TensorScatterAdd()(x, I([[0, 1], [0, 1]]), u), [(S, -1, 1), ((2,), -1, 1)]),
    "scatter_mul": (lambda x, u: P.TensorScatterMul()(x, I([[0, 1], [0, 1]]), u), [(S, 0.5, 1), ((2,), 0.5, 2)]),
    "scatter_max": (lambda x, u: P.TensorScatterMax()(x, I([[0, 1], [0, 1]]), u), [(S, 0, 1), ((2,), 0.5, 2)]),
    "scatter_elements": (lambda x, u: ops.tensor_scatter_elements(x, I([[1, 0, 1]]), u, 0), [(S, -1, 1), ((1, 3), -1, 1)]),
    "scatter_nd": (lambda u: ops.scatter_nd(I([[0], [2], [0]]), u, (4,)), [((3,), -1, 1)]),
    "segment_sum": (lambda x: ops.unsorted_segment_sum(x, I([0, 0, 1, -1]), 3), [((4, 2), -1, 1)]),
    "segment_max": (lambda x: ops.unsorted_segment_max(x, I([0, 0, 1, 1]), 2), [((4, 2), -1, 1)]),
    "index_fill": (lambda x: ops.index_fill(x, 1, I([0]), 2.0), [(S, -1, 1)]),
    "index_add": (lambda x, y: ops.index_add(x, I([0, 0]), y, 1), [(S, -1, 1), ((2, 2), -1, 1)]),
    "reverse_sequence": (lambda x: ops.reverse_sequence(x, I([2, 3]), 1), [(S, -1, 1)]),
    "select_scatter": (lambda x, u: ops.select_scatter(x, u, 1, 1), [(S, -1, 1), ((2,), -1, 1)]),
    "masked_fill": (lambda x: ops.masked_fill(x, B([[True, False, False]] * 2), 1.0), [(S, -1, 1)]),
    "masked_select": (lambda x: ops.masked_select(x, B([[True, False, True]] * 2)), [(S, -1, 1)]),
    "einsum_batch": (lambda a, b: ops.einsum("bij,bjk->bik", a, b), [(Z, -1, 1), ((2, 4, 2), -1, 1)]),
    "einsum_diagonal": (lambda a: ops.einsum("ii->i", a), [(M, -1, 1)]),
    "einsum_three": (lambda a, b, c: ops.einsum("ij,kj,k->i", a, b, c), [(S, -1, 1), ((4, 3), -1, 1), ((4,), -1, 1)]),
    "einsum_ellipsis": (lambda a, b: ops.einsum("...ij,jk->...ik", a, b), [(Z, -1, 1), ((4, 2), -1, 1)]),
    "tensor_dot": (lambda a, b: ops.tensor_dot(a, b, ((1, 2), (0, 1))), [(Z, -1, 1), ((3, 4, 2), -1, 1)]),
    "matmul_vector": (ops.matmul, [(Z, -1, 1), ((4,), -1, 1)]),
    "kron": (ops.kron, [(S, -1, 1), ((1, 2), -1, 1)]),
    "cross": (ops.cross, [(S, -1, 1), (S, -1, 1)]),
    "cdist": (ops.cdist, [(S, -1, 1), ((4, 3), -1, 1)]),
    "matrix_power": (lambda a: ops.matrix_power(a, 3), [(M, -1, 1)]),
    "pinv": (lambda a: ops.pinv(a), [((3, 2), 0.5, 2)]),
    "cholesky_solve": (lambda b: ops.cholesky_solve(b, D([[2.0, 0], [1, 3]])), [((2, 2), -1, 1)]),
    "selu": (ops.selu, [(S, -1, 1)]),
    "celu": (lambda x: ops.celu(x, 0.7), [(S, -1, 1)]),
    "fast_gelu": (ops.fast_gelu, [(S, -1, 1)]),
    "mish": (ops.mish, [(S, -1, 1)]),
    "softplus_beta": (lambda x: ops.softplus(x, 2, 10), [(S, -1, 1)]),
    "softsign": (ops.softsign, [(S, -1, 1)]),
    "logsigmoid": (ops.logsigmoid, [(S, -1, 1)]),
    "softshrink": (lambda x: ops.softshrink(x, 0.3), [(S, 0.4, 1)]),
    "hardshrink": (lambda x: ops.hardshrink(x, 0.3), [(S, 0.4, 1)]),
    "glu": (ops.glu, [(Z, -1, 1)]),
    "swiglu": (ops.swiglu, [(Z, -1, 1)]),
    "prelu": (ops.prelu, [(S, -1, 1), ((3,), 0.1, 0.5)]),
    "dense": (ops.dense, [(Z, -1, 1), ((2, 4), -1, 1), ((2,), -1, 1)]),
    "bias_add": (P.BiasAdd(), [(IMG, -1, 1), ((3,), -1, 1)]),
    "conv1d": (lambda x, w: ops.conv1d(x, w, pad_mode="same", stride=2), [(Z, -1, 1), ((2, 3, 2), -1, 1)]),
    "conv_transpose2d": (lambda x, w, b: ops.conv_transpose2d(x, w, b, 2, 1, 1), [((1, 2, 3, 3), -1, 1), ((2, 2, 3, 3), -1, 1), ((2,), -1, 1)]),
    "conv2d_nhwc": (lambda x, w: P.Conv2D(2, 2, data_format="NHWC")(x, w), [((1, 4, 4, 3), -1, 1), ((2, 3, 2, 2), -1, 1)]),
    "max_pool_same": (P.MaxPool(3, 2, "same"), [(IMG, -1, 1)]),
    "max_pool_indices": (lambda x: ops.max_pool2d(x, 2, return_indices=True)[0], [(IMG, -1, 1)]),
    "avg_pool_divisor": (lambda x: ops.avg_pool2d(x, 2, 2, 0, divisor_override=3), [(IMG, -1, 1)]),
    "adaptive_max_pool2d": (lambda x: ops.adaptive_max_pool2d(x, (2, 3)), [(IMG, -1, 1)]),
    "unfold": (lambda x: ops.unfold(x, 2, 1, 1, 2), [(IMG, -1, 1)]),
    "group_norm": (lambda x, g, b: ops.group_norm(x, 3, g, b), [((2, 6, 2, 2), -1, 1), ((6,), 0.5, 1), ((6,), -1, 1)]),
    "layer_norm_axis": (lambda x, g, b: P.LayerNorm(1, 1)(x, g, b)[0], [(Z, -1, 1), ((3, 4), 0.5, 1), ((3, 4), -1, 1)]),
    "rms_norm": (lambda x, g: ops.rms_norm(x, g)[0], [(S, 0.2, 1), ((3,), 0.5, 1)]),
    "lrn": (P.LRN(depth_radius=1), [(IMG, -1, 1)]),
    "pad_reflect": (lambda x: ops.pad(x, (1, 2), "reflect"), [(Z, -1, 1)]),
    "pad_circular": (lambda x: ops.pad(x, (1, 2, 1, 0), "circular"), [(Z, -1, 1)]),
    "pad_negative": (lambda x: ops.pad(x, (1, -1)), [(Z, -1, 1)]),
    "interpolate_bilinear": (lambda x: ops.interpolate(x, (7, 3), mode="bilinear"), [(IMG, -1, 1)]),
    "interpolate_bicubic": (lambda x: ops.interpolate(x, (7, 3), mode="bicubic"), [(IMG, -1, 1)]),
    "interpolate_nearest": (lambda x: ops.interpolate(x, (7, 3)), [(IMG, -1, 1)]),
    "cosine_similarity": (ops.cosine_similarity, [(S, 0.2, 1), (S, 0.2, 1)]),
    "cross_entropy_weight": (lambda x, w: ops.cross_entropy(x, I([0, 2]), w, label_smoothing=0.1), [(S, -1, 1), ((3,), 0.5, 1)]),
    "cross_entropy_images": (lambda x: ops.cross_entropy(x, I([[[0, 1], [2, 0]]])), [((1, 3, 2, 2), -1, 1)]),
    "cross_entropy_dense": (lambda x, p: ops.cross_entropy(x, p, label_smoothing=0.1), [(S, -1, 1), (S, 0.1, 0.9)]),
    "softmax_cross_entropy": (lambda x: P.SoftmaxCrossEntropyWithLogits()(x, D([[0.2, 0.5, 0.3]] * 2))[0], [(S, -1, 1)]),
    "binary_cross_entropy": (ops.binary_cross_entropy, [(S, 0.2, 0.8), (S, 0.2, 0.8)]),
    "bce_with_logits": (ops.binary_cross_entropy_with_logits, [(S, -1, 1), (S, 0, 1), (S, 0.5, 1), (S, 0.5, 1)]),
    "kl_div": (ops.kl_div, [(S, -1, 1), (S, 0.2, 0.8)]),
    "smooth_l1": (lambda x, y: ops.smooth_l1_loss(x, y, 0.7, "sum"), [((3, 5), -1, 1), ((3, 5), -1, 1)]),
    "huber": (lambda x, y: ops.huber_loss(x, y, "sum", 0.7), [((3, 5), -1, 1), ((3, 5), -1, 1)]),
    "cosine_embedding": (lambda a, b: ops.cosine_embedding_loss(a, b, I([1, -1])), [(S, 0.2, 1), (S, 0.2, 1)]),
    "margin_ranking": (lambda a, b: ops.margin_ranking_loss(a, b, D([[1.0, -1, 1]] * 2), 0.3), [(S, -1, 1), (S, -1, 1)]),
    "hinge_embedding": (lambda a: ops.hinge_embedding_loss(a, D([[1.0, -1, 1]] * 2)), [(S, -1, 1)]),
    "gaussian_nll": (ops.gaussian_nll_loss, [(S, -1, 1), (S, -1, 1), (S, 0.5, 1)]),
    "triplet_margin": (lambda a, b, c: ops.triplet_margin_loss(a, b, c, 2.0, swap=True), [(S, -1, 1), (S, -1, 1), (S, -1, 1)]),
    "multi_margin": (lambda x: ops.multi_margin_loss(x, I([0, 2]), 2), [(S, -1, 1)]),
    "l2_loss": (P.L2Loss(), [(S, -1, 1)]),
    "sparse_softmax": (lambda x: P.SparseSoftmaxCrossEntropyWithLogits()(x, I([0, 2])), [(S, -1, 1)]),
    "clip_by_value_tensors": (lambda x, a, b: ops.clip_by_value(x, a, b), [((4, 5), -1, 1), ((4, 5), -0.5, -0.4), ((4, 5), 0.4, 0.5)]),
    "iou": (lambda a, b: ops.iou(ops.concat([a, a + 3], 1), ops.concat([b, b + 2.5], 1)), [((2, 2), 0, 1), ((3, 2), 0, 1)]),
    "bounding_box_encode": (lambda a, b: ops.bounding_box_encode(ops.concat([a, a + 3], 1), ops.concat([b, b + 2], 1)),
                            [((2, 2), 0, 1), ((2, 2), 0, 1)]),
    "crop_and_resize": (lambda x: ops.crop_and_resize(x, D([[0.1, 0.2, 0.8, 0.9]]), I([1]), (3, 2)), [((2, 5, 4, 3), -1, 1)]),
    "tril": (lambda x: ops.tril(x, -1), [(M, -1, 1)]),
    "diag_embed": (lambda x: ops.diag_embed(x, -1), [(S, -1, 1)]),
    "diagonal": (lambda x: ops.diagonal(x, 1, 1, 2), [(Z, -1, 1)]),
    "roll": (lambda x: ops.roll(x, (1, 2), (0, 1)), [(S, -1, 1)]),
    "rot90": (lambda x: ops.rot90(x, 3, (0, 1)), [(S, -1, 1)]),
    "repeat_interleave": (lambda x: ops.repeat_interleave(x, [1, 2, 3], 1), [(S, -1, 1)]),
    "tile": (lambda x: ops.tile(x, (2, 1, 2)), [(S, -1, 1)]),
    "strided_slice": (lambda x: ops.strided_slice(x, (0, 2, 3), (2, 0, 0), (1, -1, -2)), [(Z, -1, 1)]),
    "pixel_shuffle": (lambda x: ops.pixel_shuffle(x, 2), [((1, 4, 2, 2), -1, 1)]),
    "space_to_batch": (lambda x: ops.space_to_batch(x, 2, [[1, 0], [0, 1]]), [((1, 2, 3, 3), -1, 1)]),
    "im2col": (P.Im2Col(kernel_size=2, pad_mode="same", stride=2), [((2, 2, 3, 3), -1, 1)]),
    "cholesky_trsm": (lambda x: P.CholeskyTrsm(split_dim=2)(ops.matmul(x, x.T) + D(np.eye(3) * 2)), [(M, -1, 1)]),
    "vmap": (ops.vmap(lambda a, b: ops.dot(a, b), (0, None), 0), [(S, -1, 1), ((3,), -1, 1)]),
    "linspace": (lambda a, b: ops.linspace(a, b, 4), [((), -1, 1), ((), 2, 3)]),
    "mnp_interp": (lambda x, fp: mnp.interp(x, D([0.0, 1, 2]), fp), [((4,), 0.1, 0.9), ((3,), -1, 1)]),
    "mnp_trapz": (lambda y, x: mnp.trapz(y, x), [((5,), -1, 1), ((5,), -1, 1)]),
    "mnp_convolve": (mnp.convolve, [((5,), -1, 1), ((3,), -1, 1)]),
    "mnp_diff": (lambda x: mnp.diff(x, 2), [((2, 5), -1, 1)]),
    "mnp_average": (lambda x, w: mnp.average(x, 1, w), [(S, -1, 1), (S, 0.2, 1)]),
    "mnp_cbrt": (mnp.cbrt, [(S, 0.2, 2)]),
    "det": (ops.det, [((2, 3, 3), -1, 1)]),
    "slogdet": (lambda x: ops.slogdet(x)[1], [((2, 3, 3), -1, 1)]),
    "matrix_solve": (ops.matrix_solve, [(M, -1, 1), ((3, 2), -1, 1)]),
    "matrix_solve_adjoint": (lambda a, b: ops.matrix_solve(a, b, True), [((2, 3, 3), -1, 1), ((2, 3, 1), -1, 1)]),
    "lstsq": (ops.lstsq, [((4, 2), -1, 1), ((4, 3), -1, 1)]),
    "i0": (ops.i0, [(S, -3, 3)]),
    "polygamma": (lambda x: ops.polygamma(I([[1], [2]]), x), [(S, 0.3, 9)]),
    "polygamma_reflected": (lambda x: ops.polygamma(1, x), [((5,), -2.8, -2.2)]),
    "trapz": (lambda y, x: ops.trapz(y, x, dim=0), [((5, 2), -1, 1), ((5,), -1, 1)]),
    "nanmedian": (lambda x: ops.nanmedian(ops.where(B([[True, False, True], [True] * 3]), x, float("nan")), 1)[0], [(S, -1, 1)]),
    "block_diag": (ops.block_diag, [(S, -1, 1), ((2,), -1, 1), ((), -1, 1)]),
    "cartesian_prod": (ops.cartesian_prod, [((2,), -1, 1), ((3,), -1, 1)]),
    "combinations": (lambda x: ops.combinations(x, 3), [((5,), -1, 1)]),
    "vander": (lambda x: ops.vander(ops.concat([x, x * 0])), [((3,), -1, 1)]),
    "lp_pool2d": (lambda x: ops.lp_pool2d(x, 3, 2, 1), [((1, 2, 4, 3), 0.2, 1)]),
    "lp_pool1d_of_zeros": (lambda x: ops.lp_pool1d(ops.concat([x, x * 0], 1), 2.0, 2), [((1, 2, 4), 0.2, 1)]),
    "adaptive_avg_pool3d": (lambda x: ops.adaptive_avg_pool3d(x, (2, 1, 2)), [((1, 2, 3, 3, 4), -1, 1)]),
    "adaptive_max_pool3d": (lambda x: ops.adaptive_max_pool3d(x, (2, 1, 2)), [((1, 3, 3, 4), -1, 1)]),
    "slice_scatter": (lambda x, s: ops.slice_scatter(x, s, 1, 0, 3, 2), [(S, -1, 1), ((2, 2), -1, 1)]),
    "diagonal_scatter": (lambda x, s: ops.diagonal_scatter(x, s, -1), [(M, -1, 1), ((2,), -1, 1)]),
    "fill_diagonal": (lambda x: x.fill_diagonal(2.0), [(M, -1, 1)]),
    "masked_scatter": (lambda x, s: x.masked_scatter(B([[True, False, True], [False, True, False]]), s), [(S, -1, 1), ((4,), -1, 1)]),
    "renorm": (lambda x: ops.renorm(x, 3, 1, 0.5), [(S, 0.1, 1)]),
    "pdist": (lambda x: ops.pdist(x, 3.0), [((4, 2), -1, 1)]),
    "mvlgamma": (lambda x: ops.mvlgamma(x, 3), [(S, 1.5, 6)]),
    "cond": (ops.cond, [((2, 3, 3), -1, 1)]),
    "cond_fro": (lambda x: ops.cond(x, "fro"), [(M, -1, 1)]),
    "max_unpool2d": (lambda x: ops.max_unpool2d(*ops.max_pool2d(x, 2, return_indices=True), 2), [((1, 2, 4, 4), -1, 1)]),
    "mnp_polymul": (mnp.polymul, [((3,), -1, 1), ((2,), -1, 1)]),
    "mnp_polyint": (lambda p, k: mnp.polyint(p, 2, k), [((3,), -1, 1), ((2,), -1, 1)]),
    "mnp_polyder": (lambda p: mnp.polyder(p, 2), [((5,), -1, 1)]),
    "mnp_gradient": (lambda x: mnp.gradient(x, 0.5, axis=1), [((2, 4), -1, 1)]),
    "mnp_unwrap": (mnp.unwrap, [((6,), -9, 9)]),
    "mnp_choose": (lambda a, b: mnp.choose(I([0, 1, 1]), [a, b]), [(S, -1, 1), ((3,), -1, 1)]),
    "mnp_setdiff1d": (lambda x: mnp.setdiff1d(x, [7.0]), [((4,), -1, 1)]),
    "tensor_mean_dim": (lambda x: x.mean(dim=1, keepdim=True), [(S, -1, 1)]),
    "tensor_take": (lambda x: x.take(I([2, 0, 2]), 1), [(S, -1, 1)]),
    "tensor_copy": (lambda x: x.copy() * x, [(S, -1, 1)]),
    "tensor_resize": (lambda x: x.resize(2, 2), [(S, -1, 1)]),
}


def _inputs(ranges):
    r = np.random.RandomState(11)
    return [r.uniform(low, high, shape) for shape, low, high in ranges]


@pytest.mark.parametrize("name", CASES)
def test_gradient(name, mode):
    fn, ranges = CASES[name]
    values = _inputs(ranges)
    seed = None

    def loss(*arrays):
        nonlocal seed
        out = fn(*(ms.Tensor(a) for a in arrays)).asnumpy().astype(np.float64)
        if seed is None:
            seed = np.random.RandomState(5).uniform(-1, 1, out.shape)
        return float((out * seed).sum())

    loss(*values)
    grads = ops.GradOperation(get_all=True, sens_param=True)(fn)(*(ms.Tensor(v) for v in values), ms.Tensor(seed))
    assert len(grads) == len(values)
    for k, (v, g) in enumerate(zip(values, grads)):
        numeric = np.zeros_like(v)
        for at in np.ndindex(v.shape):
            near = [np.array(a) for a in values]
            near[k][at] += 1e-6
            high = loss(*near)
            near[k][at] -= 2e-6
            numeric[at] = (high - loss(*near)) / 2e-6
        np.testing.assert_allclose(g.asnumpy(), numeric, rtol=1e-5, atol=1e-7, err_msg=f"input {k}")
        assert np.abs(numeric).max() > 0  # a case that cannot fail tests nothing


# Functions with a second derivative that central differences cannot measure.
FURTHER = {
    "abs": (lambda x: x * ops.abs(x), [(S, 0.2, 2)]),
    "erfinv": (ops.erfinv, [(S, -0.8, 0.8)]),
    "prod": (lambda x: ops.prod(x, 1), [(S, 0.5, 2)]),
    "prod_with_zero": (lambda x: ops.prod(ops.concat([x, x[:, :1] - x[:, :1]], 1), 1), [(S, 0.5, 2)]),
    "prod_of_all": (lambda x: ops.prod(x), [(S, 0.5, 2)]),
    "maximum": (lambda x, y: ops.maximum(x, y) ** 2, [(S, -1, 1), (S, -1, 1)]),
    "amax": (lambda x: ops.amax(x, 1) ** 2, [(S, -1, 1)]),
    "norm_1": (lambda x: ops.norm(x, 1, 1) ** 2, [(S, 0.2, 1)]),
    "norm_1.5": (lambda x: ops.norm(x, 1.5, 1), [(S, 0.2, 1)]),
    "norm_negative": (lambda x: ops.norm(x, -2, 1), [(S, 0.2, 1)]),
    "norm_inf_squared": (lambda x: ops.norm(x, float("inf"), 1) ** 2, [(S, -1, 1)]),
    "clip_by_norm": (lambda x: ops.clip_by_norm(x, 0.5), [(S, 0.2, 1)]),
    "l1_loss": (lambda x, y: ops.l1_loss(x, y, "none") ** 2, [(S, -1, 1), (S, -1, 1)]),
    "smooth_l1_near": (lambda x, y: ops.smooth_l1_loss(x, y, 3.0, "none") * x, [(S, -1, 1), (S, -1, 1)]),
    "huber_far": (lambda x, y: ops.huber_loss(x, y, "none", 0.1) * x, [(S, 1, 2), (S, -1, 0)]),
    "floor": (lambda x: ops.floor(x * 3) * x * x, [(S, -1, 1)]),
    "floor_mod": (lambda x: ops.floor_mod(x, 0.7) ** 2, [(S, -1, 1)]),
    "grid_sample": (lambda x, g: ops.grid_sample(x, g), [(IMG, -1, 1), ((2, 2, 2, 2), -0.9, 0.9)]),
}


@pytest.mark.parametrize("name", [*CASES, *FURTHER])
def test_second_derivative(name):
    fn, ranges = {**CASES, **FURTHER}[name]
    values = _inputs(ranges)
    first = ops.GradOperation(get_all=True, sens_param=True)(fn)
    seed = ms.Tensor(np.random.RandomState(5).uniform(-1, 1, fn(*(ms.Tensor(a) for a in values)).shape))
    weights = [np.random.RandomState(6 + k).uniform(-1, 1, v.shape) for k, v in enumerate(values)]

    def directed(*inputs):
        return sum(((g * ms.Tensor(w)).sum() for g, w in zip(first(*inputs, seed), weights)), ms.Tensor(0.0, ms.float64))

    second = ops.GradOperation(get_all=True)(directed)(*(ms.Tensor(v) for v in values))
    for k, (v, g) in enumerate(zip(values, second)):
        for at in list(np.ndindex(v.shape))[:6]:
            near = [np.array(a) for a in values]
            near[k][at] += 1e-5
            high = directed(*(ms.Tensor(a) for a in near)).item()
            near[k][at] -= 2e-5
            numeric = (high - directed(*(ms.Tensor(a) for a in near)).item()) / 2e-5
            np.testing.assert_allclose(g.asnumpy()[at], numeric, rtol=1e-4, atol=1e-6, err_msg=f"input {k} at {at}")


def test_known_second_derivatives():
    twice = lambda f: ops.grad(lambda x: ops.grad(f)(x).sum())  # noqa: E731
    np.testing.assert_array_equal(twice(lambda x: (x * ops.abs(x)).sum())(D([1.5, -2])).asnumpy(), [2, -2])
    np.testing.assert_allclose(twice(lambda x: ops.erfinv(x).sum())(D([0.5])).asnumpy(), [1.1807463], rtol=1e-7)  # pi/2·y·exp(2y²), y = erfinv(1/2)


@pytest.mark.parametrize("fn", [ops.sign, ops.floor, ops.ceil, ops.round, ops.rint, ops.trunc, P.Floor(), P.Round(), lambda x: ops.floor_div(x, 0.3)])
def test_steps_have_gradient_zero(fn):
    g = ops.grad(lambda x: fn(x) + x)(D([0.4, -1.7]))
    np.testing.assert_array_equal(g.asnumpy(), [1, 1])
