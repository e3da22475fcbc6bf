"""Parameter-server settings under the names that 1.x scripts import. Sindri has no parameter servers: every role is False."""
from typing import Any

from sindri.context import get_ps_context, reset_ps_context, set_ps_context

__all__ = ["_get_ps_context", "_is_ps_mode", "_is_role_pserver", "_is_role_sched", "_is_role_worker", "_reset_ps_context", "_set_ps_context"]


def _set_ps_context(**kwargs: Any) -> None:
    """Calls context.set_ps_context."""
    set_ps_context(**kwargs)


def _get_ps_context(attr_key: str) -> Any:
    """Calls context.get_ps_context."""
    return get_ps_context(attr_key)


def _reset_ps_context() -> None:
    """Calls context.reset_ps_context."""
    reset_ps_context()


def _is_ps_mode() -> bool:
    """Returns whether parameters may be stored on servers: context.set_ps_context(enable_ps=…)."""
    return bool(get_ps_context("enable_ps"))


def _is_role_worker() -> bool:
    """Returns whether this process is a worker of parameter servers."""
    return False


def _is_role_pserver() -> bool:
    """Returns whether this process is a parameter server."""
    return False


def _is_role_sched() -> bool:
    """Returns whether this process schedules parameter servers."""
    return False
