"""Primitives of older scripts: CTCLoss with its own label format, dropout masks of bits, padded permutations, the two primitives of the parameter server."""
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor, nn, ops
from sindri.ops import operations as P


class Call(nn.Cell):
    """A primitive in a Cell, so that GRAPH_MODE compiles it."""

    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, *args):
        return self.op(*args)


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def ctc_by_paths(x, labels, collapse, merge):
    """Returns -log of the sum over all paths that map to `labels` (float64): a path's classes without blanks; with merge, each run of a class counts once."""
    x = np.asarray(x, np.float64)
    p = np.exp(x - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    blank = x.shape[1] - 1
    wanted = [c for i, c in enumerate(labels) if not collapse or i == 0 or c != labels[i - 1]]
    total = 0.0
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        shown = [c for i, c in enumerate(path) if c != blank and (not merge or i == 0 or c != path[i - 1])]
        if shown == wanted:
            total += np.prod(p[range(len(x)), path])
    return -np.log(total) if total else np.inf


@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("merge", [False, True])
def test_ctc_loss_sums_over_all_paths(mode, collapse, merge):
    """Every label sequence of a small case: empty ones, repeats, impossible ones; the gradient by finite differences. (MindSpore's kernel is wrong for samples
    without
    labels and leaves gradients after a sample's last step uninitialised; otherwise it agrees: see ops_cases.py.)"""
    rows = [[], [0], [1, 1], [1, 0, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
    steps = [3, 1, 4, 4, 4, 2]
    x = np.random.RandomState(0).randn(4, len(rows), 3).astype(np.float32)
    where = [(n, t) for n, row in enumerate(rows) for t in range(len(row))]
    indices, values = Tensor(np.array(where), ms.int64), Tensor(np.array([rows[n][t] for n, t in where]), ms.int32)
    op = P.CTCLoss(preprocess_collapse_repeated=collapse, ctc_merge_repeated=merge, ignore_longer_outputs_than_inputs=True)
    loss, slope = Call(op)(Tensor(x), indices, values, Tensor(np.array(steps), ms.int32))
    wanted = [ctc_by_paths(x[:s, n], row, collapse, merge) for n, (row, s) in enumerate(zip(rows, steps))]
    np.testing.assert_allclose(loss.asnumpy(), wanted, rtol=2e-5)
    assert np.isinf(wanted).any()

    expected = np.zeros_like(x)
    for n, (row, s) in enumerate(zip(rows, steps)):
        for t, c in itertools.product(range(s), range(3)) if np.isfinite(wanted[n]) else ():
            moved = x[:s, n].astype(np.float64)
            moved[t, c] += 1e-6
            higher = ctc_by_paths(moved, row, collapse, merge)
            moved[t, c] -= 2e-6
            expected[t, n, c] = (higher - ctc_by_paths(moved, row, collapse, merge)) / 2e-6
    np.testing.assert_allclose(slope.asnumpy(), expected, atol=1e-5)
    weights = Tensor(np.arange(len(rows)), ms.float32)
    masked = ms.grad(lambda a: ops.where(ops.isfinite(op(a, indices, values, Tensor(np.array(steps), ms.int32))[0]),
                                         op(a, indices, values, Tensor(np.array(steps), ms.int32))[0], 0.0).mul(weights).sum())(Tensor(x))
    np.testing.assert_allclose(masked.asnumpy(), expected * np.arange(len(rows))[None, :, None], atol=1e-4)


@pytest.mark.parametrize("values, steps, what", [
    ([0, 0], [1, 2], "2 labels for 1 steps"), ([0, -1], [2, 2], "outside \\[0, 2\\)"), ([2, 0], [2, 2], "outside \\[0, 2\\)"),
    ([0, 1], [5, 2], "outside \\[1, 4\\]"), ([0, 1], [0, 2], "outside \\[1, 4\\]")])
def test_ctc_loss_refuses(mode, values, steps, what):
    x = Tensor(np.zeros((4, 2, 3), np.float32))
    with pytest.raises(RuntimeError, match=what):
        Call(P.CTCLoss())(x, Tensor([[0, 0], [0, 1]], ms.int64), Tensor(values, ms.int32), Tensor(steps, ms.int32))[0].asnumpy()


def test_ctc_loss_refuses_types_and_shapes():
    x, indices, values, steps = Tensor(np.zeros((4, 2, 3), np.float32)), Tensor([[0, 0]], ms.int64), Tensor([0], ms.int32), Tensor([4, 4], ms.int32)
    for args, error in (((x, indices, Tensor([0], ms.int64), steps), TypeError), ((x.astype(ms.int32), indices, values, steps), TypeError),
                        ((x, indices.astype(ms.int32), values, steps), TypeError), ((x, indices, values, Tensor([4], ms.int32)), ValueError),
                        ((x[0], indices, values, steps), ValueError), ((x, indices, Tensor([0, 1], ms.int32), steps), ValueError)):
        with pytest.raises(error, match="ops.CTCLoss"):
            P.CTCLoss()(*args)


def test_dropout_mask_of_bits(mode):
    """The mask has a bit for each element; DropoutDoMask keeps and scales elements with a 1, and so does its gradient."""
    x = np.random.RandomState(1).randn(7, 30).astype(np.float32)
    bits = np.random.RandomState(2).randint(0, 2, 256).astype(np.uint8)
    mask = Tensor(np.packbits(bits, bitorder="little"))
    kept = bits[:x.size].reshape(x.shape)
    out = Call(P.DropoutDoMask())(Tensor(x), mask, Tensor(0.5, ms.float32))
    np.testing.assert_array_equal(out.asnumpy(), x * kept * 2)
    np.testing.assert_array_equal(ms.grad(lambda a: P.DropoutDoMask()(a, mask, 0.25).sum())(Tensor(x)).asnumpy(), kept * 4.0)
    with pytest.raises(ValueError, match="uint8 \\[32\\]"):
        P.DropoutDoMask()(Tensor(x), mask[:16], 0.5)


def test_dropout_masks_are_drawn_anew(mode):
    class Dropout(nn.Cell):
        """nn.Dropout as written up to 1.1."""

        def __init__(self, keep_prob, seed):
            super().__init__()
            self.keep_prob = Tensor(keep_prob, ms.float32)
            self.shape, self.gen, self.do = P.Shape(), P.DropoutGenMask(Seed0=seed), P.DropoutDoMask()

        def construct(self, x):
            return self.do(x, self.gen(self.shape(x), self.keep_prob), self.keep_prob)

    x = Tensor(np.ones((100, 100)), ms.float32)
    for seed in (0, 5):
        ms.set_seed(3)
        net = Dropout(0.8, seed)
        first, second = net(x).asnumpy(), net(x).asnumpy()
        assert set(np.unique(first)) == {np.float32(0), np.float32(1 / 0.8)} and (first != second).any()
        assert abs((first > 0).mean() - 0.8) < 0.02 and abs((second > 0).mean() - 0.8) < 0.02
        if seed == 0:
            ms.set_seed(3)
            np.testing.assert_array_equal(Dropout(0.8, 0)(x).asnumpy(), first)
    assert P.DropoutGenMask()((3, 50), 0.5).shape == (32,) and P.DropoutGenMask()((3, 50), 1.0).dtype == ms.uint8
    with pytest.raises(ValueError, match="keep_prob"):
        P.DropoutGenMask()((3,), 0.0)


def test_randperm_is_padded(mode):
    draw = Call(P.Randperm(max_length=40, pad=-2, dtype=ms.int64))
    outs = [draw(Tensor([n], ms.int32)).asnumpy() for n in (0, 1, 30, 30, 40)]
    for n, out in zip((0, 1, 30, 30, 40), outs):
        assert out.dtype == np.int64 and sorted(out[:n]) == list(range(n)) and (out[n:] == -2).all() and out.shape == (40,)
    assert (outs[2] != outs[3]).any() and (outs[4] != np.arange(40)).any()
    for n in (-1, 41):
        with pytest.raises(ValueError, match="outside \\[0, 40\\]"):
            draw(Tensor([n], ms.int32)).asnumpy()
    with pytest.raises(TypeError):
        P.Randperm(3)(Tensor([1.0]))
    with pytest.raises(ValueError, match="does not hold"):
        P.Randperm(300, dtype=ms.int8)(Tensor([3], ms.int32))


def test_push_and_pull_are_made_and_want_a_server():
    """Optimizers of 1.x create both; MindSpore, too, rejects a call on CPU without a server."""
    push, pull = P.Push("Adam", [0, 1, 2]), P.Pull()
    push.add_prim_attr("use_nesterov", False)
    assert push.optim_type == "Adam" and push.only_shape_indices == [0, 1, 2] and ops.Push().optim_type == "ApplyMomentum"
    for call in (lambda: push((Tensor([1.0]),), ((1,),)), lambda: pull(Tensor([1]), Tensor([1.0]))):
        with pytest.raises(RuntimeError, match="parameter server"):
            call()


def test_seeds_of_primitives():
    """Recorded with MindSpore 2.10.0, except for the numbers after the first, which only need to differ."""
    from sindri.common.seed import _get_graph_seed
    ms.set_seed(5)
    first = [_get_graph_seed(0, "dropout"), _get_graph_seed(0, "dropout"), _get_graph_seed(3, "dropout"), _get_graph_seed(0, "other")]
    assert first[0] == (5, 0) and first[1] == (5, 533697028) and first[2] == (5, 3) and first[3] == (5, 0)
    ms.set_seed(5)
    assert [_get_graph_seed(0, "dropout") for _ in range(2)] == first[:2]
    for bad, error in ((-1, ValueError), ("a", TypeError), (2.5, TypeError)):
        with pytest.raises(error):
            _get_graph_seed(bad, "dropout")
    code = "from sindri.common.seed import _get_graph_seed as g; assert g(0, 'd') == g(0, 'd') == (0, 0) and g(3, 'd') == (0, 3)"
    package = os.path.dirname(os.path.dirname(os.path.abspath(ms.__file__)))
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": package})


def test_layers_seeded_by_graph_seeds_draw_different_masks(mode):
    """Dropout in the style of published GPT scripts: two layers must not share a mask."""
    from sindri.common.seed import _get_graph_seed

    class Dropout(nn.Cell):
        def __init__(self):
            super().__init__()
            seed0, seed1 = _get_graph_seed(0, "dropout")
            self.keep = Tensor(0.5, ms.float32)
            self.gen, self.do = P.DropoutGenMask(Seed0=seed0, Seed1=seed1), P.DropoutDoMask()

        def construct(self, x):
            return self.do(x, self.gen(P.Shape()(x), self.keep), self.keep)

    ms.set_seed(11)
    x = Tensor(np.ones((20, 50)), ms.float32)
    outs = [Dropout()(x).asnumpy() for _ in range(3)]
    assert all((a != b).any() for a, b in ((outs[0], outs[1]), (outs[1], outs[2])))


def test_no_process_is_a_parameter_server():
    from sindri.parallel import _ps_context as ps
    assert not (ps._is_role_pserver() or ps._is_role_worker() or ps._is_role_sched() or ps._is_ps_mode())
    ps._set_ps_context(enable_ps=False)
    assert ps._get_ps_context("enable_ps") is False
    ps._reset_ps_context()
