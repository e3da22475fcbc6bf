"""A training run on a device: how often the host waits for it. On the simulated accelerator, in a separate process."""
from simulated import run

TRAINING = """
import numpy as np
from mindspore import nn, train, dataset
sim = ctypes.CDLL(os.environ["SIMULATOR"])
sim.sindri_sim_host_waits.restype = ctypes.c_int64
waits = sim.sindri_sim_host_waits

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden, self.drop, self.out = nn.Dense(8, 16, activation='relu'), nn.Dropout(p=0.25), nn.Dense(16, 4)

    def construct(self, x):
        return self.out(self.drop(self.hidden(x)))

class Waits(train.Callback):
    def __init__(self):
        self.seen, self.losses = [], []

    def on_train_step_begin(self, run_context):
        self.before = waits()

    def on_train_step_end(self, run_context):
        self.seen.append(waits() - self.before)
        self.last = run_context.original_args().net_outputs

def data():
    rows = np.random.RandomState(1)
    source = [(rows.randn(8).astype(np.float32), np.int32(i % 4)) for i in range(80)]
    return dataset.GeneratorDataset(source, ['x', 'label'], shuffle=False).batch(4)

def trained(mode, sink, extra=(), **kwargs):
    ms.set_context(mode=mode)
    ms.set_seed(3)
    net = Net()
    model = train.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.Momentum(net.trainable_params(), 0.1, 0.9), **kwargs)
    noted = Waits()
    model.train(3, data(), callbacks=[noted, *extra], dataset_sink_mode=sink)
    return noted, float(noted.last[0].asnumpy() if isinstance(noted.last, tuple) else noted.last.asnumpy())
"""


def test_steps_are_waited_for_where_somebody_asks(simulator):
    """A sunk chunk of 20 steps, and single steps: no wait. A callback that prints every tenth loss: six waits in 60 steps."""
    out, _ = run(TRAINING + """
ms.set_context(device_target='sim')
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    for sink in (True, False):
        noted, loss = trained(mode, sink)
        print(len(noted.seen), sum(noted.seen[1:]))
before = waits()
trained(ms.GRAPH_MODE, False)
quiet = waits() - before
before = waits()
trained(ms.GRAPH_MODE, False, [train.LossMonitor(10)])
print('more', waits() - before - quiet)
""", simulator)
    lines = [line for line in out.splitlines() if not line.startswith('epoch')]
    assert lines == ['3 0', '60 0', '60 0', '60 0', 'more 6']


def test_losses_are_those_of_the_cpu(simulator):
    out, _ = run(TRAINING + """
for target in ('CPU', 'sim'):
    ms.set_context(device_target=target)
    print([trained(mode, sink, **k)[1] for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE) for sink in (True, False)
           for k in ({}, {'loss_scale_manager': ms.train.DynamicLossScaleManager(2.0**126, 2, 3)})])
""", simulator, SINDRI_TUNE="0")
    on_cpu, on_device = out.splitlines()
    assert on_cpu == on_device


def test_nothing_is_saved_that_was_trained_on_garbage(simulator, tmp_path):
    """A non-finite loss is detected late on a device, but before the next checkpoint."""
    out, _ = run(TRAINING + f"""
rows = [(np.full(8, np.nan if i // 4 == 6 else 0.5, np.float32), np.int32(i % 4)) for i in range(48)]
for target in ('CPU', 'sim'):
    ms.set_context(device_target=target, mode=ms.GRAPH_MODE)
    net = Net()
    model = train.Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean'), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    saves = train.ModelCheckpoint(target, {str(tmp_path)!r}, train.CheckpointConfig(save_checkpoint_steps=4))
    try:
        model.train(1, dataset.GeneratorDataset(rows, ['x', 'label'], shuffle=False).batch(4), callbacks=[train.LossMonitor(0), saves],
                    dataset_sink_mode=False)
    except ValueError as e:
        print(str(e).partition('.')[0], sorted(f for f in os.listdir({str(tmp_path)!r}) if f.startswith(target) and f.endswith('.ckpt')))
""", simulator)
    assert out.splitlines() == ["epoch: 1 step: 7 ['CPU-1_4.ckpt']", "epoch: 1 step: 7 ['sim-1_4.ckpt']"]
