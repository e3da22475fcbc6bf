"""Functions that training loops of older samples import."""
import os
from typing import Any, List, Tuple

from sindri.common import dtype as mstype
from sindri.common.tensor import Tensor

__all__ = ['_exec_datagraph', '_get_types_and_shapes', '_construct_tensor_list', '_to_tensor', '_to_full_tensor', '_to_full_shapes',
           '_make_directory']


def _get_types_and_shapes(dataset: Any) -> Tuple[List[Any], List[Any]]:
    """Column types (as sindri dtypes) and shapes of a dataset."""
    return [_convert_type(t) for t in dataset.output_types()], dataset.output_shapes()


def _convert_type(type_: Any) -> Any:
    return mstype.pytype_to_dtype(type_)


def _exec_datagraph(exec_dataset: Any, dataset_size: int, phase: str = 'dataset', create_data_info_queue: bool = False) -> Any:
    """Names the dataset's queue. Batches are pulled from the dataset object, so only the name and the object are kept."""
    import uuid
    transfer = getattr(exec_dataset, '__transfer_dataset__', None)
    if transfer is None:
        exec_dataset.queue_name = f'{phase}_{uuid.uuid1()}'
        exec_dataset.__transfer_dataset__ = transfer = exec_dataset
    return transfer


def _construct_tensor_list(types: List[Any], shapes: List[Any], batch_expand_num: int = 1) -> List[Any]:
    """Tensors of ones for the given types and shapes; the first dimension is multiplied by batch_expand_num."""
    import numpy as np
    if len(types) != len(shapes):
        raise ValueError(f'_construct_tensor_list: as many types as shapes are needed, got {len(types)} and {len(shapes)}')
    out = []
    for type_, shape in zip(types, shapes):
        shape = list(shape)
        if shape:
            shape[0] *= batch_expand_num
        out.append(Tensor(np.ones(shape), dtype=type_))
    return out


def _to_tensor(elem: Any, scaling_sens: Any = None) -> Any:
    """A Tensor of an array or number; with scaling_sens a tuple of the Tensors and the scale."""
    single = not isinstance(elem, (tuple, list))
    row = tuple(x if isinstance(x, Tensor) else Tensor(x) for x in ((elem,) if single else elem))
    if scaling_sens is not None:
        row += (Tensor(scaling_sens, mstype.float32),)
    return row[0] if single and scaling_sens is None else row


def _to_full_tensor(elem: Any, global_device_num: int, global_rank: int, scaling_sens: Any = None) -> Any:
    """The batch of all ranks; with one rank it is the batch itself."""
    if global_device_num != 1:
        from sindri.common.not_yet import not_yet
        not_yet('train._utils._to_full_tensor', 'distributed')
    row = elem if isinstance(elem, (tuple, list)) else (elem,)
    return _to_tensor(tuple(row), scaling_sens)


def _to_full_shapes(shapes: List[Any], device_num: int) -> List[Any]:
    """Shapes of the batch of all ranks: the first dimension times device_num."""
    return [(s[0] * device_num,) + tuple(s[1:]) if len(s) else () for s in shapes]


def _make_directory(path: str, arg_name: str = 'path') -> str:
    """Creates a folder with mode 0700 and returns its real path. TypeError unless `path` is a non-empty str."""
    if not isinstance(path, str) or not path.strip():
        raise TypeError(f"'{arg_name}' must be a non-empty str, got {path!r}")
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        os.makedirs(path, mode=0o700, exist_ok=True)
    return path
