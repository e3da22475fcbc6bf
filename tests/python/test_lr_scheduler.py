"""experimental.optim.lr_scheduler: every schedule compared with MindSpore's and PyTorch's rates, in both modes and in compiled functions."""
import json
import os
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, nn
from sindri.experimental import optim
from sindri.experimental.optim import lr_scheduler

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
import experimental_cases as cases  # noqa: E402

with open(os.path.join(HERE, "expectations", "experimental.json"), encoding="utf-8") as f:
    EXPECTED = {source: kinds["schedules"] for source, kinds in json.load(f).items()}
# Cases for which MindSpore 2.10 raises: a closed form that reads an attribute of another class, a logarithm of two arguments.
NOT_MINDSPORES = {"multi_step_epochs", "warm_restarts_epochs"}


def two_groups(rates=cases.RATES):
    return optim.SGD([{"params": [Parameter(Tensor([1.0]), name=f"p{i}")], "lr": rate} for i, rate in enumerate(rates)], lr=0.1)


def rates_of(opt):
    return [float(group["lr"].asnumpy()) for group in opt.param_groups]


def compare(name, found):
    """MindSpore computes in float32, where a cosine's quotients lose digits; PyTorch in float64."""
    for source in EXPECTED:
        if source == "mindspore" and name in NOT_MINDSPORES:
            assert name not in EXPECTED[source]
            continue
        np.testing.assert_allclose(found, EXPECTED[source][name], 2e-6, 5e-7 if source == "mindspore" else 1e-8, err_msg=source)


@pytest.mark.parametrize("case", cases.SCHEDULES, ids=lambda c: c["name"])
def test_rates(case, mode):
    opt = two_groups()
    scheduler = getattr(lr_scheduler, case["scheduler"])(opt, *case["args"], **case["kwargs"])
    found = cases.run_schedule(case, scheduler, lambda: rates_of(opt))
    compare(case["name"], found)
    last = scheduler.get_last_lr()
    assert [type(lr) for lr in last] == [Tensor, Tensor] and [lr.item() for lr in last] == found[-1]


@pytest.mark.parametrize("name", cases.SEQUENCES)
def test_schedules_in_turn(name, mode):
    opt = two_groups()
    scheduler = cases.SEQUENCES[name](lr_scheduler, opt)
    compare(name, cases.run_schedule({"epochs": None, "metrics": None, "steps": 14}, scheduler, lambda: rates_of(opt)))
    assert [lr.item() for lr in scheduler.get_last_lr()] == rates_of(opt)


def test_every_schedule_has_a_case():
    assert {c["scheduler"] for c in cases.SCHEDULES} | {"LRScheduler", "SequentialLR"} == set(lr_scheduler.__all__)
    assert set(EXPECTED["torch"]) == {c["name"] for c in cases.SCHEDULES} | set(cases.SEQUENCES)


def test_resuming_continues_the_sequence():
    """As in PyTorch: the current and the initial rate in the groups, and the number of the last epoch."""
    whole, opt = [], two_groups()
    scheduler = lr_scheduler.CosineAnnealingLR(opt, 7)
    for _ in range(10):
        whole.append(rates_of(opt))
        scheduler.step()
    for stop in (1, 4, 7):
        again = optim.SGD([{"params": [Parameter(Tensor([1.0]), name=f"p{i}")], "lr": whole[stop][i], "initial_lr": rate}
                           for i, rate in enumerate(cases.RATES)], lr=0.1)
        scheduler = lr_scheduler.CosineAnnealingLR(again, 7, last_epoch=stop)
        for want in whole[stop + 1:]:
            np.testing.assert_allclose(rates_of(again), want, 1e-5, 1e-7)
            scheduler.step()


