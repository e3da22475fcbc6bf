"""Skips the lab's tests if network namespaces are not available."""
import pytest

import lab

_reason = lab.unavailable()


def pytest_collection_modifyitems(items):
    """Adds a skip marker with the reason to each test."""
    if _reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=_reason))
