"""Errors of MindRecord files."""
from sindri import _core


class MindRecordException(_core.DataError):
    """Base class of the errors of MindRecord files."""


class ParamTypeError(MindRecordException, TypeError):
    """An argument has the wrong type."""


class ParamValueError(MindRecordException, ValueError):
    """An argument has an invalid value."""


class MRMOpenError(MindRecordException):
    """A file cannot be opened."""


class MRMDefineIndexError(MindRecordException):
    """An index field does not match the schema."""


class MRMValidateDataError(MindRecordException):
    """A row does not match the schema."""


class MRMWriteDatasetError(MindRecordException):
    """Writing failed."""


class MRMCommitError(MindRecordException):
    """The index could not be written."""
