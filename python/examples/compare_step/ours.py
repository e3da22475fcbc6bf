"""The same step in Sindri: `python -m sindri compare record ours.py:make ours.npz`, with resnet18.ckpt written by `python -m sindri convert`."""
from __future__ import annotations

import os
import sys

import numpy as np

import sindri as ms
from sindri import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
from src.resnet import resnet18  # noqa: E402


def make() -> tuple[nn.Cell, nn.Cell, nn.Optimizer, tuple[np.ndarray, ...]]:
    """Returns (net, loss, optimizer, batch)."""
    net = resnet18(1000, variant="torchvision")
    ms.load_checkpoint("resnet18.ckpt", net)
    rng = np.random.default_rng(0)
    batch = rng.standard_normal((4, 3, 64, 64)).astype(np.float32), rng.integers(0, 1000, 4).astype(np.int32)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), optimizer, batch
