"""Optimizers: formulas that MindSpore's CPU build lacks, groups, learning rates, parts that subclasses call, state, errors."""
import copy
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn
from sindri.ops import composite as C
from sindri.ops import functional as F
from sindri.ops import operations as P

SHAPES = {"conv.weight": (2, 3), "bn.gamma": (3,), "bn.beta": (3,), "fc.bias": (2,)}


def values(seed):
    r = np.random.default_rng(seed)
    return {n: r.standard_normal(s).astype(np.float32) for n, s in SHAPES.items()}


def params(seed=0):
    return [ms.Parameter(ms.Tensor(v), name=n) for n, v in values(seed).items()]


def grads(seed, scale=1):
    return tuple(ms.Tensor(v * np.float32(scale)) for v in values(seed).values())


def step(opt, seed, scale=1):
    order = dict(zip(SHAPES, grads(seed, scale)))
    return opt(tuple(order[p.name] for p in opt.parameters))


def state(opt):
    own = {p.name for p in opt.parameters}
    return {p.name: p.asnumpy() for p in opt.get_parameters() if p.name not in own}


def run(make, rule, steps=4, decay=0.0, skip=("beta", "gamma")):
    """Compares steps of an optimizer with a rule(p, g, memory, t) in float64."""
    opt = make(params())
    want, memory = {n: v.astype(np.float64) for n, v in values(0).items()}, {n: {} for n in SHAPES}
    for t in range(1, steps + 1):
        step(opt, t)
        for n, g in values(t).items():
            g = g.astype(np.float64)
            g = g if any(s in n for s in skip) else g + decay * want[n]
            want[n] = rule(want[n], g, memory[n], t)
    for p in opt.parameters:
        np.testing.assert_allclose(p.asnumpy(), want[p.name], 1e-5, 1e-6, err_msg=p.name)
    return opt


def test_momentum_nesterov(mode):
    def rule(p, g, m, t):
        m["v"] = 0.9 * m.get("v", 0) + g
        return p - 0.1 * (g + 0.9 * m["v"])
    opt = run(lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1, use_nesterov=True), rule, decay=0.1)
    assert sorted(state(opt)) == sorted(["global_step", "learning_rate", "momentum", *(f"moments.{n}" for n in SHAPES)])


def test_sgd_decays_as_its_era_does(mode, monkeypatch):
    """Without groups, MindSpore 2 excludes names with beta and gamma from decay, MindSpore 1 does not; a group's value applies to all its parameters."""
    run(lambda p: nn.SGD(p, 0.1, weight_decay=0.1), lambda p, g, m, t: p - 0.1 * g, decay=0.1)
    run(lambda p: nn.SGD([{"params": p}], 0.1, weight_decay=0.1), lambda p, g, m, t: p - 0.1 * g, decay=0.1, skip=())
    monkeypatch.setenv("SINDRI_MINDSPORE_ERA", "1")
    run(lambda p: nn.SGD(p, 0.1, weight_decay=0.1), lambda p, g, m, t: p - 0.1 * g, decay=0.1, skip=())


def test_sgd_takes_the_first_gradient_whole(mode):
    def rule(p, g, m, t):
        m["v"] = g if t == 1 else 0.9 * m["v"] + 0.6 * g
        return p - 0.1 * m["v"]
    opt = run(lambda p: nn.SGD(p, 0.1, momentum=0.9, dampening=0.4), rule)
    assert state(opt)["stat.conv.weight"].shape == (2, 3) and not state(opt)["stat.conv.weight"].any()


def test_lamb(mode):
    def rule(p, g, m, t, decay=0.0):
        m["m"], m["v"] = 0.9 * m.get("m", 0) + 0.1 * g, 0.999 * m.get("v", 0) + 0.001 * g * g
        u = m["m"] / (1 - 0.9 ** t) / (np.sqrt(m["v"] / (1 - 0.999 ** t)) + 1e-6)
        return p - 0.05 * np.linalg.norm(p) / np.linalg.norm(u) * u
    opt = run(lambda p: nn.Lamb(p, 0.05), rule)
    assert {"lamb_m.fc.bias", "lamb_v.fc.bias", "global_step"} <= set(state(opt)) and state(opt)["global_step"] == 4


def test_lamb_decays_and_takes_ratio_1_for_a_zero_norm(mode):
    weight, bias = np.array([3.0, 4.0], np.float32), np.zeros(2, np.float32)
    opt = nn.Lamb([ms.Parameter(ms.Tensor(weight), name="w"), ms.Parameter(ms.Tensor(bias), name="b")], 0.1, weight_decay=0.5)
    g = np.array([1.0, -1.0], np.float32)
    opt((ms.Tensor(g), ms.Tensor(g)))
    u = g / (1 + 1e-6)
    uw = u + 0.5 * weight
    np.testing.assert_allclose(opt.parameters[0].asnumpy(), weight - 0.1 * 5 / np.linalg.norm(uw) * uw, 1e-5)
    np.testing.assert_allclose(opt.parameters[1].asnumpy(), -0.1 * u, 1e-5)


