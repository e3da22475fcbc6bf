#!/usr/bin/env python3
"""Compares image transforms per second with MindSpore's: each alone in a pipeline, 224 x 224 pixels, two workers, both measured alternately in one run.

    PYTHONPATH=python build/venv/bin/python tests/bench/vision_transforms.py --peer /path/to/venv/bin/python
    ... --only RandomRotation --rounds 5

The peer is the Python of an environment that has mindspore 2.10 and numpy<2. Two processes run for the whole measurement and execute the transforms they are
sent, so the machine's state is the same for both; a figure is the median over the rounds. A transform that keeps size and type is applied several times per
row,
because the two packages' data sources differ. Without --peer only ours is measured.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

SIDE, WORKERS, BATCH, IMAGES = 224, 2, 32, 64
# Name: (expression, times it is applied to a row, kind of rows).
CASES = {
    "AdjustBrightness": ("V.AdjustBrightness(1.3)", 4, "u8"),
    "AdjustContrast": ("V.AdjustContrast(1.3)", 4, "u8"),
    "AdjustGamma": ("V.AdjustGamma(1.2)", 4, "u8"),
    "AdjustHue": ("V.AdjustHue(0.1)", 4, "u8"),
    "AdjustSaturation": ("V.AdjustSaturation(1.3)", 4, "u8"),
    "AdjustSharpness": ("V.AdjustSharpness(1.7)", 4, "u8"),
    "Affine": ("V.Affine(15, (0.1, 0.1), 1.1, (5, 5))", 4, "u8"),
    "AutoAugment": ("V.AutoAugment()", 4, "u8"),
    "AutoContrast": ("V.AutoContrast(1.0)", 4, "u8"),
    "CenterCrop": ("V.CenterCrop(200)", 1, "u8"),
    "ConvertColor": ("V.ConvertColor(V.ConvertMode.COLOR_RGB2BGR)", 4, "u8"),
    "Crop": ("V.Crop((10, 10), 200)", 1, "u8"),
    "CutOut": ("V.CutOut(64)", 4, "u8"),
    "Decode": ("V.Decode()", 1, "jpeg"),
    "Equalize": ("V.Equalize()", 4, "u8"),
    "Erase": ("V.Erase(20, 20, 64, 64, 7)", 4, "u8"),
    "GaussianBlur": ("V.GaussianBlur(5)", 4, "u8"),
    "HWC2CHW": ("V.HWC2CHW()", 1, "u8"),
    "HorizontalFlip": ("V.HorizontalFlip()", 4, "u8"),
    "Invert": ("V.Invert()", 4, "u8"),
    "Normalize": ("V.Normalize([120.0, 115.0, 100.0], [58.0, 57.0, 57.0])", 1, "u8"),
    "Pad": ("V.Pad(8)", 1, "u8"),
    "PadToSize": ("V.PadToSize(256)", 1, "u8"),
    "Posterize": ("V.Posterize(4)", 4, "u8"),
    "RandAugment": ("V.RandAugment()", 4, "u8"),
    "RandomAdjustSharpness": ("V.RandomAdjustSharpness(1.7, 1.0)", 4, "u8"),
    "RandomAffine": ("V.RandomAffine(15, (0.1, 0.1), (0.9, 1.1), 5.0)", 4, "u8"),
    "RandomAutoContrast": ("V.RandomAutoContrast(prob=1.0)", 4, "u8"),
    "RandomColor": ("V.RandomColor()", 4, "u8"),
    "RandomColorAdjust": ("V.RandomColorAdjust(0.4, 0.4, 0.4, 0.1)", 4, "u8"),
    "RandomCrop": ("V.RandomCrop(224, 8)", 4, "u8"),
    "RandomCropDecodeResize": ("V.RandomCropDecodeResize(224)", 1, "jpeg"),
    "RandomEqualize": ("V.RandomEqualize(1.0)", 4, "u8"),
    "RandomHorizontalFlip": ("V.RandomHorizontalFlip(0.5)", 4, "u8"),
    "RandomInvert": ("V.RandomInvert(1.0)", 4, "u8"),
    "RandomLighting": ("V.RandomLighting(0.1)", 4, "u8"),
    "RandomPosterize": ("V.RandomPosterize((3, 8))", 4, "u8"),
    "RandomResize": ("V.RandomResize((224, 224))", 1, "u8"),
    "RandomResizedCrop": ("V.RandomResizedCrop(224)", 4, "u8"),
    "RandomRotation": ("V.RandomRotation(20)", 4, "u8"),
    "RandomRotation bilinear": ("V.RandomRotation(20, V.Inter.BILINEAR)", 4, "u8"),
    "RandomSharpness": ("V.RandomSharpness()", 4, "u8"),
    "RandomSolarize": ("V.RandomSolarize((20, 200))", 4, "u8"),
    "RandomVerticalFlip": ("V.RandomVerticalFlip(0.5)", 4, "u8"),
    "Rescale": ("V.Rescale(1 / 255.0, 0.0)", 1, "u8"),
    "Resize down": ("V.Resize((160, 160))", 1, "u8"),
    "Resize bicubic": ("V.Resize((256, 256), V.Inter.BICUBIC)", 1, "u8"),
    "Resize area": ("V.Resize((160, 160), V.Inter.AREA)", 1, "u8"),
    "Resize nearest": ("V.Resize((160, 160), V.Inter.NEAREST)", 1, "u8"),
    "Resize pilcubic": ("V.Resize((160, 160), V.Inter.PILCUBIC)", 1, "u8"),
    "ResizedCrop": ("V.ResizedCrop(10, 10, 180, 180, (224, 224))", 4, "u8"),
    "Rotate bicubic": ("V.Rotate(20, V.Inter.BICUBIC)", 4, "u8"),
    "SlicePatches": ("V.SlicePatches(2, 2)", 1, "u8"),
    "Solarize": ("V.Solarize((60, 200))", 4, "u8"),
    "TrivialAugmentWide": ("V.TrivialAugmentWide()", 4, "u8"),
    "UniformAugment": ("V.UniformAugment([V.RandomHorizontalFlip(1.0), V.Invert(), V.Equalize()], 2)", 4, "u8"),
    "VerticalFlip": ("V.VerticalFlip()", 4, "u8"),
    # Transforms that MindSpore runs in Python.
    "FiveCrop": ("V.FiveCrop(100)", 1, "u8"),
    "Grayscale": ("V.Grayscale(3)", 1, "u8 or PIL"),
    "Perspective": ("V.Perspective([[0, 0], [223, 0], [223, 223], [0, 223]], [[9, 5], [200, 0], [223, 210], [0, 223]])", 1, "u8 or PIL"),
    "RandomErasing": ("V.RandomErasing(1.0)", 1, "chw"),
    "RandomGrayscale": ("V.RandomGrayscale(1.0)", 1, "u8 or PIL"),
    "RandomPerspective": ("V.RandomPerspective(0.5, 1.0)", 1, "u8 or PIL"),
    "ToTensor": ("V.ToTensor()", 1, "u8"),
    # Transforms of a batch, or of two columns.
    "CutMixBatch": ("V.CutMixBatch(V.ImageBatchFormat.NHWC)", 1, "batch"),
    "MixUpBatch": ("V.MixUpBatch()", 1, "batch"),
    "RandomHorizontalFlipWithBBox": ("V.RandomHorizontalFlipWithBBox(1.0)", 1, "boxes"),
    "ResizeWithBBox": ("V.ResizeWithBBox((160, 160))", 1, "boxes"),
}


def pictures(np, kind, jpeg):
    """Returns smooth images with noise, [IMAGES, ...]."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    waves = np.stack([np.sin(6 * x + 2 * y), np.cos(5 * y - x), np.sin(4 * x * y + 1)], axis=-1)
    images = np.clip(128 + 80 * waves[None] + rng.normal(0, 12, (IMAGES, SIDE, SIDE, 3)), 0, 255).astype(np.uint8)
    if kind == "jpeg":
        return [np.frombuffer(jpeg, np.uint8)] * IMAGES
    return (images.transpose(0, 3, 1, 2) / 255).astype(np.float32) if kind == "chw" else images


