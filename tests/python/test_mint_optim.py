"""mint.optim: Adam, AdamW and SGD compared with PyTorch's values in both modes."""
import json
import os
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor
from sindri.experimental.optim import Optimizer, lr_scheduler
from sindri.mint import optim

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
import experimental_cases as cases  # noqa: E402

with open(os.path.join(HERE, "expectations", "experimental.json"), encoding="utf-8") as f:
    EXPECTED = json.load(f)["torch"]["optimizers"]
CASES = [(name, case) for case in cases.CASES if case["optimizer"] in ("Adam", "AdamW", "SGD")
         for name in ([case["optimizer"]] + (["FusedAdamW"] if case["optimizer"] == "AdamW" else []))]


def parameters():
    return {n: Parameter(Tensor(np.array(v, np.float32).reshape(cases.SHAPES[n])), name=n) for n, v in cases.STARTS.items()}


def step_on(opt, step):
    opt(tuple(Tensor(np.array(cases.gradient(step, p.name), np.float32).reshape(p.shape)) for p in opt.parameters))
    for group, factor in zip(opt.param_groups, cases.factors_after(step)):
        group["lr"] = group["lr"].asnumpy() * factor


@pytest.mark.parametrize("name, case", CASES, ids=lambda v: v if isinstance(v, str) else v["name"])
def test_values(name, case, mode):
    params = parameters()
    opt = getattr(optim, name)(cases.groups(params, case), **case["options"])
    assert isinstance(opt, Optimizer)
    for step in range(1, cases.STEPS + 1):
        step_on(opt, step)
        for n, values in EXPECTED[case["name"]].get(str(step), {}).items():
            np.testing.assert_allclose(params[n].asnumpy().ravel(), values, 2e-6, 2e-6, err_msg=f"{n} after step {step}")


def test_state_has_mindspores_names_and_resumes(tmp_path, mode):
    for name, options, names in (("Adam", {}, "exp_avg exp_avg_sq"), ("AdamW", {"amsgrad": True}, "exp_avg exp_avg_sq max_exp_avg_sq"),
                                 ("FusedAdamW", {}, "exp_avg exp_avg_sq"), ("SGD", {"momentum": 0.9}, "momentum_buf")):
        whole = parameters()
        opt = getattr(optim, name)(list(whole.values()), lr=0.05, **options)
        counter = "step_t" if name == "SGD" else "state_step"
        wanted = {f"{state}.{n}" for state in names.split() for n in whole} | set(whole) | {counter, "learning_rate_group_0"}
        assert set(opt.parameters_dict()) == wanted
        assert getattr(opt, counter).shape == (() if name == "SGD" else (1,))
        for step in range(1, 4):
            step_on(opt, step)
        ms.save_checkpoint(opt, str(tmp_path / "o.ckpt"))
        again = parameters()
        other = getattr(optim, name)(list(again.values()), lr=0.05, **options)
        assert ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "o.ckpt"))) == ([], [])
        step_on(opt, 4)
        step_on(other, 4)
        for n in whole:
            np.testing.assert_array_equal(again[n].asnumpy(), whole[n].asnumpy())


def test_schedulers_set_its_rates(mode):
    p = Parameter(Tensor([0.0]), name="p")
    opt = optim.SGD([p], lr=1.0)
    scheduler = lr_scheduler.ExponentialLR(opt, gamma=0.5)
    found = []
    for _ in range(3):
        opt((Tensor([-1.0]),))
        scheduler.step()
        found.append(p.item())
    assert found == [1.0, 1.5, 1.75]


@pytest.mark.parametrize("name, options, error", [
    ("Adam", {"lr": -1.0}, ValueError), ("AdamW", {"betas": (1.0, 0.9)}, ValueError), ("AdamW", {"eps": -1.0}, ValueError),
    ("Adam", {"amsgrad": 1}, TypeError), ("SGD", {"lr": 0.1, "momentum": -1.0}, ValueError), ("SGD", {"lr": 0.1, "nesterov": True}, ValueError),
    ("SGD", {"lr": 0.1, "weight_decay": -1.0}, ValueError), ("FusedAdamW", {"lr": "fast"}, TypeError)])
def test_options_out_of_range(name, options, error):
    with pytest.raises(error, match=name):
        getattr(optim, name)([Parameter(Tensor([1.0]), name="p")], **options)
