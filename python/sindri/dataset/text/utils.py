"""Vocab and other parts of the text transforms (MindSpore: mindspore.dataset.text)."""
from __future__ import annotations

import collections
import os
from enum import Enum
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from sindri._check import ArgumentError, check_bool, check_int32, check_names, fail

__all__ = ["NormalizeForm", "Vocab", "to_bytes", "to_str"]


class NormalizeForm(Enum):
    """Unicode normal forms; NONE keeps text unchanged."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Decodes an array of bytes to an array of str.

    Args:
        array (numpy.ndarray): The array.
        encoding (str): The encoding. Default: "utf8".

    Returns:
        numpy.ndarray.

    Raises:
        TypeError: If `array` is not an array.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> text.to_str(np.array([b"fig"])).tolist()
        ['fig']
    """
    if not isinstance(array, np.ndarray):
        fail(TypeError, f"array must be a NumPy array, got {array!r}", "to_str")
    return np.char.decode(array, encoding) if array.dtype.kind == "S" else array.astype(str)


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Encodes an array of str as an array of bytes.

    Args:
        array (numpy.ndarray): The array.
        encoding (str): The encoding. Default: "utf8".

    Returns:
        numpy.ndarray.

    Raises:
        TypeError: If `array` is not an array.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> text.to_bytes(np.array(["fig"])).tolist()
        [b'fig']
    """
    if not isinstance(array, np.ndarray):
        fail(TypeError, f"array must be a NumPy array, got {array!r}", "to_bytes")
    return np.char.encode(array, encoding) if array.dtype.kind == "U" else array


def _specials(special_tokens: Any) -> List[str]:
    tokens = [] if special_tokens is None else list(special_tokens)
    if not all(isinstance(token, str) for token in tokens):
        fail(TypeError, f"special_tokens must hold str, got {special_tokens!r}", "Vocab")
    repeated = [token for token, count in collections.Counter(tokens).items() if count > 1]
    if repeated:
        fail(ValueError, f"special_tokens holds {repeated[0]!r} twice", "Vocab")
    return tokens


class Vocab:
    """Words and their ids, created by from_list, from_dict, from_file or from_dataset. The special tokens come first or last.

    Examples:
        >>> from sindri.dataset import text
        >>> vocab = text.Vocab.from_list(["fig", "plum"], special_tokens=["<pad>"])
        >>> vocab.vocab()
        {'<pad>': 0, 'fig': 1, 'plum': 2}
        >>> vocab.ids_to_tokens([2, 0])
        ['plum', '<pad>']
    """

    def __init__(self) -> None:
        self._ids: Dict[str, int] = {}
        self._words: Dict[int, str] = {}

    @classmethod
    def _of(cls, ids: Dict[str, int]) -> "Vocab":
        vocab = cls()
        vocab._ids = ids
        vocab._words = {i: word for word, i in ids.items()}
        return vocab

    @classmethod
    def from_list(cls, word_list: Sequence[str], special_tokens: Any = None, special_first: bool = True) -> "Vocab":
        """Creates a vocabulary whose ids follow the order of a list.

        Args:
            word_list (list[str]): The words.
            special_tokens (list[str], optional): Words that are added. Default: None.
            special_first (bool): Whether the special tokens come first. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If a word occurs twice.
        """
        if not isinstance(word_list, (list, tuple)) or not all(isinstance(word, str) for word in word_list):
            fail(TypeError, f"word_list must be a list of str, got {word_list!r}", "Vocab.from_list")
        words, specials = list(word_list), _specials(special_tokens)
        check_bool("Vocab.from_list", "special_first", special_first)
        for word, count in collections.Counter([*specials, *words]).items():
            if count > 1:
                fail(ValueError, f"the word {word!r} occurs twice", "Vocab.from_list")
        return cls._of({word: i for i, word in enumerate([*specials, *words] if special_first else [*words, *specials])})

    @classmethod
    def from_dict(cls, word_dict: Dict[str, int]) -> "Vocab":
        """Creates a vocabulary with the given ids.

        Args:
            word_dict (dict[str, int]): Ids by word.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an id is negative.
        """
        if not isinstance(word_dict, dict):
            fail(TypeError, f"word_dict must be a dict, got {word_dict!r}", "Vocab.from_dict")
        for word in word_dict:
            if not isinstance(word, str):
                fail(TypeError, f"words must be str, got {word!r}", "Vocab.from_dict")
        return cls._of({word: check_int32("Vocab.from_dict", "id", i, 0) for word, i in word_dict.items()})

    @classmethod
    def from_file(cls, file_path: str, delimiter: str = "", vocab_size: Optional[int] = None, special_tokens: Any = None,
                  special_first: bool = True) -> "Vocab":
        """Creates a vocabulary from a file with one word per line.

        Args:
            file_path (str): The file.
            delimiter (str): A word ends at this text. Default: "", at the end of the line.
            vocab_size (int, optional): The number of words to read. Default: None, all.
            special_tokens (list[str], optional): Words that are added. Default: None.
            special_first (bool): Whether the special tokens come first. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If a word occurs twice or `vocab_size` is out of range.
            OSError: If the file cannot be read.
        """
        if not isinstance(file_path, (str, os.PathLike)):
            fail(TypeError, f"file_path must be a str or a path, got {file_path!r}", "Vocab.from_file")
        if not isinstance(delimiter, str):
            fail(TypeError, f"delimiter must be a str, got {delimiter!r}", "Vocab.from_file")
        size = None if vocab_size is None else check_int32("Vocab.from_file", "vocab_size", vocab_size, 1)
        with open(file_path, encoding="utf-8-sig", newline=None) as stream:
            words = [line.rstrip("\n") for line in stream]
        if delimiter:
            words = [word.split(delimiter, 1)[0] for word in words]
        return cls.from_list(words[:size], special_tokens, special_first)

    @classmethod
    def from_dataset(cls, dataset: Any, columns: Any = None, freq_range: Optional[Tuple[Optional[int], Optional[int]]] = None,
                     top_k: Optional[int] = None, special_tokens: Any = None, special_first: bool = True) -> "Vocab":
        """Creates a vocabulary from the words in text columns, most frequent first, words of equal frequency in alphabetical order.

        Args:
            dataset (Dataset): The dataset.
            columns (str, list[str], optional): The text columns. Default: None, all.
            freq_range (tuple, optional): (smallest, largest) count of words to keep; None for no bound. Default: None.
            top_k (int, optional): The number of words to keep. Default: None, all.
            special_tokens (list[str], optional): Words that are added. Default: None.
            special_first (bool): Whether the special tokens come first. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has another type.
            ValueError: If an argument is out of range or a column does not hold text.

        Examples:
            >>> import sindri.dataset as ds
            >>> data = ds.NumpySlicesDataset({"text": ["fig", "plum", "fig"]})
            >>> ds.text.Vocab.from_dataset(data).vocab()
            {'fig': 0, 'plum': 1}
        """
        who = "Vocab.from_dataset"
        low, high = (None, None) if freq_range is None else freq_range
        low = 0 if low is None else check_int32(who, "freq_range", low, 0)
        high = None if high is None else check_int32(who, "freq_range", high, 0)
        if high is not None and low > high:
            fail(ValueError, f"freq_range must be (smallest, largest), got {freq_range}", who)
        top = None if top_k is None else check_int32(who, "top_k", top_k, 1)
        counts: collections.Counter = collections.Counter()
        wanted = check_names(who, "columns", columns) or dataset.get_col_names()
        for row in dataset.create_tuple_iterator(columns=wanted, num_epochs=1, output_numpy=True):
            for column in row:
                if column.dtype.kind not in "US":
                    fail(ArgumentError, f"text is expected, a column is {column.dtype}", who)
                counts.update(to_str(column).ravel().tolist())
        words = sorted((word for word, n in counts.items() if n >= low and (high is None or n <= high)), key=lambda word: (-counts[word], word))
        return cls.from_list(words[:top], special_tokens, special_first)

    def vocab(self) -> Dict[str, int]:
        """Returns the ids by word."""
        return dict(self._ids)

    def tokens_to_ids(self, tokens: Union[str, Sequence[str]]) -> Union[int, List[int]]:
        """Converts words to ids.

        Args:
            tokens (str, Sequence[str]): A word or several words.

        Returns:
            int or list[int], the ids; -1 for an unknown word.

        Raises:
            TypeError: If `tokens` has another type.
            ValueError: If `tokens` is out of range.

        Examples:
            >>> from sindri.dataset import text
            >>> vocab = text.Vocab.from_list(["a", "b"])
            >>> vocab.tokens_to_ids(["b", "c"])
            [1, -1]
        """
        if isinstance(tokens, str):
            return self._ids.get(tokens, -1)
        return [self._ids.get(str(token), -1) for token in tokens]

    def ids_to_tokens(self, ids: Union[int, Sequence[int]]) -> Union[str, List[str]]:
        """Converts ids to words.

        Args:
            ids (int, Sequence[int]): An id or several ids.

        Returns:
            str or list[str], the words; '' for an unknown id.

        Raises:
            TypeError: If an id is not an int.
            ValueError: If an id is negative.

        Examples:
            >>> from sindri.dataset import text
            >>> vocab = text.Vocab.from_list(["a", "b"])
            >>> vocab.ids_to_tokens([1, 2])
            ['b', '']
        """
        if isinstance(ids, (list, tuple, np.ndarray)):
            return [self._words.get(check_int32("Vocab.ids_to_tokens", "id", i, 0), "") for i in ids]
        return self._words.get(check_int32("Vocab.ids_to_tokens", "id", ids, 0), "")
