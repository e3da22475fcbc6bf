"""Schedules, lists of rates and loss scales compared with MindSpore's results: the file that tests/optim/schedule_expectations_test.cc reads."""
import os
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import _core, amp, nn

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
import schedule_cases as cases  # noqa: E402

EXPECTED = cases.read(os.path.join(HERE, "..", "optim", "expectations", "schedules.txt"))
OF_KIND = {kind: [c for c in EXPECTED if c["kind"] == kind] for kind in ("schedule", "list", "loss_scale")}


def pairs(kind, given):
    assert len(OF_KIND[kind]) == len(given)
    return [pytest.param(want, *case, id=f"{case[0]}-{i}") for i, (want, case) in enumerate(zip(OF_KIND[kind], given))]


@pytest.mark.parametrize("want,name,args", pairs("schedule", cases.SCHEDULES))
def test_schedule(want, name, args, mode):
    schedule = getattr(nn, name)(*args)
    got = np.array([float(schedule(ms.Tensor(i, ms.int32))) for i in range(cases.STEPS)], np.float32)
    values = np.array(want["values"], np.float32)
    assert np.all(np.abs(got - values) <= 4 * np.spacing(values.max())), (got, values)


@pytest.mark.parametrize("want,name,args", pairs("schedule", cases.SCHEDULES))
def test_schedule_has_the_bits_of_the_library(want, name, args, mode):
    schedule = getattr(nn, name)(*args)
    rule, settings = cases.named(cases.CLASSES[name], args)
    library = _core.Schedule(rule, **settings)
    for i in range(cases.STEPS):
        step = ms.Tensor(i, ms.int32)
        assert float(schedule(step)) == float(library(step)), i


@pytest.mark.parametrize("want,name,args", pairs("list", cases.LISTS))
def test_list(want, name, args):
    got = getattr(nn, name)(*args)
    assert all(isinstance(rate, float) for rate in got)
    np.testing.assert_allclose(got, want["values"], 4e-15, 1e-16)


def test_what_a_schedule_reads_may_change():
    schedule = nn.WarmUpLR(0.1, 4)
    schedule.learning_rate, schedule.warmup_steps = 0.8, 8
    assert float(schedule(ms.Tensor(2, ms.int32))) == pytest.approx(0.2)


def adapt(who, scale, factor, window, overflows):
    """Returns the scale and the counters after each step."""
    rows = []
    if who == "cell":
        cell, held = nn.DynamicLossScaleUpdateCell(scale, factor, window), ms.Parameter(ms.Tensor(scale, ms.float32), name="scale")
        for overflow in overflows:
            assert bool(cell(held, ms.Tensor(overflow))) == overflow
            rows.append((float(held), int(cell.cur_iter), int(cell.last_overflow_iter)))
        assert [p.name for p in cell.get_parameters()] == ["current_iterator_step", "last_overflow_iterator_step"]
    elif who == "manager":
        manager = ms.DynamicLossScaleManager(scale, factor, window)
        for overflow in overflows:
            manager.update_loss_scale(overflow)
            rows.append((manager.get_loss_scale(), manager.cur_iter, manager.last_overflow_iter, manager.bad_step))
    else:
        scaler = amp.DynamicLossScaler(scale, factor, window)
        for overflow in overflows:
            assert scaler.adjust(ms.Tensor(not overflow))
            rows.append((float(scaler.scale_value), int(scaler.counter)))
    return np.array(rows).T


COUNTED = {"cell": ("scale", "current", "last"), "manager": ("scale", "current", "last", "overflows"), "scaler": ("scale", "counter")}


@pytest.mark.parametrize("want,who,scale,factor,window,flags", pairs("loss_scale", cases.SCALES))
def test_loss_scale(want, who, scale, factor, window, flags, mode):
    got = adapt(who, scale, factor, window, [flag == "1" for flag in flags])
    for name, values in zip(COUNTED[who], got):
        np.testing.assert_allclose(values, want[name], 1e-6 if name == "scale" else 0, err_msg=name)