def test_lars(mode):
    start, g = values(0), values(1)
    inner = nn.Momentum(params(), 0.1, 0.9, weight_decay=0.01, loss_scale=16.0)
    opt = nn.LARS(inner, epsilon=1e-5, coefficient=0.02, lars_filter=lambda p: "bias" not in p.name)
    opt(tuple(ms.Tensor(v * 16) for v in g.values()))
    for p in opt.parameters:
        w, d = start[p.name].astype(np.float64), g[p.name].astype(np.float64)
        if "bias" not in p.name:
            wd = 0.0 if "beta" in p.name or "gamma" in p.name else 0.01
            ratio = 0.02 * np.linalg.norm(w) / (np.linalg.norm(d) + wd * np.linalg.norm(w) + 1e-5)
            d = ratio * (d + wd * w)
        np.testing.assert_allclose(p.asnumpy(), w - 0.1 * d, 1e-5, 1e-7, err_msg=p.name)
    assert {"fake_lr", "moments.conv.weight", "momentum", "learning_rate"} <= set(state(opt))
    assert opt.parameters is inner.parameters or [p.name for p in opt.parameters] == [p.name for p in inner.parameters]


def test_lars_with_clip_follows_the_rate(mode):
    inner = nn.Momentum([ms.Parameter(ms.Tensor([3.0, 4.0]), name="w")], [0.5, 0.001], 0.0)
    opt = nn.LARS(inner, coefficient=0.1, use_clip=True)
    opt((ms.Tensor([0.6, 0.8]),))  # factor 0.5/(1 + 1e-5): at lr 0.5 about 1, clipped to it
    np.testing.assert_allclose(opt.parameters[0].asnumpy(), [3 - 0.5 * 0.6 / 1.00001, 4 - 0.5 * 0.8 / 1.00001], 1e-6)
    opt((ms.Tensor([0.6, 0.8]),))  # at 0.001 far above 1
    np.testing.assert_allclose(opt.parameters[0].asnumpy(), [2.7 - 0.0006, 3.6 - 0.0008], 1e-5)
    assert inner.global_step.asnumpy() == 2


def test_adagrad_without_slots(mode):
    opt = run(lambda p: nn.Adagrad(p, accum=0.4, learning_rate=0.1, update_slots=False), lambda p, g, m, t: p - 0.1 * g / np.sqrt(0.4))
    assert (state(opt)["accum.fc.bias"] == np.float32(0.4)).all()


def test_centralized_gradients(mode):
    """For decayed gradients, and as in MindSpore only if the second dimension is a multiple of 16."""
    r = np.random.default_rng(5)
    shapes = {"a": (2, 16), "b": (3, 32, 2), "c": (2, 3), "d": (16,), "e": (2, 15)}
    start, g = ({n: r.standard_normal(s).astype(np.float32) for n, s in shapes.items()} for _ in range(2))
    p = [ms.Parameter(ms.Tensor(v), name=n) for n, v in start.items()]
    opt = nn.Momentum([{"params": p, "grad_centralization": True, "weight_decay": 0.1}], 0.1, 0.9, loss_scale=4.0)
    opt(tuple(ms.Tensor(v * 4) for v in g.values()))
    for q in p:
        d = g[q.name] + 0.1 * start[q.name]
        if q.name in ("a", "b"):
            d = d - d.mean(tuple(range(1, d.ndim)), keepdims=True)
        np.testing.assert_allclose(q.asnumpy(), start[q.name] - 0.1 * d, 1e-5, 1e-6)


def test_weight_decay_of_the_step(mode):
    class Decay(nn.Cell):
        def construct(self, step):
            return 0.1 * (step.astype(ms.float32) + 1)

    start = values(0)
    for make, decoupled in ((lambda p: nn.Momentum(p, 0.1, 0.0, weight_decay=Decay(), loss_scale=2.0), False),
                            (lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=Decay()), True)):
        opt = make(params())
        assert opt.dynamic_weight_decay
        want = {n: v.astype(np.float64) for n, v in start.items()}
        memory = {n: [0, 0] for n in want}
        for t in range(2):
            step(opt, t + 1, 1 if decoupled else 2)
            for n, g in values(t + 1).items():
                wd = 0.0 if "gamma" in n or "beta" in n else 0.1 * (t + 1)
                if decoupled:
                    m, v = memory[n] = [0.9 * memory[n][0] + 0.1 * g, 0.999 * memory[n][1] + 0.001 * g * g]
                    want[n] = want[n] - 0.1 * (m / (np.sqrt(v) + 1e-6) + wd * want[n])
                else:
                    want[n] = want[n] - 0.1 * (g + wd * want[n])
        for p in opt.parameters:
            np.testing.assert_allclose(p.asnumpy(), want[p.name], 2e-5, 1e-6, err_msg=p.name)
        assert opt.global_step.asnumpy() == 2


