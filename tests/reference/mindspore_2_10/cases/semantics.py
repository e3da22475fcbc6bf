"""Cases that are easy to get almost right: numbers next to index arrays, 0-d tensors in products, shared elements, texts of tensors, structures of gradients,
frozen Parameters, centred gradients."""
from . import lines

# A number, True or None next to an index array, for reading and for in-place changes.
MIXED_KEYS = ("1, :, [0, 1]", "1, 0:2, [0, 1]", "1, ..., [0, 1]", "1, None, [0, 1]", ":, 1, [0, 1]", "[0, 1], :, 1", "[0, 1], 1", "1, [0, 1]", "i([1, 0]), :, i([1, 2])",
              "0, :, i([[0, 1], [2, 3]])", "i(1), :, i([0, 1])", "[0, 1], True", "True, [0, 1]", "True, :, [0, 1]", "[0, 1], :, True", "True, True", "True, 1", "1, :, True",
              ":, True", "0, True, :, [0, 1]", "b([True, False]), :, 1", "[True, False], :, 1", "(0, 1), [0, 1]", "..., [0, 1], 0", "None, 1, :, [0, 1]", "0, [0, 1], None, [2, 3]",
              "1, ::2, i([0, 3])")

# f(x) of a tensor x of shape (2, 3), to test which results share its elements.
ALIASES = lines("""
+x
ops.stop_gradient(x)
x.real()
ops.real(x)
x.conj()
ops.flatten(x)
ops.Flatten()(x)
nn.Flatten()(x)
x.flatten()
ms.mint.flatten(x)
x.ravel()
ops.reshape(x, (3, 2))
ops.Reshape()(x, (3, 2))
x.T
x.mT
x.swapaxes(0, 1)
ops.transpose(x, (1, 0))
x.expand_dims(0)
x[None].squeeze(0)
x[:]
x[...]
x[True]
x[0]
x.split(1)[0]
x.chunk(2)[0]
x.unbind(0)[0]
ops.unstack(x)[0]
x.narrow(0, 0, 1)
ops.strided_slice(x, (0, 0), (1, 2), (1, 1))
x.select(0, 0)
x.diagonal()
ops.diag(x[0])
x.expand((2, 3))
ops.broadcast_to(x, (2, 3))
x.astype(ms.float32)
x.float()
x.to(ms.float32)
ops.cast(x, ms.float32)
ops.Cast()(x, ms.float32)
x.type_as(x)
x.astype(ms.float16)
x.copy()
x.contiguous()
x.value()
ops.depend(x, x)
ops.positive(x)
ops.atleast_1d(x)
ops.atleast_2d(x)
ops.atleast_3d(x)
x.resize(2, 3)
ops.tile(x, (1, 1))
nn.Identity()(x)
nn.Dropout(p=0.5).set_train(False)(x)
ops.relu(x)
ops.concat([x])
x.triu()
x.clamp(-100, 100)
mnp.array(x)
mnp.asarray(x)
mnp.copy(x)
mnp.reshape(x, (3, 2))
mnp.ravel(x)
mnp.transpose(x)
mnp.squeeze(x)
mnp.expand_dims(x, 0)
mnp.split(x, 2)[0]
mnp.swapaxes(x, 0, 1)
mnp.atleast_1d(x)
mnp.moveaxis(x, 0, 1)
mnp.flip(x)
mnp.diagonal(x)
list(x)[0]
""")

PAIRS = ("h([2]), f(4)", "f(4), h([2])", "f([2]), d(4)", "i([2]), l(4)", "l(4), i([2])", "i([2]), f(4)", "h([2]), l(4)", "l([2]), h(4)", "h([2]), f([4])", "h(2), f(4)", "d([2]), f(4)",
         "h([[2, 3]]), f(4)", "b([True]), f(4)", "h([2]), Parameter(f(4), name='p')")

