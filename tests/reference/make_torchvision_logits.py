"""Computes logits of torchvision's ResNet-18 with weights given by a formula (formula.py), for tests/python/test_tools.py.

usage: python tests/reference/make_torchvision_logits.py tests/python/expectations/resnet18_logits.json

Each parameter is `spread * (2 u - 1) + shift`, with the counter-based u in [0, 1) keyed by its name; `spread` and `shift` keep activations from dying and from
growing. The test computes the same values. The file contains names and shapes of the state dict, the input's shape, and the logits in evaluation mode, computed
in
float64.
"""

import json
import sys

import numpy as np

from formula import unit

INPUT_KEY, INPUT_SHAPE = "input", (2, 3, 64, 64)


def value(name, shape):
    """Returns the formula's value of one entry of the state dict (float32; num_batches_tracked: 0)."""
    if name.endswith("num_batches_tracked"):
        return np.zeros(shape, np.int64)
    n = int(np.prod(shape, dtype=np.int64))
    fan_in = n // shape[0] if len(shape) > 1 else 1
    spread, shift = {"running_mean": (0.1, 0.0), "running_var": (0.5, 1.0)}.get(name.rsplit(".", 1)[1], (0.1, 0.0))
    if name.endswith(".weight"):
        spread, shift = ((6.0 / fan_in) ** 0.5, 0.0) if len(shape) > 1 else (0.2, 1.0)
    if name == "fc.weight":
        spread *= 0.1
    return (spread * (2.0 * unit(name, n) - 1.0) + shift).astype(np.float32).reshape(shape)


def main():
    import torch
    import torchvision
    net = torchvision.models.resnet18().eval()
    shapes = {k: list(v.shape) for k, v in net.state_dict().items()}
    net.load_state_dict({k: torch.from_numpy(value(k, tuple(s))) for k, s in shapes.items()})
    x = (2.0 * unit(INPUT_KEY, int(np.prod(INPUT_SHAPE))) - 1.0).astype(np.float32).reshape(INPUT_SHAPE)
    with torch.no_grad():
        logits = net.double()(torch.from_numpy(x).double()).numpy()
    out = {
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
        "input_shape": INPUT_SHAPE,
        "shapes": shapes,
        "logits": logits.tolist(),
    }
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        json.dump(out, f)
        f.write("\n")


if __name__ == "__main__":
    main()
