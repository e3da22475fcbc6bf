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
    """What both containers share: children named '0', '1', …, renamed when the list changes."""

    def _renumber(self, cells: Any) -> None:
        """Takes `cells` as the children. Names are replaced, a prefix put in front by an outer Cell stays."""
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
        """Adds a Cell at the end. Returns self. Raises TypeError for another object."""
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
        """Puts a Cell before position `index`; those behind move up, names included."""
        _check_cell(cell, f"{type(self).__name__}.insert")
        cells = list(self._cells.values())
        if index != len(cells):
            index = _index(index, len(cells), f"{type(self).__name__}.insert")
        cells.insert(index, cell)
        self._renumber(cells)

    def extend(self, cells: Iterable[Cell]) -> Self:
        """Adds Cells at the end. Returns self. Raises TypeError for anything else."""
        if not isinstance(cells, (list, tuple, CellList)):
            raise TypeError(f"expected a list of Cells, got {type(cells).__name__} | {type(self).__name__}.extend")
        for cell in cells:
            self.append(cell)
        return self


class SequentialCell(_Numbered):
    """Cells one after the other: SequentialCell(a, b, …), a list of them, or an OrderedDict name -> Cell. Raises TypeError for anything else."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, cell in args[0].items():
                setattr(self, name, _check_cell(cell, "SequentialCell"))
        else:
            for i, cell in enumerate(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args):
                setattr(self, str(i), _check_cell(cell, "SequentialCell"))

    def construct(self, x: Any) -> Any:
        """Each Cell takes what the one before it returned."""
        for cell in self._cells.values():
            x = cell(x)
        return x


class CellList(_Numbered):
    """A list of Cells as one Cell; it cannot be called. Raises TypeError for members that are no Cells."""

    __cell_as_list__ = True  # vmap takes it for a list of functions

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(auto_prefix=kwargs.get("auto_prefix", True))
        self.extend(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)) else args)

    def construct(self, *inputs: Any) -> None:
        raise NotImplementedError("a CellList cannot be called | nn.CellList | call its members")


class CellDict(Cell):
    """A dict of Cells as one Cell, from a dict or pairs of name and Cell; it cannot be called. Parameters are named by the keys.

    Raises TypeError for keys that are not str and for members that are no Cells, or containers; KeyError for an empty key, one with a dot, or the name of
    an attribute.
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
        """Removes a member and returns it. Raises KeyError."""
        cell = self[key]
        del self[key]
        return cell

    def keys(self) -> KeysView[str]:
        """The keys, in the order of insertion."""
        return self._cells.keys()

    def values(self) -> ValuesView[Cell]:
        """The members."""
        return self._cells.values()

    def items(self) -> ItemsView[str, Cell]:
        """Pairs of key and member."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Adds or replaces members, from a dict, a CellDict or pairs of name and Cell. Raises TypeError, or ValueError for what is no pair."""
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
