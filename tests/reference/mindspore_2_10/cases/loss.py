"""Losses as layers and as functions: reductions, weights, ignored classes, extremes, mixed types."""
from . import lines

PAIRS = {
    "MSELoss": "X(2, 3), X(2, 3, s=1)", "L1Loss": "X(2, 3), X(2, 3, s=1)", "SmoothL1Loss": "X(2, 3), X(2, 3, s=1)", "HuberLoss": "X(2, 3), X(2, 3, s=1)",
    "BCELoss": "X(2, 3, lo=0.1, hi=0.9), X(2, 3, s=1, lo=0.0, hi=1.0)", "BCEWithLogitsLoss": "X(2, 3), X(2, 3, s=1, lo=0.0, hi=1.0)",
    "CrossEntropyLoss": "X(3, 4), i([0, 3, 1])", "NLLLoss": "X(3, 4), i([0, 3, 1])", "KLDivLoss": "X(2, 3), X(2, 3, s=1, lo=0.1, hi=0.9)",
    "SoftMarginLoss": "X(2, 3), f([[1, -1, 1], [-1, 1, 1]])", "HingeEmbeddingLoss": "X(2, 3), f([[1, -1, 1], [-1, 1, 1]])",
    "SoftmaxCrossEntropyWithLogits": "X(3, 4), f([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, .5, .5]])", "CosineEmbeddingLoss": "X(2, 3), X(2, 3, s=1), i([1, -1])",
    "MarginRankingLoss": "X(3), X(3, s=1), f([1, -1, 1])", "MAELoss": "X(2, 3), X(2, 3, s=1)", "FocalLoss": "X(3, 4), i([0, 3, 1])",
    "MultilabelMarginLoss": "X(2, 3), i([[0, 2, -1], [1, -1, 0]])", "MultiLabelSoftMarginLoss": "X(2, 3), f([[1, 0, 1], [0, 1, 1]])",
    "PoissonNLLLoss": "X(2, 3), X(2, 3, s=1, lo=0.0, hi=3.0)", "GaussianNLLLoss": "X(2, 3), X(2, 3, s=1), X(2, 3, s=2, lo=0.5, hi=2.0)",
    "MultiMarginLoss": "X(3, 4), l([0, 3, 1])", "TripletMarginLoss": "X(2, 3), X(2, 3, s=1), X(2, 3, s=2), f(1.0)",
}
FUNCTIONS = {
    "mse_loss": "MSELoss", "l1_loss": "L1Loss", "smooth_l1_loss": "SmoothL1Loss", "huber_loss": "HuberLoss", "cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss",
    "kl_div": "KLDivLoss", "soft_margin_loss": "SoftMarginLoss", "hinge_embedding_loss": "HingeEmbeddingLoss", "cosine_embedding_loss": "CosineEmbeddingLoss",
    "margin_ranking_loss": "MarginRankingLoss", "binary_cross_entropy": "BCELoss", "multilabel_margin_loss": "MultilabelMarginLoss",
    "multilabel_soft_margin_loss": "MultiLabelSoftMarginLoss", "poisson_nll_loss": "PoissonNLLLoss", "gaussian_nll_loss": "GaussianNLLLoss", "multi_margin_loss": "MultiMarginLoss",
}


def cases():
    for name, pair in PAIRS.items():
        yield f"nn.{name}()({pair})"
        for reduction in ("'mean'", "'sum'", "'none'", "'nope'"):
            yield f"nn.{name}(reduction={reduction})({pair})"
        yield f"nn.{name}()({pair.replace('X(', 'X(0, ', 1)})"
        yield f"nn.{name}()({pair.replace('), X(', ').astype(ms.float16), X(', 1)})"
    for name, layer in FUNCTIONS.items():
        yield f"ops.{name}({PAIRS[layer]})"
        for reduction in ("'mean'", "'sum'", "'none'"):
            yield f"ops.{name}({PAIRS[layer]}, reduction={reduction})"


