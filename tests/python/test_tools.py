"""sindri.tools: weights from and to other frameworks, one step compared value by value, command lines."""
import json
import os
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

import sindri as ms
from sindri import Parameter, Tensor, nn
from sindri.tools import _names, _safetensors, cli, compare, convert
from sindri.tools._safetensors import Weight

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))
import make_torchvision_logits as formula  # noqa: E402


def expectation(name):
    with open(os.path.join(HERE, "expectations", name), encoding="utf-8") as f:
        return json.load(f)


def weight(name, array, dtype=None):
    a = np.asarray(array)
    return Weight(name, dtype or {"float32": "F32", "int64": "I64", "float16": "F16"}[str(a.dtype)], a)


def f32(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 0.5


# --- safetensors ----------------------------------------------------------------------------------------------------------------

RAMP = {
    "bool": "|b1",
    "uint8": "|u1",
    "int8": "|i1",
    "int16": "<i2",
    "uint16": "<u2",
    "int32": "<i4",
    "uint32": "<u4",
    "int64": "<i8",
    "uint64": "<u8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
}


def test_reads_a_file_of_the_library():
    """expectations/library.safetensors was written by the safetensors library (tests/reference/make_safetensors.py)."""
    weights, metadata, verified = _safetensors.read(os.path.join(HERE, "expectations", "library.safetensors"))
    found = {w.name: w for w in weights}
    assert metadata == {"format": "np", "note": "héllo"} and not verified and len(found) == 16
    for name, code in RAMP.items():
        expected = [0, 1, 0, 1, 0, 1] if name == "bool" else [0, 1, 2, 3, 4, 5]
        assert found[f"layer.{name}"].array.dtype == np.dtype(code) and found[f"layer.{name}"].shape == (2, 3)
        assert found[f"layer.{name}"].array.reshape(-1).tolist() == expected
    # 1.0 is 0x3f80 in bfloat16, 5.0 is 0x40a0
    assert found["layer.bfloat16"].dtype == "BF16" and found["layer.bfloat16"].array.reshape(-1).tolist() == [
        0,
        0x3F80,
        0x4000,
        0x4040,
        0x4080,
        0x40A0,
    ]
    assert found["scalar"].shape == () and float(found["scalar"].array) == 1.5
    assert found["empty"].shape == (0, 4) and found["größe"].array.tolist() == [-7]


def test_writes_what_it_reads_bit_for_bit(tmp_path):
    weights, metadata, _ = _safetensors.read(os.path.join(HERE, "expectations", "library.safetensors"))
    _safetensors.write(str(tmp_path / "a.safetensors"), weights, metadata)
    again, metadata_again, verified = _safetensors.read(str(tmp_path / "a.safetensors"))
    assert verified and metadata_again == metadata
    assert [w.name for w in again] == [w.name for w in weights] and all(a.same_bits(b) for a, b in zip(weights, again))
    assert os.listdir(tmp_path) == ["a.safetensors"]  # no temporary file remains


def st_file(header, data=b"", pad=0):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) + pad) + text + data


ENTRY = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
BAD_FILES = {
    "empty": (b"", "at least 8 bytes"),
    "short length": (b"\1\0\0", "at least 8 bytes"),
    "header beyond the file": (st_file({}, pad=9), "truncated"),
    "header of 100 MB": (struct.pack("<Q", 100_000_001) + b"{}", "truncated"),
    "no brace": (st_file(b"[1]"), "first byte"),
    "bad json": (st_file(b"{,}"), "cannot be read"),
    "bad utf-8": (st_file(b'{"\xff": 1}'), "cannot be read"),
    "deep": (st_file(b'{"a":' + b"[" * 100_000), "cannot be read"),
    "duplicate": (
        st_file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"ab"),
        "twice",
    ),
    "no dict": (st_file({"a": 3}), "exactly dtype"),
    "unknown dtype": (st_file({"a": {**ENTRY, "dtype": "F7"}}, b"abcd"), "'F7'"),
    "negative dim": (st_file({"a": {**ENTRY, "shape": [-1]}}, b"abcd"), "non-negative"),
    "fraction dim": (st_file({"a": {**ENTRY, "shape": [1.0]}}, b"abcd"), "non-negative"),
    "boolean dim": (st_file({"a": {**ENTRY, "shape": [True]}}, b"abcd"), "non-negative"),
    "product overflow": (st_file({"a": {**ENTRY, "shape": [2**40, 2**40]}}, b"abcd"), "needs"),
    "size": (st_file({"a": {**ENTRY, "shape": [2]}}, b"abcd"), "4 bytes where"),
    "hole": (st_file({"a": {**ENTRY, "data_offsets": [4, 8]}}, b"abcdefgh"), "without gaps"),
    "overlap": (st_file({"a": ENTRY, "b": {**ENTRY, "data_offsets": [2, 6]}}, b"abcdef"), "without gaps"),
    "short data": (st_file({"a": ENTRY}, b"abc"), "3 bytes of data"),
    "trailing data": (st_file({"a": ENTRY}, b"abcde"), "5 bytes of data"),
    "metadata": (st_file({"__metadata__": {"k": 1}, "a": ENTRY}, b"abcd"), "texts"),
    "integrity text": (st_file({"__metadata__": {"sindri.integrity": "{"}, "a": ENTRY}, b"abcd"), "sindri.integrity"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_refuses_bad_safetensors(tmp_path, name):
    content, message = BAD_FILES[name]
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ms.CheckpointError, match=message) as e:
        _safetensors.read(str(path))
    assert e.value.code in (4001, 4002) and isinstance(e.value, ValueError)


