"""Sindri under MindSpore's name, for scripts that contain `import mindspore`.

`mindspore.X` is the module object `sindri.X`, however it is imported, so both names have the same classes. `__version__` is the version of
MindSpore's interface. Another package called mindspore in the same environment would shadow this one or be shadowed: install only one.
"""
try:
    import sindri as _sindri
except ImportError as _e:
    raise ImportError(f"this package provides Sindri under the name mindspore, but sindri cannot be imported: {_e} | install sindri") from _e

from mindspore import _finder
from sindri.version import mindspore_version as __version__

_finder.install()
__all__ = list(getattr(_sindri, '__all__', [n for n in vars(_sindri) if not n.startswith('_')]))


def __getattr__(name: str):
    try:
        return getattr(_sindri, name)
    except AttributeError:
        raise AttributeError(f"module 'mindspore' has no attribute '{name}'") from None


def __dir__():
    return sorted(set(dir(_sindri)) | set(globals()))
