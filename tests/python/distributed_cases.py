"""The cases of test_distributed.py: `python distributed_cases.py RESULTS TARGET` as each of four ranks runs all cases in both modes and writes the results to
RESULTS/RANK.json. A case is a function of (rank, size) that fails with an assertion."""
import json
import pathlib
import sys
import traceback

import numpy as np

import sindri as ms
from sindri import Tensor, _core, nn, ops
from sindri.communication import (GlobalComm, create_group, destroy_group, get_comm_name, get_group_rank_from_world_rank, get_group_size, get_local_rank,
                                  get_local_rank_size, get_process_group_ranks, get_rank, get_world_rank_from_group_rank, init)

CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def raises(kind, f):
    try:
        f()
    except kind as e:
        return str(e)
    raise AssertionError(f'{kind.__name__} expected')


def of_rank(rank, shape=(4, 2), dtype=np.float32):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype) * (rank + 1) + rank


class Calls(nn.Cell):
    """One primitive as a network."""

    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, *x):
        return self.op(*x)


@case
def names_of_the_world(rank, size):
    assert (get_rank(), get_group_size(), get_local_rank(), get_local_rank_size()) == (rank, size, rank, size)
    assert get_process_group_ranks() == list(range(size)) and get_world_rank_from_group_rank(GlobalComm.WORLD_COMM_GROUP, 2) == 2
    names = {'CPU': 'mccl_world_group', 'GPU': 'nccl_world_group'}
    assert GlobalComm.INITED and get_comm_name() == names[ms.get_context('device_target')]
    assert (ms.get_auto_parallel_context('device_num'), ms.get_auto_parallel_context('global_rank')) == (size, rank)
    init()  # a second call has no effect
    raises(ValueError, lambda: get_rank('nobody'))


@case
def groups(rank, size):
    mine = [0, 1] if rank < 2 else [2, 3]
    create_group(f'pair{mine[0]}', mine)
    name = f'pair{mine[0]}'
    assert (get_rank(name), get_group_size(name), get_local_rank(name), get_local_rank_size(name)) == (rank % 2, 2, rank % 2, 2)
    assert get_world_rank_from_group_rank(name, 1) == mine[1] and get_group_rank_from_world_rank(mine[1], name) == 1
    total = ops.AllReduce(group=name)(Tensor([float(rank)])).item()
    assert total == sum(mine)
    reducer = nn.DistributedGradReducer([ms.Parameter(Tensor([0.0]), name='p')], mean=True, group=name)
    assert reducer((Tensor([float(rank)]),))[0].item() == sum(mine) / 2
    destroy_group(name)
    raises(ValueError, lambda: get_rank(name))
    create_group('even', [0, 2])  # every rank may query the group, only members use it
    assert get_process_group_ranks('even') == [0, 2]
    if rank % 2:
        raises(ValueError, lambda: get_rank('even'))
    else:
        assert ops.AllGather('even')(Tensor([rank])).asnumpy().tolist() == [0, 2]
    destroy_group('even')


@case
def collectives(rank, size):
    x, all_x = of_rank(rank), np.stack([of_rank(r) for r in range(size)])
    to = Tensor(x)
    expected = {
        'sum': (ops.AllReduce(), all_x.sum(0)), 'max': (ops.AllReduce('max'), all_x.max(0)), 'min': (ops.AllReduce('min'), all_x.min(0)),
        'prod': (ops.AllReduce('prod'), all_x.prod(0)), 'gather': (ops.AllGather(), all_x.reshape(-1, 2)),
        'scatter': (ops.ReduceScatter(), all_x.sum(0)[rank:rank + 1]), 'largest part': (ops.ReduceScatter('max'), all_x.max(0)[rank:rank + 1]),
        'to all': (ops.AlltoAll(4, 0, 0), all_x[:, rank, :]), 'to all along 1': (ops.AlltoAll(4, 0, 1), all_x[:, rank, :].reshape(1, -1)),
        'reduce': (ops.Reduce(1), all_x.sum(0) if rank == 1 else np.zeros(1)), 'collect': (ops.CollectiveGather(3), all_x.reshape(-1, 2) if rank == 3 else np.zeros(1)),
        'hand out': (ops.CollectiveScatter(2), all_x[2, rank:rank + 1]),
    }
    for name, (op, value) in expected.items():
        np.testing.assert_array_equal(Calls(op)(to).asnumpy(), value.astype(np.float32), err_msg=name)
    for got in Calls(ops.Broadcast(1))((to, to * 2)):
        assert got.shape == (4, 2)
    np.testing.assert_array_equal(Calls(ops.Broadcast(1))((to, to * 2))[1].asnumpy(), 2 * all_x[1])
    for dtype in (ms.float64, ms.float16, ms.bfloat16, ms.int32, ms.int64):
        got = ops.AllReduce()(Tensor(of_rank(rank), dtype))
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(ms.float32).asnumpy(), all_x.sum(0))
    assert ops.AllReduce()(Tensor(np.zeros((0, 3), np.float32))).shape == (0, 3)


