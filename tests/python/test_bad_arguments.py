"""Wrong arguments raise an error that names them immediately: sizes (before lists of that size are built), ranks, counts, values out of range."""
import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds
import sindri.numpy as mnp
from sindri import Tensor, nn, ops
from sindri.dataset import text, transforms, vision
from sindri.ops import operations as P
from sindri.ops.function import other_func

HUGE = 2 ** 40  # a list with this many parts fills any memory


def zeros(*shape):
    return Tensor(np.zeros(shape, np.float32))


IMAGE = zeros(1, 2, 6, 7)
PIXELS = np.zeros((5, 5, 3), np.uint8)


class Long:
    """A source of 2^62 rows."""

    def __len__(self):
        return 2 ** 62

    def __getitem__(self, index):
        return (np.float32(index % 7),)


SIZES = {
    "tensor_split": (lambda: ops.tensor_split(zeros(2, 3), HUGE), "parts of a tensor .* ops.tensor_split"),
    "Tensor.tensor_split": (lambda: zeros(2, 3).tensor_split(HUGE), "parts of a tensor"),
    "vsplit": (lambda: ops.vsplit(zeros(2, 3), HUGE), "parts of a tensor"),
    "array_split": (lambda: mnp.array_split(zeros(2, 3), HUGE), "parts of a tensor"),
    "split": (lambda: ops.split(zeros(0, 3), output_num=HUGE), "parts of a tensor .* ops.split"),
    "split by size": (lambda: ops.split(ops.broadcast_to(zeros(1, 0), (HUGE, 0)), 1), "parts of a tensor .* ops.split"),
    "unbind": (lambda: ops.unbind(ops.broadcast_to(zeros(1, 0), (HUGE, 0))), "parts of a tensor .* ops.unstack"),
    "adaptive_max_pool2d": (lambda: ops.adaptive_max_pool2d(IMAGE, (HUGE, 2)), "output_size: .* ops.adaptive_max_pool2d"),
    "adaptive_max_pool2d, parts": (lambda: ops.adaptive_max_pool2d(IMAGE, (2 ** 24, 2)), "parts of a tensor .* ops.adaptive_max_pool2d"),
    "adaptive_max_pool1d": (lambda: ops.adaptive_max_pool1d(zeros(1, 2, 6), HUGE), "output_size"),
    "adaptive_avg_pool2d": (lambda: ops.adaptive_avg_pool2d(IMAGE, (HUGE, 3)), "output_size"),
    "adaptive_avg_pool1d": (lambda: ops.adaptive_avg_pool1d(zeros(1, 2, 6), HUGE), "output_size"),
    "nn.AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((HUGE, 3)), "output_size .* AdaptiveAvgPool2d"),
    "nn.AdaptiveAvgPool1d": (lambda: nn.AdaptiveAvgPool1d(HUGE), "output_size .* AdaptiveAvgPool1d"),
    "interpolate, area": (lambda: ops.interpolate(IMAGE, (HUGE, 3), mode="area"), "sizes .* ops.interpolate"),
    "interpolate, nearest": (lambda: ops.interpolate(IMAGE, (HUGE, 3)), "sizes .* ops.interpolate"),
    "unfold, kernel": (lambda: ops.unfold(zeros(2, 0, 6, 7), 2 ** 20, padding=2 ** 20), "parts of a tensor .* ops.unfold"),
    "unfold, stride": (lambda: ops.unfold(zeros(2, 0, 6, 7), 2 ** 31, stride=-2 ** 63), "stride .* at least 1 .* ops.unfold"),
    "make_range": (lambda: other_func.make_range(HUGE), "more than 16777216 numbers .* ops.make_range"),
    "tuple_to_array": (lambda: other_func.tuple_to_array(range(HUGE)), "more than 16777216 numbers .* ops.tuple_to_array"),
    "vander": (lambda: mnp.vander(Tensor([1., 2.]), 2 ** 31 - 1), "N: .* numpy.vander"),
    "cosine_decay_lr": (lambda: nn.cosine_decay_lr(0.01, 0.1, HUGE, 2, 3), "total_step"),
    "warmup_lr": (lambda: nn.warmup_lr(0.1, HUGE, 2, 3), "total_step"),
    "piecewise_constant_lr": (lambda: nn.piecewise_constant_lr([HUGE], [0.1]), "milestone"),
    "RandomSampler": (lambda: ds.RandomSampler(True, HUGE), "num_samples .* RandomSampler"),
    "GeneratorDataset, iterated": (lambda: next(iter(ds.GeneratorDataset(Long(), ["a"], shuffle=True))), "4611686018427387904 rows"),
    "GeneratorDataset, counted": (lambda: ds.GeneratorDataset(Long(), ["a"]).get_dataset_size(), "4611686018427387904 rows"),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_checked_before_they_are_allocated(name):
    call, message = SIZES[name]
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_that_are_meant_are_taken():
    assert len(ops.tensor_split(zeros(2), 1000)) == 1000
    assert len(ops.unbind(zeros(70000))) == 70000
    assert ops.adaptive_max_pool2d(IMAGE, (9, None)).shape == (1, 2, 9, 7)
    assert mnp.vander(Tensor([1., 2.]), 0).shape == (2, 0)
    assert next(iter(ds.GeneratorDataset(Long(), ["a"], shuffle=False)))[0].shape == ()
    drawn = ds.GeneratorDataset(Long(), ["a"], sampler=ds.RandomSampler(True, 3))
    assert drawn.get_dataset_size() == 3 and len(list(drawn)) == 3


WRONG = {
    "channel_shuffle": (lambda: ops.channel_shuffle(IMAGE, 0), ValueError, "groups: .* ops.channel_shuffle"),
    "pixel_shuffle": (lambda: ops.pixel_shuffle(IMAGE, 0), ValueError, "upscale_factor: .* ops.pixel_shuffle"),
    "pixel_unshuffle, 0": (lambda: ops.pixel_unshuffle(IMAGE, 0), ValueError, "downscale_factor: .* ops.pixel_unshuffle"),
    "pixel_unshuffle, 1.5": (lambda: ops.pixel_unshuffle(zeros(7, 3, 6, 0), 1.5), TypeError, "downscale_factor: expected an int"),
    "space_to_depth": (lambda: ops.space_to_depth(zeros(1, 4, 5, 5), 2.5), TypeError, "block_size: .* ops.SpaceToDepth"),
    "triplet_margin_loss": (lambda: ops.triplet_margin_loss(zeros(2, 3), zeros(2, 3), zeros(2, 3), p=0), ValueError, "p: .* ops.triplet_margin_loss"),
    "cdist": (lambda: ops.cdist(zeros(2, 2), zeros(2, 2), -1.), ValueError, "p: .* ops.cdist"),
    "clip_by_norm": (lambda: ops.clip_by_norm([zeros(2)], 1.0, 0), ValueError, "norm_type: .* ops.clip_by_norm"),
    "reduced_shape": (lambda: other_func.reduced_shape((), 1), ValueError, "axis: .* ops.reduced_shape"),
    "vmap, no slices": (lambda: ms.vmap(lambda x: x)(zeros(0, 3)), ValueError, "no slices .* ops.vmap"),
    "vmap, no dimensions": (lambda: ms.vmap(lambda x: x)(Tensor(1.)), ValueError, "without dimensions .* ops.vmap"),
    "median": (lambda: ops.median(zeros(0)), ValueError, "no elements .* ops.median"),
    "max_pool2d": (lambda: ops.max_pool2d(IMAGE, 3, 2 ** 64, 1, 1, True), ValueError, "stride .* ops.max_pool2d"),
    "avg_pool2d": (lambda: ops.avg_pool2d(IMAGE, 3, 2 ** 64), ValueError, "stride .* ops.avg_pool2d"),
    "segment_max": (lambda: ops.unsorted_segment_max(zeros(2), (2 ** 70, 1), 2), ValueError, "int64.* ops.unsorted_segment_max"),
    "round, 400": (lambda: ops.round(zeros(3), decimals=400), ValueError, "decimals: .* ops.round"),
    "round, 2^31": (lambda: zeros(3).round(decimals=2 ** 31 - 1), ValueError, "decimals: .* ops.round"),
    "round, 1.5": (lambda: ops.round(zeros(3), decimals=1.5), TypeError, "decimals: .* ops.round"),
    "SSIM": (lambda: nn.SSIM(max_val=1e308), ValueError, "SSIM: .* max_val"),
    "PSNR": (lambda: nn.PSNR(max_val=1e308), ValueError, "max_val .* PSNR"),
    "exponential_decay_lr": (lambda: nn.exponential_decay_lr(0.1, 1e308, 200, 1, 1), ValueError, "exponential_decay_lr: .* larger than a float"),
    "tuple_setitem, tensor": (lambda: other_func.tuple_setitem(zeros(3, 0), -2 ** 31, 1), TypeError, "expected a tuple"),
    "tuple_setitem, index": (lambda: other_func.tuple_setitem((1, 2), 2, 1), IndexError, "index: .* ops.tuple_setitem"),
    "one_hot, on_value": (lambda: ops.one_hot(Tensor([0]), 2, Tensor([[1.], [2.]]), Tensor(0.)), ValueError, "on_value: expected a scalar"),
    "one_hot, off_value": (lambda: ops.one_hot(Tensor([0]), 2, Tensor(1.), zeros(2)), ValueError, "off_value: expected a scalar"),
    "JitConfig": (lambda: ms.JitConfig(jit_level="O9"), ValueError, "'O9' .* 'O0', 'O1', 'O2', 'O3'"),
    "JitConfig, int": (lambda: ms.JitConfig(jit_level=1), TypeError, "jit_level must be a str"),
    "amp_level": (lambda: ms.amp.auto_mixed_precision(nn.ReLU(), 2), TypeError, "amp_level must be str, got 2"),
    "amp_level of a Model": (lambda: ms.Model(nn.ReLU(), amp_level=2), TypeError, "amp_level must be str, got 2"),
    "boost": (lambda: ms.amp.build_train_network(nn.ReLU(), nn.ReLU(), boost=3), TypeError, "boost must be AutoBoost or None, got 3"),
    "save_checkpoint": (lambda: ms.save_checkpoint([{"name": "a\ud800", "data": zeros(1)}], "x.ckpt"), ValueError, "cannot be written as UTF-8"),
    "Vocab.from_file": (lambda: text.Vocab.from_file(2 ** 20), TypeError, "file_path .* Vocab.from_file"),
    "set_num_parallel_workers": (lambda: ds.config.set_num_parallel_workers(10 ** 6), ValueError, "1 to 1024, .* config.set_num_parallel_workers"),
    "num_parallel_workers": (lambda: ds.NumpySlicesDataset([1], num_parallel_workers=10 ** 6), ValueError, "1 to 1024, .* NumpySlicesDataset"),
    "Slice": (lambda: transforms.Slice(2 ** 64)(np.zeros(3)), ValueError, "out of range .* Slice"),
    "Fill": (lambda: transforms.Fill(2 ** 64)(np.zeros(3, np.int32)), ValueError, "does not fit int32 . Fill"),
    "PadEnd": (lambda: transforms.PadEnd([5], 2 ** 64)(np.zeros(3, np.int32)), ValueError, "does not fit int32 . PadEnd"),
    "RandomResizedCrop, empty": (lambda: vision.RandomResizedCrop(3)(np.zeros((0, 0), np.int8)), ValueError, "RandomResizedCrop"),
    "RandomResizedCrop, scale": (lambda: vision.RandomResizedCrop(3, (0.1, 1e308)), ValueError, "scale .* RandomResizedCrop"),
    "RandomErasing": (lambda: vision.RandomErasing(0.5, (0.1, 1e308)), ValueError, "scale .* RandomErasing"),
    "RandomRotation": (lambda: vision.RandomRotation(float("inf")), ValueError, "degrees .* RandomRotation"),
    "RandomRotation, pair": (lambda: vision.RandomRotation((0, float("inf"))), ValueError, "degrees .* RandomRotation"),
    "Rotate": (lambda: vision.Rotate(float("nan")), ValueError, "degrees .* Rotate"),
    "CutOut, scalar": (lambda: vision.CutOut(2)(np.uint8(3)), ValueError, "shape .. . CutOut"),
    "CutOut, empty": (lambda: vision.CutOut(2)(np.zeros((0, 3, 3), np.uint8)), ValueError, "CutOut"),
    "diag": (lambda: mnp.diag(zeros(2, 2, 2)), ValueError, "numpy.diag"),
    "vander": (lambda: mnp.vander(zeros(2, 2)), ValueError, "numpy.vander"),
    "ix_": (lambda: mnp.ix_(zeros(2, 2)), ValueError, "numpy.ix_"),
    "tril_indices_from": (lambda: mnp.tril_indices_from(zeros(2, 2, 2)), ValueError, "numpy.tril_indices_from"),
    "triu_indices_from": (lambda: mnp.triu_indices_from(zeros(2)), ValueError, "numpy.triu_indices_from"),
    "searchsorted": (lambda: mnp.searchsorted(zeros(2, 2), zeros(2)), ValueError, "numpy.searchsorted"),
    "diff": (lambda: mnp.diff(zeros(3), n=-1), ValueError, "numpy.diff"),
    "diff, scalar": (lambda: mnp.diff(Tensor(1.)), ValueError, "numpy.diff"),
    "select": (lambda: mnp.select([zeros(3)], [zeros(3), zeros(3)]), ValueError, "1 conditions and 2 choices"),
    "expand_dims": (lambda: mnp.expand_dims(zeros(3), (0, 0)), ValueError, "numpy.expand_dims"),
    "unravel_index": (lambda: mnp.unravel_index(-1, (-2, 3)), ValueError, "numpy.unravel_index"),
    "broadcast_to": (lambda: mnp.broadcast_to(zeros(1), (0, -1)), ValueError, "numpy.broadcast_to"),
    "split": (lambda: mnp.split(zeros(4), 0), ValueError, "numpy.split"),
    "outer": (lambda: ops.outer(zeros(2), zeros(3, 2)), ValueError, "vec2: expected a vector, got .3, 2. . ops.outer"),
    "ger": (lambda: ops.ger(zeros(2, 3), zeros(3)), ValueError, "expected 1 dimensions, got .2, 3. .* ops.ger"),
    "ger, scalar": (lambda: ops.ger(Tensor(1.), zeros(2)), ValueError, "ops.ger"),
    "Ger, number": (lambda: P.Ger()(zeros(2), 2), TypeError, "expected two tensors, got 2 .* ops.ger"),
    "bmm, matrix": (lambda: ops.bmm(zeros(2, 2, 3), zeros(3, 2)), ValueError, "equally many matrices.* ops.bmm .* ops.matmul"),
    "bmm, batches": (lambda: ops.bmm(zeros(1, 2, 3), zeros(4, 3, 2)), ValueError, "equally many matrices"),
    "dot": (lambda: ops.dot(Tensor(2.), Tensor(3.)), ValueError, "at least one dimension .* ops.dot"),
    "vecdot": (lambda: ops.vecdot(Tensor(2.), Tensor(3.)), ValueError, "at least one dimension .* ops.vecdot"),
    "index_select": (lambda: ops.index_select(zeros(2, 3), 0, Tensor([[0]])), ValueError, "index: expected a vector, got .1, 1. .* ops.gather"),
    "roll, no dims": (lambda: ops.roll(zeros(2, 3), (1, 2)), ValueError, "differ in length .* ops.roll"),
    "roll, one dim": (lambda: ops.roll(zeros(2, 3), (1, 2), (0,)), ValueError, "differ in length"),
    "rot90, int": (lambda: ops.rot90(zeros(2, 3), 0, -1), TypeError, "dims: expected two dimensions, got -1 .* ops.rot90"),
    "rot90, same": (lambda: ops.rot90(zeros(2, 3), 2, (0, -2)), ValueError, "dims: both are dimension 0"),
    "rot90, beyond": (lambda: ops.rot90(zeros(2, 3), 0, (0, 5)), ValueError, "axis: .* ops.rot90"),
    "flip": (lambda: ops.flip(zeros(2, 3), (0, -2)), ValueError, "twice . ops.flip"),
    "fill": (lambda: ops.fill(ms.float32, (2,), zeros(2)), ValueError, "expected one element, got a tensor of .2,. . ops.fill"),
    "full": (lambda: ops.full((2,), zeros(2)), ValueError, "expected one element"),
    "masked_fill": (lambda: ops.masked_fill(Tensor([1, 2]), Tensor([True, False]), 1.5), TypeError, "1.5 is not a whole number.* ops.masked_fill"),
    "kthvalue, 0": (lambda: ops.kthvalue(zeros(5), 0, keepdim=True), ValueError, "k: expected a value in .1, 5., got 0 . ops.kthvalue"),
    "kthvalue, -1": (lambda: ops.kthvalue(zeros(5), -1), ValueError, "k: .* got -1"),
    "kthvalue, 6": (lambda: ops.kthvalue(zeros(5), 6, keepdim=True), ValueError, "k: .* got 6"),
    "assign": (lambda: ops.assign(ms.Parameter(zeros(2)), zeros(1)), ValueError, "a value of .1,. is not of the Parameter's shape .2,. . ops.assign"),
    "assign, scalar": (lambda: ops.assign(ms.Parameter(zeros(2)), Tensor(3.)), ValueError, "ops.assign"),
    "clip_by_global_norm": (lambda: ops.clip_by_global_norm([zeros(2)], 1.0, True), TypeError, "use_norm: .* got True"),
    "Bernoulli": (lambda: P.Bernoulli()(zeros(2)), TypeError, "'p'"),
    "positive": (lambda: mnp.positive(Tensor([True])), TypeError, "bool has no sign . numpy.positive"),
    "rint": (lambda: mnp.rint(Tensor([True])), TypeError, "round"),
    "smooth_l1_loss": (lambda: ops.smooth_l1_loss(zeros(2, 3), zeros(3)), ValueError, r"one shape, got f32\[2, 3\] and f32\[3\] . ops.smooth_l1_loss"),
    "soft_margin_loss": (lambda: ops.soft_margin_loss(zeros(2, 3), zeros(3)), ValueError, "one shape.* ops.soft_margin_loss"),
    "kl_div": (lambda: ops.kl_div(zeros(2, 3), zeros(3)), ValueError, "one shape.* ops.kl_div"),
    "kl_div, number": (lambda: ops.kl_div(zeros(2), 2), TypeError, "labels must be a Tensor, got 2 of type int . ops.kl_div"),
    "KLDivLoss": (lambda: nn.KLDivLoss()(zeros(2, 3), zeros(3)), ValueError, "KLDivLoss: expected one shape, got f32.2, 3. and f32.3."),
    "binary_cross_entropy": (lambda: ops.binary_cross_entropy(zeros(2, 3), zeros(3)), ValueError, "one shape.* ops.binary_cross_entropy"),
    "with_logits": (lambda: ops.binary_cross_entropy_with_logits(zeros(2, 3), zeros(3)), ValueError, "one shape"),
    "SigmoidCrossEntropyWithLogits": (lambda: P.SigmoidCrossEntropyWithLogits()(zeros(2, 3), zeros(3)), ValueError, "one shape"),
    "triplet_margin_loss, ranks": (lambda: ops.triplet_margin_loss(zeros(0, 2, 3), zeros(2, 3), zeros(2, 3)), ValueError, "the same number of dimensions"),
    "add_, shape": (lambda: zeros(2).add_(zeros(1, 2)), ValueError, "the result has shape .1, 2., the tensor .2,. . Tensor.add_ . use add"),
    "add_, type": (lambda: Tensor([5, 7]).add_(1.5), TypeError, "the result is of Float32, the tensor of Int64 . Tensor.add_ . cast"),
    "div_": (lambda: Tensor([5, 7]).div_(2), TypeError, "Tensor.div_"),
    "var, dim": (lambda: zeros(2, 3).var(dim=1), TypeError, "correction is missing .* Tensor.var . give correction=0"),
    "var, keepdim": (lambda: zeros(2, 3).var(1, keepdim=True), TypeError, "correction is missing"),
    "norm": (lambda: ops.norm(zeros(2, 3, 2), 1), ValueError, "ord 1 without dim needs a vector or a matrix, got .2, 3, 2. . ops.norm . give dim"),
    "Top5CategoricalAccuracy": (lambda: nn.Top5CategoricalAccuracy().update(zeros(2, 4), Tensor([0, 1])), ValueError, "k is 5, the predictions f32.2, 4. have 4 classes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_name_the_argument(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("bad", [1.5, -0.25, float("inf")])
def test_binary_cross_entropy_asks_for_probabilities(mode, bad):
    """In both modes, with and without the gradient: without a preceding sigmoid the logarithm would be NaN."""
    loss, x, y = nn.BCELoss(), Tensor([[0.5, bad]], ms.float32), Tensor([[1.0, 0.0]], ms.float32)
    for call in (lambda: loss(x, y), lambda: ms.value_and_grad(loss)(x, y), lambda: ops.binary_cross_entropy(x, y)):
        with pytest.raises(ValueError, match=r"expected probabilities in \[0, 1\], got .* apply a sigmoid first"):
            call()
    assert np.isnan(loss(Tensor([[0.5, float("nan")]], ms.float32), y).asnumpy())  # so that a step with an overflow can be skipped
    np.testing.assert_allclose(ms.grad(loss)(Tensor([[0.5, 0.0]], ms.float32), y).asnumpy(), [[-1, 0.5]])


def test_what_lies_at_the_edge_is_taken():
    assert nn.Top5CategoricalAccuracy()(zeros(2, 5), Tensor([4, 0])) == 1
    assert ops.kthvalue(Tensor([3., 1., 2.]), 3)[0] == 3
    assert mnp.outer(zeros(2, 3), zeros(3, 2)).shape == (6, 6) and mnp.dot(Tensor(2.), 3) == 6
    assert mnp.full((2, 2), Tensor([1., 2.])).asnumpy().tolist() == [[1, 2], [1, 2]]
    assert mnp.roll(Tensor(np.arange(6).reshape(2, 3)), 1, (0, 1)).asnumpy().tolist() == np.roll(np.arange(6).reshape(2, 3), 1, (0, 1)).tolist()
    assert ops.assign(ms.Parameter(zeros(2)), 3).asnumpy().tolist() == [3, 3]
    assert ops.masked_fill(Tensor([1, 2]), Tensor([True, False]), 5.0).asnumpy().tolist() == [5, 2]
    assert mnp.rint(Tensor([1, 2], ms.int32)).dtype is ms.float32
    assert Tensor([1., 3.]).var(dim=0, correction=1, keepdim=True).asnumpy().tolist() == [2] and Tensor([1., 3.]).var(0) == 1
    x = Tensor([5, 7])
    assert x.add_(Tensor([1, 2])) is x and x.remainder_(4).asnumpy().tolist() == [2, 1]
    assert ops.norm(zeros(2, 3, 2)) == 0 and ops.norm(zeros(2, 3), 1) == 0 and ops.norm(zeros(2, 3, 2), 1, 0).shape == (3, 2)
    assert ops.one_hot(Tensor([0]), 2, Tensor([3.]), Tensor(0.)).asnumpy().tolist() == [[3, 0]]
    assert mnp.tri(2, k=2 ** 64).asnumpy().tolist() == [[1, 1], [1, 1]]
    assert [len(i) for i in mnp.triu_indices(2, -2 ** 64)] == [4, 4]
    assert mnp.diff(zeros(3), n=HUGE).shape == (0,)
    assert ops.cdist(Tensor([[1., 2.]]), Tensor([[1., 3.], [2., 1.]]), 0.0).asnumpy().tolist() == [[1, 2]]
    assert other_func.make_range(5, 0, -2) == (5, 3, 1)
    assert vision.Equalize()(np.zeros((0, 5, 3), np.uint8)).shape == (0, 5, 3)
    assert vision.RandomRotation((-720, 720))(PIXELS).shape == PIXELS.shape
    assert ms.JitConfig(jit_level="O0").jit_config_dict["jit_level"] == "O0"
    assert ds.NumpySlicesDataset([1, 2], num_parallel_workers=1024).get_dataset_size() == 2


def test_names_of_any_length_are_shown_in_short():
    name = "/tmp/" + "a" * 900_000
    for call in (lambda: ms.load_checkpoint(name), lambda: ms.load_checkpoint(name + ".ckpt"), lambda: ds.MnistDataset(name).get_dataset_size(),
                 lambda: ms.save_checkpoint(nn.Dense(2, 2), name + ".ckpt")):
        with pytest.raises(Exception, match="aaa") as error:
            call()
        assert 200 < len(str(error.value)) < 2000
