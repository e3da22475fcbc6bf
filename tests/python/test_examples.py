"""python/examples: the ResNet example on a few generated images in both modes, its parts compared with formulas, and the quickstart."""
import importlib
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import Tensor

pytestmark = pytest.mark.slow  # omitted by scripts/test.sh --quick and --fast

pytest.importorskip("yaml")
HERE = os.path.dirname(os.path.abspath(__file__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(ms.__file__)), os.environ.get("PYTHONPATH", "")])}
EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python", "examples")
RESNET = os.path.join(EXAMPLES, "resnet")


@pytest.fixture(scope="module")
def example():
    """Returns a function that imports a module of the example, as in `example("src.resnet")`."""
    sys.path.insert(0, RESNET)
    yield importlib.import_module
    sys.path.remove(RESNET)


@pytest.fixture(scope="module")
def cifar(tmp_path_factory):
    """Writes a small dataset in CIFAR-10's binary format: 40 training images, 10 for evaluation, with a brightness per class so that there is something to
    learn."""
    folder = tmp_path_factory.mktemp("cifar")
    rng = np.random.default_rng(0)

    def records(n):
        labels = np.arange(n) % 10
        images = np.clip(rng.normal(labels[:, None] * 20 + 30, 10, (n, 3072)), 0, 255)
        return np.concatenate([labels[:, None], images], 1).astype(np.uint8)

    records(40).tofile(folder / "data_batch_1.bin")
    records(10).tofile(folder / "test_batch.bin")
    return str(folder)


def settings(example, data, output, *changes):
    base = ["batch_size=8", "epoch_size=1", "dataset_sink_mode=False", "num_parallel_workers=1", "warmup_epochs=0", "lr_max=0.02", "save_checkpoint_epochs=1",
            f"checkpoint_path={output}", f"data_path={data}"]
    return example("src.config").load(os.path.join(RESNET, "src", "resnet18_cifar10_config.yaml"), base + list(changes))


@pytest.mark.parametrize("execution", ["GRAPH", "PYNATIVE"])
def test_trains_saves_and_evaluates(example, cifar, tmp_path, capsys, execution):
    output = str(tmp_path / "out")
    config = settings(example, cifar, output, f"mode_name={execution}", "run_eval=True")
    net, results = example("train").train(config)
    assert set(results) == {"top_1_accuracy", "top_5_accuracy", "loss"} and np.isfinite(results["loss"])
    assert sorted(n for n in os.listdir(output) if n.endswith(".ckpt")) == ["best.ckpt", "resnet-1_5.ckpt"]
    printed = capsys.readouterr().out
    assert printed.count("loss is") == 5 and "Train epoch time" in printed and "epoch: 1, loss:" in printed

    config.checkpoint_path = os.path.join(output, "best.ckpt")
    again = example("eval").evaluate(config)
    assert again == pytest.approx({k: v for k, v in results.items() if k != "loss"}, rel=1e-5)


def test_modes_give_the_same_losses(example, cifar, tmp_path):
    """Two steps in graph and PyNative mode from one seed."""
    losses = []

    class Keep(ms.Callback):
        def on_train_step_end(self, run_context):
            losses.append(float(run_context.original_args().net_outputs.asnumpy()))
            if len(losses) % 2 == 0:
                run_context.request_stop()

    train = example("train")
    for execution in ("GRAPH", "PYNATIVE"):
        config = settings(example, cifar, str(tmp_path / execution), f"mode_name={execution}")
        train.set_up(config)
        data = train.make_dataset(config, do_train=True)
        net = train.make_network(config)
        example("src.initializers").init_weight(net, "HeNormal", "HeUniform")
        params = example("src.group_params").init_group_params(net, 1e-4)
        model = ms.Model(net, example("src.CrossEntropySmooth").CrossEntropySmooth(num_classes=10), ms.nn.Momentum(params, 0.02, 0.9))
        model.train(1, data, callbacks=[Keep()], dataset_sink_mode=False)
    assert len(losses) == 4 and losses[0] == pytest.approx(losses[2], rel=1e-5) and losses[1] == pytest.approx(losses[3], rel=1e-3)