def test_rates_of_groups_and_order():
    p = params()
    opt = nn.Momentum([{"params": [p[3]], "lr": 0.5}, {"params": p[:3], "weight_decay": 0.1}, {"order_params": p}], 0.1, 0.9, weight_decay=0.01)
    assert (opt.is_group, opt.is_group_lr, opt.is_group_params_ordered, opt.dynamic_lr) == (True, True, True, False)
    assert [q.name for q in opt.parameters] == list(SHAPES)
    assert opt.decay_flags == (True, True, True, True) and opt.weight_decay == (0.1, 0.1, 0.1, 0.01)
    assert [float(r) for r in opt.get_lr()] == pytest.approx([0.1, 0.1, 0.1, 0.5])
    assert opt.get_lr_parameter(p[3]).name == "learning_rate_group_0"
    assert [r.name for r in opt.get_lr_parameter([p[0], p[3]])] == ["learning_rate", "learning_rate_group_0"]
    assert opt.get_lr_parameter(p[0]) is opt.get_lr_parameter(p[1])
    with pytest.raises(ValueError, match="other"):
        opt.get_lr_parameter(ms.Parameter(ms.Tensor([1.0]), name="other"))
    plain = nn.Momentum(params(), 0.1, 0.9, weight_decay=0.01, loss_scale=4.0)
    assert plain.decay_flags == (True, False, False, True) and plain.weight_decay == 0.04 and plain.exec_weight_decay and plain.need_scale
    assert float(plain.reciprocal_scale) == 0.25 and plain.param_length == 4 and plain.loss_scale == 4.0


def test_get_lr_only_reads():
    """A callback may read the rate any number of times; global_step counts updates, with fixed rates too."""
    table = nn.Momentum(params(), [0.1, 0.2, 0.3], 0.9)
    fixed, lamb = nn.Adam(params(), 0.1), nn.Lamb(params(), nn.WarmUpLR(0.1, 2))
    lars = nn.LARS(nn.Momentum(params(), [0.1, 0.2, 0.3], 0.9))
    seen = []
    for i in range(3):
        seen.append([float(table.get_lr()) for _ in range(3)])
        for opt in (table, fixed, lamb, lars):
            step(opt, i)
            assert opt.global_step.asnumpy() == i + 1, type(opt).__name__
    np.testing.assert_allclose(seen, [[0.1] * 3, [0.2] * 3, [0.3] * 3])


class OldStyle(nn.Optimizer):
    """In the style of MindSpore 1: get_lr is called once per update, and nothing else advances the schedule."""

    def construct(self, gradients):
        lr = self.get_lr()
        for p, g in zip(self.parameters, gradients):
            p.assign(p - lr * g)
        return True


class Advancing(OldStyle):
    """In the style of MindSpore 2: it advances the schedule itself."""

    def construct(self, gradients):
        super().construct(gradients)
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        return True


@pytest.mark.parametrize("era", ["1", "2"])
def test_optimizers_of_users_follow_their_schedule_in_both_eras(era, mode, monkeypatch):
    monkeypatch.setenv("SINDRI_MINDSPORE_ERA", era)
    for cls in (OldStyle, Advancing):
        p = ms.Parameter(ms.Tensor([0.0], ms.float32), name="w")
        opt, before, moved = cls([0.1, 0.2, 0.4], [p]), 0.0, []
        for _ in range(3):
            opt((ms.Tensor([-1.0], ms.float32),))
            moved.append(float(p) - before)
            before = float(p)
        np.testing.assert_allclose(moved, [0.1, 0.2, 0.4], 1e-5, err_msg=cls.__name__)
        assert opt.global_step.asnumpy() == 3


def test_get_lr_of_era_1_advances_only_rates_that_change(monkeypatch):
    monkeypatch.setenv("SINDRI_MINDSPORE_ERA", "1")
    fixed = nn.Momentum(params(), 0.1, 0.9)
    assert float(fixed.get_lr()) == pytest.approx(0.1) and fixed.global_step.asnumpy() == 0 and fixed.learning_rate.name == "learning_rate"
    table = nn.Momentum(params(), (x for x in [0.1, 0.2]), 0.9)
    assert [float(table.get_lr()) for _ in range(4)] == pytest.approx([0.1, 0.2, 0.2, 0.2])  # the last one is kept
    assert table.global_step.asnumpy() == 4 and table.get_lr_parameter(table.parameters[0]).shape == (2,)
    schedule = nn.Momentum(params(), nn.WarmUpLR(0.1, 2), 0.9)
    assert [float(schedule.get_lr()) for _ in range(3)] == pytest.approx([0, 0.05, 0.1])
    mixed = nn.Momentum([{"params": params()[:1], "lr": nn.WarmUpLR(0.1, 2)}, {"params": params()[1:]}], 0.3, 0.9)
    assert [float(r) for r in mixed.get_lr()] == pytest.approx([0, 0.3, 0.3, 0.3])
    assert [float(r) for r in mixed.get_lr()] == pytest.approx([0.05, 0.3, 0.3, 0.3])


