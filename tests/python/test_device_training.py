"""Training runs in Python on the simulated accelerator: in strict mode bitwise identical to the CPU, checkpoints that either device reads, and device faults as
exceptions of the right class."""
import numpy as np
import pytest

from simulated import run

# Convolution, batch norm, dropout; gradients accumulated over two steps, averaged weights, a dynamic loss scale that starts too large. Ten steps per epoch.
TRAINING = '''
ROWS, BATCH = 40, 4


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(1, 6, 3, pad_mode='pad', padding=1), nn.BatchNorm2d(6)
        self.drop, self.head = nn.Dropout(p=0.3), nn.Dense(6 * 16, 5)

    def construct(self, x):
        x = ops.max_pool2d(ops.relu(self.bn(self.conv(x))), 2, 2)
        return self.head(self.drop(ops.flatten(x))) * 16


def rows():
    rng = np.random.default_rng(3)
    for i in range(ROWS):
        yield rng.normal(size=(1, 8, 8)).astype(np.float32) + np.float32(i % 5), np.int32(i % 5)


def data():
    return ms.dataset.GeneratorDataset(list(rows()), ['x', 'y'], shuffle=True).batch(BATCH, drop_remainder=True)


BOOST = {'boost': {'mode': 'manual', 'less_bn': False, 'grad_freeze': False, 'grad_accumulation': True, 'average': True},
         'grad_accumulation': {'grad_accumulation_step': 2}, 'average': {'decay': 0.9}}


def make_model():
    ms.set_seed(11)
    net = Net()
    optimizer = nn.Adam(net.trainable_params(), [0.01 * 0.97 ** i for i in range(EPOCHS * ROWS // BATCH)])
    return ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), optimizer, metrics={'accuracy', 'loss'}, boost_level='O1',
                    boost_config_dict=BOOST, loss_scale_manager=ms.DynamicLossScaleManager(2 ** 125, 2 ** 20, 3))


class Losses(ms.Callback):
    """Keeps the losses unread until training has ended."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_step_end(self, run_context):
        self.losses.append(run_context.original_args().net_outputs[0])


def by_model(kept):
    model, seen = make_model(), Losses()
    model.train(EPOCHS, data(), seen, dataset_sink_mode=SINK)
    kept['metrics'] = np.array(sorted(model.eval(data(), dataset_sink_mode=False).items()), dtype=object)[:, 1].astype(np.float64)
    kept['predicted'] = model.predict(ms.Tensor(np.stack([x for x, _ in rows()][:3]))).asnumpy()
    return seen.losses, model.train_network.get_parameters()


def by_cell(kept):
    ms.set_seed(11)
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9, weight_decay=1e-3)
    scale = nn.DynamicLossScaleUpdateCell(2 ** 125, 2 ** 20, 3)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')), optimizer, scale)
    step.set_train()
    losses, overflows = [], []
    for _ in range(EPOCHS):
        for x, y in data().create_tuple_iterator():
            loss, overflow, _ = step(x, y)
            losses.append(loss)
            overflows.append(overflow)
    kept['overflows'] = np.array([o.asnumpy() for o in overflows])
    assert kept['overflows'].any() and not kept['overflows'].all()
    return losses, step.get_parameters()


def by_function(kept):
    ms.set_seed(11)
    net, loss_fn = Net(), nn.CrossEntropyLoss()
    net.set_train()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01)
    gradients = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = gradients(x, y)
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        return loss

    if MODE == 'graph':
        step = ms.jit(step)
    losses = [step(x, y) for _ in range(EPOCHS) for x, y in data().create_tuple_iterator()]
    return losses, [*net.get_parameters(), *optimizer.get_parameters()]


ms.set_context(mode=ms.GRAPH_MODE if MODE == 'graph' else ms.PYNATIVE_MODE, device_target=DEVICE)
kept = {}
losses, parameters = {'model': by_model, 'sunk': by_model, 'cell': by_cell, 'function': by_function}[WAY](kept)
assert _core.current_device() == {'CPU': 'cpu', 'sim': 'sim:0', 'GPU': 'cuda:0'}[DEVICE]
kept.update({p.name: p.asnumpy() for p in parameters})
np.savez(OUTPUT, losses=np.array([np.float32(loss.asnumpy()) for loss in losses]), **kept)
'''


