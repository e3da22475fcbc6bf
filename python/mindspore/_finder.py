"""Import hook that resolves `mindspore.X` to `sindri.X`."""
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

_HERE = 'mindspore.'
_THERE = 'sindri.'
_OWN = {'mindspore._finder'}


class _Loader(importlib.abc.Loader):
    """Returns the module of the other name, unchanged."""

    def create_module(self, spec):
        module = importlib.import_module(_THERE + spec.name[len(_HERE):])
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        # The import system has set the alias's spec; relative imports and reload need the module's original spec.
        module.__spec__ = self._spec
        alias_all()


class Finder(importlib.abc.MetaPathFinder):
    """Finds `mindspore.X` if `sindri.X` exists."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.startswith(_HERE) or fullname in _OWN:
            return None
        try:
            found = importlib.util.find_spec(_THERE + fullname[len(_HERE):])
        except ModuleNotFoundError:
            return None
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(), is_package=found.submodule_search_locations is not None)


def alias_all():
    """Adds every loaded sindri module to sys.modules under its other name.

    An import that finds its module there does not change the parent package, in which a function may have the module's name.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith(_THERE) and module is not None:
            sys.modules.setdefault(_HERE + name[len(_THERE):], module)


def install():
    """Inserts the finder as the first one of sys.meta_path, unless it is installed already."""
    if not any(isinstance(f, Finder) for f in sys.meta_path):
        sys.meta_path.insert(0, Finder())
    alias_all()
