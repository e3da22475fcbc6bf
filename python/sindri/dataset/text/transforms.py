"""Text transforms (MindSpore: mindspore.dataset.text). Text is a str or an array of str; pipelines with text run in Python."""
from __future__ import annotations

import re
import unicodedata
from typing import Any, Callable, List, Sequence, Tuple

import numpy as np

from sindri._check import ArgumentError, check_bool, check_int32, enumeration, fail
from sindri.dataset._transform import PyOperation, numpy_type
from sindri.dataset.text._scripts import script_of, with_classes
from sindri.dataset.text.utils import NormalizeForm, Vocab, to_str

__all__ = ["AddToken", "BasicTokenizer", "BertTokenizer", "CaseFold", "Lookup", "Ngram", "NormalizeUTF8", "PythonTokenizer", "RegexReplace",
           "RegexTokenizer", "SlidingWindow", "ToNumber", "Truncate", "TruncateSequencePair", "UnicodeCharTokenizer", "UnicodeScriptTokenizer",
           "WhitespaceTokenizer", "WordpieceTokenizer"]


class _TextOperation(PyOperation):
    """A transform of one text column."""

    _objects = True

    def _run(self, rng: Any, *values: Any) -> Any:
        who = type(self).__name__
        if len(values) != 1:
            fail(ArgumentError, f"1 column is expected, got {len(values)}", who)
        array = np.asarray(values[0])
        if array.dtype.kind not in "US":
            fail(ArgumentError, f"text is expected, got {array.dtype}", who)
        return self._text(to_str(array))

    def _text(self, text: np.ndarray) -> Any:
        raise NotImplementedError

    def _each(self, text: np.ndarray, change: Callable[[str], str]) -> np.ndarray:
        return np.asarray([change(word) for word in text.ravel().tolist()]).reshape(text.shape).astype(str)


class _Tokenizer(_TextOperation):
    """Splits one str into a 1-D array of tokens; one empty token if there are none."""

    def _text(self, text: np.ndarray) -> Any:
        if text.ndim != 0:
            fail(ArgumentError, f"one str is expected, got shape {list(text.shape)}", type(self).__name__)
        return self._tokens(text.item())

    def _tokens(self, text: str) -> Any:
        raise NotImplementedError


def _array(tokens: Sequence[str]) -> np.ndarray:
    return np.asarray(list(tokens) or [""])


def _with_offsets(text: str, spans: Sequence[Tuple[int, int]]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the tokens and the positions of their starts and ends in the UTF-8 bytes."""
    spans = list(spans) or [(0, 0)]
    at = [len(text[:i].encode()) for i in range(len(text) + 1)]
    return (np.asarray([text[a:b] for a, b in spans]), np.asarray([at[a] for a, _ in spans], np.uint32),
            np.asarray([at[b] for _, b in spans], np.uint32))


class UnicodeCharTokenizer(_Tokenizer):
    """Splits text into characters.

    Args:
        with_offsets (bool): Whether to return the start and end of each token in bytes as two more columns. Default: False.

    Raises:
        TypeError: If `with_offsets` is not a bool.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.UnicodeCharTokenizer()("fig"))
        ['f' 'i' 'g']
    """

    def __init__(self, with_offsets: bool = False):
        self.with_offsets = check_bool("UnicodeCharTokenizer", "with_offsets", with_offsets)

    def _tokens(self, text: str) -> Any:
        return _with_offsets(text, [(i, i + 1) for i in range(len(text))]) if self.with_offsets else _array(text)


class WhitespaceTokenizer(_Tokenizer):
    """Splits text at white space.

    Args:
        with_offsets (bool): Whether to return the start and end of each token in bytes as two more columns. Default: False.

    Raises:
        TypeError: If `with_offsets` is not a bool.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.WhitespaceTokenizer()("one  two"))
        ['one' 'two']
    """

    def __init__(self, with_offsets: bool = False):
        self.with_offsets = check_bool("WhitespaceTokenizer", "with_offsets", with_offsets)

    def _tokens(self, text: str) -> Any:
        return _with_offsets(text, [m.span() for m in re.finditer(r"\S+", text)]) if self.with_offsets else _array(text.split())


class UnicodeScriptTokenizer(_Tokenizer):
    """Splits text into runs of characters of one script. Blanks, digits and punctuation belong to the script Common.

    Args:
        keep_whitespace (bool): Whether to keep blanks as tokens. Default: False.
        with_offsets (bool): Whether to return the start and end of each token in bytes as two more columns. Default: False.

    Raises:
        TypeError: If an argument is not a bool.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.UnicodeScriptTokenizer()("fig 12"))
        ['fig' '12']
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False):
        who = "UnicodeScriptTokenizer"
        self.keep_whitespace, self.with_offsets = check_bool(who, "keep_whitespace", keep_whitespace), check_bool(who, "with_offsets", with_offsets)

    def _tokens(self, text: str) -> Any:
        kinds = [(script_of(char), char.isspace()) for char in text]
        edges = [i for i in range(len(text) + 1) if i in (0, len(text)) or kinds[i] != kinds[i - 1]]
        spans = [(a, b) for a, b in zip(edges, edges[1:]) if self.keep_whitespace or not kinds[a][1]]
        return _with_offsets(text, spans) if self.with_offsets else _array([text[a:b] for a, b in spans])


