"""Writes tests/python/expectations/dataset.json with MindSpore (recorded with 2.10.0, CPU): python tests/reference/make_dataset_expectations.py"""
import json
import os
import sys

import mindspore
from mindspore.dataset import text, transforms, vision

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import dataset_cases  # noqa: E402


def line(name, value):
    value = {"raises": type(value).__name__} if isinstance(value, Exception) else value
    return f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"


with open(os.path.join(HERE, "..", "python", "expectations", "dataset.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(line(*case) for case in dataset_cases.results(vision, transforms, text, mindspore).items()) + "\n}\n")