@case
def gradients(rank, size):
    x = Tensor(of_rank(rank))
    all_x = np.stack([of_rank(r) for r in range(size)])
    weight = float(rank + 1)  # the loss of rank r has the weight r + 1: gradients are those of the sum of all losses
    total = sum(range(1, size + 1))
    found = {name: ms.grad(lambda t, op=op: (op(t) * weight).sum())(x).asnumpy() for name, op in {
        'sum': ops.AllReduce(), 'max': ops.AllReduce('max'), 'gather': ops.AllGather(), 'scatter': ops.ReduceScatter(), 'to all': ops.AlltoAll(4, 0, 0),
        'hand out': ops.CollectiveScatter(2)}.items()}
    np.testing.assert_array_equal(found['sum'], np.full((4, 2), total))
    np.testing.assert_array_equal(found['max'], np.where(of_rank(rank) == all_x.max(0), total, 0))
    np.testing.assert_array_equal(found['gather'], np.full((4, 2), total))
    by_row = np.repeat(np.arange(1, size + 1)[:, None], 2, 1)
    np.testing.assert_array_equal(found['scatter'], by_row)
    np.testing.assert_array_equal(found['to all'], by_row)
    np.testing.assert_array_equal(found['hand out'], by_row if rank == 2 else 0 * by_row)
    of_tuple = ms.grad(lambda t: (ops.Broadcast(1)((t,))[0] * weight).sum())(x).asnumpy()
    np.testing.assert_array_equal(of_tuple, np.full((4, 2), total if rank == 1 else 0))


@case
def messages(rank, size):
    if rank == 0:
        assert ops.Send(3, 1)(Tensor([1.5, 2.5])).shape == (2,)
        ops.Send(4, 1)(Tensor([7]))
    if rank == 1:
        np.testing.assert_array_equal(ops.Receive(3, 0, [2], ms.float32)().asnumpy(), [1.5, 2.5])
        assert ops.Receive(4, 0, [1], ms.int64)().item() == 7
    ops.Barrier()()


@case
def messages_with_gradients(rank, size):
    """Stages on four ranks, each of which multiplies by its number; then a ring."""
    class Stage(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor(of_rank(rank) + 1), name='w')
            self.receive = ops.Receive(2, rank - 1, [4, 2], ms.float32) if rank else None
            self.send = ops.Send(2, rank + 1) if rank + 1 < size else None

        def construct(self, scale):
            x = self.w if self.receive is None else self.w * self.receive()
            return (x * scale).sum() if self.send is None else (self.send(x) * 0).sum()

    net, all_w = Stage(), [of_rank(r) + 1 for r in range(size)]
    loss, grads = ms.value_and_grad(net, None, net.trainable_params())(Tensor(2.0))
    grads = grads if isinstance(grads, (tuple, list)) else (grads,)
    others = np.prod([w for r, w in enumerate(all_w) if r != rank], 0)
    np.testing.assert_allclose(grads[0].asnumpy(), 2 * others, rtol=1e-6)
    np.testing.assert_allclose(loss.item(), 2 * np.prod(all_w, 0).sum() if rank == size - 1 else 0, rtol=1e-6)

    after, before = (rank + 1) % size, (rank - 1) % size
    around = ops.NeighborExchange([after], [before], [(4, 2)], [(4, 2)], ms.float32)
    x = Tensor(of_rank(rank))
    np.testing.assert_array_equal(Calls(around)((x,))[0].asnumpy(), of_rank(before))
    got = ms.grad(lambda t: (around((t,))[0] * float(rank + 1)).sum())(x).asnumpy()
    np.testing.assert_array_equal(got, np.full((4, 2), after + 1))
    raises(ValueError, lambda: around((x, x)))


