"""Settings of the data pipeline: `sindri.dataset.core.config`, the same module as `sindri.dataset.config`."""
from sindri.dataset.core import config

__all__ = ["config"]
