"""Containers of Cells (MindSpore: nn.SequentialCell, nn.CellList, nn.CellDict)."""
from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ItemsView, Iterable, Iterator, KeysView, Mapping, Union, ValuesView

from sindri._compile import clock
from sindri.nn.cell import Cell

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["SequentialCell", "CellList", "CellDict"]


def _check_cell(cell: Any, where: Any) -> Any:
    if not isinstance(cell, Cell):
        raise TypeError(f"expected a Cell, got {type(cell).__name__} | {where}")
    return cell


def _index(i: Any, n: Any, where: Any) -> Any:
    if not isinstance(i, int) or isinstance(i, bool):
        raise TypeError(f"an index must be an int, got {i!r} | {where}")
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of range for {n} Cells | {where}")
    return i % n


class _Numbered(Cell):
    """Base of SequentialCell and CellList: children named '0', '1', …, renamed when the list changes."""

    def _renumber(self, cells: Any) -> None:
        """Replaces the children by `cells` and renames them; a prefix set by an outer Cell is kept."""
        prefix = self._outer_prefix()
        for name in list(self._cells):
            self.__dict__.pop(name, None)
        self._cells.clear()
        for i, cell in enumerate(cells):
            self._cells[str(i)] = cell
            self.__dict__[str(i)] = cell
            cell.__dict__["_cell_scope"] = str(i)
            if self._auto_prefix:
                cell.update_parameters_name(f"{prefix}{i}.")
        self._touch()

    def _outer_prefix(self) -> Any:
        for path, p in self.parameters_and_names():
            if p.name.endswith(path):
                return p.name[:len(p.name) - len(path)]
        return ""

    def _touch(self) -> None:
        clock[0] += 1

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(list(self._cells.values()))

    def __getitem__(self, index: Union[int, str, slice]) -> Any:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            kind: Any = type(self)
            return kind(OrderedDict(list(self._cells.items())[index])) if isinstance(self, SequentialCell) else kind(cells[index])
        if isinstance(index, str) and index in self._cells:
            return self._cells[index]
        return cells[_index(index, len(cells), type(self).__name__)]

    def __setitem__(self, index: Union[int, slice], cell: Any) -> None:
        _check_cell(cell, type(self).__name__)
        name = list(self._cells)[_index(index, len(self), type(self).__name__)]
        prefix = self._outer_prefix()
        self._cells[name] = cell
        self.__dict__[name] = cell
        if self._auto_prefix:
            cell.update_parameters_name(f"{prefix}{name}.")
        self._touch()

    def __delitem__(self, index: Union[int, slice]) -> None:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            del cells[index]
        else:
            del cells[_index(index, len(cells), type(self).__name__)]
        self._renumber(cells)

    def append(self, cell: Cell) -> Self:
        """Appends a Cell.

        Args:
            cell (Cell): The Cell.

        Returns:
            The container itself.

        Raises:
            TypeError: If `cell` is not a Cell.
        """
        _check_cell(cell, f"{type(self).__name__}.append")
        prefix, name = self._outer_prefix(), str(len(self._cells))
        self._cells[name] = cell
        self.__dict__[name] = cell
        cell.__dict__["_cell_scope"] = name
        if self._auto_prefix:
            cell.update_parameters_name(f"{prefix}{name}.")
        self._touch()
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Inserts a Cell before a position; the following Cells move up and are renamed.

        Args:
            index (int): The position.
            cell (Cell): The Cell.

        Raises:
            TypeError: If `index` is not an int or `cell` is not a Cell.
            IndexError: If the position is out of range.
        """
        _check_cell(cell, f"{type(self).__name__}.insert")
        cells = list(self._cells.values())
        if index != len(cells):
            index = _index(index, len(cells), f"{type(self).__name__}.insert")
        cells.insert(index, cell)
        self._renumber(cells)

    def extend(self, cells: Iterable[Cell]) -> Self:
        """Appends several Cells.

        Args:
            cells (list, tuple, CellList): The Cells.

        Returns:
            The container itself.

        Raises:
            TypeError: If `cells` has another type or contains another object.
        """
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(f"expected a list of Cells, got {type(cells).__name__} | {type(self).__name__}.extend")
        for cell in cells:
            self.append(cell)
        return self


class SequentialCell(_Numbered):
    """Runs Cells in sequence: each receives the output of the one before it.

    Args:
        *args: The Cells, a list or tuple of them, or an OrderedDict of name to Cell.

    Raises:
        TypeError: If a member is not a Cell.

    Examples:
        >>> import sindri as ms
        >>> from sindri import nn
        >>> net = nn.SequentialCell(nn.Dense(4, 3), nn.ReLU())
        >>> net
        SequentialCell<
          (0): Dense<input_channels=4, output_channels=3, has_bias=True>
          (1): ReLU<>
          >
        >>> net(ms.ops.ones((2, 4), ms.float32)).shape
        (2, 3)
        >>> net.append(nn.Dense(3, 1))[2].weight.name
        '2.weight'
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                setattr(self, name, _check_cell(cell, "SequentialCell"))
        else:
            for i, cell in enumerate(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args):
                setattr(self, str(i), _check_cell(cell, "SequentialCell"))

    def construct(self, x: Any) -> Any:
        """Passes x through the Cells in sequence.

        Args:
            x: The input of the first Cell.

        Returns:
            The output of the last Cell.
        """
        for cell in self._cells.values():
            x = cell(x)
        return x


