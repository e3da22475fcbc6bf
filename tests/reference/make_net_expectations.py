"""Computes losses and gradients of whole networks in PyTorch, from weights and data given by a formula (formula.py, tests/models/formula.h).

usage: python tests/reference/make_net_expectations.py tests/models/expectations [NET...]

Stored per network, as text lines "key value…":
  first_loss64 / first_loss32      loss of step 1 in float64 and float32
  losses32                         float32 losses of the requested steps
  grad NAME f32err v…              up to 256 float64 gradient values spread over the tensor, and PyTorch's own float32 error on them
                                   (2-norm of the difference over 2-norm of the values; the larger of its two memory formats)
  small_*                          the same for a reduced input in float64: first loss, losses of 20 steps, gradients
"""
import os
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchvision

from formula import unit

KEEP = 256


class Basic(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(o)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(o)
        self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride != 1 or i != o else None

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class Cifar(nn.Module):
    def __init__(self, widths, blocks):
        super().__init__()
        self.conv1 = nn.Conv2d(3, widths[0], 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(widths[0])
        i, self.n = widths[0], len(widths)
        for k, w in enumerate(widths):
            layer = []
            for j in range(blocks):
                layer.append(Basic(i, w, 2 if k and j == 0 else 1))
                i = w
            setattr(self, f"layer{k + 1}", nn.Sequential(*layer))
        self.fc = nn.Linear(i, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for k in range(self.n):
            x = getattr(self, f"layer{k + 1}")(x)
        return self.fc(x.mean((2, 3)))


# Learning rates are chosen so that losses stay comparable. resnet50: at 0.01, six PyTorch runs whose weights differed in the last bits ended between 5.83 and
# 6.03; at 0.001 between 4.242 and 4.254 (float64: 4.2415). resnet18_cifar: 100 steps on four batches must not fit them perfectly, because a loss of 0.001 could
# not be compared.
# net: maker, classes, batch, image side, steps, lr; then batch, side and lr of the reduced float64 run. Its rate must be small: batch norm over a handful of
# values makes ResNet-50 on 2 images chaotic even in float64.
NETS = {
    "resnet50": (lambda: torchvision.models.resnet50(), 1000, 8, 224, 20, 0.001, 2, 64, 1e-6),
    "resnet18_cifar": (lambda: Cifar([64, 128, 256, 512], 2), 10, 32, 32, 100, 0.0003, 4, 16, 1e-4),
}


def mindspore_name(name):
    for a, b in (("downsample", "down_sample_layer"), ("fc.", "end_point.")):
        name = name.replace(a, b)
    head, leaf = name.rsplit(".", 1)
    cell = head.split(".")[-1]
    if cell.startswith("bn") or head.endswith("down_sample_layer.1"):
        leaf = {"weight": "gamma", "bias": "beta"}[leaf]
    return f"{head}.{leaf}"


def mindspore_names(net):
    """Yields (name in MindSpore's ResNets, parameter); their basic blocks call the norms bn1d and bn2d."""
    basic = {k for k, m in net.named_modules() if isinstance(m, Basic)}
    for name, p in net.named_parameters():
        ms = mindspore_name(name)
        if any(name.startswith(b + ".bn") for b in basic):
            ms = ms.replace(".bn1.", ".bn1d.").replace(".bn2.", ".bn2d.")
        yield ms, p


def fill(net, net_name):
    for ms, p in mindspore_names(net):
        u = torch.tensor(unit(f"{net_name}/{ms}", p.numel())).reshape(p.shape)
        if ms.endswith("gamma"):
            v = 0.8 + 0.4 * u
        elif ms.endswith(("beta", "bias")):
            v = 0.2 * u - 0.1
        else:
            fan_in = p.numel() // p.shape[0]
            v = (2 * u - 1) * np.sqrt((6.0 if p.dim() == 4 else 3.0) / fan_in)
        p.data = v.to(p.dtype)


def batch_of(net_name, step, n, side, classes, dtype):
    x = 4 * unit(f"{net_name}/x{step % 4}", n * 3 * side * side) - 2
    y = np.floor(classes * unit(f"{net_name}/y{step % 4}", n)).astype(np.int64)
    return torch.tensor(x).reshape(n, 3, side, side).to(dtype), torch.tensor(y)


def run(net_name, dtype, n, side, steps, lr, memory_format=torch.contiguous_format):
    make, classes = NETS[net_name][:2]
    net = make().to(dtype)
    fill(net, net_name)
    net = net.to(memory_format=memory_format)
    net.train()
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    losses, grads = [], None
    for s in range(steps):
        x, y = batch_of(net_name, s, n, side, classes, dtype)
        x = x.contiguous(memory_format=memory_format)
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        if s == 0:
            grads = {k: p.grad.detach().to(torch.float64).reshape(-1).clone().numpy() for k, p in mindspore_names(net)}
        opt.step()
        losses.append(loss.item())
    return losses, grads


def picked(g):
    count = min(len(g), KEEP)
    return np.array([g[i * len(g) // count] for i in range(count)])


def text(values):
    return " ".join(repr(float(v)) for v in values)


def main():
    folder, names = sys.argv[1], sys.argv[2:] or list(NETS)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        _, _, n, side, steps, lr, small_n, small_side, small_lr = NETS[name]
        loss64, g64 = run(name, torch.float64, n, side, 1, lr)
        loss32, g32 = run(name, torch.float32, n, side, steps, lr)
        _, g32_cl = run(name, torch.float32, n, side, 1, lr, torch.channels_last)
        small_loss, small_g = run(name, torch.float64, small_n, small_side, 20, small_lr)
        lines = [f"torch {torch.__version__}", f"shape {n} {side} {steps} {small_n} {small_side} {lr} {small_lr}", f"first_loss64 {text(loss64[:1])}",
                 f"losses32 {text(loss32)}", f"small_losses {text(small_loss)}"]
        for k in g64:
            a = picked(g64[k])
            err = max(np.linalg.norm(a - picked(g[k])) for g in (g32, g32_cl)) / max(np.linalg.norm(a), 1e-300)
            lines.append(f"grad {k} {err!r} {text(a)}")
            lines.append(f"small_grad {k} 0 {text(picked(small_g[k]))}")
        with open(os.path.join(folder, name + ".txt"), "w") as f:
            f.write("\n".join(lines).replace("np.float64(", "").replace(")", "") + "\n")
        print(name, "loss64", loss64[0], "loss32", loss32[0], "last10", np.mean(loss32[-10:]), "small", small_loss[0], small_loss[-1], flush=True)


main()
