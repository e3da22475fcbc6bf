"""Argument checks under MindSpore's names: functions (2.x names), and the classes `Validator`, `ParamValidator` and
`Rel` (1.x names) over the same functions.

A function returns its value if the check passes, unless its description says otherwise. Wrong types raise TypeError,
wrong values ValueError. As in MindSpore, the message starts with the place (`prim_name`) and the argument's name.
"""
from sindri._checkparam._numbers import *  # noqa: F401,F403
from sindri._checkparam._older import *  # noqa: F401,F403
from sindri._checkparam._shapes import *  # noqa: F401,F403
