"""A step of dimension-reduction training for custom loops."""
from __future__ import annotations

import math
from typing import Any, List, Sequence, Tuple

import numpy as np

from sindri import _core
from sindri._check import check_float, check_int, check_type, fail
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.communication.management import GlobalComm, get_group_size
from sindri.nn.cell import Cell

__all__ = ["DimReduce"]

_ops = _core.ops


class DimReduce(Cell):
    """Moves weights in the span of principal components by BFGS with a backtracking search, and a little outside of it (MindSpore: boost.DimReduce).

    Model(boost_level=…) with dim_reduce does the same within the compiled step.

    A call takes (loss, gradients, weight, weight_clone, *inputs) and returns the loss. weight_clone are Parameters that hold copies of the weights before and
    after the call. The search makes up to `max_search` (10) trials; if none succeeds, nothing moves in the span (MindSpore makes two trials). Trials change
    neither batch norm's moving statistics nor the optimizer's state; dropout draws new masks in each. State: gk_last, bk, sk, grad_res_momentum.

    Args:
        network (Cell): Returns the loss of a batch.
        optimizer (Cell): Receives the changes as gradients; nn.SGD at the learning rate 1 without momentum subtracts them unchanged.
        weight (Sequence[Parameter]): The Parameters.
        pca_mat_local (array): This rank's components, shape (ceil(n_components/rank_size), number of weights), with zero rows after the last component.
        n_components (int): The number of components.
        rho (float): The factor between trials, within (0, 1).
        gamma (float): The momentum of the part outside of the span, within [0, 1).
        alpha (float): The factor of the part outside of the span, at least 0.
        sigma (float): The fraction of the decrease predicted by the slope that a trial must reach, within (0, 1).
        rank (int): This rank among those that share the components.
        rank_size (int): The number of ranks that share the components.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range or shapes differ.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> class Quadratic(ms.nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.w = ms.Parameter(ms.Tensor([1.0, 1.0]), name="w")
        ...
        ...     def construct(self):
        ...         return 0.5 * (self.w * self.w).sum()
        >>> net = Quadratic()
        >>> clone = ms.Parameter(ms.Tensor([1.0, 1.0]), name="clone")
        >>> cell = ms.boost.DimReduce(net, ms.nn.SGD([net.w], 1.0), [net.w], np.eye(1, 2), 1, 0.5, 0.0, 0.25, 0.25, 0, 1)
        >>> _ = cell(net(), (net.w.value(),), [net.w], [clone])
        >>> print(net.w.asnumpy())  # a full step within the component, a quarter outside
        [0.   0.75]
    """

    max_search = 10

    def __init__(self, network: Cell, optimizer: Any, weight: Sequence[Parameter], pca_mat_local: Any, n_components: int, rho: float, gamma: float, alpha: float,
                 sigma: float, rank: int, rank_size: int) -> None:
        super().__init__(auto_prefix=False)
        who = "DimReduce"
        self.network = check_type(who, "'network'", network, Cell)
        self.optimizer = check_type(who, "'optimizer'", optimizer, Cell)
        weights = list(weight)
        self.n_components = check_int(who, "n_components", n_components, 1)
        self.rho, self.sigma = check_float(who, "rho", rho, above=0, below=1), check_float(who, "sigma", sigma, above=0, below=1)
        self.gamma, self.alpha = check_float(who, "gamma", gamma, least=0, below=1), check_float(who, "alpha", alpha, least=0)
        self.rank_size = check_int(who, "rank_size", rank_size, 1)
        self.rank = check_int(who, "rank", rank, 0)
        rows, columns = math.ceil(n_components / rank_size), sum(int(np.prod(p.shape)) for p in weights)
        matrix = np.asarray(pca_mat_local)
        if matrix.shape != (rows, columns):
            fail(ValueError, f"'pca_mat_local' has shape {matrix.shape}, but {n_components} components of {columns} weights on {rank_size} ranks need "
                 f"({rows}, {columns})", who)
        world = get_group_size() if GlobalComm.INITED else 1
        if rank_size not in (1, world):
            fail(ValueError, f"'rank_size' is {rank_size}, but must be 1 or the world size {world}", who,
                 "share the components among all ranks, or give each rank all of them")
        if rank >= rank_size:
            fail(ValueError, f"rank {rank} must be below 'rank_size' {rank_size}", who)
        self._components = matrix.astype(np.float32)
        k = n_components
        self.gk_last = Parameter(Tensor(np.zeros((k, 1), np.float32)), name="gk_last", requires_grad=False)
        self.gk_last_init = Parameter(Tensor(False, mstype.bool_), name="gk_last_init", requires_grad=False)
        self.bk = Parameter(Tensor(np.eye(k, dtype=np.float32)), name="bk", requires_grad=False)
        self.sk = Parameter(Tensor(np.zeros((k, 1), np.float32)), name="sk", requires_grad=False)
        self.grad_res_momentum = Parameter(Tensor(np.zeros(columns, np.float32)), name="grad_res_momentum", requires_grad=False)

    def _sum(self, value: np.ndarray) -> np.ndarray:
        """Returns the sum over the ranks that share the components."""
        return value if self.rank_size == 1 else _ops.all_reduce([Tensor(np.ascontiguousarray(value, np.float32))])[0].asnumpy()

    def _mean_loss(self, loss: Any) -> float:
        return float(self._sum(np.asarray(loss.asnumpy(), np.float32).reshape(1))[0]) / self.rank_size

    def _whole(self, local: np.ndarray) -> np.ndarray:
        """Returns the vector [k] from the parts of all ranks."""
        rows = len(local)
        out = np.zeros(rows * self.rank_size, np.float32)
        out[self.rank * rows:(self.rank + 1) * rows] = local
        return self._sum(out)[:self.n_components]

    def _part(self, whole: np.ndarray) -> np.ndarray:
        rows = len(self._components)
        padded = np.zeros(rows * self.rank_size, np.float32)
        padded[:self.n_components] = whole
        return padded[self.rank * rows:(self.rank + 1) * rows]

    @staticmethod
    def _flat(tensors: Sequence[Any]) -> np.ndarray:
        return np.concatenate([np.asarray(t.asnumpy(), np.float32).reshape(-1) for t in tensors])

    @staticmethod
    def _as(flat: np.ndarray, weights: Sequence[Parameter]) -> Tuple[Tensor, ...]:
        out, at = [], 0
        for p in weights:
            size = int(np.prod(p.shape))
            out.append(Tensor(flat[at:at + size].reshape(p.shape), p.dtype))
            at += size
        return tuple(out)

    def _direction(self, gk: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Returns the inverse Hessian after the last step (BFGS) and the search direction."""
        b = self.bk.asnumpy().astype(np.float64)
        if bool(self.gk_last_init.asnumpy()):
            s, y = self.sk.asnumpy().astype(np.float64), gk[:, None] - self.gk_last.asnumpy().astype(np.float64)
            curvature = float((y * s).sum())
            if curvature > 1e-20:
                left = np.eye(len(b)) - s @ y.T / curvature
                b = left @ b @ left.T + s @ s.T / curvature
        return b, -(b @ gk)

    def _search(self, slope: float, along: np.ndarray, before: float, weights: List[Parameter], inputs: Tuple[Any, ...]) -> float:
        """Returns the factor of the first trial whose loss decreases enough; 0 if there is none."""
        changing = [*self.network.get_parameters(), *self.optimizer.get_parameters(), *weights]
        kept = [(p, p.asnumpy().copy()) for p in {id(p): p for p in changing}.values()]
        for trial in range(self.max_search):
            rho = self.rho ** trial
            self.optimizer(self._as(-rho * along, weights))
            loss = self._mean_loss(self.network(*inputs))
            for p, value in kept:
                p.set_data(Tensor(value, p.dtype))
            if loss < before + self.sigma * rho * slope:  # never for NaN
                return rho
        return 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.construct(*args, **kwargs)  # the search reads values, so it cannot be part of a graph

    def construct(self, loss: Any, old_grad: Sequence[Any], weight: Sequence[Parameter], weight_clone: Sequence[Parameter], *inputs: Any) -> Any:
        weights = list(weight)
        before, gradient = self._mean_loss(loss), self._flat(old_grad)
        gk_local = self._components @ gradient
        gk = self._whole(gk_local).astype(np.float64)
        b, d = self._direction(gk)
        along = self._sum(self._components.T @ self._part(d.astype(np.float32)))
        inside = self._sum(self._components.T @ gk_local)
        rho = self._search(float(gk @ d), along, before, weights, inputs)
        if rho > 0:
            for p, value in ((self.bk, b), (self.sk, rho * d[:, None]), (self.gk_last, gk[:, None])):
                p.set_data(Tensor(value.astype(np.float32)))
            self.gk_last_init.set_data(Tensor(True, mstype.bool_))
        outside = self.gamma * self.grad_res_momentum.asnumpy() + gradient - inside
        self.grad_res_momentum.set_data(Tensor(outside.astype(np.float32)))
        self.optimizer(self._as((self.alpha * outside - rho * along).astype(np.float32), weights))
        for clone, p in zip(weight_clone, weights):
            clone.set_data(Tensor(p.asnumpy().copy(), p.dtype))
        return loss
