"""Schedules, lists of rates and loss scales: the cases of make_schedule_expectations.py and of the tests of both languages.

A schedule has its class in nn, the arguments, and the library's name and settings for it. A list has its function in nn, and the same. A loss scale has the
object
that adapts it, its numbers, and a row of steps that overflow (1) or not (0).
"""

STEPS = 30  # 0 … 29; every schedule below has ended by then

DECAY = ("learning_rate", "decay_rate", "decay_steps", "is_stair")
# class in nn -> (name in the library, its settings in the order of the class's arguments)
CLASSES = {
    "ExponentialDecayLR": ("exponential", DECAY),
    "NaturalExpDecayLR": ("natural_exp", DECAY),
    "InverseDecayLR": ("inverse", DECAY),
    "CosineDecayLR": ("cosine", ("end", "learning_rate", "decay_steps")),
    "PolynomialDecayLR": ("poly", ("learning_rate", "end", "decay_steps", "power", "update_decay_steps")),
    "WarmUpLR": ("warm_up", ("learning_rate", "warmup_steps")),
}
# function in nn -> the same; the list provides total_step and step_per_epoch
FUNCTIONS = {
    "exponential_decay_lr": ("exponential", ("learning_rate", "decay_rate", "total_step", "step_per_epoch", "decay_steps", "is_stair")),
    "natural_exp_decay_lr": ("natural_exp", ("learning_rate", "decay_rate", "total_step", "step_per_epoch", "decay_steps", "is_stair")),
    "inverse_decay_lr": ("inverse", ("learning_rate", "decay_rate", "total_step", "step_per_epoch", "decay_steps", "is_stair")),
    "cosine_decay_lr": ("cosine", ("end", "learning_rate", "total_step", "step_per_epoch", "decay_steps")),
    "polynomial_decay_lr": ("poly", ("learning_rate", "end", "total_step", "step_per_epoch", "decay_steps", "power", "update_decay_steps")),
    "warmup_lr": ("warm_up", ("learning_rate", "total_step", "step_per_epoch", "warmup_steps")),
    "piecewise_constant_lr": ("piecewise", ("milestone", "learning_rates")),
}

SCHEDULES = [
    *((name, args) for name in ("ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR")
      for args in ((0.1, 0.9, 4), (0.1, 0.9, 4, True), (1.5, 0.07, 7, False), (0.003, 0.5, 10, True), (0.2, 1.25, 1, True))),
    *(("CosineDecayLR", args) for args in ((0.01, 0.1, 8), (0.0, 0.5, 13), (1e-5, 3.0, 1))),
    *(("PolynomialDecayLR", args) for args in ((0.1, 0.01, 10, 2.0), (0.1, 0.01, 4, 0.5), (0.05, 0.0, 7, 1.0), (0.1, 0.01, 4, 2.0, True), (0.3, 0.02, 10, 0.5, True),
                                               (0.01, 0.2, 6, 1.5))),  # the last one increases
    *(("WarmUpLR", args) for args in ((0.1, 4), (0.0, 3), (2.5, 1), (0.4, 17))),
]
LISTS = [
    *((name, args) for name in ("exponential_decay_lr", "natural_exp_decay_lr", "inverse_decay_lr")
      for args in ((0.1, 0.9, 24, 2, 3), (0.1, 0.9, 24, 2, 3, True), (1.5, 0.3, 30, 1, 7, False), (0.02, 1.2, 25, 4, 1, True))),
    *(("cosine_decay_lr", args) for args in ((0.01, 0.1, 24, 2, 4), (0.0, 0.7, 20, 1, 11))),
    *(("polynomial_decay_lr", args) for args in ((0.1, 0.01, 24, 2, 4, 0.5), (0.1, 0.01, 24, 2, 4, 2.0, True), (0.3, 0.0, 21, 1, 5, 1.0, False))),
    *(("warmup_lr", args) for args in ((0.1, 16, 2, 4), (0.0, 6, 1, 3), (0.3, 20, 3, 7))),
    ("piecewise_constant_lr", ([2, 5, 10], [0.1, 0.05, 0.01])),
    ("piecewise_constant_lr", ([1], [0.5])),
]
SCALES = [  # (who, scale, factor, window, overflows)
    *((who, *numbers) for who in ("cell", "manager", "scaler")
      for numbers in ((1024.0, 2, 3, "000010000000110000"), (1.0, 2, 2, "1100010000"), (65536.0, 3, 1, "0001011000"), (8.0, 4, 5, "00000000000001000000"))),
]


def named(names, args):
    """Returns (library name, its settings) for a case."""
    rule, keys = names
    return rule, dict(zip(keys, args))


def read(path):
    """Reads the file of expectations: a list of {"kind", "name", "set": {key: text}, row: [numbers]}."""
    out = []
    for line in open(path, encoding="utf-8").read().splitlines():
        word, *rest = line.split()
        if word == "case":
            out.append({"kind": rest[0], "name": rest[1], "set": {}})
        elif word == "set":
            out[-1]["set"][rest[0]] = rest[1]
        else:
            out[-1][word] = [float(v) for v in rest]
    return out
