"""Optimizers over fifty steps: the cases of make_optimizer_expectations.py and of the tests of both languages.

A case has the optimizer by its name in settings files, its settings under their names there, the learning rate (a number or a table), weight decay, and groups
(per parameter: rate, decay, centralisation). Settings have other names in MindSpore's classes: CLASSES maps them.
"""
import math

SHAPES = {"fc.weight": (2, 3), "bn.gamma": (3,), "fc.bias": (2,)}
STARTS = {"fc.weight": [1.0, -2.0, 3.0, -0.5, 0.25, 2.0], "bn.gamma": [1.0, 1.5, 0.5], "fc.bias": [0.125, -0.75]}
STEPS = 50
SHOWN = (1, 2, 10, 50)


def gradient(step, name):
    """Returns the gradient of step 1, 2, …. The tests compute the same, in float32."""
    n = len(STARTS[name])
    return [math.sin(0.7 * step + 1.3 * i + n) for i in range(n)]


# settings name -> (class in nn, {setting: argument})
CLASSES = {
    "momentum": ("Momentum", {"nesterov": "use_nesterov"}),
    "sgd": ("SGD", {}),
    "adam": ("Adam", {"nesterov": "use_nesterov", "amsgrad": "use_amsgrad"}),
    "lazy_adam": ("LazyAdam", {"nesterov": "use_nesterov"}),
    "adam_weight_decay": ("AdamWeightDecay", {}),
    "adamax": ("AdaMax", {}),
    "adagrad": ("Adagrad", {}),
    "adadelta": ("Adadelta", {}),
    "rmsprop": ("RMSProp", {}),
    "ftrl": ("FTRL", {}),
    "lamb": ("Lamb", {}),
    "lars": ("LARS", {"nesterov": "use_nesterov"}),
    "rprop": ("Rprop", {}),
    "asgd": ("ASGD", {}),
    "proximal_adagrad": ("ProximalAdagrad", {}),
}
TABLE = [round(0.05 / (1 + 0.1 * step), 4) for step in range(STEPS)]  # MindSpore does not read past its end
# No centralisation: MindSpore skips shapes whose second dimension is not a multiple of 16, and has the op for other devices only.
GROUPS = {"fc.weight": {"lr": 0.02, "weight_decay": 0.1}, "bn.gamma": {"weight_decay": 0.05}, "fc.bias": {}}


