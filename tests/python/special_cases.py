"""Calls of the functions of ops/function/special_func.py and band_func.py. expectations/special.json holds MindSpore 2.10.0's results
(tests/reference/make_special_expectations.py)."""
import numpy as np


def cases(ms):
    """Returns name -> a call without arguments that returns a Tensor."""
    ops = ms.ops
    rng = np.random.default_rng(1)

    def t(v, d=np.float32):
        return ms.Tensor(np.array(v, d))

    def i(*v):
        return t(v, np.int32)

    image, grid = rng.standard_normal((2, 2, 3, 4)), rng.uniform(-1.4, 1.4, (2, 3, 2, 2))
    volume, grid3 = rng.standard_normal((1, 1, 2, 3, 4)), rng.uniform(-1.4, 1.4, (1, 2, 2, 2, 3))
    theta, theta3 = rng.standard_normal((2, 2, 3)), rng.standard_normal((2, 3, 4))
    m, weights, columns = rng.standard_normal((3, 6)), [1, 2, 1, 3, 1, .5], rng.standard_normal((2, 12, 6))
    places = [-20.5, -3.2, -1.5, -.5, -1e-3, 1e-5, .3, .5, 1, 1.4616, 2, 2.5, 7.9, 8, 30, 1e4, 1e30, np.inf, -np.inf, np.nan, -2, 0]
    out = {
        "lgamma": lambda: ops.lgamma(t(places)), "digamma": lambda: ops.digamma(t(places)), "Lgamma": lambda: ops.Lgamma()(t([.3])),
        "Digamma": lambda: ops.Digamma()(t([.3])), "erfinv": lambda: ops.erfinv(t([-1, -.5, -1e-6, 0, 1e-3, .7, .9, 1, 1.5])),
        "cov": lambda: ops.cov(t(m)), "cov 0": lambda: ops.cov(t(m), correction=0), "cov f": lambda: ops.cov(t(m), fweights=i(1, 2, 1, 3, 1, 1)),
        "cov a": lambda: ops.cov(t(m), aweights=t(weights)), "cov row": lambda: ops.cov(t(m[0])),
        "diff": lambda: ops.diff(t(m), 1, 0), "diff more": lambda: ops.diff(t([1, 5, 2]), prepend=t([3]), append=t([4, 4])),
        "diff bool": lambda: ops.diff(t([True, False, False], np.bool_)), "gcd": lambda: ops.gcd(t([[12], [-8], [0]], np.int32), i(18, 12, 0)),
        "lcm": lambda: ops.lcm(t([[12], [-8]], np.int32), i(18, 12)), "Gcd": lambda: ops.Gcd()(i(12), i(18)),
        "histc": lambda: ops.histc(t([1, 2, 2, 5, -3, 8]), 4, 0., 8.), "histc int": lambda: ops.histc(i(1, 2, 2, 5), 4),
        "bincount": lambda: ops.bincount(i(1, 2, 2, 5)), "bincount w": lambda: ops.bincount(i(1, 2, 2), t([.5, 1, 1]), 5),
        "fold": lambda: ops.fold(t(columns), i(4, 6), 2, stride=2), "affine": lambda: ops.affine_grid(t(theta), (2, 1, 3, 4)),
        "affine corners": lambda: ops.affine_grid(t(theta), (2, 1, 3, 4), True), "affine 3": lambda: ops.affine_grid(t(theta3), (2, 1, 2, 3, 4)),
        "affine 3 corners": lambda: ops.affine_grid(t(theta3), (2, 1, 1, 3, 4), True),
    }
    band = np.arange(1, 13).reshape(2, 2, 3)
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        out["matrix_diag " + align] = lambda align=align: ops.matrix_diag(t(band), i(-1, 0), i(3)[0], i(4)[0], t(9.0), align)
        out["matrix_diag_part " + align] = lambda align=align: ops.matrix_diag_part(t(m.reshape(2, 3, 3)), i(-1, 2), t(7.0), align)
        out["matrix_diag_part wide " + align] = lambda align=align: ops.matrix_diag_part(t(m.reshape(1, 3, 6)), i(-2, 3), t(0.0), align)
        out["matrix_set_diag " + align] = lambda align=align: ops.matrix_set_diag(t(m), t(np.arange(9).reshape(3, 3)), i(-1, 1), align)
    out.update({
        "matrix_diag main": lambda: ops.matrix_diag(t(band)), "matrix_diag above": lambda: ops.matrix_diag(t(band), 2), "matrix_diag below": lambda: ops.matrix_diag(t(band), -1, padding_value=-1),
        "matrix_diag wide": lambda: ops.matrix_diag(t(band), 0, 3, 5), "matrix_diag rows": lambda: ops.matrix_diag(t(band), 1, 3),
        "matrix_diag_part main": lambda: ops.matrix_diag_part(t(m), i(0), t(0.0)), "matrix_diag_part below": lambda: ops.matrix_diag_part(t(m), i(-1), t(0.0)),
        "matrix_set_diag main": lambda: ops.matrix_set_diag(t(m), t([1, 2, 3])), "matrix_set_diag above": lambda: ops.matrix_set_diag(t(m), t([1, 2, 3]), 2),
        "batch_to_space_nd": lambda: ops.batch_to_space_nd(t(np.arange(48).reshape(12, 2, 1, 2)), [3, 2], [[1, 0], [0, 2]]),
        "batch_to_space_nd one": lambda: ops.batch_to_space_nd(t(np.arange(48).reshape(12, 2, 1, 2)), 2, [[0, 0], [1, 1]]),
        "space_to_batch_nd": lambda: ops.space_to_batch_nd(t(np.arange(40).reshape(2, 1, 4, 5)), [3, 2], [[1, 1], [0, 1]]),
        "space_to_batch_nd one": lambda: ops.space_to_batch_nd(t(np.arange(16).reshape(1, 1, 4, 4)), 2, [[2, 0], [1, 1]]),
        "MatrixSetDiagV3": lambda: ops.MatrixSetDiagV3("LEFT_LEFT")(t(m), t([1, 2, 3]), i(0)), "BatchToSpaceND": lambda: ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(t(np.arange(4).reshape(4, 1, 1, 1))),
        "SpaceToBatchND": lambda: ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])(t(np.arange(16).reshape(1, 1, 4, 4))),
    })
    labels = np.random.default_rng(3).integers(0, 40, (6, 3, 4)) / 8 + np.arange(4) / 64
    for part in range(4):
        for merge in (True, False):
            out[f"ctc_greedy_decoder {merge} {part}"] = lambda part=part, merge=merge: ops.ctc_greedy_decoder(t(labels), i(6, 4, 0), merge)[part]
    for kind in ("Sum", "Mean", "Max", "Min", "Prod"):
        out["Segment" + kind] = lambda kind=kind: getattr(ops, "Segment" + kind)()(t(m[:, :2]), i(0, 2, 2))
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                for name, x, g in (("image", image, grid), ("volume", volume, grid3)):
                    out[f"grid_sample {name} {mode} {padding} {corners}"] = lambda x=x, g=g, a=(mode, padding, corners): ops.grid_sample(t(x), t(g), *a)
    return out
