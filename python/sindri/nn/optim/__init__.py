"""Optimizers."""
from sindri.nn.optim import ada_grad, adam, adasum, asgd, ftrl, lamb, lars, momentum, optimizer, rmsprop, rprop, sgd
from sindri.nn.optim.ada_grad import *  # noqa: F401,F403
from sindri.nn.optim.adam import *  # noqa: F401,F403
from sindri.nn.optim.adasum import *  # noqa: F401,F403
from sindri.nn.optim.asgd import *  # noqa: F401,F403
from sindri.nn.optim.ftrl import *  # noqa: F401,F403
from sindri.nn.optim.lamb import *  # noqa: F401,F403
from sindri.nn.optim.lars import *  # noqa: F401,F403
from sindri.nn.optim.momentum import *  # noqa: F401,F403
from sindri.nn.optim.optimizer import Optimizer  # noqa: F401
from sindri.nn.optim.rmsprop import *  # noqa: F401,F403
from sindri.nn.optim.rprop import *  # noqa: F401,F403
from sindri.nn.optim.sgd import *  # noqa: F401,F403
from sindri.nn.optim.thor import *  # noqa: F401,F403

__all__ = ["Optimizer", *momentum.__all__, *sgd.__all__, *adam.__all__, *lamb.__all__, *lars.__all__, *ada_grad.__all__, *rmsprop.__all__, *ftrl.__all__,
           *rprop.__all__, *asgd.__all__, *adasum.__all__, "thor", "THOR", "THOR_Ascend", "THOR_GPU", "ThorAscend", "ThorGpu"]
