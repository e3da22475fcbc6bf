"""mindspore.mint's functions compared with PyTorch's values and gradients (expectations/mint.json), eagerly and in graph mode, in float64 and float32."""
import json
import os

import numpy as np
import pytest

import mint_cases
import sindri as ms
from sindri import Tensor, mint
from sindri.mint.nn import functional as F

with open(os.path.join(os.path.dirname(__file__), "expectations", "mint.json"), encoding="utf-8") as f:
    STORED = json.load(f)["cases"]
CASES = {case[0]: case for case in mint_cases.FUNCTIONS}
LAYERS = {case[0]: case for case in mint_cases.LAYERS}
MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])


def test_every_case_is_recorded():
    assert len(CASES) == len(mint_cases.FUNCTIONS) and len(LAYERS) == len(mint_cases.LAYERS)
    assert set(STORED) == set(CASES) | {"nn." + name for name in LAYERS}


def test_every_layer_has_a_case():
    covered = {source[len("nn."):].split("(")[0] for _, source, _, _ in mint_cases.LAYERS}
    assert {name for name in mint.nn.layer.__all__} <= covered | {"MaxUnpool2d"}  # takes two inputs: test_max_unpool2d


def compiled(source, names):
    """Returns the call as a function of its inputs."""
    space = {"F": F, "m": mint, "nn": mint.nn}
    exec(f"def call({', '.join(names)}):\n    return {source}", space)
    return space["call"]


@MODES
@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name, mode):
    case, want = CASES[name], STORED[name]
    call = compiled(case[1], list(case[2]))
    ms.set_context(mode=mode)
    for dtype, tolerance in ((np.float64, 1e-8), (np.float32, 2e-5)):
        given = {k: v.astype(dtype) if v.dtype == np.float64 else v for k, v in mint_cases.inputs_of(case).items()}
        tensors = [Tensor(v) for v in given.values()]
        run = ms.jit(call) if mode == ms.GRAPH_MODE else call
        out = run(*tensors)
        assert list(out.shape) == want["shape"]
        floating = any(v.dtype == np.float64 for v in mint_cases.inputs_of(case).values()) and "places" not in name
        assert out.dtype == (Tensor(np.zeros(1, dtype)).dtype if floating else ms.int64)
        np.testing.assert_allclose(out.asnumpy().reshape(-1), want["value"], rtol=tolerance, atol=tolerance)
        if "gradients" in want:
            places = tuple(i for i, k in enumerate(given) if k in want["gradients"])
            weights = Tensor(mint_cases.weights_of(out.shape).astype(dtype))
            loss = lambda *inputs: (call(*inputs) * weights).sum()  # noqa: E731
            got = ms.grad(ms.jit(loss) if mode == ms.GRAPH_MODE else loss, places)(*tensors)
            for place, g in zip(places, got if len(places) > 1 else (got,)):
                expected = np.reshape(want["gradients"][list(given)[place]], given[list(given)[place]].shape)
                np.testing.assert_allclose(g.asnumpy(), expected, rtol=10 * tolerance, atol=10 * tolerance, err_msg=f"gradient {place}")


