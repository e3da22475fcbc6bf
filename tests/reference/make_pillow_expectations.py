"""Writes tests/python/expectations/pillow.json with MindSpore and Pillow (recorded with 2.10.0, CPU, and 13.0.0):
python tests/reference/make_pillow_expectations.py
"""
import json
import os
import sys

import mindspore
import PIL
from mindspore.dataset import transforms, vision
from PIL import Image

# MindSpore compares this version as text and ignores fill values if it is 10 or higher.
Image.__version__ = "9"

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "python"))
import pillow_cases  # noqa: E402

found = pillow_cases.results(vision, transforms, Image)
with open(os.path.join(ROOT, "tests", "python", "expectations", "pillow.json"), "w", encoding="utf-8") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items())) + "\n}\n")
print(f"{len(found)} cases of MindSpore {mindspore.__version__} with Pillow {PIL.__version__}, {sum('raises' in v for v in found.values())} of them errors")
