#!/usr/bin/env python3
"""Compares chains of image transforms per CPU second with torchvision's, alternately in one run: JPEG training, also from a seekable store, evaluation, CIFAR.

    PYTHONPATH=python build/venv/bin/python tests/bench/image_chains.py --peer /path/to/venv/bin/python --images folder/of/class/folders

Each side uses one worker. A figure is images per second of CPU time of the whole process (user and system): the median over the rounds, with the files in the
page cache. The peer is the Python of an environment with torch and torchvision. CIFAR rows contain noise, in CIFAR-10's binary format.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
# Our case and torchvision's; the names are those of the functions below.
CASES = {"train": ("train", "train"), "train, seekable store": ("train_seekable", "train"), "evaluate": ("evaluate", "evaluate"), "cifar": ("cifar", "cifar")}
CIFAR_ROWS = 20000


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Ours:
    def __init__(self, images, work):
        import sindri.dataset as ds
        self.ds, self.images, self.work = ds, images, work
        ds.config.set_seed(1)
        ds.config.set_num_parallel_workers(1)
        self.store = os.path.join(work, "seekable")
        ds.utils.prepare_seekable(images, self.store)

    def _rows(self, data, operations, batch):
        # At least 1,000 images per pipeline, so that the cost of creating a pipeline (memory above all) does not count.
        iterator = data.repeat(max(1, -(-1000 // data.get_dataset_size()))).map(operations, "image", num_parallel_workers=1).batch(batch).create_tuple_iterator(num_epochs=1, output_numpy=True)
        return sum(len(row[0]) for row in iterator)

    def _normalize(self):
        return self.ds.vision.Normalize([m * 255 for m in MEAN], [s * 255 for s in STD])

    def train(self, folder=None):
        vision = self.ds.vision
        return self._rows(self.ds.ImageFolderDataset(folder or self.images),
                          [vision.RandomCropDecodeResize(224), vision.RandomHorizontalFlip(), self._normalize(), vision.HWC2CHW()], 64)

    def train_seekable(self):
        return self.train(self.store)

    def evaluate(self):
        vision = self.ds.vision
        return self._rows(self.ds.ImageFolderDataset(self.images, shuffle=False),
                          [vision.Decode(), vision.Resize(256), vision.CenterCrop(224), self._normalize(), vision.HWC2CHW()], 64)

    def cifar(self):
        vision = self.ds.vision
        return self._rows(self.ds.Cifar10Dataset(os.path.join(self.work, "cifar"), "train"),
                          [vision.RandomCrop(32, 4), vision.RandomHorizontalFlip(), self._normalize(), vision.HWC2CHW()], 128)


class Torchvision:
    def __init__(self, images, work):
        import numpy as np
        import torch
        from PIL import Image
        from torchvision import transforms
        torch.set_num_threads(1)
        self.T, self.torch, self.Image = transforms, torch, Image
        self.files = [os.path.join(folder, name) for folder, _, names in sorted(os.walk(images)) for name in sorted(names)]
        rows = np.fromfile(os.path.join(work, "cifar", "data_batch_1.bin"), np.uint8).reshape(-1, 3073)[:2000]
        self.small = [Image.fromarray(row[1:].reshape(3, 32, 32).transpose(1, 2, 0)) for row in rows]

    def _rows(self, pictures, operations, batch):
        chain = self.T.Compose([*operations, self.T.ToTensor(), self.T.Normalize(MEAN, STD)])
        held, count = [], 0
        for picture in pictures:
            held.append(chain(picture))
            count += 1
            if len(held) == batch:
                self.torch.stack(held)
                held = []
        return count

    def _decoded(self):
        for name in self.files:
            with open(name, "rb") as f:
                yield self.Image.open(f).convert("RGB")

    def train(self):
        return self._rows(self._decoded(), [self.T.RandomResizedCrop(224), self.T.RandomHorizontalFlip()], 64)

    def evaluate(self):
        return self._rows(self._decoded(), [self.T.Resize(256), self.T.CenterCrop(224)], 64)

    def cifar(self):
        return self._rows(self.small, [self.T.RandomCrop(32, 4), self.T.RandomHorizontalFlip()], 128)


def worker(side, images, work):
    """Runs the cases named on standard input and answers with images per CPU second."""
    chains = side(images, work)
    print("\tready", flush=True)
    for line in sys.stdin:
        run = getattr(chains, line.strip())
        run()
        begin, count = cpu_seconds(), 0
        while cpu_seconds() - begin < 1.0:
            count += run()
        print(f"\t{count / (cpu_seconds() - begin)}", flush=True)


def answer(process):
    while True:
        line = process.stdout.readline()
        if not line:
            sys.exit(f"error: {process.args[0]} ended: this file's docstring lists the packages that it needs")
        if line.startswith("\t"):
            return line.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="Python with torchvision")
    parser.add_argument("--images", required=True, help="folder of class folders of JPEG files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker({"ours": Ours, "theirs": Torchvision}[args.worker[0]], args.images, args.worker[1])
    with tempfile.TemporaryDirectory() as work:
        os.mkdir(os.path.join(work, "cifar"))
        noise = bytearray(os.urandom(CIFAR_ROWS * 3073))
        noise[::3073] = bytes(i % 10 for i in range(CIFAR_ROWS))
        with open(os.path.join(work, "cifar", "data_batch_1.bin"), "wb") as f:
            f.write(noise)
        sides = [subprocess.Popen([python, __file__, "--peer", args.peer, "--images", args.images, "--worker", name, work], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) for python, name in ((sys.executable, "ours"), (args.peer, "theirs"))]
        for side in sides:
            answer(side)
        print(f"{'images per CPU second':28s} {'ours':>10s} {'torchvision':>12s} {'ratio':>7s}")
        for name, functions in CASES.items():
            numbers = ([], [])
            for _ in range(args.rounds):
                for side, function, into in zip(sides, functions, numbers):
                    side.stdin.write(function + "\n")
                    side.stdin.flush()
                    into.append(float(answer(side)))
            ours, theirs = map(statistics.median, numbers)
            print(f"{name:28s} {ours:10.0f} {theirs:12.0f} {ours / theirs:7.2f}", flush=True)
        for side in sides:
            side.stdin.close()
            side.wait()


if __name__ == "__main__":
    sys.exit(main())
