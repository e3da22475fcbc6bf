"""THOR in the form of MindSpore 1.1: layers that compute the curvature, an optimizer that receives their matrices, and a model that switches both.

`python layer_form.py` trains the network of train_thor.py in this way. It averages over the batch before it multiplies rows (the form for GPUs), and blocks are
128 wide.
"""
from __future__ import annotations

from typing import Any, Iterable

import numpy as np
from small_resnet import SmallResNet, digits
from thor_schedule import get_thor_damping, get_thor_lr

import sindri as ms
from sindri import Parameter, ParameterTuple, Tensor, nn, ops
from sindri.ops import operations as P
from sindri.train import Model
from sindri.train.callback import LossMonitor

SPLIT = 128


def blocks_of(width: int) -> tuple[int, int]:
    """Returns (number, width) of a factor's blocks before they are padded with zeros."""
    return (1, width) if width <= SPLIT else ((width + SPLIT - 1) // SPLIT, SPLIT)


class Curvature(nn.Cell):
    """Base of both layers: computes matrix_A_inv and matrix_G_inv in the optimizer's form."""

    def set_up(self, outputs: int, inputs: int, damping: Tensor, loss_scale: float, batch_size: int) -> None:
        """Declares factors of widths `inputs` (A) and `outputs` (G)."""
        self.thor = True
        (ga, gw), (aa, aw) = blocks_of(outputs), blocks_of(inputs)
        self.g_blocks = ga
        self.matrix_A_inv = Parameter(Tensor(np.zeros((ga, aa, SPLIT, SPLIT), np.float32)), name="matrix_A_inv", requires_grad=False)
        self.matrix_G_inv = Parameter(Tensor(np.zeros((ga, SPLIT, SPLIT), np.float32)), name="matrix_G_inv", requires_grad=False)
        self.to_a, self.to_g = (P.Pad(((0, 0), (0, SPLIT - width), (0, SPLIT - width))) for width in (aw, gw))
        self.cov_step = Parameter(Tensor(0, ms.int32), name="cov_step", requires_grad=False)
        self.damping, self.scale = damping, batch_size ** 2 / loss_scale ** 2
        self.cholesky = P.CholeskyTrsm(split_dim=SPLIT)
        self.insert = P.InsertGradientOf(self.take_g)

    def inverse(self, matrix: Tensor, positions: float) -> Tensor:
        """Returns (matrix + sqrt(damping/positions)·I)⁻¹ in blocks."""
        root = ops.sqrt(ops.gather(self.damping, self.cov_step, 0) / positions)
        lower = self.cholesky(matrix + root * ops.eye(matrix.shape[0], matrix.shape[0], ms.float32))
        if lower.ndim == 2:
            lower = ops.expand_dims(lower, 0)
        return ops.matmul(ops.transpose(lower, (0, 2, 1)), lower)

    def keep_a(self, matrix: Tensor, positions: float) -> None:
        """Stores the inverse of A, scaled by 1/sqrt(positions), once per block row of G."""
        inverse = self.to_a(self.inverse(matrix, positions) / positions ** 0.5)
        ops.assign(self.matrix_A_inv, ops.tile(ops.expand_dims(inverse, 0), (self.g_blocks, 1, 1, 1)))

    def keep_g(self, rows: Tensor, count: float, positions: float) -> None:
        """Stores the inverse of G, scaled by 1/sqrt(positions); the gradients are the columns of `rows`."""
        matrix = ops.matmul(rows, ops.transpose(rows, (1, 0))) / count * self.scale
        ops.assign(self.matrix_G_inv, self.to_g(self.inverse(matrix, positions) / positions ** 0.5))
        ops.assign(self.cov_step, self.cov_step + 1)


class Conv2d_Thor(Curvature):
    """A convolution with 'same' padding."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, damping: Tensor, loss_scale: float, batch_size: int) -> None:
        super().__init__()
        self.weight = Parameter(ms.common.initializer.initializer("he_normal", (outputs, inputs, kernel, kernel)), name="weight")
        self.conv = P.Conv2D(outputs, kernel, pad_mode="same", stride=stride)
        self.im2col = P.Im2Col(kernel_size=kernel, pad_mode="same", stride=stride)
        self.set_up(outputs, inputs * kernel * kernel, damping, loss_scale, batch_size)

    def take_g(self, dout: Tensor) -> Tensor:
        """Backward: the mean over the batch at each position is one column."""
        mean = ops.reduce_mean(dout, 0)
        positions = float(mean.shape[1] * mean.shape[2])
        self.keep_g(ops.reshape(mean, (mean.shape[0], -1)), positions, positions)
        return dout

    def construct(self, x: Tensor) -> Tensor:
        if not self.thor or not self.training:
            return self.conv(x, self.weight)
        columns = self.im2col(ops.stop_gradient(x))
        positions = float(columns.shape[-1] * columns.shape[-2])
        mean = ops.reshape(ops.reduce_mean(columns, columns.ndim - 3), (-1, int(positions)))
        self.keep_a(ops.matmul(mean, ops.transpose(mean, (1, 0))) / positions, positions)
        return self.insert(self.conv(x, self.weight))


class Dense_Thor(Curvature):
    """A dense layer, x·Wᵀ + b."""

    def __init__(self, inputs: int, outputs: int, damping: Tensor, loss_scale: float, batch_size: int) -> None:
        super().__init__()
        self.weight = Parameter(ms.common.initializer.initializer("he_uniform", (outputs, inputs)), name="weight")
        self.bias = Parameter(Tensor(np.zeros(outputs, np.float32)), name="bias")
        self.set_up(outputs, inputs, damping, loss_scale, batch_size)

    def take_g(self, dout: Tensor) -> Tensor:
        """Backward: every sample is one column."""
        self.keep_g(ops.transpose(dout, (1, 0)), float(dout.shape[0]), 1.0)
        return dout

    def construct(self, x: Tensor) -> Tensor:
        product = ops.matmul(x, ops.transpose(self.weight, (1, 0)))
        if self.thor and self.training:
            rows = ops.stop_gradient(x)
            self.keep_a(ops.matmul(ops.transpose(rows, (1, 0)), rows) / rows.shape[0], 1.0)
            product = self.insert(product)
        return product + self.bias


class THOR_GPU(nn.Optimizer):
    """Applies G⁻¹·dW·A⁻¹ to the weights of layers with matrices, then weight decay and momentum."""

    def __init__(self, params: Iterable[Parameter], learning_rate: Tensor, momentum: float, matrix_A: Iterable[Parameter], matrix_G: Iterable[Parameter],
                 weight_decay: float = 0.0, loss_scale: float = 1.0, decay_filter: Any = lambda p: p.name not in []) -> None:
        super().__init__(learning_rate, list(params), weight_decay, loss_scale)
        self.matrix_A, self.matrix_G = ParameterTuple(matrix_A), ParameterTuple(matrix_G)
        self.momentum, self.decay_share = momentum, weight_decay
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        owners = {m.name[:-len("matrix_A_inv")]: i for i, m in enumerate(self.matrix_A)}
        self.at = [owners.get(p.name[:-len("weight")], -1) if p.name.endswith("weight") else -1 for p in self.parameters]
        self.decays = [decay_filter(p) for p in self.parameters]
        self.update_gradient = P.UpdateThorGradient(split_dim=SPLIT)

    def construct(self, gradients: tuple[Any, ...]) -> bool:
        rate = self.get_lr()
        for p, v, g, at, decays in zip(self.parameters, self.moments, gradients, self.at, self.decays):
            g = g / self.loss_scale
            if at >= 0:
                flat = ops.reshape(g, (g.shape[0], -1))
                g = ops.reshape(self.update_gradient(self.matrix_G[at], flat, self.matrix_A[at]), g.shape)
            if decays:
                g = g + self.decay_share * p
            step = self.momentum * v + g
            ops.assign(v, step)
            ops.assign(p, p - rate * step)
        return True


class Model_Thor(Model):
    """A Model whose network computes the curvature every `frequency` steps, controlled by the flag `thor`."""

    def __init__(self, network: nn.Cell, frequency: int, **kwargs: Any) -> None:
        super().__init__(network, **kwargs)
        self.switch = _Switch(network, frequency)

    def train(self, epoch: int, train_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False, sink_size: int = -1, initial_epoch: int = 0) -> Any:
        return super().train(epoch, train_dataset, [self.switch, *(callbacks or [])], dataset_sink_mode, sink_size, initial_epoch)


class _Switch(ms.Callback):
    def __init__(self, network: nn.Cell, frequency: int) -> None:
        super().__init__()
        self.network, self.frequency = network, frequency

    def on_train_step_begin(self, run_context: Any) -> None:
        self.network.add_flags_recursive(thor=(run_context.original_args().cur_step_num - 1) % self.frequency == 0)


def main() -> None:
    """Trains for six epochs on the digits and prints the losses and the accuracy."""
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    batch, epochs, scale = 32, 6, 128.0
    data = digits("train", batch)
    steps = data.get_dataset_size()
    damping = Tensor(get_thor_damping(0, 0.1, 0.5, epochs, steps))
    net = SmallResNet(lambda i, o, k, s: Conv2d_Thor(i, o, k, s, damping, scale, batch), lambda i, o: Dense_Thor(i, o, damping, scale, batch))
    opt = THOR_GPU(filter(lambda p: p.requires_grad, net.get_parameters()), Tensor(get_thor_lr(0, 0.05, 2.0, epochs, steps, decay_epochs=epochs)), 0.9,
                   filter(lambda p: "matrix_A" in p.name, net.get_parameters()), filter(lambda p: "matrix_G" in p.name, net.get_parameters()), 5e-4, scale)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    manager = ms.FixedLossScaleManager(scale, drop_overflow_update=False)
    model = Model_Thor(net, frequency=steps // 2, loss_fn=loss, optimizer=opt, metrics={"acc"}, loss_scale_manager=manager)
    model.train(epochs, data, [LossMonitor(steps)])
    print("result:", model.eval(digits("test", 32)))


if __name__ == "__main__":
    main()
