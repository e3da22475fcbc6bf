"""Translates boost_level and boost_config_dict of a Model to a list of training algorithms with their settings."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Tuple

from sindri import _core
from sindri import log as logger
from sindri._check import check_bool, check_choice, check_int, check_type, fail, is_number, nearest
from sindri.boost.base import optimizer_of_changed
from sindri.boost.group_loss_scale import GroupLossScaleManager
from sindri.boost.less_batch_normalization import LessBN
from sindri.common.no_effect import no_effect

__all__ = ["AutoBoost"]

BOOST_LEVELS: Dict[str, Tuple[str, ...]] = {"O0": (), "O1": ("less_bn", "grad_freeze"), "O2": ("less_bn", "grad_freeze", "adasum")}
_MODES = ("auto", "manual", "enable_all", "disable_all")
# MindSpore's algorithms with the keys that it accepts besides the settings of the registered ones.
_SECTIONS: Dict[str, Tuple[str, ...]] = {
    "less_bn": ("gradient_split_groups",),
    "grad_freeze": (),
    "adasum": (),
    "grad_accumulation": ("grad_accumulation_step",),
    "dim_reduce": ("n_component", "timeout"),
    "loss_scale_group": (),
}
_COMMON = ("device_number", "device_num", "gradient_split_groups")
_ALIASES = {"grad_accumulation_step": "step", "n_component": "n_components", "device_num": "device_number"}
_STORED = ("gradient_split_groups", "timeout")  # checked, but without effect: the job determines buckets and time limits
_MAY_BE_NONE = ("pca_mat_path", "weight_load_dir")
_ALONE = "dim_reduce"  # cannot be combined with another algorithm


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            fail(ValueError, f"{what} '{name}' is unknown", "AutoBoost", nearest(name, known) or f"known: {', '.join(sorted(known))}")


def _without_aliases(section: str, values: Dict[str, Any]) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for key, value in values.items():
        name = _ALIASES.get(key, key)
        if name != key and name in values:
            fail(ValueError, f"the section '{section}' has '{key}' and '{name}', which are the same setting", "AutoBoost", "omit one of them")
        if name != key and name != "step":
            logger.info("AutoBoost: '%s.%s' is read as '%s'", section, key, name)
        out[name] = value
    return out


def _check_stored(section: str, values: Dict[str, Any]) -> None:
    """Checks the type and range of settings that are accepted for compatibility with MindSpore."""
    groups = values.get("gradient_split_groups")
    if groups is not None:
        check_type("AutoBoost", f"'{section}.gradient_split_groups'", groups, (list, tuple))
        if any(isinstance(g, bool) or not isinstance(g, int) or g < 0 for g in groups) or sorted(set(groups)) != list(groups):
            fail(ValueError, f"'{section}.gradient_split_groups' must be increasing numbers, got {groups!r}", "AutoBoost",
                 "each is the last parameter of a bucket")
    timeout = values.get("timeout")
    if timeout is not None and (not is_number(timeout) or timeout <= 0):
        fail(ValueError, f"'{section}.timeout' must be a number of seconds above 0, got {timeout!r}", "AutoBoost")
    for name in _STORED:
        if values.get(name) is not None:
            no_effect(f"boost_config_dict['{section}']['{name}']", "the job determines buckets and time limits")


class AutoBoost:
    """The algorithms that a boost level and a configuration enable.

    Every registered algorithm can be named besides those of MindSpore; docs/settings.md, section boost, lists them with their settings. Each Model has its own
    AutoBoost; in MindSpore the first one applies to all. dim_reduce disables every other algorithm. With a single group of ranks, an adasum that the level
    enabled is skipped with a warning, and one that was named stops the training run with an error. A dim_reduce with rho uses the search 'backtrack' unless
    `search` is given.

    Args:
        level (str): 'O0' for none, 'O1' for less_bn and grad_freeze, 'O2' for these and adasum. Default: 'O0'.
        boost_config_dict (dict): {'boost': {'mode': ..., algorithm: bool}, 'common': {...}, algorithm: {setting: value}}. The mode is 'auto' (the level
            decides), 'manual' (the booleans next to it override the level), 'enable_all' or 'disable_all'. `timeout` and `gradient_split_groups` are checked
            and stored without effect. At level 'O0' the dict is ignored with a warning. Default: ''.

    Raises:
        TypeError: If an argument or a value has another type.
        ValueError: If a level, mode, key or value is unknown.

    Examples:
        >>> import sindri as ms
        >>> boost = ms.boost.AutoBoost("O1", {"boost": {"mode": "manual", "less_bn": False}})
        >>> [name for name, settings in boost.algorithms]
        ['grad_freeze']
    """

    def __init__(self, level: str = "O0", boost_config_dict: Any = "") -> None:
        config = {} if boost_config_dict in (None, "") else boost_config_dict
        self.level = check_choice("AutoBoost", "'level'", level, tuple(BOOST_LEVELS))
        self.boost_config = check_type("AutoBoost", "'boost_config_dict'", config, dict)
        self.algorithms: List[Tuple[str, Dict[str, Any]]] = []
        self.loss_scale_group = False
        if level == "O0" and config:
            logger.warning("AutoBoost: 'boost_config_dict' has no effect at boost_level 'O0' | set 'O1' or 'O2'")
        if level == "O0":
            return
        registered = _core.boost_algorithms()
        keys: Dict[str, Tuple[str, ...]] = {name: (*_SECTIONS.get(name, ()), *registered.get(name, ("", ()))[1]) for name in {**_SECTIONS, **registered}}
        switches = sorted(keys)
        keys.update(boost=("mode", *switches), common=_COMMON)
        _check_known("the section", config, keys)
        sections: Dict[str, Dict[str, Any]] = {}
        for section, values in config.items():
            _check_known(f"the key of '{section}'", check_type("AutoBoost", f"the section '{section}'", values, dict), keys[section])
            _check_stored(section, values)
            sections[section] = _without_aliases(section, {k: v for k, v in values.items() if k not in _STORED})
        common = sections.get("common", {})
        chosen, named = self._switched_on(sections.get("boost", {}), switches)
        if "device_number" in common:
            check_int("AutoBoost", "'common.device_number'", common["device_number"], 1)
        in_force = self._in_force(chosen)
        self.loss_scale_group = "loss_scale_group" in in_force
        for name in dict.fromkeys([*in_force, *sections]):  # disabled algorithms are checked too
            if name not in registered:
                continue
            settings = {key: value for key, value in sections.get(name, {}).items() if value is not None or key not in _MAY_BE_NONE}
            if name == "adasum":
                settings.setdefault("device_number", common.get("device_number", 0))
                settings.setdefault("alone", "stop" if name in named else "warn")
            if name == "dim_reduce" and "rho" in settings:
                settings.setdefault("search", "backtrack")  # the search that uses rho; interpolation ignores it
            _core.check_boost_settings(name, settings)
            if name in in_force:
                self.algorithms.append((name, settings))

    def _switched_on(self, boost: Dict[str, Any], names: List[str]) -> Tuple[List[str], List[str]]:
        """Returns the enabled algorithms, and those of them that were named."""
        mode = check_choice("AutoBoost", "'mode'", boost.get("mode", "auto"), _MODES)
        chosen = {name: value for name, value in boost.items() if name != "mode"}
        for name, value in chosen.items():
            check_bool("AutoBoost", f"'boost.{name}'", value)
        if mode in ("enable_all", "disable_all"):
            return (sorted(_SECTIONS) if mode == "enable_all" else []), []
        named = [name for name in names if mode == "manual" and chosen.get(name)]
        return [name for name in names if (chosen.get(name) if mode == "manual" and name in chosen else name in BOOST_LEVELS[self.level])], named

    @staticmethod
    def _in_force(chosen: List[str]) -> List[str]:
        if _ALONE in chosen and len(chosen) > 1:
            logger.info("AutoBoost: dim_reduce disables %s", ", ".join(n for n in chosen if n != _ALONE))
        return [_ALONE] if _ALONE in chosen else chosen

    def _settings(self, name: str) -> Any:
        return next((settings for n, settings in self.algorithms if n == name), None)

    def network_auto_process_train(self, network: Any, optimizer: Any) -> Tuple[Any, Any]:
        """Prepares a network and an optimizer for training. Other algorithms than less_bn only affect the training step.

        With less_bn the network is changed in place, and the returned optimizer is a new one of the same kind for the network's current parameters
        (Model.train_network.optimizer).

        Args:
            network (Cell): The network.
            optimizer (Optimizer): Its optimizer.

        Returns:
            tuple[Cell, Optimizer], the network and the optimizer to train with.

        Raises:
            TypeError: If a new optimizer is needed and cannot be created: for a script's own class, and for thor.
        """
        added = self._process(network)
        return network, optimizer if added is None else optimizer_of_changed(optimizer, network, added)

    def _process(self, network: Any) -> Any:
        """Returns pairs of a weight and the parameter that less_bn added for it; None if less_bn is off."""
        settings = self._settings("less_bn")
        if settings is None:
            return None
        changed = LessBN(network, settings.get("fn_flag", True), basic=settings.get("basic", False), fn_scale=settings.get("fn_scale", 1.0))
        if not changed.removed and not changed.added and not changed.normalised:
            logger.warning("AutoBoost: less_bn changes only the gradients of %s | blocks with batch norms are Cells called …Block or …Bottleneck, or have "
                           "the flag residual_block", type(network).__name__)
        return changed.added

    def network_auto_process_eval(self, network: Any) -> Any:
        """Prepares a network for evaluation: applies less_bn if it is enabled.

        Args:
            network (Cell): The network.

        Returns:
            Cell, the network.
        """
        self._process(network)
        return network

    def check_manager(self, manager: Any) -> None:
        """Checks that the loss-scale manager matches the setting loss_scale_group.

        Args:
            manager (LossScaleManager, optional): The manager.

        Raises:
            TypeError: If loss_scale_group is enabled and the manager is not a GroupLossScaleManager, or vice versa.
        """
        grouped = isinstance(manager, GroupLossScaleManager)
        if self.loss_scale_group and not grouped:
            fail(TypeError, f"loss_scale_group needs a GroupLossScaleManager as loss_scale_manager, got {type(manager).__name__}", "AutoBoost")
        if grouped and not self.loss_scale_group:
            fail(TypeError, "a GroupLossScaleManager needs loss_scale_group to be on", "AutoBoost", "enable it with boost_level and boost_config_dict")
