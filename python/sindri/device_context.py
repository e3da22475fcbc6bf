"""`device_context.cpu`, `.gpu` and `.ascend`: whether devices of a kind exist, and how many (MindSpore: mindspore.device_context)."""
from sindri import hal

__all__ = ['cpu', 'gpu', 'ascend']


class DeviceKind:
    """The devices of one target.

    Args:
        target (str): The target.

    Examples:
        >>> import sindri as ms
        >>> ms.device_context.cpu.is_available()
        True
    """

    def __init__(self, target: str):
        self._target = target

    def is_available(self) -> bool:
        """Returns whether there is such a device.

        Returns:
            bool.
        """
        return hal.is_available(self._target)

    def device_count(self) -> int:
        """Returns the number of such devices.

        Returns:
            int.

        Raises:
            ValueError: If there are none.
        """
        return hal.device_count(self._target)


cpu, gpu, ascend = DeviceKind('CPU'), DeviceKind('GPU'), DeviceKind('Ascend')
