"""Cases compared with the real MindSpore: the same lines run there (tests/reference/make_nn_expectations.py stores the results) and here.

Each case is a function of a namespace `ms`, the module mindspore or sindri.
"""
import numpy as np


def data(shape, seed, low=-1.0, high=1.0):
    """Returns numbers that do not depend on the NumPy version, rounded so that text stores them exactly."""
    r = np.random.RandomState(seed).uniform(low, high, shape)
    return np.round(r * 64).astype(np.float32) / 64


def tensor(ms, values, dtype=None):
    values = np.asarray(values)
    return ms.Tensor(values if dtype is None else values.astype(dtype))


def x(shape, seed=1, low=-1.0, high=1.0):
    return lambda ms: tensor(ms, data(shape, seed, low, high))


def ids(values):
    return lambda ms: tensor(ms, values, np.int32)


def probabilities(shape, seed):
    def make(ms):
        p = data(shape, seed, 0.1, 1.0).astype(np.float64)
        return tensor(ms, p / p.sum(1, keepdims=True), np.float32)
    return make


# name: (layer, inputs, training)
LAYERS = {
    "dense": (lambda ms: ms.nn.Dense(5, 3), [x((4, 5))], False),
    "dense_no_bias": (lambda ms: ms.nn.Dense(5, 3, has_bias=False), [x((4, 5))], False),
    "dense_rank3_relu": (lambda ms: ms.nn.Dense(5, 3, activation="relu"), [x((2, 4, 5))], False),
    "conv2d_same": (lambda ms: ms.nn.Conv2d(3, 4, 3), [x((2, 3, 7, 6))], False),
    "conv2d_same_stride2": (lambda ms: ms.nn.Conv2d(3, 4, 3, stride=2), [x((2, 3, 7, 6))], False),
    "conv2d_same_even_kernel": (lambda ms: ms.nn.Conv2d(3, 4, (2, 4), stride=(2, 1)), [x((2, 3, 7, 6))], False),
    "conv2d_valid": (lambda ms: ms.nn.Conv2d(3, 4, (3, 2), pad_mode="valid", has_bias=True), [x((2, 3, 7, 6))], False),
    "conv2d_pad4": (lambda ms: ms.nn.Conv2d(3, 4, 3, pad_mode="pad", padding=(1, 2, 0, 1), dilation=2), [x((2, 3, 9, 8))], False),
    "conv2d_group": (lambda ms: ms.nn.Conv2d(4, 6, 3, group=2, pad_mode="pad", padding=1), [x((2, 4, 5, 6))], False),
    "conv2d_depthwise": (lambda ms: ms.nn.Conv2d(4, 4, 3, group=4), [x((2, 4, 5, 6))], False),
    "conv1d_same": (lambda ms: ms.nn.Conv1d(3, 4, 3, stride=2, has_bias=True), [x((2, 3, 8))], False),
    "conv1d_pad": (lambda ms: ms.nn.Conv1d(3, 4, 3, pad_mode="pad", padding=2), [x((2, 3, 8))], False),
    "conv2d_transpose_same": (lambda ms: ms.nn.Conv2dTranspose(3, 4, 3, stride=2), [x((2, 3, 4, 5))], False),
    "conv2d_transpose_valid": (lambda ms: ms.nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode="valid", has_bias=True), [x((2, 3, 4, 5))], False),
    "conv2d_transpose_pad": (lambda ms: ms.nn.Conv2dTranspose(3, 4, 3, stride=2, pad_mode="pad", padding=1), [x((2, 3, 4, 5))], False),
    "conv1d_transpose": (lambda ms: ms.nn.Conv1dTranspose(3, 4, 3, stride=2, pad_mode="valid"), [x((2, 3, 5))], False),
    "batch_norm2d_train": (lambda ms: ms.nn.BatchNorm2d(3), [x((4, 3, 5, 2))], True),
    "batch_norm2d_train_momentum": (lambda ms: ms.nn.BatchNorm2d(3, eps=1e-3, momentum=0.7), [x((4, 3, 5, 2))], True),
    "batch_norm2d_eval": (lambda ms: ms.nn.BatchNorm2d(3), [x((4, 3, 5, 2))], False),
    "batch_norm2d_fixed": (lambda ms: ms.nn.BatchNorm2d(3, use_batch_statistics=False), [x((4, 3, 5, 2))], True),
    "batch_norm1d_train": (lambda ms: ms.nn.BatchNorm1d(3), [x((6, 3))], True),
    "layer_norm": (lambda ms: ms.nn.LayerNorm((5,)), [x((4, 5))], False),
    "layer_norm_two_axes": (lambda ms: ms.nn.LayerNorm((3, 5), begin_norm_axis=1, begin_params_axis=1, epsilon=1e-3), [x((2, 3, 5))], False),
    "layer_norm_split_axes": (lambda ms: ms.nn.LayerNorm((5,), begin_norm_axis=1, begin_params_axis=-1), [x((2, 3, 5))], False),
    "conv3d_same": (lambda ms: ms.nn.Conv3d(2, 3, 3, stride=2, pad_mode="same", has_bias=True), [x((2, 2, 5, 4, 3))], False),
    "conv3d_pad": (lambda ms: ms.nn.Conv3d(2, 4, (2, 3, 1), pad_mode="pad", padding=(1, 0, 2, 1, 0, 0)), [x((1, 2, 4, 5, 3))], False),
    "conv3d_valid": (lambda ms: ms.nn.Conv3d(2, 4, (2, 3, 2), stride=(1, 2, 1), pad_mode="valid"), [x((1, 2, 4, 5, 4))], False),
    "conv3d_transpose_same": (lambda ms: ms.nn.Conv3dTranspose(2, 3, 2, stride=2, pad_mode="same", has_bias=True), [x((1, 2, 3, 2, 2))], False),
    "conv3d_transpose_pad": (lambda ms: ms.nn.Conv3dTranspose(2, 3, 3, stride=2, pad_mode="pad", padding=1, output_padding=1),
                             [x((1, 2, 3, 2, 2))], False),
    "conv3d_transpose_valid": (lambda ms: ms.nn.Conv3dTranspose(2, 3, (3, 2, 1), stride=(1, 2, 3), pad_mode="valid"), [x((1, 2, 3, 2, 2))], False),
    "max_pool3d": (lambda ms: ms.nn.MaxPool3d(2, 2), [x((1, 2, 4, 5, 4))], False),
    "max_pool3d_same": (lambda ms: ms.nn.MaxPool3d((3, 2, 1), 2, pad_mode="same"), [x((1, 2, 4, 5, 4))], False),
    "avg_pool3d": (lambda ms: ms.nn.AvgPool3d(2, 2), [x((1, 2, 4, 5, 4))], False),
    "avg_pool3d_same": (lambda ms: ms.nn.AvgPool3d((3, 2, 1), 2, pad_mode="same"), [x((1, 2, 4, 5, 4))], False),
    "sync_batch_norm_train": (lambda ms: ms.nn.SyncBatchNorm(3), [x((4, 3, 5, 2))], True),
    "conv2d_bn_act": (lambda ms: ms.nn.Conv2dBnAct(3, 4, 3, has_bn=True, activation="leakyrelu"), [x((2, 3, 7, 6))], True),
    "dense_bn_act": (lambda ms: ms.nn.DenseBnAct(5, 3, has_bn=True, activation="relu"), [x((4, 5))], True),
    "central_crop": (lambda ms: ms.nn.CentralCrop(0.5), [x((2, 7, 6, 3))], False),
    "image_gradients": (lambda ms: ms.nn.ImageGradients(), [x((2, 3, 4, 5))], False),
    "pixel_shuffle": (lambda ms: ms.nn.PixelShuffle(2), [x((2, 8, 3, 2))], False),
    "pixel_unshuffle": (lambda ms: ms.nn.PixelUnshuffle(2), [x((2, 3, 4, 6))], False),
    "channel_shuffle": (lambda ms: ms.nn.ChannelShuffle(2), [x((2, 6, 3, 2))], False),
    "upsample": (lambda ms: ms.nn.Upsample(size=(5, 7), mode="bilinear", align_corners=True), [x((2, 3, 4, 3))], False),
    "zero_pad2d": (lambda ms: ms.nn.ZeroPad2d((1, 2, 0, 1)), [x((2, 3, 4, 3))], False),
    "constant_pad1d": (lambda ms: ms.nn.ConstantPad1d((1, -1), 0.5), [x((2, 3, 4))], False),
    "reflection_pad2d": (lambda ms: ms.nn.ReflectionPad2d((1, 2, 0, 1)), [x((2, 3, 4, 3))], False),
    "replication_pad2d": (lambda ms: ms.nn.ReplicationPad2d(2), [x((2, 3, 4, 3))], False),
    "group_norm": (lambda ms: ms.nn.GroupNorm(2, 4), [x((2, 4, 3, 3))], False),
    "embedding": (lambda ms: ms.nn.Embedding(7, 3), [ids([[0, 6, 2], [3, 3, 1]])], False),
    "embedding_one_hot": (lambda ms: ms.nn.Embedding(7, 3, use_one_hot=True), [ids([[0, 6, 2], [3, 3, 1]])], False),
    "max_pool2d": (lambda ms: ms.nn.MaxPool2d(3, 2), [x((2, 3, 7, 6))], False),
    "max_pool2d_default": (lambda ms: ms.nn.MaxPool2d(), [x((2, 3, 4, 4))], False),
    "max_pool2d_same": (lambda ms: ms.nn.MaxPool2d(3, 2, pad_mode="same"), [x((2, 3, 7, 6))], False),
    "max_pool2d_pad": (lambda ms: ms.nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), [x((2, 3, 7, 6))], False),
    "avg_pool2d": (lambda ms: ms.nn.AvgPool2d(3, 2), [x((2, 3, 7, 6))], False),
    "avg_pool2d_same": (lambda ms: ms.nn.AvgPool2d(3, 2, pad_mode="same"), [x((2, 3, 7, 6))], False),
    "avg_pool2d_pad": (lambda ms: ms.nn.AvgPool2d(3, 2, pad_mode="pad", padding=1), [x((2, 3, 7, 6))], False),
    "avg_pool2d_pad_not_counted": (lambda ms: ms.nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, count_include_pad=False), [x((2, 3, 7, 6))], False),
    "avg_pool2d_divisor": (lambda ms: ms.nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, divisor_override=5), [x((2, 3, 7, 6))], False),
    "avg_pool2d_divisor_ceil": (lambda ms: ms.nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, ceil_mode=True, divisor_override=4), [x((2, 3, 6, 8))], False),
    "max_pool2d_indices": (lambda ms: ms.nn.MaxPool2d(3, 2, pad_mode="pad", padding=1, ceil_mode=True, return_indices=True), [x((2, 3, 6, 8))], False),
    "max_pool1d": (lambda ms: ms.nn.MaxPool1d(3, 2), [x((2, 3, 8))], False),
    "avg_pool1d": (lambda ms: ms.nn.AvgPool1d(3, 2), [x((2, 3, 8))], False),
    "adaptive_avg_pool2d": (lambda ms: ms.nn.AdaptiveAvgPool2d((3, None)), [x((2, 3, 7, 5))], False),
    "adaptive_avg_pool1d": (lambda ms: ms.nn.AdaptiveAvgPool1d(3), [x((2, 3, 6))], False),
    "flatten": (lambda ms: ms.nn.Flatten(), [x((2, 3, 4))], False),
    "flatten_axes": (lambda ms: ms.nn.Flatten(0, 1), [x((2, 3, 4))], False),
    "unflatten": (lambda ms: ms.nn.Unflatten(1, (2, 3)), [x((2, 6, 2))], False),
    "dropout_eval": (lambda ms: ms.nn.Dropout(0.3), [x((2, 3))], False),
    "one_hot": (lambda ms: ms.nn.OneHot(depth=4, on_value=2.0, off_value=-1.0), [ids([[0, 3], [2, 1]])], False),
    "one_hot_axis0": (lambda ms: ms.nn.OneHot(axis=0, depth=4), [ids([[0, 3], [2, 1]])], False),
    "pad_constant": (lambda ms: ms.nn.Pad(((1, 0), (2, 1))), [x((2, 3))], False),
    "pad_reflect": (lambda ms: ms.nn.Pad(((1, 0), (2, 1)), mode="REFLECT"), [x((2, 3))], False),
    "pad_symmetric": (lambda ms: ms.nn.Pad(((1, 0), (2, 1)), mode="SYMMETRIC"), [x((2, 3))], False),
    "clip_by_norm": (lambda ms: ms.nn.ClipByNorm(), [x((3, 4)), x((1,), 5, 0.5, 0.9)], False),
    "norm": (lambda ms: ms.nn.Norm(axis=1, keep_dims=True), [x((3, 4))], False),
    "tril": (lambda ms: ms.nn.Tril(), [x((3, 4))], False),
    "triu": (lambda ms: ms.nn.Triu(), [x((3, 4))], False),
    "range": (lambda ms: ms.nn.Range(1, 8, 2), [], False),
    "range_float": (lambda ms: ms.nn.Range(0.5, 2.0, 0.5), [], False),
    "reduce_log_sum_exp": (lambda ms: ms.nn.ReduceLogSumExp(1), [x((3, 4))], False),
    "moments": (lambda ms: ms.nn.Moments(axis=1), [x((3, 4))], False),
    "relu": (lambda ms: ms.nn.ReLU(), [x((3, 7), 1, -2, 2)], False),
    "relu6": (lambda ms: ms.nn.ReLU6(), [x((3, 7), 1, -2, 9)], False),
    "sigmoid": (lambda ms: ms.nn.Sigmoid(), [x((3, 7), 1, -2, 2)], False),
    "tanh": (lambda ms: ms.nn.Tanh(), [x((3, 7), 1, -2, 2)], False),
    "gelu": (lambda ms: ms.nn.GELU(), [x((3, 7), 1, -2, 2)], False),
    "gelu_exact": (lambda ms: ms.nn.GELU(approximate=False), [x((3, 7), 1, -2, 2)], False),
    "fast_gelu": (lambda ms: ms.nn.FastGelu(), [x((3, 7), 1, -2, 2)], False),
    "leaky_relu": (lambda ms: ms.nn.LeakyReLU(), [x((3, 7), 1, -2, 2)], False),
    "elu": (lambda ms: ms.nn.ELU(), [x((3, 7), 1, -2, 2)], False),
    "celu": (lambda ms: ms.nn.CELU(2.0), [x((3, 7), 1, -2, 2)], False),
    "silu": (lambda ms: ms.nn.SiLU(), [x((3, 7), 1, -2, 2)], False),
    "mish": (lambda ms: ms.nn.Mish(), [x((3, 7), 1, -2, 2)], False),
    "hswish": (lambda ms: ms.nn.HSwish(), [x((3, 7), 1, -4, 4)], False),
    "hsigmoid": (lambda ms: ms.nn.HSigmoid(), [x((3, 7), 1, -4, 4)], False),
    "softsign": (lambda ms: ms.nn.Softsign(), [x((3, 7), 1, -2, 2)], False),
    "log_sigmoid": (lambda ms: ms.nn.LogSigmoid(), [x((3, 7), 1, -2, 2)], False),
    "soft_shrink": (lambda ms: ms.nn.SoftShrink(), [x((3, 7), 1, -2, 2)], False),
    "h_shrink": (lambda ms: ms.nn.HShrink(), [x((3, 7), 1, -2, 2)], False),
    "hardtanh": (lambda ms: ms.nn.Hardtanh(-0.5, 1.5), [x((3, 7), 1, -2, 2)], False),
    "tanhshrink": (lambda ms: ms.nn.Tanhshrink(), [x((3, 7), 1, -2, 2)], False),
    "threshold": (lambda ms: ms.nn.Threshold(0.25, 3.0), [x((3, 7), 1, -2, 2)], False),
    "prelu": (lambda ms: ms.nn.PReLU(3), [x((2, 3, 2, 2), 1, -2, 2)], False),
    "glu": (lambda ms: ms.nn.GLU(), [x((3, 6), 1, -2, 2)], False),
    "softmax": (lambda ms: ms.nn.Softmax(), [x((3, 7), 1, -2, 2)], False),
    "softmax_axis": (lambda ms: ms.nn.Softmax(axis=0), [x((3, 7), 1, -2, 2)], False),
    "log_softmax": (lambda ms: ms.nn.LogSoftmax(), [x((3, 7), 1, -2, 2)], False),
    "softmin": (lambda ms: ms.nn.Softmin(), [x((3, 7), 1, -2, 2)], False),
    "softmax2d": (lambda ms: ms.nn.Softmax2d(), [x((2, 3, 2, 2), 1, -2, 2)], False),
}

