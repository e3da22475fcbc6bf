"""Skips the lab's tests where there can be no network namespaces."""
import pytest

import lab

_reason = lab.unavailable()


def pytest_collection_modifyitems(items):
    """Says so for each of them."""
    if _reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=_reason))
