"""mindspore.numpy."""
from . import lines

UNARY = ("abs absolute arctan arcsinh cbrt ceil cos cosh deg2rad rad2deg degrees radians exp exp2 expm1 fabs fix floor isfinite isinf isnan isneginf isposinf negative positive rint sign "
         "signbit sin sinh square tan tanh trunc ravel flip fliplr flipud transpose squeeze atleast_1d atleast_2d atleast_3d cumsum cumprod argmax argmin max min amax amin mean sum std var "
         "ptp size diff ediff1d unique count_nonzero logical_not nansum nanmean nanmax nanmin nanstd nanvar average diag diagflat tril triu trace copy zeros_like ones_like empty_like invert "
         "bitwise_not sqrt log log2 log10 log1p reciprocal arcsin arccos arctanh arccosh cov corrcoef array_str argwhere where histogram rot90 sometrue norm isscalar asarray asfarray trapz "
         "nancumsum median sort").split()
BINARY = ("add subtract multiply divide true_divide floor_divide mod remainder fmod power float_power maximum minimum arctan2 hypot copysign equal not_equal greater greater_equal less "
          "less_equal logical_and logical_or logical_xor logaddexp logaddexp2 heaviside divmod dot inner outer kron matmul isclose array_equal array_equiv cross convolve correlate "
          "append in1d isin tensordot gcd lcm bitwise_and bitwise_or bitwise_xor vdot cov").split()
PAIRS = ("X(2, 3), X(2, 3, s=1)", "X(3), X(3, s=1)", "i([7, -7, 3]), i([2, 2, 2])", "f([1, 2]), 2", "b([True, False]), b([True, True])", "h([1, 2]), f([3, 4])")


def cases():
    for name in UNARY:
        for x in ("X(2, 3)", "i([[3, 1], [0, 2]])", "b([True, False])", "f([nan, 1, 2])"):
            yield f"mnp.{name}({x})"
    for name in BINARY:
        for pair in PAIRS:
            yield f"mnp.{name}({pair})"
    for name in "sum mean std var max min argmax argmin cumsum cumprod nansum nanmean ptp average nanmax nanvar count_nonzero flip squeeze".split():
        for arguments in ("0", "axis=1", "axis=-1", "axis=(0, 1)", "axis=0, keepdims=True", "dtype=ms.float16"):
            yield f"mnp.{name}(X(2, 3), {arguments})"


