"""Encrypted checkpoints: MindSpore's format in both directions, wrong keys, damage, and ModelCheckpoint."""
import os
import struct

import numpy as np
import pytest

import sindri as ms
import train_cases
from sindri import Tensor, _core, nn
from sindri.train import CheckpointConfig, ModelCheckpoint, load_checkpoint, save_checkpoint, serialization
from sindri.train.serialization import load_checkpoint_async, wait_for_async_saves

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = b"0123456789abcdef"
MAGIC = {"AES-GCM": 0x7F3A5ED8, "AES-CBC": 0x7F3A5ED9, "SM4-CBC": 0x7F3A5EDA}
MODES = tuple(MAGIC)
KEYS = [("AES-GCM", KEY), ("AES-GCM", KEY + b"01234567"), ("AES-GCM", KEY + KEY), ("AES-CBC", KEY), ("AES-CBC", KEY + b"01234567"),
        ("AES-CBC", KEY + KEY), ("SM4-CBC", KEY)]
VALUES = {"fc.weight": Tensor(np.arange(600, dtype=np.float32).reshape(20, 30)), "note": "text"}


def save(path, mode="AES-GCM", key=KEY, **kwargs):
    save_checkpoint(VALUES, str(path), enc_key=key, enc_mode=mode, **kwargs)
    return str(path)


def check(found):
    assert list(found) == ["fc.weight", "note"] and found["note"] == "text"
    np.testing.assert_array_equal(found["fc.weight"].asnumpy(), VALUES["fc.weight"].asnumpy())


@pytest.mark.parametrize("mode, key", KEYS)
def test_what_is_written_is_read(tmp_path, mode, key):
    path = save(tmp_path / "a.ckpt", mode, key)
    with open(path, "rb") as f:
        data = f.read()
    assert b"fc.weight" not in data and struct.unpack("<I", data[:4])[0] == MAGIC[mode]
    check(load_checkpoint(path, dec_key=key, dec_mode=mode))
    assert os.listdir(tmp_path) == ["a.ckpt"] and os.stat(path).st_mode & 0o777 == 0o400
    again = save(tmp_path / "b.ckpt", mode, key)
    with open(again, "rb") as f:
        assert f.read() != data, "two files must not share an iv"


