"""The primitives (MindSpore: mindspore.ops.operations), one module per family."""
from sindri.ops.operations._ctc import *  # noqa: F401,F403
from sindri.ops.operations._thor_ops import *  # noqa: F401,F403
from sindri.ops.operations.array_ops import *  # noqa: F401,F403
from sindri.ops.operations.comm_ops import *  # noqa: F401,F403
from sindri.ops.operations.comm_ops import (_AllSwap, _MirrorOperator, _VirtualAdd, _VirtualDataset, _VirtualDiv, _VirtualOutput,  # noqa: F401
                                            _VirtualPipelineEnd)
from sindri.ops.operations.debug_ops import *  # noqa: F401,F403
from sindri.ops.operations.math_ops import *  # noqa: F401,F403
from sindri.ops.operations.nn_ops import *  # noqa: F401,F403
from sindri.ops.operations.other_ops import *  # noqa: F401,F403
from sindri.ops.operations.random_ops import *  # noqa: F401,F403
from sindri.ops.operations import _ctc, _thor_ops, array_ops, comm_ops, debug_ops, math_ops, nn_ops, other_ops, random_ops

# Names that MindSpore lacks or does not list, and `identity`, which is a function in sindri.ops: `from mindspore.ops.operations import *` omits them.
_NOT_LISTED = frozenset(_thor_ops.__all__) - {"Im2Col"} | {"AllSwap", "IsInstance", "IsSubClass", "Lamb", "LeakyReLU", "Load", "Norm", "SameTypeShape", "SiLU", "Unsqueeze", "identity"}
__all__ = [name for module in (_ctc, _thor_ops, array_ops, comm_ops, debug_ops, math_ops, nn_ops, other_ops, random_ops) for name in module.__all__
           if name not in _NOT_LISTED]
