"""Training runs shared by the tests and by the script that recorded their expectations (tests/reference/make_train_expectations.py)."""
import contextlib
import io
import re

import numpy as np

TIMES = re.compile(r'\d+\.\d{3}')


def arrays():
    """Returns twelve samples of three features, in two classes."""
    rng = np.random.RandomState(3)
    return rng.randn(12, 3).astype(np.float32), (np.arange(12) % 2).astype(np.int32)


def dataset(ds, rows=12, batch=2):
    x, y = arrays()
    return ds.NumpySlicesDataset((x[:rows], y[:rows]), ['x', 'y'], shuffle=False).batch(batch)


def network(ms, nn):
    """Returns a network of two Dense layers with fixed values."""
    rng = np.random.RandomState(4)
    w = [ms.Tensor((rng.randn(*s) / 2).astype(np.float32)) for s in ((4, 3), (2, 4))]

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Dense(3, 4, weight_init=w[0], bias_init='zeros')
            self.relu = nn.ReLU()
            self.fc2 = nn.Dense(4, 2, weight_init=w[1], bias_init='zeros')

        def construct(self, x):
            return self.fc2(self.relu(self.fc1(x)))
    return Net()


def model(ms, nn, train, **kwargs):
    net = network(ms, nn)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')
    return train.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9, weight_decay=0.01), **kwargs), net


def teller(train, said):
    """Returns a callback that records every hook with (mode, epoch, step, batch_num)."""
    class Tell(train.Callback):
        pass
    for hook in [h for h in dir(train.Callback) if h.startswith('on_')]:
        def note(self, run_context, hook=hook):
            p = run_context.original_args()
            epoch = p.get('cur_epoch_num') if hook != 'on_train_begin' else 0
            said.append([hook, p['mode'], epoch, p['cur_step_num'], p['batch_num']])
        setattr(Tell, hook, note)
    return Tell()


def run(ms, nn, train, ds):
    """Returns losses, lines (times replaced by T), callback order, metrics and final parameters of fit and train in PyNative mode."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    out = {}
    said = []
    m, net = model(ms, nn, train, metrics={'acc': train.Accuracy(), 'loss': train.Loss()})
    with contextlib.redirect_stdout(io.StringIO()) as text:
        m.fit(2, dataset(ds), dataset(ds, 4), callbacks=[train.LossMonitor(4), train.TimeMonitor(), teller(train, said)])
    out['fit lines'] = [TIMES.sub('T', line) if 'time' in line else line for line in text.getvalue().splitlines()]
    out['fit hooks'] = said
    out['fit parameters'] = {p.name: p.asnumpy().tolist() for p in net.trainable_params()}
    out['eval'] = {k: float(v) for k, v in m.eval(dataset(ds)).items()}
    out['predict'] = m.predict(ms.Tensor(arrays()[0][:2])).asnumpy().tolist()
    losses = []
    m, net = model(ms, nn, train)
    history = train.History()
    m.train(3, dataset(ds, batch=4),
            callbacks=[train.LambdaCallback(on_train_step_end=lambda c: losses.append(float(c.original_args().net_outputs.asnumpy()))),
                                                history], initial_epoch=1)
    out['losses'] = losses
    out['history'] = [history.epoch['epoch'], [float(np.asarray(v)) for v in history.history['net_output']]]
    return out


def checkpoint_entries(ms):
    """Returns one array of every common type."""
    a = np.arange(6).reshape(2, 3)
    kinds = ('float32', 'float16', 'bfloat16', 'int32', 'int64', 'uint8', 'bool_', 'float64')
    entries = [{'name': f'{k}.x', 'data': ms.Tensor(a % 2 if k == 'bool_' else a, getattr(ms, k))} for k in kinds]
    return entries + [{'name': 'scalar', 'data': ms.Tensor(1.5, ms.float32)}]
