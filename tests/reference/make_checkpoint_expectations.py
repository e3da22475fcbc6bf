#!/usr/bin/env python3
"""Writes tests/train/data/mindspore*.ckpt with the real MindSpore (made with 2.10.0 and numpy<2), and checks a file of ours.

usage: make_checkpoint_expectations.py OUTPUT_DIR            write the stored files
       make_checkpoint_expectations.py --read FILE           load FILE (written by Sindri) and print names, shapes, dtypes and values

The files contain every dtype Sindri shares with MindSpore, a scalar, a string and numbers, with and without the CRC trailer.
"""
import os
import sys

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn


def entries():
    return [
        {"name": "conv.weight", "data": Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 8)},
        {"name": "bn.moving_mean", "data": Parameter(Tensor(np.array([0.5, -1.5], np.float32)), name="bn.moving_mean")},
        {"name": "half", "data": Tensor([1.5, -2.0], dtype=ms.float16)},
        {"name": "brain", "data": Tensor([1.5, -2.0, 3.0], dtype=ms.bfloat16)},
        {"name": "double", "data": Tensor(np.array([[1.25]], np.float64))},
        {"name": "int", "data": Tensor(np.array([7, -7], np.int32))},
        {"name": "long", "data": Tensor(np.array([1 << 40], np.int64))},
        {"name": "byte", "data": Tensor(np.array([0, 255], np.uint8))},
        {"name": "flag", "data": Tensor(np.array([True, False]))},
        {"name": "scalar", "data": Tensor(np.float32(2.5))},
    ]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init=Tensor(np.ones((2, 3), np.float32)), bias_init="zeros")

    def construct(self, x):
        return self.fc(x)


def write(folder):
    extra = {"epoch_num": 3, "lr": 0.5, "on": True, "note": "h\u00e9llo \u4f60"}
    for name, crc in (("mindspore_plain", False), ("mindspore_crc", True)):
        path = os.path.join(folder, name + ".ckpt")
        if os.path.exists(path):
            os.remove(path)
        ms.save_checkpoint(entries(), path, append_dict=dict(extra), crc_check=crc)
        os.chmod(path, 0o644)
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    path = os.path.join(folder, "mindspore_net.ckpt")
    ms.save_checkpoint(nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer), path)
    os.chmod(path, 0o644)


def read(path):
    for name, value in ms.load_checkpoint(path, crc_check=True).items():
        if isinstance(value, str):
            print(name, "str", value)
        else:
            print(name, value.shape, value.dtype, value.astype(ms.float32).asnumpy().reshape(-1).tolist())


if __name__ == "__main__":
    if sys.argv[1] == "--read":
        read(sys.argv[2])
    else:
        write(sys.argv[1])