CASES = [
    dict(name="momentum", optimizer="momentum", settings={"momentum": 0.9}, lr=0.05),
    dict(name="momentum_decay_scale", optimizer="momentum", settings={"momentum": 0.8, "loss_scale": 8.0}, lr=0.05, weight_decay=0.1),
    dict(name="momentum_table", optimizer="momentum", settings={"momentum": 0.9}, lr=TABLE),
    dict(name="momentum_groups", optimizer="momentum", settings={"momentum": 0.9}, lr=0.05, weight_decay=0.01, groups=GROUPS),
    # MindSpore's CPU kernel ignores nesterov
    dict(name="momentum_nesterov", optimizer="momentum", settings={"momentum": 0.9, "nesterov": True}, lr=0.05, formula=True),
    dict(name="sgd", optimizer="sgd", settings={"momentum": 0.0}, lr=0.05),
    dict(name="sgd_dampening", optimizer="sgd", settings={"momentum": 0.9, "dampening": 0.3}, lr=0.05),
    dict(name="sgd_nesterov", optimizer="sgd", settings={"momentum": 0.8, "nesterov": True}, lr=0.05),
    dict(name="sgd_decay_all", optimizer="sgd", settings={"momentum": 0.9, "decay_all": True}, lr=0.05, weight_decay=0.1),
    dict(name="adam", optimizer="adam", settings={"beta1": 0.8, "beta2": 0.95, "eps": 1e-8}, lr=0.02),
    dict(name="adam_decay_scale", optimizer="adam", settings={"loss_scale": 4.0}, lr=0.02, weight_decay=0.1),
    dict(name="adam_groups_table", optimizer="adam", settings={}, lr=TABLE, groups={"fc.weight": {"lr": [0.5 * rate for rate in TABLE]}, "bn.gamma": {}, "fc.bias": {}}),
    dict(name="adam_nesterov", optimizer="adam", settings={"nesterov": True}, lr=0.02),
    dict(name="adam_amsgrad", optimizer="adam", settings={"amsgrad": True, "beta2": 0.9}, lr=0.02),
    dict(name="lazy_adam", optimizer="lazy_adam", settings={}, lr=0.02, weight_decay=0.1),
    dict(name="adam_weight_decay", optimizer="adam_weight_decay", settings={}, lr=0.02, weight_decay=0.1),
    dict(name="adamax", optimizer="adamax", settings={"beta2": 0.9}, lr=0.02, weight_decay=0.1),
    dict(name="adagrad", optimizer="adagrad", settings={"accum": 0.2}, lr=0.1, weight_decay=0.01),
    dict(name="adagrad_fixed_slots", optimizer="adagrad", settings={"accum": 0.4, "update_slots": False}, lr=0.05, formula=True),  # MindSpore's CPU kernel updates them
    dict(name="adadelta", optimizer="adadelta", settings={"rho": 0.8, "epsilon": 1e-4}, lr=0.5, weight_decay=0.01),
    dict(name="rmsprop", optimizer="rmsprop", settings={"decay": 0.8, "epsilon": 1e-6}, lr=0.02, weight_decay=0.01),
    dict(name="rmsprop_momentum", optimizer="rmsprop", settings={"decay": 0.9, "momentum": 0.5, "loss_scale": 2.0}, lr=0.02),
    dict(name="rmsprop_centered", optimizer="rmsprop", settings={"decay": 0.9, "centered": True, "epsilon": 1e-3}, lr=0.01),
    dict(name="ftrl", optimizer="ftrl", settings={"l2": 0.02}, lr=0.1),
    dict(name="ftrl_l1", optimizer="ftrl", settings={"l1": 0.01, "l2": 0.02}, lr=0.1, formula=True),  # MindSpore's CPU kernel has the wrong sign for l1
    dict(name="ftrl_power", optimizer="ftrl", settings={"initial_accum": 0.5, "lr_power": -0.7}, lr=0.1, weight_decay=0.01),
    dict(name="lamb", optimizer="lamb", settings={}, lr=0.02, weight_decay=0.1, formula=True),  # Lamb and LARS have kernels for other devices only
    dict(name="lars", optimizer="lars", settings={"momentum": 0.9, "coefficient": 0.05, "loss_scale": 4.0}, lr=0.5, weight_decay=0.01, formula=True),
    dict(name="lars_clip", optimizer="lars", settings={"momentum": 0.5, "coefficient": 0.05, "use_clip": True}, lr=TABLE, formula=True),
    dict(name="rprop", optimizer="rprop", settings={"eta_minus": 0.5, "eta_plus": 1.2, "step_min": 1e-6, "step_max": 50.0}, lr=0.02),
    dict(name="rprop_decay", optimizer="rprop", settings={"eta_minus": 0.3, "eta_plus": 1.5, "step_min": 0.01, "step_max": 0.2}, lr=0.05, weight_decay=0.1),
    dict(name="rprop_groups_table", optimizer="rprop", settings={"eta_minus": 0.5, "eta_plus": 1.2, "step_min": 1e-6, "step_max": 50.0}, lr=TABLE,
         groups={"fc.weight": {"lr": [0.5 * rate for rate in TABLE]}, "bn.gamma": {"weight_decay": 0.05}, "fc.bias": {}}),
    dict(name="asgd", optimizer="asgd", settings={"lambd": 0.01, "alpha": 0.75, "t0": 20.0}, lr=0.05),
    dict(name="asgd_decay", optimizer="asgd", settings={"lambd": 0.001, "alpha": 0.5, "t0": 1.0}, lr=0.1, weight_decay=0.1),
    dict(name="proximal_adagrad", optimizer="proximal_adagrad", settings={"accum": 0.2, "l1": 0.02, "l2": 0.03}, lr=0.1),
    dict(name="proximal_adagrad_decay", optimizer="proximal_adagrad", settings={"l1": 0.0, "l2": 0.1, "loss_scale": 4.0}, lr=0.05, weight_decay=0.05),
]


def build(nn, params, case):
    """Creates a case's optimizer with a package that has MindSpore's API; `params` maps names to parameters."""
    class_name, renamed = CLASSES[case["optimizer"]]
    given = {renamed.get(k, k): v for k, v in case["settings"].items() if k != "decay_all"}
    if "weight_decay" in case:
        given["weight_decay"] = case["weight_decay"]
    targets = list(params.values())
    if case["settings"].get("decay_all"):  # a group's decay applies to all its parameters
        targets = [dict(params=targets)]
    if "groups" in case:
        targets = [dict(params=[p], **case["groups"][n]) for n, p in params.items()]
        targets.append({"order_params": list(params.values())})
    if case["optimizer"] == "lars":
        own = {k: given.pop(k) for k in ("coefficient", "epsilon", "use_clip") if k in given}
        return nn.LARS(nn.Momentum(targets, case["lr"], **given), **own)
    if case["optimizer"] == "rprop":
        given = {"etas": (given.pop("eta_minus"), given.pop("eta_plus")), "step_sizes": (given.pop("step_min"), given.pop("step_max")), **given}
    return getattr(nn, class_name)(targets, learning_rate=case["lr"], **given)


def read(path):
    """Reads the expectations: {case: {"source": …, "at": {step: {parameter: values}}, "state": {name: values}}}."""
    out = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[0] == "case":
                case = out[words[1]] = {"source": words[3], "at": {}, "state": {}}
            elif words[0] == "at":
                case["at"].setdefault(int(words[1]), {})[words[2]] = [float(w) for w in words[3:]]
            elif words[0] == "state":
                case["state"][words[1]] = [float(w) for w in words[2:]]
    return out
