"""Cases of the metrics, shared by the test and by the run that recorded its expectations (tests/reference/make_metric_expectations.py)."""
import numpy as np


def _plain(value):
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return np.asarray(value).astype(float).tolist()


def results(T):
    """Value of every case, or the name of the exception it raised, by the case's name. T is the module of metrics."""
    out = {}

    def run(name, make, *updates, **kwargs):
        try:
            metric = make()
            metric.clear()
            for u in updates:
                metric.update(*u)
            out[name] = _plain(metric.eval(**kwargs))
        except Exception as e:  # the class is the expectation
            out[name] = type(e).__name__

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
