"""Elements that an output does not depend on do not change it: elements of weight 0, elements that no index names, gradients of elements that were not
selected."""
import math

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri.ops import operations as P

INF, NAN = math.inf, math.nan


def dependence(fn, shape, places):
    """Returns for each input position whether it changes the output, [*output, *places]: measured with the finite function, one element changed at a time."""
    base = np.random.RandomState(0).uniform(0.5, 1, shape)
    at = fn(Tensor(base)).asnumpy()
    out = np.zeros(at.shape + (len(places),), bool)
    for k, place in enumerate(places):
        moved = base.copy()
        moved[place] += 1
        out[..., k] = fn(Tensor(moved)).asnumpy() != at
    return out


def corners(*indices):
    return Tensor(np.array(indices, np.float64))


IMAGE, LINE, VOLUME = (1, 1, 4, 4), (1, 1, 4), (1, 1, 3, 4, 2)
GRID = np.stack(np.meshgrid(np.linspace(-1.2, 1.2, 7), np.linspace(-1, 1, 5)), -1)[None]
RESAMPLED = {
    **{f"{mode} {size} {corner}": (lambda x, m=mode, s=size, c=corner: ops.interpolate(x, s, mode=m, align_corners=c), shape)
       for mode, shape, sizes in (("linear", LINE, (4, 7, 8, 2)), ("bilinear", IMAGE, ((4, 4), (8, 8), (7, 3))), ("bicubic", IMAGE, ((4, 4), (8, 8), (7, 3))),
                                  ("trilinear", VOLUME, ((3, 4, 2), (5, 7, 3))))
       for size in sizes for corner in (False, True)},
    **{f"area {size}": (lambda x, s=size: ops.interpolate(x, s, mode="area"), IMAGE) for size in ((4, 4), (2, 3), (6, 5))},
    "scale 2": (lambda x: ops.interpolate(x, scale_factor=2.0, mode="bilinear"), IMAGE),
    "ResizeBilinear": (lambda x: P.ResizeBilinear((7, 4))(x), IMAGE),
    "ResizeBilinear aligned": (lambda x: P.ResizeBilinear((7, 7), True)(x), IMAGE),
    "nn.ResizeBilinear": (lambda x: nn.ResizeBilinear()(x, (8, 8)), IMAGE),
    "nn.Upsample": (lambda x: nn.Upsample(size=(7, 7), mode="bilinear", align_corners=True)(x), IMAGE),
    **{f"grid_sample {mode} {pad} {corner}": (lambda x, m=mode, p=pad, c=corner: ops.grid_sample(x, Tensor(GRID), m, p, c), IMAGE)
       for mode in ("bilinear", "nearest") for pad in ("zeros", "border", "reflection") for corner in (False, True)},
    "crop_and_resize": (lambda x: ops.crop_and_resize(x.transpose(0, 2, 3, 1), corners([0, 0, 1, 1], [0.2, 0.1, 1.3, 0.9]), Tensor([0, 0], ms.int32), (7, 3)), IMAGE),
    "roi_align": (lambda x: ops.operations.ROIAlign(2, 2, 1.0)(x.astype(ms.float32), Tensor([[0, 0.0, 0, 3, 3], [0, 2.0, 1, 9, 3]])), IMAGE),
    "avg_pool2d": (lambda x: ops.avg_pool2d(x, 3, 2, 1), IMAGE), "avg_pool divisor": (lambda x: ops.avg_pool2d(x, 2, 2, 1, divisor_override=3), IMAGE),
    "adaptive_avg_pool2d": (lambda x: ops.adaptive_avg_pool2d(x, (3, 2)), IMAGE), "avg_pool3d": (lambda x: ops.avg_pool3d(x, 2, 1), VOLUME),
    **{f"pad {mode}": (lambda x, m=mode: ops.pad(x, (1, 2), mode=m), LINE) for mode in ("constant", "reflect", "replicate", "circular")},
    "one_hot product": (lambda x: ops.gather_elements(x, 2, Tensor([[[3, 0]]])), LINE),
    "unfold": (lambda x: ops.unfold(x, 2), IMAGE), "masked_fill": (lambda x: ops.masked_fill(x, Tensor([True, False, True, False]), 1.0), LINE),
    "prelu": (lambda x: ops.prelu(x, Tensor([0.25], x.dtype)), LINE), "amax": (lambda x: ops.cummax(x, 2)[0], LINE),
}