def test_the_rate_can_be_set_between_steps(mode):
    opt = nn.Momentum(params(), 0.1, 0.0)
    step(opt, 1)
    opt.learning_rate.set_data(ms.Tensor(0.0, ms.float32))
    before = [p.asnumpy().copy() for p in opt.parameters]
    step(opt, 2)
    for p, old in zip(opt.parameters, before):
        np.testing.assert_array_equal(p.asnumpy(), old)


class Own(nn.Optimizer):
    """In the style of scripts for MindSpore 1."""

    def __init__(self, params, learning_rate, **kwargs):
        super().__init__(learning_rate, params, **kwargs)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")

    def construct(self, gradients):
        gradients = self.decay_weight(gradients)
        gradients = self.gradients_centralization(gradients)
        gradients = self.scale_grad(gradients)
        lr = self.get_lr()
        for p, m, g in zip(self.parameters, self.moments, gradients):
            m.assign(m * 0.9 + g)
            p.assign(p - m * lr)
        return True


class NoDecayHalfRate(nn.Adam):
    """A built-in optimizer with two parts replaced by the user."""

    def decay_weight(self, gradients):
        return gradients

    def get_lr(self):
        return super().get_lr() * 0.5


class ClippedMomentum(nn.Momentum):
    def scale_grad(self, gradients):
        return tuple(g.clip(-0.5, 0.5) for g in super().scale_grad(gradients))


class DoubledDecay(nn.AdamWeightDecay):
    def get_weight_decay(self):
        return 2 * super().get_weight_decay()


def test_parts_that_a_subclass_overrides(mode):
    """The rest behaves as in the whole optimizer."""
    def pair(theirs, ours, scale=1, clip=None):
        for t in range(3):
            step(theirs, t, scale)
            order = dict(zip(SHAPES, values(t).values()))
            ours(tuple(ms.Tensor(order[p.name] if clip is None else np.clip(order[p.name], -clip, clip)) for p in ours.parameters))
        for a, b in zip(theirs.get_parameters(), ours.get_parameters()):
            if a.name != "learning_rate":
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-6, 1e-7, err_msg=a.name)
    pair(NoDecayHalfRate(params(), 0.25, weight_decay=0.1), nn.Adam(params(), 0.125))
    pair(NoDecayHalfRate(params(), [0.25, 0.5, 0.125], weight_decay=0.1), nn.Adam(params(), [0.125, 0.25, 0.0625]))
    pair(ClippedMomentum(params(), 0.1, 0.9, loss_scale=8.0), nn.Momentum(params(), 0.1, 0.9), 8, 0.5)
    pair(DoubledDecay(params(), 0.1, weight_decay=0.125), nn.AdamWeightDecay(params(), 0.1, weight_decay=0.25))


def test_what_a_script_gives_anew_counts(mode):
    """Rates, decays and flags are attributes; the rule's numbers are not."""
    changed, made = nn.Momentum(params(), 0.1, 0.9, weight_decay=0.1), nn.Momentum(params(), 0.5, 0.9, weight_decay=0.25)
    changed.learning_rate = ms.Parameter(ms.Tensor(0.5, ms.float32), name="another")
    changed.weight_decay = 0.25
    for t in range(3):
        step(changed, t), step(made, t)
    for a, b in zip(changed.parameters, made.parameters):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-6, 1e-7)
    with pytest.raises(AttributeError, match="beta1 is fixed"):
        nn.Adam(params()).beta1 = 0.5


def test_numbers_that_the_rule_has_taken():
    for make, names in ((nn.Adam, ("beta1", "eps", "use_nesterov")), (nn.AdamWeightDecay, ("beta1", "eps")), (nn.RMSProp, ("decay", "momentum", "epsilon")),
                        (nn.FTRL, ("lr", "l1", "lr_power")), (nn.Rprop, ("etaplus", "step_size_min")), (nn.Adagrad, ("update_slots",))):
        opt = make(params())
        for name in names:
            with pytest.raises(AttributeError, match=f"{name} is fixed"):
                setattr(opt, name, 0.25)


def test_attributes_of_a_subclass_are_its_own():
    class Named(nn.Adam):
        def __init__(self, given):
            super().__init__(given, 0.1)
            self.decay, self.rho = 0.5, "mine"

    opt = Named(params())
    opt.decay, opt.momentum = 0.25, [1]
    assert (opt.decay, opt.rho, opt.momentum) == (0.25, "mine", [1])
    with pytest.raises(AttributeError, match="beta2 is fixed"):
        opt.beta2 = 0.5


