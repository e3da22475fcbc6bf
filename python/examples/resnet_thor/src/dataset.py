"""Input pipeline for ImageNet in class folders."""
from __future__ import annotations

import os
from typing import Any

import sindri.dataset as ds
import sindri.dataset.transforms as C2
import sindri.dataset.vision as C
from sindri import dtype as mstype
from sindri.communication import get_group_size, get_rank, init


def _get_rank_info() -> tuple[int, int]:
    """Returns (number of ranks, this rank) from the environment variables that the launcher sets."""
    return int(os.environ.get("RANK_SIZE", "1")), int(os.environ.get("RANK_ID", "0"))


def create_dataset(dataset_path: str, do_train: bool, repeat_num: int = 1, batch_size: int = 32, target: str = "Ascend", image_size: int = 224) -> ds.Dataset:
    """Returns batches of image float32 [N, 3, S, S] and label int32 [N] from a folder with one folder of images per class.

    Training: a random crop, resized, and a random horizontal flip; an incomplete last batch is dropped. Evaluation: the shorter side resized to 256/224
    of the size, then a centre crop, for every image. Each rank reads its shard of the training images.
    """
    if not do_train:
        device_num, rank_id = 1, 0
    elif target == "GPU":
        init()
        device_num, rank_id = get_group_size(), get_rank()
    else:
        device_num, rank_id = _get_rank_info()
    num_parallels = 4 if target == "GPU" else 8
    shards: dict[str, Any] = {} if device_num == 1 else {"num_shards": device_num, "shard_id": rank_id}
    data_set: ds.Dataset = ds.ImageFolderDataset(dataset_path, num_parallel_workers=num_parallels, shuffle=do_train, **shards)

    mean, std = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]
    if do_train:
        trans = [C.RandomCropDecodeResize(image_size, scale=(0.08, 1.0), ratio=(0.75, 1.333)), C.RandomHorizontalFlip(prob=0.5)]
    else:
        trans = [C.Decode(), C.Resize(image_size * 256 // 224), C.CenterCrop(image_size)]
    trans += [C.Normalize(mean=mean, std=std), C.HWC2CHW()]
    data_set = data_set.map(operations=trans, input_columns="image", num_parallel_workers=num_parallels)
    data_set = data_set.map(operations=C2.TypeCast(mstype.int32), input_columns="label", num_parallel_workers=num_parallels)
    data_set = data_set.batch(batch_size, drop_remainder=do_train)
    return data_set.repeat(repeat_num) if repeat_num != 1 else data_set
