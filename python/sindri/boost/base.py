"""Optimizers and groups of parameters made anew for training algorithms."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

from sindri import log as logger
from sindri._check import check_type, fail
from sindri.boost.less_batch_normalization import NormalisedDense
from sindri.common.parameter import Parameter
from sindri.nn.cell import Cell
from sindri.nn.layer.conv import Conv2d
from sindri.nn.optim.lars import LARS
from sindri.nn.optim.optimizer import Optimizer

__all__ = ["OptimizerProcess", "ParameterProcess"]


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