def test_finds_every_flipped_bit(tmp_path):
    path = tmp_path / "a.safetensors"
    _safetensors.write(str(path), [weight("conv1.weight", f32(3, 2)), weight("conv2.weight", f32(6).astype(np.float16))], {"format": "ms"})
    content = path.read_bytes()
    accepted = []
    for k in range(8 * len(content)):
        changed = bytearray(content)
        changed[k // 8] ^= 1 << k % 8
        path.write_bytes(bytes(changed))
        try:
            _safetensors.read(str(path))
            accepted.append(k)
        except ms.CheckpointError:
            pass
    assert accepted == []


def test_reads_files_from_before_headers_had_a_checksum(tmp_path):
    path = tmp_path / "a.safetensors"
    _safetensors.write(str(path), [weight("a", f32(3))], {"format": "ms"})
    content = path.read_bytes()
    header = json.loads(content[8:8 + struct.unpack("<Q", content[:8])[0]])
    del header["__metadata__"]["sindri.header"]
    header["__metadata__"]["sindri.integrity"] = header["__metadata__"]["sindri.integrity"].replace(',"header":1', "")
    path.write_bytes(st_file(header, content[-12:]))
    weights, metadata, verified = _safetensors.read(str(path))
    assert verified and metadata == {"format": "ms"} and weights[0].same_bits(weight("a", f32(3)))


def test_finds_every_changed_byte_of_the_data(tmp_path):
    path = tmp_path / "a.safetensors"
    _safetensors.write(str(path), [weight("a", f32(3))])
    content = path.read_bytes()
    for k in range(len(content) - 12, len(content)):
        changed = bytearray(content)
        changed[k] ^= 1
        path.write_bytes(bytes(changed))
        with pytest.raises(ms.CheckpointError, match="corrupt"):
            _safetensors.read(str(path))


def test_failed_write_leaves_the_earlier_file(tmp_path):
    path = tmp_path / "a.safetensors"
    _safetensors.write(str(path), [weight("a", f32(3))])
    before = path.read_bytes()
    with pytest.raises(ms.CheckpointError, match="two tensors"):
        _safetensors.write(str(path), [weight("b", f32(3)), weight("b", f32(2))])
    with pytest.raises(ms.IoError, match="cannot write"):
        _safetensors.write(str(tmp_path / "none" / "a.safetensors"), [weight("a", f32(3))])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.safetensors"]


# --- names ----------------------------------------------------------------------------------------------------------------------

def renamed(rows):
    return {r.old: r.new for r in rows}


TORCH_SHAPES = {
    "conv1.weight": (64, 3, 7, 7),
    "bn1.weight": (64,),
    "bn1.bias": (64,),
    "bn1.running_mean": (64,),
    "bn1.running_var": (64,),
    "bn1.num_batches_tracked": (),
    "layer1.0.conv1.weight": (64, 64, 3, 3),
    "layer1.0.bn1.weight": (64,),
    "layer1.0.bn1.bias": (64,),
    "layer1.0.bn1.running_mean": (64,),
    "layer1.0.bn1.running_var": (64,),
    "layer2.0.conv3.weight": (256, 64, 1, 1),
    "layer2.0.bn1.weight": (64,),
    "layer2.0.bn1.running_mean": (64,),
    "layer2.0.downsample.0.weight": (128, 64, 1, 1),
    "layer2.0.downsample.1.weight": (128,),
    "layer2.0.downsample.1.running_var": (128,),
    "layer2.0.downsample.1.running_mean": (128,),
    "fc.weight": (10, 512),
    "fc.bias": (10,),
}
MINDSPORE_NAMES = [
    "conv1.weight", "bn1.gamma", "bn1.beta", "bn1.moving_mean", "bn1.moving_variance", None,
    "layer1.0.conv1.weight", "layer1.0.bn1d.gamma", "layer1.0.bn1d.beta", "layer1.0.bn1d.moving_mean",
    "layer1.0.bn1d.moving_variance", "layer2.0.conv3.weight", "layer2.0.bn1.gamma", "layer2.0.bn1.moving_mean",
    "layer2.0.down_sample_layer.0.weight", "layer2.0.down_sample_layer.1.gamma", "layer2.0.down_sample_layer.1.moving_variance",
    "layer2.0.down_sample_layer.1.moving_mean", "end_point.weight", "end_point.bias",
]


def test_torchvision_resnet_names_both_ways():
    rows = _names.to_mindspore(TORCH_SHAPES)
    assert [r.new for r in rows] == MINDSPORE_NAMES
    back = _names.to_torch({r.new: TORCH_SHAPES[r.old] for r in rows if r.new})
    assert [r.new for r in back] == [n for n, new in zip(TORCH_SHAPES, MINDSPORE_NAMES) if new]


def test_names_of_a_whole_resnet_are_those_of_the_networks():
    """Every name of torchvision's ResNet-18 maps to one of the C++ network's, with the same shape."""
    shapes = {k: tuple(s) for k, s in expectation("resnet18_logits.json")["shapes"].items()}
    ours = {p.name: tuple(p.shape) for p in ms.models.create("resnet18").get_parameters()}
    assert {r.new: shapes[r.old] for r in _names.to_mindspore(shapes) if r.new} == ours


def test_generic_names():
    shapes = {
        "emb.weight": (10, 4),
        "wte.weight": (10, 4),
        "proj.weight": (4, 4),
        "fc.weight": (4, 4),
        "fc.bias": (4,),
        "ln_1.weight": (4,),
        "ln_1.bias": (4,),
        "rms_norm.weight": (4,),
        "prelu.weight": (4,),
        "strange.weight": (4,),
        "conv.weight": (8, 4, 3),
        "lstm.weight_ih_l0": (16, 4),
    }
    rows = {r.old: r for r in _names.to_mindspore(shapes)}
    assert {n: r.new for n, r in rows.items()} == {
        "emb.weight": "emb.embedding_table",
        "wte.weight": "wte.embedding_table",
        "proj.weight": "proj.weight",
        "fc.weight": "fc.weight",
        "fc.bias": "fc.bias",
        "ln_1.weight": "ln_1.gamma",
        "ln_1.bias": "ln_1.beta",
        "rms_norm.weight": "rms_norm.gamma",
        "prelu.weight": "prelu.w",
        "strange.weight": "strange.weight",
        "conv.weight": "conv.weight",
        "lstm.weight_ih_l0": "lstm.weight_ih_l0",
    }
    assert rows["conv.weight"].shape == (8, 4, 1, 3) and rows["fc.weight"].shape is None
    back = _names.to_torch({"emb.embedding_table": (10, 4), "ln_1.gamma": (4,), "ln_1.beta": (4,), "prelu.w": (4,), "fc.weight": (4, 4)})
    assert [r.new for r in back] == ["emb.weight", "ln_1.weight", "ln_1.bias", "prelu.weight", "fc.weight"]


def test_fc_stays_fc_outside_resnets():
    assert renamed(_names.to_mindspore({"fc.weight": (4, 4), "conv1.weight": (4, 4, 1, 1)})) == {
        "fc.weight": "fc.weight",
        "conv1.weight": "conv1.weight",
    }
    assert renamed(_names.to_mindspore({"fc.weight": (4, 4)}, net="resnet")) == {"fc.weight": "end_point.weight"}


def test_training_state_does_not_go_to_torch():
    shapes = {"conv1.weight": (2, 2, 1, 1), "bn1.gamma": (2,), "moments.conv1.weight": (2, 2, 1, 1), "moments.bn1.gamma": (2,), "learning_rate": (),
              "momentum": (), "global_step": (1,), "epoch_num": (), "sindri.rng": (16,)}
    assert {n for n, new in renamed(_names.to_torch(shapes)).items() if new is None} == set(shapes) - {"conv1.weight", "bn1.gamma"}


def test_map_goes_first_and_back():
    lines = ["# ResNets of other makers", "*.shortcut.*  *.down_sample_layer.*", "linear.* end_point.*", "*.counter -", "c.weight c.weight expand=2"]
    shapes = {"layer1.0.shortcut.0.weight": (2, 2, 1, 1), "linear.bias": (2,), "a.counter": (), "c.weight": (2, 2, 3), "other.gamma": (2,)}
    there = [convert.NameMap(lines).apply(n, s) for n, s in shapes.items()]
    assert [r and r.new for r in there] == ["layer1.0.down_sample_layer.0.weight", "end_point.bias", None, "c.weight", None]
    assert there[3].shape == (2, 2, 1, 3) and there[2].what == "dropped" and there[4] is None
    back = convert.NameMap(lines, reverse=True)
    assert back.apply("layer1.0.down_sample_layer.0.weight", ()).new == "layer1.0.shortcut.0.weight"
    assert back.apply("c.weight", (2, 2, 1, 3)).shape == (2, 2, 3) and back.apply("a.counter", ()) is None


@pytest.mark.parametrize(
    "line, message", [("a", "expected OLD NEW"), ("a b c d", "expected OLD NEW"), ("*.a b", "same number"), ("a b swap=1", "expand=AXIS")]
)
def test_bad_maps_name_their_line(line, message):
    with pytest.raises(ValueError, match=message) as e:
        convert.NameMap(["# first", line], "m.txt")
    assert e.value.where == "m.txt:2"


def test_squeeze_needs_a_dimension_of_one():
    with pytest.raises(ValueError, match="squeeze=0"):
        convert.NameMap(["a b squeeze=0"]).apply("a", (3, 1))


def test_two_names_must_not_become_one():
    with pytest.raises(ms.CheckpointError, match="'a.x' and 'b.x' would both be named 'c.x'"):
        convert.rename([weight("a.x", f32(1)), weight("b.x", f32(1))], "mindspore", mapping={"a.*": "c.*", "b.*": "c.*"})


# --- files ----------------------------------------------------------------------------------------------------------------------

def sample_entries():
    """Returns a small training checkpoint: every element type of .ckpt, a scalar, state, a text."""
    kinds = ("float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool_", "float64")
    entries = [{"name": f"net.{k}", "data": Tensor(np.arange(6).reshape(2, 3) % 2, getattr(ms, k))} for k in kinds]
    entries += [{"name": "bn.gamma", "data": Tensor(f32(4))}, {"name": "moments.bn.gamma", "data": Tensor(f32(4) * 2)},
                {"name": "learning_rate", "data": Tensor(0.1, ms.float32)}, {"name": "epoch_num", "data": 3}, {"name": "note", "data": "héllo"}]
    return entries


def test_ckpt_and_safetensors_round_trip_bit_for_bit(tmp_path):
    a, b, c = (str(tmp_path / n) for n in ("a.ckpt", "b.safetensors", "c.ckpt"))
    ms.save_checkpoint(sample_entries(), a)
    assert convert.convert(a, b).count("kept") == 12
    convert.convert(b, c)
    with open(a, "rb") as f, open(c, "rb") as g:
        assert f.read() == g.read()


def test_every_bfloat16_number_survives(tmp_path):
    """All 65,536 bit patterns; a signalling NaN may become quiet (bit 6), as in any arithmetic."""
    bits = np.arange(65536).astype("<u2")
    a, b, c = (str(tmp_path / n) for n in ("a.safetensors", "b.ckpt", "c.safetensors"))
    _safetensors.write(a, [Weight("x.weight", "BF16", bits)])
    convert.convert(a, b)
    convert.convert(b, c)
    (found,), _, _ = _safetensors.read(c)
    nan = ((bits & 0x7F80) == 0x7F80) & ((bits & 0x7F) != 0)
    assert found.dtype == "BF16" and np.array_equal(found.array[~nan], bits[~nan])
    assert np.array_equal(found.array[nan] | 0x40, bits[nan] | 0x40)


def test_convert_loads_into_a_network(tmp_path):
    """A state dict with PyTorch's names sets the values of a Sindri network."""
    a, b = str(tmp_path / "a.safetensors"), str(tmp_path / "b.ckpt")
    _safetensors.write(
        a,
        [
            weight("0.weight", f32(2, 1, 3, 3)),
            weight("1.weight", f32(2)),
            weight("1.bias", f32(2) + 1),
            weight("1.running_mean", f32(2) + 2),
            weight("1.running_var", f32(2) + 3),
            Weight("1.num_batches_tracked", "I64", np.array(7)),
        ],
    )
    report = convert.convert(a, b)
    assert (report.count("renamed"), report.count("kept"), report.count("dropped")) == (4, 1, 1)
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
    assert len(ms.load_param_into_net(net, ms.load_checkpoint(b))) == 0
    np.testing.assert_array_equal(net[1].moving_variance.asnumpy(), [3.5, 4.5])
    np.testing.assert_array_equal(net[1].beta.asnumpy(), [1.5, 2.5])
    np.testing.assert_array_equal(net[0].weight.asnumpy().reshape(-1), np.arange(18) + 0.5)


def test_drop_state_keeps_the_network(tmp_path):
    a, b = str(tmp_path / "a.ckpt"), str(tmp_path / "b.ckpt")
    ms.save_checkpoint(sample_entries(), a)
    report = convert.convert(a, b, drop_state=True)
    assert [r.old for r in report.rows if r.what == "dropped"] == ["moments.bn.gamma", "learning_rate", "epoch_num", "note"]
    assert list(ms.load_checkpoint(b)) == [e["name"] for e in sample_entries()[:9]]


def test_types_that_ckpt_lacks_are_named(tmp_path):
    a = str(tmp_path / "a.safetensors")
    _safetensors.write(a, [weight("fine", f32(2)), Weight("odd", "C64", np.zeros(2, np.complex64))])
    with pytest.raises(ms.CheckpointError, match="'odd' has the element type C64"):
        convert.convert(a, str(tmp_path / "b.ckpt"))
    assert os.listdir(tmp_path) == ["a.safetensors"]
    convert.convert(a, str(tmp_path / "b.ckpt"), mapping={"odd": "-"})
    assert list(ms.load_checkpoint(str(tmp_path / "b.ckpt"))) == ["fine"]


def test_existing_targets_are_kept_unless_forced(tmp_path):
    a, b = str(tmp_path / "a.safetensors"), str(tmp_path / "b.ckpt")
    _safetensors.write(a, [weight("x", f32(2))])
    convert.convert(a, b)
    with pytest.raises(ValueError, match="exists"):
        convert.convert(a, b)
    with pytest.raises(ValueError, match="same file"):
        convert.convert(a, a, overwrite=True)
    convert.convert(a, b, overwrite=True)  # over a read-only .ckpt


def test_logits_of_torchvision_weights(tmp_path):
    """torchvision's ResNet-18 with weights from a formula has the logits that PyTorch computed in float64 (make_torchvision_logits.py)."""
    expected = expectation("resnet18_logits.json")
    a, b = str(tmp_path / "resnet18.safetensors"), str(tmp_path / "resnet18.ckpt")
    _safetensors.write(a, [weight(k, formula.value(k, tuple(s))) for k, s in expected["shapes"].items()])
    report = convert.convert(a, b)
    assert (report.count("kept"), report.count("dropped")) == (17, 20) and any("eps 1e-5" in n for n in report.notes)
    x = (2 * formula.unit(formula.INPUT_KEY, int(np.prod(formula.INPUT_SHAPE))) - 1).astype(np.float32).reshape(formula.INPUT_SHAPE)
    for net in (example_resnet18(), ms.models.create("resnet18", variant="torchvision")):
        assert len(ms.load_param_into_net(net, ms.load_checkpoint(b), strict_load=True)) == 0
        for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
            ms.set_context(mode=mode)
            np.testing.assert_allclose(net(Tensor(x)).asnumpy(), expected["logits"], atol=1e-4, rtol=0)


def example_resnet18():
    """Returns the network of python/examples/resnet in torchvision's form."""
    sys.path.insert(0, os.path.join(ROOT, "python", "examples", "resnet"))
    try:
        from src.resnet import resnet18
    finally:
        sys.path.pop(0)
    return resnet18(1000, variant="torchvision")


# --- PyTorch itself (skipped if it is not installed) -------------------------------------------------------------------------------

def test_pytorch_round_trip(tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten(), torch.nn.Linear(4, 2), torch.nn.LayerNorm(2))
    model[3].to(torch.bfloat16)
    a, b, c = (str(tmp_path / n) for n in ("a.pth", "b.ckpt", "c.pt"))
    torch.save({"state_dict": {"module." + k: v for k, v in model.state_dict().items()}, "epoch": 3}, a)
    report = convert.convert(a, b)
    assert [r.new for r in report.rows] == [
        "0.weight",
        "0.bias",
        "1.gamma",
        "1.beta",
        "1.moving_mean",
        "1.moving_variance",
        None,
        "3.weight",
        "3.bias",
        "4.gamma",
        "4.beta",
    ]
    assert any("module." in n for n in report.notes) and any("epoch" in n for n in report.notes)
    convert.convert(b, c)
    found = torch.load(c)
    for name, value in model.state_dict().items():
        if name != "1.num_batches_tracked":
            assert found[name].dtype == value.dtype and torch.equal(found[name], value)
    assert model.load_state_dict(found)  # strict


def test_pytorch_files_that_run_code_are_refused(tmp_path):
    torch = pytest.importorskip("torch")

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    torch.save({"weight": torch.zeros(1), "evil": Evil()}, str(tmp_path / "a.pth"))
    with pytest.raises(ms.CheckpointError, match="would run code"):
        convert.convert(str(tmp_path / "a.pth"), str(tmp_path / "b.ckpt"))
    (tmp_path / "b.pth").write_bytes(b"no such thing")
    with pytest.raises(ms.CheckpointError):
        convert.convert(str(tmp_path / "b.pth"), str(tmp_path / "b.ckpt"))
    assert not (tmp_path / "made").exists()


def test_without_pytorch_the_message_says_so(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "a.pth").write_bytes(b"")
    for a, b in (("a.pth", "b.ckpt"), ("a.safetensors", "b.pth")):
        with pytest.raises(ValueError, match="PyTorch is not installed"):
            convert.convert(str(tmp_path / a), str(tmp_path / b))


def test_step_equals_pytorchs(tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True), torch.nn.Flatten(),
                                torch.nn.Linear(4 * 64, 10))
    net = small_net(pad_mode="pad", padding=1, has_bias=True)
    assert len(ms.load_param_into_net(net, convert.from_torch(model))) == 0
    x, label = np.random.default_rng(0).standard_normal((4, 3, 8, 8)).astype(np.float32), np.array([1, 2, 3, 4])
    theirs = compare.record_torch(model, torch.nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), 0.1, momentum=0.9), (x, label))
    ours = compare.record(
        net, nn.SoftmaxCrossEntropyWithLogits(True, "mean"), nn.Momentum(net.trainable_params(), 0.1, 0.9), (x, label.astype(np.int32))
    )
    found = compare.diff(ours, theirs)
    assert found.equal and found.only == ([], []), found.table()
    assert [sum(d.kind == k for d in found.values) for k in compare.KINDS] == [2, 8, 6, 1, 6, 8]