TEXTS = lines("""
f([1, 2.5])
f([[1, 2], [3, 4]])
f(1.5)
f(1e-7)
f(123456789)
f(nan)
i(3)
b(True)
h([1, 2])
h([nan, 1])
h(1.5)
d([nan, inf, -inf, 1])
d([1e-300, 1e300])
f([nan, -1.5])
f(np.arange(12))
f(np.arange(13))
f(np.arange(30) * 1.37)
h(np.arange(14))
l(np.arange(24))
l(np.arange(25))
l(np.arange(1000))
l(np.arange(1001))
f(np.arange(1100))
b(np.arange(24) % 2 == 0)
b(np.arange(30) >= 0)
b(np.arange(1100) % 2 == 0)
b([[True, False], [False, False]])
u8([5, 200])
i([[1, -200], [3, 4]])
i(np.arange(7) * -100)
l(np.arange(16).reshape(1, 16))
l(np.arange(60).reshape(2, 30))
l(np.arange(49).reshape(7, 7))
l(np.arange(16).reshape(2, 2, 2, 2))
l(np.arange(5000).reshape(10, 5, 100))
l(np.arange(2048).reshape(8, 8, 8, 4))
f(np.arange(1001).reshape(1001, 1))
f(np.zeros((3, 0)))
f([])
bf([1.5, 2])
bf(np.arange(20))
(f([1, 2]), [i(3)])
Parameter(f([1, 2]), name='p')
""")

