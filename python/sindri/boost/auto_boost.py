"""What boost_level and boost_config_dict of a Model ask for, as a list of training algorithms with their settings."""
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
# MindSpore's algorithms with the keys that it knows beside the settings of those that are registered.
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
_STORED = ("gradient_split_groups", "timeout")  # checked, and of no effect: buckets and time limits are those of the job
_MAY_BE_NONE = ("pca_mat_path", "weight_load_dir")
_ALONE = "dim_reduce"  # nothing else works beside it


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            fail(ValueError, f"{what} '{name}' is not known", "AutoBoost", nearest(name, known) or f"known are {', '.join(sorted(known))}")


def _without_aliases(section: str, values: Dict[str, Any]) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for key, value in values.items():
        name = _ALIASES.get(key, key)
        if name != key and name in values:
            fail(ValueError, f"the section '{section}' has '{key}' and '{name}', which are one setting", "AutoBoost", "leave one of them out")
        if name != key and name != "step":
            logger.info("AutoBoost: '%s.%s' is taken for '%s'", section, key, name)
        out[name] = value
    return out


def _check_stored(section: str, values: Dict[str, Any]) -> None:
    """What is accepted for MindSpore's sake has its type and range, too."""
    groups = values.get("gradient_split_groups")
    if groups is not None:
        check_type("AutoBoost", f"'{section}.gradient_split_groups'", groups, (list, tuple))
        if any(isinstance(g, bool) or not isinstance(g, int) or g < 0 for g in groups) or sorted(set(groups)) != list(groups):
            fail(ValueError, f"'{section}.gradient_split_groups' must be rising numbers, got {groups!r}", "AutoBoost", "each is the last parameter of a bucket")
    timeout = values.get("timeout")
    if timeout is not None and (not is_number(timeout) or timeout <= 0):
        fail(ValueError, f"'{section}.timeout' must be a number of seconds above 0, got {timeout!r}", "AutoBoost")
    for name in _STORED:
        if values.get(name) is not None:
            no_effect(f"boost_config_dict['{section}']['{name}']", "buckets and time limits are those of the job")


class AutoBoost:
    """The algorithms that a boost level and a configuration switch on.

    level: 'O0' none; 'O1' less_bn and grad_freeze; 'O2' these and adasum. boost_config_dict: {'boost': {'mode': 'auto' (the level decides), 'manual'
    (the booleans beside it, by algorithm, override the level), 'enable_all' or 'disable_all'}, 'common': {…}, algorithm: {setting: value}}. Besides
    MindSpore's algorithms every registered one can be named (docs/settings.md, section boost, has them with their settings). Each Model has its own
    (MindSpore: the first one's holds for all). Where dim_reduce is on, nothing else is. An adasum that was not named is left out where there is one group of
    ranks; one that was named stops the training then. A dim_reduce with rho searches by it
    (search 'backtrack') unless `search` says otherwise. `timeout` and `gradient_split_groups` are checked and stored only. A dict at O0 is ignored, with a warning.
    Raises ValueError for a level, mode, key or value that is not known; TypeError.
    """

    def __init__(self, level: str = "O0", boost_config_dict: Any = "") -> None:
        config = {} if boost_config_dict in (None, "") else boost_config_dict
        self.level = check_choice("AutoBoost", "'level'", level, tuple(BOOST_LEVELS))
        self.boost_config = check_type("AutoBoost", "'boost_config_dict'", config, dict)
        self.algorithms: List[Tuple[str, Dict[str, Any]]] = []
        self.loss_scale_group = False
        if level == "O0" and config:
            logger.warning("AutoBoost: 'boost_config_dict' has no effect at boost_level 'O0' | give 'O1' or 'O2'")
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
        for name in dict.fromkeys([*in_force, *sections]):  # what is off is checked, too
            if name not in registered:
                continue
            settings = {key: value for key, value in sections.get(name, {}).items() if value is not None or key not in _MAY_BE_NONE}
            if name == "adasum":
                settings.setdefault("device_number", common.get("device_number", 0))
                settings.setdefault("alone", "stop" if name in named else "warn")
            if name == "dim_reduce" and "rho" in settings:
                settings.setdefault("search", "backtrack")  # what rho is for; interpolation does not read it
            _core.check_boost_settings(name, settings)
            if name in in_force:
                self.algorithms.append((name, settings))

    def _switched_on(self, boost: Dict[str, Any], names: List[str]) -> Tuple[List[str], List[str]]:
        """What is on, and what of it was named."""
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
            logger.info("AutoBoost: with dim_reduce %s are left out", ", ".join(n for n in chosen if n != _ALONE))
        return [_ALONE] if _ALONE in chosen else chosen

    def _settings(self, name: str) -> Any:
        return next((settings for n, settings in self.algorithms if n == name), None)

    def network_auto_process_train(self, network: Any, optimizer: Any) -> Tuple[Any, Any]:
        """The network and the optimizer to train with: where less_bn is on, the network is changed in place, and the optimizer is another one like it that has the
        parameters there are now (Model.train_network.optimizer). Other algorithms work on the training step. Raises TypeError for an optimizer that cannot be made
        anew (one of a script's own, thor) where that is needed."""
        added = self._process(network)
        return network, optimizer if added is None else optimizer_of_changed(optimizer, network, added)

    def _process(self, network: Any) -> Any:
        """Pairs of a weight and what less_bn added beside it; None where it is off."""
        settings = self._settings("less_bn")
        if settings is None:
            return None
        changed = LessBN(network, settings.get("fn_flag", True), basic=settings.get("basic", False), fn_scale=settings.get("fn_scale", 1.0))
        if not changed.removed and not changed.added and not changed.normalised:
            logger.warning("AutoBoost: less_bn finds nothing to change in %s but gradients | blocks with batch norms are Cells called …Block or …Bottleneck, or have "
                           "the flag residual_block", type(network).__name__)
        return changed.added

    def network_auto_process_eval(self, network: Any) -> Any:
        """The network to evaluate with: with fewer batch norms, too."""
        self._process(network)
        return network

    def check_manager(self, manager: Any) -> None:
        """Raises TypeError where loss_scale_group is on and the manager is no GroupLossScaleManager, or the other way round."""
        grouped = isinstance(manager, GroupLossScaleManager)
        if self.loss_scale_group and not grouped:
            fail(TypeError, f"loss_scale_group needs a GroupLossScaleManager as loss_scale_manager, got {type(manager).__name__}", "AutoBoost")
        if grouped and not self.loss_scale_group:
            fail(TypeError, "a GroupLossScaleManager needs loss_scale_group to be on", "AutoBoost", "give boost_level and boost_config_dict that switch it on")