def test_resumes_where_it_stopped(example, cifar, tmp_path):
    """Two epochs without interruption, and one epoch, resumed for the second: the same counters and position in the learning-rate schedule; the moments are
    loaded."""
    output = str(tmp_path / "out")
    example("train").train(settings(example, cifar, output, "epoch_size=2"))
    names = sorted(n for n in os.listdir(output) if n.endswith(".ckpt"))
    assert names == ["resnet-1_5.ckpt", "resnet-2_5.ckpt"]
    example("train").train(settings(example, cifar, output, "epoch_size=2", f"resume_ckpt={output}/resnet-1_5.ckpt"))
    (resumed,) = [n for n in os.listdir(output) if n.startswith("resnet_1-") and n.endswith(".ckpt")]
    assert resumed == "resnet_1-2_5.ckpt"
    a, b = ms.load_checkpoint(f"{output}/resnet-2_5.ckpt"), ms.load_checkpoint(f"{output}/{resumed}")
    assert set(a) == set(b)
    for name in ("epoch_num", "step_num", "global_step"):
        assert np.array_equal(a[name].asnumpy(), b[name].asnumpy()), name
    assert int(np.asarray(b["step_num"].asnumpy())) == 10 and int(b["global_step"].asnumpy().reshape(-1)[0]) == 10
    with pytest.raises(SystemExit, match="no checkpoint to resume"):
        example("train").newest_checkpoint(str(tmp_path))
    # One epoch more than the first run.
    example("train").train(settings(example, cifar, str(tmp_path / "more"), "epoch_size=3", f"resume_ckpt={output}/{resumed}"))
    assert os.path.exists(tmp_path / "more" / "resnet-3_5.ckpt")
    # The best weights are written last and hold no state: training resumes from the file before.
    best = f"{output}/best.ckpt"
    ms.save_checkpoint([{"name": n, "data": v} for n, v in b.items() if n not in ("epoch_num", "step_num")], best)
    assert os.path.basename(example("train").newest_checkpoint(output)) == resumed
    with pytest.raises(SystemExit, match="contains only weights, not the state of a training run"):
        example("train").train(settings(example, cifar, output, "epoch_size=2", f"resume_ckpt={best}"))


def test_only_weights_decay(example):
    net = example("src.resnet").resnet18(10, stem="cifar", variant="torchvision")
    decayed, plain, order = example("src.group_params").init_group_params(net, 1e-4)
    assert decayed["weight_decay"] == 1e-4 and plain["weight_decay"] == 0.0
    assert all(p.name.endswith("weight") for p in decayed["params"]) and len(decayed["params"]) == 21
    assert {p.name.rsplit(".", 1)[1] for p in plain["params"]} == {"gamma", "beta", "bias"} and len(plain["params"]) == 41
    assert order["order_params"] == net.trainable_params()


@pytest.mark.parametrize("name, count", [("resnet18", 11_689_512), ("resnet34", 21_797_672), ("resnet50", 25_557_032), ("resnet101", 44_549_160),
                                         ("resnet152", 60_192_808)])
def test_networks_have_torchvisions_parameters(example, name, count):
    """The parameter counts that torchvision documents for its networks; the names are those of sindri.models."""
    net = example("src.resnet").NETS[name](1000, variant="torchvision")
    assert sum(int(np.prod(p.shape)) for p in net.trainable_params()) == count
    assert {p.name: tuple(p.shape) for p in net.get_parameters()} == {p.name: tuple(p.shape) for p in ms.models.create(name).get_parameters()}


@pytest.mark.parametrize("variant", ["mindspore", "torchvision"])
@pytest.mark.parametrize("name", ["resnet18", "resnet50", "se-resnet50"])
def test_example_equals_the_network_of_the_library(example, name, variant, rng):
    x = Tensor(rng.standard_normal((2, 3, 40, 40)).astype(np.float32))
    ours, native = example("src.resnet").NETS[name](7, variant=variant), ms.models.create(name.replace("-", ""), num_classes=7, variant=variant)
    assert {p.name: tuple(p.shape) for p in ours.get_parameters()} == {p.name: tuple(p.shape) for p in native.get_parameters()}
    ms.load_param_into_net(ours, native.parameters_dict())
    np.testing.assert_allclose(ours(x).asnumpy(), native(x).asnumpy(), rtol=1e-4, atol=1e-5)


