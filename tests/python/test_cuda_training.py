"""Training runs in Python on the CUDA backend, whose kernels run on the host (tests/cuda_host): the CPU's results within rounding, bitwise identical results
whether a
step is captured or run kernel by kernel, and the CPU's random numbers."""
import numpy as np
import pytest

from simulated import IMPORTS, run
from test_device_training import training

EPOCHS = 2  # of ten steps each


def results(tmp_path, name, script, cuda_host, **environment):
    """Returns the values that a script of test_device_training wrote."""
    output = str(tmp_path / f"{name}.npz")
    run(IMPORTS + script(output), SINDRI_CUDA_PLUGIN=cuda_host, SINDRI_STRICT_TARGET="1", SINDRI_STRICT="1", **environment)
    return np.load(output)


@pytest.mark.parametrize("way", ["model", "sunk", "cell", "function"])
def test_follows_the_cpu_captured_and_plain(cuda_host, mode, way, tmp_path):
    cpu = results(tmp_path, "cpu", lambda output: training(EPOCHS, mode, way, "CPU", output), cuda_host)
    captured = results(tmp_path, "captured", lambda output: training(EPOCHS, mode, way, "GPU", output), cuda_host)
    assert sorted(captured.files) == sorted(cpu.files) and len(cpu.files) > 10
    for name in cpu.files:
        value = cpu[name][9::10] if name == "losses" and way == "sunk" and mode == "graph" else cpu[name]  # on the CPU, callbacks run after every step
        np.testing.assert_allclose(captured[name], value, rtol=2e-3, atol=2e-4, err_msg=name)
    if mode == "graph":
        plain = results(tmp_path, "plain", lambda output: training(EPOCHS, mode, way, "GPU", output), cuda_host, SINDRI_CUDA_GRAPH="0")
        for name in captured.files:
            np.testing.assert_array_equal(captured[name], plain[name], err_msg=name)


# Every random op in one step. Results stay on the device until the end, so that replays run back to back.
RANDOM = '''
ms.set_context(mode=ms.GRAPH_MODE if MODE == 'graph' else ms.PYNATIVE_MODE, device_target=DEVICE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.drop, self.drop2d = nn.Dropout(p=0.3), nn.Dropout2d(p=0.5)

    def construct(self, x, images):
        drawn = ops.uniform((5, 7), ms.Tensor(0.0), ms.Tensor(1.0)), ops.standard_normal((4, 9)), ops.randperm(11)
        return (self.drop(x), self.drop2d(images), ops.bernoulli(x * 0 + 0.4), *drawn)


def steps(seed):
    ms.set_seed(seed)
    net = Net()
    net.set_train()
    x, images = ms.Tensor(np.ones((6, 10), np.float32)), ms.Tensor(np.ones((3, 4, 5, 5), np.float32))
    return [net(x, images) for _ in range(5)]


kept = {}
for seed in (3, 4, 3):
    for n, step in enumerate(steps(seed)):
        for k, value in enumerate(step):
            kept[f'{len(kept)} seed {seed} step {n} value {k}'] = value
np.savez(OUTPUT, **{name: value.asnumpy() for name, value in kept.items()})
'''


def test_random_numbers_are_those_of_the_cpu_and_differ_from_replay_to_replay(cuda_host, mode, tmp_path):
    def script(device):
        return lambda output: f"MODE, DEVICE, OUTPUT = {mode!r}, {device!r}, {output!r}\n" + RANDOM

    cpu = results(tmp_path, "cpu", script("CPU"), cuda_host)
    captured = results(tmp_path, "captured", script("GPU"), cuda_host)
    plain = results(tmp_path, "plain", script("GPU"), cuda_host, SINDRI_CUDA_GRAPH="0")
    assert len(cpu.files) == 3 * 5 * 6 and sorted(captured.files) == sorted(cpu.files)
    for name in cpu.files:
        if name.endswith("value 4"):  # logarithm and cosine of two libraries
            np.testing.assert_allclose(captured[name], cpu[name], rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(captured[name], cpu[name], err_msg=name)
        np.testing.assert_array_equal(captured[name], plain[name], err_msg=name)
    for value in range(6):
        seen = [captured[name] for name in captured.files if name.endswith(f"value {value}")]
        for n in range(10):  # two seeds of five steps
            assert all(not np.array_equal(seen[n], other) for other in seen[n + 1:10]), f"value {value}, step {n}"
            assert n >= 5 or np.array_equal(seen[n], seen[10 + n]), "the seed decides"
