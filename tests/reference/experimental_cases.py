"""Optimizers and schedules of mindspore.experimental.optim and mindspore.mint.optim: the cases of make_experimental_expectations.py and of
tests/python/test_experimental_optim.py, test_lr_scheduler.py and test_mint_optim.py.

The keywords are MindSpore's, which are PyTorch's. Each optimizer trains two groups; the first has a separate learning rate and the case's `first` options. The
first
group's rate is halved after step 5; the second group's is multiplied by 3 after step 8.
"""
import math

SHAPES = {"fc.weight": (2, 3), "fc.bias": (2,), "scale": (3,)}
STARTS = {"fc.weight": [1.0, -2.0, 3.0, -0.5, 0.25, 2.0], "fc.bias": [0.125, -0.75], "scale": [1.0, 1.5, 0.5]}
GROUPS = (("fc.weight",), ("fc.bias", "scale"))
STEPS = 14
SHOWN = (1, 2, 6, 14)
FIRST_RATE = 0.4  # relative to the case's rate


def gradient(step, name):
    """Returns the gradient of step 1, 2, …. The tests compute the same, in float32."""
    n = len(STARTS[name])
    return [math.sin(0.7 * step + 1.3 * i + n) for i in range(n)]


def factors_after(step):
    """Returns the factor on each group's rate after this step."""
    return {5: (0.5, 1.0), 8: (1.0, 3.0)}.get(step, (1.0, 1.0))


def groups(parameters, case):
    """Returns the groups in the form that optimizers accept; `parameters` maps names to parameters."""
    out = [{"params": [parameters[name] for name in names]} for names in GROUPS]
    out[0].update(lr=FIRST_RATE * case["options"]["lr"], **case.get("first", {}))
    return out


def _case(name, optimizer, first=None, **options):
    return dict(name=name, optimizer=optimizer, options=options, first=first or {})


CASES = [
    _case("adadelta", "Adadelta", lr=0.5, rho=0.8, eps=1e-4),
    _case("adadelta_decay_maximize", "Adadelta", {"weight_decay": 0.3, "rho": 0.5}, lr=0.5, weight_decay=0.1, maximize=True),
    _case("adagrad", "Adagrad", lr=0.1),
    _case("adagrad_decay_maximize", "Adagrad", {"lr_decay": 0.2}, lr=0.1, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.2, eps=1e-3,
          maximize=True),
    _case("adam", "Adam", {"betas": (0.7, 0.9)}, lr=0.02),
    _case("adam_decay_maximize", "Adam", {"weight_decay": 0.3}, lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1, maximize=True),
    _case("adam_amsgrad", "Adam", lr=0.02, betas=(0.8, 0.6), amsgrad=True),
    _case("adamax", "Adamax", {"betas": (0.7, 0.8)}, lr=0.02),
    _case("adamax_decay_maximize", "Adamax", lr=0.02, betas=(0.8, 0.7), eps=1e-2, weight_decay=0.1, maximize=True),
    _case("adamw", "AdamW", {"betas": (0.7, 0.9)}, lr=0.02),
    _case("adamw_decay_maximize", "AdamW", {"weight_decay": 0.3}, lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1, maximize=True),
    _case("adamw_amsgrad", "AdamW", lr=0.02, betas=(0.8, 0.6), weight_decay=0.1, amsgrad=True),
    _case("asgd", "ASGD", lr=0.05, lambd=0.01, alpha=0.6, t0=3.0),
    _case("asgd_decay_maximize", "ASGD", {"lambd": 0.1}, lr=0.05, weight_decay=0.1, maximize=True),
    _case("nadam", "NAdam", {"betas": (0.7, 0.9)}, lr=0.02),
    _case("nadam_decay", "NAdam", lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1, momentum_decay=0.1),
    _case("radam", "RAdam", {"betas": (0.7, 0.9)}, lr=0.02, betas=(0.9, 0.99)),
    _case("radam_decay", "RAdam", lr=0.02, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1),
    _case("rmsprop", "RMSprop", {"alpha": 0.8}, lr=0.02),
    _case("rmsprop_momentum_decay_maximize", "RMSprop", lr=0.02, alpha=0.9, eps=1e-3, momentum=0.7, weight_decay=0.1, maximize=True),
    _case("rmsprop_centered", "RMSprop", lr=0.02, alpha=0.8, eps=1e-3, momentum=0.5, centered=True),
    _case("rprop", "Rprop", lr=0.02),
    _case("rprop_maximize", "Rprop", {"etas": (0.3, 1.5)}, lr=0.05, step_sizes=(0.01, 0.2), maximize=True),
    _case("sgd", "SGD", lr=0.05),
    _case("sgd_decay_maximize", "SGD", {"weight_decay": 0.3}, lr=0.05, momentum=0.9, weight_decay=0.1, maximize=True),
    _case("sgd_dampening", "SGD", {"momentum": 0.5}, lr=0.05, momentum=0.9, dampening=0.3),
    _case("sgd_nesterov", "SGD", lr=0.05, momentum=0.8, weight_decay=0.1, nesterov=True),
]

# Schedules, with two groups of these rates.
RATES = (0.1, 0.5)
METRICS = [1.0, 0.9, 0.9, 0.95, 0.91, 0.89999, 0.9, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]


def linear_decay(epoch):
    return 1 / (1 + 0.25 * epoch)


