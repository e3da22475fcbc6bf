"""Errors of the tools: Sindri's classes with their parts, which the command line prints."""
from typing import Type

from sindri import _core


def error(cls: Type[Exception], code: int, message: str, where: str = "", fix: str = "") -> Exception:
    """Returns an exception of one of Sindri's classes: `what | where | fix`, with the parts and the code (docs/errors.md) as attributes."""
    e = cls(" | ".join(part for part in (message, where, fix) if part))
    e.code, e.message, e.where, e.fix = code, message, where, fix  # type: ignore[attr-defined]
    return e


def unusable(message: str, where: str = "", fix: str = "") -> Exception:
    """Returns CheckpointError E4001: the file is intact, but contains something that cannot be converted."""
    return error(_core.CheckpointError, 4001, message, where, fix)


def damaged(message: str, where: str = "", fix: str = "") -> Exception:
    """Returns CheckpointError E4002: the file is truncated, altered or of another kind."""
    return error(_core.CheckpointError, 4002, message, where, fix)


def usage(message: str, where: str = "", fix: str = "") -> Exception:
    """Returns InvalidValueError E2020: an invalid argument."""
    return error(_core.InvalidValueError, 2020, message, where, fix)


def file_error(e: OSError, path: str, what: str) -> Exception:
    """Returns IoError E5001: the system refused the operation."""
    return error(_core.IoError, 5001, f"cannot {what} {path}: {e.strerror or e}", path, "check the path and its permissions")
