"""One step of torchvision's ResNet-18: `python -m sindri compare record theirs.py:make theirs.npz` with a Python that has torch."""
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]
import torchvision  # type: ignore[import-not-found,import-untyped,unused-ignore]


def make() -> tuple[Any, Any, Any, tuple[Any, ...]]:
    """Returns (module, loss, optimizer, batch) and saves the weights to resnet18.pth."""
    torch.manual_seed(1)
    model = torchvision.models.resnet18()
    torch.save(model.state_dict(), "resnet18.pth")
    rng = np.random.default_rng(0)
    batch = rng.standard_normal((4, 3, 64, 64)).astype(np.float32), rng.integers(0, 1000, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return model, torch.nn.CrossEntropyLoss(), optimizer, batch