OTHER = lines("""
mnp.arange(5)
mnp.arange(1, 5)
mnp.arange(1, 2, 0.5)
mnp.arange(5.0)
mnp.arange(5, dtype=ms.float32)
mnp.linspace(0, 1, 5)
mnp.linspace(0, 1, 5, endpoint=False)
mnp.linspace(0, 1, 5, retstep=True)
mnp.logspace(0, 2, 3)
mnp.geomspace(1, 100, 3)
mnp.zeros((2, 3))
mnp.zeros(2, ms.int32)
mnp.ones((2, 3))
mnp.ones(2, 'int32')
mnp.full((2,), 3)
mnp.full((2,), 2.5)
mnp.full_like(X(2), 3)
mnp.full_like(i([1]), 2.5)
mnp.eye(3)
mnp.eye(2, 3, 1)
mnp.identity(2)
mnp.empty((2, 3)).shape
mnp.tri(3)
mnp.tri(3, 4, 1)
mnp.vander(f([1, 2, 3]))
mnp.vander(f([1, 2, 3]), 2, True)
mnp.meshgrid(X(2), X(3))
mnp.meshgrid(X(2), X(3), indexing='ij')
mnp.indices((2, 2))
mnp.mgrid[0:2, 0:2]
mnp.ogrid[0:2, 0:2]
mnp.ix_(i([0, 1]), i([2]))
mnp.diag_indices(2)
mnp.tril_indices(3)
mnp.triu_indices(3, 1)
mnp.tril_indices_from(X(2, 2))
mnp.concatenate([X(2, 3), X(2, 3)])
mnp.concatenate((X(2, 3), X(2, 3)), 1)
mnp.concatenate((X(2, 3), X(2, 3)), None)
mnp.stack([X(2), X(2)])
mnp.stack([X(2), X(2)], 1)
mnp.hstack([X(2), X(3)])
mnp.vstack([X(2), X(2)])
mnp.dstack([X(2), X(2)])
mnp.column_stack([X(2), X(2)])
mnp.split(X(4, 2), 2)
mnp.split(X(4, 2), [1, 3])
mnp.array_split(X(5), 2)
mnp.hsplit(X(2, 4), 2)
mnp.vsplit(X(4, 2), 2)
mnp.reshape(X(2, 3), (3, 2))
mnp.transpose(X(2, 3, 4), (2, 0, 1))
mnp.swapaxes(X(2, 3), 0, 1)
mnp.moveaxis(X(2, 3, 4), 0, -1)
mnp.rollaxis(X(2, 3, 4), 2)
mnp.roll(X(2, 3), 1)
mnp.roll(X(2, 3), 1, 1)
mnp.rot90(X(2, 3), 2)
mnp.tile(X(2, 3), 2)
mnp.tile(X(2, 3), (2, 1))
mnp.repeat(X(2, 3), 2)
mnp.repeat(X(2, 3), 2, 1)
mnp.expand_dims(X(2), 0)
mnp.broadcast_to(X(3), (2, 3))
mnp.broadcast_arrays(X(3), X(2, 1))
mnp.where(b([True, False]), f([1, 2]), f([3, 4]))
mnp.where(b([True, False]), 1, 0)
mnp.select([b([True, False]), b([False, True])], [f([1, 2]), f([3, 4])])
mnp.choose(i([0, 1]), [f([1, 2]), f([3, 4])])
mnp.take(X(2, 3), i([0, 4]))
mnp.take(X(2, 3), i([0, 2]), 1)
mnp.take_along_axis(X(2, 3), i([[0], [1]]), 1)
mnp.clip(X(2, 3), 0, 1)
mnp.clip(X(2, 3), None, 1)
mnp.digitize(f([0.5, 2.5]), [1, 2, 3])
mnp.searchsorted(f([1, 3, 5]), f([2, 3]))
mnp.searchsorted([1, 3, 5], 3, 'right')
mnp.bincount(i([1, 1, 3]))
mnp.bincount(i([1, 1, 3]), minlength=6)
mnp.histogram(f([1, 2, 1]), bins=2)
mnp.histogram(f([1, 2, 1]), bins=[0, 1, 2, 3])
mnp.histogram_bin_edges(f([1, 2, 1]), 2)
mnp.histogram2d(f([1, 2]), f([1, 2]), 2)
mnp.interp(f([1.5]), f([1, 2]), f([10, 20]))
mnp.polyval(f([1, 2]), f([3]))
mnp.polyadd(f([1, 2]), f([3]))
mnp.cross(f([1, 2, 3]), f([4, 5, 6]))
mnp.pad(X(2, 2), 1)
mnp.pad(X(2, 2), ((1, 0), (0, 1)), 'constant', constant_values=3)
mnp.pad(X(3), 1, 'reflect')
mnp.pad(X(3), 1, 'edge')
mnp.pad(X(3), 1, 'wrap')
mnp.unravel_index(i([4]), (2, 3))
mnp.ravel_multi_index(i([[1], [1]]), (2, 3))
mnp.apply_along_axis(lambda v: v.sum(), 0, X(2, 3))
mnp.piecewise(f([1, 2]), [f([1, 2]) > 1], [lambda v: v * 2])
mnp.multi_dot([X(2, 3), X(3, 2), X(2, 2)])
mnp.matrix_power(X(2, 2), 2)
mnp.promote_types(ms.int32, ms.float32)
mnp.promote_types(ms.float16, ms.int32)
mnp.result_type('i2', ms.float32)
mnp.result_type(1, 2.5)
mnp.average(X(2, 3), 0, f([1, 2]))
mnp.std(X(2, 3), ddof=1)
mnp.var(X(2, 3), 0, ddof=1)
mnp.trace(X(3, 3), 1)
mnp.diagonal(X(2, 3), 1)
mnp.tensordot(X(2, 3), X(3, 2), 1)
mnp.norm(X(2, 3), 1)
mnp.norm(X(2, 3), axis=0)
mnp.unique(i([3, 1, 3]), return_inverse=True)
mnp.sum(X(2, 3), initial=1)
mnp.max(X(2, 3), initial=5.0, where=b([True, False, True]))
mnp.sum(i([1, 2]), dtype=ms.float32)
mnp.array([1, 2])
mnp.array([1.5, 2], dtype=ms.float16)
mnp.array(5, ndmin=2)
mnp.asarray([[1, 2], [3, 4]])
mnp.asfarray([1, 2])
mnp.pi
mnp.e
mnp.inf
mnp.newaxis
mnp.float32
mnp.int_
mnp.add(1, 2)
mnp.add(1.5, 2)
mnp.multiply(X(2, 1), X(3))
mnp.sqrt(4)
mnp.power(i([2, 3]), 2)
mnp.power(i([2]), -1)
mnp.absolute([-1, 2])
mnp.flip(X(2, 3), 0)
mnp.insert
mnp.piecewise
mnp.lexsort
mnp.cumsum(i([1, 2]), dtype=ms.float32)
mnp.setdiff1d
mnp.intersect1d
mnp.blackman(4)
mnp.hamming(4)
mnp.hanning(4)
mnp.bartlett(4)
mnp.rand(2).shape
mnp.diff(f([1, 4, 9]), 2)
mnp.ediff1d(f([1, 4, 9]), to_begin=0)
mnp.trapz(f([1, 2, 3]), dx=2.0)
mnp.nanmean(f([[nan, 1], [2, 3]]), 0)
mnp.count_nonzero(i([[0, 1], [2, 0]]), 1)
mnp.squeeze(X(1, 3, 1), 0)
mnp.size(X(2, 3), 1)
mnp.shape(X(2, 3))
mnp.ndim(X(2, 3))
""")

CASES = [*cases(), *OTHER]
