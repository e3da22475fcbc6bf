"""Text transforms and vocabularies (MindSpore: mindspore.dataset.text).

Written by scripts/python_stubs.py; do not edit."""


from sindri.dataset.text import transforms as transforms, utils as utils
from sindri.dataset.text.transforms import *
from sindri.dataset.text.utils import *

__all__ = [
    "AddToken", "BasicTokenizer", "BertTokenizer", "CaseFold", "Lookup", "Ngram", "NormalizeUTF8", "PythonTokenizer", "RegexReplace",
    "RegexTokenizer", "SlidingWindow", "ToNumber", "Truncate", "TruncateSequencePair", "UnicodeCharTokenizer", "UnicodeScriptTokenizer",
    "WhitespaceTokenizer", "WordpieceTokenizer", "NormalizeForm", "Vocab", "to_bytes", "to_str",
]
