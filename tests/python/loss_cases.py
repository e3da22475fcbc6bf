"""Cases of the losses as data, read by the tests of both languages (tests/nn/expectations/losses.json, written by tests/reference/make_loss_expectations.py).
Next to each MindSpore class is the rule's name in C++ (nn::losses()); FUNCTIONS lists the functions."""
import functools

import numpy as np

from nn_cases import data

REDUCTIONS = ("mean", "sum", "none")
# The rule's function in mindspore.ops.
FUNCTIONS = {
    "l1": "l1_loss", "mse": "mse_loss", "smooth_l1": "smooth_l1_loss", "huber": "huber_loss", "soft_margin": "soft_margin_loss",
    "cross_entropy": "cross_entropy", "nll": "nll_loss", "binary_cross_entropy": "binary_cross_entropy", "kl_div": "kl_div",
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits", "multilabel_soft_margin": "multilabel_soft_margin_loss",
    "cosine_embedding": "cosine_embedding_loss", "margin_ranking": "margin_ranking_loss", "hinge_embedding": "hinge_embedding_loss",
    "gaussian_nll": "gaussian_nll_loss", "multi_margin": "multi_margin_loss", "multilabel_margin": "multilabel_margin_loss",
    "triplet_margin": "triplet_margin_loss", "ctc": "ctc_loss"}


