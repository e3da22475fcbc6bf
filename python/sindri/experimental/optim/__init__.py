"""Optimizers with PyTorch's arguments and `param_groups` (MindSpore: mindspore.experimental.optim)."""
from sindri.experimental.optim import lr_scheduler
from sindri.experimental.optim.adadelta import Adadelta
from sindri.experimental.optim.adagrad import Adagrad
from sindri.experimental.optim.adam import Adam
from sindri.experimental.optim.adamax import Adamax
from sindri.experimental.optim.adamw import AdamW
from sindri.experimental.optim.asgd import ASGD
from sindri.experimental.optim.nadam import NAdam
from sindri.experimental.optim.optimizer import Optimizer
from sindri.experimental.optim.radam import RAdam
from sindri.experimental.optim.rmsprop import RMSprop
from sindri.experimental.optim.rprop import Rprop
from sindri.experimental.optim.sgd import SGD

__all__ = ["Optimizer", "AdamW", "SGD", "Adam", "Adadelta", "Adagrad", "ASGD", "Adamax", "RMSprop", "Rprop", "RAdam", "NAdam"]
