"""Optimizers and groups of parameters made anew for training algorithms."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from sindri import log as logger
from sindri._check import check_type, fail
from sindri.boost.less_batch_normalization import NormalisedDense
from sindri.common.parameter import Parameter
from sindri.nn.cell import Cell
from sindri.nn.layer.conv import Conv2d
from sindri.nn.optim.lars import LARS
from sindri.nn.optim.optimizer import Optimizer

__all__ = ["OptimizerProcess", "ParameterProcess"]


def optimizer_of_changed(optimizer: Any, network: Cell, added: Sequence[Tuple[Parameter, Parameter]]) -> Any:
    """The optimizer for a network that has been changed: of its parameters it has those that are still there, and each second one of `added` where it has the first.
    The same one where nothing of its changed; else another like it, with the state of what stays. Raises TypeError where it cannot be made anew."""
    own = list(optimizer.parameters) if isinstance(optimizer, (Optimizer, LARS)) else []
    there = {id(p) for p in network.get_parameters()}
    gone = {id(p) for p in own if id(p) not in there}
    added = [(beside, new) for beside, new in added if any(p is beside for p in own)]
    if own and not gone and not added:
        return optimizer
    if not own or "init_params" not in (optimizer.opt if isinstance(optimizer, LARS) else optimizer).__dict__:
        fail(TypeError, f"less_bn changes what there is to train, and a {type(optimizer).__name__} cannot be made anew for that", "AutoBoost",
             "switch less_bn off, and give boost.LessBN(network, True) the network before the optimizer is made")
    process = OptimizerProcess(optimizer)
    process._of_network(gone, added)
    new = process.generate_new_optimizer()
    weights = {id(p) for p in own}
    state = {p.name: p for p in optimizer.get_parameters() if id(p) not in weights}
    for p in new.get_parameters():
        old = state.get(p.name)
        if old is not None and old.shape == p.shape and old.dtype == p.dtype:
            p.set_data(old.value())
    return new


def _checked(where: str, params: Any) -> List[Any]:
    """The parameters or groups that an optimizer was given."""
    params = list(params) if params is not None else []
    if not params:
        fail(ValueError, "the optimizer has no parameters", where)
    check_type(where, "the first of the optimizer's parameters", params[0], (dict, Parameter))
    return params


class OptimizerProcess:
    """Makes an optimizer like another, perhaps with centralised gradients (MindSpore: boost.OptimizerProcess).

    opt: an optimizer of this library, or LARS around one. Raises TypeError.
    """

    def __init__(self, opt: Any) -> None:
        check_type("OptimizerProcess", "'opt'", opt, (Optimizer, LARS))
        self.is_lars = isinstance(opt, LARS)
        inner = opt.opt if isinstance(opt, LARS) else opt
        if "init_params" not in inner.__dict__:
            fail(TypeError, f"{type(inner).__name__} does not keep what it was made with", "OptimizerProcess", "decorate its __init__ with opt_init_args_register")
        self.opt_class: Any = type(inner)
        self.opt_init_args = dict(inner.init_args)
        self.lars_init_args = dict(opt.init_args) if self.is_lars else {}
        self.origin_params = inner.init_params["params"]
        self._learning_rate = inner.init_learning_rate if inner.init_learning_rate is not None else inner.learning_rate

    def build_params_dict(self, network: Cell) -> Dict[int, Cell]:
        """By id of a Parameter the Cell that it is a direct member of."""
        return {id(p): cell for _, cell in network.cells_and_names() for p in cell.get_parameters(expand=False)}

    def build_gc_params_group(self, params_dict: Dict[int, Cell], parameters: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """The groups, each cut into the parameters whose gradients are centralised and the others: norms and biases, weights of convolutions in groups, and of a
        normalised head."""
        def centralised(p: Parameter) -> bool:
            cell = params_dict.get(id(p))
            return not (any(word in p.name for word in ("beta", "gamma", "bias")) or (isinstance(cell, Conv2d) and cell.group > 1) or isinstance(cell, NormalisedDense))

        out: List[Dict[str, Any]] = []
        for group in parameters:
            if "order_params" in group:
                out.append(group)
                continue
            members = list(group["params"])
            yes, no = [p for p in members if centralised(p)], [p for p in members if not centralised(p)]
            out += [{**group, "params": yes, "grad_centralization": True}] if yes else []
            out += [{**group, "params": no}] if no else []
        return out

    def add_grad_centralization(self, network: Cell) -> None:
        """What generate_new_optimizer makes centralises gradients where that is of use. Only optimizers with groups of parameters can: others are left as they are,
        with a warning. Raises ValueError, TypeError for parameters that no optimizer takes."""
        parameters = _checked("OptimizerProcess", self.origin_params)
        if isinstance(parameters[0], Parameter):
            logger.warning("OptimizerProcess: gradients are centralised by groups, and this optimizer was made without | give it [{'params': …}]")
            return
        self.origin_params = self.build_gc_params_group(self.build_params_dict(network), parameters)

    def _of_network(self, gone: Set[int], added: Sequence[Tuple[Parameter, Parameter]]) -> None:
        """The parameters or groups without those of `gone` (ids), and with each second one of `added` behind the first."""
        def members(params: Any) -> List[Parameter]:
            out: List[Parameter] = []
            for p in params:
                out += [] if id(p) in gone else [p]
                out += [new for beside, new in added if beside is p]
            return out

        parameters = _checked("OptimizerProcess", self.origin_params)
        if isinstance(parameters[0], Parameter):
            self.origin_params = members(parameters)
            return
        groups = [{k: members(v) if k in ("params", "order_params") else v for k, v in group.items()} for group in parameters]
        self.origin_params = [g for g in groups if g.get("params") or g.get("order_params")]

    def generate_new_optimizer(self) -> Any:
        """An optimizer of the same class with the same arguments; its state begins anew."""
        opt = self.opt_class(params=self.origin_params, learning_rate=self._learning_rate, **self.opt_init_args)
        return LARS(opt, **self.lars_init_args) if self.is_lars else opt


class ParameterProcess:
    """Buckets of parameters, and groups for a part of an optimizer's parameters (MindSpore: boost.ParameterProcess)."""

    def __init__(self) -> None:
        self._parameter_indices = 1

    def assign_parameter_group(self, parameters: Any, split_point: Optional[Sequence[int]] = None) -> Any:
        """Numbers the buckets in which gradients are reduced (Parameter.comm_fusion): a new one begins with each parameter whose number is in split_point, or with
        the one in the middle. Returns the parameters."""
        if not isinstance(parameters, (list, tuple)) or not parameters:
            return parameters
        begins = split_point if split_point else [len(parameters) // 2]
        for i, p in enumerate(parameters):
            if i in begins:
                self._parameter_indices += 1
            p.comm_fusion = self._parameter_indices
        return parameters

    @staticmethod
    def generate_group_params(parameters: Sequence[Parameter], origin_params: Any) -> List[Dict[str, Any]]:
        """Groups with the settings of origin_params (what an optimizer was given) that hold `parameters` only, found by name; those that none of the groups has
        join the settings of the group with the most of them. Raises ValueError without origin_params, TypeError for other kinds."""
        origin = _checked("ParameterProcess", origin_params)
        if isinstance(origin[0], Parameter):
            return [{"params": list(parameters)}]
        by_name = {p.name: p for p in parameters}
        out: List[Dict[str, Any]] = []
        fullest: Dict[str, Any] = {}
        for group in origin:
            if "order_params" in group:
                out.append({**group, "order_params": list(parameters)})
                continue
            out.append({**group, "params": [by_name.pop(p.name) for p in list(group["params"]) if p.name in by_name]})
            if len(group) > len(fullest):
                fullest = group
        if by_name:
            out.append({**fullest, "params": list(by_name.values())})
        return out
