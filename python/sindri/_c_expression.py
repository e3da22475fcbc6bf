"""Names that older scripts import from MindSpore's C++ extension."""
from typing import Any

__all__ = ['init_exec_dataset', 'security']


def init_exec_dataset(queue_name: str, size: int, batch_size: int, types: Any, shapes: Any, input_indexs: Any, phase: str = 'dataset',
                      need_run: bool = True) -> bool:
    """True: batches are pulled from the dataset object, no queue has to be prepared."""
    return True


class security:  # pylint: disable=invalid-name
    """What kind of build this is."""

    @staticmethod
    def enable_security() -> bool:
        """False: summaries and profiling are available."""
        return False
