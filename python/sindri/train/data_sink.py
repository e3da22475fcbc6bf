"""A training function that reads its own data."""
from typing import Any, Callable, Optional

from sindri import _checkparam as validator
from sindri import context
from sindri.common.api import jit
from sindri.train.dataset_helper import _Batches, check_dataset

__all__ = ['data_sink']


def data_sink(fn: Callable, dataset: Any, sink_size: int = 1, jit_config: Any = None, input_signature: Any = None) -> Callable:
    """Returns a function without arguments that runs several steps `fn(*batch)` on the next batches.

    At the end of a pass the next one starts. In graph mode `fn` is compiled by `jit`.

    Args:
        fn (Callable): The step.
        dataset (Dataset): The data.
        sink_size (int): The number of steps of a call. Default: 1.
        jit_config: Ignored. Default: None.
        input_signature: Ignored. Default: None.

    Returns:
        The function, which returns the result of its last step.

    Raises:
        TypeError: If `dataset` is not a dataset or `sink_size` is not an int.
        ValueError: If `sink_size` is below 1.

    Examples:
        >>> import numpy as np
        >>> import sindri as ms
        >>> data = ms.dataset.NumpySlicesDataset((np.arange(4, dtype=np.float32),), ['x'], shuffle=False).batch(2)
        >>> step = ms.train.data_sink(lambda x: x * 2, data, sink_size=2)
        >>> print(step())
        [4. 6.]
    """
    check_dataset(dataset)
    validator.check_positive_int(sink_size, 'sink_size', 'data_sink')
    batches = _Batches(dataset, -1)
    compiled: Optional[Callable] = None

    def sunk() -> Any:
        nonlocal compiled
        graph = context.get_context('mode') == context.GRAPH_MODE
        if graph and compiled is None:
            compiled = jit(fn)
        step = compiled if graph and compiled is not None else fn
        result = None
        for _ in range(sink_size):
            result = step(*batches.next_batch())
        return result
    return sunk
