"""LeNet on the bundled digits, with weights from a formula: 50 steps, the loss of each as a line of JSON. A MindSpore script that runs unchanged under both
packages.

    python lenet_digits.py dataset/digits/digits.csv.gz graph|pynative
"""
import json
import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore.train import Callback, Model


class LeNet5(nn.Cell):
    """LeNet-5 for images [N, 1, 32, 32]."""

    def __init__(self, num_class=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1 = nn.Dense(16 * 5 * 5, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, num_class)
        self.relu = nn.ReLU()
        self.max_pool2d = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.max_pool2d(self.relu(self.conv1(x)))
        x = self.max_pool2d(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


class Losses(Callback):
    """Records the loss of every step."""

    def __init__(self):
        super().__init__()
        self.values = []

    def on_train_step_end(self, run_context):
        self.values.append(float(run_context.original_args().net_outputs.asnumpy()))


def main(path, mode):
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE, device_target="CPU")
    rows = np.loadtxt(path, delimiter=",", dtype=np.float32)[:1600]
    image, label = rows[:, :-1], rows[:, -1].astype(np.int32)
    image = np.kron(image.reshape(-1, 1, 8, 8) / 16, np.ones((1, 1, 4, 4), np.float32)).astype(np.float32)
    net = LeNet5()
    random = np.random.RandomState(5)
    for p in net.trainable_params():
        p.set_data(Tensor((random.standard_normal(p.shape) * (2 / max(np.prod(p.shape[1:]), 20)) ** 0.5).astype(np.float32)))
    data = ds.NumpySlicesDataset((image, label), ["image", "label"], shuffle=False).batch(32)
    losses = Losses()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.02, 0.9))
    model.train(1, data, callbacks=[losses], dataset_sink_mode=False)
    print(json.dumps(losses.values))


if __name__ == "__main__":
    main(*sys.argv[1:])