_ROWS = [x((4, 5), 3, -3, 3), ids([0, 4, 2, 1])]
_PIXELS = [x((2, 5, 3), 3, -3, 3), ids([[0, 4, -100], [2, 1, 1]])]
_PAIR = [x((3, 4), 3), x((3, 4), 4)]
_SIGNS = [x((3, 4), 3), lambda ms: tensor(ms, np.where(data((3, 4), 9) > 0, 1, -1), np.float32)]
_BITS = [x((3, 4), 3, -3, 3), x((3, 4), 4, 0.0, 1.0)]
_REDUCTIONS = ("none", "mean", "sum")
_CLASS_WEIGHT = x((5,), 7, 0.5, 2.0)

# name: (loss, inputs)
LOSSES = {
    **{f"softmax_ce_sparse_{r}": (lambda ms, r=r: ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=r), _ROWS) for r in _REDUCTIONS},
    **{f"softmax_ce_dense_{r}": (lambda ms, r=r: ms.nn.SoftmaxCrossEntropyWithLogits(reduction=r), [x((4, 5), 3, -3, 3), probabilities((4, 5), 6)])
       for r in _REDUCTIONS},
    **{f"ce_{r}": (lambda ms, r=r: ms.nn.CrossEntropyLoss(reduction=r), _ROWS) for r in _REDUCTIONS},
    **{f"ce_smooth_{r}": (lambda ms, r=r: ms.nn.CrossEntropyLoss(reduction=r, label_smoothing=0.1), _ROWS) for r in _REDUCTIONS},
    **{f"ce_weight_{r}": (lambda ms, r=r: ms.nn.CrossEntropyLoss(_CLASS_WEIGHT(ms), reduction=r), _ROWS) for r in _REDUCTIONS},
    "ce_weight_smooth": (lambda ms: ms.nn.CrossEntropyLoss(_CLASS_WEIGHT(ms), label_smoothing=0.2, reduction="sum"), _ROWS),
    "ce_ignore": (lambda ms: ms.nn.CrossEntropyLoss(ignore_index=2), _ROWS),
    "ce_ignore_weight": (lambda ms: ms.nn.CrossEntropyLoss(_CLASS_WEIGHT(ms), ignore_index=2), _ROWS),
    "ce_pixels": (lambda ms: ms.nn.CrossEntropyLoss(), _PIXELS),
    "ce_pixels_none": (lambda ms: ms.nn.CrossEntropyLoss(reduction="none"), _PIXELS),
    **{f"ce_probabilities_{r}": (lambda ms, r=r: ms.nn.CrossEntropyLoss(reduction=r), [x((4, 5), 3, -3, 3), probabilities((4, 5), 6)])
       for r in _REDUCTIONS},
    **{f"mse_{r}": (lambda ms, r=r: ms.nn.MSELoss(r), _PAIR) for r in _REDUCTIONS},
    "mse_broadcast": (lambda ms: ms.nn.MSELoss(), [x((3, 4), 3), x((4,), 4)]),
    **{f"l1_{r}": (lambda ms, r=r: ms.nn.L1Loss(r), _PAIR) for r in _REDUCTIONS},
    "mae": (lambda ms: ms.nn.MAELoss(), _PAIR),
    "rmse": (lambda ms: ms.nn.RMSELoss(), _PAIR),
    "smooth_l1": (lambda ms: ms.nn.SmoothL1Loss(), _PAIR),
    "smooth_l1_beta": (lambda ms: ms.nn.SmoothL1Loss(beta=0.3, reduction="mean"), _PAIR),
    "huber": (lambda ms: ms.nn.HuberLoss(delta=0.6), _PAIR),
    **{f"bce_logits_{r}": (lambda ms, r=r: ms.nn.BCEWithLogitsLoss(r), _BITS) for r in _REDUCTIONS},
    "bce_logits_weights": (lambda ms: ms.nn.BCEWithLogitsLoss("mean", x((3, 4), 8, 0.2, 2.0)(ms), x((4,), 9, 0.2, 2.0)(ms)), _BITS),
    "bce": (lambda ms: ms.nn.BCELoss(), [x((3, 4), 3, 0.1, 0.9), x((3, 4), 4, 0.0, 1.0)]),
    "nll": (lambda ms: ms.nn.NLLLoss(), _ROWS),
    "nll_weight": (lambda ms: ms.nn.NLLLoss(_CLASS_WEIGHT(ms)), _ROWS),
    "kl_div": (lambda ms: ms.nn.KLDivLoss("batchmean"), [x((3, 4), 3, -2.0, -0.1), x((3, 4), 4, 0.1, 0.9)]),
    "cosine_embedding": (lambda ms: ms.nn.CosineEmbeddingLoss(0.1), [x((4, 3), 3), x((4, 3), 4), ids([1, -1, -1, 1])]),
    "margin_ranking": (lambda ms: ms.nn.MarginRankingLoss(0.2), [x((4,), 3), x((4,), 4), lambda ms: tensor(ms, [1, -1, -1, 1], np.float32)]),
    "hinge_embedding": (lambda ms: ms.nn.HingeEmbeddingLoss(), _SIGNS),
    "dice": (lambda ms: ms.nn.DiceLoss(), _PAIR),
    "multi_class_dice": (lambda ms: ms.nn.MultiClassDiceLoss(ignore_indiex=1), _PAIR),
    "focal_sparse": (lambda ms: ms.nn.FocalLoss(_CLASS_WEIGHT(ms)), [x((2, 5, 3), 3, -3, 3), ids([[[0, 4, 3]], [[2, 1, 1]]])]),
    "focal_dense": (lambda ms: ms.nn.FocalLoss(), [x((4, 5), 3, -3, 3), lambda ms: tensor(ms, np.eye(5)[[0, 4, 2, 1]], np.int32)]),
}