OTHER = lines("""
f([[1, 5], [3, 2]]).max(axis=1, keepdims=True)
f([[1, 5], [3, 2]]).max(1, True)
f([[1, 5], [3, 2]]).max(dim=1, keepdim=True)
f([[1, 5], [3, 2]]).max(axis=1, keepdims=True, return_indices=True)
f([[1, 5], [3, 2]]).min(axis=0, keepdims=True)
f([1]).astype(None)
ops.cast(f([1]), None)
f([1]).to(None)
f([1, 2]).masked_fill(f([1, 0]), 3.0)
ops.masked_fill(f([1, 2]), i([1, 0]), 3.0)
ops.masked_select(f([1, 2]), i([1, 0]))
ops.nll_loss(f([[0.1, 0.9]]), f([1.0]))
nn.NLLLoss()(f([[0.1, 0.9]]), f([1.0]))
ops.multi_margin_loss(f([[0.1, 0.9]]), f([1.0]))
ops.eye(-1)
ops.eye(2, -1, ms.float32)
ops.eye(0)
ops.tril_indices(-1, 2)
ops.div(h([2]), f(4))
ops.true_divide(f([2]), d(4))
ops.multiply(i([2]), l(4))
ms.grad(lambda x: (x * x).sum(), (0,))(f([1, 2]))
ms.grad(lambda x: (x * x).sum(), 0)(f([1, 2]))
ms.grad(lambda x, y: (x * y).sum(), (0, 1))(f([1, 2]), f([3, 4]))
ms.grad(lambda x: (x * x).sum(), (0,), return_ids=True)(f([1, 2]))
ms.grad(lambda x: ((x * x).sum(), x), 0, has_aux=True)(f([1, 2]))
ms.grad(lambda x: x.sum(), ())(f([1, 2]))
ms.grad(lambda x: x.sum(), [0])(f([1, 2]))
ms.grad(lambda x: x.sum(), 3)(f([1, 2]))
ms.grad(3)(f([1, 2]))
ms.value_and_grad(lambda x: (x * x).sum(), (0,))(f([1, 2]))
ms.vjp(lambda x: x * x, f([1, 2]))[1](f([1, 1]))
ms.vjp(lambda x, y: x * y, f([1, 2]), f([3, 4]))[1](f([1, 1]))
ms.vjp(lambda x: (x * x, x), f([1, 2]), has_aux=True)[2]
ms.vjp(lambda x: (x * x, x, x + 1), f([1, 2]), has_aux=True)[2]
p = Parameter(f([3, 1]), name='p'); ms.vjp(lambda x: x * p, f([1, 2]), weights=p)[1](f([1, 1]))
p = Parameter(f([3, 1]), name='p'); ms.vjp(lambda x: x * p, f([1, 2]), weights=ms.ParameterTuple([p]))[1](f([1, 1]))
p = Parameter(f([3, 1]), name='p'); ops.GradOperation(get_by_list=True)(lambda x: (x * p).sum(), p)(f([1, 2]))
p = Parameter(f([3, 1]), name='p'); ops.GradOperation(get_by_list=True)(lambda x: (x * p).sum(), [p])(f([1, 2]))
p = Parameter(f([3, 1]), name='p', requires_grad=False); ms.grad(lambda x: (x * p).sum(), None, p)(f([1, 2]))
p = Parameter(f([3, 1]), name='p', requires_grad=False); ms.grad(lambda x: (x * p).sum(), 0, [p])(f([1, 2]))
p = Parameter(f([3, 1]), name='p', requires_grad=False); ms.grad(lambda q: (q * q).sum())(p)
p = Parameter(f([3, 1]), name='p'); p.requires_grad = False; ops.GradOperation(get_by_list=True)(lambda x: (x * p).sum(), [p])(f([1, 2]))
p = [Parameter(X(3, 2), name='a'), Parameter(X(2), name='b')]; p[0].requires_grad = False; o = nn.SGD(p, 0.5); o(ms.grad(lambda x: (p[0] * x).sum() + (p[1] * x).sum(), None, o.parameters)(X(2))); p
p = [Parameter(X(3, 2), name='a'), Parameter(X(2), name='b')]; o = nn.Momentum(p, 0.5, 0.9); p[0].requires_grad = False; o(ms.grad(lambda x: (p[0] * x).sum() + (p[1] * x).sum(), None, o.parameters)(X(2))); p
p = [Parameter(X(3, 2), name='a'), Parameter(X(2), name='b')]; o = nn.Adam(p, 0.5); p[0].requires_grad = False; o(ms.grad(lambda x: (p[0] * x).sum() + (p[1] * x).sum(), None, o.parameters)(X(2))); p
net = fixed(nn.Dense(2, 3)); o = nn.SGD(list(net.get_parameters()), 0.5); net.weight.requires_grad = False; nn.TrainOneStepCell(net, o)(X(4, 2)); list(net.get_parameters())
net = fixed(nn.Dense(2, 3)); net.weight.requires_grad = False; o = nn.SGD(list(net.get_parameters()), 0.5); nn.TrainOneStepCell(net, o)(X(4, 2)); list(net.get_parameters())
p = [Parameter(X(3, 16), name='a')]; nn.SGD([{'params': p, 'grad_centralization': True}], 0.5)((X(3, 16, s=1),)); p
p = [Parameter(X(3, 15), name='a')]; nn.SGD([{'params': p, 'grad_centralization': True}], 0.5)((X(3, 15, s=1),)); p
p = [Parameter(X(2, 32, 3), name='a')]; nn.Momentum([{'params': p, 'grad_centralization': True}], 0.5, 0.9, weight_decay=0.1)((X(2, 32, 3, s=1),)); p
p = [Parameter(X(16), name='a')]; nn.Adam([{'params': p, 'grad_centralization': True}], 0.5)((X(16, s=1),)); p
nn.Optimizer(0.1, [{'params': [Parameter(X(2, 16), name='a')], 'grad_centralization': True}]).gradients_centralization((X(2, 16, s=1),))
nn.Optimizer(0.1, [{'params': [Parameter(X(2, 8), name='a')], 'grad_centralization': True}]).gradients_centralization((X(2, 8, s=1),))
ms.mint.chunk(ops.zeros((4, 0)), 2, -1)
ops.chunk(ops.zeros((4, 0)), 2, -1)
net = nn.Dense(2, 3); tuple(ms.load_param_into_net(net, {n: Parameter(X(*s), name=n) for n, s in (('p.weight', (3, 2)), ('p.bias', (3,)), ('p.other', (1,)))}))
net = nn.Dense(2, 3); tuple(ms.load_param_into_net(net, {'weight': Parameter(X(3, 2), name='weight'), 'y': Parameter(X(1), name='y')}))
net = nn.Cell(); net.p = Parameter(X(1), name='p'); ms.load_param_into_net(net, {'p': Parameter(f(3.0), name='p')})
net = nn.Cell(); net.p = Parameter(f(1.0), name='p'); ms.load_param_into_net(net, {'p': Parameter(f([3.0]), name='p')}); net.p
x = f([1, 2]); x[0] = f([4]); x
x = f([[1, 2]]); x[0, 0] = f([4]); x
x = f(1); x[...] = f([4]); x
x = f([1, 2]); x[0] = f([4, 5]); x
nn.LayerNorm((2,))(d([[1, 3]]))
nn.LayerNorm((2,))(h([[1, 3]]))
nn.GroupNorm(1, 2)(d([[[[1]], [[3]]]]))
ops.norm(h([[1, 2], [3, 4]]), -2)
ops.norm(h([[1, 2], [3, 4]]), 2)
ops.norm(h([[1, 2], [3, 4]]), 'nuc', dim=(0, 1))
ops.norm(h([[1, 2], [3, 4]]), -1, dim=(0, 1))
h([[1, 2], [3, 4]]).norm(-2)
ops.matrix_norm(h([[1, 2], [3, 4]]), -2)
mnp.pad(f([1, 2, 3]), 2)
mnp.pad(f([[1, 2], [3, 4]]), (1, 2))
mnp.pad(f([[1, 2], [3, 4]]), ((1, 2), (0, 1)), constant_values=5)
mnp.pad(f([[1, 2], [3, 4]]), ((1, 2), (0, 1)), constant_values=(5, 6))
mnp.pad(f([[1, 2], [3, 4]]), ((1, 2), (0, 1)), constant_values=((5, 6), (7, 8)))
mnp.pad(f([[1, 2], [3, 4]]), 1, 'edge')
mnp.pad(f([[1, 2], [3, 4]]), 1, 'linear_ramp', end_values=3)
mnp.pad(f([[1, 2], [3, 4]]), ((2, 3), (1, 0)), 'linear_ramp', end_values=((1, 2), (3, 4)))
mnp.pad(f([[1, 2], [3, 4]]), 1, 'maximum')
mnp.pad(f([[1, 2], [3, 4]]), 1, 'mean')
mnp.pad(f([[1, 2], [3, 4]]), 1, 'minimum')
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 1, 'maximum', stat_length=1)
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 2, 'mean', stat_length=((1, 2), (2, 1)))
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 1, 'reflect')
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 1, 'reflect', reflect_type='odd')
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 1, 'symmetric')
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 2, 'symmetric', reflect_type='odd')
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 1, 'wrap')
mnp.pad(f([[1, 2, 5], [3, 4, 6]]), 1, 'empty')
mnp.pad([1, 2, 3], 1)
mnp.pad(f([1, 2, 3]), 1, 'what')
f([[1, 2, 3]]).scatter_add(1, i([[0, 1]]), f([[5, 6]]))
f([[1, 2, 3]]).scatter_add(dim=1, index=l([[0, 1]]), src=f([[5, 6]]))
f([[1, 2, 3]]).scatter_add(i([[0, 1]]), f([9]))
f([[1, 2, 3]]).scatter_add(indices=i([[0, 1]]), updates=f([9]))
f([[1, 2, 3]]).scatter_add(1, i([[0, 1]]))
""")


