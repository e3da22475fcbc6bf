"""A network written in Python is bitwise identical to the same network in C++: initial values, forward, moving statistics, gradients."""
import numpy as np
import pytest

import sindri as ms
from sindri import nn
from sindri.common.initializer import HeUniform, Normal, Uniform
from sindri.ops.composite.grad import GradOperation


class Digits(nn.Cell):
    """The C++ library's network digits (models/digits.cc)."""

    def __init__(self):
        super().__init__()
        conv = dict(kernel_size=3, pad_mode="pad", padding=1, weight_init="he_normal")
        self.conv1, self.bn1 = nn.Conv2d(1, 16, **conv), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 32, **conv), nn.BatchNorm2d(32)
        self.conv3, self.bn3 = nn.Conv2d(32, 64, **conv), nn.BatchNorm2d(64)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.fc = nn.Dense(256, 10, weight_init=HeUniform(5 ** 0.5), bias_init=Uniform(1 / 16))

    def construct(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.pool(self.relu(self.bn2(self.conv2(x))))
        x = self.pool(self.relu(self.bn3(self.conv3(x))))
        return self.fc(self.flatten(x))


class LeNet(nn.Cell):
    """The C++ library's network lenet (models/lenet.cc)."""

    def __init__(self):
        super().__init__()
        init = Normal(0.02)
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="he_uniform")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init="he_uniform")
        self.max_pool2d, self.flatten, self.relu = nn.MaxPool2d(2, 2), nn.Flatten(), nn.ReLU()
        self.fc1, self.fc2, self.fc3 = (nn.Dense(i, o, init, "zeros") for i, o in ((400, 120), (120, 84), (84, 10)))

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(self.flatten(x))))))


def pair(name, cls):
    ms.set_seed(11)
    native = ms.models.create(name)
    ms.set_seed(11)
    ours = cls()
    return native, ours


def test_settings_are_those_the_network_declares():
    net = ms.models.create("resnet20", zero_init_residual=True)
    assert not any(p.asnumpy().any() for p in net.get_parameters() if p.name.endswith("bn2d.gamma"))
    with pytest.raises(ValueError, match="mlp has no setting 'conv_init'"):
        ms.models.create("mlp", conv_init="zeros")
    with pytest.raises(ValueError, match="resnet20 has no setting 'depth'"):
        ms.models.create("resnet20", depth=3)
    with pytest.raises(ValueError, match="did you mean 'lenet'"):
        ms.models.create("lenett")


@pytest.mark.parametrize("name, cls", [("lenet", LeNet), ("digits", Digits)])
def test_same_names_and_initial_bits(name, cls):
    native, ours = pair(name, cls)
    theirs = {p.name: p for p in native.get_parameters()}
    assert sorted(theirs) == sorted(p.name for p in ours.get_parameters())
    for p in ours.get_parameters():
        np.testing.assert_array_equal(p.asnumpy(), theirs[p.name].asnumpy(), err_msg=p.name)


@pytest.mark.parametrize("name, cls, shape", [("lenet", LeNet, (8, 1, 32, 32)), ("digits", Digits, (8, 1, 8, 8))])
def test_same_bits_in_training(name, cls, shape, mode):
    x = ms.Tensor(np.random.default_rng(3).standard_normal(shape).astype(np.float32))
    labels = ms.Tensor(np.arange(8) % 10, ms.int32)
    results = []
    for net in pair(name, cls):
        net.set_train()
        with_loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
        weights = ms.ParameterTuple(net.trainable_params())
        grads = GradOperation(get_by_list=True)(with_loss, weights)(x, labels)
        found = {"grad " + p.name: g.asnumpy() for p, g in zip(weights, grads)}
        found["output"] = net(x).asnumpy()
        found.update({"state " + p.name: p.asnumpy() for p in net.untrainable_params()})
        net.set_train(False)
        found["inference"] = net(x).asnumpy()
        results.append(found)
    native, ours = results
    assert sorted(native) == sorted(ours)
    for key in native:
        np.testing.assert_array_equal(ours[key], native[key], err_msg=key)