SHAPES = {"conv.weight": (2, 16, 1, 1), "bn.gamma": (4,), "bn.beta": (4,), "fc.weight": (3, 4), "fc.bias": (3,)}


def parameters(ms):
    return [ms.Parameter(tensor(ms, data(s, 10 + i)), name=n) for i, (n, s) in enumerate(SHAPES.items())]


def gradients(ms, step, scale=1.0):
    return tuple(tensor(ms, data(s, 100 + 10 * step + i) * scale, np.float32) for i, s in enumerate(SHAPES.values()))


def groups(ms, p, **decays):
    """Returns two groups with different rates and decays, updated in the order of definition."""
    return [{"params": [p[0], p[3]], "lr": 0.05, "weight_decay": 0.01}, {"params": [p[4], p[1], p[2]]}, {"order_params": p}]


# name: (optimizer of parameters, factor on the gradients)
OPTIMIZERS = {
    "momentum": (lambda ms, p: ms.nn.Momentum(p, 0.1, 0.9), 1),
    "momentum_decay": (lambda ms, p: ms.nn.Momentum(p, 0.1, 0.9, weight_decay=0.01), 1),
    "momentum_loss_scale": (lambda ms, p: ms.nn.Momentum(p, 0.1, 0.9, 0.01, 1000.0), 1000),
    "momentum_table": (lambda ms, p: ms.nn.Momentum(p, [0.1, 0.2, 0.05, 0.01, 0.3], 0.9), 1),
    "momentum_schedule": (lambda ms, p: ms.nn.Momentum(p, ms.nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), 0.9), 1),
    "momentum_groups": (lambda ms, p: ms.nn.Momentum(groups(ms, p), 0.1, 0.9, weight_decay=0.02), 1),
    "momentum_groups_dynamic": (lambda ms, p: ms.nn.Momentum(
        [{"params": p[:2], "lr": [0.1, 0.2, 0.05, 0.01, 0.3]}, {"params": p[2:], "weight_decay": 0.05}], 0.02, 0.9), 1),
    "sgd": (lambda ms, p: ms.nn.SGD(p, 0.1), 1),
    "sgd_momentum": (lambda ms, p: ms.nn.SGD(p, 0.1, momentum=0.9, dampening=0.1), 1),
    "sgd_nesterov": (lambda ms, p: ms.nn.SGD(p, 0.1, momentum=0.9, nesterov=True), 1),
    "adam": (lambda ms, p: ms.nn.Adam(p), 1),
    "adam_decay": (lambda ms, p: ms.nn.Adam(p, 0.01, 0.8, 0.99, 1e-6, weight_decay=0.1), 1),
    "adam_nesterov": (lambda ms, p: ms.nn.Adam(p, 0.01, use_nesterov=True), 1),
    "adam_amsgrad": (lambda ms, p: ms.nn.Adam(p, 0.01, use_amsgrad=True), 1),
    "adam_groups": (lambda ms, p: ms.nn.Adam(groups(ms, p), 0.01), 1),
    "adam_weight_decay": (lambda ms, p: ms.nn.AdamWeightDecay(p, 0.01, weight_decay=0.1), 1),
    "adam_weight_decay_groups": (lambda ms, p: ms.nn.AdamWeightDecay(groups(ms, p), 0.01), 1),
    "adagrad": (lambda ms, p: ms.nn.Adagrad(p, learning_rate=0.1, weight_decay=0.01), 1),
    "adadelta": (lambda ms, p: ms.nn.Adadelta(p, weight_decay=0.01), 1),
    "adamax": (lambda ms, p: ms.nn.AdaMax(p, 0.01), 1),
    "lazy_adam": (lambda ms, p: ms.nn.LazyAdam(p, 0.01, weight_decay=0.01), 1),
    "ftrl": (lambda ms, p: ms.nn.FTRL(p, learning_rate=0.1, l2=0.01, weight_decay=0.01), 1),
    "ftrl_power": (lambda ms, p: ms.nn.FTRL(p, learning_rate=0.1, lr_power=-0.3), 1),
    "rmsprop": (lambda ms, p: ms.nn.RMSProp(p, 0.01, momentum=0.5), 1),
    "rmsprop_centered": (lambda ms, p: ms.nn.RMSProp(p, 0.01, centered=True, momentum=0.5, weight_decay=0.01), 1),
}
STEPS = 5

