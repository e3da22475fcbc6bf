"""Optimizers.

Written by scripts/python_stubs.py; do not edit."""


from sindri.nn.optim import (
    ada_grad as ada_grad, adam as adam, adasum as adasum, asgd as asgd, ftrl as ftrl, lamb as lamb, lars as lars, momentum as momentum,
    optimizer as optimizer, rmsprop as rmsprop, rprop as rprop, sgd as sgd,
)
from sindri.nn.optim.ada_grad import *
from sindri.nn.optim.adam import *
from sindri.nn.optim.adasum import *
from sindri.nn.optim.asgd import *
from sindri.nn.optim.ftrl import *
from sindri.nn.optim.lamb import *
from sindri.nn.optim.lars import *
from sindri.nn.optim.momentum import *
from sindri.nn.optim.optimizer import Optimizer as Optimizer
from sindri.nn.optim.rmsprop import *
from sindri.nn.optim.rprop import *
from sindri.nn.optim.sgd import *
from sindri.nn.optim.thor import *

__all__ = [
    "Optimizer", "Momentum", "SGD", "Adam", "AdamOffload", "AdamWeightDecay", "LazyAdam", "AdaMax", "Lamb", "LARS", "Adagrad", "Adadelta",
    "ProximalAdagrad", "RMSProp", "FTRL", "Rprop", "ASGD", "AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell", "thor", "THOR", "THOR_Ascend",
    "THOR_GPU", "ThorAscend", "ThorGpu",
]
