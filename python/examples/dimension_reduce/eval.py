"""Evaluates a checkpoint of either stage: `python eval.py --data_path DIR --checkpoint_path FILE` (see README.md)."""
from __future__ import annotations

import argparse

from settings import eval_data, make_net, parser_of, set_up
from src.CrossEntropySmooth import CrossEntropySmooth

from sindri import Model, load_checkpoint, load_param_into_net, nn


def parse_args() -> argparse.Namespace:
    """Parses the command line."""
    parser = parser_of("Evaluates a checkpoint of either stage.")
    parser.add_argument("--checkpoint_path", required=True, help="checkpoint to evaluate")
    return parser.parse_args()


def main() -> None:
    """Prints the accuracy of a checkpoint. Ends the program if the file lacks parameters of the network."""
    args = parse_args()
    set_up(args)
    net = make_net(args)
    not_loaded = load_param_into_net(net, load_checkpoint(args.checkpoint_path))
    if not_loaded:
        raise SystemExit(f"error: {len(not_loaded)} parameters of the network are missing from the file, such as {not_loaded[0]}\n"
                         f"  where: {args.checkpoint_path}\n  fix: use the --net and --class_num of the training run")
    class_num = 10 if args.data_path == "digits" else args.class_num
    loss = CrossEntropySmooth(sparse=True, reduction="mean", smooth_factor=0.1, num_classes=class_num)
    model = Model(net, loss_fn=loss, metrics={"Accuracy": nn.Accuracy()})
    print("============== Starting Testing ==============", flush=True)
    print("============== {} ==============".format(model.eval(eval_data(args))), flush=True)


if __name__ == "__main__":
    main()