SCHEDULES = {
    "exponential": lambda nn: nn.ExponentialDecayLR(0.1, 0.9, 4),
    "exponential_stair": lambda nn: nn.ExponentialDecayLR(0.1, 0.9, 4, is_stair=True),
    "natural_exp": lambda nn: nn.NaturalExpDecayLR(0.1, 0.9, 4),
    "natural_exp_stair": lambda nn: nn.NaturalExpDecayLR(0.1, 0.9, 4, True),
    "inverse": lambda nn: nn.InverseDecayLR(0.1, 0.9, 4),
    "inverse_stair": lambda nn: nn.InverseDecayLR(0.1, 0.9, 4, True),
    "cosine": lambda nn: nn.CosineDecayLR(0.01, 0.1, 4),
    "polynomial": lambda nn: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
    "polynomial_update": lambda nn: nn.PolynomialDecayLR(0.1, 0.01, 4, 2.0, update_decay_steps=True),
    "warm_up": lambda nn: nn.WarmUpLR(0.1, 4),
}

LISTS = {
    "piecewise": lambda nn: nn.piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01]),
    "exponential": lambda nn: nn.exponential_decay_lr(0.1, 0.9, 8, 2, 3),
    "exponential_stair": lambda nn: nn.exponential_decay_lr(0.1, 0.9, 8, 2, 3, True),
    "natural_exp": lambda nn: nn.natural_exp_decay_lr(0.1, 0.9, 8, 2, 3),
    "natural_exp_stair": lambda nn: nn.natural_exp_decay_lr(0.1, 0.9, 8, 2, 3, True),
    "inverse": lambda nn: nn.inverse_decay_lr(0.1, 0.5, 8, 2, 3),
    "inverse_stair": lambda nn: nn.inverse_decay_lr(0.1, 0.5, 8, 2, 3, True),
    "cosine": lambda nn: nn.cosine_decay_lr(0.01, 0.1, 8, 2, 2),
    "polynomial": lambda nn: nn.polynomial_decay_lr(0.1, 0.01, 8, 2, 3, 0.5),
    "polynomial_update": lambda nn: nn.polynomial_decay_lr(0.1, 0.01, 12, 1, 3, 0.5, True),
    "warmup": lambda nn: nn.warmup_lr(0.1, 8, 2, 3),
}


