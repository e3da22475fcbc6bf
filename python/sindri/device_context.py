"""`device_context.cpu`, `.gpu` and `.ascend`: whether devices of a kind are there, and how many (MindSpore: mindspore.device_context)."""
from sindri import hal

__all__ = ['cpu', 'gpu', 'ascend']


class DeviceKind:
    """The devices of one target."""

    def __init__(self, target: str):
        self._target = target

    def is_available(self) -> bool:
        """Whether one is there."""
        return hal.is_available(self._target)

    def device_count(self) -> int:
        """How many are there. Raises ValueError when there are none."""
        return hal.device_count(self._target)


cpu, gpu, ascend = DeviceKind('CPU'), DeviceKind('GPU'), DeviceKind('Ascend')
