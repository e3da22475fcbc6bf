"""Mixed precision, under its 2.x path."""
from sindri.amp import *  # noqa: F401,F403
from sindri import amp as _amp

build_train_network = _amp.build_train_network
auto_mixed_precision = _amp.auto_mixed_precision
