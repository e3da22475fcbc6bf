"""Names that older scripts import from MindSpore's C++ extension."""
from typing import Any

__all__ = ['init_exec_dataset', 'security']


def init_exec_dataset(queue_name: str, size: int, batch_size: int, types: Any, shapes: Any, input_indexs: Any, phase: str = 'dataset',
                      need_run: bool = True) -> bool:
    """Returns True: batches are read from the dataset object, so no queue is prepared.

    Args:
        queue_name (str): Ignored.
        size (int): Ignored.
        batch_size (int): Ignored.
        types: Ignored.
        shapes: Ignored.
        input_indexs: Ignored.
        phase (str): Ignored. Default: 'dataset'.
        need_run (bool): Ignored. Default: True.

    Returns:
        bool.
    """
    return True


class security:  # pylint: disable=invalid-name
    """The kind of this build."""

    @staticmethod
    def enable_security() -> bool:
        """Returns False: summaries and profiling are available."""
        return False
