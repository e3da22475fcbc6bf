"""Metrics over one or two batches, from Tensors and arrays; wrong input."""
from . import lines

CLASSES = "(f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), i([1, 0, 1]))"
PAIR = "(X(2, 3), X(2, 3, s=1))"
HOT = "(f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), i([[0, 1, 0], [1, 0, 0], [0, 1, 0]]))"
MASKS = "(np.array([[0, 1, 1], [0, 1, 0]]), np.array([[0, 1, 0], [1, 1, 0]]))"


def cases():
    for name in ("Accuracy", "Precision", "Recall", "F1", "Loss", "MAE", "MSE", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "Fbeta", "Dice", "ROC", "ConfusionMatrix",
                 "ConfusionMatrixMetric", "CosineSimilarity", "Perplexity", "BleuScore", "HausdorffDistance", "MeanSurfaceDistance", "RootMeanSquareDistance", "TopKCategoricalAccuracy"):
        arguments = {"Fbeta": "2", "ConfusionMatrix": "3", "TopKCategoricalAccuracy": "2"}.get(name, "")
        for batch in (CLASSES, PAIR, HOT, "(f(0.5),)", "(1, 2)", "(X(3, 2), X(2, 3))", "()", "(f([0.2, 0.8]), i([0, 1]))", MASKS):
            yield f"update(nn.{name}({arguments}), {batch})"
        yield f"update(nn.{name}({arguments}), {CLASSES}, (f([[0.1, 0.8, 0.1]]), i([2])))"
        yield f"nn.{name}({arguments}).eval()"


OTHER = lines("""
update(nn.Accuracy('multilabel'), (f([[0, 1, 1], [1, 0, 1]]), i([[0, 1, 1], [0, 0, 1]])))
update(nn.Accuracy('nope'), (f([[0, 1]]), i([1])))
update(nn.Precision('classification', ), (f([[0.2, 0.8], [0.7, 0.3]]), i([1, 1])))
update(nn.Precision('multilabel'), (f([[0, 1, 1], [1, 0, 1]]), i([[0, 1, 1], [0, 0, 1]])))
m = nn.Precision(); m.update(f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]]), i([1, 0])); m.eval(True)
m = nn.Recall(); m.update(f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]]), i([1, 0])); m.eval(average=True)
m = nn.F1(); m.update(f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]]), i([1, 0])); m.eval(True)
m = nn.Fbeta(2); m.update(f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]]), i([1, 0])); m.eval(True)
update(nn.TopKCategoricalAccuracy(2), (f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1]]), i([0, 2])))
update(nn.ConfusionMatrix(2), (f([1, 0, 1, 0]), f([1, 0, 0, 1])))
update(nn.ConfusionMatrix(2, 'true'), (f([1, 0, 1, 0]), f([1, 0, 0, 1])))
update(nn.ConfusionMatrix(2, 'all'), (f([1, 0, 1, 0]), f([1, 0, 0, 1])))
update(nn.ConfusionMatrix(2, threshold=0.7), (f([0.6, 0.8, 0.2]), f([1, 1, 0])))
update(nn.ConfusionMatrixMetric(True, 'precision', True, 'mean'), (i([[[0], [1]], [[1], [0]]]), i([[[0], [1]], [[0], [1]]])))
update(nn.BleuScore(), ([['i', 'have', 'a', 'pen', 'on', 'my', 'desk']], [[['i', 'have', 'a', 'pen', 'in', 'my', 'desk']]]))
update(nn.BleuScore(2, True), ([['i', 'have', 'a', 'pen', 'on', 'my', 'desk']], [[['i', 'have', 'a', 'pen', 'in', 'my', 'desk']]]))
update(nn.CosineSimilarity(), (np.array([[1, 3, 4], [2, 4, 2], [0, 1, 0]]),))
update(nn.CosineSimilarity('dot', 'sum', False), (np.array([[1, 3, 4], [2, 4, 2], [0, 1, 0]]),))
update(nn.Perplexity(), (f([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), i([1, 0, 1])))
update(nn.Perplexity(1), (f([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), i([1, 0, 1])))
update(nn.ROC(), (f([3, 1, 4, 2]), f([0, 1, 2, 3])))
update(nn.ROC(pos_label=1), (f([3, 1, 4, 2]), f([0, 1, 1, 0])))
update(nn.ROC(class_num=3), (f([[0.2, 0.7, 0.1], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]), i([1, 0, 2])))
nn.auc(np.array([0, 0.5, 1]), np.array([0, 0.8, 1]))
nn.auc([0, 0.5, 1], [0, 0.8, 1])
update(nn.HausdorffDistance(), (f([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), f([[0, 2, 1], [1, 2, 1], [0, 0, 1]]), 0))
update(nn.MeanSurfaceDistance(), (f([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), f([[0, 2, 1], [1, 2, 1], [0, 0, 1]]), 0))
update(nn.RootMeanSquareDistance(symmetric=True), (f([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), f([[0, 2, 1], [1, 2, 1], [0, 0, 1]]), 0))
nn.names()
type(nn.get_metric_fn('accuracy')).__name__
nn.get_metric_fn('nope')
m = nn.Accuracy(); m.set_indexes([1, 0]); m.update(i([1, 0]), f([[0.2, 0.8], [0.9, 0.1]])); m.eval()
m = nn.Accuracy(); m.update(f([[0.2, 0.8]]), i([1])); m.clear(); m.update(f([[0.9, 0.1]]), i([1])); m.eval()
m = nn.Loss(); m.update(f(1)); m.update(f(3)); m.eval()
nn.Accuracy().indexes
""")

CASES = [*cases(), *OTHER]