def power_decay(epoch):
    return 0.9 ** epoch


def per_epoch(epoch):
    return 0.95


def bounded(x):
    return 0.5 + 0.5 / (1 + x)


def _schedule(name, scheduler, *args, steps=16, epochs=None, metrics=None, **kwargs):
    return dict(name=name, scheduler=scheduler, args=args, kwargs=kwargs, steps=steps, epochs=epochs, metrics=metrics)


SCHEDULES = [
    _schedule("step", "StepLR", 3, gamma=0.5),
    _schedule("step_epochs", "StepLR", 3, gamma=0.5, epochs=[0, 1, 4, 2, 9]),
    _schedule("linear", "LinearLR"),
    _schedule("linear_down", "LinearLR", start_factor=0.9, end_factor=0.2, total_iters=7),
    _schedule("linear_epochs", "LinearLR", start_factor=0.5, total_iters=4, epochs=[0, 2, 1, 7]),
    _schedule("exponential", "ExponentialLR", 0.7),
    _schedule("exponential_epochs", "ExponentialLR", gamma=0.7, epochs=[0, 3, 1]),
    _schedule("polynomial", "PolynomialLR"),
    _schedule("polynomial_square", "PolynomialLR", total_iters=8, power=2.0),
    _schedule("polynomial_epochs", "PolynomialLR", total_iters=8, power=2.0, epochs=[0, 3, 1, 11]),
    _schedule("multiplicative", "MultiplicativeLR", per_epoch),
    _schedule("multiplicative_two", "MultiplicativeLR", [per_epoch, linear_decay]),
    _schedule("constant", "ConstantLR"),
    _schedule("constant_half", "ConstantLR", factor=0.5, total_iters=3),
    _schedule("constant_epochs", "ConstantLR", factor=0.5, total_iters=3, epochs=[0, 2, 5, 1]),
    _schedule("multi_step", "MultiStepLR", [2, 5, 5, 9], gamma=0.5),
    _schedule("multi_step_epochs", "MultiStepLR", [2, 5, 5, 9], epochs=[0, 5, 2, 12]),
    _schedule("lambda", "LambdaLR", linear_decay),
    _schedule("lambda_two", "LambdaLR", [linear_decay, power_decay]),
    _schedule("plateau", "ReduceLROnPlateau", factor=0.5, patience=1, metrics=METRICS),
    _schedule("plateau_max", "ReduceLROnPlateau", mode="max", factor=0.3, patience=2, threshold=0.01, threshold_mode="abs", cooldown=2, min_lr=[0.02, 0.1],
              metrics=METRICS),
    _schedule("plateau_rel_max", "ReduceLROnPlateau", "max", 0.5, 0, metrics=METRICS),
    _schedule("plateau_eps", "ReduceLROnPlateau", "min", 0.5, 0, eps=0.04, metrics=METRICS),
    _schedule("cyclic", "CyclicLR", 0.01, 0.1, step_size_up=3),
    _schedule("cyclic_down", "CyclicLR", [0.01, 0.02], [0.1, 0.3], step_size_up=2, step_size_down=4, mode="triangular2"),
    _schedule("cyclic_exp", "CyclicLR", 0.01, 0.1, step_size_up=3, mode="exp_range", gamma=0.9),
    _schedule("cyclic_own", "CyclicLR", 0.01, 0.1, step_size_up=3, scale_fn=bounded, scale_mode="iterations"),
    _schedule("warm_restarts", "CosineAnnealingWarmRestarts", 4),
    _schedule("warm_restarts_longer", "CosineAnnealingWarmRestarts", 2, T_mult=2, eta_min=0.01),
    _schedule("warm_restarts_epochs", "CosineAnnealingWarmRestarts", 2, T_mult=2, epochs=[0, 0.5, 1.25, 2, 3.5, 6.5, 1.0, 7.75]),
    _schedule("warm_restarts_same_epochs", "CosineAnnealingWarmRestarts", 3, eta_min=0.01, epochs=[0, 0.5, 2.75, 3, 7.25]),
    _schedule("cosine", "CosineAnnealingLR", 4),
    _schedule("cosine_min", "CosineAnnealingLR", T_max=5, eta_min=0.02),
    _schedule("cosine_epochs", "CosineAnnealingLR", 5, eta_min=0.02, epochs=[0, 3, 1, 5]),
]


def sequential(module, optimizer):
    """Returns a SequentialLR of three schedules."""
    return module.SequentialLR(optimizer, [module.ConstantLR(optimizer, factor=0.1, total_iters=2), module.ExponentialLR(optimizer, gamma=0.9),
                                           module.StepLR(optimizer, 2, gamma=0.5)], milestones=[3, 8])


def sequential_two(module, optimizer):
    """Returns a SequentialLR of a warm-up and a cosine."""
    return module.SequentialLR(optimizer, [module.LinearLR(optimizer, start_factor=0.25, total_iters=4), module.CosineAnnealingLR(optimizer, T_max=6)],
                               milestones=[4])


SEQUENCES = {"sequential": sequential, "sequential_two": sequential_two}


def run_schedule(case, scheduler, rates):
    """Returns the rates before the first step and after each step; `rates` returns the current ones."""
    out = [rates()]
    for value in case["epochs"] or case["metrics"] or [None] * case["steps"]:
        scheduler.step(*(() if value is None else (value,)))
        out.append(rates())
    return out
