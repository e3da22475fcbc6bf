"""Checks that MindSpore can read Sindri's checkpoints and continue training from one:

    PYTHONPATH=python python tests/reference/check_checkpoints.py write FOLDER     # where sindri is installed
    python tests/reference/check_checkpoints.py read FOLDER                         # where mindspore is

The opposite direction is tested by tests/python/test_checkpoint.py::test_reads_a_file_of_mindspore. Last run with MindSpore 2.10.0: all equal.
"""
import hashlib
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import numpy as np  # noqa: E402
import train_cases  # noqa: E402

APPEND = {"epoch_num": 3, "lr": 0.25, "flag": True, "note": "héllo"}


def write(folder):
    import sindri as ms
    from sindri import dataset, nn, train
    for name, compat in (("new.ckpt", False), ("old.ckpt", True)):
        path = os.path.join(folder, name)
        ms.save_checkpoint(train_cases.checkpoint_entries(ms), path, append_dict=APPEND, compat_mindspore1=compat)
        with open(path, "rb") as f:
            print(name, hashlib.sha256(f.read()).hexdigest())
    model, _ = train_cases.model(ms, nn, train)
    model.train(1, train_cases.dataset(dataset))
    ms.save_checkpoint(model.train_network, os.path.join(folder, "step.ckpt"))


def read(folder):
    import mindspore as ms
    from mindspore import dataset, nn, train
    ms.set_context(mode=ms.PYNATIVE_MODE)
    want = {e["name"]: e["data"] for e in train_cases.checkpoint_entries(ms)}
    for name in ("new.ckpt", "old.ckpt"):
        for crc in (False, True):
            found = ms.load_checkpoint(os.path.join(folder, name), crc_check=crc)
            for key, value in want.items():
                assert found[key].dtype == value.dtype and found[key].shape == value.shape, key
                assert (found[key].astype(ms.float32).asnumpy() == value.astype(ms.float32).asnumpy()).all(), key
            assert {k: found[k] if k == "note" else found[k].asnumpy().item() for k in APPEND} == APPEND
    model, net = train_cases.model(ms, nn, train)
    left, _ = ms.load_param_into_net(model.train_network, ms.load_checkpoint(os.path.join(folder, "step.ckpt")))
    assert left == []
    model.train(1, train_cases.dataset(dataset))
    with open(os.path.join(HERE, "..", "python", "expectations", "train.json"), encoding="utf-8") as f:
        expected = json.load(f)["fit parameters"]
    for p in net.trainable_params():
        np.testing.assert_allclose(p.asnumpy(), expected[p.name], rtol=3e-5, atol=1e-7)
    print("all equal")


{"write": write, "read": read}[sys.argv[1]](sys.argv[2])