@MODES
@pytest.mark.parametrize("name", LAYERS)
def test_layers_as_pytorch(name, mode):
    case, want = LAYERS[name], STORED["nn." + name]
    ms.set_context(mode=mode)
    for dtype, tolerance in ((ms.float64, 1e-8), (ms.float32, 2e-5)):
        layer = eval(case[1], {"nn": mint.nn}).set_train(case[3])
        state = mint_cases.state_of(name, {k: p.shape for k, p in layer.parameters_dict().items()})
        for key, p in layer.parameters_dict().items():
            setattr(layer, key, ms.Parameter(Tensor(state[key], dtype if p.dtype is ms.float32 else p.dtype), key, requires_grad=p.requires_grad))
        x = mint_cases.inputs_of(case)["x"]
        x = Tensor(x, dtype if x.dtype == np.float64 else ms.int64)
        weights, trained = Tensor(mint_cases.weights_of(want["shape"]), dtype), layer.trainable_params()
        run = lambda x: (lambda y: ((y * weights).sum(), y))(layer(x))  # noqa: E731
        places = 0 if x.dtype is dtype else None
        (_, out), found = ms.value_and_grad(run, places, trained or None, has_aux=True)(x) if trained or places == 0 else (run(x), None)
        got = dict(zip([p.name for p in trained], found[1] if places == 0 and trained else found if trained else ()))
        if places == 0:
            got["x"] = found[0] if trained else found
        assert list(out.shape) == want["shape"] and out.dtype is dtype and set(got) == set(want["gradients"])
        np.testing.assert_allclose(out.asnumpy().reshape(-1), want["value"], rtol=tolerance, atol=tolerance)
        for key, gradient in got.items():
            np.testing.assert_allclose(gradient.asnumpy().reshape(-1), want["gradients"][key], rtol=10 * tolerance, atol=20 * tolerance, err_msg=key)
        for key, values in want.get("state", {}).items():
            np.testing.assert_allclose(layer.parameters_dict()[key].asnumpy().reshape(-1), values, rtol=tolerance, atol=tolerance, err_msg=key)


def test_max_unpool2d():
    x = Tensor(mint_cases.numbers((1, 2, 7, 6), 8))
    values, places = mint.nn.MaxPool2d(2, return_indices=True)(x)
    np.testing.assert_array_equal(mint.nn.MaxUnpool2d(2)(values, places, (7, 6)).asnumpy(), F.max_unpool2d(values, places, 2, output_size=(7, 6)).asnumpy())


def test_transposed_convolution_of_a_wanted_size():
    layer = mint.nn.ConvTranspose2d(2, 3, 3, 2, 1)
    x = Tensor(np.ones((1, 2, 4, 5), np.float32))
    assert layer(x).shape == (1, 3, 7, 9) and layer(x, (8, 10)).shape == (1, 3, 8, 10) and layer(x, (1, 3, 8, 9)).shape == (1, 3, 8, 9)
    with pytest.raises(ValueError, match="output_size"):
        layer(x, (9, 9))


@pytest.mark.parametrize("make, fan_in", [(lambda: mint.nn.Linear(100, 50), 100), (lambda: mint.nn.Conv2d(8, 64, 5, groups=2), 100),
                                          (lambda: mint.nn.ConvTranspose2d(64, 4, 5), 100), (lambda: mint.nn.Conv1d(50, 64, 2), 100),
                                          (lambda: mint.nn.Conv3d(4, 64, (5, 5, 1)), 100)])
def test_initial_values_are_pytorchs(make, fan_in):
    """U(±1/sqrt(fan_in)) for weight and bias."""
    ms.manual_seed(3)
    layer = make()
    for p, share in ((layer.weight, 0.97), (layer.bias, 0.5)):
        largest = np.abs(p.asnumpy()).max() * fan_in ** 0.5
        assert share < largest <= 1
    assert 0.55 < layer.weight.asnumpy().std() * fan_in ** 0.5 < 0.6


def test_initial_embedding():
    ms.manual_seed(3)
    weight = mint.nn.Embedding(200, 50, padding_idx=-1).weight.asnumpy()
    assert 0.97 < weight.std() < 1.03 and not weight[-1].any() and weight[:-1].any(1).all()
    fixed = mint.nn.Embedding(2, 3, _weight=Tensor(np.ones((2, 3), np.float32)), _freeze=True)
    assert not fixed.weight.requires_grad and (fixed.weight.asnumpy() == 1).all()


def test_dropout_layers_drop_in_training_only():
    ms.manual_seed(1)
    x = Tensor(np.ones((4, 50, 2, 2), np.float32))
    y = mint.nn.Dropout(0.25).set_train()(x).asnumpy()
    assert set(np.round(np.unique(y), 5)) == {0.0, np.float32(1.33333)} and 0.15 < (y == 0).mean() < 0.35
    z = mint.nn.Dropout2d(0.5).set_train()(x).asnumpy()
    assert (z == z[:, :, :1, :1]).all() and 0.3 < (z == 0).mean() < 0.7 and z.max() == 2
    assert mint.nn.Dropout(0.5).set_train(False)(x) is x


