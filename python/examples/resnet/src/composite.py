"""A custom operator, composed of existing ones."""
from __future__ import annotations

from typing import Union

import sindri as ms
from sindri import nn, ops
from sindri._checkparam import Validator as validator


class ReduceLogSumExp(nn.Cell):
    """log(sum(exp(x))) over `axis` (an int, or a tuple or list of ints), as an example of a layer that the framework lacks.

    Subtracts the largest value before exp, so that large inputs do not overflow. Differentiable, because it consists of operators.
    Raises TypeError if axis or keep_dims has another type.
    """

    def __init__(self, axis: Union[int, list[int], tuple[int, ...]], keep_dims: bool = False) -> None:
        super().__init__()
        validator.check_value_type("axis", axis, [int, list, tuple], self.cls_name)
        validator.check_value_type("keep_dims", keep_dims, [bool], self.cls_name)
        self.axis = tuple(axis) if isinstance(axis, list) else axis
        self.keep_dims = keep_dims
        self.exp = ops.Exp()
        self.log = ops.Log()
        self.sum = ops.ReduceSum(keep_dims=True)
        self.max = ops.ReduceMax(keep_dims=True)
        self.squeeze = ops.Squeeze(self.axis)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        largest = ops.stop_gradient(self.max(x, self.axis))
        y = self.log(self.sum(self.exp(x - largest), self.axis)) + largest
        return y if self.keep_dims else self.squeeze(y)


def main() -> None:
    """Prints the operator's result for two rows."""
    x = ms.Tensor([[1.0, 2.0, 3.0], [1000.0, 1000.0, 1000.0]])
    print(ReduceLogSumExp(-1)(x))  # 3.4076 and 1000 + log 3 = 1001.0986


if __name__ == "__main__":
    main()