def training(epochs, mode, way, device, output):
    """Returns the script that trains `epochs` epochs in one way and writes losses and parameters."""
    return f"EPOCHS, MODE, WAY, DEVICE, OUTPUT, SINK = {epochs}, {mode!r}, {way!r}, {device!r}, {output!r}, {way == 'sunk'}\n" + TRAINING


@pytest.mark.parametrize("way", ["model", "sunk", "cell", "function"])
def test_the_bits_of_the_cpu(simulator, mode, way, tmp_path):
    results, work = {}, {}
    for device in ("CPU", "sim"):
        output = str(tmp_path / f"{device}.npz")
        out, _ = run(training(5, mode, way, device, output) + "print(simulator.sindri_sim_work())\n", simulator, SINDRI_STRICT="1")
        results[device], work[device] = np.load(output), int(out)
    cpu, sim = results["CPU"], results["sim"]
    assert work["CPU"] == 0 and work["sim"] > 500, "it computed on the requested device"
    assert len(cpu["losses"]) == 50
    assert sorted(cpu.files) == sorted(sim.files) and len(cpu.files) > 10
    for name in cpu.files:
        value = cpu[name][9::10] if name == "losses" and way == "sunk" and mode == "graph" else cpu[name]  # on the CPU, callbacks run after every step
        np.testing.assert_array_equal(sim[name], value, err_msg=name)
    if way != "function":
        assert cpu["scale_sense"] < 2.0 ** 125, "steps overflowed"


def test_errors_have_their_classes(simulator):
    out, _ = run("""
ms.set_context(device_target='sim')


def tell(call):
    try:
        call()
        print('nothing was raised')
    except Exception as e:
        print([c.__name__ for c in type(e).__mro__[:3]], getattr(e, 'code', None), str(e).replace(chr(10), ' '))


x = ms.Tensor(np.arange(6, dtype=np.float32))
# The device checks an index when it runs the op: reading the result raises the error, and later ops work again.
tell(lambda: ops.gather(x, ms.Tensor([7]), 0).asnumpy())
print(x.asnumpy()[5])
_core.set_device_memory_limit(_core.device_memory_stats()['in_use'] + 2 ** 20)
tell(lambda: ops.zeros((1024, 1024)))
tell(lambda: ms.Tensor(np.zeros((1024, 1024), np.float32)))
sim('limit=0')
print(float(ops.ones((1024, 1024)).sum()))
sim('fail_copy=1')
tell(lambda: (x + 1).asnumpy())
print((x + 1).asnumpy()[5])
sim('lose=1')
tell(lambda: (x + 1).asnumpy())
tell(lambda: ops.zeros((2,)))
tell(ms.runtime.synchronize)
sim('repair=1')
print((x + 1).asnumpy()[5])
cpu = x
ms.set_context(device_target='CPU')
tell(lambda: cpu + ms.Tensor(np.ones(6, np.float32)))
""", simulator)
    lines = out.splitlines()
    device = "['DeviceError', 'Error', 'RuntimeError'] "
    assert lines[0].startswith("['InvalidValueError', 'Error', 'ValueError'] 2003 gather: index 7 at position [0] is outside a dimension of size 6 | gather on sim:0")
    assert lines[1] == "5.0"
    for line in lines[2:4]:
        assert line.startswith(device + "5002 cannot allocate 4194304 bytes on sim:0 (") and "limit" in line and "reduce the batch size" in line
    assert lines[4] == "1048576.0"
    assert lines[5].startswith(device + "5004 a copy of ") and "sim:0" in lines[5] and lines[6] == "6.0"
    for line in lines[7:10]:
        assert line.startswith(device + "5004 device sim:0 is lost | at ") and "what was saved before is whole" in line
    assert lines[10] == "6.0"
    assert lines[11].startswith(device + "2004 add: input 0 is on sim:0, input 1 on cpu") and "copy them to one device" in lines[11]
    assert len(lines) == 12


