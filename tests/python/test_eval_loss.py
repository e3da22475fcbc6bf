"""The loss of an evaluation is that of all samples: neither the batch size nor a smaller last batch changes it."""
import numpy as np
import pytest

import sindri as ms
from sindri import nn

ROWS, CLASSES = 13, 4
RNG = np.random.default_rng(5)
X = RNG.normal(size=(ROWS, 3)).astype(np.float32)
WEIGHT = RNG.normal(size=(CLASSES, 3)).astype(np.float32)
CLASS = np.array([0, 1, 2, 3, 1, 1, -100, 2, 0, -100, -100, -100, 3], np.int32)
VALUES = RNG.normal(size=(ROWS, CLASSES)).astype(np.float32)


def of_classes(logits, weights=None, reduction='mean', labels=CLASS):
    """Computes PyTorch's definition in float64."""
    logits = logits.astype(np.float64)
    p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    counted = labels != -100
    w = (np.ones(CLASSES) if weights is None else weights.astype(np.float64))[labels[counted]]
    terms = -p[counted, labels[counted]] * w
    return terms.sum() if reduction == 'sum' else terms.sum() / w.sum()


W = np.array([0.5, 1.0, 2.0, 4.0], np.float32)
OUT = X.astype(np.float64) @ WEIGHT.T.astype(np.float64)
WHOLE = np.abs(CLASS)  # -100 -> 100: no class is ignored below
WHOLE = np.where(CLASS < 0, 2, CLASS).astype(np.int32)
CASES = {
    'mse mean': (lambda: nn.MSELoss(), VALUES, ((OUT - VALUES) ** 2).mean()),
    'mse sum': (lambda: nn.MSELoss('sum'), VALUES, ((OUT - VALUES) ** 2).sum()),
    'l1 mean': (lambda: nn.L1Loss(), VALUES, np.abs(OUT - VALUES).mean()),
    'softmax none': (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True), WHOLE, of_classes(OUT, labels=WHOLE)),
    'softmax mean': (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), WHOLE, of_classes(OUT, labels=WHOLE)),
    'softmax sum': (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='sum'), WHOLE, of_classes(OUT, None, 'sum', WHOLE)),
    'classes ignored': (lambda: nn.CrossEntropyLoss(), CLASS, of_classes(OUT)),
    'classes weighted': (lambda: nn.CrossEntropyLoss(weight=ms.Tensor(W)), CLASS, of_classes(OUT, W)),
    'classes sum': (lambda: nn.CrossEntropyLoss(weight=ms.Tensor(W), reduction='sum'), CLASS, of_classes(OUT, W, 'sum')),
    'a function': (lambda: lambda y, t: ((y - t) ** 2).mean(), VALUES, ((OUT - VALUES) ** 2).mean()),
}


@pytest.mark.parametrize('name', sorted(CASES))
@pytest.mark.parametrize('batch', [1, 4, 5, 12, 13])
def test_the_batch_size_changes_nothing(mode, name, batch):
    """Batch 1 and 4 have a batch in which every label is ignored."""
    loss, labels, expected = CASES[name]
    net = nn.Dense(3, CLASSES, weight_init=ms.Tensor(WEIGHT), has_bias=False)
    data = ms.dataset.NumpySlicesDataset({'x': X, 'y': labels}, shuffle=False).batch(batch)
    seen = {}

    class Seen(ms.Callback):
        def on_eval_end(self, run_context):
            seen.update(run_context.original_args().eval_results)

    model = ms.Model(net, loss(), nn.SGD(net.trainable_params(), 0.0), metrics={'loss': nn.Loss(), 'chosen': nn.Loss().set_indexes([0])})
    results = model.eval(data, callbacks=[Seen()])
    np.testing.assert_allclose([results['loss'], results['chosen'], seen['eval_loss']], [expected] * 3, rtol=2e-6)


def test_the_metric_alone_counts_each_call_once():
    """As in MindSpore."""
    metric = nn.Loss()
    metric.update(ms.Tensor(1.0))
    metric.update(ms.Tensor([2.0, 4.0]))
    assert metric.eval() == 2.0 and metric._total_num == 2 and metric._sum_loss == 4
