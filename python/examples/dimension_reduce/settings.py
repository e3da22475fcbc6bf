"""The settings of both stages and of eval.py. The defaults are those of MindSpore's tutorial: ResNet-50 on ImageNet, 256 images of 224x224 on each rank."""
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
LAUNCHED = ("SINDRI_RANK", "RANK_SIZE", "RANK_TABLE_FILE", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "MS_ROLE")  # one of these says which rank this is


def parser_of(description: str) -> argparse.ArgumentParser:
    """The arguments that the three programs share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data_path", required=True, help="folder with train/ and with val/ or validation_preprocess/, each of one folder per class; or the "
                        "word digits: the handwritten digits that come with Sindri and the small network")
    parser.add_argument("--device_target", default="CPU", help="default: %(default)s")
    parser.add_argument("--net", choices=("resnet50", "small"), default="resnet50", help="small: three residual blocks, for a first try (default: %(default)s)")
    parser.add_argument("--class_num", type=int, default=1001, help="default: %(default)s")
    parser.add_argument("--batch_size", type=int, default=256, help="images a step on each rank (default: %(default)s)")
    parser.add_argument("--image_size", type=int, default=224, help="default: %(default)s")
    parser.add_argument("--num_parallel_workers", type=int, default=8, help="threads that decode images (default: %(default)s)")
    return parser


def set_up(args: argparse.Namespace) -> None:
    """Execution mode, device and process group: one rank of `sindri run`, or a group of one."""
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
    """The network, with freshly drawn weights."""
    if args.data_path == "digits":
        return SmallNet(1, 10)
    return SmallNet(3, args.class_num) if args.net == "small" else resnet(class_num=args.class_num)


def train_data(args: argparse.Namespace) -> Dataset:
    """This rank's batches. Ends the program when there is no folder train; its size raises EmptyDatasetError for fewer images than a batch."""
    if args.data_path == "digits":
        return create_digits(True, args.batch_size)
    train_data_path = os.path.join(args.data_path, "train")
    if not os.path.isdir(train_data_path):
        raise SystemExit(f"error: the data set has no folder train\n  where: {args.data_path}\n  fix: --data_path is the folder that holds train/ and val/")
    return create_dataset(dataset_path=train_data_path, do_train=True, batch_size=args.batch_size, train_image_size=args.image_size,
                          eval_image_size=args.image_size, target=args.device_target, distribute=True, num_parallel_workers=args.num_parallel_workers)


def eval_data(args: argparse.Namespace) -> Dataset:
    """All images held back for evaluation. Ends the program when there are none."""
    if args.data_path == "digits":
        return create_digits(False, 32)
    folders = [f for f in (os.path.join(args.data_path, name) for name in EVAL_FOLDERS) if os.path.isdir(f)]
    if not folders:
        raise SystemExit(f"error: the data set has no images to test with: none of {', '.join(EVAL_FOLDERS)}\n  where: {args.data_path}\n"
                         "  fix: put the class folders of the test images there")
    return create_dataset(dataset_path=folders[0], do_train=False, batch_size=args.batch_size, eval_image_size=args.image_size, target=args.device_target,
                          num_parallel_workers=args.num_parallel_workers)
