"""sindri.summary of networks written in Python."""
import pytest

import sindri as ms
from sindri import nn


class Two(nn.Cell):
    """Two outputs, a Cell that is called twice, and one that is not called."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
        self.act = nn.ReLU()
        self.spare = nn.Dense(5, 6)

    def construct(self, x, scale):
        y = self.act(self.body(x)) * scale
        return self.act(y), y.sum()


def test_rows_name_shapes_and_parameters(mode):
    net = Two()
    net.body.set_train(True)
    net.body[0].weight.requires_grad = False
    before = net.body[1].moving_mean.asnumpy()
    found = ms.summary(net, (2, 3, 8, 8), 2.0)
    assert ms.get_context("mode") == (ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    rows = {cell.name: cell for cell in found.cells}
    assert rows[""].outputs == [(2, 4, 8, 8), ()]
    assert rows["body.0"].outputs == [(2, 4, 8, 8)] and rows["body.0"].kind == "Conv2d"
    assert (rows["act"].calls, rows["spare"].calls, rows["spare"].outputs) == (2, 0, [])
    assert rows["body.0"].parameters == 4 * 3 * 9 and rows["body.0"].trainable == 0
    assert found.parameters == sum(p.size for p in net.get_parameters())
    assert found.trainable == sum(p.size for p in net.trainable_params())
    # The network has not changed.
    assert net.body.training and net.body[1].training and not net.training
    assert (net.body[1].moving_mean.asnumpy() == before).all()
    assert "not called" in str(found) and "body" in str(found)


def test_depth_and_tensors():
    net = nn.SequentialCell(nn.SequentialCell(nn.Dense(4, 3)), nn.ReLU())
    text = str(ms.summary(net, ms.ops.ones((2, 4)), depth=1)).splitlines()
    assert [line.split()[0] for line in text[1:4]] == ["SequentialCell", "0", "1"] and text[-1].startswith("15 parameters")
    assert len(str(ms.summary(net, ms.ops.ones((2, 4)))).splitlines()) == 6


@pytest.mark.parametrize("call, error", [
    (lambda: ms.summary(3, (1,)), "must be a Cell, got int"),
    (lambda: ms.summary(nn.ReLU()), "no input was given"),
    (lambda: ms.summary(nn.ReLU(), (1, 2), depth=-1), "must not be negative"),
])
def test_wrong_arguments(call, error):
    with pytest.raises((TypeError, ValueError), match=error):
        call()
