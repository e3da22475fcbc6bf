"""Writes with MindSpore (recorded with 2.10.0) tests/python/expectations/metrics.json and tests/nn/expectations/metrics.json, which the tests of both languages
read: python tests/reference/make_metric_expectations.py"""
import json
import os
import sys

import mindspore.train

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import metric_cases  # noqa: E402

with open(os.path.join(HERE, "..", "python", "expectations", "metrics.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in metric_cases.results(mindspore.train).items()) + "\n}\n")

folder = os.path.join(HERE, "..", "nn", "expectations")
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "metrics.json"), "w", encoding="utf-8") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in metric_cases.counted_results(mindspore.train)) + "\n]\n")