@case
def wrong_calls(rank, size):
    x = Tensor(of_rank(rank))
    raises(ValueError, lambda: ops.Broadcast(4)((x,)))
    raises(ValueError, lambda: ops.AlltoAll(2, 0, 0)(x))
    raises(ValueError, lambda: ops.AlltoAll(4, 1, 0)(x))
    raises(ValueError, lambda: ops.ReduceScatter()(Tensor(np.ones(3, np.float32))))
    raises(TypeError, lambda: ops.AllReduce()(3))
    raises(ValueError, lambda: ops.AllReduce(group='nobody'))
    raises(ValueError, lambda: create_group('g', [0, 4]))
    ms.set_auto_parallel_context(parallel_mode='data_parallel', device_num=8)
    net = nn.Dense(2, 2)
    assert '8' in raises(RuntimeError, lambda: nn.TrainOneStepCell(net, nn.SGD(net.trainable_params())))


@case
def reducers_in_buckets(rank, size):
    shapes = [(3, 4), (5,), (2, 2, 2), (7,)]
    grads = [np.full(s, 2.0 ** -i * (rank + 1), np.float32) for i, s in enumerate(shapes)]
    params = [ms.Parameter(Tensor(np.zeros(s, np.float32)), name=f'p{i}') for i, s in enumerate(shapes)]
    total = sum(range(1, size + 1))
    for fusion in (None, [], [1], [1, 2], [3]):
        ms.reset_auto_parallel_context()
        if fusion is not None:
            ms.set_auto_parallel_context(all_reduce_fusion_config=fusion)
        for mean, degree in ((True, None), (False, None), (True, 8), (None, None)):
            reducer = nn.DistributedGradReducer(params, mean, degree)
            share = {True: 1 / (degree or size), False: 1, None: 1}[mean]
            for got, i in zip(reducer(tuple(map(Tensor, grads))), range(4)):
                np.testing.assert_array_equal(got.asnumpy(), np.full(shapes[i], 2.0 ** -i * total * share, np.float32))
    ms.set_auto_parallel_context(all_reduce_fusion_config=[2, 9])
    assert 'all_reduce_fusion_config[1]=9' in raises(ValueError, lambda: nn.DistributedGradReducer(params)(tuple(map(Tensor, grads))))
    old = ms.parallel._auto_parallel_context.auto_parallel_context()
    old.set_all_reduce_fusion_split_indices([1, 7])
    assert '[1]=7' in raises(ValueError, lambda: nn.DistributedGradReducer(params)(tuple(map(Tensor, grads))))
    ms.reset_auto_parallel_context()
    create_group('low', [0, 1])
    old.set_all_reduce_fusion_split_indices([3, 5], 'lowsum1')
    if rank < 2:
        assert '[1]=5' in raises(ValueError, lambda: nn.DistributedGradReducer(params, group='low')(tuple(map(Tensor, grads))))
    destroy_group('low')
    ms.reset_auto_parallel_context()
    params[1].layerwise_parallel = True
    ms.set_auto_parallel_context(comm_fusion={'allreduce': {'mode': 'size', 'config': 1}}, gradients_mean=True)
    got = nn.DistributedGradReducer(params)(tuple(map(Tensor, grads)))
    assert got[1].asnumpy()[0] == 0.5 * (rank + 1) and got[0].asnumpy()[0, 0] == total / size


