"""Evaluates a checkpoint of train.py: `python eval.py --dataset_path DIR --checkpoint_path FILE` (see README.md)."""
from __future__ import annotations

import argparse

from src.config import take
from src.crossentropy import CrossEntropy
from src.dataset import create_dataset
from src.resnet_thor import resnet50 as resnet

from sindri import Model, context, load_checkpoint, load_param_into_net, set_seed


def evaluate(args_opt: argparse.Namespace) -> dict[str, float]:
    """Returns the top-5 and top-1 accuracy on all images of the folder."""
    set_seed(1)
    config = take(args_opt.device_target, args_opt.set)
    context.set_context(mode=context.GRAPH_MODE, device_target=args_opt.device_target, save_graphs=False)
    dataset = create_dataset(dataset_path=args_opt.dataset_path, do_train=False, batch_size=config.batch_size, target=args_opt.device_target,
                             image_size=config.image_size)
    net = resnet(class_num=config.class_num)
    net.add_flags_recursive(thor=False)

    # Checkpoints of MindSpore 1.1 contain the damping of each layer.
    param_dict = load_checkpoint(args_opt.checkpoint_path)
    for key in list(param_dict.keys()):
        if "damping" in key:
            param_dict.pop(key)
    load_param_into_net(net, param_dict)
    net.set_train(False)

    if not config.use_label_smooth:
        config.label_smooth_factor = 0.0
    loss = CrossEntropy(smooth_factor=config.label_smooth_factor, num_classes=config.class_num)
    model = Model(net, loss_fn=loss, metrics=["top_5_accuracy", "top_1_accuracy"])
    return model.eval(dataset)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Evaluates a checkpoint of train.py.")
    parser.add_argument("--dataset_path", required=True, help="folder with one folder of images per class")
    parser.add_argument("--checkpoint_path", required=True, help="checkpoint to evaluate")
    parser.add_argument("--device_target", default="Ascend", choices=("Ascend", "GPU", "CPU"), help="published settings to use, and device if Sindri supports it")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a setting of src/config.py; may be repeated")
    arguments = parser.parse_args()
    print("result:", evaluate(arguments), "ckpt=", arguments.checkpoint_path)
