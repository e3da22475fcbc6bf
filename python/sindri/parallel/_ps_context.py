"""Parameter-server settings as scripts of 1.x import them. No process of Sindri is a parameter server: every role is False."""
from typing import Any

from sindri.context import get_ps_context, reset_ps_context, set_ps_context

__all__ = ["_get_ps_context", "_is_ps_mode", "_is_role_pserver", "_is_role_sched", "_is_role_worker", "_reset_ps_context", "_set_ps_context"]


def _set_ps_context(**kwargs: Any) -> None:
    """context.set_ps_context."""
    set_ps_context(**kwargs)


def _get_ps_context(attr_key: str) -> Any:
    """context.get_ps_context."""
    return get_ps_context(attr_key)


def _reset_ps_context() -> None:
    """context.reset_ps_context."""
    reset_ps_context()


def _is_ps_mode() -> bool:
    """Whether parameters may live on servers: context.set_ps_context(enable_ps=…)."""
    return bool(get_ps_context("enable_ps"))


def _is_role_worker() -> bool:
    """Whether this process is a worker that parameter servers serve."""
    return False


def _is_role_pserver() -> bool:
    """Whether this process is a parameter server."""
    return False


def _is_role_sched() -> bool:
    """Whether this process schedules parameter servers."""
    return False
