"""Cases of the metrics, shared by the test and by the script that recorded its expectations (tests/reference/make_metric_expectations.py)."""
import numpy as np


def _plain(value):
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return np.asarray(value).astype(float).tolist()


def builtin_name(error):
    """Returns the builtin exception class of the error, which scripts catch."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == 'builtins')


def results(T):
    """Returns the value of every case, or the name of the exception it raised, by the case's name. T is the module of metrics."""
    out = {}

    def run(name, make, *updates, **kwargs):
        try:
            metric = make()
            metric.clear()
            for u in updates:
                metric.update(*u)
            out[name] = _plain(metric.eval(**kwargs))
        except Exception as e:  # the class is the expectation
            out[name] = builtin_name(e)

    rng = np.random.RandomState(7)
    score, label = rng.rand(6, 5).astype(np.float32), np.array([0, 1, 2, 3, 4, 2])
    one_hot = np.eye(5)[label]
    many_p, many_y = (rng.rand(4, 3) > .5).astype(int), (rng.rand(4, 3) > .5).astype(int)
    image_p, image_y = rng.randint(0, 3, (6, 7)), rng.randint(0, 3, (6, 7))
    cube_a, cube_b = np.zeros((8, 8, 8), int), np.zeros((8, 8, 8), int)
    cube_a[1:5, 2:6, 1:7] = 1
    cube_b[2:7, 2:5, 2:6] = 1
    seg_p, seg_y = (np.eye(3)[rng.randint(0, 3, (2, 4, 4))].transpose(0, 3, 1, 2).astype(int) for _ in range(2))
    prob = score / score.sum(1, keepdims=True)
    guess = np.eye(5)[score.argmax(1)].astype(int)

    run('accuracy', T.Accuracy, (score, label), (score[:3], one_hot[:3]))
    run('accuracy multilabel', lambda: T.Accuracy('multilabel'), (many_p, many_y), (many_p, many_p))
    run('accuracy without samples', T.Accuracy)
    run('accuracy of three inputs', T.Accuracy, (score, label, label))
    run('accuracy of other shapes', T.Accuracy, (score, label[:3]))
    run('precision', T.Precision, (score, label), (score, one_hot))
    run('precision mean', T.Precision, (score, label), average=True)
    run('precision multilabel', lambda: T.Precision('multilabel'), (many_p, many_y))
    run('precision multilabel mean', lambda: T.Precision('multilabel'), (many_p, many_y), (many_y, many_p), average=True)
    run('recall', T.Recall, (score, label))
    run('recall mean', T.Recall, (score, label), average=True)
    run('recall multilabel', lambda: T.Recall('multilabel'), (many_p, many_y))
    run('f1', T.F1, (score, label))
    run('fbeta 2', lambda: T.Fbeta(2), (score, label), (score, one_hot))
    run('fbeta 0.5 mean', lambda: T.Fbeta(0.5), (score, label), average=True)
    run('fbeta 0', lambda: T.Fbeta(0))
    run('top 1', T.Top1CategoricalAccuracy, (score, label))
    run('top 3', lambda: T.TopKCategoricalAccuracy(3), (score, one_hot))
    run('top 5', T.Top5CategoricalAccuracy, (score, label))
    run('top 0', lambda: T.TopKCategoricalAccuracy(0))
    run('loss', T.Loss, (np.array(0.5),), (np.array([1., 3.]),))
    run('loss of a matrix', T.Loss, (np.ones((2, 2)),))
    run('mae', T.MAE, (score, one_hot))
    run('mse', T.MSE, (score, one_hot))
    run('dice', T.Dice, (score, one_hot), (score[:2], one_hot[:2]))
    run('roc of class 2', lambda: T.ROC(pos_label=2), (np.array([3, 1, 4, 2]), np.array([0, 1, 2, 3])))
    run('roc', T.ROC, (np.array([.1, .4, .35, .8, .4]), np.array([0, 0, 1, 1, 1])))
    run('roc of classes', lambda: T.ROC(class_num=4), (np.array([[.28, .55, .15, .05], [.10, .20, .05, .05], [.20, .05, .15, .05],
                                                                 [.05, .05, .05, .75]]),
                                                        np.array([0, 1, 2, 3])))
    run('roc of another class_num', lambda: T.ROC(class_num=3), (score, label))
    run('roc without positives', T.ROC, (np.array([.1, .2]), np.array([0, 0])))
    candidates = ['i have a pen on my desk'.split(), 'the cat sat on the mat'.split()]
    references = [['i have a pen in my desk'.split(), 'there is a pen on the desk'.split()],
                  ['the cat is on the mat'.split(), 'a cat sat on the mat today'.split()]]
    run('bleu', T.BleuScore, (candidates, references))
    run('bleu 2 smooth', lambda: T.BleuScore(2, True), (candidates, references))
    run('bleu without a hit', T.BleuScore, ([['a', 'b']], [[['c', 'd', 'e']]]))
    run('bleu of a short text', lambda: T.BleuScore(2), ([['the', 'cat']], [['the cat is on'.split()]]))
    run('bleu 5', lambda: T.BleuScore(5))
    run('cosine', T.CosineSimilarity, (score[:3],))
    run('cosine sum', lambda: T.CosineSimilarity('cosine', 'sum'), (score[:3],))
    run('dot mean', lambda: T.CosineSimilarity('dot', 'mean', False), (score[:3],))
    run('perplexity', T.Perplexity, (prob, label))
    run('perplexity without class 2', lambda: T.Perplexity(2), (prob, label))
    run('perplexity of other shapes', T.Perplexity, (prob, label[:3]))
    for norm in ('no_norm', 'target', 'prediction', 'all'):
        run(f'confusion matrix {norm}', lambda: T.ConfusionMatrix(5, norm), (score, label))
    run('confusion matrix of scores', lambda: T.ConfusionMatrix(2), (np.array([.2, .7, .5, .4]), np.array([0, 1, 0, 1])))
    for name in ('sensitivity', 'tnr', 'ppv', 'npv', 'fnr', 'fall out', 'fdr', 'for', 'pt', 'ts', 'acc', 'ba', 'f1', 'mcc', 'fm', 'bm', 'mk'):
        run(f'rate {name}', lambda: T.ConfusionMatrixMetric(True, name), (seg_p, seg_y))
        run(f'rate {name} without class 0', lambda: T.ConfusionMatrixMetric(False, name), (seg_p, seg_y))
        run(f'rate {name} per sample', lambda: T.ConfusionMatrixMetric(True, name, True, 'mean'), (seg_p, seg_y), (seg_y, seg_p))
    run('rate sum', lambda: T.ConfusionMatrixMetric(True, 'tpr', True, 'sum'), (seg_p, seg_y))
    run('rate of classes', lambda: T.ConfusionMatrixMetric(False, 'f1'), (guess, one_hot.astype(int)))
    run('rate of another name', lambda: T.ConfusionMatrixMetric(True, 'nope'), (seg_p, seg_y))
    for d in ('euclidean', 'chessboard', 'taxicab'):
        run(f'hausdorff {d}', lambda: T.HausdorffDistance(d), (image_p, image_y, 1))
        run(f'hausdorff {d} 90% directed', lambda: T.HausdorffDistance(d, 90.0, True), (cube_a, cube_b, 1))
        run(f'hausdorff {d} not cropped', lambda: T.HausdorffDistance(d, crop=False), (cube_a, cube_b, 1))
        run(f'mean surface {d}', lambda: T.MeanSurfaceDistance(False, d), (cube_a, cube_b, 1))
        run(f'mean surface {d} symmetric', lambda: T.MeanSurfaceDistance(True, d), (image_p, image_y, 1))
        run(f'rms surface {d}', lambda: T.RootMeanSquareDistance(False, d), (cube_a, cube_b, 1))
        run(f'rms surface {d} symmetric', lambda: T.RootMeanSquareDistance(True, d), (image_p, image_y, 1))
    line_a, line_b = np.zeros((5, 6), int), np.zeros((5, 6), int)
    line_a[2, 1:4] = line_b[2, 3:6] = 1
    run('hausdorff of lines', T.HausdorffDistance, (line_a, line_b, 1))
    run('hausdorff of an absent label', T.HausdorffDistance, (line_a, line_b, 9))
    run('mean surface without truth', T.MeanSurfaceDistance, (line_a, line_a * 0, 1))
    out['auc'] = float(T.auc(np.array([0, .2, .5, 1]), np.array([0, .6, .7, 1])))
    out['auc falling'] = float(T.auc(np.array([1, .5, .2, 0]), np.array([1, .7, .6, 0])))
    out['auc reordered'] = float(T.auc(np.array([0, .5, .2, 1]), np.array([0, .7, .6, 1]), reorder=True))
    return out