OTHER = lines("""
nn.CrossEntropyLoss(weight=f([1, 2, 3, 4]))(X(3, 4), i([0, 3, 1]))
nn.CrossEntropyLoss(weight=f([1, 2, 3, 4]), reduction='none')(X(3, 4), i([0, 3, 1]))
nn.CrossEntropyLoss(ignore_index=3)(X(3, 4), i([0, 3, 1]))
nn.CrossEntropyLoss(ignore_index=3, reduction='none')(X(3, 4), i([0, 3, 1]))
nn.CrossEntropyLoss(label_smoothing=0.1)(X(3, 4), i([0, 3, 1]))
nn.CrossEntropyLoss(label_smoothing=0.1, weight=f([1, 2, 3, 4]))(X(3, 4), i([0, 3, 1]))
nn.CrossEntropyLoss()(X(3, 4), X(3, 4, s=1, lo=0.0, hi=1.0))
nn.CrossEntropyLoss(label_smoothing=0.2)(X(3, 4), X(3, 4, s=1, lo=0.0, hi=1.0))
nn.CrossEntropyLoss()(X(4), i(2))
nn.CrossEntropyLoss()(X(2, 4, 3), I(2, 3, lo=0, hi=4))
nn.CrossEntropyLoss()(X(2, 4, 3, 2), I(2, 3, 2, lo=0, hi=4))
nn.CrossEntropyLoss()(X(3, 4), i([0, 7, 1]))
nn.CrossEntropyLoss()(X(3, 4), l([0, 3, 1]))
nn.CrossEntropyLoss()(X(3, 4), f([0, 3, 1]))
nn.CrossEntropyLoss()(X(3, 4).astype(ms.float16), i([0, 3, 1]))
nn.CrossEntropyLoss(ignore_index=1)(X(2, 4), i([1, 1]))
nn.NLLLoss(weight=f([1, 2, 3, 4]))(X(3, 4), i([0, 3, 1]))
nn.NLLLoss(ignore_index=1)(X(3, 4), i([0, 3, 1]))
nn.NLLLoss()(X(2, 4, 3), I(2, 3, lo=0, hi=4))
nn.BCELoss()(f([0]), f([1]))
nn.BCELoss()(f([1]), f([0]))
nn.BCELoss(weight=f([1, 2, 3]))(X(2, 3, lo=0.1, hi=0.9), X(2, 3, s=1, lo=0.0, hi=1.0))
nn.BCELoss()(f([1.5]), f([0.5]))
ops.binary_cross_entropy(f([0.2, 0.9]), f([0, 1]), f([1, 2]))
nn.BCEWithLogitsLoss(weight=f([1, 2, 3]), pos_weight=f([2, 1, 1]))(X(2, 3), X(2, 3, s=1, lo=0.0, hi=1.0))
nn.BCEWithLogitsLoss()(f([100, -100]), f([0, 1]))
ops.binary_cross_entropy_with_logits(X(2, 3), X(2, 3, s=1, lo=0.0, hi=1.0))
ops.binary_cross_entropy_with_logits(X(2, 3), X(2, 3, s=1, lo=0.0, hi=1.0), f([1, 2, 3]), f([1, 1, 2]))
ops.binary_cross_entropy_with_logits(X(2, 3), X(2, 3, s=1, lo=0.0, hi=1.0), f([1, 2, 3]), f([1, 1, 2]), 'sum')
nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X(3, 4), i([0, 3, 1]))
nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')(X(3, 4), i([0, 3, 1]))
nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='sum')(X(3, 4), l([0, 3, 1]))
nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X(3, 4), i([0, 9, 1]))
nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X(3, 4).astype(ms.float16), i([0, 3, 1]))
nn.SoftmaxCrossEntropyWithLogits()(X(3, 4), i([0, 3, 1]))
nn.SmoothL1Loss(beta=0.5)(X(2, 3), X(2, 3, s=1))
nn.SmoothL1Loss(beta=0.5, reduction='mean')(X(2, 3), X(2, 3, s=1))
nn.SmoothL1Loss(beta=0.0)(X(2, 3), X(2, 3, s=1))
nn.HuberLoss(delta=0.5)(X(2, 3), X(2, 3, s=1))
nn.HuberLoss(delta=-1.0)(X(2, 3), X(2, 3, s=1))
nn.MSELoss()(X(2, 3), X(3))
nn.MSELoss()(X(2, 3), X(2, 4))
nn.MSELoss()(i([1, 2]), f([1.5, 2]))
nn.MSELoss()(f([nan]), f([1]))
nn.L1Loss()(X(2, 3), X(3))
nn.RMSELoss()(X(2, 3), X(2, 3, s=1))
nn.DiceLoss()(X(2, 3, lo=0.0, hi=1.0), f([[1, 0, 1], [0, 1, 1]]))
nn.DiceLoss(smooth=1.0)(X(2, 3, lo=0.0, hi=1.0), f([[1, 0, 1], [0, 1, 1]]))
nn.MultiClassDiceLoss()(X(2, 3, 2, lo=0.0, hi=1.0), f(np.round(grid(2, 3, 2, lo=0.0, hi=1.0))))
nn.FocalLoss(gamma=1.0, weight=f([1, 2, 3, 4]))(X(3, 4), i([[0], [3], [1]]))
nn.CosineEmbeddingLoss(margin=0.5)(X(2, 3), X(2, 3, s=1), i([1, -1]))
nn.MarginRankingLoss(margin=0.5)(X(3), X(3, s=1), f([1, -1, 1]))
nn.HingeEmbeddingLoss(margin=2.0)(X(2, 3), f([[1, -1, 1], [-1, 1, 1]]))
nn.KLDivLoss(reduction='batchmean')(X(2, 3), X(2, 3, s=1, lo=0.1, hi=0.9))
ops.kl_div(X(2, 3), X(2, 3, s=1, lo=0.1, hi=0.9), 'batchmean')
ops.cross_entropy(X(3, 4), i([0, 3, 1]), weight=f([1, 2, 3, 4]), ignore_index=1, reduction='none', label_smoothing=0.1)
ops.triplet_margin_loss(X(2, 3), X(2, 3, s=1), X(2, 3, s=2))
ops.triplet_margin_loss(X(2, 3), X(2, 3, s=1), X(2, 3, s=2), 0.5, 1)
ops.smooth_l1_loss(X(2, 3), X(2, 3, s=1), 0.5, 'mean')
ops.huber_loss(X(2, 3), X(2, 3, s=1), 'mean', 0.5)
ops.ctc_loss(X(4, 1, 3), i([[1, 2]]), i([4]), i([2]))[0].shape
nn.SampledSoftmaxLoss(2, 4, 1)
ms.nn.LossBase('sum')(X(2))
nn.LossBase(reduction='mean').get_loss(X(2, 3))
nn.LossBase(reduction='sum').get_loss(X(2, 3), 2.0)
nn.LossBase('none').get_loss(X(2, 3), X(2, 3, s=1))
nn.LossBase().get_axis(X(2, 3))
ms.grad(lambda x: nn.CrossEntropyLoss()(x, i([0, 3, 1])))(X(3, 4))
ms.grad(lambda x: nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')(x, i([0, 3, 1])))(X(3, 4))
ms.grad(lambda x: nn.SmoothL1Loss(reduction='mean')(x, X(2, 3, s=1)))(X(2, 3))
ms.grad(lambda x: nn.BCEWithLogitsLoss()(x, X(2, 3, s=1, lo=0.0, hi=1.0)))(X(2, 3))
ms.grad(lambda x: nn.MSELoss()(x, X(2, 3, s=1)))(X(2, 3))
ms.grad(lambda x: nn.KLDivLoss()(x, X(2, 3, s=1, lo=0.1, hi=0.9)))(X(2, 3))
""")

CASES = [*cases(), *OTHER]
