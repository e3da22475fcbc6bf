"""What boost_level and boost_config_dict of a Model ask for, as a list of training algorithms with their settings."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Tuple

from sindri import _core
from sindri import log as logger
from sindri._check import check_bool, check_choice, check_type, fail, nearest
from sindri.common.not_yet import not_yet

__all__ = ["AutoBoost"]

BOOST_LEVELS: Dict[str, Tuple[str, ...]] = {"O0": (), "O1": ("less_bn", "grad_freeze"), "O2": ("less_bn", "grad_freeze", "adasum")}
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
_ALIASES = {"grad_accumulation_step": "step"}


def _check_known(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            fail(ValueError, f"{what} '{name}' is not known", "AutoBoost", nearest(name, known) or f"known are {', '.join(sorted(known))}")


class AutoBoost:
    """The algorithms that a boost level and a configuration switch on.

    level: 'O0' none; 'O1' less_bn and grad_freeze; 'O2' these and adasum. boost_config_dict: {'boost': {'mode': 'auto' (the level decides), 'manual'
    (the booleans beside it, by algorithm, override the level), 'enable_all' or 'disable_all'}, 'common': {…}, algorithm: {setting: value}}. Besides
    MindSpore's algorithms every registered one can be named (docs/settings.md, section boost, has them with their settings). Each Model has its own
    (MindSpore: the first one's holds for all). A dict at O0 is ignored, with a warning.
    Raises ValueError for a level, mode, key or value that is not known, NotYetError for an algorithm that is not there yet; TypeError.
    """

    def __init__(self, level: str = "O0", boost_config_dict: Any = "") -> None:
        config = {} if boost_config_dict in (None, "") else boost_config_dict
        self.level = check_choice("AutoBoost", "'level'", level, tuple(BOOST_LEVELS))
        self.boost_config = check_type("AutoBoost", "'boost_config_dict'", config, dict)
        self.algorithms: List[Tuple[str, Dict[str, Any]]] = []
        if level == "O0" and config:
            logger.warning("AutoBoost: 'boost_config_dict' has no effect at boost_level 'O0' | give 'O1' or 'O2'")
        if level == "O0":
            return
        registered = _core.boost_algorithms()
        keys: Dict[str, Tuple[str, ...]] = {name: (*_SECTIONS.get(name, ()), *registered.get(name, ("", ()))[1]) for name in {**_SECTIONS, **registered}}
        switches = sorted(keys)
        keys.update(boost=("mode", *switches), common=_COMMON)
        _check_known("the section", config, keys)
        for section, values in config.items():
            _check_known(f"the key of '{section}'", check_type("AutoBoost", f"the section '{section}'", values, dict), keys[section])
        for name in self._switched_on(config.get("boost", {}), switches):
            if name not in registered:
                not_yet(f"boost algorithm '{name}'", "boost")
            settings = config.get(name, {})
            for key, setting in _ALIASES.items():
                if key in settings and setting in settings:
                    fail(ValueError, f"the section '{name}' has '{key}' and '{setting}', which are one setting", "AutoBoost", "leave one of them out")
            self.algorithms.append((name, {_ALIASES.get(key, key): value for key, value in settings.items()}))

    def _switched_on(self, boost: Dict[str, Any], names: List[str]) -> List[str]:
        mode = check_choice("AutoBoost", "'mode'", boost.get("mode", "auto"), _MODES)
        chosen = {name: value for name, value in boost.items() if name != "mode"}
        for name, value in chosen.items():
            check_bool("AutoBoost", f"'boost.{name}'", value)
        if mode in ("enable_all", "disable_all"):
            return sorted(_SECTIONS) if mode == "enable_all" else []
        return [name for name in names if (chosen.get(name) if mode == "manual" and name in chosen else name in BOOST_LEVELS[self.level])]

    def network_auto_process_train(self, network: Any, optimizer: Any) -> Tuple[Any, Any]:
        """The network and the optimizer to train with: those given, algorithms work on the training step."""
        return network, optimizer

    def network_auto_process_eval(self, network: Any) -> Any:
        """The network to evaluate with."""
        return network
