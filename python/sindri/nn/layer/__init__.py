"""Layers: dense, convolution, normalisation, embedding, pooling, activations, containers."""
from sindri.nn.layer import activation, basic, combined, container, conv, conv3d, embedding, image, math, normalization, padding, pooling, rnns, thor_layer
from sindri.nn.layer.activation import *  # noqa: F401,F403
from sindri.nn.layer.basic import *  # noqa: F401,F403
from sindri.nn.layer.combined import *  # noqa: F401,F403
from sindri.nn.layer.container import *  # noqa: F401,F403
from sindri.nn.layer.conv import *  # noqa: F401,F403
from sindri.nn.layer.conv3d import *  # noqa: F401,F403
from sindri.nn.layer.embedding import *  # noqa: F401,F403
from sindri.nn.layer.image import *  # noqa: F401,F403
from sindri.nn.layer.math import *  # noqa: F401,F403
from sindri.nn.layer.normalization import *  # noqa: F401,F403
from sindri.nn.layer.padding import *  # noqa: F401,F403
from sindri.nn.layer.pooling import *  # noqa: F401,F403
from sindri.nn.layer.rnns import *  # noqa: F401,F403
from sindri.nn.layer.thor_layer import *  # noqa: F401,F403

__all__ = [*activation.__all__, *normalization.__all__, *container.__all__, *conv.__all__, *rnns.__all__, *basic.__all__, *embedding.__all__,
           *pooling.__all__, *math.__all__, *thor_layer.__all__, *combined.__all__, *image.__all__, *padding.__all__,
           *conv3d.__all__]