# --- one step compared ------------------------------------------------------------------------------------------------------------

def small_net(eps=1e-5, **conv):
    return nn.SequentialCell(nn.Conv2d(3, 4, 3, **conv), nn.BatchNorm2d(4, eps=eps), nn.ReLU(), nn.Flatten(), nn.Dense(4 * 64, 10))


def step(path=None, eps=1e-5, lr=0.1, reduction="mean", shift=0.0, **options):
    ms.set_seed(3)
    net = small_net(eps)
    net[4].bias.set_data(Tensor(np.full(10, shift, np.float32)))
    rng = np.random.default_rng(0)
    batch = (rng.standard_normal((4, 3, 8, 8)).astype(np.float32), np.array([1, 2, 3, 4], np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
    return compare.record(net, loss, nn.Momentum(net.trainable_params(), lr, 0.9), batch, path, **options)


def test_record_holds_the_step_in_order(mode):
    """Values compared with formulas; the context's mode has no effect and is restored."""
    before = ms.get_context("mode")
    rec = step()
    assert ms.get_context("mode") == before
    assert [i.name for i in rec.items if i.kind == "activation"] == ["0", "1", "2", "3", "4", "(net)"]
    assert [i.name for i in rec.items if i.kind == "gradient"] == ["4.weight", "4.bias", "1.gamma", "1.beta", "0.weight"]  # in the order of the backward pass
    a = {i.name: i.array for i in rec.items if i.kind == "activation"}
    np.testing.assert_array_equal(a["2"], np.maximum(a["1"], 0))
    logits = a["4"].astype(np.float64)
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    label = np.array([1, 2, 3, 4])
    assert abs(float(rec.of("loss")["loss"].array) + np.log(p[np.arange(4), label]).mean()) < 1e-6
    p[np.arange(4), label] -= 1
    np.testing.assert_allclose(rec.of("gradient")["4.bias"].array, p.mean(0), atol=1e-7)
    np.testing.assert_allclose(rec.of("gradient")["4.weight"].array, p.T @ a["3"] / 4, atol=1e-6)
    w, g, u = (rec.of(k)["4.weight"].array for k in ("weight", "gradient", "updated"))
    np.testing.assert_allclose(u, w - 0.1 * g, atol=1e-7)
    mean = a["0"].mean((0, 2, 3))
    np.testing.assert_allclose(rec.of("updated")["1.moving_mean"].array, 0.1 * mean, atol=1e-7)


def test_record_leaves_the_network_as_it_was():
    net = small_net()
    net.set_train(False)
    compare.record(net, None, None, (np.ones((2, 3, 8, 8), np.float32),), train=False)
    assert not net.training and not any(c._hooks or c.__dict__["_cell_slow"] for _, c in net.cells_and_names())


def test_equal_steps_are_equal(tmp_path):
    step(str(tmp_path / "a.npz"))
    step(str(tmp_path / "b.safetensors"))
    found = compare.diff(str(tmp_path / "a.npz"), str(tmp_path / "b.safetensors"), rtol=0, atol=0)
    assert found.equal and found.first is None and "no difference" in found.table()
    assert sorted(os.listdir(tmp_path)) == ["a.json", "a.npz", "b.safetensors"]


@pytest.mark.parametrize(
    "change, kind, name",
    [
        (dict(eps=1e-2), "activation", "1"),
        (dict(shift=0.5), "weight", "4.bias"),
        (dict(lr=0.2), "updated", "0.weight"),
        (dict(reduction="sum"), "loss", "loss"),
    ],
)
def test_finds_where_steps_part(change, kind, name):
    found = compare.diff(step(), step(**change))
    assert (found.first.kind, found.first.name, found.equal) == (kind, name, False)
    assert f"first difference: {kind} {name}:" in found.table()


def test_reports_place_and_size_of_the_largest_difference():
    a, b = step(), step()
    target = next(i for i in b.items if i.kind == "activation" and i.name == "2")
    target.array[1, 2, 3, 4] += 2.0
    first = compare.diff(a, b).first
    largest = np.abs(target.array).max()
    assert first.name == "2" and first.at == (1, 2, 3, 4) and abs(first.max_abs - 2) < 1e-6 and abs(first.relative - 2 / largest) < 1e-6
    assert compare.diff(a, b, rtol={"activation": 2.0}).equal


def test_non_finite_and_shapes_are_differences():
    a, b = step(), step()
    next(i for i in b.items if i.name == "3").array[0, 5] = np.nan
    first = compare.diff(a, b).first
    assert (first.name, first.what, first.at) == ("3", "not finite", (0, 5))
    item = next(i for i in b.items if i.name == "0" and i.kind == "activation")
    item.shape, item.array = (4, 4, 4, 16), item.array.reshape(4, 4, 4, 16)
    assert "shapes [4, 4, 8, 8] and [4, 4, 4, 16]" in compare.diff(a, b).first.line()


def test_repeated_calls_are_numbered_and_samples_kept():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()

        def construct(self, x):
            return self.relu(self.relu(x) - 1.0)

    rec = compare.record(Twice(), None, None, (Tensor(np.linspace(-2, 2, 100, dtype=np.float32)),), train=False, sample=10)
    found = rec.of("activation")
    assert list(found) == ["relu", "relu#2", "(net)"] and found["relu"].shape == (100,) and found["relu"].array.size == 10
    expected = np.maximum(np.linspace(-2, 2, 100, dtype=np.float32), 0)[np.linspace(0, 99, 10).astype(int)]
    np.testing.assert_array_equal(found["relu"].array, expected)


def test_damaged_records_are_refused(tmp_path):
    path = str(tmp_path / "a.npz")
    step(path)
    with open(tmp_path / "a.json", encoding="utf-8") as f:
        text = f.read()
    (tmp_path / "a.json").write_text(text[: len(text) // 2])
    with pytest.raises(ms.CheckpointError, match="not a record"):
        compare.load(path)
    (tmp_path / "a.json").write_text(text)
    with open(path, "r+b") as f:
        f.truncate(100)
    with pytest.raises(ms.CheckpointError, match="cannot be read"):
        compare.load(path)
    with pytest.raises(ms.IoError):
        compare.load(str(tmp_path / "none.npz"))
    with pytest.raises(TypeError, match="record_torch"):
        compare.record(object(), None, None, ())


# --- command lines ------------------------------------------------------------------------------------------------------------------

def run(*args):
    """Runs `python -m sindri ARGS` in a separate process."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(os.path.dirname(ms.__file__)), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run([sys.executable, "-m", "sindri", *args], capture_output=True, text=True, check=False, env=env)


def test_convert_command(tmp_path, capsys):
    a, b, report = (str(tmp_path / n) for n in ("a.safetensors", "b.ckpt", "report.json"))
    _safetensors.write(a, [weight("bn.weight", f32(2)), weight("bn.running_mean", f32(2)), Weight("bn.num_batches_tracked", "I64", np.array(1))])
    assert cli.main(["convert", a, b, "--report", report]) == 0
    out = capsys.readouterr().out
    assert (
        re.search(r"renamed +2\n", out) and "bn.weight -> bn.gamma" in out and "num_batches_tracked: MindSpore's batch norm counts no batches" in out
    )
    rows = json.load(open(report, encoding="utf-8"))["rows"]
    assert [(r["old"], r["new"], r["what"]) for r in rows] == [
        ("bn.weight", "bn.gamma", "renamed"), ("bn.running_mean", "bn.moving_mean", "renamed"), ("bn.num_batches_tracked", None, "dropped")]


def test_errors_are_laid_out_with_their_exit_codes(tmp_path):
    done = run("convert", "a.ckpt")
    assert done.returncode == 2 and re.match(r"error\[E2020\] .*OUT\n  where: .*\n  fix: ", done.stderr) and done.stdout == ""
    (tmp_path / "a.safetensors").write_bytes(b"{}")
    done = run("convert", str(tmp_path / "a.safetensors"), str(tmp_path / "b.ckpt"))
    assert done.returncode == 4 and done.stderr.startswith("error[E4002] ") and "Traceback" not in done.stderr
    (tmp_path / "a.ckpt").write_bytes(b"nonsense")
    assert run("convert", str(tmp_path / "a.ckpt"), str(tmp_path / "b.safetensors")).returncode == 4
    assert run("convert", str(tmp_path / "none.ckpt"), str(tmp_path / "b.safetensors")).returncode == 5
    assert run("compare", "diff", "a.npz", "b.npz", "--rtol", "x").returncode == 2
    assert run("compare", "diff", "a.txt", "b.txt").returncode in (2, 5)


def test_compare_commands(tmp_path, capsys):
    a, b = str(tmp_path / "a.npz"), str(tmp_path / "b.npz")
    step(a)
    step(b, eps=1e-2)
    assert cli.main(["compare", "diff", a, a]) == 0 and "no difference" in capsys.readouterr().out
    assert cli.main(["compare", "diff", a, b, "--json", str(tmp_path / "d.json")]) == 1
    assert "first difference: activation 1:" in capsys.readouterr().out
    assert json.load(open(tmp_path / "d.json", encoding="utf-8"))["equal"] is False
    assert cli.main(["compare", "diff", a, b, "--rtol", "10", "--atol", "10"]) == 0
    assert cli.main(["compare", "diff", a, b, "--kinds", "input,weight"]) == 0
    assert cli.main(["compare", "diff", a, b, "--kinds", "inputs"]) == 2
    capsys.readouterr()
    assert cli.main(["compare", "show", a]) == 0
    assert "gradient   4.weight [10, 256]" in capsys.readouterr().out


def test_record_command(tmp_path, capsys):
    script = tmp_path / "step.py"
    script.write_text("import numpy as np\nfrom sindri import nn\n\n\ndef make():\n    net = nn.Dense(3, 2)\n    loss = nn.MSELoss()\n"
                      "    return net, loss, nn.SGD(net.trainable_params(), 0.1), (np.ones((4, 3), np.float32), np.zeros((4, 2), np.float32))\n")
    out = str(tmp_path / "r.npz")
    assert cli.main(["compare", "record", f"{script}:make", out]) == 0
    assert "2 input, 2 weight, 1 activation, 1 loss, 2 gradient, 2 updated" in capsys.readouterr().out
    assert compare.load(out).of("updated")["weight"].shape == (2, 3)
    assert cli.main(["compare", "record", f"{script}:none", out]) == 2
    assert cli.main(["compare", "record", str(script), out]) == 2


@pytest.mark.parametrize("args", [["convert"], ["compare"], ["compare", "diff"], ["compare", "record"]])
def test_help_is_short_and_starts_with_examples(args, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as e:
        cli.main(args + ["--help"])
    text = capsys.readouterr().out
    assert e.value.code == 0 and len(text.splitlines()) <= 60 and text.count("python -m sindri " + " ".join(args)) >= 3


def test_parameters_of_any_kind_convert():
    """from_tensor and to_tensor are inverses for Parameters."""
    p = Parameter(Tensor(f32(2, 3)), name="p")
    back = convert.to_tensor(convert.from_tensor("p", p))
    assert back.dtype == ms.float32 and np.array_equal(back.asnumpy(), f32(2, 3))


def test_suggested_commands_are_as_the_program_was_called(tmp_path):
    """The wheel's program has a path deep in site-packages, so a run's suggestions name `python -m sindri`, or `sindri` if it is in PATH."""
    from sindri import __main__ as entry
    try:
        entry._program()
    except SystemExit as e:
        pytest.skip(f"the program is not built: {e}")

    def words(number):
        return ["train", "quickstart", "--set", "train.max_steps=2", "--set", f"train.run_dir={tmp_path / str(number)}", "--quiet"]
    done = run(*words(0))
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"next:       {os.path.basename(sys.executable)} -m sindri eval --checkpoint ")
    script = tmp_path / "bin" / "sindri"  # as pip installs it
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nfrom sindri.__main__ import main\nmain()\n", encoding="utf-8")
    script.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(ms.__file__)), "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}
    for number, call in enumerate(("sindri", str(script)), 1):
        done = subprocess.run([call, *words(number)], capture_output=True, text=True, check=False, env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("next:       sindri eval --checkpoint ")


def test_help_names_every_verb():
    from sindri.__main__ import _program
    try:
        _program()
    except SystemExit as e:
        pytest.skip(f"the program is not built: {e}")
    done = run("--help")
    assert done.returncode == 0, done.stderr
    for verb in ("train", "eval", "predict", "summary", "benchmark", "profile", "convert", "compare"):
        assert re.search(rf"^  {verb} +\S", done.stdout, re.M), done.stdout
