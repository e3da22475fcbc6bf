"""The distribution of a tensor over a grid of devices."""
from typing import Any, Dict, Tuple


class Layout:
    """A named grid of devices. Called with an axis name (or 'None') per tensor dimension, it describes how a tensor is split. It is only a description, which
    shard reads.

    Args:
        device_matrix (tuple[int]): The size of each axis of the grid.
        alias_name (tuple[str]): The name of each axis.
        rank_list (list[int], optional): The ranks of the grid. Default: None, 0, 1, …
        interleaved_parallel (bool): Stored. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If sizes and names do not match.

    Examples:
        >>> from sindri.parallel import Layout
        >>> layout = Layout((2, 2), ("dp", "mp"))
        >>> layout("dp", "None").to_dict()["tensor_map"]
        (1, -1)
    """

    def __init__(self, device_matrix: Tuple[int, ...], alias_name: Tuple[str, ...], rank_list: Any = None, interleaved_parallel: bool = False):
        if not isinstance(device_matrix, tuple) or not isinstance(alias_name, tuple):
            raise TypeError("Layout: 'device_matrix' and 'alias_name' must be tuples")
        if len(device_matrix) != len(alias_name) or len(set(alias_name)) != len(alias_name):
            raise ValueError(f"Layout: one different name per axis is needed, got {device_matrix} and {alias_name}")
        if any(not isinstance(n, int) or n < 1 for n in device_matrix) or any(not isinstance(a, str) or not a or a == 'None' for a in alias_name):
            raise ValueError(f"Layout: axes must be positive and names non-empty and not 'None', got {device_matrix} and {alias_name}")
        self._matrix, self._names = device_matrix, alias_name
        count = 1
        for n in device_matrix:
            count *= n
        self._ranks = list(range(count)) if rank_list is None else list(rank_list)
        if len(self._ranks) != count:
            raise ValueError(f"Layout: 'rank_list' must have {count} entries, got {len(self._ranks)}")
        self._interleaved = interleaved_parallel
        self._map: Tuple[Any, ...] = ()

    def __call__(self, *tensor_map: Any) -> 'Layout':
        """Returns a Layout for one tensor, from an axis name, a tuple of them or 'None' per dimension."""
        for item in tensor_map:
            for name in item if isinstance(item, tuple) else (item,):
                if name != 'None' and name not in self._names:
                    raise ValueError(f"Layout: unknown axis {name!r} | axes are {', '.join(self._names)}")
        out = Layout(self._matrix, self._names, self._ranks, self._interleaved)
        out._map = tensor_map
        return out

    def to_dict(self) -> Dict[str, Any]:
        """Returns the grid, the names, and for each dimension the axis, counted from the right (-1: not split)."""
        def number(name: str) -> int:
            return -1 if name == 'None' else len(self._names) - 1 - self._names.index(name)
        tensor_map = tuple(tuple(number(n) for n in i) if isinstance(i, tuple) else number(i) for i in self._map)
        return {'device_matrix': self._matrix, 'tensor_map': tensor_map, 'interleaved_parallel': self._interleaved, 'alias_name': self._names,
                'rank_list': self._ranks}