def test_bad_networks_are_refused(example):
    resnet = example("src.resnet")
    with pytest.raises(ValueError, match="variant 'torch'"):
        resnet.resnet18(10, variant="torch")
    with pytest.raises(ValueError, match="stem 'mnist'"):
        resnet.resnet18(10, stem="mnist")
    with pytest.raises(ValueError, match="squeeze-and-excitation"):
        resnet.resnet18(10, squeeze="all")


def test_the_network_by_both_names_of_its_classes(example):
    resnet = example("src.resnet")
    assert resnet.resnet is resnet.resnet50
    for net in (resnet.resnet18(class_num=1001), resnet.resnet18(num_classes=1001)):
        assert tuple(net.end_point.weight.shape) == (1001, 512)


def test_own_operator_and_loss(mode, example, rng):
    """Compares ReduceLogSumExp and both forms of the loss with NumPy in float64, including gradients."""
    x = rng.standard_normal((5, 7)).astype(np.float32) * 3
    wide = np.concatenate([x, np.full((1, 7), 1000, np.float32)])
    composite = example("src.composite")
    expected = np.log(np.exp(wide.astype(np.float64) - wide.max(1, keepdims=True)).sum(1)) + wide.max(1)
    np.testing.assert_allclose(composite.ReduceLogSumExp(-1)(Tensor(wide)).asnumpy(), expected, rtol=1e-6)
    assert composite.ReduceLogSumExp([0, 1], True)(Tensor(x)).shape == (1, 1)
    with pytest.raises(TypeError):
        composite.ReduceLogSumExp(0.5)

    label = np.array([0, 1, 2, 3, 6], np.int32)
    target = np.full((5, 7), 0.1 / 6)
    target[np.arange(5), label] = 0.9
    soft = np.exp(x.astype(np.float64)) / np.exp(x.astype(np.float64)).sum(1, keepdims=True)
    loss = -(target * np.log(soft)).sum(1)
    for own in (False, True):
        for reduction, value in (("mean", loss.mean()), ("sum", loss.sum()), ("none", loss)):
            fn = example("src.CrossEntropySmooth").CrossEntropySmooth(smooth_factor=0.1, num_classes=7, reduction=reduction, composite=own)
            np.testing.assert_allclose(fn(Tensor(x), Tensor(label)).asnumpy(), value, rtol=1e-5)
        fn = example("src.CrossEntropySmooth").CrossEntropySmooth(smooth_factor=0.1, num_classes=7, composite=own)
        np.testing.assert_allclose(ms.grad(fn)(Tensor(x), Tensor(label)).asnumpy(), (soft - target) / 5, atol=1e-6)
        dense = example("src.CrossEntropySmooth").CrossEntropySmooth(sparse=False, num_classes=7, composite=own)
        np.testing.assert_allclose(dense(Tensor(x), Tensor(target.astype(np.float32))).asnumpy(), loss.mean(), rtol=1e-5)