# Running a case. Results are flat lists of numbers by name, so that they can be stored as text.


def _numbers(t):
    a = np.asarray(t.asnumpy())
    return {"shape": list(a.shape), "values": [float(v) for v in a.astype(np.float64).ravel()]}


def _tensors(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


def run_layer(ms, name):
    """Returns names of parameters, outputs, values of untrained parameters after the call, and the gradients of sum(output·c) for floating inputs and
    parameters."""
    make, inputs, training = LAYERS[name]
    net, inputs = make(ms), [i(ms) for i in inputs]
    net.set_train(training)
    params = list(net.get_parameters())
    for i, p in enumerate(sorted(params, key=lambda p: p.name)):
        low = 0.25 if p.name == "variance" else -1.0
        p.set_data(tensor(ms, data(p.shape, 50 + i, low, 1.5)))
    out = {"names": sorted(p.name for p in params)}
    y = _tensors(net(*inputs))
    out["outputs"] = [_numbers(t) for t in y]
    out["state"] = {p.name: _numbers(p) for p in params if not p.requires_grad}
    floats = [i for i, t in enumerate(inputs) if t.dtype == ms.float32]
    trained = [p for p in net.trainable_params()]
    if name.startswith(("range", "one_hot")) or not (floats or trained):
        return out

    def weighted(*args):
        parts = [(t * tensor(ms, data(t.shape, 70 + i))).sum() for i, t in enumerate(_tensors(net(*args)))]
        return sum(parts[1:], parts[0])

    weights = ms.ParameterTuple(trained) if trained else None
    grads = ms.grad(weighted, tuple(floats) if floats else None, weights)(*inputs)
    of_inputs, of_weights = grads if floats and weights is not None else (grads, ()) if floats else ((), grads)
    out["input_grads"] = [_numbers(g) for g in _tensors(of_inputs)]
    out["weight_grads"] = {p.name: _numbers(g) for p, g in zip(trained, _tensors(of_weights))}
    return out


def run_loss(ms, name):
    """Returns the loss, and the gradient of its sum with respect to the first input."""
    make, inputs = LOSSES[name]
    loss, inputs = make(ms), [i(ms) for i in inputs]
    value = loss(*inputs)
    grad = ms.grad(lambda *a: loss(*a).sum(), 0)(*inputs)
    return {"loss": _numbers(value), "grad": _numbers(grad)}


def run_optimizer(ms, name):
    """Returns the parameters after every step, then the optimizer's state."""
    make, scale = OPTIMIZERS[name]
    params = parameters(ms)
    opt = make(ms, params)
    steps = []
    for step in range(STEPS):
        order = {p.name: g for p, g in zip(params, gradients(ms, step, scale))}
        opt(tuple(order[p.name] for p in opt.parameters))
        steps.append({p.name: _numbers(p) for p in params})
    own = {p.name for p in params}
    # Later versions always advance global_step; 1.x does so only if the rate depends on it.
    skip = own if opt.dynamic_lr else own | {"global_step"}
    return {"steps": steps, "state": {p.name: _numbers(p) for p in opt.get_parameters() if p.name not in skip}}


def run_schedule(ms, name):
    schedule = SCHEDULES[name](ms.nn)
    return [float(np.asarray(schedule(ms.Tensor(i, ms.int32)).asnumpy()).ravel()[0]) for i in range(11)]


def run_list(ms, name):
    return LISTS[name](ms.nn)


class _Nets:
    """Networks of a namespace, in the style of scripts."""

    def __init__(self, ms):
        nn = ms.nn

        class Convolutional(nn.Cell):
            def __init__(self):
                super().__init__()
                self.conv1, self.bn1 = nn.Conv2d(2, 4, 3, stride=2), nn.BatchNorm2d(4, momentum=0.8)
                self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, has_bias=True), nn.BatchNorm2d(4)
                self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2, pad_mode="same"), nn.Flatten()
                self.end_point = nn.Dense(16, 5)

            def construct(self, a):
                a = self.relu(self.bn1(self.conv1(a)))
                a = self.relu(self.bn2(self.conv2(a)) + a)
                return self.end_point(self.flatten(self.pool(a)))

        class Dense(nn.Cell):
            def __init__(self):
                super().__init__()
                self.blocks = nn.SequentialCell([nn.Dense(6, 8, activation="gelu"), nn.LayerNorm((8,)), nn.Dense(8, 5)])

            def construct(self, a):
                return self.blocks(a)

        self.convolutional, self.dense = Convolutional, Dense


