"""Text sources (MindSpore: mindspore.dataset.TextFileDataset). Text is processed in Python; see iterators.py."""
from __future__ import annotations

import csv
import glob
import os
from typing import Any, Iterator as Iterates, List, Optional

import numpy as np

from sindri import _core
from sindri._check import check_names, fail, named
from sindri.common.not_yet import not_yet
from sindri.dataset.engine.datasets import NonMappableDataset, Shuffle, SourceDataset
from sindri.dataset.engine.iterators import Row, Run

__all__ = ["CLUEDataset", "CSVDataset", "TextFileDataset"]


class TextFileDataset(NonMappableDataset):
    """Lines of text files, without empty lines, as column text.

    A shard is a contiguous range of ceil(lines / num_shards) lines that wraps around at the end.

    Args:
        dataset_files (str, list[str]): A path, a pattern, or a list of them; the files are read in sorted order.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Accepted without effect. Default: None.
        shuffle (bool, Shuffle): True or Shuffle.GLOBAL shuffles all lines, Shuffle.FILES the files, Shuffle.INFILE the lines of each file; False keeps
            the order. Default: Shuffle.GLOBAL.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range or no file matches.

    Examples:
        >>> import os, tempfile
        >>> import sindri.dataset as ds
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.txt")
        ...     with open(path, "w") as file:
        ...         _ = file.write("first\\n\\nsecond\\n")
        ...     for text, in ds.TextFileDataset(path, shuffle=False):
        ...         print(text)
        first
        second
    """

    @named
    def __init__(self, dataset_files: Any, num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None,
                 shuffle: Any = Shuffle.GLOBAL, num_shards: Optional[int] = None, shard_id: Optional[int] = None, cache: Any = None):
        who = "TextFileDataset"
        self.dataset_files = _files(who, dataset_files)
        if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
            fail(TypeError, f"shuffle must be a bool or a Shuffle, got {shuffle!r}", who)
        self._lines: Optional[List[List[Any]]] = None
        super().__init__(num_parallel_workers, num_samples, Shuffle.GLOBAL if shuffle is None or shuffle is True else shuffle, num_shards, shard_id,
                         cache)

    def _read(self) -> List[List[Any]]:
        if self._lines is None:
            self._lines = [self._read_file(path) for path in self.dataset_files]
        return self._lines

    def _read_file(self, path: str) -> List[Any]:
        with open(path, encoding="utf-8-sig", newline=None) as stream:
            return [line for line in (raw.rstrip("\n") for raw in stream) if line]

    def _columns(self, *inputs: List[str]) -> List[str]:
        return ["text"]

    def _shard(self, lines: int) -> range:
        """Returns positions in the global order, modulo the number of lines."""
        shards = self.num_shards or 1
        each = -(-lines // shards)
        return range((self.shard_id or 0) * each, (self.shard_id or 0) * each + each)

    def _count(self, *inputs: Optional[int]) -> Optional[int]:
        rows = len(self._shard(sum(len(lines) for lines in self._read())))
        return rows if self.num_samples is None else min(rows, self.num_samples)

    def _pull(self, run: Run, epoch: int) -> Iterates[Row]:
        rng = np.random.default_rng([run.seed, epoch])
        files = list(self._read())
        if self.shuffle_flag == Shuffle.FILES:
            files = [files[i] for i in rng.permutation(len(files))]
        elif self.shuffle_flag == Shuffle.INFILE:
            files = [[lines[i] for i in rng.permutation(len(lines))] for lines in files]
        rows = [line for lines in files for line in lines]
        mixed = self.shuffle_flag in (Shuffle.GLOBAL, Shuffle.ADAPTIVE, Shuffle.PARTIAL)
        order = rng.permutation(len(rows)) if mixed else np.arange(len(rows))
        for count, place in enumerate(self._shard(len(rows))):
            if self.num_samples is not None and count >= self.num_samples:
                return
            yield self._row(rows[order[place % len(rows)]])

    def _row(self, line: Any) -> Row:
        return [np.asarray(line)]


class CSVDataset(TextFileDataset):
    """Rows of CSV files.

    Args:
        dataset_files (str, list[str]): A path, a pattern, or a list of them; the files are read in sorted order.
        field_delim (str): The delimiter, one character. Default: ",".
        column_defaults (list, optional): A str, int or float for each column, whose type (text, int32, float32) the column gets. Columns after the end
            of the list are text. Default: None, all columns are text.
        column_names (str, list[str], optional): The column names. Default: None, the first line of each file contains them.
        num_samples (int, optional): The largest number of rows per epoch. Default: None, all.
        num_parallel_workers (int, optional): Accepted without effect. Default: None.
        shuffle (bool, Shuffle): As of TextFileDataset. Default: Shuffle.GLOBAL.
        num_shards (int, optional): The number of shards. Default: None.
        shard_id (int, optional): The shard to read. Default: None.
        cache (DatasetCache, optional): Accepted without effect. Default: None.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range or no file matches.
        DataError: A RuntimeError while reading, with file and line, if a row has another length or a field does not parse as the column's type.

    Examples:
        >>> import os, tempfile
        >>> import sindri.dataset as ds
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write("name,count\\nfig,3\\n")
        ...     for name, count in ds.CSVDataset(path, column_defaults=["", 0], shuffle=False):
        ...         print(name, count)
        fig 3
    """

    @named
    def __init__(self, dataset_files: Any, field_delim: str = ",", column_defaults: Optional[List[Any]] = None, column_names: Any = None,
                 num_samples: Optional[int] = None, num_parallel_workers: Optional[int] = None, shuffle: Any = Shuffle.GLOBAL,
                 num_shards: Optional[int] = None, shard_id: Optional[int] = None, cache: Any = None):
        who = "CSVDataset"
        if not isinstance(field_delim, str) or len(field_delim) != 1 or field_delim in '\r\n"':
            fail(ValueError, f"field_delim must be one character other than quotes and line ends, got {field_delim!r}", who)
        self.field_delim, self.column_names = field_delim, check_names(who, "column_names", column_names)
        if column_defaults is not None and not isinstance(column_defaults, (list, tuple)):
            fail(TypeError, f"column_defaults must be a list, got {column_defaults!r}", who)
        self.column_defaults = list(column_defaults or [])
        for value in self.column_defaults:
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                fail(TypeError, f"column_defaults must hold str, int or float, got {value!r}", who)
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)

    def _columns(self, *inputs: List[str]) -> List[str]:
        if not self.column_names:
            with open(self.dataset_files[0], encoding="utf-8-sig", newline="") as stream:
                self.column_names = check_names("CSVDataset", "the first line", next(csv.reader(stream, delimiter=self.field_delim, strict=True), []))
            self._header = True
        return self.column_names

    _header = False  # whether the first line of each file contains the names

    def _read_file(self, path: str) -> List[Any]:
        columns = self.get_col_names()
        if len(self.column_defaults) > len(columns):
            fail(ValueError, f"there are {len(self.column_defaults)} column_defaults for {len(columns)} columns", "CSVDataset")
        found: List[Any] = []
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=self.field_delim, strict=True)
            try:
                for fields in reader:
                    if fields and not (self._header and reader.line_num == 1):
                        found.append(self._typed(fields, len(columns)))
            except (csv.Error, ValueError, OverflowError) as e:
                fail(_core.DataError, str(e), f"{path}, line {reader.line_num}", "correct the line, or change column_names and column_defaults")
        return found

    def _typed(self, fields: List[str], columns: int) -> Row:
        if len(fields) != columns:
            raise ValueError(f"{len(fields)} fields, expected {columns}")
        defaults = [*self.column_defaults, *[""] * (columns - len(self.column_defaults))]
        return [np.asarray(field if isinstance(default, str) else np.int32(int(field)) if isinstance(default, int) else np.float32(float(field)))
                for field, default in zip(fields, defaults)]

    def _row(self, line: Any) -> Row:
        return list(line)


def _files(who: str, dataset_files: Any) -> List[str]:
    patterns = [dataset_files] if isinstance(dataset_files, (str, os.PathLike)) else dataset_files
    if not isinstance(patterns, (list, tuple)) or not all(isinstance(p, (str, os.PathLike)) for p in patterns):
        fail(TypeError, f"dataset_files must be a str or a list of str, got {dataset_files!r}", who)
    found: List[str] = []
    for pattern in patterns:
        matches = [path for path in glob.glob(os.fspath(pattern)) if os.path.isfile(path)]
        if not matches:
            fail(ValueError, f"no file matches {os.fspath(pattern)!r}", who)
        found += matches
    if not found:
        fail(ValueError, "dataset_files is empty", who)
    return sorted(set(found))


class CLUEDataset(SourceDataset):
    """Reads the files of the CLUE benchmark; not available yet.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        not_yet("dataset.CLUEDataset", "BERT")
