"""Log lines in MindSpore's form: `[WARNING] ME(pid:thread,process):2026-01-31-10:00:00.123.000 [train/model.py:12] text`.

GLOG_v sets the level (0 debug, 1 info, 2 warning: the default, 3 error, 4 critical). Lines go to stderr. With GLOG_logtostderr=0 they go to
`<GLOG_log_dir>/rank_<RANK_ID>/logs/mindspore.log.<time>.<pid>`. A new file is started after logger_maxBytes (50 MiB), and
logger_backupCount (30) old ones are kept. The environment is read when the first line is written.
"""
import logging
import os
import sys
import threading
import time
from logging.handlers import RotatingFileHandler
from typing import Any, Dict, Optional

from sindri._files import open_for_writing

__all__ = ['get_level', 'get_log_config', 'debug', 'info', 'warning', 'error', 'critical']

_LEVELS = {'0': logging.DEBUG, '1': logging.INFO, '2': logging.WARNING, '3': logging.ERROR, '4': logging.CRITICAL}
_MAX_BYTES = 50 * 1024 * 1024
_BACKUPS = 30
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep

_lock = threading.Lock()
_logger: Optional[logging.Logger] = None
_config: Dict[str, str] = {}


class _Formatter(logging.Formatter):
    """Names files of this package from its root, others by their path."""

    def format(self, record: logging.LogRecord) -> str:
        path = record.pathname
        path = path[len(_PACKAGE):] if path.startswith(_PACKAGE) else path
        stamp = time.strftime('%Y-%m-%d-%H:%M:%S', time.localtime(record.created)) + f'.{int(record.msecs):03d}.000'
        line = (f'[{record.levelname}] ME({record.process}:{record.thread},{record.processName}):{stamp} '
                f'[{path}:{record.lineno}] {record.getMessage()}')
        return f'{line}\n{self.formatException(record.exc_info)}' if record.exc_info else line


class _Stderr(logging.StreamHandler):
    """Writes to the current sys.stderr, so that redirection after the import takes effect."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:
        return sys.stderr


class _LogFile(RotatingFileHandler):
    """A log file whose descriptor is never that of a standard stream, which may be closed."""

    def _open(self) -> Any:
        return open_for_writing(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors)


def _read_environment() -> Dict[str, str]:
    level = os.environ.get('GLOG_v', '2')
    if level not in _LEVELS:
        raise ValueError(f'environment variable GLOG_v must be one of 0 to 4, got {level!r}')
    to_stderr = os.environ.get('GLOG_logtostderr', '1')
    if to_stderr not in ('0', '1'):
        raise ValueError(f'environment variable GLOG_logtostderr must be 0 or 1, got {to_stderr!r}')
    config = {'GLOG_v': level, 'GLOG_logtostderr': to_stderr}
    if to_stderr == '0':
        folder = os.environ.get('GLOG_log_dir')
        if not folder:
            raise ValueError('environment variable GLOG_log_dir must name a folder when GLOG_logtostderr is 0')
        config['GLOG_log_dir'] = os.path.realpath(folder)
        config['logger_maxBytes'] = os.environ.get('logger_maxBytes', str(_MAX_BYTES))
        config['logger_backupCount'] = os.environ.get('logger_backupCount', str(_BACKUPS))
        for name in ('logger_maxBytes', 'logger_backupCount'):
            if not config[name].isdigit():
                raise ValueError(f'environment variable {name} must be an integer of at least 0, got {config[name]!r}')
    return config


def _setup() -> logging.Logger:
    global _logger, _config
    with _lock:
        if _logger is None:
            config = _read_environment()
            logger = logging.getLogger('sindri')
            logger.propagate = False
            logger.setLevel(_LEVELS[config['GLOG_v']])
            handler: logging.Handler = _Stderr()
            if config['GLOG_logtostderr'] == '0':
                folder = os.path.join(config['GLOG_log_dir'], f"rank_{os.environ.get('RANK_ID', '0')}", 'logs')
                os.makedirs(folder, mode=0o700, exist_ok=True)
                name = f"mindspore.log.{time.strftime('%Y%m%d-%H%M%S')}.{os.getpid()}"
                handler = _LogFile(os.path.join(folder, name), maxBytes=int(config['logger_maxBytes']),
                                   backupCount=int(config['logger_backupCount']), encoding='utf-8')
            handler.setFormatter(_Formatter())
            logger.handlers[:] = [handler]
            _logger, _config = logger, config
    return _logger


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Writes a debug line.

    Args:
        msg (str): The text; `args` are inserted with the % operator.
        *args: The values.
        **kwargs: As in the functions of `logging`.

    Examples:
        >>> from sindri import log
        >>> log.debug('step %d', 1)
    """
    _setup().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Writes an information line.

    Args:
        msg (str): The text; `args` are inserted with the % operator.
        *args: The values.
        **kwargs: As in the functions of `logging`.

    Examples:
        >>> from sindri import log
        >>> log.info('step %d', 1)
    """
    _setup().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Writes a warning line.

    Args:
        msg (str): The text; `args` are inserted with the % operator.
        *args: The values.
        **kwargs: As in the functions of `logging`.

    Examples:
        >>> from sindri import log
        >>> log.warning('the loss is %g at step %d', 1.5, 1)
    """
    _setup().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Writes an error line.

    Args:
        msg (str): The text; `args` are inserted with the % operator.
        *args: The values.
        **kwargs: As in the functions of `logging`.

    Examples:
        >>> from sindri import log
        >>> log.error('cannot read %s', 'data.csv')
    """
    _setup().error(msg, *args, stacklevel=2, **kwargs)


def critical(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Writes a critical line.

    Args:
        msg (str): The text; `args` are inserted with the % operator.
        *args: The values.
        **kwargs: As in the functions of `logging`.

    Examples:
        >>> from sindri import log
        >>> log.critical('step %d failed', 1)
    """
    _setup().critical(msg, *args, stacklevel=2, **kwargs)


_said: set = set()


def warning_once(msg: str, *args: Any) -> None:
    """Writes a warning line, once per text and process.

    Args:
        msg (str): The text; `args` are inserted with the % operator.
        *args: The values.
    """
    text = msg % args if args else msg
    if text not in _said:
        _said.add(text)
        _setup().warning('%s', text, stacklevel=2)


def get_level() -> str:
    """Returns the level as text: '0' debug to '4' critical.

    Returns:
        str.

    Examples:
        >>> import sindri as ms
        >>> ms.get_level() in ('0', '1', '2', '3', '4')
        True
    """
    _setup()
    return _config['GLOG_v']


def get_log_config() -> Dict[str, str]:
    """Returns the active settings, by the names of their environment variables.

    Returns:
        Dict of str to str.

    Examples:
        >>> import sindri as ms
        >>> 'GLOG_v' in ms.get_log_config()
        True
    """
    _setup()
    return dict(_config)


def _reset() -> None:
    """Clears the settings, so that the next line reads the environment again (for tests)."""
    global _logger
    with _lock:
        if _logger is not None:
            for handler in _logger.handlers:
                handler.close()
        _logger = None
        _said.clear()
