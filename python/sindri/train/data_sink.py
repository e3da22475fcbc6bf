"""A training function that pulls its own data."""
from typing import Any, Callable, Optional

from sindri import _checkparam as validator
from sindri import context
from sindri.common.api import jit
from sindri.train.dataset_helper import _Batches, check_dataset

__all__ = ['data_sink']


def data_sink(fn: Callable, dataset: Any, sink_size: int = 1, jit_config: Any = None, input_signature: Any = None) -> Callable:
    """A function without arguments that runs `sink_size` steps `fn(*batch)` on the next batches and returns the last result; at the end of a
    pass the next begins. In graph mode `fn` is compiled by `jit`. jit_config and input_signature are stored in no way. ValueError, TypeError."""
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