def test_a_rate_that_is_changed_between_steps_counts():
    """A schedule that multiplies the rate continues from the current one."""
    opt = two_groups()
    scheduler = lr_scheduler.ExponentialLR(opt, gamma=0.5)
    opt.param_groups[0]["lr"] = 8.0
    scheduler.step()
    assert rates_of(opt) == pytest.approx([4.0, 0.25])


@pytest.mark.filterwarnings("ignore:.*cannot be compiled:UserWarning")
def test_a_step_in_a_compiled_function(mode):
    p = Parameter(Tensor([0.0]), name="p")
    opt = optim.SGD([p], lr=1.0)
    scheduler = lr_scheduler.StepLR(opt, 2, gamma=0.5)

    @ms.jit
    def train(x):
        opt((x,))
        scheduler.step()
        return p * 1

    assert [train(Tensor([-1.0])).item() for _ in range(6)] == [1.0, 2.0, 2.5, 3.0, 3.25, 3.5]
    assert scheduler.last_epoch.item() == 6


class Own(lr_scheduler.LRScheduler):
    """As on MindSpore's page."""

    def __init__(self, optimizer, factor=0.5, total_iters=3, last_epoch=-1):
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self._last_lr]
        if self.last_epoch != self.total_iters:
            return [lr * 1. for lr in self._last_lr]
        return [lr / self.factor for lr in self._last_lr]


def test_a_schedule_of_the_users(mode):
    opt = optim.SGD(nn.Dense(8, 2).trainable_params(), 0.01)
    scheduler, found = Own(opt), []
    for _ in range(4):
        scheduler.step()
        found.append(scheduler.get_last_lr()[0].item())
    assert found == pytest.approx([0.005, 0.005, 0.01, 0.01])
    with pytest.raises(NotImplementedError, match="define get_lr"):
        lr_scheduler.LRScheduler(opt)


def test_plateau_takes_a_tensor_and_knows_its_cooldown():
    opt = two_groups()
    scheduler = lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=0, cooldown=2)
    for metric in (Tensor(1.0), Tensor([2.0])):
        scheduler.step(metric)
    assert rates_of(opt) == pytest.approx([0.05, 0.25]) and scheduler.in_cooldown
    scheduler.step(3.0)
    scheduler.step(3.0)
    assert not scheduler.in_cooldown and rates_of(opt) == pytest.approx([0.05, 0.25])
    scheduler.step(float("nan"))  # not an improvement
    assert rates_of(opt) == pytest.approx([0.025, 0.125])
    with pytest.raises(TypeError, match="metrics must be a number"):
        scheduler.step("low")


def one():
    return optim.SGD([Parameter(Tensor([1.0]), name="p")], lr=0.1)


def two_of_constant(opt, other=None):
    return [lr_scheduler.ConstantLR(opt), lr_scheduler.ConstantLR(other or opt)]


