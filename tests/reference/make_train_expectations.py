"""Writes tests/python/expectations/train.json and mindspore.ckpt with MindSpore (recorded with 2.10.0):
python tests/reference/make_train_expectations.py

train.json: losses, printed lines and results of Model.fit and Model.train on a small network. mindspore.ckpt: one entry of every kind.
"""
import json
import os
import sys

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, train

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "..", "python", "expectations")
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import train_cases  # noqa: E402

expected = train_cases.run(ms, nn, train, ds)
with open(os.path.join(OUT, "train.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in expected.items()) + "\n}\n")

path = os.path.join(OUT, "mindspore.ckpt")
if os.path.exists(path):
    os.chmod(path, 0o600)
    os.remove(path)
ms.save_checkpoint(train_cases.checkpoint_entries(ms), path, append_dict={"epoch_num": 3, "lr": 0.25, "flag": True, "note": "héllo"})
os.chmod(path, 0o644)