class RegexTokenizer(_Tokenizer):
    """Splits text at the matches of a pattern. Patterns are Python's and may contain ICU's \\p{Han} and \\p{L}.

    Args:
        delim_pattern (str): The pattern of delimiters.
        keep_delim_pattern (str): Delimiters that match this pattern as a whole are kept as tokens. Default: "", none.
        with_offsets (bool): Whether to return the start and end of each token in bytes as two more columns. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ArgumentError: A ValueError and RuntimeError, if a pattern is invalid.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.RegexTokenizer(",+")("a,b,,c"))
        ['a' 'b' 'c']
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False):
        who = "RegexTokenizer"
        self._delimiter = _pattern(who, "delim_pattern", delim_pattern)
        self._kept = _pattern(who, "keep_delim_pattern", keep_delim_pattern) if keep_delim_pattern else None
        self.with_offsets = check_bool(who, "with_offsets", with_offsets)

    def _tokens(self, text: str) -> Any:
        spans, at = [], 0
        for found in self._delimiter.finditer(text):
            begin, end = found.span()
            spans.append((at, begin))
            if self._kept is not None and self._kept.fullmatch(found[0]):
                spans.append((begin, end))
            at = end
        spans = [(a, b) for a, b in [*spans, (at, len(text))] if b > a]
        return _with_offsets(text, spans) if self.with_offsets else _array([text[a:b] for a, b in spans])


def _pattern(who: str, name: str, text: Any) -> "re.Pattern[str]":
    if not isinstance(text, str):
        fail(TypeError, f"{name} must be a str, got {text!r}", who)
    try:
        return re.compile(with_classes(text))
    except (re.error, ValueError) as e:
        fail(ArgumentError, f"{name} {text!r} is not a regular expression: {e}", who)


class PythonTokenizer(_Tokenizer):
    """Splits text with a Python function.

    Args:
        tokenizer (Callable): A function from str to a list of str.

    Raises:
        TypeError: If `tokenizer` is not callable.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.PythonTokenizer(lambda line: line.split("-"))("a-b"))
        ['a' 'b']
    """

    def __init__(self, tokenizer: Callable[[str], Sequence[str]]):
        if not callable(tokenizer):
            fail(TypeError, f"tokenizer must be callable, got {tokenizer!r}", "PythonTokenizer")
        self.tokenizer = tokenizer

    def _tokens(self, text: str) -> Any:
        return np.asarray(self.tokenizer(text))


class Lookup(_TextOperation):
    """Replaces words by their ids.

    Args:
        vocab (Vocab): The vocabulary.
        unknown_token (str, optional): The word whose id replaces unknown words. Default: None, unknown words are errors.
        data_type (type): The type of the ids. Default: numpy.int32.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `unknown_token` is not in the vocabulary.
        ArgumentError: A RuntimeError when called, for an unknown word without `unknown_token`.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> lookup = text.Lookup(text.Vocab.from_list(["fig", "plum"]))
        >>> print(lookup(np.array(["plum", "fig"])))
        [1 0]
    """

    def __init__(self, vocab: Vocab, unknown_token: Any = None, data_type: Any = np.int32):
        if not isinstance(vocab, Vocab):
            fail(TypeError, f"vocab must be a Vocab, got {vocab!r}", "Lookup")
        if unknown_token is not None and not isinstance(unknown_token, str):
            fail(TypeError, f"unknown_token must be a str, got {unknown_token!r}", "Lookup")
        if unknown_token is not None and vocab.tokens_to_ids(unknown_token) == -1:
            fail(ArgumentError, f"unknown_token {unknown_token!r} is not in the vocabulary", "Lookup")
        self.vocab, self.unknown = vocab, None if unknown_token is None else vocab.tokens_to_ids(unknown_token)
        self.data_type = numpy_type("Lookup", "data_type", data_type)

    def _text(self, text: np.ndarray) -> np.ndarray:
        words = text.ravel().tolist()
        ids: Any = self.vocab.tokens_to_ids(words)
        for i, (word, number) in enumerate(zip(words, ids)):
            if number == -1:
                if self.unknown is None:
                    fail(ArgumentError, f"the word {word!r} is not in the vocabulary", "Lookup", "give an unknown_token")
                ids[i] = self.unknown
        return np.asarray(ids, self.data_type).reshape(text.shape)


class Truncate(_TextOperation):
    """Keeps the first `max_seq_len` words of a 1-D array, or of each row of a 2-D array.

    Args:
        max_seq_len (int): The number of words.

    Raises:
        TypeError: If `max_seq_len` is not an int.
        ValueError: If it is negative.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> print(text.Truncate(2)(np.array(["a", "b", "c"])))
        ['a' 'b']
    """

    def __init__(self, max_seq_len: int):
        self.max_seq_len = check_int32("Truncate", "max_seq_len", max_seq_len, 0)

    def _text(self, text: np.ndarray) -> np.ndarray:
        if text.ndim not in (1, 2):
            fail(ArgumentError, f"a 1-D or 2-D array is expected, got shape {list(text.shape)}", "Truncate")
        return text[..., :self.max_seq_len]


class TruncateSequencePair(PyOperation):
    """Truncates the longer of two 1-D columns until both have at most `max_length` elements together.

    Args:
        max_length (int): The total number of elements.

    Raises:
        TypeError: If `max_length` is not an int.
        ValueError: If it is negative.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> a, b = text.TruncateSequencePair(4)(np.array([1, 2, 3]), np.array([4, 5, 6]))
        >>> print(a, b)
        [1 2] [4 5]
    """

    def __init__(self, max_length: int):
        self.max_length = check_int32("TruncateSequencePair", "max_length", max_length, 0)

    def _run(self, rng: Any, *values: Any) -> Tuple[np.ndarray, np.ndarray]:
        if len(values) != 2:
            fail(ArgumentError, f"2 columns are expected, got {len(values)}", "TruncateSequencePair")
        first, second = (np.asarray(value) for value in values)
        if first.ndim != 1 or second.ndim != 1:
            fail(ArgumentError, f"1-D columns are expected, got shapes {list(first.shape)} and {list(second.shape)}", "TruncateSequencePair")
        a, b = len(first), len(second)
        while a + b > self.max_length:
            if a > b:
                a -= 1
            else:
                b -= 1
        return first[:a], second[:b]


class AddToken(_TextOperation):
    """Adds a token before or after the words of a 1-D array, or of each row of a 2-D array.

    Args:
        token (str): The token.
        begin (bool): Whether to add it at the start instead of the end. Default: True.

    Raises:
        TypeError: If an argument has another type.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> print(text.AddToken("<s>")(np.array(["a", "b"])))
        ['<s>' 'a' 'b']
    """

    def __init__(self, token: str, begin: bool = True):
        if not isinstance(token, str):
            fail(TypeError, f"token must be a str, got {token!r}", "AddToken")
        self.token, self.begin = token, check_bool("AddToken", "begin", begin)

    def _text(self, text: np.ndarray) -> np.ndarray:
        if text.ndim not in (1, 2):
            fail(ArgumentError, f"a 1-D or 2-D array is expected, got shape {list(text.shape)}", "AddToken")
        token = np.full((*text.shape[:-1], 1), self.token)
        return np.concatenate([token, text] if self.begin else [text, token], axis=-1)


class CaseFold(_TextOperation):
    """Folds the case of text.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.CaseFold()("Fig"))
        fig
    """

    def _text(self, text: np.ndarray) -> np.ndarray:
        return self._each(text, str.casefold)


class NormalizeUTF8(_TextOperation):
    """Converts text to a Unicode normal form.

    Args:
        normalize_form (NormalizeForm): The normal form. Default: NormalizeForm.NFKC.

    Raises:
        TypeError: If the argument is not a NormalizeForm.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.NormalizeUTF8()("\\ufb01g"))
        fig
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC):
        self.form = enumeration("NormalizeUTF8", "normalize_form", normalize_form, NormalizeForm)

    def _text(self, text: np.ndarray) -> np.ndarray:
        return self._each(text, lambda word: _normalized(word, self.form))


