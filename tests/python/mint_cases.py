"""Calls with the same spelling in PyTorch and mindspore.mint, as text: tests/reference/make_mint_expectations.py runs them in PyTorch, test_mint_expected.py
here.

Each case is (name, call, inputs). In the call, `F` is nn.functional, `m` the package's functions (torch or mint), `nn` its layers, and the inputs have their
names. An input is a shape (of numbers that do not depend on the NumPy version), or an array. Inputs that hold integers or whose name ends in 0 get no gradient.
"""
import numpy as np


def numbers(shape, seed, low=-1.0, high=1.0):
    """Returns distinct numbers, exact in float32."""
    return np.round(np.random.RandomState(seed).uniform(low, high, shape) * 4096) / 4096


def inputs_of(case):
    """Returns {name: float64 or int64 array} of a case."""
    return {k: numbers(v, sum(map(ord, case[0])) % 997 + i) if isinstance(v, tuple) else np.asarray(v) for i, (k, v) in enumerate(case[2].items())}


def weights_of(shape):
    """Returns the weights of a result's elements in the sum that is differentiated."""
    return np.cos(np.arange(1, int(np.prod(shape)) + 1, dtype=np.float64)).reshape(shape)


_IMAGE, _VOLUME, _SIGNAL = {"x": (1, 3, 7, 6)}, {"x": (1, 2, 4, 5, 3)}, {"x": (2, 3, 9)}
_IDS = np.array([[0, 3, 1], [3, 3, 2]])
_LOWER = np.array([[2.0, 0, 0], [0.5, 1.5, 0], [-0.25, 0.75, -1.25]])

