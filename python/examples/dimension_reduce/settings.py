"""Settings of both stages and of eval.py. The defaults are those of MindSpore's tutorial: ResNet-50 on ImageNet, 256 images of 224x224 per rank."""
from __future__ import annotations

import argparse
import os
import sys

from small_net import SmallNet, create_digits

# The models library: python/examples/resnet.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "resnet"))
from src.dataset import create_dataset  # noqa: E402
from src.resnet import resnet  # noqa: E402

from sindri import ParallelMode, context, nn, set_seed  # noqa: E402
from sindri.communication import get_group_size, init  # noqa: E402
from sindri.dataset import Dataset  # noqa: E402

EVAL_FOLDERS = ("val", "validation_preprocess", "test")
LAUNCHED = ("SINDRI_RANK", "RANK_SIZE", "RANK_TABLE_FILE", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "MS_ROLE")  # a launcher sets at least one of these


def parser_of(description: str) -> argparse.ArgumentParser:
    """Creates a parser with the arguments that the three programs share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data_path", required=True, help="folder with train/ and with val/ or validation_preprocess/, each with one folder per class; or the "
                        "word digits for the bundled handwritten digits and the small network")
    parser.add_argument("--device_target", default="CPU", help="default: %(default)s")
    parser.add_argument("--net", choices=("resnet50", "small"), default="resnet50", help="small: three residual blocks, for quick tests (default: %(default)s)")
    parser.add_argument("--class_num", type=int, default=1001, help="default: %(default)s")
    parser.add_argument("--batch_size", type=int, default=256, help="images per step and rank (default: %(default)s)")
    parser.add_argument("--image_size", type=int, default=224, help="default: %(default)s")
    parser.add_argument("--num_parallel_workers", type=int, default=8, help="threads for decoding images (default: %(default)s)")
    return parser


def set_up(args: argparse.Namespace) -> None:
    """Sets the execution mode, the device and the process group. Without a launcher the group has one rank."""
    set_seed(1)
    context.set_context(mode=context.GRAPH_MODE, device_target=args.device_target)
    if args.device_target != "CPU":
        context.set_context(device_id=int(os.getenv("DEVICE_ID", "0")))
    if not any(name in os.environ for name in LAUNCHED):
        os.environ.update(RANK_ID="0", RANK_SIZE="1")
    init()
    context.set_auto_parallel_context(device_num=get_group_size(), parallel_mode=ParallelMode.DATA_PARALLEL, gradients_mean=True)
    if args.net == "resnet50" and args.data_path != "digits":
        context.set_auto_parallel_context(all_reduce_fusion_config=[85, 160])


def make_net(args: argparse.Namespace) -> nn.Cell:
    """Creates the network with random initial weights."""
    if args.data_path == "digits":
        return SmallNet(1, 10)
    return SmallNet(3, args.class_num) if args.net == "small" else resnet(class_num=args.class_num)


def train_data(args: argparse.Namespace) -> Dataset:
    """Returns this rank's training batches. Exits if the folder train is missing.

    The size of the dataset raises EmptyDatasetError if there is less than one batch of images.
    """
    if args.data_path == "digits":
        return create_digits(True, args.batch_size)
    train_data_path = os.path.join(args.data_path, "train")
    if not os.path.isdir(train_data_path):
        raise SystemExit(f"error: the dataset has no folder train\n  where: {args.data_path}\n  fix: set --data_path to the folder that contains train/ and val/")
    return create_dataset(dataset_path=train_data_path, do_train=True, batch_size=args.batch_size, train_image_size=args.image_size,
                          eval_image_size=args.image_size, target=args.device_target, distribute=True, num_parallel_workers=args.num_parallel_workers)


def eval_data(args: argparse.Namespace) -> Dataset:
    """Returns batches of all test images. Exits if there is no folder with test images."""
    if args.data_path == "digits":
        return create_digits(False, 32)
    folders = [f for f in (os.path.join(args.data_path, name) for name in EVAL_FOLDERS) if os.path.isdir(f)]
    if not folders:
        raise SystemExit(f"error: the dataset has no folder with test images: none of {', '.join(EVAL_FOLDERS)}\n  where: {args.data_path}\n"
                         "  fix: create one of them with one folder of images per class")
    return create_dataset(dataset_path=folders[0], do_train=False, batch_size=args.batch_size, eval_image_size=args.image_size, target=args.device_target,
                          num_parallel_workers=args.num_parallel_workers)
