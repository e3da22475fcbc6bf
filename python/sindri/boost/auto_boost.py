"""What boost_level and boost_config_dict of a Model ask for, as a list of training algorithms with their settings."""
from __future__ import annotations

import difflib
from typing import Any, Dict, List, Tuple

from sindri import _core
from sindri import log as logger
from sindri.common.not_yet import not_yet

__all__ = ["AutoBoost"]

_LEVELS: Dict[str, Tuple[str, ...]] = {"O0": (), "O1": ("less_bn", "grad_freeze"), "O2": ("less_bn", "grad_freeze", "adasum")}
_MODES = ("auto", "manual", "enable_all", "disable_all")
# MindSpore's algorithms with the keys of their sections; what of them is registered is there.
_SECTIONS: Dict[str, Tuple[str, ...]] = {
    "less_bn": ("fn_flag", "gc_flag", "gradient_split_groups"),
    "grad_freeze": ("param_groups", "freeze_type", "freeze_p", "total_steps"),
    "adasum": (),
    "grad_accumulation": ("grad_accumulation_step",),
    "dim_reduce": ("rho", "gamma", "alpha", "sigma", "n_components", "n_component", "pca_mat_path", "weight_load_dir", "timeout"),
    "loss_scale_group": (),
}
_COMMON = ("device_number", "device_num", "gradient_split_groups")
_ALIASES = {("grad_accumulation", "grad_accumulation_step"): "step"}


def _unknown(what: str, name: Any, known: Any) -> None:
    near = difflib.get_close_matches(str(name), sorted(known), 1)
    raise ValueError(f"AutoBoost: {what} '{name}' is not known | " + (f"did you mean '{near[0]}'?" if near else f"known are {', '.join(sorted(known))}"))


class AutoBoost:
    """The algorithms that a boost level and a configuration switch on.

    level: 'O0' none; 'O1' less_bn and grad_freeze; 'O2' these and adasum. boost_config_dict: {'boost': {'mode': 'auto' (the level decides), 'manual'
    (the booleans beside it, by algorithm, override the level), 'enable_all' or 'disable_all'}, 'common': {…}, algorithm: {setting: value}}. Besides
    MindSpore's algorithms every registered one can be named (docs/settings.md, section boost, has them with their settings). Each Model has its own
    (MindSpore: the first one's holds for all). A dict at O0 is ignored, with a warning.
    Raises ValueError for a level, mode, key or value that is not known, NotYetError for an algorithm that is not there yet; TypeError.
    """

    def __init__(self, level: str = "O0", boost_config_dict: Any = "") -> None:
        if level not in _LEVELS:
            raise ValueError(f"AutoBoost: 'level' must be O0, O1 or O2, got {level!r}")
        config = {} if boost_config_dict in (None, "") else boost_config_dict
        if not isinstance(config, dict):
            raise TypeError(f"AutoBoost: 'boost_config_dict' must be a dict, got {type(config).__name__}")
        self.level, self.boost_config = level, config
        self._registered = _core.boost_algorithms()
        self.algorithms: List[Tuple[str, Dict[str, Any]]] = []
        if level == "O0":
            if config:
                logger.warning("AutoBoost: 'boost_config_dict' has no effect at boost_level 'O0' | give 'O1' or 'O2'")
            return
        self._check_sections(config)
        for name in self._switched_on(config.get("boost", {})):
            if name not in self._registered:
                not_yet(f"boost algorithm '{name}'", "boost")
            self.algorithms.append((name, self._settings_of(name, config.get(name, {}))))

    def _names(self) -> Any:
        return set(_SECTIONS) | set(self._registered)

    def _check_sections(self, config: Dict[str, Any]) -> None:
        for section, values in config.items():
            if section not in {"boost", "common"} | self._names():
                _unknown("the section", section, {"boost", "common"} | self._names())
            if not isinstance(values, dict):
                raise TypeError(f"AutoBoost: the section '{section}' must be a dict, got {type(values).__name__}")
        for key in config.get("common", {}):
            if key not in _COMMON:
                _unknown("common's key", key, _COMMON)
        for name in self._names() & set(config):
            known = set(_SECTIONS.get(name, ())) | set(self._registered.get(name, ("", {}))[1])
            for key in config[name]:
                if key not in known:
                    _unknown(f"the key of '{name}'", key, known)

    def _switched_on(self, boost: Dict[str, Any]) -> List[str]:
        mode = boost.get("mode", "auto")
        if mode not in _MODES:
            raise ValueError(f"AutoBoost: 'mode' must be one of {', '.join(_MODES)}, got {mode!r}")
        on = {name: name in _LEVELS[self.level] for name in sorted(self._names())}
        for name, value in boost.items():
            if name == "mode":
                continue
            if name not in on:
                _unknown("the algorithm", name, on)
            if not isinstance(value, bool):
                raise TypeError(f"AutoBoost: 'boost.{name}' must be a bool, got {value!r}")
            if mode == "manual":
                on[name] = value
        if mode in ("enable_all", "disable_all"):
            on = {name: mode == "enable_all" and name in _SECTIONS for name in on}
        return [name for name, value in on.items() if value]

    @staticmethod
    def _settings_of(name: str, section: Dict[str, Any]) -> Dict[str, Any]:
        return {_ALIASES.get((name, key), key): value for key, value in section.items()}

    def network_auto_process_train(self, network: Any, optimizer: Any) -> Tuple[Any, Any]:
        """The network and the optimizer to train with: those given, algorithms work on the training step."""
        return network, optimizer

    def network_auto_process_eval(self, network: Any) -> Any:
        """The network to evaluate with."""
        return network