FUNCTIONS = [
    ("conv1d", "F.conv1d(x, w, b, 2, 1, 2)", {"x": (2, 4, 9), "w": (6, 4, 3), "b": (6,)}),
    ("conv1d groups one", "F.conv1d(x, w, None, 1, 'same', groups=2)", {"x": (4, 9), "w": (6, 2, 4)}),
    ("conv2d", "F.conv2d(x, w, b, (2, 1), (1, 2))", {"x": (1, 3, 7, 6), "w": (4, 3, 3, 2), "b": (4,)}),
    ("conv2d same", "F.conv2d(x, w, padding='same', dilation=(1, 2))", {"x": (1, 3, 7, 6), "w": (4, 3, 4, 3)}),
    ("conv2d valid one", "F.conv2d(x, w, b, padding='valid', groups=3)", {"x": (3, 7, 6), "w": (6, 1, 3, 3), "b": (6,)}),
    ("conv3d", "F.conv3d(x, w, b, (1, 2, 1), (1, 0, 2), (2, 1, 1))", {"x": (1, 2, 4, 5, 3), "w": (3, 2, 2, 3, 2), "b": (3,)}),
    ("conv3d same one", "F.conv3d(x, w, None, padding='same', groups=2)", {"x": (2, 4, 5, 3), "w": (4, 1, 2, 3, 2)}),
    ("conv_transpose2d", "F.conv_transpose2d(x, w, b, (2, 3), 1, (1, 2), 2, (1, 2))", {"x": (2, 4, 5, 3), "w": (4, 3, 3, 3), "b": (6,)}),
    ("conv_transpose2d one", "F.conv_transpose2d(x, w)", {"x": (2, 4, 3), "w": (2, 3, 2, 3)}),
    ("avg_pool1d", "F.avg_pool1d(x, 3)", _SIGNAL), ("avg_pool1d ceil", "F.avg_pool1d(x, 4, 3, 1, True, False)", {"x": (3, 9)}),
    ("avg_pool2d", "F.avg_pool2d(x, (3, 2))", _IMAGE), ("avg_pool2d ceil", "F.avg_pool2d(x, 3, 2, 1, True)", _IMAGE),
    ("avg_pool2d ceil apart", "F.avg_pool2d(x, 3, 2, (1, 0), True, False)", {"x": (3, 7, 6)}), ("avg_pool2d divisor", "F.avg_pool2d(x, 3, 2, 1, divisor_override=5)", _IMAGE),
    ("avg_pool3d", "F.avg_pool3d(x, 2, (1, 2, 2), 1, True)", _VOLUME), ("avg_pool3d one", "F.avg_pool3d(x, (2, 3, 2), divisor_override=3)", {"x": (2, 4, 5, 3)}),
    ("avg_pool3d apart", "F.avg_pool3d(x, 3, 2, 1, False, False)", _VOLUME),
    ("max_pool2d", "F.max_pool2d(x, 3, 2, 1, ceil_mode=True)", _IMAGE), ("max_pool2d dilated one", "F.max_pool2d(x, 2, 1, 0, (2, 3))", {"x": (3, 7, 6)}),
    ("max_pool2d places", "F.max_pool2d(x, (3, 2), return_indices=True)[1]", _IMAGE), ("max_pool2d places one", "F.max_pool2d(x, 2, 2, 1, return_indices=True)[1]", {"x": (3, 7, 6)}),
    ("max_unpool2d", "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)", {"x": (2, 3, 6, 4)}),
    ("max_unpool2d size", "F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, None, 0, (7, 6))", _IMAGE),
    ("adaptive_avg_pool1d", "F.adaptive_avg_pool1d(x, 4)", _SIGNAL), ("adaptive_avg_pool1d one", "F.adaptive_avg_pool1d(x, 2)", {"x": (3, 9)}),
    ("adaptive_avg_pool2d", "F.adaptive_avg_pool2d(x, (3, None))", _IMAGE), ("adaptive_avg_pool2d one", "F.adaptive_avg_pool2d(x, 4)", {"x": (3, 7, 6)}),
    ("adaptive_avg_pool3d", "F.adaptive_avg_pool3d(x, (3, 2, None))", _VOLUME),
    ("adaptive_max_pool1d", "F.adaptive_max_pool1d(x, 4)", _SIGNAL), ("adaptive_max_pool1d places", "F.adaptive_max_pool1d(x, 4, True)[1]", {"x": (3, 9)}),
    ("adaptive_max_pool2d", "F.adaptive_max_pool2d(x, (3, 4))", _IMAGE), ("adaptive_max_pool2d places", "F.adaptive_max_pool2d(x, 3, True)[1]", {"x": (3, 7, 6)}),
    ("batch_norm", "F.batch_norm(x, m0, v0, w, b, False, 0.1, 1e-3)", {"x": (4, 3, 5), "m0": (3,), "v0": numbers((3,), 5, 0.5, 2.0), "w": (3,), "b": (3,)}),
    ("batch_norm batch", "F.batch_norm(x, None, None, w, b, True)", {"x": (4, 3, 5, 2), "w": (3,), "b": (3,)}),
    ("batch_norm plain", "F.batch_norm(x, None, None, training=True)", {"x": (5, 3)}),
    ("group_norm", "F.group_norm(x, 2, w, b, 1e-3)", {"x": (2, 4, 5, 3), "w": (4,), "b": (4,)}), ("group_norm plain", "F.group_norm(x, 3)", {"x": (3, 6)}),
    ("layer_norm", "F.layer_norm(x, (4, 5), w, b)", {"x": (3, 4, 5), "w": (4, 5), "b": (4, 5)}),
    ("interpolate nearest", "F.interpolate(x, scale_factor=1.7)", _IMAGE), ("interpolate nearest size", "F.interpolate(x, 5)", _SIGNAL),
    ("interpolate nearest 3", "F.interpolate(x, (3, 9, 5))", _VOLUME), ("interpolate linear", "F.interpolate(x, 14, mode='linear')", _SIGNAL),
    ("interpolate linear corners", "F.interpolate(x, 4, mode='linear', align_corners=True)", _SIGNAL),
    ("interpolate bilinear", "F.interpolate(x, scale_factor=(1.5, 2.3), mode='bilinear', align_corners=False)", _IMAGE),
    ("interpolate bilinear again", "F.interpolate(x, scale_factor=1.3, mode='bilinear', recompute_scale_factor=True)", _IMAGE),
    ("interpolate bilinear corners", "F.interpolate(x, (4, 9), mode='bilinear', align_corners=True)", _IMAGE),
    ("interpolate bicubic", "F.interpolate(x, (5, 13), mode='bicubic')", _IMAGE), ("interpolate bicubic scale", "F.interpolate(x, scale_factor=1.6, mode='bicubic', align_corners=False)", _IMAGE),
    ("interpolate bicubic corners", "F.interpolate(x, (5, 13), mode='bicubic', align_corners=True)", _IMAGE),
    ("interpolate trilinear", "F.interpolate(x, (3, 9, 5), mode='trilinear')", _VOLUME), ("interpolate area", "F.interpolate(x, (3, 4), mode='area')", _IMAGE),
    ("upsample", "F.upsample(x, scale_factor=2, mode='bilinear', align_corners=True)", _IMAGE), ("upsample nearest", "F.upsample(x, (9, 8))", _IMAGE),
    ("pad", "F.pad(x, (1, 2, 0, 3), value=0.5)", _IMAGE), ("pad cut", "F.pad(x, (-1, 2, 3, -2))", _IMAGE), ("pad reflect", "F.pad(x, (2, 1, 3, 0), 'reflect')", _IMAGE),
    ("pad replicate", "F.pad(x, (2, 1), 'replicate')", _SIGNAL), ("pad circular", "F.pad(x, (2, 3, 1, 0), 'circular')", _IMAGE),
    ("flatten", "m.flatten(x, 1, 2)", {"x": (2, 3, 4, 2)}), ("softmax", "F.softmax(x, 1)", {"x": (2, 5)}), ("log_softmax", "F.log_softmax(x, -1)", {"x": (2, 5)}),
    ("dropout2d eval", "F.dropout2d(x, 0.4, False)", _IMAGE),
    ("relu_", "F.relu_(x * 1)", {"x": (3, 4)}), ("elu_", "F.elu_(x * 1, 0.5)", {"x": (3, 4)}), ("hardtanh_", "F.hardtanh_(x * 1, -0.5, 0.25)", {"x": (3, 4)}),
    ("sigmoid_", "m.sigmoid(x * 1)", {"x": (3, 4)}), ("threshold_", "F.threshold_(x * 1, 0.25, -2.0)", {"x": (3, 4)}),
    ("elu inplace", "F.elu(x * 1, 1.5, True)", {"x": (3, 4)}), ("hardtanh inplace", "F.hardtanh(x * 2, inplace=True)", {"x": (3, 4)}),
    ("relu inplace", "F.relu(x * 1, inplace=True)", {"x": (3, 4)}), ("relu6 inplace", "F.relu6(x * 8, inplace=True)", {"x": (3, 4)}),
    ("silu inplace", "F.silu(x * 2, inplace=True)", {"x": (3, 4)}), ("threshold inplace", "F.threshold(x * 1, 0.1, 3.0, True)", {"x": (3, 4)}),
    ("grid_sample", "F.grid_sample(x, g, align_corners=False)", {"x": (2, 3, 4, 5), "g": (2, 3, 2, 2)}),
    ("embedding", "F.embedding(i, w, 3)", {"i": _IDS, "w": (5, 4)}), ("embedding counts", "F.embedding(i, w, scale_grad_by_freq=True)", {"i": _IDS, "w": (5, 4)}),
    ("addcmul", "m.addcmul(x, y, z, value=0.5)", {"x": (2, 3), "y": (2, 1), "z": (3,)}), ("real", "m.real(x)", {"x": (4,)}),
    ("nansum", "m.nansum(x, 1)", {"x": np.array([[1.5, np.nan, 2], [np.nan, np.nan, np.nan]])}), ("nansum all", "m.nansum(x, (0, 1), True)", {"x": np.array([[1.5, np.nan, 2]])}),
    ("triangular_solve", "m.triangular_solve(b, a)[0]", {"b": (3, 2), "a": _LOWER.T.copy()}), ("triangular_solve lower", "m.triangular_solve(b, a, False)[0]", {"b": (2, 3, 1), "a": _LOWER}),
    ("triangular_solve transposed", "m.triangular_solve(b, a, False, True)[0]", {"b": (3, 2), "a": _LOWER}), ("triangular_solve unit", "m.triangular_solve(b, a0, False, False, True)[0]", {"b": (3, 2), "a0": _LOWER}),
    ("conv_tbc", "m.conv_tbc(x, w, b, 1)", {"x": (5, 2, 3), "w": (3, 3, 4), "b": (4,)}), ("conv2d of mint", "m.conv2d(x, w, None, 2)", {"x": (1, 2, 5, 4), "w": (3, 2, 2, 2)}),
    ("qr q", "m.linalg.qr(x)[0]", {"x": (4, 3)}), ("qr r", "m.linalg.qr(x)[1]", {"x": (2, 3, 3)}), ("qr wide q", "m.linalg.qr(x)[0]", {"x": (2, 4)}), ("qr wide r", "m.linalg.qr(x)[1]", {"x": (2, 2, 4)}),
    ("qr complete", "m.linalg.qr(x0, 'complete')[0]", {"x0": (4, 2)}), ("qr complete r", "m.linalg.qr(x, mode='complete')[1]", {"x": (2, 3)}), ("qr only r", "m.linalg.qr(x0, 'r')[1]", {"x0": (4, 3)}),
    ("one_hot", "F.one_hot(i, 4)", {"i": _IDS}), ("normalize", "F.normalize(x, 3.0, 0)", {"x": (4, 3)}),
]