def pipeline(ds, V, np, name, jpeg, theirs):
    expression, times, kind = CASES[name]
    images = pictures(np, kind, jpeg)
    operations = [eval(expression, {"V": V}) for _ in range(times)]  # only expressions from this file
    outputs = {"FiveCrop": 5, "SlicePatches": 4}.get(name)
    if kind == "u8 or PIL" and theirs:
        operations = [V.ToPIL(), *operations, V.ToNumpy()]
    if kind in ("boxes", "batch"):
        other = np.array([[10, 10, 50, 60]], np.float32) if kind == "boxes" else np.eye(10, dtype=np.int32)[3]
        rows = ds.NumpySlicesDataset({"image": images, "other": np.stack([other] * IMAGES)}, shuffle=False)
        if kind == "batch":
            rows = rows.batch(BATCH)
        return rows.map(operations, ["image", "other"], num_parallel_workers=WORKERS).repeat(1000), BATCH if kind == "batch" else 1
    rows = ds.NumpySlicesDataset({"image": images}, shuffle=False) if kind != "jpeg" else ds.GeneratorDataset([(i,) for i in images], ["image"], shuffle=False)
    names = [f"c{i}" for i in range(outputs)] if outputs else None
    rows = rows.map(operations, "image", names, num_parallel_workers=WORKERS)
    if names:
        rows = rows.project(names[:1])
    same_size = name != "Decode"
    return (rows.batch(BATCH) if same_size else rows).repeat(1000), BATCH if same_size else 1