# Counts of the C++ library as data, read by the tests of both languages: (name, MindSpore's class, name in C++, settings, updates).
# An update is a list of arrays; None clears. A name that ends in "mean" requests the mean over classes.


def counted_cases():
    rng = np.random.RandomState(11)
    nan, inf = float('nan'), float('inf')
    score, label = rng.rand(6, 5).astype(np.float32), np.array([0, 1, 2, 3, 4, 2])
    later, later_label = rng.rand(4, 5).astype(np.float32), np.array([4, 4, 0, 2])
    one_hot = np.eye(5)[label].astype(np.int32)
    places, place_label = rng.rand(2, 3, 2, 2).astype(np.float32), rng.randint(0, 3, (2, 2, 2))
    ties = np.array([[1, 1, 0], [0, 2, 2], [3, 3, 3], [0, 0, 1]], np.float32)
    holes = np.array([[nan, 1, 2], [1, nan, nan], [0, 5, nan], [inf, 0, -inf]], np.float32)
    few = (np.array([[.9, .1, 0, 0], [.8, .1, .1, 0], [.1, .7, .2, 0]], np.float32), np.array([0, 1, 1]))  # no 2, no 3
    bits, truth = (rng.rand(4, 3) > .5).astype(int), (rng.rand(4, 3) > .5).astype(int)
    bit_places, truth_places = (rng.rand(2, 3, 2) > .5).astype(int), (rng.rand(2, 3, 2) > .5).astype(int)
    prob = (score / score.sum(1, keepdims=True)).astype(np.float32)
    text_prob, text = rng.dirichlet(np.ones(4), (2, 3)).astype(np.float32), rng.randint(0, 4, (2, 3))
    two = [[score, label], [later, later_label]]
    multi = {'eval_type': 'multilabel'}
    out = []
    for cls, rule in (('Accuracy', 'accuracy'), ('Precision', 'precision'), ('Recall', 'recall'), ('F1', 'F1')):
        cases = [('two batches', {}, two), ('after clear', {}, [two[0], None, two[1]]), ('one-hot', {}, [[score, one_hot], two[1]]), ('no samples', {}, []),
                 ('cleared', {}, [two[0], None]), ('ties', {}, [[ties, np.array([0, 1, 2, 2])]]), ('empty classes', {}, [few]),
                 ('of doubles', {}, [[score.astype(np.float64), label.astype(np.int32)]]), ('one sample', {}, [[score[:1], label[:1]]]),
                 ('three inputs', {}, [[score, label, label]]), ('one input', {}, [[score]])]
        if cls != 'F1':
            cases += [('places', {}, [[places, place_label]]), ('other shapes', {}, [[score, label[:3]]]), ('other classes', {}, [two[0], [ties, np.arange(3)]]),
                      ('not one-hot', {}, [[score, score]]), ('multilabel', multi, [[bits, truth], [truth, truth]]),
                      ('multilabel places', multi, [[bit_places, truth_places]]), ('multilabel of scores', multi, [[score, one_hot]])]
        if cls != 'Accuracy':
            cases += [('two batches, mean', {}, two), ('empty classes, mean', {}, [few]), ('label too large', {}, [[score, label + 1]])]
        else:
            cases += [('label too large', {}, [[score, label + 1]]), ('not numbers', {}, [[holes, np.array([0, 1, 2, 0])]])]
        out += [(f'{rule}: {name}', cls, rule, settings, updates) for name, settings, updates in cases]
    for beta in (0.5, 2.0):
        out += [(f'fbeta {beta}', 'Fbeta', 'fbeta', {'beta': beta}, two), (f'fbeta {beta}, mean', 'Fbeta', 'fbeta', {'beta': beta}, [few])]
    for k in (1, 2, 4):
        top = lambda name, *updates: out.append((f'topk {k}: {name}', 'TopKCategoricalAccuracy', 'topk', {'k': k}, list(updates)))
        top('two batches', *two)
        top('one-hot', [score, one_hot])
        top('ties', [np.tile(ties, 2)[:, :5], np.array([1, 2, 2, 3])])
        top('label too large', [score, label + 1])
        top('more than classes', [ties[:, :3], np.array([1, 2, 2, 1])])
        top('no samples')
    out.append(('topk 1: not numbers', 'TopKCategoricalAccuracy', 'topk', {'k': 1}, [[holes, np.array([0, 1, 2, 0])]]))
    out += [('loss: numbers and vectors', 'Loss', 'loss', {}, [[np.array(0.5)], [np.array([1., 3.])], [np.array([4.], np.float32)]]),
            ('loss: matrix', 'Loss', 'loss', {}, [[np.ones((2, 2))]]), ('loss: two', 'Loss', 'loss', {}, [[np.array(1.), np.array(2.)]]),
            ('loss: cleared', 'Loss', 'loss', {}, [[np.array(1.)], None]), ('loss: not a number', 'Loss', 'loss', {}, [[np.array(nan)], [np.array(1.)]])]
    for cls, rule in (('MAE', 'mae'), ('MSE', 'mse')):
        error = lambda name, *updates: out.append((f'{rule}: {name}', cls, rule, {}, list(updates)))
        error('two batches', [score, one_hot], [later, later * 2])
        error('after clear', [score, one_hot], None, [later, later * 2])
        error('places', [places, places[::-1] / 3])
        error('vectors', [label, label[::-1].copy()])
        error('other shapes', [score, later])
        error('not a number', [holes, ties])
        error('no samples')
    for ignored in ({}, {'ignore_label': 2}, {'ignore_label': -1}):
        which = 'perplexity' + ''.join(f' without {v}' for v in ignored.values())
        out += [(f'{which}: two batches', 'Perplexity', 'perplexity', ignored, [[prob, label], [prob[:2], np.array([2, 3])]]),
                (f'{which}: text', 'Perplexity', 'perplexity', ignored, [[text_prob.reshape(6, 4), text.reshape(6)]])]
    out += [('perplexity without -1: ignored', 'Perplexity', 'perplexity', {'ignore_label': -1}, [[prob, np.array([0, -1, 2, -1, 4, 2])]]),
            ('perplexity without 1: all', 'Perplexity', 'perplexity', {'ignore_label': 1}, [[prob[:2], np.array([1, 1])]]),
            ('perplexity: of zero', 'Perplexity', 'perplexity', {}, [[np.array([[0., 1.]]), np.array([0])]]),
            ('perplexity: other shapes', 'Perplexity', 'perplexity', {}, [[prob, label[:3]]])]
    for norm in ('no_norm', 'target', 'prediction', 'all'):
        matrix = lambda name, n, *updates, **more: out.append((f'confusion matrix {norm}: {name}', 'ConfusionMatrix', 'confusion_matrix',
                                                              {'num_classes': n, 'normalize': norm, **more}, list(updates)))
        matrix('two batches', 5, *two)
        matrix('after clear', 5, two[0], None, two[1])
        matrix('empty classes', 4, few)
        matrix('more classes than scores', 6, few)
        matrix('classes', 5, [label, np.array([4, 1, 2, 0, 4, 3])])
        matrix('scores of class 1', 2, [np.array([.2, .7, .5, .4]), np.array([0, 1, 0, 1])], threshold=0.45)
        matrix('places', 3, [places, place_label])
        matrix('no samples', 3)
    return out + mask_cases(rng) + curve_cases(rng)