class Decay(nn.Cell):
    """A decay that refers to the network, which refers to the optimizer."""

    def __init__(self, owner):
        super().__init__()
        self.__dict__["owner"] = owner

    def construct(self, step):
        return ms.Tensor(0.01, ms.float32)


def test_an_optimizer_goes_with_what_its_decay_knows():
    class Owner:
        pass

    owner = Owner()
    owner.opt = nn.Adam(params(), 0.1, weight_decay=Decay(owner))
    step(owner.opt, 0)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


class OwnOfLaterVersions(Own):
    """In the style of scripts for MindSpore 2, which advance global_step themselves."""

    def construct(self, gradients):
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        for p, g in zip(self.parameters, self.scale_grad(gradients)):
            p.assign(p - g * lr)
        return True


def test_an_optimizer_of_ones_own(mode):
    ours, theirs = Own(params(), 0.1, weight_decay=0.01, loss_scale=8.0), nn.Momentum(params(), 0.1, 0.9, weight_decay=0.01, loss_scale=8.0)
    for t in range(3):
        step(ours, t, 8), step(theirs, t, 8)
    for a, b in zip(ours.parameters, theirs.parameters):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-5, 1e-6)
    assert "moments.conv.weight" in state(ours)


def test_global_step_advances_once_whoever_does_it(mode):
    own = OwnOfLaterVersions(params(), [0.1, 0.2, 0.3])
    fixed = OwnOfLaterVersions(params(), 0.1)
    for t in range(3):
        step(own, t), step(fixed, t)
    assert own.global_step.asnumpy() == 3 and fixed.global_step.asnumpy() == 3
    assert float(own.get_lr()) == pytest.approx(0.3)


def test_eager_and_graph_give_the_same_bits():
    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        out = []
        for make in (lambda p: nn.Momentum(p, [0.1, 0.2, 0.3], 0.9, 0.01), lambda p: nn.Adam(p, 0.01, weight_decay=0.1),
                     lambda p: nn.SGD(p, 0.1, 0.9), lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1), lambda p: nn.Lamb(p, 0.1),
                     lambda p: nn.RMSProp(p, 0.1)):
            opt = make(params())
            for t in range(3):
                step(opt, t)
            out += [p.asnumpy() for p in opt.get_parameters()]
        results.append(out)
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_float64_training_is_float64_throughout():
    p = [ms.Parameter(ms.Tensor(np.array([1.0, 2.0])), name="w")]
    opt = nn.Adam(p, 0.01)
    assert opt.learning_rate.dtype == ms.float64 and opt.moment1[0].dtype == ms.float64 and opt.beta1_power.dtype == ms.float64
    opt((ms.Tensor(np.array([0.5, -0.5])),))
    np.testing.assert_allclose(p[0].asnumpy(), [1 - 0.01 / (1 + 2e-8 * 10 ** 1.5 / 10 ** 1.5), 2 + 0.01], rtol=1e-7)


def test_skipped_updates_leave_everything(mode):
    """A training cell with a loss scale requests this when gradients overflow."""
    class Guarded(nn.Cell):
        def __init__(self, opt):
            super().__init__(auto_prefix=False)
            self.opt = opt

        def construct(self, skip, g):
            self.opt._apply_unless(skip, g)
            return skip

    bad = tuple(ms.Tensor(np.full(s, np.inf, np.float32)) for s in SHAPES.values())
    for make in (lambda p: nn.Momentum(p, [0.1, 0.2, 0.3], 0.9, 0.01), lambda p: nn.Adam(p, 0.01), lambda p: nn.Adam(p, 0.01, use_amsgrad=True),
                 lambda p: nn.SGD(p, 0.1, 0.9), lambda p: nn.AdamWeightDecay(p, 0.01), lambda p: nn.Lamb(p, 0.1), lambda p: nn.FTRL(p),
                 lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9)), lambda p: ClippedMomentum(p, 0.1, 0.9), lambda p: Own(p, [0.1, 0.2, 0.3])):
        skipping, plain = make(params()), make(params())
        cell = Guarded(skipping)
        for t, skip in enumerate((False, True, False)):
            cell(ms.Tensor(skip), bad if skip else grads(t))
            if not skip:
                plain(grads(t))
        for a, b in zip(skipping.get_parameters(), plain.get_parameters()):
            np.testing.assert_array_equal(a.asnumpy(), b.asnumpy(), err_msg=f"{type(plain).__name__} {a.name}")


def test_kept_arguments():
    p = params()
    opt = nn.Momentum(p, ms.Tensor([0.1, 0.2]), 0.9, weight_decay=0.1)
    assert opt.init_params == {"params": p} and opt.init_learning_rate == pytest.approx([0.1, 0.2])
    assert opt.init_args == {"momentum": 0.9, "weight_decay": 0.1, "loss_scale": 1.0, "use_nesterov": False}


