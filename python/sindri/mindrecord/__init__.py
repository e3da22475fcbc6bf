"""MindRecord files. The names exist; using them raises NotYetError until record files are supported."""
from typing import Any

from sindri.common.not_yet import not_yet
from sindri.mindrecord.exceptions import (MRMCommitError, MRMDefineIndexError, MRMOpenError, MRMValidateDataError, MRMWriteDatasetError,
                                          ParamTypeError, ParamValueError)

__all__ = ['FileWriter', 'FileReader', 'MindPage', 'Cifar10ToMR', 'Cifar100ToMR', 'CsvToMR', 'ImageNetToMR', 'MnistToMR', 'TFRecordToMR', 'SUCCESS',
           'FAILED', 'ParamTypeError', 'ParamValueError', 'MRMOpenError', 'MRMDefineIndexError', 'MRMValidateDataError', 'MRMWriteDatasetError',
           'MRMCommitError']

SUCCESS = 'SUCCESS'
FAILED = 'FAILED'


class FileWriter:
    """Writes rows to `file_name` (or `file_name0` …) and an index next to it; not available yet.

    Args:
        file_name (str): Ignored.
        shard_num (int): Ignored. Default: 1.
        overwrite (bool): Ignored. Default: False.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False):
        not_yet('mindrecord.FileWriter', 'record files')


class FileReader:
    """Reads rows; not available yet.

    Args:
        file_name (str, list): Ignored.
        num_consumer (int): Ignored. Default: 4.
        columns (list): Ignored. Default: None.
        operator (list): Ignored. Default: None.

    Raises:
        NotYetError: Always.
    """

    def __init__(self, file_name: Any, num_consumer: int = 4, columns: Any = None, operator: Any = None):
        not_yet('mindrecord.FileReader', 'record files')


def _later(name: str, what: str) -> type:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        not_yet(f'mindrecord.{name}', 'record files')
    return type(name, (), {'__init__': init, '__doc__': f'{what}; not available yet.\n\nRaises:\n    NotYetError: Always.', '__module__': __name__})


MindPage = _later('MindPage', 'Reads rows page by page')
Cifar10ToMR = _later('Cifar10ToMR', 'Converts CIFAR-10')
Cifar100ToMR = _later('Cifar100ToMR', 'Converts CIFAR-100')
CsvToMR = _later('CsvToMR', 'Converts CSV files')
ImageNetToMR = _later('ImageNetToMR', 'Converts ImageNet')
MnistToMR = _later('MnistToMR', 'Converts MNIST')
TFRecordToMR = _later('TFRecordToMR', 'Converts TFRecord files')
