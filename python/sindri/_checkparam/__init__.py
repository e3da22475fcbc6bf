"""The argument checks under MindSpore's names: functions (2.x spelling), and the classes `Validator`, `ParamValidator` and `Rel` (1.x spelling) over
the same functions.

A function gives back the value it was given when the check holds, unless its description says otherwise. Wrong types raise TypeError, wrong values
ValueError, with the place (`prim_name`) and the argument's name at the beginning, as MindSpore has them.
"""
from sindri._checkparam._numbers import *  # noqa: F401,F403
from sindri._checkparam._older import *  # noqa: F401,F403
from sindri._checkparam._shapes import *  # noqa: F401,F403