W = lambda: params()  # noqa: E731
WRONG = [
    (ValueError, "learning rate", lambda: nn.Momentum(W(), -0.1, 0.9)),
    (ValueError, "step 1", lambda: nn.Momentum(W(), [0.1, -0.1], 0.9)),
    (TypeError, "learning rate", lambda: nn.Momentum(W(), "0.1", 0.9)),
    (ValueError, "dimensions", lambda: nn.Momentum(W(), ms.Tensor([[0.1]]), 0.9)),
    (ValueError, "momentum", lambda: nn.Momentum(W(), 0.1, -0.9)),
    (TypeError, "use_nesterov", lambda: nn.Momentum(W(), 0.1, 0.9, use_nesterov=1)),
    (ValueError, "weight_decay", lambda: nn.Momentum(W(), 0.1, 0.9, weight_decay=-0.1)),
    (TypeError, "weight_decay", lambda: nn.Momentum(W(), 0.1, 0.9, weight_decay="a")),
    (ValueError, "loss_scale", lambda: nn.Momentum(W(), 0.1, 0.9, loss_scale=0.0)),
    (ValueError, "empty", lambda: nn.Momentum([], 0.1, 0.9)),
    (ValueError, "None", lambda: nn.Momentum(None, 0.1, 0.9)),
    (TypeError, "list", lambda: nn.Momentum(1, 0.1, 0.9)),
    (TypeError, "Parameters", lambda: nn.Momentum([ms.Tensor([1.0])], 0.1, 0.9)),
    (ValueError, "twice", lambda: nn.Momentum([*W(), W()[0]], 0.1, 0.9)),
    (KeyError, "learning", lambda: nn.Momentum([{"params": W(), "learning": 1}], 0.1, 0.9)),
    (KeyError, "params", lambda: nn.Momentum([{"lr": 0.1}], 0.1, 0.9)),
    (ValueError, "two groups", lambda: nn.Momentum([{"params": W()}, {"params": W()[:1]}], 0.1, 0.9)),
    (ValueError, "order_params", lambda: nn.Momentum([{"params": W()}, {"order_params": W()}], 0.1, 0.9)),
    (ValueError, "other keys", lambda: nn.Momentum([{"params": W()}, {"order_params": W(), "lr": 1}], 0.1, 0.9)),
    (TypeError, "grad_centralization", lambda: nn.Momentum([{"params": W(), "grad_centralization": 1}], 0.1, 0.9)),
    (ValueError, "equal lengths", lambda: nn.Momentum([{"params": W(), "lr": [0.1, 0.2]}], [0.1, 0.2, 0.3], 0.9)),
    (ValueError, "nesterov", lambda: nn.SGD(W(), 0.1, nesterov=True)),
    (ValueError, "nesterov", lambda: nn.SGD(W(), 0.1, momentum=0.9, dampening=0.1, nesterov=True)),
    (TypeError, "weight_decay", lambda: nn.SGD(W(), 0.1, weight_decay=nn.WarmUpLR(0.1, 2))),
    (ValueError, "beta1", lambda: nn.Adam(W(), beta1=1.0)),
    (ValueError, "eps", lambda: nn.AdamWeightDecay(W(), eps=0.0)),
    (TypeError, "beta2", lambda: nn.Lamb(W(), 0.1, beta2=1)),
    (TypeError, "use_fast", lambda: nn.Adam(W(), use_fast=True)),
    (TypeError, "optimizer", lambda: nn.LARS(W())),
    (ValueError, "accum", lambda: nn.Adagrad(W(), accum=-1.0)),
    (ValueError, "epsilon", lambda: nn.RMSProp(W(), epsilon=0.0)),
    (ValueError, "gradients", lambda: nn.Momentum(W(), 0.1, 0.9)(grads(0)[:2])),
    (ValueError, "shape", lambda: nn.Momentum(W(), 0.1, 0.9)((ms.Tensor([1.0]),) * 4)),
    (NotImplementedError, "construct", lambda: nn.Optimizer(0.1, W())(grads(0))),
    (TypeError, "net must be a Cell", lambda: nn.thor(None, 0.1, 0.1, 0.9)),
]


@pytest.mark.parametrize("at", range(len(WRONG)))
def test_wrong_arguments(at):
    kind, text, make = WRONG[at]
    with pytest.raises(kind, match=text):
        make()


def test_the_parallel_optimizer_is_refused_where_upstream_refuses_it():
    ms.set_auto_parallel_context(parallel_mode="data_parallel", enable_parallel_optimizer=True)
    with pytest.raises(RuntimeError, match="Lamb and AdamWeightDecay"):
        nn.Momentum(params(), 0.1, 0.9)
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    with pytest.raises(RuntimeError, match="stand_alone"):
        nn.Lamb(params(), 0.1)


# An optimizer in the style of the BERT scripts: the rule is an overloaded function, mapped over parameters with the shared arguments bound.


