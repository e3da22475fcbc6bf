"""Mistakes of new users: the message names the likely one, with Python's names."""
import numpy as np
import pytest

import sindri as ms
import sindri.dataset as ds
from sindri import Tensor, nn

LOGITS = Tensor(np.ones((8, 3), np.float32))
ONE_HOT = np.eye(3)[np.zeros(8, int)]


def message(call, kind=TypeError):
    with pytest.raises(kind) as caught:
        call()
    assert "ops::" not in str(caught.value) and "ops::" not in getattr(caught.value, "fix", "")
    return str(caught.value)


def test_labels_of_the_other_kind():
    loss = nn.SoftmaxCrossEntropyWithLogits
    assert "labels that are class numbers need sparse=True" in message(lambda: loss()(LOGITS, Tensor(np.zeros(8, np.int32))))
    assert "probabilities: convert them with ops.cast" in message(lambda: loss()(LOGITS, Tensor(ONE_HOT.astype(np.int32))))
    assert "one-hot need sparse=False" in message(lambda: loss(sparse=True)(LOGITS, Tensor(ONE_HOT.astype(np.float32))))


def test_images_as_bytes():
    for call in (lambda: nn.Dense(4, 3)(Tensor(np.ones((2, 4), np.uint8))), lambda: nn.Conv2d(3, 4, 3)(Tensor(np.ones((1, 3, 8, 8), np.uint8))),
                 lambda: nn.BatchNorm2d(3)(Tensor(np.ones((1, 3, 8, 8), np.uint8)))):
        assert "scale the images in the data (ToTensor, or Rescale(1 / 255, 0)), or convert with ops.cast" in message(call)
    assert "convert it with ops.cast" in message(lambda: nn.Dense(4, 3)(Tensor(np.ones((2, 4), np.int32))))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_model_without_its_loss(mode):
    ms.set_context(mode=mode)
    try:
        net = nn.Dense(4, 3)
        model = ms.Model(net, optimizer=nn.Momentum(net.trainable_params(), 0.1, 0.9))
        data = ds.NumpySlicesDataset((np.ones((16, 4), np.float32), np.zeros(16, np.int32)), ["image", "label"]).batch(8)
        text = message(lambda: model.train(1, data))
        assert "Dense.construct cannot take the dataset's 2 columns (image, label)" in text and "give Model a loss_fn" in text
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_network_that_computes_its_own_loss_takes_any_columns():
    class Own(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(4, 1)

        def construct(self, *columns):
            return (self.dense(columns[0]) - columns[1]).mean()

    net = Own()
    data = ds.NumpySlicesDataset((np.ones((16, 4), np.float32), np.zeros((16, 1), np.float32), np.zeros(16, np.int32)), ["a", "b", "c"]).batch(8)
    ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1)).train(1, data)
