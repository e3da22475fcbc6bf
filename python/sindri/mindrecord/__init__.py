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
    """Writes rows to `file_name` (or `file_name0` …) and an index next to it. Not available yet: raises NotYetError."""

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False):
        not_yet('mindrecord.FileWriter', 'record files')


class FileReader:
    """Reads rows. Not available yet: raises NotYetError."""

    def __init__(self, file_name: Any, num_consumer: int = 4, columns: Any = None, operator: Any = None):
        not_yet('mindrecord.FileReader', 'record files')


def _later(name: str) -> type:
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        not_yet(f'mindrecord.{name}', 'record files')
    return type(name, (), {'__init__': init, '__doc__': 'Not available yet: raises NotYetError.', '__module__': __name__})


MindPage = _later('MindPage')
Cifar10ToMR = _later('Cifar10ToMR')
Cifar100ToMR = _later('Cifar100ToMR')
CsvToMR = _later('CsvToMR')
ImageNetToMR = _later('ImageNetToMR')
MnistToMR = _later('MnistToMR')
TFRecordToMR = _later('TFRecordToMR')