def worker(theirs):
    """Reads names from standard input and answers with each transform's rate per second."""
    import numpy as np
    if theirs:
        import mindspore.dataset as ds
        import mindspore.dataset.vision as V
        if "sindri" in sys.modules:
            sys.exit("error: `import mindspore` imported this repository's package of that name: remove its folder from the peer's path")
    else:
        import sindri.dataset as ds
        import sindri.dataset.vision as V
    ds.config.set_seed(1)
    for line in sys.stdin:
        name, seconds, jpeg = line.rstrip("\n").split("\t")
        try:
            with open(jpeg, "rb") as f:
                data, rows_each = pipeline(ds, V, np, name, f.read(), theirs)
            iterator = iter(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
            for _ in range(2 * max(1, BATCH // rows_each)):
                next(iterator)
            count, start = 0, time.perf_counter()
            while time.perf_counter() - start < float(seconds):
                next(iterator)
                count += rows_each
            print(f"\t{count * CASES[name][1] / (time.perf_counter() - start)}", flush=True)
            del iterator, data
        except Exception as e:
            print(f"\t{type(e).__name__}: {str(e).splitlines()[0][:100]}", flush=True)


def start(python, *flags):
    # PYTHONPATH is for our side only: python/mindspore of this repository would shadow the real one.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH" or "--theirs" not in flags}
    return subprocess.Popen([python, __file__, "--worker", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=environment)


def ask(process, line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    while True:
        answer = process.stdout.readline()
        if not answer:
            sys.exit(f"error: {' '.join(process.args)} ended with exit code {process.wait()} at {line!r}; feed it that line to see its message")
        if answer.startswith("\t"):
            break
    try:
        return float(answer)
    except ValueError:
        return answer.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="Python with mindspore")
    parser.add_argument("--jpeg", default="../shared/data/imagenet_sample/val/n01440764/ILSVRC2012_val_00009111.JPEG", help="an image for Decode")
    parser.add_argument("--only", action="append", help="names of transforms, or prefixes of them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="per number")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return worker(args.theirs)
    ours, theirs = start(sys.executable), start(args.peer, "--theirs") if args.peer else None
    print(f"{'transform':32s} {'ours/s':>9s} {'MindSpore/s':>12s} {'ratio':>7s}")
    below = []
    for name in CASES:
        if args.only and not any(name.startswith(o) for o in args.only):
            continue
        numbers = ([], [])
        for _ in range(args.rounds):
            for process, into in ((ours, numbers[0]), (theirs, numbers[1])):
                if process is not None:
                    into.append(ask(process, f"{name}\t{args.seconds}\t{args.jpeg}"))
        texts = [next((n for n in side if isinstance(n, str)), None) for side in numbers]
        middle = [None if text or not side else statistics.median(side) for side, text in zip(numbers, texts)]
        ratio = middle[0] / middle[1] if all(middle) else None
        if ratio is not None and ratio < 1:
            below.append(name)
        show = [f"{m:.0f}" if m else (t or "-") for m, t in zip(middle, texts)]
        print(f"{name:32s} {show[0]:>9s} {show[1]:>12s} {f'{ratio:.2f}' if ratio else '-':>7s}", flush=True)
    for process in (ours, theirs):
        if process is not None:
            process.stdin.close()
            process.wait()
    print(f"below 1: {', '.join(below) or 'none'}")


if __name__ == "__main__":
    sys.exit(main())
