"""Folders of images as the seed documents describe them: one folder per class, named by its WordNet id, with JPEG files of different sizes.

Uses photographs of ../shared/data if they exist, else generated images. docs/seeds.md lists the documents; test_seed_*.py run their commands.
"""
import os
import pathlib
import tarfile

import numpy as np

from sindri import Tensor
from sindri.dataset import vision

ROOT = pathlib.Path(__file__).resolve().parents[2]
PHOTOGRAPHS = ROOT.parent / "shared" / "data" / "imagenet-samples.tar"
CLASSES = ("n01440764", "n01443537", "n01484850", "n01491361", "n01494475", "n01496331")  # from ImageNet


def _photographs(count):
    """Returns the bytes of `count` photographs, or None if there are none."""
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
    """Writes a JPEG with sides of 40 to 90 pixels whose colour depends on its class."""
    h, w = rng.integers(40, 90, 2)
    image = rng.integers(0, 120, (h, w, 3)) + np.array([20 * label, 120 - 20 * label, 60])
    vision.write_jpeg(str(path), Tensor(np.clip(image, 0, 255).astype(np.uint8)), 90)


def image_folder(folder, per_class, classes=CLASSES, seed=0):
    """Creates folder/<class>/<i>.JPEG, per_class images per class, every second one a photograph if there are any; returns the folder."""
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
