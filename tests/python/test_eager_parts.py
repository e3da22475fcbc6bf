"""Code in GRAPH_MODE that reads values: its Cell and the callers run eagerly, the parts that they call are compiled separately, and results are bitwise
identical to
PYNATIVE_MODE."""
import collections
import dataclasses
import gc
import warnings
import weakref

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, ParameterTuple, Tensor, nn, ops
from sindri import _compile
from sindri.ops import composite as C
from test_graph_memory import resident_mb
from test_tensor_conditions import STEPS, Net, batches, bits, momentum, with_loss


@pytest.fixture(autouse=True)
def _own_warnings():
    """Fails on warnings that a test does not expect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*runs eagerly")
        yield


def parts(of):
    """Returns the parts of eager calls that were compiled for a Cell or function."""
    graphs = of.__dict__.get("_cell_graphs") or of.__dict__.get("_graphs")
    return [e for found in (graphs.entries if graphs else {}).values() for e in found if e.apart and not e.eager]


@pytest.fixture
def made(monkeypatch):
    """Returns how many signatures of each function, by name, were compiled as parts of eager calls and are reused by later ones."""
    entries, new = [], _compile.Graphs._new

    def recorded(self, *args, apart=False, **kwargs):
        entry = new(self, *args, apart=apart, **kwargs)
        if apart:
            entries.append((self, entry))
        return entry

    monkeypatch.setattr(_compile.Graphs, "_new", recorded)
    def kept():
        return collections.Counter(e.name for graphs, e in entries if not e.eager and any(e in found for found in graphs.entries.values()))

    return kept


def both(make, calls, also=lambda cell: ()):
    """Calls a newly created Cell in each mode: results, Parameters and the values of `also` must be equal. Returns the Cell of GRAPH_MODE and its warnings."""
    runs = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(5)
        cell = make()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            runs.append(([bits(cell(*call)) for call in calls], [(p.name, bits(p.value())) for p in cell.get_parameters()], also(cell),
                         ms.get_rng_state().asnumpy().tolist()))
    for i, (a, b) in enumerate(zip(runs[0][0], runs[1][0])):
        assert a == b, f"call {i}"
    assert runs[0][1:] == runs[1][1:]
    return cell, [str(w.message) for w in caught]


class Step(nn.Cell):
    """A training step over a network that returns its loss; random numbers before, in and after its parts."""

    def __init__(self, network=None, look=True):
        super().__init__()
        self.network = network or with_loss()
        self.optimizer = momentum(self.network)
        self.value_and_grad = ms.value_and_grad(self.network, None, self.optimizer.parameters)
        self.drop, self.look = nn.Dropout(p=0.2).set_train(), look

    def construct(self, x, label):
        x = self.drop(x)
        loss, grads = self.value_and_grad(x, label)
        if self.look and float(loss) > 1.2:
            grads = tuple(g * 0.5 for g in grads)
        self.optimizer(grads)
        return loss, self.drop(x)


def test_a_value_in_the_step_itself(made):
    step, said = both(Step, batches())
    assert made() == {"value_and_grad": 1, "Momentum": 1}
    assert "momentum" in _compile.graph_text(step.optimizer) and not _compile.graph_text(step)
    assert len(said) == 1 and said[0].startswith("Step cannot be compiled and runs eagerly; functions it calls are compiled separately: ")
    assert "test_eager_parts.py:" in said[0]


def test_a_value_deep_inside(made):
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net().set_train()

        def construct(self, x):
            y = self.net(x)
            return y * 2 if x.sum().item() > 0 else y

    class Middle(nn.Cell):
        def __init__(self):
            super().__init__()
            self.before, self.looks, self.after = Net().set_train(), Looks(), nn.Dense(2, 4)

        def construct(self, x):
            return ops.relu(self.after(self.looks(x) + self.before(x)))

    class Whole(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.middle, self.last = Net().set_train(), Middle(), nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.BatchNorm1d(8), nn.Dense(8, 2))
            self.last.set_train()

        def construct(self, x, _):
            return self.first(x) + self.last(self.middle(x))

    cell, said = both(Whole, batches())
    for part in (cell.first, cell.last, cell.middle.before, cell.middle.looks.net):
        assert [e.traces for e in parts(part)] == [1] and "batch_norm" in _compile.graph_text(part)
    assert not parts(cell.middle) and not parts(cell.middle.looks)
    assert made() == {"Net": 3, "SequentialCell": 1} or made() == {"Net": 1, "SequentialCell": 1}
    assert len(said) == 1 and said[0].startswith("Looks cannot be compiled and runs eagerly, and so do its callers up to Whole; other functions they call are compiled separately")


def test_a_value_inside_what_is_differentiated(made):
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net, self.loss = Net().set_train(), nn.MSELoss()

        def construct(self, x, label):
            y = self.net(x)
            return self.loss(y, label) * (2 if y.max().item() > 1 else 1)

    step, said = both(lambda: Step(Looks(), look=False), batches())
    assert made() == {"Momentum": 1}
    assert len(said) == 1 and "Looks cannot be compiled and runs eagerly, with all of what is differentiated, and so do its callers up to Step" in said[0]


def test_a_value_behind_a_condition(made):
    class Late(Step):
        def construct(self, x, label):
            loss, grads = self.value_and_grad(self.drop(x), label)
            if loss > self.above:
                grads = tuple(g * min(1.0, float(loss)) for g in grads)
            self.optimizer(grads)
            return loss, self.drop(x)

    def make(above):
        step = Late()
        step.above = above
        return step

    often, said = both(lambda: make(0.5), batches())
    assert made() == {"value_and_grad": 1, "Momentum": 1}
    assert len(said) == 1 and "Late cannot be compiled and continues eagerly from there" in said[0] and "test_eager_parts.py:" in said[0]
    seldom, said = both(lambda: make(1.8), batches())
    entry, = [e for found in seldom._cell_graphs.entries.values() for e in found]
    assert not entry.eager and 0 < entry.looks < 4 and len(said) == 1


def test_the_training_cell_that_mindspore_publishes(made):
    """The forward run is recorded, and its gradient reuses it; batch statistics are updated once."""
    class Own(nn.TrainOneStepCell):
        def construct(self, x, label):
            loss = self.network(x, label)
            sens = ops.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad(self.network, self.weights)(x, label, sens)
            if float(loss) < 100:
                self.optimizer(grads)
            return loss

    def make():
        net = with_loss()
        return Own(net, momentum(net)).set_train()

    step, said = both(make, batches())
    assert made() == {"WithLossCell": 1, "WithLossCell_grad": 1, "Momentum": 1} and len(said) == 1


def test_a_loss_scale_that_skips_updates(made):
    """A separate argument tells the optimizer whether to skip the update."""
    class Looks(nn.TrainOneStepWithLossScaleCell):
        def construct(self, x, label):
            loss, overflow, scale = super().construct(x, label)
            return loss, overflow.asnumpy().item(), scale

    def make():
        net = with_loss()
        return Looks(net, momentum(net), nn.DynamicLossScaleUpdateCell(2.0 ** 10, 2, 6)).set_train()

    step, _ = both(make, batches(overflow=(3, 7, 8, 21)))
    assert made() == {"WithLossCell": 1, "WithLossCell_grad": 1, "Momentum": 1, "DynamicLossScaleUpdateCell": 1}
    assert "where" in _compile.graph_text(step.loss_scaling_manager) and step.optimizer.__getstate__().keys().isdisjoint(("_cell_graphs", "_cell_controlled"))


def test_flags_lead_to_other_graphs_and_back(made):
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def construct(self, x):
            return self.net(x), x.sum().item()

    def run(cell, out):
        for training in (True, False, True, False):
            cell.set_train(training)
            for factor in (0.1, 0.5):
                cell.net.drop.add_flags(dropout_prob=factor)
                out += [bits(cell(x)) for x, _ in batches(steps=3)]

    outs = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(5)
        cell = Looks()
        outs.append([])
        run(cell, outs[-1])
    assert outs[0] == outs[1]
    assert [e.traces for e in parts(cell.net)] == [1] * 4


def test_recomputed_cells_hooks_and_jit_functions(made):
    seen = []

    class Looks(Step):
        def __init__(self):
            super().__init__(nn.WithLossCell(Net().set_train(), nn.MSELoss()))
            net = self.network.backbone_network
            net.a.recompute()
            net.b.register_backward_hook(lambda cell, grads, out: (grads[0] * 0.5,) + tuple(grads[1:]))
            net.norm.register_forward_hook(lambda cell, args, out: out * 0.5)
            self.scaled = ms.jit(lambda grads: tuple(ops.clip_by_value(g * 2, -1, 1) - g * 0.5 for g in grads))

        def construct(self, x, label):
            loss, grads = self.value_and_grad(self.drop(x), label)
            grads = self.scaled(grads)
            seen.append(loss.asnumpy().item())
            self.optimizer(grads)
            return loss

    both(Looks, batches(), also=lambda cell: [seen.pop() for _ in range(len(seen))])
    assert made() == {"value_and_grad": 1, "<lambda>": 1, "Momentum": 1}


def test_mixed_precision(made):
    class Looks(nn.Cell):
        def __init__(self, inside):
            super().__init__()
            self.net = Net().set_train().to_float(ms.float16)
            if inside:
                self.to_float(ms.float16)

        def construct(self, x, _):
            y = self.net(x)
            return y * 3 if float(y.sum()) > 0 else y

    both(lambda: Looks(False), batches())
    assert made() == {"Net": 1}
    both(lambda: Looks(True), batches())  # casts are in force around the part
    assert made() == {"Net": 1}


class Border(nn.Cell):
    """Parts whose results and arguments share objects, memory or kinds with the surrounding code."""

    def __init__(self):
        super().__init__()
        self.t, self.part = Tensor([1.0, 2.0]), None
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")

    def construct(self, x):
        x.sum().item()
        return self.part(x, self)


def work(x):
    """Has enough ops to be compiled."""
    for _ in range(6):
        x = ops.sin(x) * 1.5
    return x


@dataclasses.dataclass
class Pair:
    a: object
    b: object


Named = collections.namedtuple("Named", "a b")
KEPT = []


def _parameter(x, cell):
    return work(x), cell.w


def _argument(x, cell):
    return x, work(x)


def _outside(x, cell):
    return cell.t, work(x)


def _written(x, cell):
    y = work(x)
    x[0] = y[1]
    return y


def _view(x, cell):
    return work(x), x[:1]


def _views_of_one(x, cell):
    y = work(x)
    return y[:1], y[1:]


def _view_of_a_parameter(x, cell):
    return work(x), cell.w[:1]


def _twice(x, cell):
    y = work(x)
    return y, [y]


def _named(x, cell):
    return Named(work(x), {"k": (x, 1)})


def _object(x, cell):
    return Pair(work(x), x)


def _list(x, cell):
    y = work(x)
    KEPT.append(y)
    return y * 2


def _number(x, cell):
    cell.calls = getattr(cell, "calls", 0) + 1
    return work(x) * cell.calls


def _writes_and_asks(x, cell):
    y = work(x)
    if y.sum() > -100:
        x[0] = y[1]
    return y, x


def _part_of_its_own(x, cell):
    y = work(x)
    return (x, y[1:]) if y.sum() > -100 else y


def _list_of_a_cell(x, cell):
    return cell.part.child.numbers, work(x)


def _list_of_arguments(x, cell, given=None):
    y = work(x)
    if given is not None:
        given.append(y)
        given[0] = y
    return y


COMPILED = [_parameter, _argument, _outside, _twice, _named, _part_of_its_own]
CASES = COMPILED + [_written, _view, _views_of_one, _view_of_a_parameter, _object, _list, _number, _writes_and_asks,
                    _list_of_a_cell, _list_of_arguments]


def tensors(v):
    if isinstance(v, Pair):
        v = (v.a, v.b)
    if isinstance(v, dict):
        v = tuple(v.values())
    return [t for x in v for t in tensors(x)] if isinstance(v, (tuple, list)) else [v] if isinstance(v, Tensor) else []


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__[1:])
def test_what_crosses_the_border_of_a_part(case):
    """Identity of objects, effects of writes, and the kind of each object."""
    class Part(nn.Cell):
        def __init__(self):
            super().__init__()
            self.child = nn.ReLU()
            self.child.numbers = [1]

        def construct(self, x, cell, *others):
            return case(x, cell, *others)

    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        KEPT.clear()
        cell, log = Border(), []
        cell.part = Part()
        around = nn.Cell()

        def construct(x, cell=cell, log=log):
            x = x + 0
            x.sum().item()
            given = [x]
            result = cell.part(x, cell, given) if case is _list_of_arguments else cell.part(x, cell)
            known = tensors(result) + tensors(given) + [x, cell.t, cell.w]
            if case is _list_of_a_cell:
                result[0].append(len(result[0]))
                log.append(list(cell.part.child.numbers))
            log.append((type(result), [type(t) for t in known], [[a is b for b in known] for a in known], bits(known)))
            for i, t in enumerate(known):
                if not t.is_symbolic:
                    t[0] = float(i)
                    log.append(bits(known))
            log.append(bits(KEPT))
            return x

        around.construct = construct
        for k in range(5):
            around(Tensor([0.3 * k, 0.7]))
        found.append(log)
    assert found[0] == found[1]


def test_a_part_that_keeps_its_graph_where_it_can(made):
    for case in CASES[:-1]:
        class Part(nn.Cell):
            def __init__(self):
                super().__init__()
                self.child = nn.ReLU()
                self.child.numbers = [1]

            def construct(self, x, cell):
                return case(x, cell, *([[x]] if case is _list_of_arguments else []))

        ms.set_context(mode=ms.GRAPH_MODE)
        cell = Border()
        cell.part = Part()
        before = made()["Part"]
        for k in range(4):
            cell(Tensor([0.3 * k, 0.7]))
        assert (made()["Part"] > before) == (case in COMPILED), case.__name__


def test_python_numbers_that_change_every_time():
    """A number computed from a value does not lead to an unlimited number of graphs; other calls of that Cell still find theirs."""
    traced = []

    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net().set_train()

        def construct(self, x, k):
            if _compile.local.seen is not None:
                traced.append(k)
            return self.net(x) * k

    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scaled = Scaled()

        def construct(self, x, _):
            return self.scaled(x, x.sum().item()) + self.scaled(x, 2.0)

    cell, _ = both(Looks, batches())
    assert 8 <= len(traced) < 20 and traced.count(2.0) == 1
    assert parts(cell.scaled.net)  # the call itself is not compiled, but the parts that it calls are


def test_functions_made_for_one_call(made):
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net().set_train()
            self.weights = ParameterTuple(self.net.trainable_params())

        def construct(self, x, label):
            k = label.sum().item()
            loss, grads = ops.value_and_grad(lambda v: self.net(v * k).sum(), 0, self.weights)(x)
            return loss, grads

    both(Looks, batches(steps=10))
    assert made() == {}


def test_errors_leave_what_was_written_and_random_numbers_go_on(made):
    class Fails(nn.Cell):
        def __init__(self, late):
            super().__init__()
            self.n, self.drop, self.late = Parameter(Tensor(0.0), name="n"), nn.Dropout(p=0.5).set_train(), late

        def construct(self, x, fail):
            self.n += 1
            y = self.drop(work(x))
            if self.late and self.n > 0:
                y = self.drop(y)
            if fail:
                raise RuntimeError("no")
            return y

    class Looks(nn.Cell):
        def __init__(self, late):
            super().__init__()
            self.part, self.drop = Fails(late), nn.Dropout(p=0.5).set_train()

        def construct(self, x, label):
            out = []
            for fail in (False, True, False):
                try:
                    out.append(self.part(x, fail))
                except RuntimeError:
                    pass
            label.sum().item()
            return out, self.drop(x)

    for late in (False, True):
        both(lambda late=late: Looks(late), batches(steps=8))
    assert made() == {"Fails": 2}


def test_an_error_has_the_users_traceback():
    class Fails(nn.Cell):
        def construct(self, x):
            y = work(x)
            if y.shape == (2,):
                raise KeyError("here")
            return y

    cell = Border()
    cell.part = Fails()
    looks = nn.SequentialCell(cell.part)

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = looks

        def construct(self, x):
            x.sum().item()
            return self.inner(x)

    ms.set_context(mode=ms.GRAPH_MODE)
    outer = Outer()
    outer(Tensor([1.0])), outer(Tensor([1.0]))
    with pytest.raises(KeyError, match="here") as e:
        outer(Tensor([1.0, 2.0]))
    assert e.traceback[-1].path.name == "test_eager_parts.py" and e.value.__context__ is None
    assert outer(Tensor([1.0])).shape == (1,)


def test_a_loop_of_parts_that_draw():
    """One graph of a part is used at every position in the step."""
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net().set_train()

        def construct(self, x, label):
            total = 0
            for _ in range(3 + (label.sum().item() > 0)):
                total = total + self.net(x)
            return total

    cell, _ = both(Looks, batches())
    assert [e.traces for e in parts(cell.net)] == [1]


def test_random_numbers_behind_more_ways_than_are_kept():
    class Long(nn.Cell):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(p=0.5).set_train()

        def construct(self, x, n):
            i = Tensor(0, ms.int32)
            while i < n:
                i = i + 1
            return self.drop(x), self.drop(x)

    xs = [(Tensor(np.ones(32, np.float32)), Tensor(n, ms.int32)) for n in (1100, 2, 1100)]
    both(Long, xs)


def test_pynative_mode_compiles_nothing(made):
    step = Step()
    for call in batches(steps=4):
        step(*call)
    assert made() == {} and not step.optimizer._cell_graphs


def test_gradients_that_a_part_takes(made):
    """Pending recordings: a part that would reuse one runs eagerly."""
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = with_loss().set_grad()
            self.back = nn.WithGradCell(self.net)
            self.optimizer = momentum(self.net)

        def construct(self, x, label):
            loss = self.net(x, label)
            loss.asnumpy()
            self.optimizer(self.back(x, label))
            return loss

    both(Looks, batches())
    assert made() == {"WithLossCell": 1, "WithLossCell_grad": 1, "Momentum": 1}  # the gradient itself, not the Cell around it


def test_memory_stays_flat():
    """Steps, dropped steps, and the inputs of a first call."""
    ms.set_context(mode=ms.GRAPH_MODE)
    x, label = Tensor(np.ones((64, 4), np.float32)), Tensor(np.ones((64, 2), np.float32))

    class Wide(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Dense(4, 4096), nn.Dense(4096, 2)

        def construct(self, x):
            return self.b(ops.tanh(self.a(x)) * 2 + 1)

    def make():
        return Step(nn.WithLossCell(Wide().set_train(), nn.MSELoss()))

    step = make()
    first = Tensor(np.ones((64, 4), np.float32))
    alive = weakref.ref(first)
    step(first, label)
    del first
    for _ in range(20):
        step(x, label)
    gc.collect()
    assert alive() is None
    before = resident_mb()
    for _ in range(200):
        step(x, label)
    assert resident_mb() - before < 4
    alive = weakref.ref(step)
    del step
    gc.collect()
    assert alive() is None

    def use(n):
        for _ in range(n):
            step = make()
            for _ in range(3):
                step(x, label)

    use(30)
    before = resident_mb()
    use(60)
    assert resident_mb() - before < 60


def test_optimizers_of_older_gradients(made):
    """GradOperation, and an optimizer whose execution changes with the steps."""
    class Looks(nn.Cell):
        def __init__(self):
            super().__init__()
            self.network = with_loss()
            self.optimizer = nn.AdamWeightDecay(self.network.trainable_params(), nn.ExponentialDecayLR(0.05, 0.9, 10), weight_decay=0.01)
            self.grad = C.GradOperation(get_by_list=True, sens_param=True)

        def construct(self, x, label):
            grads = self.grad(self.network, self.optimizer.parameters)(x, label, Tensor(1.0))
            norm = float(ops.sqrt(sum((g * g).sum() for g in grads)))
            self.optimizer(tuple(g / max(norm, 1.0) for g in grads))
            return norm

    both(Looks, batches())
    assert set(made()) == {"WithLossCell_grad", "AdamWeightDecay"}
