"""Gradient accumulation: one update for the mean gradient of several micro-batches."""
from typing import Any, Tuple

from sindri import _checkparam as validator
from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri.nn.cell import Cell


class GradientAccumulation(Cell):
    """Accumulates gradients and runs the optimizer on every n-th call.

    A call takes (loss, grads), adds grads / n to `grad_accumulation.<name>` and returns the loss. Every n-th call the optimizer runs on the sum, which is then
    cleared. The state also contains the counter `accumulation_step`. In a compiled graph the optimizer is computed in every call and its effect is kept in
    every n-th one, so one graph serves all calls.

    Args:
        max_accumulation_step (int): The number of calls n.
        optimizer (Optimizer): The optimizer.

    Raises:
        TypeError: If `max_accumulation_step` is not an int.
        ValueError: If it is below 1.

    Examples:
        >>> import sindri as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> accumulate = ms.boost.GradientAccumulation(2, ms.nn.SGD([w], 0.5))
        >>> for g in (1.0, 3.0):
        ...     loss = accumulate(ms.Tensor(0.0), (ms.Tensor([g]),))
        ...     print(w.asnumpy())
        [1.]
        [0.]
    """

    def __init__(self, max_accumulation_step: int, optimizer: Any):
        super().__init__(auto_prefix=False)
        self._max_accumulation_step = validator.check_positive_int(max_accumulation_step, 'max_accumulation_step', 'GradientAccumulation')
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self._grad_accumulation = self.weights.clone(prefix='grad_accumulation', init='zeros')
        self._accumulation_step = Parameter(Tensor(0, dtype=mstype.int32), name='accumulation_step', requires_grad=False)

    def construct(self, loss: Any, grads: Tuple[Any, ...]) -> Any:
        due = _core.collect_gradients(self._grad_accumulation, self._accumulation_step, self._max_accumulation_step, grads)
        if due is not None and due[1] is None:
            self.optimizer(due[0])
        elif due is not None:
            self.optimizer._apply_unless(due[1], due[0])
        return loss
