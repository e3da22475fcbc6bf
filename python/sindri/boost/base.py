"""New optimizers and parameter groups for training algorithms."""
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
    """Returns the optimizer for a network that was changed. It updates those of its parameters that remain, and for each pair of `added` with a first parameter
    that it updates also the second one. Returns the same optimizer if its parameters did not change, otherwise a new one that keeps the remaining state. Raises
    TypeError if a new one cannot be created."""
    own = list(optimizer.parameters) if isinstance(optimizer, (Optimizer, LARS)) else []
    there = {id(p) for p in network.get_parameters()}
    gone = {id(p) for p in own if id(p) not in there}
    added = [(beside, new) for beside, new in added if any(p is beside for p in own)]
    if own and not gone and not added:
        return optimizer
    if not own or "init_params" not in (optimizer.opt if isinstance(optimizer, LARS) else optimizer).__dict__:
        fail(TypeError, f"less_bn changes the trained parameters, and a {type(optimizer).__name__} cannot be created again for them", "AutoBoost",
             "disable less_bn, and call boost.LessBN(network, True) before you create the optimizer")
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
    """Returns the parameters or groups that an optimizer was created with."""
    params = list(params) if params is not None else []
    if not params:
        fail(ValueError, "the optimizer has no parameters", where)
    check_type(where, "the first of the optimizer's parameters", params[0], (dict, Parameter))
    return params


class OptimizerProcess:
    """Creates an optimizer like another one, optionally with centralised gradients (MindSpore: boost.OptimizerProcess).

    Args:
        opt (Optimizer, LARS): An optimizer of this library, or LARS around one.

    Raises:
        TypeError: If `opt` is another object, or does not keep its arguments.

    Examples:
        >>> import sindri as ms
        >>> net = ms.nn.Dense(3, 2)
        >>> process = ms.boost.OptimizerProcess(ms.nn.Momentum([{"params": net.trainable_params()}], 0.1, 0.9))
        >>> process.add_grad_centralization(net)
        >>> type(process.generate_new_optimizer()).__name__
        'Momentum'
    """

    def __init__(self, opt: Any) -> None:
        check_type("OptimizerProcess", "'opt'", opt, (Optimizer, LARS))
        self.is_lars = isinstance(opt, LARS)
        inner = opt.opt if isinstance(opt, LARS) else opt
        if "init_params" not in inner.__dict__:
            fail(TypeError, f"{type(inner).__name__} does not keep its arguments", "OptimizerProcess", "decorate its __init__ with opt_init_args_register")
        self.opt_class: Any = type(inner)
        self.opt_init_args = dict(inner.init_args)
        self.lars_init_args = dict(opt.init_args) if self.is_lars else {}
        self.origin_params = inner.init_params["params"]
        self._learning_rate = inner.init_learning_rate if inner.init_learning_rate is not None else inner.learning_rate

    def build_params_dict(self, network: Cell) -> Dict[int, Cell]:
        """Returns, by the id of a Parameter, the Cell that it is a direct member of.

        Args:
            network (Cell): The network.

        Returns:
            dict[int, Cell].
        """
        return {id(p): cell for _, cell in network.cells_and_names() for p in cell.get_parameters(expand=False)}

    def build_gc_params_group(self, params_dict: Dict[int, Cell], parameters: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """Splits each group into parameters whose gradients are centralised and others.

        Gradients of norms and biases, of grouped convolutions' weights and of a normalised head are not centralised.

        Args:
            params_dict (dict[int, Cell]): A result of `build_params_dict`.
            parameters (list[dict]): The groups.

        Returns:
            list[dict], the new groups.
        """
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
        """Makes `generate_new_optimizer` centralise gradients where that is useful. Only optimizers with parameter groups support it: others stay unchanged,
        with a warning.

        Args:
            network (Cell): The network.

        Raises:
            TypeError: If the optimizer's parameters are not Parameters or groups.
            ValueError: If the optimizer has no parameters.
        """
        parameters = _checked("OptimizerProcess", self.origin_params)
        if isinstance(parameters[0], Parameter):
            logger.warning("OptimizerProcess: gradients are centralised by parameter group, and this optimizer has none | create it with [{'params': …}]")
            return
        self.origin_params = self.build_gc_params_group(self.build_params_dict(network), parameters)

    def _of_network(self, gone: Set[int], added: Sequence[Tuple[Parameter, Parameter]]) -> None:
        """Removes the parameters with ids in `gone`, and inserts each second parameter of `added` after the first."""
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
        """Returns an optimizer of the same class with the same arguments and initial state."""
        opt = self.opt_class(params=self.origin_params, learning_rate=self._learning_rate, **self.opt_init_args)
        return LARS(opt, **self.lars_init_args) if self.is_lars else opt


class ParameterProcess:
    """Buckets of parameters, and groups for a part of an optimizer's parameters (MindSpore: boost.ParameterProcess).

    Examples:
        >>> import sindri as ms
        >>> params = [ms.Parameter(ms.Tensor([1.0]), name=name) for name in "abcd"]
        >>> _ = ms.boost.ParameterProcess().assign_parameter_group(params, [2])
        >>> [p.comm_fusion for p in params]
        [1, 1, 2, 2]
    """

    def __init__(self) -> None:
        self._parameter_indices = 1

    def assign_parameter_group(self, parameters: Any, split_point: Optional[Sequence[int]] = None) -> Any:
        """Numbers the buckets in which gradients are reduced (Parameter.comm_fusion).

        Args:
            parameters (list[Parameter]): The parameters.
            split_point (Sequence[int], optional): The positions of parameters that start a new bucket. Default: None, the middle.

        Returns:
            list[Parameter], the parameters.
        """
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
        """Returns groups with an optimizer's settings that hold `parameters` only.

        Parameters are found by name; those that no group contains get the settings of the group with the most settings.

        Args:
            parameters (Sequence[Parameter]): The parameters.
            origin_params (list): The parameters or groups that the optimizer was created with.

        Returns:
            list[dict].

        Raises:
            TypeError: If `origin_params` holds other objects.
            ValueError: If `origin_params` is empty.
        """
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