@case
def batch_norm_over_ranks(rank, size):
    rng = np.random.default_rng(5)
    rows = [2 + r for r in range(size)]  # uneven: the mean is taken over all rows
    data = rng.standard_normal((sum(rows), 3, 2, 2)).astype(np.float32)
    first = sum(rows[:rank])
    mine = Tensor(data[first:first + rows[rank]])
    weight = rng.standard_normal(data.shape).astype(np.float32)

    def run(layer, x, w):
        layer.set_train()
        return ms.value_and_grad(lambda t: (layer(t) * Tensor(w)).sum(), 0, layer.trainable_params())(x)

    layer = nn.SyncBatchNorm(3)
    _, (dx, dparams) = run(layer, mine, weight[first:first + rows[rank]])
    whole = nn.BatchNorm2d(3)
    _, (dwhole, dwhole_params) = run(whole, Tensor(data), weight)
    np.testing.assert_allclose(dx.asnumpy(), dwhole.asnumpy()[first:first + rows[rank]], rtol=2e-4, atol=2e-6)
    for mine_d, whole_d in zip(dparams, dwhole_params):
        np.testing.assert_allclose(ops.AllReduce()(mine_d).asnumpy(), whole_d.asnumpy(), rtol=2e-4, atol=1e-5)
    for name in ('moving_mean', 'moving_variance'):
        np.testing.assert_allclose(getattr(layer, name).asnumpy(), getattr(whole, name).asnumpy(), rtol=1e-5, atol=1e-7)
    layer.set_train(False)
    whole.set_train(False)
    np.testing.assert_allclose(layer(mine).asnumpy(), whole(mine).asnumpy(), rtol=1e-5, atol=1e-6)
    pairs = nn.SyncBatchNorm(3, process_groups=[[0, 1], [2, 3]]).set_train()
    pairs(mine)
    lo = 0 if rank < 2 else sum(rows[:2])
    hi = sum(rows[:2]) if rank < 2 else sum(rows)
    np.testing.assert_allclose(pairs.moving_mean.asnumpy(), 0.1 * data[lo:hi].mean((0, 2, 3)), rtol=1e-4, atol=1e-7)


@case
def mint_sync_batch_norm_is_that_of_the_whole_batch(rank, size):
    """Values, gradients and running statistics of mint.nn.BatchNorm2d over all rows, distributed unevenly over the ranks; a group of two has separate
    statistics."""
    from sindri import mint
    rows = [1, 2, 3, 2]
    data = np.random.default_rng(6).standard_normal((sum(rows), 3, 2, 2)).astype(np.float32)
    weight = np.random.default_rng(7).standard_normal(data.shape).astype(np.float32)
    first = sum(rows[:rank])
    own = slice(first, first + rows[rank])
    layer, whole = mint.nn.SyncBatchNorm(3, momentum=0.3).set_train(), mint.nn.BatchNorm2d(3, momentum=0.3).set_train()
    got = ms.grad(lambda t: (layer(t) * Tensor(weight[own])).sum(), 0)(Tensor(data[own]))
    want = ms.grad(lambda t: (whole(t) * Tensor(weight)).sum(), 0)(Tensor(data))
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy()[own], rtol=2e-4, atol=2e-6)
    for name in ('running_mean', 'running_var', 'num_batches_tracked'):
        np.testing.assert_allclose(getattr(layer, name).asnumpy(), getattr(whole, name).asnumpy(), rtol=1e-5, atol=1e-7)
    name = 'mint_pair_' + str(rank // 2)
    create_group(name, [0, 1] if rank < 2 else [2, 3])
    pair = mint.nn.SyncBatchNorm(3, momentum=None, affine=False, process_group=name).set_train()
    pair(Tensor(data[own]))
    lo, hi = (0, 3) if rank < 2 else (3, 8)
    np.testing.assert_allclose(pair.running_mean.asnumpy(), data[lo:hi].mean((0, 2, 3)), rtol=1e-4, atol=1e-6)
    destroy_group(name)


@case
def sync_batch_norm_keeps_float64(rank, size):
    """Computes the statistics of all ranks in float64, for values whose float32 statistics would lose the digits."""
    rng = np.random.default_rng(4)
    data = 1e6 + rng.standard_normal((2 * size, 3, 2, 2))
    layer = nn.SyncBatchNorm(3, dtype=ms.float64).set_train()
    y = layer(Tensor(data[2 * rank:2 * rank + 2]))
    mean, var = data.mean((0, 2, 3)), data.var((0, 2, 3))
    expected = (data - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
    assert y.dtype == ms.float64
    np.testing.assert_allclose(y.asnumpy(), expected[2 * rank:2 * rank + 2], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), 0.1 * mean, rtol=1e-14)
    half = nn.SyncBatchNorm(3).set_train()
    assert half(Tensor(data[2 * rank:2 * rank + 2] - 1e6)).dtype == ms.float64 and half.moving_mean.dtype == ms.float32


@case
def random_numbers_are_of_the_rank(rank, size):
    x = Tensor(np.ones((16, 8), np.float32))
    ms.set_seed(11)
    mine = nn.Dropout(p=0.5).set_train()(x).asnumpy()
    every = ops.AllGather()(Tensor(mine)).asnumpy().reshape(size, 16, 8)
    for r in range(size):
        _core.reset_rng(11, 0, r << 28)
        np.testing.assert_array_equal(nn.Dropout(p=0.5).set_train()(x).asnumpy(), every[r])
        assert r == 0 or not np.array_equal(every[r], every[0])
    ms.set_seed(11)
    weight = nn.Dense(4, 4).weight.asnumpy()  # initial values are the same on all ranks
    np.testing.assert_array_equal(ops.AllReduce('max')(Tensor(weight)).asnumpy(), weight)


@case
def plans_are_compared(rank, size):
    ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True)
    net = nn.Dense(2, 1)
    rows = 8 if rank != 2 else 4
    data = ms.dataset.NumpySlicesDataset((np.ones((rows, 2), np.float32), np.ones((rows, 1), np.float32)), shuffle=False).batch(2)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    text = raises(ms.CommError, lambda: model.train(1, data, dataset_sink_mode=False))
    assert 'steps per epoch: 2' in text and 'rank 2' in text and 'steps per epoch: 4' in text, text