@pytest.mark.parametrize("mode", MODES)
def test_reads_files_of_mindspore(mode):
    """Written by MindSpore 2.10.0: save_checkpoint(…, enc_key=KEY, enc_mode=mode)."""
    found = load_checkpoint(os.path.join(HERE, "expectations", f"mindspore_{mode.lower()}.ckpt"), dec_key=KEY, dec_mode=mode)
    assert list(found) == ["fc.weight", "fc.bias"]
    np.testing.assert_array_equal(found["fc.weight"].asnumpy(), np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(found["fc.bias"].asnumpy(), np.array([1.5, -2], np.float32))


@pytest.mark.parametrize("mode", MODES[:2])
def test_files_of_mindspore_1(tmp_path, mode):
    """One magic number for both modes, and no tag: without a tag, AES-GCM would let anyone flip bits of the weights."""
    plain = tmp_path / "plain.ckpt"
    save_checkpoint(VALUES, str(plain), compat_mindspore1=True)
    block = _core.seal_block(plain.read_bytes(), KEY, mode)
    old = struct.pack("<I", 0x7F3A5ED8) + block[20 if mode == "AES-GCM" else 4:]
    (tmp_path / "old.ckpt").write_bytes(old)
    if mode == "AES-CBC":
        check(load_checkpoint(str(tmp_path / "old.ckpt"), dec_key=KEY, dec_mode=mode))
    else:
        with pytest.raises(ValueError, match="no authentication tags.*could not be detected"):
            load_checkpoint(str(tmp_path / "old.ckpt"), dec_key=KEY, dec_mode=mode)


def test_a_tag_cannot_be_left_out_of_a_later_block(tmp_path, monkeypatch):
    monkeypatch.setattr(serialization, "_BLOCK_BYTES", 1000)
    with open(save(tmp_path / "a.ckpt"), "rb") as f:
        data = f.read()
    second = data.index(data[:4], 4)
    (tmp_path / "b.ckpt").write_bytes(data[:second + 4] + data[second + 20:])
    with pytest.raises(ValueError, match=f"sizes of a block are inconsistent.*byte {second}"):
        load_checkpoint(str(tmp_path / "b.ckpt"), dec_key=KEY)


def test_no_memory_follows_a_claimed_size(tmp_path):
    with open(save(tmp_path / "a.ckpt", "AES-CBC"), "rb") as f:
        data = bytearray(f.read())
    data[4:8], data[28:32] = struct.pack("<I", 24 + 0xf0000000), struct.pack("<I", 0xf0000000)
    (tmp_path / "b.ckpt").write_bytes(data)
    with pytest.raises(ValueError, match="sizes of a block are inconsistent"):
        load_checkpoint(str(tmp_path / "b.ckpt"), dec_key=KEY, dec_mode="AES-CBC")


@pytest.mark.parametrize("mode", MODES)
def test_what_is_broken_inside_is_named_by_its_file(tmp_path, mode):
    """Encrypted with the right key, but not a complete checkpoint."""
    save_checkpoint(VALUES, str(tmp_path / "plain.ckpt"))
    data = (tmp_path / "plain.ckpt").read_bytes()[:-3]
    path = tmp_path / "broken.ckpt"
    path.write_bytes(_core.seal_block(data, KEY, mode))
    with pytest.raises(ValueError, match="broken.ckpt") as e:
        load_checkpoint(str(path), dec_key=KEY, dec_mode=mode)
    assert "/proc/" not in str(e.value)


@pytest.mark.parametrize("mode", MODES)
def test_large_files_are_blocks(tmp_path, monkeypatch, mode):
    monkeypatch.setattr(serialization, "_BLOCK_BYTES", 1000)
    path = save(tmp_path / "a.ckpt", mode)
    with open(path, "rb") as f:
        assert f.read().count(struct.pack("<I", MAGIC[mode])) == 3  # 2400 bytes of weights and their metadata
    check(load_checkpoint(path, dec_key=KEY, dec_mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_key_is_refused(tmp_path, mode):
    path = save(tmp_path / "a.ckpt", mode)
    for _ in range(4):
        with pytest.raises(ValueError, match="differs from the key"):
            load_checkpoint(path, dec_key=os.urandom(16), dec_mode=mode)
    with pytest.raises(ValueError, match="encrypted | give the dec_key"):
        load_checkpoint(path)
    other = "AES-CBC" if mode != "AES-CBC" else "SM4-CBC"
    with pytest.raises(ValueError, match=f"is encrypted with {mode}.*dec_mode='{mode}'"):
        load_checkpoint(path, dec_key=KEY, dec_mode=other)
    plain = str(tmp_path / "plain.ckpt")
    save_checkpoint(VALUES, plain)
    with pytest.raises(ValueError, match="not encrypted.*omit dec_key"):
        load_checkpoint(plain, dec_key=KEY, dec_mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_damage_is_found(tmp_path, mode):
    with open(save(tmp_path / "a.ckpt", mode), "rb") as f:
        data = f.read()
    broken = tmp_path / "broken.ckpt"
    for at in [*range(0, 60), len(data) // 2, len(data) - 1]:
        changed = bytearray(data)
        changed[at] ^= 1
        if mode == "AES-GCM" and 40 <= at < 44 or mode == "AES-CBC" and at == 0:
            continue  # GCM uses 12 of the iv's 16 bytes; 0xD8 is the magic of 1.x, and the content is complete
        broken.write_bytes(changed)
        with pytest.raises(ValueError):
            load_checkpoint(str(broken), dec_key=KEY, dec_mode=mode)
    for length in (1, 3, 4, 30, 50, len(data) - 1):
        broken.write_bytes(data[:length])
        with pytest.raises(ValueError):
            load_checkpoint(str(broken), dec_key=KEY, dec_mode=mode)


def test_arguments(tmp_path):
    path = str(tmp_path / "a.ckpt")
    for call in (lambda **kw: save_checkpoint(VALUES, path, **kw), lambda **kw: CheckpointConfig(**kw)):
        for bad in (dict(enc_key="0123456789abcdef"), dict(enc_key=b"short"), dict(enc_key=KEY + KEY, enc_mode="SM4-CBC"), dict(enc_mode="DES"),
                    dict(enc_mode=1)):
            with pytest.raises(ValueError, match="enc_key|enc_mode"):
                call(**bad)
    with pytest.raises(ValueError, match="compat_mindspore1"):
        save(path, compat_mindspore1=True)
    save(path)
    with pytest.raises(ValueError, match="dec_key"):
        load_checkpoint(path, dec_key=b"short")
    with pytest.raises(ValueError, match="dec_key"):
        load_checkpoint(path, dec_key=3)


@pytest.fixture
def hide():
    """Returns hide(part), which makes libcrypto functions with this text in their names unavailable for the test."""
    yield _core.hide_libcrypto
    _core.hide_libcrypto("")


def test_without_openssl(tmp_path, hide):
    """A clear error, and the previous file stays."""
    path = save(tmp_path / "a.ckpt")
    hide("EVP")
    with pytest.raises(RuntimeError, match="needs OpenSSL"):
        save(path)
    hide("")
    assert os.listdir(tmp_path) == ["a.ckpt"]
    check(load_checkpoint(path, dec_key=KEY))


def test_an_openssl_without_sm4(tmp_path, hide):
    """Some systems omit SM4: the other modes work there."""
    hide("sm4")
    check(load_checkpoint(save(tmp_path / "a.ckpt"), dec_key=KEY))
    with pytest.raises(RuntimeError, match="has no SM4-CBC.*use AES-GCM"):
        save(tmp_path / "b.ckpt", "SM4-CBC")
    assert os.listdir(tmp_path) == ["a.ckpt"]


def test_in_threads(tmp_path):
    path = save(tmp_path / "a.ckpt", async_save=True)
    wait_for_async_saves()
    check(load_checkpoint_async(path, dec_key=KEY).result())


def test_model_checkpoint(tmp_path, mode):
    net = train_cases.network(ms, nn)
    model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    config = CheckpointConfig(save_checkpoint_steps=2, enc_key=KEY, enc_mode="AES-CBC")
    assert config.enc_key == KEY and config.enc_mode == "AES-CBC"
    model.train(1, train_cases.dataset(ms.dataset), callbacks=[ModelCheckpoint("net", str(tmp_path), config)])
    found = load_checkpoint(str(tmp_path / "net-1_6.ckpt"), dec_key=KEY, dec_mode="AES-CBC")
    np.testing.assert_array_equal(found["fc1.weight"].asnumpy(), net.fc1.weight.asnumpy())