def test_a_loss_that_is_no_number_is_named_with_its_step(simulator):
    out, _ = run("""
ms.set_context(device_target='sim')
x = np.ones((40, 3), np.float32)
x[28] = np.nan  # in the eighth batch of four
net = nn.Dense(3, 2)
for every in (1, 5, 0):
    for p in net.trainable_params():
        p.set_data(ms.Tensor(np.full(p.shape, 0.5, np.float32)))
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.01))
    data = ms.dataset.NumpySlicesDataset({'x': x, 'y': np.zeros((40, 2), np.float32)}, shuffle=False).batch(4)
    try:
        model.train(1, data, ms.LossMonitor(every), dataset_sink_mode=False)
    except ValueError as e:
        print(e)
""", simulator)
    lines = out.splitlines()
    errors = [line for line in lines if "Invalid loss" in line]
    assert len(errors) == 3 and all(line.startswith("epoch: 1 step: 8. Invalid loss") for line in errors)
    assert [line.split(",")[0] for line in lines if ", loss is" in line] == [f"epoch: 1 step: {k}" for k in (1, 2, 3, 4, 5, 6, 7, 5)]


# Work in progress is lost when a device fails, but saved work is not: the run resumes from the checkpoint, on either device, with results bitwise identical to
# an
# uninterrupted run.
FAULTY = '''
ms.set_context(mode=ms.GRAPH_MODE if MODE == 'graph' else ms.PYNATIVE_MODE)



class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense, self.drop, self.head = nn.Dense(3, 8), nn.Dropout(p=0.3), nn.Dense(8, 2)

    def construct(self, x):
        return self.head(self.drop(ops.relu(self.dense(x))))


def data():
    x = np.random.default_rng(3).normal(size=(20, 3)).astype(np.float32)
    return ms.dataset.NumpySlicesDataset({'x': x, 'y': (x.sum(axis=1) > 0).astype(np.int32)}, shuffle=True).batch(4, drop_remainder=True)


def train(resume=None, folder=None, after=None):
    ms.set_seed(11)
    net = Net()
    model = ms.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.Adam(net.trainable_params(), 0.01),
                     loss_scale_manager=ms.DynamicLossScaleManager(2 ** 12, 2, 2))
    if resume is not None:
        model.load_training_state(resume)

    class Fault(ms.Callback):
        def on_train_step_end(self, run_context):
            if after is not None and run_context.original_args().cur_step_num == 9:
                sim(after)

    callbacks = [Fault()]
    if folder is not None:
        callbacks.append(ms.ModelCheckpoint('net', folder, ms.CheckpointConfig(save_checkpoint_steps=2, keep_checkpoint_max=100)))
    model.train(4, data(), callbacks, dataset_sink_mode=False)
    return {p.name: p.asnumpy() for p in model.train_network.get_parameters()}


whole = train()
ms.set_context(device_target='sim')
for number, fault in enumerate(('lose=1', 'lose=30', 'fail_copy=1', 'fail_copy=5', 'lose_read=2', 'lose_read=9')):
    folder = os.path.join(FOLDER, str(number))
    try:
        train(folder=folder, after=fault)
        print('nothing was raised')
    except ms.DeviceError as e:
        print(e.code)
    sim('repair=1')
    for device in ('sim', 'CPU'):
        ms.set_context(device_target=device)
        files = [f for f in os.listdir(folder) if f.endswith('.ckpt')]
        assert len(files) >= 4 and not [f for f in os.listdir(folder) if '.tmp' in f], files
        resumed = train(resume=folder)
        assert sorted(resumed) == sorted(whole)
        for name, value in whole.items():
            np.testing.assert_array_equal(resumed[name], value, err_msg=f'{fault} {device} {name}')
    ms.set_context(device_target='sim')
'''


def test_a_training_goes_on_behind_a_fault(simulator, mode, tmp_path):
    out, _ = run(f"MODE, FOLDER = {mode!r}, {str(tmp_path)!r}\n" + FAULTY, simulator, SINDRI_STRICT="1")
    assert out.split() == ["5004"] * 6
