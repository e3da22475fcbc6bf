"""PyTorch's training step of one of our nets, timed as step_bench.cc does. usage: torch_step.py NET BATCH MODE [SECONDS]

MODE: eager, channels_last, compile, or compile_channels_last.
NET: resnet50, resnet18 (ImageNet stems, torchvision's), resnet20 (CIFAR, projection shortcuts), lenet or mlp.
"""
import json
import resource
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision

NET, BATCH, MODE = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SECONDS = float(sys.argv[4]) if len(sys.argv) > 4 else 8.0
torch.set_num_threads(2)
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.short = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride != 1 or i != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.short(x))


def make():
    if NET == "lenet":
        return nn.Sequential(nn.Conv2d(1, 6, 5, bias=False), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5, bias=False), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)), (1, 32, 32), 10
    if NET == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), (1, 28, 28), 10
    if NET != "resnet20":
        return getattr(torchvision.models, NET)(), (3, 224, 224), 1000
    layers, i = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()], 16
    for k, w in enumerate((16, 32, 64)):
        for j in range(3):
            layers.append(Block(i, w, 2 if k and j == 0 else 1))
            i = w
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, 10)), (3, 32, 32), 10


net, shape, classes = make()
x, y = torch.randn(BATCH, *shape), torch.randint(0, classes, (BATCH,))
if MODE.endswith("channels_last"):
    net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
if MODE.startswith("compile"):
    net = torch.compile(net)
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)


def step():
    opt.zero_grad(set_to_none=True)
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    return loss.item()


t = time.perf_counter()
step()
first = time.perf_counter() - t
step()
times, begin = [], time.perf_counter()
while len(times) < 5 or time.perf_counter() - begin < SECONDS:
    t = time.perf_counter()
    step()
    times.append(time.perf_counter() - t)
median = sorted(times)[len(times) // 2]
print(json.dumps({"framework": "torch " + torch.__version__, "net": NET, "batch": BATCH, "mode": MODE, "threads": 2, "ms_per_step": round(median * 1e3, 4),
                  "ms_fastest": round(min(times) * 1e3, 4),
                  "samples_per_second": round(BATCH / median, 2), "first_step_s": round(first, 2),
                  "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