def bert_rule(decay_type):
    opt = C.MultitypeFuncGraph("adam_opt")

    @opt.register("Tensor", "Tensor", "Tensor", "Tensor", decay_type, "Tensor", "Tensor", "Tensor", "Tensor", "Bool", "Bool")
    def update(beta1, beta2, eps, lr, weight_decay, param, m, v, gradient, decay_flag, optim_filter):
        if not optim_filter:
            return gradient
        next_m = P.Mul()(beta1, P.Cast()(m, ms.float32)) + P.Mul()(P.Cast()(F.tuple_to_array((1.0,)), ms.float32) - beta1, gradient)
        next_v = P.Mul()(beta2, v) + P.Mul()(P.Cast()(F.tuple_to_array((1.0,)), ms.float32) - beta2, P.Square()(gradient))
        step = next_m / (eps + P.Sqrt()(next_v))
        if decay_flag:
            step = P.Mul()(weight_decay, param) + step
        next_param = param - P.Reshape()(P.Mul()(lr, step), F.shape(param))
        next_param = F.depend(next_param, F.assign(param, next_param))
        next_param = F.depend(next_param, F.assign(m, next_m))
        return F.depend(next_param, F.assign(v, next_v))

    return opt


class BertAdam(nn.Optimizer):
    def __init__(self, params, learning_rate, weight_decay, decay_type):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1, self.beta2 = ms.Tensor(np.array([0.9]).astype(np.float32)), ms.Tensor(np.array([0.999]).astype(np.float32))
        self.eps = ms.Tensor(np.array([1e-6]).astype(np.float32))
        self.moments1, self.moments2 = self.parameters.clone(prefix="adam_m", init="zeros"), self.parameters.clone(prefix="adam_v", init="zeros")
        self.hyper_map, self.rule = C.HyperMap(), bert_rule(decay_type)

    def construct(self, gradients):
        lr = self.get_lr()
        shared = (self.beta1, self.beta2, self.eps)
        each = (self.parameters, self.moments1, self.moments2, gradients, self.decay_flags, self.optim_filter)
        if self.is_group and self.is_group_lr:
            return self.hyper_map(F.partial(self.rule, *shared), lr, self.weight_decay, *each)
        if self.is_group:
            return self.hyper_map(F.partial(self.rule, *shared, lr), self.weight_decay, *each)
        return self.hyper_map(F.partial(self.rule, *shared, lr, self.weight_decay), *each)


@pytest.mark.parametrize("decay_type", ["Number", "Tensor"])
@pytest.mark.parametrize("grouped", [False, True])
def test_an_optimizer_in_berts_manner(mode, decay_type, grouped):
    def given(p):
        if not grouped:
            return p
        return [{"params": [p[0], p[3]], "weight_decay": 0.1}, {"params": p[1:3], "weight_decay": 0.0, "lr": 0.02}, {"order_params": p}]

    schedule = nn.PolynomialDecayLR(0.1, 0.01, 3, 1.0)
    ours = BertAdam(given(params()), schedule, 0.01, decay_type)
    theirs = nn.AdamWeightDecay(given(params()), schedule, weight_decay=0.01)
    for t in range(3):
        step(ours, t), step(theirs, t)
    for a, b in zip(ours.get_parameters(), theirs.get_parameters()):
        assert a.name == b.name
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-4, 1e-5, err_msg=a.name)  # 1 - beta2 is a float32 there


def test_lamb_counts_its_steps_in_both_eras(mode, monkeypatch):
    """Its bias corrections come from global_step, also with a fixed rate, with parts that a script replaced, and inside LARS."""

    def weights(era, make):
        monkeypatch.setenv("SINDRI_MINDSPORE_ERA", era)
        opt = make(nn.Lamb(params(), learning_rate=0.1))
        for t in range(3):
            step(opt, t)
        assert opt.global_step.asnumpy() == 3
        return {p.name: p.asnumpy() for p in opt.parameters}

    def staged(opt):
        opt.decay_flags = opt.decay_flags
        return opt

    for make in (lambda opt: opt, staged, nn.LARS):
        first, second = weights("1", make), weights("2", make)
        for name in SHAPES:
            np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