def test_learning_rates(example):
    """The schedule of the migrated training run (warm-up to the maximum, then a line times a cosine of 0.47 turns), compared with its formula at some steps."""
    get_lr = example("src.lr_generator").get_lr
    lr = get_lr(0.0, 0.0, 0.256, 8, 90, 10, "cosine")
    assert lr.dtype == np.float32 and lr.shape == (900,)
    np.testing.assert_allclose(lr[[0, 79]], [0.256 / 80, 0.256], rtol=1e-6)
    for i in (80, 500, 899):
        assert lr[i] == pytest.approx(0.256 * ((900 - i) / 820 * 0.5 * (1 + math.cos(math.pi * 2 * 0.47 * i / 820)) + 1e-5), rel=1e-5)
    half = get_lr(0.01, 0.001, 0.1, 1, 11, 10, "half_cosine")
    np.testing.assert_allclose(half[[0, 9, 10, 60]], [0.019, 0.1, 0.1, 0.0505], rtol=1e-6)
    with pytest.raises(ValueError, match="'line'"):
        get_lr(0, 0, 0.1, 0, 1, 1, "line")
    # MindSpore's other modes, from their formulas: a warm-up from lr_init, then a linear decay, a quadratic decay, and factors of ten.
    linear = get_lr(lr_init=0, lr_end=0.0, lr_max=0.8, warmup_epochs=5, total_epochs=90, steps_per_epoch=4, lr_decay_mode="linear")
    np.testing.assert_allclose(linear[[0, 1, 19, 20, 21, 359]], [0, 0.04, 0.76, 0.8, 0.8 * 339 / 340, 0.8 / 340], rtol=1e-5)
    poly = get_lr(0.01, 1e-5, 0.1, 1, 3, 10, "poly")
    np.testing.assert_allclose(poly[[0, 9, 10, 20, 29]], [0.01, 0.01 + 0.09 * 0.9, 0.1, 0.025, 0.1 * 0.05**2], rtol=1e-5)
    steps = get_lr(0.0, 0.0, 0.1, 0, 10, 10, "steps")
    np.testing.assert_allclose(steps[[0, 29, 30, 59, 60, 79, 80]], [0.1, 0.1, 0.01, 0.01, 1e-3, 1e-3, 1e-4], rtol=1e-5)


def test_schedules_of_thor(example):
    """Compared with values of MindSpore's published formula, at the settings for its 8 Ascend devices."""
    lr = example("src.lr_generator")
    rates, damping = lr.get_thor_lr(0, 0.05803, 4.0839, 53, 5004, decay_epochs=39), lr.get_thor_damping(0, 0.03, 0.50036, 70, 5004)
    for step, rate, lam in ((0, 0.058029106, 0.029999585), (5003, 0.053686909, 0.027993004), (50039, 0.024706099, 0.015010800),
                            (39 * 5004 - 1, 1.2633528e-4, 2.015224e-3), (40 * 5004 - 1, 4.6671914e-5, 1.8804058e-3)):
        assert rates[step] == pytest.approx(rate, rel=2e-6) and damping[step] == pytest.approx(lam, rel=2e-6)


def test_initial_values(example):
    init = example("src.initializers")
    shape = (256, 128, 3, 3)
    np.random.seed(0)
    w = init.kaiming_normal(shape, mode="fan_out", nonlinearity="relu")
    assert w.dtype == np.float32 and w.std() == pytest.approx(math.sqrt(2 / (256 * 9)), rel=0.01) and abs(w.mean()) < 1e-4
    assert init.kaiming_normal((64, 32), mode="fan_in", nonlinearity="tanh").std() == pytest.approx(5 / 3 / math.sqrt(32), rel=0.05)
    v = init.variance_scaling(shape)
    assert v.std() == pytest.approx(1 / math.sqrt(128 * 9), rel=0.01) and np.abs(v).max() <= 2 / math.sqrt(128 * 9) / 0.87962566103423978 + 1e-7
    with pytest.raises(ValueError):
        init.kaiming_normal((3,))
    net = example("src.resnet").resnet18(10, stem="cifar")
    before = net.end_point.weight.asnumpy().copy()
    init.init_weight(net, "XavierUniform", "default")
    bound = math.sqrt(6 / (64 * 9 + 3 * 9))
    assert np.array_equal(before, net.end_point.weight.asnumpy()) and 0.95 * bound < np.abs(net.conv1.weight.asnumpy()).max() <= bound
    with pytest.raises(ValueError, match="'Xavier'"):
        init.init_weight(net, "Xavier", "default")


