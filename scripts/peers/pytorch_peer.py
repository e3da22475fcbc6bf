"""Runs PyTorch for `sindri benchmark`: one process per mode, controlled over pipes. Embedded in the program at build time.

usage: pytorch_peer.py '{"net": ..., "batch": N, "precision": "f32", "task": "train", "mode": "eager", "threads": N,
                        "device": "cpu"}'

Prints {"ready": ...}, then answers each line "run STEPS SECONDS" with the median step time. It runs at least STEPS steps and at least SECONDS seconds.
Modes: eager, channels_last, compile, compile_channels_last, compile_reduce_overhead_channels_last (CUDA graphs). On a GPU, cuDNN selects its kernels by
measurement, the optimizer is fused, float16 uses a GradScaler, and the clock is read once per ten steps, after the GPU has finished.
"""
import json
import os
import resource
import sys
import time

ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # library output must not mix with the answers


def answer(**values):
    ANSWERS.write(json.dumps(values) + "\n")
    ANSWERS.flush()


def stop(kind, error):
    answer(error=f"{type(error).__name__}: {error}", kind=kind)
    sys.exit(1)


try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except Exception as e:  # a broken installation can raise more than ImportError
    stop("import", e)


def conv(i, o, kernel, stride=1):
    return nn.Conv2d(i, o, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    """Basic block (3x3, 3x3) or bottleneck (1x1, 3x3 with the stride, 1x1), with a projection if the shape changes."""

    def __init__(self, i, o, stride, bottleneck):
        super().__init__()
        w = o // 4 if bottleneck else o
        if bottleneck:
            layers = [conv(i, w, 1), nn.BatchNorm2d(w), nn.ReLU(inplace=True), conv(w, w, 3, stride), nn.BatchNorm2d(w), nn.ReLU(inplace=True),
                      conv(w, o, 1), nn.BatchNorm2d(o)]
        else:
            layers = [conv(i, o, 3, stride), nn.BatchNorm2d(o), nn.ReLU(inplace=True), conv(o, o, 3), nn.BatchNorm2d(o)]
        self.main = nn.Sequential(*layers)
        self.shortcut = nn.Sequential(conv(i, o, 1, stride), nn.BatchNorm2d(o)) if stride != 1 or i != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.main(x) + self.shortcut(x), inplace=True)


def resnet(stem, i, widths, counts, bottleneck, classes):
    layers = list(stem)
    for stage, (w, count) in enumerate(zip(widths, counts)):
        for block in range(count):
            layers.append(Block(i, w, 2 if stage and not block else 1, bottleneck))
            i = w
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, classes))


def imagenet_resnet(counts, bottleneck):
    k = 4 if bottleneck else 1
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    return resnet(stem, 64, [64 * k, 128 * k, 256 * k, 512 * k], counts, bottleneck, 1000), (3, 224, 224), 1000


def cifar_resnet(widths, counts):
    stem = [conv(3, widths[0], 3), nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True)]
    return resnet(stem, widths[0], widths, counts, False, 10), (3, 32, 32), 10


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5, bias=False), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)), (1, 32, 32), 10


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), (1, 28, 28), 10


def digits():
    return nn.Sequential(conv(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), conv(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                         conv(32, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10)), (1, 8, 8), 10


NETS = {
    "mlp": mlp, "lenet": lenet, "digits": digits,
    "resnet18": lambda: imagenet_resnet([2, 2, 2, 2], False), "resnet34": lambda: imagenet_resnet([3, 4, 6, 3], False),
    "resnet50": lambda: imagenet_resnet([3, 4, 6, 3], True), "resnet101": lambda: imagenet_resnet([3, 4, 23, 3], True),
    "resnet152": lambda: imagenet_resnet([3, 8, 36, 3], True),
    "resnet18_cifar": lambda: cifar_resnet([64, 128, 256, 512], [2, 2, 2, 2]), "resnet20": lambda: cifar_resnet([16, 32, 64], [3, 3, 3]),
    "resnet32": lambda: cifar_resnet([16, 32, 64], [5, 5, 5]), "resnet56": lambda: cifar_resnet([16, 32, 64], [9, 9, 9]),
}


def make_step(task):
    torch.set_num_threads(task["threads"])
    torch.manual_seed(1)
    device = torch.device(task["device"])
    on_gpu = device.type == "cuda"
    torch.backends.cudnn.benchmark = on_gpu
    net, shape, classes = NETS[task["net"]]()
    net.to(device)
    parameters = sum(p.numel() for p in net.parameters())
    x, y = torch.randn(task["batch"], *shape, device=device), torch.arange(task["batch"], device=device) * 7 % classes
    if "channels_last" in task["mode"]:
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    half = {"f32": None, "bf16": torch.bfloat16, "f16": torch.float16}[task["precision"]]
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4, fused=on_gpu or None)
    scaler = torch.amp.GradScaler("cuda", enabled=on_gpu and half == torch.float16)
    net.train(task["task"] == "train")
    forward = net
    if task["mode"].startswith("compile"):
        forward = torch.compile(net, mode="reduce-overhead" if "reduce_overhead" in task["mode"] else None)

    def autocast():
        return torch.autocast(device.type, half or torch.bfloat16, enabled=half is not None)

    def train():
        optimizer.zero_grad(set_to_none=True)
        with autocast():
            loss = F.cross_entropy(forward(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if not on_gpu:
            loss.item()

    def infer():
        with torch.no_grad(), autocast():
            forward(x)

    return train if task["task"] == "train" else infer, parameters, on_gpu


def main():
    begin = time.perf_counter()
    step, parameters, on_gpu = make_step(json.loads(sys.argv[1]))
    answer(ready=True, version=torch.__version__, parameters=parameters, build_s=time.perf_counter() - begin)
    window = 10 if on_gpu else 1
    for line in sys.stdin:
        _, steps, seconds = line.split()
        times, begin = [], time.perf_counter()
        while len(times) * window < int(steps) or time.perf_counter() - begin < float(seconds):
            start = time.perf_counter()
            for _ in range(window):
                step()
            if on_gpu:
                torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / window)
        memory = torch.cuda.max_memory_reserved() / 1e6 if on_gpu else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answer(median_s=sorted(times)[len(times) // 2], steps=len(times) * window, peak_memory_mb=memory)


try:
    main()
except Exception as e:
    stop("run", e)
