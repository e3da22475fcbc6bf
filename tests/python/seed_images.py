"""Folders of images as the seed documents describe them: a folder per class, named by its WordNet id, JPEG files of different sizes.

Photographs of ../shared/data where they are, else images made here. docs/seeds.md lists the documents; test_seed_*.py run their commands.
"""
import os
import pathlib
import tarfile

import numpy as np

from sindri import Tensor
from sindri.dataset import vision

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTOGRAPHS = ROOT.parent / "shared" / "data" / "imagenet-samples.tar"
CLASSES = ("n01440764", "n01443537", "n01484850", "n01491361", "n01494475", "n01496331")  # of ImageNet


def _photographs(count):
    """The bytes of so many photographs, or None where there are none."""
    if not PHOTOGRAPHS.is_file():
        return None
    found = []
    with tarfile.open(PHOTOGRAPHS) as tar:
        for member in tar:
            if member.isfile() and member.size < 200_000:
                found.append(tar.extractfile(member).read())
            if len(found) == count:
                return found
    return None


def _made(path, label, rng):
    """A JPEG of 40 to 90 pixels a side whose colour is its class."""
    h, w = rng.integers(40, 90, 2)
    image = rng.integers(0, 120, (h, w, 3)) + np.array([20 * label, 120 - 20 * label, 60])
    vision.write_jpeg(str(path), Tensor(np.clip(image, 0, 255).astype(np.uint8)), 90)


def image_folder(folder, per_class, classes=CLASSES, seed=0):
    """Makes folder/<class>/<i>.JPEG, per_class images of each class, every second one a photograph where there are any; returns the folder."""
    rng = np.random.default_rng(seed)
    photographs = _photographs(len(classes) * per_class) or []
    for label, name in enumerate(classes):
        os.makedirs(folder / name)
        for i in range(per_class):
            path = folder / name / f"{name}_{i}.JPEG"
            if photographs and i % 2:
                path.write_bytes(photographs.pop())
            else:
                _made(path, label, rng)
    return folder
