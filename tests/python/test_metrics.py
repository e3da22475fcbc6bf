"""Metrics compared with MindSpore 2.10.0's results for the same inputs (expectations/metrics.json)."""
import copy
import json
import os
import pickle

import numpy as np
import pytest

import metric_cases
import sindri.train as train
from sindri import Tensor, nn

with open(os.path.join(os.path.dirname(__file__), 'expectations', 'metrics.json'), encoding='utf-8') as f:
    EXPECTED = json.load(f)
GOT = metric_cases.results(train)
with open(os.path.join(os.path.dirname(__file__), '..', 'nn', 'expectations', 'metrics.json'), encoding='utf-8') as f:
    COUNTED = json.load(f)  # tests/nn/metric_expectations_test.cc reads it, too


def test_every_case_is_recorded():
    assert sorted(GOT) == sorted(EXPECTED) and len(EXPECTED) > 110


@pytest.mark.parametrize('name', sorted(EXPECTED))
def test_value(name):
    want, got = EXPECTED[name], GOT[name]
    if isinstance(want, str):
        assert got == want
    else:
        assert not isinstance(got, str), got
        np.testing.assert_equal(np.shape(_flat(got)), np.shape(_flat(want)))
        np.testing.assert_allclose(_flat(got), _flat(want), rtol=2e-6, atol=1e-12)


def test_counted():
    results = {c['name']: c['want'] for c in metric_cases.counted_results(train)}
    assert sorted(results) == sorted(c['name'] for c in COUNTED) and len(COUNTED) > 300
    for case in COUNTED:
        want, got = case['want'], results[case['name']]
        if isinstance(want, str) or isinstance(got, str):
            assert got == want, case['name']
        else:
            np.testing.assert_allclose([float(x) for x in got], [float(x) for x in want], 2e-6, 1e-12, err_msg=case['name'])


def test_rates_and_distances_that_are_refused():
    masks = np.eye(3, dtype=int)[np.array([[[0, 1], [2, 0]]])].transpose(0, 3, 1, 2)
    for decrease in ('mean_batch', 'sum_channel', 'none'):
        metric = train.ConfusionMatrixMetric(True, 'tpr', True, decrease)
        if decrease == 'sum_channel':
            metric.update(masks, masks)  # one sample, so one sum
            assert metric.eval() == 3
            continue
        with pytest.raises(ValueError, match=decrease):
            metric.update(masks, masks)
    with pytest.raises(NotImplementedError, match='tpr'):
        train.ConfusionMatrixMetric(True, 'no such rate')
    metric = train.HausdorffDistance()
    with pytest.raises(TypeError, match='label must be int or float'):
        metric.update(masks, masks, np.array([1]))
    with pytest.raises(RuntimeError, match='no samples'):
        metric.eval()
    with pytest.raises(ValueError, match='percentile'):
        train.HausdorffDistance(percentile=101.0)
    x = np.array([0.2, 0.4, 0.6])
    assert [a.tolist() for a in train.ROC()(x, np.array([0, 1, 1]))] == [[0, 0, 0, 1], [0, 0.5, 1, 1], [1.6, 0.6, 0.4, 0.2]]
    one_sided = train.ROC()  # has no curve, but its attributes can be read, and it can be copied
    one_sided.update(x, np.array([0, 0, 0]))
    assert not hasattr(copy.deepcopy(one_sided), '_nothing')
    with pytest.raises(ValueError, match='no sample is positive'):
        one_sided.eval()
    last = train.ROC()
    last.update(x, np.array([0, 1, 0]))
    last.update(x, np.array([0, 1, 1]))  # the last batch counts
    np.testing.assert_equal(last.eval(), train.ROC()(x, np.array([0, 1, 1])))


def test_counts_and_hooks():
    class Shifted(train.Accuracy):
        def update(self, *inputs):
            super().update(self._convert_data(inputs[0]) - 1, *inputs[1:])

    x = np.array([[.1, .9], [.8, .2], [.7, .3]], np.float32)
    accuracy = Shifted().set_indexes([2, 0])
    accuracy.clear()
    accuracy.update(np.array([2, 1, 2]), None, x)
    assert (accuracy._correct_num, accuracy._total_num, accuracy._class_num) == (2, 3, 2) and accuracy.eval() == pytest.approx(2 / 3)
    with pytest.raises(AttributeError, match='Shifted.*_wrong_num'):
        accuracy._wrong_num
    matrix = train.ConfusionMatrix(3)
    matrix.update(x, np.array([1, 0, 1]))
    assert matrix.confusion_matrix.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    precision = train.Precision()
    precision.update(x, [1, 0, 1])
    assert precision._true_positives.tolist() == [1, 1] and precision._positives.tolist() == [2, 1]


def _flat(value):
    return [x for v in value for x in _flat(v)] if isinstance(value, list) else [value]


def test_registry():
    assert train.names() == ['F1', 'acc', 'accuracy', 'auc', 'bleu_score', 'confusion_matrix', 'confusion_matrix_metric', 'cosine_similarity', 'dice',
                             'hausdorff_distance', 'loss', 'mae', 'mean_surface_distance', 'mse', 'occlusion_sensitivity', 'perplexity', 'precision',
                             'recall', 'roc', 'root_mean_square_distance', 'top_1_accuracy', 'top_5_accuracy', 'topk']
    assert isinstance(train.get_metric_fn('acc'), train.Accuracy)
    assert train.get_metric_fn('topk', 2).k == 2
    with pytest.raises(KeyError):
        train.get_metric_fn('accurracy')


