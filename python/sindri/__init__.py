"""Sindri: deep-learning training in C++ with MindSpore's names and manners.

    import sindri as ms
    from sindri import nn, ops, Tensor, Model

The guide is docs/guide/python.md. Scripts written for MindSpore run through the package `mindspore` (python/mindspore).
"""
import os as _os

# The OpenMP runtime reads the time that its threads spin at a barrier when it is loaded, which importing _core does. With the default of some
# milliseconds, a step becomes several times slower as soon as another program needs one of the cores; about ten microseconds cost nothing on an
# idle machine. If another package has loaded the runtime before, the engine handles it (src/device/cpu/openmp.cc).
def _runtime_is_loaded():
    try:
        with open("/proc/self/maps") as maps:
            return "/libgomp" in maps.read()
    except OSError:
        return False


_spinning = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}.isdisjoint(_os.environ) and not _runtime_is_loaded()
if _spinning:
    _os.environ["GOMP_SPINCOUNT"] = "3000"
from sindri import _core
if _spinning:
    del _os.environ["GOMP_SPINCOUNT"]  # programs started from here choose for themselves
del _os, _spinning, _runtime_is_loaded
if getattr(_core, "__file__", None) is None:  # only the folder of its stubs exists
    raise ImportError("the extension module sindri._core is not built for this Python | sindri | pip install ./python, or in a build tree "
                      "scripts/build.sh release --python")
from sindri._core import (CheckpointError, CommError, DataError, DeviceError, DTypeError, Error, InternalError, InvalidValueError, IoError, NonFiniteError,
                          SettingsError, ShapeError, TracedValueError)
from sindri.common import *
from sindri.common import (DType, all_types, float_type, from_dlpack, function, int_type, issubclass_, ms_class, number_type, promote_types,
                           type_type, uint_type)
from sindri.common import dtype
from sindri.common.generator import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from sindri.context import *
from sindri import context
from sindri.context import ParallelMode, get_current_device
from sindri import nn, ops
from sindri.ops import grad, value_and_grad, vmap
from sindri.ops.composite.grad import get_grad, jvp, vjp
from sindri.ops.composite.jacobian import jacfwd, jacrev
from sindri import amp, autograd, boost, communication, dataset, device_context, experimental, hal, log, mindrecord, mint, models, mstx, numpy, parallel, profiler, runtime, train
from sindri import _checkparam
from sindri.train import *
from sindri.log import get_level, get_log_config
from sindri.parallel import Layout, get_algo_parameters, reset_algo_parameters, set_algo_parameters, shard
from sindri.profiler import DynamicProfilerMonitor, Profiler
from sindri.ops._tensor_methods import attach as _attach
from sindri.common.not_yet import NotYetError
from sindri.hal import device_count
from sindri.inspection import summary
from sindri.runtime import run_check

__version__ = _core.version
_attach(Tensor)
del _attach

# The names that `from mindspore import *` exports. Modules, errors and Sindri's own names are attributes only.
_NOT_LISTED = frozenset("""
DType DynamicProfilerMonitor parse_print reset_ps_context all_types float_type from_dlpack function int_type issubclass_ ms_class number_type promote_types type_type uint_type get_grad jacfwd jacrev jvp vjp vmap
Error CheckpointError CommError DataError DeviceError DTypeError InternalError InvalidValueError IoError NonFiniteError NotYetError SettingsError
ShapeError TracedValueError amp autograd boost common communication context dataset initializer log mindrecord mint models mstx nn numpy ops parallel
profiler runtime train device_context device_count experimental hal inspection summary
""".split())
__all__ = [_name for _name in globals() if not _name.startswith("_") and _name not in _NOT_LISTED]