def _decay_by_name(params, lr):
    decayed = [p for p in params if "bias" not in p.name and "bn" not in p.name]
    rest = [p for p in params if "bias" in p.name or "bn" in p.name]
    return [{"params": decayed, "weight_decay": 0.01, "lr": lr}, {"params": rest}, {"order_params": params}]


# name: (network, input shape, optimizer of parameters)
TRAININGS = {
    "momentum": ("convolutional", (6, 2, 8, 8), lambda nn, p: nn.Momentum(p, 0.05, 0.9, weight_decay=0.001)),
    "momentum_groups": ("convolutional", (6, 2, 8, 8), lambda nn, p: nn.Momentum(_decay_by_name(p, [0.1, 0.05, 0.05, 0.02, 0.02, 0.01]), 0.05, 0.9)),
    "adam": ("dense", (6, 6), lambda nn, p: nn.Adam(p, nn.CosineDecayLR(0.001, 0.02, 5))),
    "sgd": ("dense", (6, 6), lambda nn, p: nn.SGD(p, 0.1, momentum=0.5)),
}


def run_training(ms, name):
    """Returns the losses of six steps, then the parameters."""
    net_name, shape, make = TRAININGS[name]
    net = getattr(_Nets(ms), net_name)()
    for i, p in enumerate(sorted(net.get_parameters(), key=lambda p: p.name)):
        low = 0.5 if p.name.endswith(("variance", "gamma")) else -0.4
        p.set_data(tensor(ms, data(p.shape, 30 + i, low, low + 0.8)))
    optimizer = make(ms.nn, net.trainable_params())
    loss = ms.nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = ms.nn.TrainOneStepCell(ms.nn.WithLossCell(net, loss), optimizer).set_train()
    a, labels = tensor(ms, data(shape, 90)), tensor(ms, [0, 4, 2, 1, 3, 0], np.int32)
    losses = [float(step(a, labels).asnumpy()) for _ in range(6)]
    return {"losses": losses, "parameters": {p.name: _numbers(p) for p in net.get_parameters()}}


RUNS = {"layers": (LAYERS, run_layer), "losses": (LOSSES, run_loss), "optimizers": (OPTIMIZERS, run_optimizer),
        "schedules": (SCHEDULES, run_schedule), "lists": (LISTS, run_list), "trainings": (TRAININGS, run_training)}