@pytest.mark.parametrize("bad", [NAN, INF])
@pytest.mark.parametrize("name", RESAMPLED)
def test_a_bad_pixel_stays_where_it_has_weight(name, bad):
    fn, shape = RESAMPLED[name]
    places = list(np.ndindex(shape))
    touched = dependence(fn, shape, places)
    plain = np.random.RandomState(0).uniform(0.5, 1, shape)
    wanted = fn(Tensor(plain)).asnumpy()
    for k, place in enumerate(places):
        x = plain.copy()
        x[place] = bad
        if name in ("prelu", "amax"):  # whether an element matters depends on its value
            break
        got = fn(Tensor(x)).asnumpy()
        np.testing.assert_array_equal(got[~touched[..., k]], wanted[~touched[..., k]], err_msg=f"element {place}")
        assert not np.isfinite(got[touched[..., k]]).any()


@pytest.mark.parametrize("name", RESAMPLED)
def test_a_bad_gradient_reaches_what_the_output_depends_on(name, mode):
    fn, shape = RESAMPLED[name]
    places = list(np.ndindex(shape))
    touched = dependence(fn, shape, places)
    x = Tensor(np.random.RandomState(0).uniform(0.5, 1, shape))
    back = ops.GradOperation(sens_param=True)(fn)
    for at in list(np.ndindex(touched.shape[:-1]))[::5]:
        dy = np.zeros(touched.shape[:-1], fn(x).asnumpy().dtype)
        dy[at] = NAN
        got = back(x, Tensor(dy)).asnumpy()
        np.testing.assert_array_equal(np.isnan(got).reshape(-1), touched[at], err_msg=f"output {at}")


@pytest.mark.parametrize("name", [n for n in RESAMPLED if n.endswith(("(4, 4) False", "(4, 4) True", "area (4, 4)", "linear 4 False", "linear 4 True"))])
def test_equal_sizes_are_copies(name):
    fn, shape = RESAMPLED[name]
    for kind in (np.float16, np.float32, np.float64):
        x = np.random.RandomState(1).standard_normal(shape).astype(kind)
        x.reshape(-1)[3] = NAN
        given = Tensor(x)
        y = fn(given)
        np.testing.assert_array_equal(y.asnumpy(), x)
        y[0] = 9.0
        np.testing.assert_array_equal(given.asnumpy(), x)


# --- scatter and segments ---------------------------------------------------------------------------------------------------------------

ENDS = {np.float16: (-INF, INF, NAN, 65504), np.float32: (-INF, INF, NAN, 3.4028234663852886e38), np.float64: (-INF, INF, NAN, 1e308),
        np.int32: (-2 ** 31, 2 ** 31 - 1, 0, 7), np.int64: (-2 ** 63, 2 ** 63 - 1, 2 ** 53 + 1, -2 ** 53 - 1)}


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("how", ["update", "add", "sub", "mul", "div", "max", "min"])
def test_scatter_leaves_what_no_index_names(how, kind):
    ends = np.array(ENDS[kind], kind)
    x, u, i = np.append(ends, np.array([1], kind)), Tensor(np.array([2], kind)), Tensor([[4]], ms.int32)
    out = getattr(ops, f"tensor_scatter_{how}")(Tensor(x), i, u).asnumpy()
    np.testing.assert_array_equal(out[:4], ends)
    assert out.dtype == kind and out[4] == {"update": 2, "add": 3, "sub": -1, "mul": 2, "div": 0.5 if kind().dtype.kind == "f" else 0, "max": 2, "min": 1}[how]
    w = ms.Parameter(Tensor(x), name="w")
    getattr(ops, f"scatter_{how}")(w, Tensor([4], ms.int32), u)
    np.testing.assert_array_equal(w.asnumpy()[:4], ends)
    if kind().dtype.kind == "f":
        g = ms.grad(lambda v: getattr(ops, f"tensor_scatter_{how}")(v, i, u)[:4].sum())(Tensor(x))
        np.testing.assert_array_equal(g.asnumpy(), [1, 1, 1, 1, 0])


