#!/usr/bin/env python3
"""Checks the layers of the C++ sources: includes between layers, device-library headers, and public headers that need only the standard library.

Also rejects std::call_once and similar functions: an exception must not pass through them (src/core/once.h).

usage: check_includes.py [--self-test] [ROOT]

A layer is a folder: include/sindri/X and src/X form layer X. The folders ops/, optim/, models/, boost/, dataset/ and python/ at the root are layers of
the same name; their public headers are in include/sindri/X. src/device/cuda is layer cuda: a plugin, which registers kernels. Include paths start at
the root ("src/core/nearest.h") or name public headers ("sindri/core/tensor.h").
"""
import pathlib
import re
import sys
import tempfile

BASE = {"core", "device", "op"}
BELOW_NN = {"core", "device", "comm", "op", "ops", "autograd", "amp", "graph"}

# layer -> (layers whose public headers it may include, layers whose private headers it may include); a layer may always include its own.
LAYERS = {
    "core": (set(), set()),
    "device": ({"core"}, {"core"}),
    "comm": ({"core", "device"}, {"core", "device"}),
    "op": ({"core", "device"}, {"core", "device"}),
    "cuda": (BASE, BASE),
    "ops": ({"core", "device", "comm", "op"}, {"core", "device", "comm", "op", "cuda"}),
    "autograd": (BASE | {"ops"}, BASE),  # sums gradients with the public op functions, as gradient rules do
    "amp": (BASE, BASE),
    "graph": (BASE, BASE),
    "nn": (BELOW_NN, {"core", "op", "autograd"}),
    "optim": (BELOW_NN, {"core", "op"}),
    "train": (BELOW_NN | {"nn", "optim", "dataset"}, {"core", "device", "comm", "op", "autograd"}),  # reports the current step
    "boost": (BELOW_NN | {"nn", "optim", "train", "dataset"}, {"core", "train"}),  # atomically replaced files; work that one rank does for all
    "models": (BELOW_NN | {"nn", "optim", "train", "dataset"}, set()),
    "dataset": ({"core", "device"}, {"core", "device"}),  # "did you mean" suggestions and the instruction-set dispatch of its loops
    "measure": (BELOW_NN | {"nn", "optim", "train", "models"}, {"core", "device", "train"}),  # measures time with a device's clock
    # starts the kernel threads early; reads this host's addresses
    "app": (BELOW_NN | {"nn", "optim", "train", "dataset", "models"}, {"core", "device", "comm", "train"}),
    "python": (BELOW_NN | {"nn", "optim", "train", "boost", "dataset", "models", "app"}, set()),
    "cli": (BELOW_NN | {"nn", "optim", "train", "boost", "dataset", "models", "app"}, {"core", "train", "measure"}),
}

