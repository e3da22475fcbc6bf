#!/usr/bin/env python3
"""Writes tests/python/expectations/mint.json with PyTorch: values and gradients, in float64, of the calls in tests/python/mint_cases.py.

    /path/to/pytorch/bin/python tests/reference/make_mint_expectations.py
"""
import json
import os
import sys

import torch

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")
sys.path.insert(0, TESTS)
import mint_cases  # noqa: E402


def flat(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().to(torch.float64).reshape(-1).tolist()]


def run(case):
    """Returns {"shape", "value", "gradients"}. The gradients are of the sum of the result times weights_of, for every floating input whose name does not end in
    0."""
    given = {k: torch.tensor(v, requires_grad=v.dtype == "float64" and not k.endswith("0")) for k, v in mint_cases.inputs_of(case).items()}
    out = eval(case[1], {"F": torch.nn.functional, "m": torch, "nn": torch.nn, **given})
    found = {"shape": list(out.shape), "value": flat(out)}
    if out.requires_grad:
        (out * torch.tensor(mint_cases.weights_of(out.shape))).sum().backward()
        found["gradients"] = {k: flat(v.grad) for k, v in given.items() if v.grad is not None}
    return found


def run_layer(case):
    """Does the same for a layer. Also returns the gradients of its parameters, and its state afterwards if it was in training mode."""
    name, source, _, training = case
    layer = eval(source, {"nn": torch.nn}).to(torch.float64).train(training)
    state = mint_cases.state_of(name, {k: tuple(v.shape) for k, v in layer.state_dict().items()})
    layer.load_state_dict({k: torch.tensor(v) for k, v in state.items()})
    x = torch.tensor(mint_cases.inputs_of(case)["x"])
    x.requires_grad = x.is_floating_point()
    out = layer(x)
    (out * torch.tensor(mint_cases.weights_of(out.shape))).sum().backward()
    given = {"x": x, **dict(layer.named_parameters())}
    found = {"shape": list(out.shape), "value": flat(out), "gradients": {k: flat(v.grad) for k, v in given.items() if v.grad is not None}}
    return {**found, "state": {k: flat(v) for k, v in layer.named_buffers()}} if training else found


def main():
    cases = {**{case[0]: run(case) for case in mint_cases.FUNCTIONS}, **{"nn." + case[0]: run_layer(case) for case in mint_cases.LAYERS}}
    with open(os.path.join(TESTS, "expectations", "mint.json"), "w", encoding="utf-8") as f:
        body = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(cases.items()))
        f.write(f'{{"torch": {json.dumps(torch.__version__)}, "cases": {{\n{body}\n}}}}\n')


if __name__ == "__main__":
    main()