# (name, layer, its input, training mode): state_of fills the layer's state.
_FRAME = {"x": (1, 4, 4, 5)}
LAYERS = [
    ("Conv1d", "nn.Conv1d(4, 6, 3, 2, 1, 2, 2)", {"x": (2, 4, 9)}, False), ("Conv1d same", "nn.Conv1d(4, 2, 4, padding='same', padding_mode='circular')", {"x": (2, 4, 9)}, False),
    ("Conv2d", "nn.Conv2d(4, 3, (3, 2), (1, 2), (1, 0))", _FRAME, False), ("Conv2d reflect", "nn.Conv2d(4, 3, 3, padding=(1, 2), padding_mode='reflect', bias=False)", _FRAME, False),
    ("Conv2d replicate", "nn.Conv2d(4, 3, 3, padding=(2, 1), padding_mode='replicate')", _FRAME, False),
    ("Conv3d", "nn.Conv3d(2, 3, (2, 3, 2), (1, 2, 1), (1, 0, 1))", _VOLUME, False), ("Conv3d reflect", "nn.Conv3d(2, 2, 2, padding=(1, 2, 1), padding_mode='reflect')", _VOLUME, False),
    ("ConvTranspose2d", "nn.ConvTranspose2d(4, 6, 3, (2, 3), 1, 1, 2, True, 2)", _FRAME, False), ("ConvTranspose2d plain", "nn.ConvTranspose2d(4, 2, 2, bias=False)", _FRAME, False),
    ("BatchNorm1d", "nn.BatchNorm1d(4)", {"x": (6, 4)}, True), ("BatchNorm1d eval", "nn.BatchNorm1d(4)", {"x": (3, 4, 5)}, False),
    ("BatchNorm2d", "nn.BatchNorm2d(4, 1e-3, 0.25)", _FRAME, True), ("BatchNorm2d average", "nn.BatchNorm2d(4, momentum=None)", _FRAME, True),
    ("BatchNorm2d bare", "nn.BatchNorm2d(4, affine=False, track_running_stats=False)", _FRAME, False), ("BatchNorm3d", "nn.BatchNorm3d(2, affine=False)", _VOLUME, True),
    ("SyncBatchNorm eval", "nn.SyncBatchNorm(4)", _FRAME, False), ("GroupNorm", "nn.GroupNorm(2, 4, 1e-3)", _FRAME, True),
    ("LayerNorm", "nn.LayerNorm((4, 5))", _FRAME, True), ("LayerNorm no bias", "nn.LayerNorm(5, bias=False)", _FRAME, True), ("LayerNorm bare", "nn.LayerNorm(5, elementwise_affine=False)", _FRAME, True),
    ("Linear", "nn.Linear(5, 3)", _FRAME, False), ("Linear no bias", "nn.Linear(6, 3, bias=False)", {"x": (6,)}, False),
    ("Embedding", "nn.Embedding(5, 3, padding_idx=3)", {"x": _IDS}, False), ("PReLU", "nn.PReLU()", _FRAME, False), ("PReLU channels", "nn.PReLU(4)", _FRAME, False),
    *((name.split("(")[0] + " " + str(i), f"nn.{name}", {"x": (2, 4, 6)}, False) for i, name in enumerate("""ELU(0.5) GELU() GELU('tanh') GLU(1) Hardshrink(0.3)
      Hardsigmoid() Hardswish() Hardtanh(-0.3,0.4) LogSigmoid() LogSoftmax(1) LogSoftmax(-1) Mish() ReLU() ReLU6() SELU() SiLU() Sigmoid() Softmax(1) Softmax(2)
      Softshrink(0.25) Tanh() Threshold(0.2,-1.0) Flatten() Identity(3,a=2) Dropout(0.3) AvgPool1d(3,2,1,True,False) AdaptiveAvgPool1d(4) AdaptiveMaxPool1d(4)
      ConstantPad1d((1,2),0.5) ZeroPad1d(2) ReflectionPad1d((2,1)) ReplicationPad1d(3) Upsample(scale_factor=2,mode='linear')""".split())),
    *((name.split("(")[0] + " 2d " + str(i), f"nn.{name}", _FRAME, False) for i, name in enumerate("""Dropout2d(0.3) PixelShuffle(2) Unfold((2,3),1,1,2)
      AvgPool2d(3,2,1,False,False,7) AvgPool2d(2) MaxPool2d(3,2,1,1,False,True) AdaptiveAvgPool2d((3,None)) AdaptiveMaxPool2d(2) ConstantPad2d((1,2,-1,0),-0.5)
      ZeroPad2d((1,0,2,1)) ReflectionPad2d(2) ReplicationPad2d((0,1,2,3)) UpsamplingBilinear2d(scale_factor=2) UpsamplingNearest2d((5,7)) Flatten(1,2)
      Upsample((5,7),None,'bicubic')""".split())),
    *((name.split("(")[0] + " 3d " + str(i), f"nn.{name}", _VOLUME, False) for i, name in enumerate("""AvgPool3d(2,1) AvgPool3d((2,3,1),None,(1,1,0),True,True,5)
      AdaptiveAvgPool3d((2,None,2)) ConstantPad3d(1,0.25) ZeroPad3d((1,0,0,1,2,0)) ReflectionPad3d((1,1,2,1,1,0)) ReplicationPad3d(1)""".split())),
    ("Fold", "nn.Fold((5, 6), (2, 3), 1, 1, 2)", {"x": (2, 12, 9)}, False),
]


def state_of(name, shapes):
    """Returns {name: array} of a layer's state, from the names and shapes of its entries; variances are positive, counts 3."""
    out = {}
    for i, (key, shape) in enumerate(sorted(shapes.items())):
        values = numbers(shape, sum(map(ord, name)) % 991 + 7 * i)
        out[key] = np.full(shape, 3, np.int64) if key == "num_batches_tracked" else np.abs(values) + 0.5 if key == "running_var" else values
    return out