class CellList(_Numbered):
    """A list of Cells that is itself a Cell; it cannot be called.

    Args:
        *args: The Cells, or a list, tuple or CellList of them.
        auto_prefix (bool): Whether the members' Parameters are renamed. Default: True.

    Raises:
        TypeError: If a member is not a Cell.

    Examples:
        >>> import sindri as ms
        >>> layers = ms.nn.CellList([ms.nn.ReLU(), ms.nn.Tanh()])
        >>> layers.append(ms.nn.Sigmoid())
        CellList<
          (0): ReLU<>
          (1): Tanh<>
          (2): Sigmoid<>
          >
        >>> len(layers)
        3
    """

    __cell_as_list__ = True  # vmap treats it as a list of functions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        self.extend(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)) else args)

    def construct(self, *inputs: Any) -> None:
        raise NotImplementedError("a CellList cannot be called | nn.CellList | call its members")


class CellDict(Cell):
    """A dict of Cells that is itself a Cell; it cannot be called. Parameters are named after the keys.

    Args:
        *args: One dict, CellDict or list of (name, Cell).
        auto_prefix (bool): Whether the members' Parameters are renamed. Default: True.

    Raises:
        TypeError: If a key is not a str, or a member is not a Cell or is a container of Cells.
        KeyError: If a key is empty, contains a dot or is the name of an attribute.

    Examples:
        >>> import sindri as ms
        >>> cells = ms.nn.CellDict({"dense": ms.nn.Dense(2, 3), "act": ms.nn.ReLU()})
        >>> list(cells.keys())
        ['dense', 'act']
        >>> cells["act"]
        ReLU<>
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        if len(args) > 1:
            raise TypeError(f"expected one dict or list of pairs, got {len(args)} | CellDict")
        if args:
            self.update(args[0])

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        if not isinstance(key, str):
            raise TypeError(f"a key must be a str, got {type(key).__name__} | CellDict")
        if not key or "." in key:
            raise KeyError(f"a key must not be empty or hold a dot, got {key!r} | CellDict")
        if key not in self._cells and hasattr(self, key):
            raise KeyError(f"'{key}' is an attribute of every Cell | CellDict | use another key")
        if isinstance(_check_cell(cell, "CellDict"), (SequentialCell, CellList, CellDict)):
            raise TypeError(f"a member must be a single Cell, got {type(cell).__name__} | CellDict")
        setattr(self, key, cell)

    def __delitem__(self, key: str) -> None:
        if key not in self._cells:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._cells))

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def clear(self) -> None:
        """Removes all members."""
        for key in list(self._cells):
            del self[key]

    def pop(self, key: str) -> Cell:
        """Removes a member and returns it.

        Args:
            key (str): The key.

        Returns:
            Cell.

        Raises:
            KeyError: If the member does not exist.
        """
        cell = self[key]
        del self[key]
        return cell

    def keys(self) -> KeysView[str]:
        """Returns a view of the keys, in order of insertion."""
        return self._cells.keys()

    def values(self) -> ValuesView[Cell]:
        """Returns a view of the members."""
        return self._cells.values()

    def items(self) -> ItemsView[str, Cell]:
        """Returns a view of the pairs (key, member)."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Adds or replaces members.

        Args:
            cells (dict, CellDict, Iterable): The members, or pairs (name, Cell).

        Raises:
            TypeError: If `cells` has another type.
            ValueError: If an entry is not a pair.
        """
        if isinstance(cells, (Mapping, CellDict)):
            cells = cells.items()
        if not isinstance(cells, Iterable):
            raise TypeError(f"expected a dict or pairs, got {type(cells).__name__} | CellDict.update")
        for pair in list(cells):
            if not isinstance(pair, Iterable):
                raise TypeError(f"expected pairs of name and Cell, got {type(pair).__name__} | CellDict.update")
            members = list(pair)
            if len(members) != 2:
                raise ValueError(f"expected pairs of name and Cell, got {len(members)} values | CellDict.update")
            self[members[0]] = members[1]

    def construct(self, *inputs: Any) -> None:
        raise NotImplementedError("a CellDict cannot be called | nn.CellDict | call its members")
