"""Embedding layers: rows of a table."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from sindri import _core
from sindri.common import dtype as mstype
from sindri.common.initializer import initializer
from sindri.common.not_yet import not_yet
from sindri.common.parameter import Parameter
from sindri.common.tensor import Tensor
from sindri._check import check_bool, check_choice, check_float, check_int, fail
from sindri.nn.cell import Cell
from sindri.nn.layer.basic import Init

__all__ = ["Embedding", "EmbeddingLookup"]

_ops = _core.ops


class Embedding(Cell):
    """Looks up rows of a table: ids of any shape -> ids.shape + [embedding_size].

    The Parameter is `embedding_table` [vocab_size, embedding_size].

    Args:
        vocab_size (int): The number of rows.
        embedding_size (int): The size of a row.
        use_one_hot (bool): Whether rows are computed as a product with one-hot vectors. Default: False.
        embedding_table (str, float, Initializer, Tensor): How the table is initialised. Default: "normal", N(0, 0.01).
        dtype (DType): The type of the table. Default: float32.
        padding_idx (int): The row that is initialised to zeros. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, `padding_idx` is outside the vocabulary or, without `use_one_hot`, an id is out of range.

    Examples:
        >>> import sindri as ms
        >>> table = ms.Tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
        >>> print(ms.nn.Embedding(3, 2, embedding_table=table)(ms.Tensor([2, 0])))
        [[4. 5.]
         [0. 1.]]
    """

    def __init__(self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Init = "normal", dtype: Any = mstype.float32,
                 padding_idx: Optional[int] = None) -> None:
        super().__init__()
        self.vocab_size = check_int("Embedding", "vocab_size", vocab_size, 1)
        self.embedding_size = check_int("Embedding", "embedding_size", embedding_size, 1)
        self.use_one_hot = check_bool("Embedding", "use_one_hot", use_one_hot)
        self.dtype, self.padding_idx = dtype, padding_idx
        self.init_tensor = initializer(embedding_table, (self.vocab_size, self.embedding_size), dtype)
        if padding_idx is not None:
            if not 0 <= check_int("Embedding", "padding_idx", padding_idx) < vocab_size:
                fail(ValueError, f"Embedding: padding_idx {padding_idx} is not in [0, {vocab_size})")
            values = np.array(self.init_tensor.init_data().asnumpy())
            values[padding_idx] = 0
            self.init_tensor = Tensor(values, dtype=dtype)
        self.embedding_table = Parameter(self.init_tensor, name="embedding_table")

    def construct(self, ids: Tensor) -> Tensor:
        table = self.embedding_table
        if not self.use_one_hot:
            return _ops.embedding(table, ids)
        rows = _ops.one_hot(_ops.reshape(ids, (-1,)), self.vocab_size, 1.0, 0.0, table.dtype)
        return _ops.reshape(_ops.matmul(rows, table), tuple(ids.shape) + (self.embedding_size,))

    def extend_repr(self) -> str:
        return (f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
                f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}")


class EmbeddingLookup(Cell):
    """Looks up rows of a table: indices of any shape -> indices.shape + [embedding_size].

    The Parameter is `embedding_table` [vocab_size, embedding_size]. An index out of range is an error.

    Args:
        vocab_size (int): The number of rows.
        embedding_size (int): The size of a row.
        param_init (str, float, Initializer, Tensor): How the table is initialised. Default: "normal".
        target (str): Where to place the table, "CPU" or "DEVICE"; stored without effect. Default: "CPU".
        slice_mode (str): How to split the table: "batch_slice", "field_slice", "table_row_slice" or "table_column_slice"; stored without
            effect. Default: "batch_slice".
        manual_shapes (tuple): Stored without effect. Default: None.
        max_norm (float): The largest L2 norm of a returned row; longer rows are scaled. Default: None.
        sparse (bool): Stored without effect. Default: True.
        dtype (DType): The type of the table. Default: float32.
        vocab_cache_size (int): The rows cached on a parameter server (MindSpore 1); only 0 is available. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a size is below 1, or the target or slice mode is unknown.
        NotYetError: If `vocab_cache_size` is above 0.

    Examples:
        >>> import sindri as ms
        >>> table = ms.Tensor([[3.0, 4.0], [0.5, 0.0]])
        >>> print(ms.nn.EmbeddingLookup(2, 2, param_init=table, max_norm=1.0)(ms.Tensor([0, 1])).asnumpy().round(4))
        [[0.6 0.8]
         [0.5 0. ]]
    """

    BATCH_SLICE, FIELD_SLICE = "batch_slice", "field_slice"
    TABLE_ROW_SLICE, TABLE_COLUMN_SLICE = "table_row_slice", "table_column_slice"

    def __init__(self, vocab_size: int, embedding_size: int, param_init: Init = "normal", target: str = "CPU", slice_mode: str = "batch_slice",
                 manual_shapes: Any = None, max_norm: Optional[float] = None, sparse: bool = True, dtype: Any = mstype.float32,
                 vocab_cache_size: int = 0) -> None:
        super().__init__()
        who = "EmbeddingLookup"
        if check_int(who, "vocab_cache_size", vocab_cache_size, 0):
            not_yet("nn.EmbeddingLookup(vocab_cache_size=…)", "model parallel")
        self.vocab_cache_size = vocab_cache_size
        self.vocab_size, self.embedding_size = check_int(who, "vocab_size", vocab_size, 1), check_int(who, "embedding_size", embedding_size, 1)
        self.target = check_choice(who, "target", target, ("CPU", "DEVICE"))
        modes = (self.BATCH_SLICE, self.FIELD_SLICE, self.TABLE_ROW_SLICE, self.TABLE_COLUMN_SLICE)
        self.slice_mode, self.manual_shapes, self.sparse = check_choice(who, "slice_mode", slice_mode, modes), manual_shapes, sparse
        self.max_norm = None if max_norm is None else check_float(who, "max_norm", max_norm, above=0)
        self.embedding_table = Parameter(initializer(param_init, (self.vocab_size, self.embedding_size), dtype), name="embedding_table")

    def construct(self, indices: Tensor) -> Tensor:
        rows = _ops.embedding(self.embedding_table, indices)
        if self.max_norm is None:
            return rows
        limit = _ops.full((), self.max_norm, rows.dtype)
        return _ops.mul(rows, _ops.div(limit, _ops.maximum(_ops.norm(rows, 2.0, (-1,), True), limit)))
