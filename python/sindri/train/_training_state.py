"""Where a training stands: what a checkpoint holds beside Parameters, and how a Model goes on from it. Names and form are the C++ library's
(src/train/training_state.cc), so that both read each other's files."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Tuple

from sindri import _core
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.train import serialization

__all__ = ["Position", "entries", "load"]

RANDOM, POSITION = "sindri.rng_state", "sindri.position"


class Position:
    """epoch: epochs completed; step_in_epoch: steps of the one after; step: in all; dataset_state: of the data iterator, '' where it has none."""

    def __init__(self, epoch: int = 0, step_in_epoch: int = 0, step: int = 0, dataset_state: str = "") -> None:
        self.epoch, self.step_in_epoch, self.step, self.dataset_state = epoch, step_in_epoch, step, dataset_state

    def __repr__(self) -> str:
        return f"Position(epoch={self.epoch}, step_in_epoch={self.step_in_epoch}, step={self.step})"


def entries(position: Position) -> List[Tuple[str, Any]]:
    """What a checkpoint adds to the Parameters."""
    text = json.dumps({"version": 1, "epoch": position.epoch, "step_in_epoch": position.step_in_epoch, "step": position.step,
                       "dataset_state": position.dataset_state, "settings_hash": "", "data_fingerprint": "", "class_names": [], "counts": [0, 0, 0, 0],
                       "record": ""})
    return [(RANDOM, Tensor(_core.rng_state())), (POSITION, text)]


def _same_training(network: Any, found: Dict[str, Any], path: str) -> None:
    """Raises unless the file holds every Parameter of the training cell."""
    missing = [p.name for p in network.get_parameters() if p.name not in found]
    if missing:
        raise ValueError(f"Model.load_training_state: '{path}' lacks {len(missing)} of the training's parameters: {', '.join(missing[:8])} | "
                         "make the Model as it was: optimizer, loss scale and training algorithms too")


def _fixed_rates(network: Any, found: Dict[str, Any]) -> Dict[str, Any]:
    """Without tables of learning rates of another length: those of a training for more epochs hold."""
    own = {p.name: p for p in network.get_parameters()}
    return {name: v for name, v in found.items()
            if not (name.startswith("learning_rate") and isinstance(v, Parameter) and name in own and len(v.shape) == len(own[name].shape) == 1
                    and v.shape != own[name].shape)}


def load(network: Any, path: str) -> Position:
    """Loads a checkpoint (of a folder: the newest good one) into the training cell and the random state."""
    if os.path.isdir(path):
        folder, path = path, _core.find_newest_checkpoint(path)
        if not path:
            raise ValueError(f"Model.load_training_state: there is no checkpoint in '{folder}'")
    found = serialization.load_checkpoint(path, choice_func=lambda name: True)
    position, random = found.pop(POSITION, None), found.pop(RANDOM, None)
    if not isinstance(position, str) or not isinstance(random, Parameter):
        raise ValueError(f"Model.load_training_state: '{path}' holds parameters but no training state | save it with ModelCheckpoint and "
                         "CheckpointConfig(training_state=True), its default; load_checkpoint reads the weights alone")
    j = json.loads(position)
    if j.get("version") != 1:
        raise ValueError(f"Model.load_training_state: '{path}' is of a newer version of Sindri")
    _same_training(network, found, path)
    known = {p.name for p in network.get_parameters()}
    found = {name: v for name, v in _fixed_rates(network, found).items() if name in known}
    serialization.load_param_into_net(network, found, strict_load=True)
    _core.set_rng_state(Tensor(random))
    return Position(j["epoch"], j["step_in_epoch"], j["step"], j["dataset_state"])