def _normalized(text: str, form: NormalizeForm) -> str:
    return text if form == NormalizeForm.NONE else unicodedata.normalize(form.name, text)  # type: ignore[arg-type]


class RegexReplace(_TextOperation):
    """Replaces the matches of a pattern of Python's re.

    Args:
        pattern (str): The pattern.
        replace (str): The replacement.
        replace_all (bool): Whether to replace all matches instead of the first. Default: True.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If the pattern is invalid.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.RegexReplace("[0-9]+", "#")("a1b22"))
        a#b#
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True):
        try:
            self.pattern = re.compile(pattern)
        except re.error as e:
            fail(ValueError, f"the pattern {pattern!r} is not valid: {e}", "RegexReplace")
        self.replace, self.count = replace, 0 if check_bool("RegexReplace", "replace_all", replace_all) else 1

    def _text(self, text: np.ndarray) -> np.ndarray:
        return self._each(text, lambda word: self.pattern.sub(self.replace, word, count=self.count))


class ToNumber(_TextOperation):
    """Converts text to numbers.

    Args:
        data_type (type): An integer or float type.

    Raises:
        TypeError: If `data_type` is another type.
        ValueError: When called, if a text is not a number.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> print(text.ToNumber(np.int32)(np.array(["3", "5"])))
        [3 5]
    """

    def __init__(self, data_type: Any):
        self.data_type = numpy_type("ToNumber", "data_type", data_type)
        if self.data_type.kind not in "iuf":
            fail(TypeError, f"data_type must be an integer or float type, got {data_type!r}", "ToNumber")

    def _text(self, text: np.ndarray) -> np.ndarray:
        number: Any = float if self.data_type.kind == "f" else int
        return np.asarray([number(word) for word in text.ravel().tolist()], self.data_type).reshape(text.shape)


class Ngram(_TextOperation):
    """Forms the n-grams of a 1-D array.

    Args:
        n (int, list[int]): The lengths of the n-grams.
        left_pad (tuple[str, int]): (token, width) of the padding at the start. Default: ("", 0).
        right_pad (tuple[str, int]): (token, width) of the padding at the end. Default: ("", 0).
        separator (str): Joins the words of an n-gram. Default: " ".

    Raises:
        TypeError: If an argument has another type.
        ValueError: If a number is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> print(text.Ngram(2)(np.array(["a", "b", "c"])))
        ['a b' 'b c']
    """

    def __init__(self, n: Any, left_pad: Tuple[str, int] = ("", 0), right_pad: Tuple[str, int] = ("", 0), separator: str = " "):
        self.n = [check_int32("Ngram", "n", k, 1) for k in ([n] if isinstance(n, int) else n)]
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            if not isinstance(pad, tuple) or len(pad) != 2 or not isinstance(pad[0], str):
                fail(TypeError, f"{name} must be (token, width), got {pad!r}", "Ngram")
            check_int32("Ngram", name, pad[1], 0)
        self.left_pad, self.right_pad, self.separator = left_pad, right_pad, separator

    def _text(self, text: np.ndarray) -> np.ndarray:
        if text.ndim != 1:
            fail(ArgumentError, f"a 1-D array is expected, got shape {list(text.shape)}", "Ngram")
        out: List[str] = []
        for n in self.n:
            # Padding wider than n - 1 would form n-grams of padding only.
            words = [self.left_pad[0]] * min(self.left_pad[1], n - 1) + text.tolist() + [self.right_pad[0]] * min(self.right_pad[1], n - 1)
            out += [self.separator.join(words[i:i + n]) for i in range(len(words) - n + 1)] or [""]
        return np.asarray(out)


class SlidingWindow(PyOperation):
    """Forms all windows of a 1-D array: [N] -> [windows, width].

    Args:
        width (int): The number of elements in a window.
        axis (int): 0. Default: 0.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> print(text.SlidingWindow(2)(np.array([1, 2, 3])))
        [[1 2]
         [2 3]]
    """

    def __init__(self, width: int, axis: int = 0):
        self.width = check_int32("SlidingWindow", "width", width, 1)
        if axis not in (0, -1):
            fail(ValueError, f"axis must be 0, got {axis!r}", "SlidingWindow")

    def _run(self, rng: Any, *values: Any) -> np.ndarray:
        array = np.asarray(values[0])
        if array.ndim != 1:
            fail(ArgumentError, f"a 1-D array is expected, got shape {list(array.shape)}", "SlidingWindow")
        if len(array) < self.width:
            return array[:0].reshape(0, self.width)
        return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(array, self.width))


# BERT tokenization.

_UNUSED = re.compile(r"\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]|\[GWORDS\d+\]")
_CJK = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F))


def _stands_alone(char: str) -> bool:
    """Whether a character forms a token alone: punctuation and Chinese characters."""
    code = ord(char)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(char).startswith("P") or any(low <= code <= high for low, high in _CJK)


def _refuse_offsets(who: str, with_offsets: Any) -> None:
    if check_bool(who, "with_offsets", with_offsets):
        fail(NotImplementedError, "with_offsets is not supported", who, "omit with_offsets")


class BasicTokenizer(_Tokenizer):
    """Splits text into words and separates punctuation and Chinese characters.

    Args:
        lower_case (bool): Whether to fold case and remove accents. Default: False.
        keep_whitespace (bool): Whether to keep blanks as tokens. Default: False.
        normalization_form (NormalizeForm): The normal form, unless `lower_case` is set. Default: NormalizeForm.NONE.
        preserve_unused_token (bool): Whether to keep [CLS], [SEP] and similar tokens whole. Default: True.
        with_offsets (bool): Not supported. Default: False.

    Raises:
        TypeError: If an argument has another type.
        NotImplementedError: If `with_offsets` is set.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.BasicTokenizer(lower_case=True)("Figs, plums"))
        ['figs' ',' 'plums']
    """

    def __init__(self, lower_case: bool = False, keep_whitespace: bool = False, normalization_form: NormalizeForm = NormalizeForm.NONE,
                 preserve_unused_token: bool = True, with_offsets: bool = False):
        who = type(self).__name__
        self.lower_case = check_bool(who, "lower_case", lower_case)
        self.keep_whitespace = check_bool(who, "keep_whitespace", keep_whitespace)
        self.form = enumeration(who, "normalization_form", normalization_form, NormalizeForm)
        self.preserve = check_bool(who, "preserve_unused_token", preserve_unused_token)
        _refuse_offsets(who, with_offsets)

    def _plain(self, text: str) -> str:
        if self.lower_case:
            text = "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if unicodedata.category(c) != "Mn")
        else:
            text = _normalized(text, self.form)
        return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))

    def _split(self, text: str) -> List[str]:
        words: List[str] = []
        open_word = False
        before = ""
        for char in self._plain(text):
            if char.isspace():
                open_word = False
                if self.keep_whitespace and before.isspace():
                    words[-1] += char
                elif self.keep_whitespace:
                    words.append(char)
            elif _stands_alone(char):
                open_word = False
                words.append(char)
            elif open_word:
                words[-1] += char
            else:
                open_word = True
                words.append(char)
            before = char
        return words

    def _words(self, text: str) -> List[str]:
        if not self.preserve:
            return self._split(text)
        words: List[str] = []
        begin = 0
        for match in _UNUSED.finditer(text):
            words += self._split(text[begin:match.start()])
            words.append(match.group())
            begin = match.end()
        return words + self._split(text[begin:])

    def _tokens(self, text: str) -> Any:
        return _array(self._words(text))


class WordpieceTokenizer(_TextOperation):
    """Splits words into the longest pieces in a vocabulary.

    Args:
        vocab (Vocab): The vocabulary.
        suffix_indicator (str): The prefix of pieces inside a word. Default: "##".
        max_bytes_per_token (int): Longer words count as unknown. Default: 100.
        unknown_token (str): Replaces words that cannot be split; "" keeps the word. Default: "[UNK]".
        with_offsets (bool): Not supported. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If `max_bytes_per_token` is negative.
        NotImplementedError: If `with_offsets` is set.

    Examples:
        >>> import numpy as np
        >>> from sindri.dataset import text
        >>> pieces = text.WordpieceTokenizer(text.Vocab.from_list(["fig", "##s"]))
        >>> print(pieces(np.array(["figs", "plum"])))
        ['fig' '##s' '[UNK]']
    """

    def __init__(self, vocab: Vocab, suffix_indicator: str = "##", max_bytes_per_token: int = 100, unknown_token: str = "[UNK]",
                 with_offsets: bool = False):
        if not isinstance(vocab, Vocab):
            fail(TypeError, f"vocab must be a Vocab, got {vocab!r}", "WordpieceTokenizer")
        self.known = vocab.vocab()
        self.suffix_indicator, self.unknown_token = suffix_indicator, unknown_token
        self.max_bytes_per_token = check_int32("WordpieceTokenizer", "max_bytes_per_token", max_bytes_per_token, 0)
        _refuse_offsets("WordpieceTokenizer", with_offsets)

    def _pieces(self, word: str) -> List[str]:
        unknown = [self.unknown_token or word]
        if len(word.encode()) > self.max_bytes_per_token:
            return unknown
        pieces: List[str] = []
        begin = 0
        while begin < len(word):
            prefix = self.suffix_indicator if begin else ""
            end = next((end for end in range(len(word), begin, -1) if prefix + word[begin:end] in self.known), None)
            if end is None:
                return unknown
            pieces.append(prefix + word[begin:end])
            begin = end
        return pieces

    def _text(self, text: np.ndarray) -> np.ndarray:
        if text.ndim > 1:
            fail(ArgumentError, f"a str or a 1-D array is expected, got shape {list(text.shape)}", "WordpieceTokenizer")
        return _array([piece for word in text.ravel().tolist() for piece in self._pieces(word)])


class BertTokenizer(_Tokenizer):
    """Applies BasicTokenizer, then WordpieceTokenizer.

    Args:
        vocab (Vocab): The vocabulary.
        suffix_indicator (str): As of WordpieceTokenizer. Default: "##".
        max_bytes_per_token (int): As of WordpieceTokenizer. Default: 100.
        unknown_token (str): As of WordpieceTokenizer. Default: "[UNK]".
        lower_case (bool): As of BasicTokenizer. Default: False.
        keep_whitespace (bool): As of BasicTokenizer. Default: False.
        normalization_form (NormalizeForm): As of BasicTokenizer. Default: NormalizeForm.NONE.
        preserve_unused_token (bool): As of BasicTokenizer. Default: True.
        with_offsets (bool): Not supported. Default: False.

    Raises:
        TypeError: If an argument has another type.
        ValueError: If an argument is out of range.
        NotImplementedError: If `with_offsets` is set.

    Examples:
        >>> from sindri.dataset import text
        >>> print(text.BertTokenizer(text.Vocab.from_list(["fig", "##s"]), lower_case=True)("Figs"))
        ['fig' '##s']
    """

    def __init__(self, vocab: Vocab, suffix_indicator: str = "##", max_bytes_per_token: int = 100, unknown_token: str = "[UNK]",
                 lower_case: bool = False, keep_whitespace: bool = False, normalization_form: NormalizeForm = NormalizeForm.NONE,
                 preserve_unused_token: bool = True, with_offsets: bool = False):
        _refuse_offsets("BertTokenizer", with_offsets)
        self.basic = BasicTokenizer(lower_case, keep_whitespace, normalization_form, preserve_unused_token)
        self.wordpiece = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token)

    def _tokens(self, text: str) -> Any:
        return self.wordpiece._text(np.asarray(self.basic._words(text) or [""]))
