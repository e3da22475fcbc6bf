"""Vocab and what else text transforms need (MindSpore: mindspore.dataset.text)."""
from __future__ import annotations

import collections
import os
from enum import Enum
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from sindri._check import ArgumentError, check_bool, check_int32, check_names, fail

__all__ = ["NormalizeForm", "Vocab", "to_bytes", "to_str"]


class NormalizeForm(Enum):
    """Unicode normal forms; NONE leaves text as it is."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """An array of bytes as one of str. Raises TypeError."""
    if not isinstance(array, np.ndarray):
        fail(TypeError, f"an array is expected, got {array!r}", "to_str")
    return np.char.decode(array, encoding) if array.dtype.kind == "S" else array.astype(str)


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    """An array of str as one of bytes. Raises TypeError."""
    if not isinstance(array, np.ndarray):
        fail(TypeError, f"an array is expected, got {array!r}", "to_bytes")
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
    """Words and their ids. Made by from_list, from_dict, from_file or from_dataset; the special tokens come first or last."""

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
        """Ids in the order of the list. Raises TypeError, or ValueError for a word that comes twice."""
        if not isinstance(word_list, (list, tuple)) or not all(isinstance(word, str) for word in word_list):
            fail(TypeError, f"word_list must be a list of str, got {word_list!r}", "Vocab.from_list")
        words, specials = list(word_list), _specials(special_tokens)
        check_bool("Vocab.from_list", "special_first", special_first)
        for word, count in collections.Counter([*specials, *words]).items():
            if count > 1:
                fail(ValueError, f"the word {word!r} comes twice", "Vocab.from_list")
        return cls._of({word: i for i, word in enumerate([*specials, *words] if special_first else [*words, *specials])})

    @classmethod
    def from_dict(cls, word_dict: Dict[str, int]) -> "Vocab":
        """Ids as given. Raises TypeError or ValueError."""
        if not isinstance(word_dict, dict):
            fail(TypeError, f"word_dict must be a dict, got {word_dict!r}", "Vocab.from_dict")
        for word in word_dict:
            if not isinstance(word, str):
                fail(TypeError, f"words must be str, got {word!r}", "Vocab.from_dict")
        return cls._of({word: check_int32("Vocab.from_dict", "id", i, 0) for word, i in word_dict.items()})

    @classmethod
    def from_file(cls, file_path: str, delimiter: str = "", vocab_size: Optional[int] = None, special_tokens: Any = None,
                  special_first: bool = True) -> "Vocab":
        """One word per line, up to the delimiter; the first vocab_size of them.

        Raises TypeError, ValueError, or OSError for a file that cannot be read.
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
        """The words of text columns, most frequent first and equal ones in order; those with a count in freq_range, the first top_k.

        Raises TypeError or ValueError.
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
        """Word to id."""
        return dict(self._ids)

    def tokens_to_ids(self, tokens: Union[str, Sequence[str]]) -> Union[int, List[int]]:
        """The id of a word or the ids of a list of words; -1 for what is not known."""
        if isinstance(tokens, str):
            return self._ids.get(tokens, -1)
        return [self._ids.get(str(token), -1) for token in tokens]

    def ids_to_tokens(self, ids: Union[int, Sequence[int]]) -> Union[str, List[str]]:
        """The word of an id or the words of a list of ids; '' for what is not known. Raises TypeError or ValueError."""
        if isinstance(ids, (list, tuple, np.ndarray)):
            return [self._words.get(check_int32("Vocab.ids_to_tokens", "id", i, 0), "") for i in ids]
        return self._words.get(check_int32("Vocab.ids_to_tokens", "id", ids, 0), "")
