"""Uses of Parameters (sindri.autograd) compared with float64 NumPy forms, and second-order optimizers built from them."""
import numpy as np
import pytest

import sindri as ms
from sindri import amp, nn, ops
from sindri.autograd import ParamUse, value_and_grad_with_uses

F64 = ms.float64
TOLERANCE = dict(rtol=1e-12, atol=1e-12)


def t(array):
    return ms.Tensor(np.asarray(array, np.float64))


def near(got, want):
    assert got is not None and got.shape == np.shape(want)
    np.testing.assert_allclose(got.asnumpy(), want, **TOLERANCE)


def fill(net, seed=3):
    """Fills every Parameter of the net with float64 values from a generator and returns the net."""
    draw = np.random.default_rng(seed)
    for p in net.get_parameters():
        assert p.dtype == F64
        p.set_data(t(draw.standard_normal(p.shape)))
    return net


def value(p):
    return p.asnumpy().astype(np.float64)


def names(uses):
    return [(u.parameter.name, u.op, u.operand) for u in uses]


class Weighted(nn.Cell):
    """sum(net(x)·r): r is the gradient of the output."""

    def __init__(self, net, r):
        super().__init__()
        self.net, self.r = net, t(r)

    def construct(self, *x):
        return ops.reduce_sum(self.net(*x) * self.r)


def uses_of(net, r, *x, **kwargs):
    """Returns the uses of the net's Parameters for the output gradient r; the gradients are bitwise identical to value_and_grad's."""
    loss = Weighted(net, r)
    out, grads, uses = value_and_grad_with_uses(loss)(*x, **kwargs)
    assert all(isinstance(u, ParamUse) for u in uses)
    if not kwargs:
        plain, plain_grads = ops.value_and_grad(loss, None, ms.ParameterTuple(loss.trainable_params()))(*x)
        assert out.asnumpy() == plain.asnumpy()
        for ours, theirs in zip(grads, plain_grads):
            assert ours.asnumpy().tobytes() == theirs.asnumpy().tobytes()
    return grads, uses


# Dense.


class Mlp(nn.Cell):
    def __init__(self, bias=True):
        super().__init__()
        self.first = nn.Dense(3, 4, has_bias=bias, activation="tanh", dtype=F64)
        self.second = nn.Dense(4, 2, has_bias=bias, dtype=F64)

    def construct(self, x):
        return self.second(self.first(x))


def mlp_form(net, x, r, bias):
    """Returns (input and output gradient of the first layer, of the second)."""
    x, r = x.reshape(-1, x.shape[-1]), r.reshape(-1, r.shape[-1])
    w, v = value(net.first.weight), value(net.second.weight)
    h = np.tanh(x @ w.T + (value(net.first.bias) if bias else 0))
    return (x, r @ v * (1 - h * h)), (h, r)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("leading", [(5,), (2, 3)])
def test_dense(mode, rng, bias, leading):
    net, x, r = fill(Mlp(bias)), rng.standard_normal((*leading, 3)), rng.standard_normal((*leading, 2))
    grads, uses = uses_of(net, r, t(x))
    by_name = {u.parameter.name: u for u in uses}
    gradient = {p.name: g for p, g in zip(net.trainable_params(), grads)}
    assert [u.op for u in uses] == (["matmul", "add"] if bias else ["matmul"]) * 2
    for layer, (a, g) in zip(("first", "second"), mlp_form(net, x, r, bias)):
        weight = by_name[f"net.{layer}.weight"]
        assert weight.operand == 1 and weight.attrs["transpose_b"] and not weight.attrs["transpose_a"] and weight.path == ()
        near(weight.input(), a)
        near(weight.output_grad, g)
        near(weight.operands[1], value(getattr(net, layer).weight))
        near(gradient[f"net.{layer}.weight"], g.T @ a)
        if bias:
            use = by_name[f"net.{layer}.bias"]
            assert use.input() is None
            near(use.output_grad, g)
            near(use.operands[0], a @ value(getattr(net, layer).weight).T)


# Convolution.


