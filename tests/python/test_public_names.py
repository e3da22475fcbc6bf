"""`from mindspore.X import *` imports the names of MindSpore's X and no others: those recorded with 2.10.0 (expectations/public_names.json,
tests/reference/make_public_names.py), those of the contract, and a few of other releases."""
import importlib
import json
import os

import pytest

import contract_symbols as contract

with open(os.path.join(os.path.dirname(__file__), "expectations", "public_names.json"), encoding="utf-8") as f:
    RECORDED = json.load(f)

# Names that 2.10.0 has but does not list, and names of other releases.
OTHERS = {
    "mindspore.ops": "control_depend load ResizeBilinear",
    "mindspore.ops.operations": "LoadIm2Col ResizeBilinear",
    "mindspore.ops.functional": "control_depend load",
    "mindspore.ops.composite": "clip_by_global_norm clip_by_value",
    "mindspore.nn": "ResizeBilinear THOR THOR_Ascend THOR_GPU ThorAscend ThorGpu",
    "mindspore.numpy": "NINF PINF around copy inf matrix_power nan pi round uint",
    "mindspore.mint": "addcmul clip equal fix ge item linspace ones trunc unique",
    "mindspore.mint.nn": "functional",
    "mindspore.mint.nn.functional": "hardshrink hardsigmoid hardswish l1_loss mish selu softplus softshrink",
    "mindspore.train": "merge_pipeline_strategys obfuscate_model parse_print rank_list_for_transform sync_pipeline_shared_parameters "
                       "transform_checkpoint_by_rank transform_checkpoints",
    "mindspore.common": "initializer ms_function",
    "mindspore.parallel": "AutoParallel",
    "mindspore.profiler": "ProfilerAction",
    "mindspore.context": "reset_ps_context set_device set_offload_context",
    "mindspore.runtime": "run_check",
    "mindspore.mindrecord": "MRMCommitError MRMDefineIndexError MRMOpenError MRMValidateDataError MRMWriteDatasetError ParamTypeError ParamValueError",
}


def of_contract(module):
    """Returns the contract's names in a module."""
    names = {line.split("(")[0] for line in contract.SIGNATURES.strip().splitlines()}
    for table in (contract.VALUES, contract.OWN, contract.NOT_YET):
        names |= {name for name, _ in contract.entries(table)}
    inner = module.partition(".")[2]
    return {name.rpartition(".")[2] for name in names if name.rpartition(".")[0] == inner}


@pytest.mark.parametrize("module", RECORDED)
def test_a_star_import_brings_only_the_modules_names(module):
    importlib.import_module(module)
    scope = {}
    exec(f"from {module} import *", scope)
    brought = set(scope) - {"__builtins__"}
    assert brought - set(RECORDED[module]) - of_contract(module) - set(OTHERS.get(module, "").split()) == set()


@pytest.mark.parametrize("module", RECORDED)
def test_what_a_module_lists_is_there_once(module):
    listed = getattr(importlib.import_module(module), "__all__", None)
    assert listed is not None and len(listed) == len(set(listed)) and all(hasattr(importlib.import_module(module), name) for name in listed)


def test_the_exceptions_are_needed():
    """An entry of OTHERS that MindSpore or the contract names must be removed."""
    for module, names in OTHERS.items():
        assert not set(names.split()) & (set(RECORDED[module]) | of_contract(module))