# MindSpore 2.10 raises an exception of the same class for each, except for the last five: it divides by zero or accepts them.
WRONG = [
    ("StepLR", (2.5,), {}, TypeError), ("StepLR", (2,), {"gamma": 1}, TypeError), ("StepLR", (2,), {"last_epoch": 1.5}, TypeError),
    ("StepLR", (2,), {"last_epoch": -2}, ValueError), ("StepLR", (2,), {"last_epoch": 3}, KeyError), ("LinearLR", (), {"start_factor": 0}, ValueError),
    ("LinearLR", (), {"start_factor": 1.5}, ValueError), ("LinearLR", (), {"end_factor": -0.5}, ValueError), ("LinearLR", (), {"end_factor": 1.5}, ValueError),
    ("LinearLR", (), {"total_iters": 2.5}, TypeError), ("ExponentialLR", (1,), {}, TypeError), ("PolynomialLR", (), {"total_iters": 2.5}, TypeError),
    ("PolynomialLR", (), {"power": 1}, TypeError), ("MultiplicativeLR", ([abs, abs],), {}, ValueError), ("ConstantLR", (), {"factor": 1.5}, ValueError),
    ("ConstantLR", (), {"factor": -1}, ValueError), ("ConstantLR", (), {"total_iters": 2.5}, TypeError), ("MultiStepLR", (3,), {}, TypeError),
    ("MultiStepLR", ([2.5],), {}, TypeError), ("LambdaLR", (3,), {}, TypeError), ("LambdaLR", ([abs, abs],), {}, ValueError),
    ("ReduceLROnPlateau", (), {"factor": 1.0}, ValueError), ("ReduceLROnPlateau", (), {"factor": "a"}, TypeError),
    ("ReduceLROnPlateau", (), {"mode": "a"}, ValueError), ("ReduceLROnPlateau", (), {"threshold_mode": "a"}, ValueError),
    ("ReduceLROnPlateau", (), {"min_lr": [0.1, 0.2]}, ValueError), ("CyclicLR", ([0.1, 0.2], 0.3), {}, ValueError),
    ("CyclicLR", (0.1, [0.2, 0.3]), {}, ValueError), ("CyclicLR", (0.1, 0.3), {"mode": "a"}, ValueError), ("CyclicLR", ("a", 0.3), {}, TypeError),
    ("CosineAnnealingWarmRestarts", (0,), {}, ValueError), ("CosineAnnealingWarmRestarts", (1.5,), {}, ValueError),
    ("CosineAnnealingWarmRestarts", (2,), {"T_mult": 0}, ValueError), ("CosineAnnealingWarmRestarts", (2,), {"T_mult": 1.5}, ValueError),
    ("CosineAnnealingWarmRestarts", (2,), {"eta_min": "a"}, TypeError), ("CosineAnnealingLR", (1.5,), {}, TypeError),
    ("CosineAnnealingLR", (2,), {"eta_min": "a"}, TypeError), ("SequentialLR", ([], []), {}, ValueError), ("SequentialLR", (3, [3]), {}, TypeError),
    ("StepLR", (0,), {}, ValueError), ("CosineAnnealingLR", (0,), {}, ValueError), ("PolynomialLR", (0,), {}, ValueError),
    ("CyclicLR", (0.1, 0.3), {"step_size_up": 0}, ValueError), ("MultiplicativeLR", (3,), {}, TypeError),
]


@pytest.mark.parametrize("name, args, kwargs, error", WRONG, ids=lambda v: v if isinstance(v, str) else None)
def test_what_a_schedule_cannot_take(name, args, kwargs, error):
    with pytest.raises(error) as e:
        getattr(lr_scheduler, name)(one(), *args, **kwargs)
    assert name in str(e.value)


@pytest.mark.parametrize("name", sorted(set(lr_scheduler.__all__) - {"LRScheduler"}))
def test_optimizers_that_a_schedule_cannot_set(name):
    arguments = {"StepLR": (2,), "ExponentialLR": (0.5,), "MultiplicativeLR": (abs,), "MultiStepLR": ([2],), "LambdaLR": (abs,), "SequentialLR": ([], []),
                 "CyclicLR": (0.1, 0.2), "CosineAnnealingWarmRestarts": (2,), "CosineAnnealingLR": (2,)}.get(name, ())
    for optimizer in (3, nn.SGD([Parameter(Tensor([1.0]), name="p")], 0.1)):
        with pytest.raises(TypeError, match="must be an optimizer of experimental.optim, got (int|SGD)"):
            getattr(lr_scheduler, name)(optimizer, *arguments)


def test_sequences_that_do_not_fit():
    opt = one()
    with pytest.raises(ValueError, match="2 schedulers need 1 milestones, got 2"):
        lr_scheduler.SequentialLR(opt, two_of_constant(opt), [3, 4])
    with pytest.raises(ValueError, match="must belong to the given optimizer"):
        lr_scheduler.SequentialLR(opt, two_of_constant(opt, one()), [3])
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        lr_scheduler.CosineAnnealingWarmRestarts(opt, 2).step(-1)