ROOT_LAYERS = ("ops", "optim", "models", "boost", "dataset", "python")
DEVICE_LIBRARY = re.compile(r"^(dnnl\w*\.h(pp)?|oneapi/dnnl/.*|cudnn\w*\.h|cublas\w*\.h|cuda\w*\.h|nvrtc\.h|mpi\.h|nccl\.h|gloo/.*)$")
STANDARD_HEADER = re.compile(r"^[a-z0-9_]+$")
CALL_ONCE = re.compile(r"\b(std::call_once|std::once_flag|pthread_once|gil_safe_call_once\w*)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def layer_of(path):
    """Returns (layer, whether the header is public) for a path relative to the root, or None if no layer contains it."""
    parts = path.split("/")
    if parts[:2] == ["include", "sindri"]:
        return (parts[2], True) if len(parts) > 3 else None
    if parts[:3] == ["src", "device", "cuda"]:
        return "cuda", False
    if parts[0] == "src" and len(parts) > 2:
        return parts[1], False
    if parts[0] in ROOT_LAYERS and len(parts) > 1:
        return parts[0], False
    return None


def check_quoted(path, layer, public, target):
    """Returns the rule that `#include "target"` breaks in file `path`, or an empty string."""
    if target.startswith("sindri/"):
        found = layer_of("include/" + target)
        if found is None:
            return "" if target in ("sindri/export.h", "sindri/version.h") else f"{target} is the umbrella header, for users only"
    else:
        found = layer_of(target)
        if found is None:
            return f'"{target}" is not written from the root of the tree'
    other, other_public = found
    if other not in LAYERS:
        return f"unknown layer {other} (add it to LAYERS)"
    if public and not other_public:
        return "a public header includes a private one"
    if other == layer:
        family = path.split("/")[1]
        if layer == "ops" and not other_public and target.split("/")[1] != family:
            return f"{path.split('/')[0]}/{family} includes another family's private header"
        return ""
    if other in LAYERS[layer][0 if other_public else 1]:
        return ""
    return f"{layer} must not include {'' if other_public else 'private headers of '}{other}"


def check_file(path, text):
    """Returns all rule violations in one file as "path:line: message"."""
    found = layer_of(path)
    if found is None:
        return []
    layer, public = found
    if layer not in LAYERS:
        return [f"{path}:1: unknown layer {layer} (add it to LAYERS)"]
    errors = []
    for number, line in enumerate(text.splitlines(), 1):
        forbidden = CALL_ONCE.search(line.split("//")[0])
        if forbidden:
            errors.append(f"{path}:{number}: {forbidden.group(1)}: an exception through it ends the process of a wheel; use Once of src/core/once.h")
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, angled = match.groups()
        message = check_quoted(path, layer, public, quoted) if quoted and not DEVICE_LIBRARY.match(quoted) and not quoted.endswith(".pb.h") else ""
        library = quoted or angled
        if DEVICE_LIBRARY.match(library) and (public or layer not in ("device", "comm", "ops", "cuda")):
            message = f"{library}: device libraries belong in src/device, src/comm and kernel files of ops/"
        elif public and angled and not STANDARD_HEADER.match(angled):
            message = f"<{angled}>: public headers include the standard library only"
        if message:
            errors.append(f"{path}:{number}: {message}")
    return errors


def check_tree(root):
    errors, files = [], 0
    for folder in ("include/sindri", "src", *ROOT_LAYERS):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in (".h", ".cc", ".cu", ".def"):
                files += 1
                errors += check_file(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    return errors, files


# (file, include, allowed)
CASES = [
    ("src/core/a.cc", '"sindri/core/tensor.h"', True), ("src/core/a.cc", '"src/core/b.h"', True), ("src/core/a.cc", "<fmt/format.h>", True),
    ("src/core/a.cc", '"sindri/op/bind.h"', False), ("src/core/a.cc", '"src/op/plan.h"', False),
    ("include/sindri/core/a.h", "<vector>", True), ("include/sindri/core/a.h", "<fmt/format.h>", False),
    ("include/sindri/core/a.h", '"src/core/b.h"', False), ("include/sindri/core/a.h", "<dnnl.hpp>", False),
    ("src/device/cpu/a.cc", "<dnnl.hpp>", True), ("src/device/cpu/a.cc", '"sindri/op/bind.h"', False),
    ("src/op/a.cc", '"sindri/ops/conv.h"', False), ("src/op/a.cc", '"sindri/autograd/grad.h"', False), ("src/op/a.cc", '"sindri/graph/compile.h"', False),
    ("ops/conv/a.cc", '"sindri/ops/conv.h"', True), ("ops/conv/a.cc", '"ops/conv/b.h"', True), ("ops/conv/a.cc", '"ops/pool/b.h"', False),
    ("ops/conv/a.cc", '"sindri/graph/compile.h"', False), ("ops/conv/a.cc", '"sindri/nn/cell.h"', False), ("ops/conv/a_cpu.cc", "<dnnl.hpp>", True),
    ("src/autograd/a.cc", '"sindri/nn/cell.h"', False), ("src/autograd/a.cc", '"sindri/graph/compile.h"', False), ("src/graph/a.cc", '"sindri/nn/cell.h"', False), ("src/amp/a.cc", '"sindri/op/bind.h"', True),
    ("src/nn/a.cc", '"sindri/ops/conv.h"', True), ("src/nn/a.cc", '"src/graph/graph.h"', False), ("src/nn/a.cc", '"sindri/train/model.h"', False),
    ("optim/a.cc", '"sindri/optim/optimizer.h"', True), ("optim/a.cc", '"sindri/train/model.h"', False), ("optim/a.cc", '"src/graph/graph.h"', False),
    ("src/train/a.cc", '"sindri/nn/cell.h"', True), ("src/train/a.cc", '"sindri/dataset/dataset.h"', True), ("src/train/a.cc", '"models/resnet.h"', False),
    ("src/train/a.cc", '"sindri/models/resnet.h"', False), ("src/train/a.cc", "<dnnl.hpp>", False), ("src/train/a.cc", '"src/graph/graph.h"', False),
    ("models/a.cc", '"sindri/nn/cell.h"', True), ("models/a.cc", '"src/core/nearest.h"', False),
    ("dataset/a.cc", '"sindri/core/tensor.h"', True), ("dataset/a.cc", '"sindri/op/bind.h"', False), ("dataset/a.cc", '"src/op/plan.h"', False), ("optim/a.cc", '"sindri/nn/cell.h"', False),
    ("src/app/a.cc", '"sindri/models/models.h"', True), ("src/train/a.cc", '"sindri/app/app.h"', False), ("src/cli/main.cc", '"sindri/app/app.h"', True),
    ("src/nowhere/a.cc", '"sindri/core/tensor.h"', False), ("src/core/a.cc", '"b.h"', False), ("src/train/a.cc", '"sindri/sindri.h"', False),
]


# (line, allowed)
LINES = [
    ("std::call_once(flag, [] {});", False), ("  std::once_flag flag;", False), ("pthread_once(&once, f);", False),
    ("static py::gil_safe_call_once_and_store<int> x;", False), ("#include <pybind11/gil_safe_call_once.h>", False),
    ("// not std::call_once, which", True), ("Once opened;", True),
]


def self_test():
    failures = 0
    for line, allowed in LINES:
        if (not check_file("src/core/a.cc", f"// text\n{line}\n")) != allowed:
            failures += 1
            print(f"self-test: {line!r}: expected {'no error' if allowed else 'an error'}")
    for path, include, allowed in CASES:
        errors = check_file(path, f"// text\n#include {include}\n")
        if (not errors) != allowed or (errors and not errors[0].startswith(f"{path}:")):
            failures += 1
            print(f"self-test: {path} including {include}: expected {'no error' if allowed else 'an error'}, got {errors}")
    with tempfile.TemporaryDirectory() as folder:
        bad = pathlib.Path(folder) / "src" / "core" / "bad.cc"
        bad.parent.mkdir(parents=True)
        bad.write_text('#include "sindri/nn/cell.h"\n')
        if check_tree(pathlib.Path(folder)) != (["src/core/bad.cc:1: core must not include nn"], 1):
            failures += 1
            print("self-test: a wrong edge in a tree on disk was not reported")
    print(f"check_includes: self-test, {len(CASES) + len(LINES) + 1} cases, {failures} failed")
    return 1 if failures else 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    errors, files = check_tree(root)
    print("\n".join(errors), end="\n" if errors else "")
    print(f"check_includes: {files} files, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