@case
def ranks_begin_with_rank_0s_values(rank, size):
    ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True)
    data = ms.dataset.NumpySlicesDataset((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)), shuffle=False).batch(2)
    for broadcast in (True, False):
        if not broadcast:
            ms.set_auto_parallel_context(parameter_broadcast=False)
        ms.set_seed(rank)
        net = nn.Dense(2, 1)
        before = ops.Broadcast(0)((net.weight.value(),))[0].asnumpy()
        model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.0, 0.9))
        model.train(1, data, dataset_sink_mode=False)
        assert np.array_equal(net.weight.asnumpy(), before) == (broadcast or rank == 0)


class Scaled(nn.Cell):
    """w·x; its gradient is x."""

    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(Tensor(np.ones(3, np.float32)), name='w')

    def construct(self, x):
        return (self.w * x).sum()


@case
def ranks_agree_on_overflow(rank, size):
    ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True)
    net = Scaled()
    step = nn.TrainOneStepWithLossScaleCell(net, nn.SGD(net.trainable_params(), 1.0), nn.DynamicLossScaleUpdateCell(8.0, 2, 100)).set_train()
    bad = np.float32([1, np.inf, 1]) if rank == 3 else np.ones(3, np.float32)
    _, overflow, _ = step(Tensor(bad))
    assert bool(overflow.asnumpy()) and step.scale_sense.asnumpy() == 4 and net.w.asnumpy().tolist() == [1, 1, 1]
    _, overflow, _ = step(Tensor(np.full(3, rank, np.float32)))
    assert not bool(overflow.asnumpy()) and net.w.asnumpy().tolist() == [1 - 1.5] * 3


@case
def ranks_collect_the_same_steps(rank, size):
    """With gradient accumulation, an update with a step that overflowed on one rank is skipped on all ranks."""
    ms.set_auto_parallel_context(parallel_mode='data_parallel', gradients_mean=True)
    net = Scaled()
    config = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False, 'grad_accumulation': True}, 'grad_accumulation': {'grad_accumulation_step': 2}}
    rows = np.ones((4, 3), np.float32) * (rank + 1)
    rows[1] *= 10
    if rank == 1:
        rows[1] = np.inf
    data = ms.dataset.NumpySlicesDataset((rows,), shuffle=False)
    model = ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 1.0), loss_scale_manager=ms.DynamicLossScaleManager(4.0, 2, 100), boost_level='O1',
                     boost_config_dict=config)
    model.train(1, data, dataset_sink_mode=False)
    assert net.w.asnumpy().tolist() == [1 - 2.5] * 3  # the first update is skipped on every rank


def main(folder, target):
    ms.set_context(device_target=target)
    init()
    rank, size = get_rank(), get_group_size()
    found = {}
    for mode, number in (('graph', ms.GRAPH_MODE), ('pynative', ms.PYNATIVE_MODE)):
        for name, f in CASES.items():
            ms.set_seed(1)
            ms.set_context(mode=number)
            ms.reset_auto_parallel_context()
            try:
                f(rank, size)
                found[f'{name}[{mode}]'] = ''
            except ms.CommError:
                raise
            except Exception:
                found[f'{name}[{mode}]'] = traceback.format_exc()
            (pathlib.Path(folder) / f'{rank}.json').write_text(json.dumps(found))


if __name__ == '__main__':
    main(*sys.argv[1:])