@pytest.mark.parametrize("kind", ["momentum", "iterator", "groups", "thor"])
def test_copies_train_their_own_network(kind, how):
    net = nn.Dense(3, 2)
    table = Tensor(np.full(9, 0.1, np.float32))
    made = {"momentum": lambda: nn.Momentum(net.trainable_params(), 0.1, 0.9),
            "iterator": lambda: nn.Adam(filter(lambda p: True, net.trainable_params()), nn.ExponentialDecayLR(0.1, 0.9, 4)),
            "groups": lambda: nn.SGD([{"params": [net.weight], "lr": 0.2}, {"params": [net.bias]}], 0.1),
            "thor": lambda: nn.thor(net, table, table, 0.9)}[kind]()
    gradients = tuple(Tensor(np.ones(p.shape, np.float32)) for p in made.parameters)
    steps = 0 if kind == "thor" else 3  # it needs the uses of its parameters, which only a training step records
    for _ in range(steps):
        made(gradients)

    def copied():
        return copy.deepcopy((net, made)) if how == "deepcopy" else pickle.loads(pickle.dumps((net, made)))

    other_net, other = copied()
    assert other.parameters[0] is other_net.trainable_params()[0] is not made.parameters[0]
    assert [n for n, _ in other.parameters_and_names()] == [n for n, _ in made.parameters_and_names()]
    for (_, a), (_, b) in zip(made.parameters_and_names(), other.parameters_and_names()):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    if steps:
        before = net.weight.asnumpy()
        other(gradients)
        np.testing.assert_array_equal(net.weight.asnumpy(), before)
        made(gradients)  # the same step from the same state
        np.testing.assert_array_equal(net.weight.asnumpy(), other_net.weight.asnumpy())
    assert copy.copy(made).parameters[0] is made.parameters[0]


def _optimizers():
    """Yields every optimizer of the package, created from parameters."""
    net = nn.Dense(3, 2)
    out = {name: (lambda cls=getattr(nn, name): cls(net, 0.1, 0.1, 0.9) if issubclass(cls, nn.THOR) else cls(params())) for name in nn.optim.__all__
           if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Optimizer) and name not in ("Optimizer", "LARS", "Momentum")}
    out["Lamb"] = lambda: nn.Lamb(params(), 0.1)
    out["Momentum"] = lambda: nn.Momentum(params(), 0.1, 0.9)
    out["LARS"] = lambda: nn.LARS(nn.Momentum(params(), 0.1, 0.9))
    return out


@pytest.mark.parametrize("name", sorted(_optimizers()))
def test_each_argument_given_later_counts_or_is_refused(name):
    """For every optimizer, each argument of its constructor."""
    make = _optimizers()[name]
    arguments = [a for a in inspect.signature(type(make()).__init__).parameters if a not in ("self", "params", "net", "optimizer", "parameters")]
    assert arguments
    for argument in arguments:
        opt = make()
        if argument == "learning_rate" and not opt.is_group_lr or argument == "weight_decay" and not opt.is_group:
            setattr(opt, argument, 0.25)
            rate = opt.get_lr() if argument == "learning_rate" else opt.get_weight_decay()
            assert float(rate) == 0.25 and (argument == "learning_rate" or opt.exec_weight_decay)
            continue
        with pytest.raises(AttributeError, match="fixed when the optimizer is made"):
            setattr(opt, argument, 0.123)


def test_a_weight_decay_given_later(mode):
    """For an optimizer created without one, and with a loss scale."""
    later, made = nn.Momentum(params(), 0.1, 0.9, loss_scale=4.0), nn.Momentum(params(), 0.1, 0.9, weight_decay=0.25, loss_scale=4.0)
    later.weight_decay = 0.25
    for t in range(3):
        step(later, t), step(made, t)
    for a, b in zip(later.parameters, made.parameters):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), 1e-6, 1e-7)


@pytest.mark.parametrize("make", [
    lambda p: nn.Adagrad(p, accum=0.0, learning_rate=0.1), lambda p: nn.ProximalAdagrad(p, accum=0.0, learning_rate=0.1),
    lambda p: nn.ProximalAdagrad(p, accum=0.0, learning_rate=0.1, l2=0.1), lambda p: nn.Adadelta(p, epsilon=0.0),
    lambda p: nn.FTRL(p, initial_accum=0.0, learning_rate=0.1), lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9), epsilon=0.0), lambda p: nn.Rprop(p, 0.1),
])
def test_a_weight_without_gradient_is_not_lost(make, mode):
    """If nothing has changed, denominators without an epsilon are 0 as well: no NaN."""
    w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    opt = make([w])
    for _ in range(3):
        opt((ms.Tensor([0.0, 1.0]),))
    assert np.isfinite(w.asnumpy()).all()
    if not isinstance(opt, nn.FTRL):  # FTRL sets a weight without gradient to 0
        assert w.asnumpy()[0] == 1


def test_adagrad_from_an_empty_sum(mode):
    w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    nn.Adagrad([w], accum=0.0, learning_rate=0.1)((ms.Tensor([0.0, 1.0]),))
    np.testing.assert_allclose(w.asnumpy(), [1, 1.9], rtol=1e-6)
    v, accum = ms.Parameter(ms.Tensor([1.0, 2.0]), name="v"), ms.Parameter(ms.Tensor([0.0, 0.0]), name="a")
    P.ApplyAdagrad()(v, accum, 0.1, ms.Tensor([0.0, 1.0]))
    np.testing.assert_allclose(v.asnumpy(), [1, 1.9], rtol=1e-6)
