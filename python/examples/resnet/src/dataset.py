"""Images from folders or CIFAR-10's binary files, ready for the network."""
from __future__ import annotations

import glob
import os
from typing import Any

import sindri as ms
import sindri.dataset as ds
import sindri.dataset.transforms as transforms
import sindri.dataset.vision as vision

# Means and standard deviations of the training images, on the scale 0 to 1.
_STATISTICS = {
    "cifar10": ([0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]),
    "imagenet2012": ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
}


def _source(path: str, kind: str, do_train: bool, workers: int, shards: dict[str, int]) -> tuple[ds.Dataset, bool]:
    """(dataset with columns image and label, whether its images are decoded)."""
    options: dict[str, Any] = dict(num_parallel_workers=workers, shuffle=do_train, **shards)
    if kind == "cifar10" and glob.glob(os.path.join(path, "*.bin")):
        return ds.Cifar10Dataset(path, usage="train" if do_train else "test", **options), True
    parts = ("train",) if do_train else ("test", "val", "eval")
    folder = next((f for f in (os.path.join(path, p) for p in parts) if os.path.isdir(f)), path)
    return ds.ImageFolderDataset(folder, **options), False


def _image_operations(kind: str, do_train: bool, size: int, decoded: bool) -> list[Any]:
    mean, std = _STATISTICS[kind]
    operations: list[Any] = [] if decoded else [vision.Decode()]
    if kind == "cifar10":
        if do_train:
            operations += [vision.RandomCrop((32, 32), (4, 4, 4, 4)), vision.RandomHorizontalFlip(prob=0.5)]
        if size != 32:
            operations.append(vision.Resize((size, size)))
    elif do_train:
        operations = [vision.RandomCropDecodeResize(size, scale=(0.08, 1.0), ratio=(0.75, 4.0 / 3.0)), vision.RandomHorizontalFlip(prob=0.5)]
    else:
        operations += [vision.Resize(size * 256 // 224), vision.CenterCrop(size)]
    return operations + [vision.Rescale(1.0 / 255.0, 0.0), vision.Normalize(mean, std), vision.HWC2CHW()]


def create_dataset(path: str, kind: str, do_train: bool, batch_size: int, image_size: int, workers: int = 2,
                   distribute: bool = False) -> ds.Dataset:
    """Batches (image float32 [N, 3, S, S], label int32 [N]).

    kind 'cifar10': a folder with CIFAR-10's .bin files, or with train/ and test/ of one folder per class; 'imagenet2012': a folder with train/ and
    val/ of one folder per class. A folder that holds the class folders itself is taken as it is. distribute: every rank reads its own part.
    Raises ValueError for another kind; missing or empty folders raise as the dataset classes say.
    """
    if kind not in _STATISTICS:
        raise ValueError(f"dataset '{kind}' is not known | create_dataset | use one of {', '.join(_STATISTICS)}")
    shards = {}
    if distribute:
        from sindri.communication import get_group_size, get_rank
        shards = {"num_shards": get_group_size(), "shard_id": get_rank()}
    data, decoded = _source(path, kind, do_train, workers, shards)
    data = data.map(operations=transforms.TypeCast(ms.int32), input_columns="label", num_parallel_workers=workers)
    data = data.map(operations=_image_operations(kind, do_train, image_size, decoded), input_columns="image", num_parallel_workers=workers)
    return data.batch(batch_size, drop_remainder=do_train)