def cases():
    for key in MIXED_KEYS:
        yield f"x = X(2, 3, 4); x[{key}]"
        yield f"x = X(2, 3, 4); x[{key}] += 1; x"
        yield f"x = X(2, 3, 4); x[{key}] = 7; x"
        yield f"ms.grad(lambda x: (x[{key}] * x[{key}]).sum())(X(2, 3, 4))"
    for form in ALIASES:
        yield f"x = X(2, 3, lo=1); y = {form}; y[(0,) * len(y.shape)] = 90; x"
        yield f"x = X(2, 3, lo=1); y = {form}; x[0, 0] = 90; y"
        yield f"x = Parameter(X(2, 3, lo=1), name='x'); y = {form}; y[(0,) * len(y.shape)] = 90; x.value()"
    for pair in PAIRS:
        yield f"x, y = {pair}; x * y"
        yield f"x, y = {pair}; x / y"
        yield f"x, y = {pair}; x + y"
        yield f"x, y = {pair}; ops.mul(x, y)"
        yield f"x, y = {pair}; ops.div(x, y)"
        yield f"x, y = {pair}; ops.RealDiv()(x, y)"
    for text in TEXTS:
        yield f"repr({text})"


# Findings of random calls (compare_random.py) that have been decided.
DRAWN = lines("""
ms.grad(lambda x: nn.LeakyReLU()(x).sum())(f([0, 1, -1, inf]))
ms.grad(lambda x: nn.Hardtanh()(x).sum())(f([nan, 0.5]))
nn.AvgPool1d(3, 2, 'same')(X(1, 2, 3))
ops.full((2,), 2.5)
ops.xlogy(h([2.5]), 2)
ops.norm(i([3, 4]), 0)
train(lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True))
ops.interpolate(X(1, 1, 2, 5), size=(6, 7), mode='bicubic', align_corners=True)
w = X(4, s=3); ms.grad(lambda x: (x[l([[-1, 0], [-1, 0]])].reshape(-1) * w).sum())(f([2]))
""")

CASES = [*cases(), *OTHER, *DRAWN]
