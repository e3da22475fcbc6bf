"""The functions of sindri.ops, one module per family. The primitives in sindri.ops.operations are made of them."""
from sindri.ops.function.array_func import *  # noqa: F401,F403
from sindri.ops.function.clip_func import *  # noqa: F401,F403
from sindri.ops.function.image_func import *  # noqa: F401,F403
from sindri.ops.function.index_func import *  # noqa: F401,F403
from sindri.ops.function.linalg_func import *  # noqa: F401,F403
from sindri.ops.function.loss_func import *  # noqa: F401,F403
from sindri.ops.function.math_func import *  # noqa: F401,F403
from sindri.ops.function.nn_func import *  # noqa: F401,F403
from sindri.ops.function.other_func import *  # noqa: F401,F403
from sindri.ops.function.random_func import *  # noqa: F401,F403
from sindri.ops.function.reduce_func import *  # noqa: F401,F403
from sindri.ops.function.volume_func import *  # noqa: F401,F403
from sindri.ops.function import (array_func, clip_func, image_func, index_func, linalg_func, loss_func, math_func, nn_func, other_func, random_func,
                                 reduce_func, volume_func)

__all__ = [name for module in (array_func, clip_func, image_func, index_func, linalg_func, loss_func, math_func, nn_func, other_func, random_func,
                               reduce_func, volume_func)
           for name in module.__all__]