def test_in_place_functions_write_their_input():
    """They write to the tensor itself, a view's base and a Parameter; also in a graph."""
    x = np.array([[-2.0, 0.5], [3.0, -0.25]], np.float32)
    want = {"relu_": [[0, 0.5], [3, 0]], "hardtanh_": [[-1, 0.5], [1, -0.25]], "threshold_": [[9, 9], [3, 9]],
            "elu_": np.where(x > 0, x, np.expm1(x)), "sigmoid_": 1 / (1 + np.exp(-x))}
    for name, expected in want.items():
        arguments = (1.0, 9.0) if name == "threshold_" else ()
        for make in (Tensor, ms.Parameter):
            t = make(x.copy())
            assert getattr(F, name)(t, *arguments) is t
            np.testing.assert_allclose(t.asnumpy(), expected, rtol=1e-6)
    p = ms.Parameter(x.copy())
    ms.jit(lambda: F.relu_(p))()
    np.testing.assert_array_equal(p.asnumpy(), want["relu_"])
    t = Tensor(x.copy())
    assert F.silu(t, True) is t and F.dropout(t, 0.0, True, True) is t and F.dropout2d(t, 0.0, inplace=True) is t


@pytest.mark.parametrize("kind, graph", [(Tensor, False), (ms.Parameter, False), (ms.Parameter, True)])
def test_batch_norm_updates_running_statistics(kind, graph):
    """As in torch: 0.75 of the old value and 0.25 of the batch's, with the variance divided by n - 1."""
    x = mint_cases.numbers((4, 3, 5), 3).astype(np.float32)
    mean, var = kind(np.array([1, 2, 3], np.float32)), kind(np.array([4, 5, 6], np.float32))
    call = lambda x: F.batch_norm(x, mean, var, training=True, momentum=0.25)  # noqa: E731
    (ms.jit(call) if graph else call)(Tensor(x))
    np.testing.assert_allclose(mean.asnumpy(), 0.75 * np.array([1, 2, 3]) + 0.25 * x.mean((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(var.asnumpy(), 0.75 * np.array([4, 5, 6]) + 0.25 * x.var((0, 2), ddof=1), rtol=1e-6)


def test_batch_norm_of_half_inputs():
    """Half inputs with parameters of any type: statistics are computed in float32, the result has the input's type."""
    x = Tensor(mint_cases.numbers((4, 3, 5), 4).astype(np.float16))
    w, mean = Tensor(np.array([1, 2, 3], np.float16)), Tensor(np.zeros(3, np.float16))
    y = F.batch_norm(x, mean, None, w, w, True)
    a = x.asnumpy().astype(np.float64)
    want = (a - a.mean((0, 2), keepdims=True)) / np.sqrt(a.var((0, 2), keepdims=True) + 1e-5) * np.reshape([1, 2, 3], (1, 3, 1)) + np.reshape([1, 2, 3], (1, 3, 1))
    assert y.dtype == ms.float16 and mean.dtype == ms.float16 and np.abs(y.asnumpy() - want).max() < 4e-3


def test_embedding_limits_the_norm_of_named_rows():
    weight = ms.Parameter(np.array([[3, 4], [6, 8], [0.3, 0.4], [30, 40]], np.float32))
    out = F.embedding(Tensor([[0, 2], [0, 1]]), weight, max_norm=2.5)
    np.testing.assert_allclose(weight.asnumpy(), [[1.5, 2], [1.5, 2], [0.3, 0.4], [30, 40]], rtol=1e-6)
    np.testing.assert_allclose(out.asnumpy()[:, 1], [[0.3, 0.4], [1.5, 2]], rtol=1e-6)


X = Tensor(np.ones((1, 2, 4, 4), np.float32))


@pytest.mark.parametrize("call, text", [
    (lambda: F.conv2d(X, X, stride=2, padding="same"), "stride 1"), (lambda: F.conv2d(X, X, padding="full"), "padding"), (lambda: F.conv2d(X[0, 0], X), "dimensions"),
    (lambda: F.conv1d(X, X), "weight"), (lambda: F.conv2d(X, X, padding=(1, 2, 3)), "padding"), (lambda: F.conv_transpose2d(X, X[:, :1], output_padding=1), "output_padding"),
    (lambda: F.avg_pool2d(X, 2, padding=2), "half"), (lambda: F.avg_pool2d(X, 2, divisor_override=0), "divisor_override"), (lambda: F.max_pool2d(X, 0), "kernel_size"),
    (lambda: F.batch_norm(X, None, None), "running"), (lambda: F.batch_norm(X[:, :, 0, 0], None, None, training=True), "one value"), (lambda: F.interpolate(X), "scale_factor"),
    (lambda: mint.nn.Conv2d(3, 4, 3, groups=2), "groups"), (lambda: mint.nn.ConvTranspose2d(2, 2, 3, padding_mode="reflect"), "padding_mode"),
    (lambda: mint.nn.BatchNorm2d(3)(X), "num_features"), (lambda: mint.nn.BatchNorm1d(2)(X), "dimensions"), (lambda: mint.nn.GroupNorm(2, 3), "multiple"),
    (lambda: mint.nn.LayerNorm(3)(X), "normalized_shape"), (lambda: mint.nn.Linear(3, 2)(X), "in_features"), (lambda: mint.nn.ZeroPad1d((1, 2, 3)), "padding"),
    (lambda: mint.nn.ReflectionPad1d(1)(X), "dimensions"), (lambda: mint.nn.Embedding(3, 2, 3), "padding_idx"),
    (lambda: F.interpolate(X, 2, mode="linear"), "linear"), (lambda: F.batch_norm(X[0, 0, 0], X, X), "dimensions"),
])
def test_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_unique_consecutive():
    """As in torch.unique_consecutive."""
    x = Tensor(np.array([[1, 1, 2], [1, 1, 2], [3, 1, 2]]))
    values, inverse, counts = mint.unique_consecutive(x, True, True, 0)
    assert values.tolist() == [[1, 1, 2], [3, 1, 2]] and inverse.tolist() == [0, 0, 1] and counts.tolist() == [2, 1]
    values, inverse = mint.unique_consecutive(x, return_inverse=True)
    assert values.tolist() == [1, 2, 1, 2, 3, 1, 2] and inverse.tolist() == [[0, 0, 1], [2, 2, 3], [4, 5, 6]]
    assert mint.unique_consecutive(x, dim=1).tolist() == [[1, 1, 2], [1, 1, 2], [3, 1, 2]]


def test_batch_norm_by_its_parts():
    """Statistics of two parts of a batch, gathered and applied, equal those of the whole batch."""
    x, w = mint_cases.numbers((6, 3, 2, 2), 9).astype(np.float32), Tensor(np.array([1, 2, 3], np.float32))
    parts = Tensor(x[:2]), Tensor(x[2:])
    stats = [mint.batch_norm_stats(p, 1e-3) for p in parts]
    mean, var = ms.Parameter(np.zeros(3, np.float32)), ms.Parameter(np.ones(3, np.float32))
    whole = mint.batch_norm_gather_stats_with_counts(parts[0], mint.stack([s[0] for s in stats]), mint.stack([s[1] for s in stats]), mean, var, 0.25, 1e-3, Tensor([8.0, 16.0]))
    other_mean, other_var = ms.Parameter(np.zeros(3, np.float32)), ms.Parameter(np.ones(3, np.float32))
    want = F.batch_norm(Tensor(x), other_mean, other_var, w, w, True, 0.25, 1e-3).asnumpy()
    for p, expected in zip(parts, (want[:2], want[2:])):
        np.testing.assert_allclose(mint.batch_norm_elemt(p, w, w, *whole, 1e-3).asnumpy(), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(mean.asnumpy(), other_mean.asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(var.asnumpy(), other_var.asnumpy(), rtol=1e-5)
    one = mint.batch_norm_gather_stats_with_counts(parts[0], stats[0][0].reshape(1, 3), stats[0][1].reshape(1, 3), eps=1e-3)
    np.testing.assert_allclose(one[1].asnumpy(), stats[0][1].asnumpy(), rtol=1e-5)


def test_random_functions():
    """Shapes, types and ranges; the same seed gives the same numbers."""
    def draw():
        ms.manual_seed(11)
        x = mint.full((500,), 0.25)
        return [mint.rand(3, 200), mint.randn((3, 200)), mint.randint(5, (400,)), mint.randint(-3, 2, (400,), dtype=ms.int32), mint.randperm(50), mint.rand_like(x), mint.randn_like(x, dtype=ms.float64),
                mint.randint_like(x, 3), mint.randint_like(x, 1, 3, dtype=ms.int64), mint.normal(2.0, 0.5, (400,)), mint.normal(x, x), mint.bernoulli(x), mint.multinomial(Tensor([0.5, 0.0, 0.5]), 40, True),
                mint.multinomial(Tensor([[0.2, 0.3, 0.5]]), 3)]
    first, again = draw(), draw()
    assert all((a.asnumpy() == b.asnumpy()).all() for a, b in zip(first, again))
    u, n, below, whole, perm, like, nlike, ilike, rlike, normal, tensors, coin, picks, rows = first
    assert u.shape == n.shape == (3, 200) and u.dtype == n.dtype == ms.float32 and 0 <= u.asnumpy().min() < 0.05 and 0.95 < u.asnumpy().max() < 1
    assert abs(n.asnumpy().mean()) < 0.2 and abs(n.asnumpy().std() - 1) < 0.1
    assert below.dtype == ms.int64 and set(below.tolist()) == set(range(5)) and whole.dtype == ms.int32 and set(whole.tolist()) == set(range(-3, 2))
    assert perm.dtype == ms.int64 and sorted(perm.tolist()) == list(range(50)) and perm.tolist() != list(range(50))
    assert like.shape == (500,) and nlike.dtype == ms.float64 and ilike.dtype == ms.float32 and set(ilike.tolist()) == {0, 1, 2} and set(rlike.tolist()) == {1, 2}
    assert abs(normal.asnumpy().mean() - 2) < 0.15 and abs(normal.asnumpy().std() - 0.5) < 0.1 and abs(tensors.asnumpy().mean() - 0.25) < 0.06
    assert set(coin.tolist()) == {0, 1} and 0.15 < coin.asnumpy().mean() < 0.35 and coin.dtype == ms.float32
    assert picks.dtype == ms.int64 and set(picks.tolist()) == {0, 2} and sorted(rows.tolist()[0]) == [0, 1, 2]


def test_random_functions_refuse():
    for call in (lambda: mint.rand(2, generator=1), lambda: mint.normal(), lambda: mint.normal(0.0, -1.0, (2,)), lambda: mint.rand(2, device="TPU")):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: mint.randint(3), lambda: mint.randint_like(3, 4)):
        with pytest.raises(TypeError):
            call()


def test_addr_and_qr_of_one_factor():
    x = Tensor(np.ones((2, 3), np.float32))
    assert mint.addr_(x, Tensor([1.0, 2.0]), Tensor([1.0, 0.0, 2.0]), beta=2, alpha=0.5) is x
    np.testing.assert_array_equal(x.asnumpy(), [[2.5, 2, 3], [3, 2, 4]])
    assert mint.linalg.qr(x, "r")[0].shape == (0,) and mint.imag(x).asnumpy().any() == False  # noqa: E712
    with pytest.raises(ValueError, match="mode"):
        mint.linalg.qr(x, "full")
    with pytest.raises(ValueError, match="complete"):
        ms.grad(lambda v: ms.ops.qr(v, "complete")[0].sum())(Tensor(np.eye(3, 2)))
