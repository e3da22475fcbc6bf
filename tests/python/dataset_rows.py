"""Datasets and sources shared by the tests of sindri.dataset."""
import numpy as np
import pytest

import sindri.dataset as ds


@pytest.fixture(autouse=True)
def fresh_settings():
    """Restores the settings that a test changed."""
    yield
    ds.config._settings.update(seed=None, prefetch_size=None, num_parallel_workers=None, error_samples_mode=ds.config.ErrorSamplesMode.RETURN,
                               debug_mode=False)


def numbers(n=10, **options):
    """Returns a dataset with rows 0 ... n - 1 in one column x."""
    options.setdefault("shuffle", False)
    return ds.NumpySlicesDataset(np.arange(n), ["x"], **options)


def values(data, column=0):
    """Returns one column of a pass, as a list."""
    return [row[column].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


class Pairs:
    """Random access: ([i, i + 1], i / 2)."""

    def __init__(self, n=10):
        self.n = n

    def __getitem__(self, i):
        return np.array([i, i + 1], np.int32), np.array(i * 0.5)

    def __len__(self):
        return self.n


def seven():
    for i in range(7):
        yield (np.array(i),)