def test_folders_of_images(example, tmp_path):
    """The ImageNet format: train/ and val/ with one folder per class; the folder itself or one part as argument."""
    rng = np.random.default_rng(0)
    for part, count in (("train", 3), ("val", 2)):
        for name in ("ant", "bee"):
            os.makedirs(tmp_path / part / name)
            for k in range(count):
                (tmp_path / part / name / f"{k}.png").write_bytes(png(rng.integers(0, 256, (40, 50, 3), np.uint8)))
    create = example("src.dataset").create_dataset
    train = create(dataset_path=str(tmp_path), do_train=True, batch_size=2, train_image_size=32, eval_image_size=32, target="Ascend", distribute=False)
    assert train.get_dataset_size() == 3
    assert create(dataset_path=str(tmp_path / "train"), do_train=True, repeat_num=2, batch_size=2, train_image_size=32).get_dataset_size() == 6
    for image, label in train.create_tuple_iterator(num_epochs=1):
        assert (tuple(image.shape), image.dtype, label.dtype) == ((2, 3, 32, 32), ms.float32, ms.int32)
    labels = [
        int(v) for _, label in create(str(tmp_path), False, batch_size=3, eval_image_size=32).create_tuple_iterator(num_epochs=1) for v in label.asnumpy()
    ]
    assert labels == [0, 0, 1, 1]
    cifar10 = example("src.dataset").create_dataset1(str(tmp_path), True, batch_size=2, train_image_size=40)
    assert tuple(next(cifar10.create_tuple_iterator())[0].shape) == (2, 3, 40, 40)


def png(pixels):
    """Returns the PNG bytes of an RGB image."""
    import struct
    import zlib

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    h, w, _ = pixels.shape
    raw = b"".join(b"\0" + row.tobytes() for row in pixels)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    )


def test_settings(example, tmp_path):
    load = example("src.config").load
    path = tmp_path / "a.yaml"
    path.write_text("lr_max: 1e-2\nbatch_size: 4\n")
    config = load(str(path), ["batch_size=16", "resume_ckpt=auto", "dataset_sink_mode=false"])
    assert (config.lr_max, config.batch_size, config.resume_ckpt, config.dataset_sink_mode, config.momentum) == (0.01, 16, "auto", False, 0.9)
    for text, message in (("bach_size: 4\n", "did you mean 'batch_size'"), ("batch_size: four\n", "must be of type int"), ("- 1\n", "key: value")):
        path.write_text(text)
        with pytest.raises(SystemExit, match=message):
            load(str(path))
    parse = example("src.config").get_config
    config = parse(["--config_path", os.path.join(RESNET, "src", "se-resnet50_imagenet2012_config.yaml"), "--lr_max", "0.5", "--run_eval=True"])
    assert (config.net_name, config.lr_max, config.run_eval) == ("se-resnet50", 0.5, True)
    for words, message in ((["--lr_maxx", "1"], "did you mean 'lr_max'"), (["--lr_max"], "has no value"), (["lr_max"], "expected --KEY VALUE")):
        with pytest.raises(SystemExit, match=message):
            parse(words)


def test_command_lines(cifar, tmp_path):
    """Calls train.py and eval.py as the README does."""
    def run(*args):
        return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False, cwd=RESNET, env=ENVIRONMENT)

    base = ["--config_path", "src/resnet18_cifar10_config.yaml", "--data_path", cifar, "--batch_size", "20", "--num_parallel_workers=1"]
    done = run("train.py", *base, "--epoch_size", "1", "--warmup_epochs", "0", "--save_checkpoint_epochs=1", "--checkpoint_path", str(tmp_path))
    assert done.returncode == 0, done.stderr
    checkpoint = f"{tmp_path}/resnet-1_2.ckpt"
    done = run("eval.py", *base, "--checkpoint_path", checkpoint)
    assert done.returncode == 0 and done.stdout.startswith("result: {") and done.stdout.endswith(f"}} ckpt= {checkpoint}\n"), done.stderr
    done = run("eval.py", *base, "--checkpoint_path", checkpoint, "--net_name", "resnet34")
    assert done.returncode == 1 and "lacks" in done.stderr and "Traceback" not in done.stderr
    assert "data_path is not set" in run("train.py").stderr


def test_quickstart():
    with open(os.path.join(EXAMPLES, "quickstart.py"), encoding="utf-8") as f:
        assert len(f.readlines()) <= 25
    done = subprocess.run([sys.executable, os.path.join(EXAMPLES, "quickstart.py")], capture_output=True, text=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1].split(":")[1].rstrip("}")) >= 0.97
