"""Sindri under MindSpore's name, for scripts that say `import mindspore`.

`mindspore.X` is the very module object `sindri.X`, whichever way it is imported, so classes are the same along all paths. `__version__` is the
version of the interface. Another package called mindspore in the same environment would shadow this one or be shadowed: install only one.
"""
try:
    import sindri as _sindri
except ImportError as _e:
    raise ImportError(f"this package gives Sindri the name mindspore, and sindri cannot be imported: {_e} | install sindri") from _e

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