def test_one_object_on_all_paths():
    import sindri.nn.metrics as old
    assert nn.Accuracy is train.Accuracy is old.Accuracy and nn.Metric is train.metrics.Metric


def test_own_metric_with_indexes():
    class Mine(train.Metric):
        def clear(self):
            self.sum = 0

        @train.rearrange_inputs
        def update(self, *inputs):
            assert len(inputs) == 2
            self.sum += float((self._convert_data(inputs[0]) - self._convert_data(inputs[1])).sum())

        def eval(self):
            return self.sum

    metric = Mine().set_indexes([0, 2])
    assert metric.indexes == [0, 2]
    metric.clear()
    metric.update(Tensor(np.array([5., 6.], np.float32)), [9., 9.], np.array([1., 2.]))
    assert metric.eval() == 8.0
    with pytest.raises(TypeError):
        metric._convert_data('text')
    with pytest.raises(ValueError):
        metric.set_indexes((0, 1))
    with pytest.raises(TypeError):
        train.Metric()  # pylint: disable=abstract-class-instantiated


def test_tensors_and_call():
    x = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], np.float32))
    y = Tensor(np.array([1, 0, 1], np.int32))
    assert train.Accuracy()(x, y) == pytest.approx(2 / 3)
    assert train.Precision()(x, y).tolist() == [0.5, 1.0]


def test_occlusion_sensitivity():
    # the example from MindSpore's documentation
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            w = np.array([[0.1, 0.8, 0.1, 0.1], [1, 1, 1, 1]], np.float32)
            self.dense = nn.Dense(4, 2, weight_init=Tensor(w), bias_init=Tensor(np.array([0.3, 0.6], np.float32)))

        def construct(self, x):
            return self.dense(x)

    metric = train.OcclusionSensitivity()
    metric.clear()
    metric.update(Net(), np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), np.array(1, np.int32))
    np.testing.assert_allclose(metric.eval(), [0.29999995, 0.6, 1.0, 0.9], rtol=1e-5)
    metric = train.OcclusionSensitivity(margin=1, n_batch=2, b_box=[1, 2])
    metric.update(Net(), np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), np.array(1, np.int32))
    np.testing.assert_allclose(metric.eval(), [0.3, 0.5], rtol=1e-5)


@pytest.mark.parametrize('again', [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))], ids=['deepcopy', 'pickle'])
@pytest.mark.parametrize('make', [
    lambda: train.Accuracy('classification'), lambda: train.Precision('multilabel'), lambda: train.Recall('classification'),
    lambda: train.Fbeta(0.5), lambda: train.F1(), lambda: train.TopKCategoricalAccuracy(2), lambda: train.ConfusionMatrix(3), lambda: train.Perplexity(),
    lambda: train.MAE(), lambda: train.MSE(), lambda: train.Loss(), lambda: train.Dice(), lambda: train.ROC(3), lambda: train.HausdorffDistance(), lambda: train.BleuScore(2, True)
], ids=['accuracy', 'precision', 'recall', 'fbeta', 'f1', 'topk', 'confusion', 'perplexity', 'mae', 'mse', 'loss', 'dice', 'roc', 'hausdorff', 'bleu'])
def test_a_copy_counts_on_by_itself(make, again):
    scores = np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1], [0.1, 0.4, 0.5]])
    metric = make()
    if isinstance(metric, train.Loss):
        batches = [(Tensor(0.25),), (Tensor(0.75),)]
    elif isinstance(metric, train.BleuScore):
        batches = [([['a', 'b', 'c']], [[['a', 'b'], ['a', 'c', 'b', 'c']]]), ([[1, 2, 4]], [[[1, 2, 3]]])]
    elif isinstance(metric, train.HausdorffDistance):
        batches = [(scores > 0.3, scores > 0.15, 1), (scores > 0.45, scores > 0.15, 1)]
    elif isinstance(metric, train.ROC):
        batches = [(scores, np.array([1, 0, 2])), (scores, np.array([2, 1, 0]))]
    elif isinstance(metric, (train.MAE, train.MSE, train.Dice)):
        batches = [(scores, scores[::-1].copy()), (scores, scores * 2)]
    elif getattr(metric, '_type', '') == 'multilabel':
        batches = [((scores > 0.3) * 1, (scores > 0.15) * 1), ((scores > 0.45) * 1, (scores > 0.25) * 1)]
    else:
        batches = [(scores, np.array([1, 0, 0])), (scores, np.array([2, 0, 2]))]
    metric.update(*batches[0])
    of_one = metric.eval()
    copied = again(metric)
    metric.update(*batches[1])
    np.testing.assert_equal(copied.eval(), of_one)
    copied.update(*batches[1])
    np.testing.assert_equal(copied.eval(), metric.eval())
    copied.clear()
    copied.update(*batches[0])
    np.testing.assert_equal(copied.eval(), of_one)
