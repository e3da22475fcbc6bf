"""Input pipelines for images in class folders (ImageNet) and for CIFAR-10's files."""
from __future__ import annotations

import glob
import os
from typing import Any, Optional

import sindri.dataset as ds
import sindri.dataset.transforms as C2
import sindri.dataset.vision as C
from sindri import dtype as mstype

# Means and standard deviations of the training images, on the scale 0 to 255.
_IMAGENET = ([0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255])
_CIFAR10 = ([0.4914 * 255, 0.4822 * 255, 0.4465 * 255], [0.2023 * 255, 0.1994 * 255, 0.2010 * 255])
_TRAIN_FOLDERS = ("train", "ilsvrc")
_EVAL_FOLDERS = ("val", "validation_preprocess", "ilsvrc_eval", "validation", "eval", "test")


def _get_rank_info(distribute: bool) -> tuple[int, int]:
    """Returns (number of ranks, this rank), or (1, 0) unless distribute."""
    if not distribute:
        return 1, 0
    from sindri.communication import get_group_size, get_rank, init
    init()  # no effect if the script has called it
    return get_group_size(), get_rank()


def _shards(distribute: bool) -> dict[str, Any]:
    device_num, rank_id = _get_rank_info(distribute)
    return {} if device_num == 1 else {"num_shards": device_num, "shard_id": rank_id}


def _class_folders(path: str, do_train: bool) -> str:
    """Returns the subfolder with the part (train, val, validation_preprocess, ilsvrc, ilsvrc_eval, …), or the folder itself if it has none."""
    names = _TRAIN_FOLDERS if do_train else _EVAL_FOLDERS
    return next((f for f in (os.path.join(path, name) for name in names) if os.path.isdir(f)), path)


def _finish(data: ds.Dataset, operations: list[Any], do_train: bool, repeat_num: int, batch_size: int, workers: int) -> ds.Dataset:
    """Returns batches of image float32 [N, 3, S, S] and label int32 [N]. Training drops an incomplete last batch; evaluation keeps every image."""
    data = data.map(operations=operations, input_columns="image", num_parallel_workers=workers)
    data = data.map(operations=C2.TypeCast(mstype.int32), input_columns="label", num_parallel_workers=workers)
    data = data.batch(batch_size, drop_remainder=do_train)
    return data.repeat(repeat_num) if repeat_num != 1 else data


def create_dataset(dataset_path: str, do_train: bool, repeat_num: int = 1, batch_size: int = 32, train_image_size: int = 224,
                   eval_image_size: int = 224, target: str = "Ascend", distribute: bool = False, enable_cache: bool = False,
                   cache_session_id: Optional[int] = None, num_parallel_workers: int = 8) -> ds.Dataset:
    """Reads ImageNet: a folder with one folder of images per class, or a folder that contains such folders for training and evaluation.

    Training: a random crop, resized, and a random horizontal flip. Evaluation: the shorter side resized to 256/224 of the size, then a centre crop.
    distribute: each rank reads its shard. target and the cache arguments exist for MindSpore's script and have no effect here.
    For missing or empty folders, raises the errors of ImageFolderDataset.
    """
    data = ds.ImageFolderDataset(_class_folders(dataset_path, do_train), num_parallel_workers=num_parallel_workers, shuffle=do_train, **_shards(distribute))
    if do_train:
        trans = [C.RandomCropDecodeResize(train_image_size, scale=(0.08, 1.0), ratio=(0.75, 1.333)), C.RandomHorizontalFlip(prob=0.5)]
    else:
        trans = [C.Decode(), C.Resize(eval_image_size * 256 // 224), C.CenterCrop(eval_image_size)]
    trans += [C.Normalize(*_IMAGENET), C.HWC2CHW()]
    return _finish(data, trans, do_train, repeat_num, batch_size, num_parallel_workers)


def create_dataset1(dataset_path: str, do_train: bool, repeat_num: int = 1, batch_size: int = 32, train_image_size: int = 32,
                    eval_image_size: int = 32, target: str = "Ascend", distribute: bool = False, enable_cache: bool = False,
                    cache_session_id: Optional[int] = None, num_parallel_workers: int = 8) -> ds.Dataset:
    """Reads CIFAR-10: a folder with its .bin files, or with train/ and test/, which have one folder per class. Training crops and flips at random."""
    options: dict[str, Any] = dict(num_parallel_workers=num_parallel_workers, shuffle=do_train, **_shards(distribute))
    size = train_image_size if do_train else eval_image_size
    trans: list[Any] = []
    data: ds.Dataset
    if glob.glob(os.path.join(dataset_path, "*.bin")):
        data = ds.Cifar10Dataset(dataset_path, usage="train" if do_train else "test", **options)
    else:
        folder = next((f for f in [os.path.join(dataset_path, "train" if do_train else "test")] if os.path.isdir(f)), dataset_path)
        data = ds.ImageFolderDataset(folder, **options)
        trans += [C.Decode()]
    if do_train:
        trans += [C.RandomCrop((32, 32), (4, 4, 4, 4)), C.RandomHorizontalFlip(prob=0.5)]
    if size != 32:
        trans += [C.Resize((size, size))]
    trans += [C.Normalize(*_CIFAR10), C.HWC2CHW()]
    return _finish(data, trans, do_train, repeat_num, batch_size, num_parallel_workers)


DATASETS = {"imagenet2012": create_dataset, "cifar10": create_dataset1}
