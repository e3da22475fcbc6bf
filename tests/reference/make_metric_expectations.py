"""Writes tests/python/expectations/metrics.json with MindSpore (recorded with 2.10.0): python tests/reference/make_metric_expectations.py"""
import json
import os
import sys

import mindspore.train

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import metric_cases  # noqa: E402

with open(os.path.join(HERE, "..", "python", "expectations", "metrics.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in metric_cases.results(mindspore.train).items()) + "\n}\n")
