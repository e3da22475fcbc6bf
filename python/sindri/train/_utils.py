"""Functions that training loops of older samples import."""
import os
from typing import Any, List, Tuple

import numpy as np

from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor
from sindri.parallel._utils import _to_full_shapes, _to_full_tensor, _to_tensor

__all__ = ['_exec_datagraph', '_get_types_and_shapes', '_construct_tensor_list', '_to_tensor', '_to_full_tensor', '_to_full_shapes',
           '_make_directory']


def _get_types_and_shapes(dataset: Any) -> Tuple[List[Any], List[Any]]:
    """Returns the column types (as sindri dtypes) and shapes of a dataset."""
    return [mstype.pytype_to_dtype(t) for t in dataset.output_types()], dataset.output_shapes()


def _exec_datagraph(exec_dataset: Any, dataset_size: int, phase: str = 'dataset', create_data_info_queue: bool = False) -> Any:
    """Names the dataset's queue. Batches are read from the dataset object, so only the name and the object are stored."""
    transfer = getattr(exec_dataset, '__transfer_dataset__', None)
    if transfer is None:
        exec_dataset.queue_name = f'{phase}_{os.urandom(16).hex()}'
        exec_dataset.__transfer_dataset__ = transfer = exec_dataset
    return transfer


def _construct_tensor_list(types: List[Any], shapes: List[Any], batch_expand_num: int = 1) -> List[Any]:
    """Returns tensors of ones of the given types and shapes; the first dimension is multiplied by batch_expand_num."""
    if len(types) != len(shapes):
        raise ValueError(f'_construct_tensor_list: as many types as shapes are needed, got {len(types)} and {len(shapes)}')
    out = []
    for type_, shape in zip(types, shapes):
        shape = list(shape)
        if shape:
            shape[0] *= batch_expand_num
        out.append(Tensor(np.ones(shape), dtype=type_))
    return out


def _make_directory(path: str, arg_name: str = 'path') -> str:
    """Creates a folder with mode 0700 and returns its real path. Raises TypeError unless `path` is a non-empty str."""
    if not isinstance(path, str) or not path.strip():
        raise TypeError(f"'{arg_name}' must be a non-empty str, got {path!r}")
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        os.makedirs(path, mode=0o700, exist_ok=True)
    return path