def conv_form(x, w, stride, pads, dilation, group):
    """Returns (output, the patches [N, group, rows·columns, C/group·kh·kw] in the weight's order) of a convolution, by loops."""
    (top, bottom, left, right), (o, c, kh, kw) = pads, w.shape
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    rows = (x.shape[2] - (kh - 1) * dilation[0] - 1) // stride[0] + 1
    columns = (x.shape[3] - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    patches = np.empty((len(x), group, rows * columns, c * kh * kw))
    for i in range(rows):
        for j in range(columns):
            top_left = i * stride[0], j * stride[1]
            window = x[:, :, top_left[0]:top_left[0] + kh * dilation[0]:dilation[0], top_left[1]:top_left[1] + kw * dilation[1]:dilation[1]][:, :, :kh, :kw]
            patches[:, :, i * columns + j] = window.reshape(len(x), group, c * kh * kw)
    y = np.einsum("ngsk,gok->ngos", patches, w.reshape(group, o // group, -1)).reshape(len(x), o, rows, columns)
    return y, patches


def same_pads(size, k, stride, dilation):
    total = max((-(-size // stride) - 1) * stride + dilation * (k - 1) + 1 - size, 0)
    return total // 2, total - total // 2


class ConvNet(nn.Cell):
    def __init__(self, **options):
        super().__init__()
        self.first = nn.Conv2d(4, 6, dtype=F64, **options)
        self.last = nn.Conv2d(6, 2, 1, dtype=F64, has_bias=True)

    def construct(self, x):
        return self.last(ops.tanh(self.first(x)))


CONVOLUTIONS = {
    "plain": dict(kernel_size=3, pad_mode="valid"),
    "same": dict(kernel_size=(3, 2), stride=2, pad_mode="same"),
    "pad": dict(kernel_size=(2, 3), stride=(2, 1), pad_mode="pad", padding=(1, 0, 2, 1), has_bias=True),
    "dilation": dict(kernel_size=(3, 2), dilation=(1, 2), pad_mode="pad", padding=1),
    "group": dict(kernel_size=3, group=2, stride=2, pad_mode="same", has_bias=True),
    "all": dict(kernel_size=(3, 2), group=2, stride=(1, 2), dilation=(2, 1), pad_mode="pad", padding=(2, 1, 0, 1)),
}


@pytest.mark.parametrize("case", CONVOLUTIONS)
def test_convolution(mode, rng, case):
    options = CONVOLUTIONS[case]
    pair = lambda v: v if isinstance(v, tuple) else (v, v)
    kernel, stride, dilation = (pair(options.get(k, 1)) for k in ("kernel_size", "stride", "dilation"))
    group, x = options.get("group", 1), rng.standard_normal((2, 4, 7, 6))
    pads = (0, 0, 0, 0)
    if options["pad_mode"] == "pad":
        pads = options["padding"] if isinstance(options["padding"], tuple) else (options["padding"],) * 4
    elif options["pad_mode"] == "same":
        pads = (*same_pads(7, kernel[0], stride[0], dilation[0]), *same_pads(6, kernel[1], stride[1], dilation[1]))
    net = fill(ConvNet(**options))
    w, v = value(net.first.weight), value(net.last.weight)
    y, patches = conv_form(x, w, stride, pads, dilation, group)
    if net.first.has_bias:
        y = y + value(net.first.bias)[:, None, None]
    h, r = np.tanh(y), rng.standard_normal((2, 2, *y.shape[2:]))
    g = np.einsum("norc,oi->nirc", r, v[:, :, 0, 0]) * (1 - h * h)

    grads, uses = uses_of(net, r, t(x))
    first, last = (next(u for u in uses if u.parameter is p) for p in (net.first.weight, net.last.weight))
    assert (first.op, first.operand) == (last.op, last.operand) == ("conv2d", 1)
    assert first.attrs == dict(stride=stride, pad=pads, dilation=dilation, groups=group)
    near(first.input(), x)
    near(first.output_grad, g)
    near(last.input(), h)
    near(last.output_grad, r)
    # From input, output_grad and attrs alone: the weight's gradient by patches, as curvature factors need them.
    a = conv_form(first.input().asnumpy(), w, first.attrs["stride"], first.attrs["pad"], first.attrs["dilation"], first.attrs["groups"])[1]
    dy = first.output_grad.asnumpy().reshape(2, group, 6 // group, -1)
    near(grads[0], np.einsum("ngos,ngsk->gok", dy, a).reshape(w.shape))
    for u in uses:
        if u.parameter.name.endswith("bias"):
            assert u.op == "add" and [op for op, _ in u.path] == ["reshape"] and u.input() is None
            near(u.output_grad, g if u.parameter is net.first.bias else r)


# Embedding and layer norm.


@pytest.mark.parametrize("one_hot", [False, True])
def test_embedding(mode, rng, one_hot):
    net, ids, r = fill(nn.Embedding(7, 3, one_hot, dtype=F64)), np.array([[1, 6, 1], [0, 2, 6]], np.int32), rng.standard_normal((2, 3, 3))
    grads, (use,) = uses_of(net, r, ms.Tensor(ids))
    if one_hot:
        assert (use.op, use.operand) == ("matmul", 1)
        near(use.input(), np.eye(7)[ids.reshape(-1)])
        near(use.output_grad, r.reshape(-1, 3))
    else:
        assert use.operand == 0 and use.input().dtype == ms.int32
        np.testing.assert_array_equal(use.input().asnumpy(), ids)
        near(use.output_grad, r)
    dense = np.zeros((7, 3))
    np.add.at(dense, ids, r)
    near(grads[0], dense)


@pytest.mark.parametrize("norm_axis", [-1, 1])
def test_layer_norm(mode, rng, norm_axis):
    """gamma multiplies the normalised input, also if the statistics cover more dimensions than the parameters have."""
    net = nn.LayerNorm((4,), begin_norm_axis=norm_axis, begin_params_axis=-1, epsilon=1e-3, dtype=F64)
    fill(net)
    x, r = rng.standard_normal((5, 3, 4)), rng.standard_normal((5, 3, 4))
    axes = (1, 2) if norm_axis == 1 else (2,)
    normalised = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    grads, (gamma, beta) = uses_of(net, r, t(x))
    assert (gamma.parameter, beta.parameter) == (net.gamma, net.beta)
    near(gamma.input(), normalised)
    assert beta.input() is None
    near(gamma.output_grad, r)
    near(beta.output_grad, r)
    near(grads[0], (normalised * r).sum((0, 1)))


def test_batch_norm(mode, rng):
    net = nn.BatchNorm2d(3, dtype=F64)
    net.gamma.set_data(t(rng.standard_normal(3)))
    net.set_train()
    x, r = rng.standard_normal((4, 3, 2, 5)), rng.standard_normal((4, 3, 2, 5))
    loss = Weighted(net, r).set_train()
    _, _, (gamma, beta) = value_and_grad_with_uses(loss)(t(x))
    near(gamma.input(), (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + net.eps))
    near(gamma.output_grad, r)
    assert beta.input() is None


# Several uses.


class Tied(nn.Cell):
    """An embedding whose table is also the output's weight, and a layer that runs twice between them."""

    def __init__(self, recompute=False):
        super().__init__()
        self.embedding = nn.Embedding(6, 3, dtype=F64)
        self.layer = nn.Dense(3, 3, activation="tanh", dtype=F64)
        self.norm = nn.LayerNorm((3,), epsilon=1e-3, dtype=F64)
        if recompute:
            self.layer.recompute()
            self.norm.recompute()

    def construct(self, ids):
        h = self.layer(self.norm(self.layer(self.embedding(ids))))
        return ops.matmul(h, ops.transpose(self.embedding.embedding_table, (1, 0)))


@pytest.mark.parametrize("recompute", [False, True])
def test_shared_weights_and_a_layer_used_twice(mode, rng, recompute):
    net, ids, r = fill(Tied(recompute)), np.array([5, 0, 2, 5], np.int32), rng.standard_normal((4, 6))
    e, w, b, gamma, beta = (value(p) for p in (net.embedding.embedding_table, net.layer.weight, net.layer.bias, net.norm.gamma, net.norm.beta))
    rows = e[ids]
    h1 = np.tanh(rows @ w.T + b)
    mean, std = h1.mean(1, keepdims=True), np.sqrt(h1.var(1, keepdims=True) + 1e-3)
    normal = (h1 - mean) / std
    n = normal * gamma + beta
    h2 = np.tanh(n @ w.T + b)
    g2 = r @ e * (1 - h2 * h2)
    gn = g2 @ w
    u = gn * gamma
    g1 = (u - u.mean(1, keepdims=True) - normal * (u * normal).mean(1, keepdims=True)) / std * (1 - h1 * h1)

    _, uses = uses_of(net, r, ms.Tensor(ids))
    table, weight, bias = "net.embedding.embedding_table", "net.layer.weight", "net.layer.bias"
    assert names(uses) == [(table, "embedding", 0), (weight, "matmul", 1), (bias, "add", 1), ("net.norm.gamma", "layer_norm", 1),
                           ("net.norm.beta", "layer_norm", 2), (weight, "matmul", 1), (bias, "add", 1), (table, "matmul", 1)]
    want = [(ids, g1 @ w), (rows, g1), (None, g1), (normal, gn), (None, gn), (n, g2), (None, g2), (h2, r)]
    for use, (a, g) in zip(uses, want):
        near(use.output_grad, g)
        assert (use.input() is None) == (a is None)
        if a is not None:
            near(use.input(), a)
    assert [op for op, _ in uses[-1].path] == ["transpose"] and uses[-1].path[0][1] == {"perm": (1, 0)}


# User-defined networks.


class Own(nn.Cell):
    """A weight that is cast, reshaped and transposed, a scale that is broadcast, one that is used twice, and a frozen one."""

    def __init__(self, rng):
        super().__init__()
        self.w = ms.Parameter(ms.Tensor(rng.standard_normal((2, 6)).astype(np.float32)), name="w")
        self.scale = ms.Parameter(t(rng.standard_normal((1, 3))), name="scale")
        self.square = ms.Parameter(t(rng.standard_normal((3, 3))), name="square")
        self.frozen = ms.Parameter(t(rng.standard_normal((3,))), name="frozen", requires_grad=False)

    def construct(self, x):
        w = ops.transpose(ops.reshape(ops.cast(self.w, F64), (4, 3)), (1, 0))
        y = ops.matmul(ops.matmul(x, w.swapaxes(0, 1)), ops.matmul(self.square, self.square))
        return y * ops.broadcast_to(self.scale, (5, 3)) + self.frozen


def test_python_defined_net(mode, rng):
    net, x, r = Own(rng), rng.standard_normal((5, 4)), rng.standard_normal((5, 3))
    w, s, q = value(net.w).reshape(4, 3), value(net.scale), value(net.square)
    _, uses = uses_of(net, r, t(x))
    assert names(uses) == [("net.w", "matmul", 1), ("net.square", "matmul", 0), ("net.square", "matmul", 1), ("net.scale", "mul", 1)]
    near(uses[0].input(), x)
    near(uses[0].operands[1], w)
    near(uses[0].output_grad, r * s @ (q @ q).T)
    assert [op for op, _ in uses[0].path] == ["cast", "reshape", "transpose", "transpose"]
    assert uses[0].path[0][1] == {"dtype": F64} and uses[0].path[1][1] == {"shape": (4, 3)}
    near(uses[1].input(), q)
    near(uses[1].output_grad, (x @ w).T @ (r * s))
    near(uses[3].input(), x @ w @ q @ q)
    near(uses[3].output_grad, r)
    assert [op for op, _ in uses[3].path] == ["broadcast_to"]


def test_networks_of_the_library(mode, rng):
    """The uses of a C++ network's Parameters."""
    net = ms.models.create("lenet", num_classes=10)
    x = rng.standard_normal((2, 1, 32, 32)).astype(np.float32)
    out, grads, uses = value_and_grad_with_uses(net)(ms.Tensor(x))
    assert len({u.parameter.name for u in uses}) == len(net.trainable_params()) == len(grads)
    first, last = uses[0], [u for u in uses if u.op == "matmul"][-1]
    assert first.op == "conv2d" and last.output_grad.shape == out.shape
    np.testing.assert_array_equal(first.input().asnumpy(), x)
    gradient = {p.name: g for p, g in zip(net.trainable_params(), grads)}[last.parameter.name]
    np.testing.assert_allclose(gradient.asnumpy(), last.output_grad.asnumpy().T @ last.input().asnumpy(), rtol=1e-5, atol=1e-6)


class OwnGradient(nn.Cell):
    def construct(self, x, w):
        return x * w

    def bprop(self, x, w, out, dout):
        return dout * w, dout * x


def test_a_cell_with_its_own_gradient_is_a_use_without_op(mode, rng):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(t(rng.standard_normal(3)), name="w")
            self.inner = OwnGradient()

        def construct(self, x):
            return self.inner(x, self.w.value())

    x, r = rng.standard_normal(3), rng.standard_normal(3)
    _, (use,) = uses_of(Net(), r, t(x))
    assert (use.op, use.operand, use.attrs) == ("", 1, {}) and use.input() is None
    near(use.operands[0], x)
    near(use.output_grad, r)


def test_chosen_weights_functions_and_aux(mode, rng):
    net, x = fill(Mlp()), t(rng.standard_normal((5, 3)))

    def fn(x):
        y = net(x)
        return ops.reduce_sum(y), y

    (total, y), (grad,), uses = value_and_grad_with_uses(fn, net.second.weight, has_aux=True)(x)
    assert names(uses) == [("second.weight", "matmul", 1)] and grad.shape == (2, 4)
    near(uses[0].output_grad, np.ones((5, 2)))
    np.testing.assert_allclose(total.asnumpy(), y.asnumpy().sum(), rtol=1e-12)


def test_bad_arguments(rng):
    net = fill(Mlp())
    with pytest.raises(TypeError, match="expected a Cell or a function, got int"):
        value_and_grad_with_uses(3)
    with pytest.raises(ValueError, match="weights are not given"):
        value_and_grad_with_uses(lambda x: x)
    with pytest.raises(ValueError, match="loss_scale must be one number"):
        value_and_grad_with_uses(net)(t(np.ones((5, 3))), loss_scale=t([1, 2]))
    with pytest.raises(ValueError, match="with has_aux"):
        value_and_grad_with_uses(net, has_aux=True)(t(np.ones((5, 3))))


# Mixed precision and loss scale.


@pytest.mark.parametrize("level", ["O2", "O3"])
def test_mixed_precision(mode, rng, level):
    """A use holds what the op received: both factors rounded to bfloat16."""

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3, pad_mode="valid")
            self.flatten = nn.Flatten()
            self.dense = nn.Dense(12, 2, has_bias=False)

        def construct(self, x):
            return self.dense(self.flatten(self.conv(x)))

    net, x = Net(), rng.standard_normal((4, 2, 4, 4)).astype(np.float32)
    weights = {p.name: p.asnumpy() for p in net.get_parameters()}
    amp.auto_mixed_precision(net, level, ms.bfloat16)
    out, grads, uses = value_and_grad_with_uses(net)(ms.Tensor(x))
    rounded = lambda a: ms.Tensor(np.asarray(a, np.float32)).astype(ms.bfloat16).astype(ms.float32).asnumpy()
    as_float = lambda v: v.astype(ms.float32).asnumpy()
    conv, dense = (next(u for u in uses if u.op == op) for op in ("conv2d", "matmul"))
    for use in (conv, dense):
        assert all(v.dtype == ms.bfloat16 for v in (use.input(), use.operands[1], use.output_grad))
        assert use.unscaled_output_grad().dtype == ms.float32
        np.testing.assert_array_equal(as_float(use.operands[1]), rounded(weights[use.parameter.name]))
    assert [op for op, _ in dense.path] == ["cast"]
    np.testing.assert_array_equal(as_float(conv.input()), rounded(x))
    np.testing.assert_array_equal(as_float(dense.output_grad), np.ones((4, 2)))
    assert [g.dtype for g in grads] == [p.dtype for p in net.trainable_params()]
    # The rounded factors, multiplied in float64, give the gradient up to the rounding of bfloat16.
    exact = as_float(dense.output_grad).astype(np.float64).T @ as_float(dense.input()).astype(np.float64)
    np.testing.assert_allclose(as_float(grads[-1]), exact, rtol=2 ** -7, atol=1e-2)


@pytest.mark.parametrize("scale", [1024, 1000.0, "tensor"])
def test_loss_scale(mode, rng, scale):
    net, x, r = fill(Mlp()), rng.standard_normal((5, 3)), rng.standard_normal((5, 2))
    given = ms.Tensor([512.0], ms.float32) if scale == "tensor" else scale
    factor = 512.0 if scale == "tensor" else scale
    grads, uses = uses_of(net, r, t(x), loss_scale=given)
    (a, g), _ = mlp_form(net, x, r, True)
    np.testing.assert_allclose(grads[0].asnumpy(), factor * g.T @ a, rtol=1e-12)
    np.testing.assert_allclose(uses[0].output_grad.asnumpy(), factor * g, rtol=1e-12)
    near(uses[0].unscaled_output_grad(), g)


def test_gradients_without_uses_compile_to_the_same_graph(rng):
    """Uses that nobody reads have no effect."""
    net = fill(Mlp())
    params = ms.ParameterTuple(net.trainable_params())

    class Step(nn.Cell):
        def __init__(self, with_uses):
            super().__init__()
            self.net, self.with_uses = net, with_uses

        def construct(self, x):
            if self.with_uses:
                return value_and_grad_with_uses(self.net, params)(x)[1]
            return ops.value_and_grad(self.net, None, params)(x)[1]

    from sindri._compile import graph_text
    ms.set_context(mode=ms.GRAPH_MODE)
    texts = []
    for with_uses in (True, False):
        step = Step(with_uses)
        step(t(np.ones((5, 3))))
        texts.append(graph_text(step))
    assert texts[0] and texts[0] == texts[1]


# Optimizers.

DAMPING, RATE = 0.2, 0.1


class Kfac(nn.Optimizer):
    """W -= rate·(gᵀg·N + damping)⁻¹·dW·(aᵀa/N + damping)⁻¹ for a Dense weight; variant 0 computes the inverses, variant 1 reuses them."""

    wants_uses = True

    def __init__(self, params):
        super().__init__(RATE, params)
        (p,) = self.parameters
        self.a_inverse = ms.Parameter(t(np.zeros((p.shape[1],) * 2)), name="a_inverse", requires_grad=False)
        self.g_inverse = ms.Parameter(t(np.zeros((p.shape[0],) * 2)), name="g_inverse", requires_grad=False)
        self.eyes = tuple(t(DAMPING * np.eye(n)) for n in reversed(p.shape))
        self.__dict__["_cell_traced"] = []

    _unread_by_graphs = nn.Optimizer._unread_by_graphs | {"_cell_traced"}

    def variant(self, step):
        return 0 if step % 2 == 0 else 1

    def precondition(self, gradients, uses):
        self.__dict__["_cell_traced"].append(self.current_variant)
        (use,) = uses
        if self.current_variant == 0:
            a, g = use.input(), use.unscaled_output_grad()
            n = a.shape[0]
            g = ops.where(ops.isfinite(g), g, ops.zeros_like(g))  # a matrix with NaN has no inverse
            ops.assign(self.a_inverse, ops.inverse(ops.matmul(a.T, a) / n + self.eyes[0]))
            ops.assign(self.g_inverse, ops.inverse(ops.matmul(g.T, g) * n + self.eyes[1]))
        return (ops.matmul(ops.matmul(self.g_inverse, gradients[0]), self.a_inverse),)

    def construct(self, gradients):
        for p, g in zip(self.parameters, gradients):
            ops.assign(p, p - self.get_lr().astype(F64) * g)
        return True


class Step(nn.Cell):
    """A training step that passes uses on."""

    def __init__(self, network, optimizer, scale=None):
        super().__init__()
        self.network, self.optimizer, self.scale = network, optimizer, scale
        self.gradients = value_and_grad_with_uses(network, optimizer.parameters)

    def construct(self, *inputs):
        loss, grads, uses = self.gradients(*inputs, loss_scale=self.scale)
        if self.scale is None:
            self.optimizer(grads, uses=uses)
        else:
            overflow = ops.logical_not(ms.amp.all_finite(grads))
            self.optimizer._apply_unless(overflow, tuple(g / self.scale.astype(g.dtype) for g in grads), uses=uses)
        return loss


class LeastSquares(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, has_bias=False, dtype=F64)

    def construct(self, x, target):
        return ops.reduce_mean(ops.square(self.fc(x) - target))


@pytest.mark.parametrize("scale", [None, 1024.0])
def test_optimizer_with_uses_and_variants(mode, rng, scale):
    net = fill(LeastSquares())
    optimizer = Kfac(net.trainable_params())
    step = Step(net, optimizer, None if scale is None else ms.Tensor(scale, ms.float32))
    w, a_inverse, g_inverse = value(net.fc.weight), None, None
    for i in range(6):
        x, target = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
        broken = scale is not None and i == 2
        if broken:
            target[0, 0] = 1e308  # its square is infinite
        optimizer.select_variant(i)
        step(t(x), t(target))
        if not broken:
            g = 2 * (x @ w.T - target) / 8
            if i % 2 == 0:
                a_inverse = np.linalg.inv(x.T @ x / 4 + DAMPING * np.eye(3))
                g_inverse = np.linalg.inv(g.T @ g * 4 + DAMPING * np.eye(2))
            w = w - np.float64(RATE) * (g_inverse @ (g.T @ x) @ a_inverse)
        np.testing.assert_allclose(net.fc.weight.asnumpy(), w, rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(optimizer.a_inverse.asnumpy(), a_inverse, rtol=1e-11, atol=1e-11)
    assert optimizer._cell_traced == ([0, 1] if mode == "graph" else [0, 1] * 3)


def test_optimizer_without_its_uses_says_so(mode):
    net = fill(LeastSquares())
    optimizer = Kfac(net.trainable_params())
    grads = (t(np.ones((2, 3))),)
    with pytest.raises(ValueError, match="needs the uses of its parameters.*value_and_grad_with_uses"):
        optimizer(grads)


@pytest.mark.parametrize("scale", [None, 1024.0])
def test_training_cells_hand_the_uses_on(mode, rng, scale):
    nets = [fill(LeastSquares()) for _ in range(2)]
    optimizers = [Kfac(net.trainable_params()) for net in nets]
    scaled = None if scale is None else ms.Tensor(scale, ms.float32)
    by_hand = Step(nets[0], optimizers[0], scaled)
    cell = (nn.TrainOneStepCell(nets[1], optimizers[1]) if scale is None else nn.TrainOneStepWithLossScaleCell(nets[1], optimizers[1], scaled)).set_train()
    for i in range(4):
        x, target = t(rng.standard_normal((4, 3))), t(rng.standard_normal((4, 2)))
        for optimizer in optimizers:
            optimizer.select_variant(i)
        loss, other = by_hand(x, target), cell(x, target)
        assert float(loss.asnumpy()) == float((other if scale is None else other[0]).asnumpy())
        np.testing.assert_allclose(nets[0].fc.weight.asnumpy(), nets[1].fc.weight.asnumpy(), rtol=1e-12)


def test_model_selects_variants(mode, rng):
    x, target = rng.standard_normal((24, 3)), rng.standard_normal((24, 2))
    data = ms.dataset.NumpySlicesDataset({"x": x, "y": target}, shuffle=False).batch(4)
    nets = [fill(LeastSquares()) for _ in range(2)]
    optimizers = [Kfac(net.trainable_params()) for net in nets]
    ms.Model(nets[0], optimizer=optimizers[0]).train(1, data, dataset_sink_mode=False)
    cell = nn.TrainOneStepCell(nets[1], optimizers[1]).set_train()
    for i in range(6):
        optimizers[1].select_variant(i)
        cell(t(x[4 * i:4 * i + 4]), t(target[4 * i:4 * i + 4]))
    np.testing.assert_array_equal(nets[0].fc.weight.asnumpy(), nets[1].fc.weight.asnumpy())


@pytest.mark.parametrize("bad, error", [(1.0, TypeError), (True, TypeError), (-1, ValueError)])
def test_variants_are_numbers_from_0_on(bad, error):
    class Bad(nn.SGD):
        def variant(self, step):
            return bad

    with pytest.raises(error, match="Bad: variant must"):
        Bad(fill(LeastSquares()).trainable_params()).select_variant(0)


def test_precondition_without_uses(mode):
    """A hook that needs no uses gets the gradients, divided by a loss scale, before the rule of one of our optimizers."""

    class Halved(nn.SGD):
        def precondition(self, gradients, uses):
            assert uses is None
            return tuple(g * 0.5 for g in gradients)

    net = fill(LeastSquares())
    x, target, w = np.ones((4, 3)), np.zeros((4, 2)), value(net.fc.weight)
    cell = nn.TrainOneStepWithLossScaleCell(net, Halved(net.trainable_params(), RATE), ms.Tensor(1024.0, ms.float32))
    cell(t(x), t(target))
    g = 2 * (x @ w.T - target) / 8
    np.testing.assert_allclose(net.fc.weight.asnumpy(), w - np.float64(RATE) * 0.5 * g.T @ x, rtol=1e-12)