@pytest.mark.parametrize("kind", ENDS)
def test_named_elements_meet_the_ends_of_the_type(kind):
    low, high = ENDS[kind][:2]
    x, i = Tensor(np.array([low, high], kind)), Tensor([[0], [1]], ms.int32)
    np.testing.assert_array_equal(ops.tensor_scatter_max(x, i, Tensor(np.array([low, 3], kind))).asnumpy(), np.array([low, high], kind))
    np.testing.assert_array_equal(ops.tensor_scatter_min(x, i, Tensor(np.array([3, high], kind))).asnumpy(), np.array([low, high], kind))


def test_quotients_of_integers_are_exact():
    i = Tensor([[0], [1], [2]], ms.int32)
    out = ops.tensor_scatter_div(Tensor([-7, 7, 2 ** 62 + 3], ms.int64), i, Tensor([2, -2, 1], ms.int64))
    np.testing.assert_array_equal(out.asnumpy(), [-3, -3, 2 ** 62 + 3])  # towards 0, as in MindSpore


@pytest.mark.parametrize("kind", ENDS)
def test_segments(kind):
    info = np.finfo(kind) if kind().dtype.kind == "f" else np.iinfo(kind)
    low, high = ENDS[kind][:2]
    x, ids = Tensor(np.array([low, high, 3, 5], kind)), Tensor([0, 1, 3, 3], ms.int32)
    np.testing.assert_array_equal(ops.unsorted_segment_max(x, ids, 4).asnumpy(), np.array([low, high, info.min, 5], kind))
    np.testing.assert_array_equal(ops.unsorted_segment_min(x, ids, 4).asnumpy(), np.array([low, high, info.max, 3], kind))
    np.testing.assert_array_equal(ops.unsorted_segment_prod(x, ids, 4).asnumpy(), np.array([low, high, 1, 15], kind))


# --- gradients that are not selected ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fn", [lambda x: ops.amax(x, 1), lambda x: ops.amin(x, 1), lambda x: ops.norm(x, INF, 1), lambda x: ops.max(x, 1)[0]])
def test_the_extremum_alone_has_its_gradient(fn):
    x = Tensor([[1.0, 2.0, 3.0], [6.0, 5.0, 4.0]])
    g = ops.GradOperation(sens_param=True)(fn)(x, Tensor([NAN, INF])).asnumpy()
    assert (g == 0).sum() == 4 and not np.isfinite(g).all()


def test_the_larger_one_alone_has_its_gradient():
    x, y, dy = Tensor([1.0, 2.0, 3.0]), Tensor([2.0, 2.0, 2.0]), Tensor([NAN, NAN, NAN])
    of_x, of_y = ops.GradOperation(get_all=True, sens_param=True)(ops.maximum)(x, y, dy)
    np.testing.assert_array_equal(of_x.asnumpy(), [0, NAN, NAN])
    np.testing.assert_array_equal(of_y.asnumpy(), [NAN, NAN, 0])
    of_x, of_y = ops.GradOperation(get_all=True, sens_param=True)(ops.minimum)(x, y, dy)
    np.testing.assert_array_equal(of_x.asnumpy(), [NAN, NAN, 0])
    np.testing.assert_array_equal(of_y.asnumpy(), [0, NAN, NAN])


def test_an_infinite_input_has_no_part_in_the_slope_of_prelu():
    g = ms.grad(ops.prelu, (0, 1))(Tensor([[INF, -2.0]]), Tensor([0.25]))
    np.testing.assert_array_equal(g[0].asnumpy(), [[1, 0.25]])
    np.testing.assert_array_equal(g[1].asnumpy(), [-2])
    net = nn.PReLU()
    np.testing.assert_array_equal(ms.grad(net, None, net.trainable_params())(Tensor([[INF, -2.0]]))[0].asnumpy(), [-2])