def mask_cases(rng):
    """Cases with masks and one-hot decisions."""
    hot = lambda *shape: np.moveaxis(np.eye(3, dtype=np.int32)[rng.randint(0, 3, shape)], -1, 1)
    here, there = (hot(2, 4, 4), hot(2, 4, 4)), (hot(3, 4, 4), hot(3, 4, 4))
    none = np.zeros((2, 3, 4), np.int32)
    some = none.copy()
    some[:, 0] = 1
    out = []
    rates = ('sensitivity', 'tnr', 'precision', 'npv', 'fnr', 'fall_out', 'fdr', 'for', 'pt', 'threat_score', 'acc', 'ba', 'f1', 'mcc', 'fm', 'bm', 'mk')
    for name in rates:
        for per_sample in (False, True):
            settings = {'metric_name': name, 'calculation_method': per_sample}
            out.append((f'rate {name}{" per sample" * per_sample}', 'ConfusionMatrixMetric', 'confusion_matrix_metric', settings, [here, None, there, here]))
    rate = lambda name, settings, *updates: out.append((f'rate: {name}', 'ConfusionMatrixMetric', 'confusion_matrix_metric', settings, list(updates)))
    rate('without class 0', {'skip_channel': False, 'metric_name': 'f1'}, here, there)
    rate('one class', {'skip_channel': False}, [hot(4, 5)[:, :1], hot(4, 5)[:, :1]])
    rate('of classes', {'metric_name': 'ppv'}, [hot(6), hot(6)])
    rate('of classes, per sample', {'calculation_method': True}, [hot(6), hot(6)])
    rate('of nothing there', {'calculation_method': True}, [some, none])
    rate('sum', {'calculation_method': True, 'decrease': 'sum'}, here, there)
    rate('no samples', {'calculation_method': True})
    rate('other shapes', {}, [here[0], there[1]])
    rate('not whole', {}, [here[0], here[1] / 2])
    p, t = rng.rand(4, 3, 2).astype(np.float32), (rng.rand(4, 3, 2) > .5).astype(np.float64)
    for smooth in (1e-5, 0.5):
        out.append((f'dice {smooth}', 'Dice', 'dice', {'smooth': smooth}, [[p, t], None, [p, t], [p[:2], t[:2]]]))
    out += [('dice: other shapes', 'Dice', 'dice', {}, [[p, t[:2]]]), ('dice: no samples', 'Dice', 'dice', {}, [])]
    flat, cube = rng.randint(0, 3, (2, 7, 9)), rng.randint(0, 2, (2, 4, 5, 3))
    line = np.zeros((2, 5, 6), int)
    line[0, 2, 1:4] = line[1, 2, 3:6] = 1
    one, box = np.array(1), {}
    for norm in ('euclidean', 'chessboard', 'taxicab'):
        for cls, rule, settings in (('HausdorffDistance', 'hausdorff_distance', {}), ('HausdorffDistance', 'hausdorff_distance', {'percentile': 62.5}),
                                    ('HausdorffDistance', 'hausdorff_distance', {'directed': True}), ('HausdorffDistance', 'hausdorff_distance', {'crop': False}),
                                    ('MeanSurfaceDistance', 'mean_surface_distance', {}), ('MeanSurfaceDistance', 'mean_surface_distance', {'symmetric': True}),
                                    ('RootMeanSquareDistance', 'root_mean_square_distance', {}),
                                    ('RootMeanSquareDistance', 'root_mean_square_distance', {'symmetric': True})):
            for what, (a, b) in (('plane', flat), ('space', cube), ('lines', line), ('of nothing', (line[0], line[0] * 0))):
                if what == 'of nothing' and 'percentile' in settings:
                    continue  # MindSpore's is NaN, ours infinity
                name = f'{rule} {norm}, {what}' + ''.join(f', {k} {v}' for k, v in settings.items())
                out.append((name, cls, rule, {'distance_metric': norm, **settings}, [[b, a, one], [a, b, one]]))
    for cls, rule in (('HausdorffDistance', 'hausdorff_distance'), ('MeanSurfaceDistance', 'mean_surface_distance')):
        out += [(f'{rule}: no such label', cls, rule, box, [[flat[0], flat[1], np.array(9)]]), (f'{rule}: other shapes', cls, rule, box, [[flat[0], flat[1, 1:], one]]),
                (f'{rule}: nothing', cls, rule, box, []), (f'{rule}: without label', cls, rule, box, [[flat[0], flat[1]]])]
    return out


