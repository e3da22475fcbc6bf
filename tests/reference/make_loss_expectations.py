"""Writes tests/nn/expectations/losses.json with MindSpore (recorded with 2.10.0, CPU) and PyTorch (2.15) from the cases of tests/python/loss_cases.py; the
tests of both languages read it: python tests/reference/make_loss_expectations.py

PyTorch computes what MindSpore's CPU build lacks (soft margin, multilabel margin, triplets), and float64, which MindSpore computes partly in float32 or not at
all. Dice, which PyTorch lacks, comes from MindSpore for float64, too. The losses of empty inputs follow from the definition: no elements, and 0.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import loss_cases  # noqa: E402
import mindspore as ms  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

LACKING = {"multilabel_margin", "soft_margin", "triplet_margin"}
TORCH = {"l1": F.l1_loss, "mse": F.mse_loss, "smooth_l1": F.smooth_l1_loss, "huber": F.huber_loss, "multilabel_margin": F.multilabel_margin_loss,
         "soft_margin": F.soft_margin_loss, "triplet_margin": F.triplet_margin_loss, "softmax_cross_entropy": F.cross_entropy,
         "softmax_cross_entropy_dense": F.cross_entropy, "cross_entropy": F.cross_entropy, "nll": F.nll_loss, "kl_div": F.kl_div,
         "binary_cross_entropy": F.binary_cross_entropy, "binary_cross_entropy_with_logits": F.binary_cross_entropy_with_logits,
         "multilabel_soft_margin": F.multilabel_soft_margin_loss, "cosine_embedding": F.cosine_embedding_loss, "margin_ranking": F.margin_ranking_loss,
         "hinge_embedding": F.hinge_embedding_loss, "poisson_nll": F.poisson_nll_loss, "gaussian_nll": F.gaussian_nll_loss,
         "multi_margin": F.multi_margin_loss, "ctc": F.ctc_loss, "rmse": lambda x, y, reduction: F.mse_loss(x, y).sqrt()}


def in_torch(case):
    """Returns the loss and its gradients, in float64."""
    def tensor(array):
        return torch.tensor(array.tolist(), dtype=torch.float64 if array.dtype.kind == "f" else torch.int64)
    inputs = [tensor(a) for a in case["inputs"]]
    by = [inputs[i].requires_grad_() for i in case["by"]]
    loss = TORCH[case["rule"]](*inputs, **case["settings"], **{k: tensor(a) for k, a in case["optional"].items()}, reduction=case["reduction"])
    return {"loss": described(loss), "grads": [described(g) for g in torch.autograd.grad(loss.sum(), by)]}


def described(t):
    return loss_cases.described(np.array(t.detach().tolist(), np.float64).reshape(tuple(t.shape)))


def of_nothing(case, whole):
    """Returns the sum or the elements for no samples, in the form of `whole`, the result for some samples."""
    loss = np.zeros([] if case["reduction"] == "sum" else [0, *whole["loss"]["shape"][1:]], np.float32)
    return {"loss": loss_cases.described(loss), "grads": [loss_cases.described(case["inputs"][i]) for i in case["by"]]}


def without_softmax(case, result):
    """Returns MindSpore's gradient of ctc_loss without exp(log_probs), which MindSpore adds: it computes the gradient through an assumed preceding log_softmax.
    """
    log_probs, _, steps, lengths = case["inputs"]
    counted = np.arange(len(log_probs))[:, None, None] < steps[None, :, None]
    share = 1 / (len(steps) * np.maximum(lengths, 1)) if case["reduction"] == "mean" else np.ones(len(steps))
    grad = np.array(result["grads"][0]["values"]).reshape(log_probs.shape) - np.exp(log_probs.astype(np.float64)) * counted * share[None, :, None]
    return {**result, "grads": [loss_cases.described(grad)]}


ms.set_context(mode=ms.PYNATIVE_MODE)
lines, results = [], {}
for case in loss_cases.cases():
    if case["name"].endswith(" of nothing"):
        source, result = "definition", of_nothing(case, results[case["name"].removesuffix(" of nothing")])
    else:
        float64 = case["inputs"][0].dtype == np.float64
        source = "torch" if case["rule"] in LACKING or float64 and case["rule"] in TORCH else "mindspore"
        result = in_torch(case) if source == "torch" else loss_cases.run(ms, case)
        result = without_softmax(case, result) if case["rule"] == "ctc" else result
    results[case["name"]] = result
    lines.append(json.dumps({**loss_cases.stored(case), "source": source, **result}))
with open(os.path.join(HERE, "..", "nn", "expectations", "losses.json"), "w", encoding="utf-8") as f:
    f.write("[\n" + ",\n".join(lines) + "\n]\n")
