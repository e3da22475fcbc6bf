"""Input of loss landscapes: the parameters at chosen steps or epochs, and train_metadata.json, in `<summary_dir>/ckpt_dir`.

The tool that reads the folder draws them (MindSpore: SummaryLandscape).
"""
import json
import os
import stat
from typing import Any, Dict

from sindri import _checkparam as validator
from sindri import log as logger
from sindri.train import serialization

_KEYS = ('landscape_size', 'unit', 'num_samples', 'create_landscape', 'intervals')


def check(given: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the settings with their defaults. Raises ValueError or TypeError."""
    place = 'SummaryCollector'
    for key in given:
        validator.check_string(key, list(_KEYS), "each key of 'collect_landscape'", place)
    out = {'landscape_size': 40, 'unit': 'step', 'num_samples': 2048, 'create_landscape': {'train': True, 'result': True}, **given}
    validator.check_int_range(out['landscape_size'], 3, 256, validator.INC_BOTH, 'landscape_size', place)
    validator.check_positive_int(out['num_samples'], 'num_samples', place)
    validator.check_string(out['unit'], ['step', 'epoch'], 'unit', place)
    for key, value in validator.check_value_type('create_landscape', out['create_landscape'], dict, place).items():
        validator.check_string(key, ['train', 'result'], "each key of 'create_landscape'", place)
        validator.check_bool(value, key, place)
    validator.check_value_type('intervals', out.get('intervals'), list, place)
    if not out['intervals']:
        raise ValueError(f"{place}: 'intervals' is empty | give lists of at least three numbers of steps or epochs")
    for interval in out['intervals']:
        validator.check_value_type('each of intervals', interval, list, place)
        if len(interval) < 3:
            raise ValueError(f"{place}: each of 'intervals' must have at least three numbers, got {interval}")
        for number in interval:
            validator.check_positive_int(number, 'each number of intervals', place)
    return out


class Landscape:
    """Saves the parameters at the steps (or epochs) of the intervals, and writes their list at the end of training."""

    def __init__(self, settings: Dict[str, Any], summary_dir: str):
        self.settings = settings
        self.unit: str = settings['unit']
        self._folder = os.path.join(summary_dir, 'ckpt_dir')
        self._wanted = {n for interval in settings['intervals'] for n in interval}
        self._files: Dict[str, str] = {}

    def keep(self, number: int, network: Any) -> None:
        """Saves the network's parameters if `number` is in an interval: those that the training Cell (the one with an optimizer) trains, without the
        loss. Inner Cells that happen to be called 'network' are the user's."""
        if number not in self._wanted:
            return
        for _, cell in network.cells_and_names():
            if {'optimizer', 'network'} <= cell.name_cells().keys():
                network = cell.network
                break
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        backbone = network.name_cells().get('_backbone', network)
        path = os.path.join(self._folder, f'{type(backbone).__name__}_{number}_{self.unit}.ckpt')
        serialization.save_checkpoint([{'name': p.name, 'data': p} for p in backbone.get_parameters()], path)
        self._files[str(number)] = path

    def finish(self, steps_per_epoch: int) -> None:
        """Writes train_metadata.json; warns of numbers that training did not reach."""
        from sindri.tools._safetensors import write_whole
        settings = self.settings
        missing = sorted(self._wanted - {int(n) for n in self._files})
        if missing:
            logger.warning("SummaryCollector: training ended before %s %s of 'collect_landscape': no parameters are kept for them",
                           self.unit, ', '.join(map(str, missing)))
        data = {'epoch_group': {str(i): interval for i, interval in enumerate(settings['intervals'])}, 'model_params_file_map': self._files,
                'step_per_epoch': steps_per_epoch, 'unit': self.unit, 'num_samples': settings['num_samples'],
                'landscape_size': settings['landscape_size'], 'create_landscape': settings['create_landscape']}
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        path = os.path.join(self._folder, 'train_metadata.json')
        write_whole(path, [json.dumps(data).encode()])  # replaces the file of an earlier run, which is read-only
        os.chmod(path, stat.S_IRUSR)