def curve_cases(rng):
    """Cases for the receiver operating characteristic."""
    score, truth = rng.rand(12), rng.randint(0, 2, 12)
    truth[:2] = 0, 1
    many, label = rng.rand(4, 4), np.array([2, 0, 3, 1])  # MindSpore confuses samples and classes if their counts differ
    out = []
    roc = lambda name, settings, *updates: out.append((f'roc: {name}', 'ROC', 'roc', settings, list(updates)))
    roc('two classes', {}, [score, truth])
    roc('after clear', {}, [score, truth], None, [score[:7], truth[:7]])
    roc('ties', {}, [np.round(score, 1), truth])
    roc('of a label', {'pos_label': 2}, [np.array([3., 1., 4., 2.]), np.array([0, 1, 2, 3])])
    roc('of classes', {'class_num': 4}, [many, label])
    roc('of places', {}, [score.reshape(3, 4), truth.reshape(3, 4)])
    roc('no positives', {}, [score, truth * 0])
    roc('no negatives', {}, [score, truth * 0 + 1])
    roc('other classes', {'class_num': 3}, [many, label])
    roc('a label of classes', {'class_num': 4, 'pos_label': 1}, [many, label])
    roc('no samples', {})
    return out


def _flat(value):
    return [x for v in value for x in _flat(v)] if isinstance(value, list) else [value]


def _stored(array):
    values = [v if np.isfinite(v) else str(float(v)) for v in array.reshape(-1).tolist()]
    return {'dtype': str(array.dtype), 'shape': list(array.shape), 'values': values}


def counted_results(T):
    """Returns the cases with their arrays and results: a number, a list of numbers, or the name of the exception."""
    out = []
    for name, cls, rule, settings, updates in counted_cases():
        try:
            metric = getattr(T, cls)(**settings)
            metric.clear()
            for u in updates:
                metric.clear() if u is None else metric.update(*[a.item() if np.ndim(a) == 0 and len(u) == 3 else np.array(a) for a in u])
            want = _plain(metric.eval(average=True) if name.endswith('mean') else metric.eval())
            want = [x if np.isfinite(x) else str(x) for x in _flat(want)]
        except Exception as e:
            want = builtin_name(e)
        out.append({'name': name, 'class': cls, 'metric': rule, 'settings': settings,
                    'updates': [None if u is None else [_stored(np.asarray(a)) for a in u] for u in updates], 'want': want})
    return out