def cases():
    """Returns dicts: name, class, rule, reduction (None if the class takes none), settings with their C++ names, arguments whose MindSpore names or values
    differ,
    optional tensors, inputs, and the inputs whose gradients are computed ("by")."""
    x, y, z = data((4, 5), 3, -3, 3), data((4, 5), 4, -2, 2), data((4, 5), 5, -2, 2)
    p, q = data((4, 5), 6, 0.05, 0.95), data((4, 5), 7, 0.05, 0.95)
    signs = np.where(data((4, 5), 9) > 0, 1, -1).astype(np.float32)
    classes, weight = np.array([0, 4, 2, 1], np.int32), data((5,), 8, 0.5, 2.0)
    places, place_classes = data((2, 5, 3), 3, -3, 3), np.array([[0, 4, -100], [2, 1, 1]], np.int32)
    share = (np.exp(y.astype(np.float64)) / np.exp(y.astype(np.float64)).sum(1, keepdims=True)).astype(np.float32)  # MindSpore assumes that their sum is 1
    out = []

    def add(name, cls, rule, inputs, settings=None, optional=None, grads=(0,), arguments=None, reductions=REDUCTIONS):
        for reduction in reductions:
            out.append({"name": f"{name} {reduction or ''}".strip(), "class": cls, "rule": rule, "reduction": reduction, "settings": settings or {},
                        "arguments": arguments or {}, "optional": optional or {}, "inputs": inputs, "by": list(grads)})

    add("l1", "L1Loss", "l1", [x, y], grads=(0, 1))
    add("l1 of equals", "L1Loss", "l1", [x, np.where(signs > 0, x, y)])
    add("mse", "MSELoss", "mse", [x, y], grads=(0, 1))
    add("rmse", "RMSELoss", "rmse", [x, y], grads=(0, 1), reductions=(None,))
    add("mse broadcast", "MSELoss", "mse", [x, y[0]], grads=(0, 1), reductions=("mean",))
    for beta in (1.0, 0.3):
        add(f"smooth l1 {beta}", "SmoothL1Loss", "smooth_l1", [x, y], {"beta": beta}, grads=(0, 1))
    for delta in (1.0, 0.6):
        add(f"huber {delta}", "HuberLoss", "huber", [x, y], {"delta": delta}, grads=(0, 1))
    add("soft margin", "SoftMarginLoss", "soft_margin", [x, signs])
    add("softmax", "SoftmaxCrossEntropyWithLogits", "softmax_cross_entropy", [x, classes], arguments={"sparse": True})
    add("softmax of probabilities", "SoftmaxCrossEntropyWithLogits", "softmax_cross_entropy_dense", [x, share])
    for smoothing in (0.0, 0.2):
        given = {"label_smoothing": smoothing}
        add(f"cross entropy {smoothing}", "CrossEntropyLoss", "cross_entropy", [x, classes], given)
        add(f"cross entropy {smoothing} weight", "CrossEntropyLoss", "cross_entropy", [x, classes], given, {"weight": weight})
        add(f"cross entropy {smoothing} ignored", "CrossEntropyLoss", "cross_entropy", [x, classes], {**given, "ignore_index": 2}, {"weight": weight})
    add("cross entropy places", "CrossEntropyLoss", "cross_entropy", [places, place_classes])
    add("cross entropy of probabilities", "CrossEntropyLoss", "cross_entropy", [x, share])
    add("cross entropy of probabilities, smoothed", "CrossEntropyLoss", "cross_entropy", [x, share], {"label_smoothing": 0.2})
    add("cross entropy of probabilities, weight", "CrossEntropyLoss", "cross_entropy", [x, share], None, {"weight": weight})
    add("cross entropy of one sample", "CrossEntropyLoss", "cross_entropy", [x[0], classes[1]])
    add("nll", "NLLLoss", "nll", [x, classes])
    add("nll places", "NLLLoss", "nll", [places, place_classes], None, {"weight": weight})
    add("nll weight", "NLLLoss", "nll", [x, classes], {"ignore_index": 4}, {"weight": weight})
    add("bce", "BCELoss", "binary_cross_entropy", [p, q])
    add("bce weight", "BCELoss", "binary_cross_entropy", [p, q], None, {"weight": np.abs(y)})
    add("bce logits", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", [x, q])
    add("bce logits weights", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", [x, q], None, {"weight": np.abs(y), "pos_weight": weight})
    add("multilabel soft margin", "MultiLabelSoftMarginLoss", "multilabel_soft_margin", [x, (signs > 0).astype(np.float32)])
    add("multilabel soft margin weight", "MultiLabelSoftMarginLoss", "multilabel_soft_margin", [x, (signs > 0).astype(np.float32)], None, {"weight": weight})
    add("kl", "KLDivLoss", "kl_div", [data((4, 5), 3, -3.0, -0.1), q])
    add("kl of zeros", "KLDivLoss", "kl_div", [data((4, 5), 3, -3.0, -0.1), np.maximum(y, 0)])
    add("cosine", "CosineEmbeddingLoss", "cosine_embedding", [x, y, np.array([1, -1, 1, -1], np.int32)], {"margin": -0.2}, grads=(0, 1))
    add("ranking", "MarginRankingLoss", "margin_ranking", [x, y, signs], {"margin": 0.3}, grads=(0, 1))
    add("hinge", "HingeEmbeddingLoss", "hinge_embedding", [x, signs], {"margin": 0.8})
    add("poisson", "PoissonNLLLoss", "poisson_nll", [y, np.abs(x)])
    add("poisson full", "PoissonNLLLoss", "poisson_nll", [p, np.abs(x)], {"log_input": False, "full": True, "eps": 1e-6})
    add("gaussian", "GaussianNLLLoss", "gaussian_nll", [x, y, p], {"eps": 1e-4}, grads=(0, 1, 2))
    add("gaussian full", "GaussianNLLLoss", "gaussian_nll", [x, y, p], {"full": True, "eps": 1e-4}, grads=(0, 1, 2))
    add("multi margin", "MultiMarginLoss", "multi_margin", [x, classes.astype(np.int64)], {"margin": 0.7})
    add("multi margin 2", "MultiMarginLoss", "multi_margin", [x, classes.astype(np.int64)], {"p": 2, "margin": 0.7}, {"weight": weight})
    named = np.array([[1, 3, -1, 0, 2], [4, -1, 2, 2, 2], [-1, 1, 2, 3, 4], [0, 1, 2, 3, 4]], np.int32)
    add("multilabel margin", "MultilabelMarginLoss", "multilabel_margin", [y, named])
    add("multilabel margin of one sample", "MultilabelMarginLoss", "multilabel_margin", [y[0], named[0]])
    add("triplet", "TripletMarginLoss", "triplet_margin", [x, y, z], {"margin": 0.7}, grads=(0, 1, 2))
    add("triplet swap", "TripletMarginLoss", "triplet_margin", [x, y, z], {"p": 3, "swap": True, "margin": 3.7}, grads=(0, 1, 2))
    add("focal", "FocalLoss", "focal", [x, classes[:, None]], {"gamma": 1.5})
    add("focal weight", "FocalLoss", "focal", [places, np.where(place_classes < 0, 3, place_classes)[:, None]], {"gamma": 2.0}, {"weight": weight})
    add("focal one-hot", "FocalLoss", "focal", [x, np.eye(5, dtype=np.int32)[classes]])
    add("dice", "DiceLoss", "dice", [p, q], {"smooth": 1e-3}, reductions=(None,))
    add("multi class dice", "MultiClassDiceLoss", "multi_class_dice", [p, q], {"ignore_index": 1}, grads=(0,),
        arguments={"ignore_indiex": 1, "activation": None}, reductions=(None,))
    scores = data((7, 3, 5), 3, -2, 2).astype(np.float64)
    log_probs = (scores - np.log(np.exp(scores).sum(2, keepdims=True))).astype(np.float32)
    labels, steps, lengths = np.array([[1, 2, 2], [3, 1, 4], [4, 1, 1]], np.int32), np.array([7, 5, 6], np.int32), np.array([3, 2, 1], np.int32)
    add("ctc", "CTCLoss", "ctc", [log_probs, labels, steps, lengths])
    add("ctc blank", "CTCLoss", "ctc", [log_probs, (labels + 4) % 5, steps, np.array([3, 0, 2], np.int32)], {"blank": 2})
    # neither package has a float64 focal loss
    return out + [in_float64(c) for c in out if c["reduction"] in ("mean", None) and c["rule"] != "focal"] + empties(out)


def in_float64(case):
    """Returns the case with its float32 inputs and optional tensors in float64."""
    def wide(array):
        return array.astype(np.float64) if array.dtype == np.float32 else array
    return {**case, "name": case["name"] + " float64", "inputs": [wide(a) for a in case["inputs"]],
            "optional": {k: wide(a) for k, a in case["optional"].items()}}


def empties(all_cases):
    """Returns the first case of each rule that reduces samples, with no samples: the sum and the unreduced elements."""
    first = {}
    for case in all_cases:
        first.setdefault(case["rule"], case["name"].rpartition(" ")[0])
    return [{**case, "name": case["name"] + " of nothing", "inputs": [a[:0] for a in case["inputs"]]} for case in all_cases
            if case["rule"] != "ctc" and case["reduction"] in ("sum", "none") and case["name"] == f"{first[case['rule']]} {case['reduction']}"]


def described(array):
    """Returns type, shape and values in the form that the text stores."""
    digits = 17 if array.dtype == np.float64 else 9
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": [float(f"{float(v):.{digits}g}") for v in np.asarray(array).ravel()]}


def run(ms, case, as_function=False):
    """Returns the loss and the gradients of its sum; `ms` is the module mindspore or sindri. With as_function, calls the function instead of the class."""
    arguments = {k: v for k, v in case["settings"].items() if not (k == "ignore_index" and "ignore_indiex" in case["arguments"])}
    arguments.update(case["arguments"])
    arguments.update({k: ms.Tensor(v) for k, v in case["optional"].items()})
    if case["reduction"] is not None:
        arguments["reduction"] = case["reduction"]
    inputs = [ms.Tensor(a) for a in case["inputs"]]
    if as_function:
        whole = functools.partial(getattr(ms.ops, FUNCTIONS[case["rule"]]), **arguments)
        loss = (lambda *a: whole(*a)[0]) if case["rule"] == "ctc" else whole
    else:
        loss = getattr(ms.nn, case["class"])(**arguments)
    grads = ms.grad(lambda *a: loss(*a).sum(), tuple(case["by"]))(*inputs)
    return {"loss": described(loss(*inputs).asnumpy()), "grads": [described(g.asnumpy()) for g in (grads if isinstance(grads, tuple) else (grads,))]}


def stored(case):
    """Returns the case as text."""
    return {**case, "inputs": [described(a) for a in case["inputs"]], "optional": {k: described(a) for k, a in case["optional"].items()}}
