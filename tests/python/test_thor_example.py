"""The schedules of python/examples/thor_digits, which README.md's blocks run."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python" / "examples" / "thor_digits"))
thor_schedule = pytest.importorskip("thor_schedule")


def test_published_schedules():
    rates = thor_schedule.get_thor_lr(0, 0.05803, 4.0839, 53, 5004, decay_epochs=39)
    damping = thor_schedule.get_thor_damping(0, 0.03, 0.50036, 70, 5004)
    for step, rate, lam in ((0, 0.058029106, 0.029999585), (5003, 0.053686909, 0.027993004), (50039, 0.024706099, 0.015010800),
                            (39 * 5004 - 1, 1.2633528e-4, 2.015224e-3), (40 * 5004 - 1, 4.6671914e-5, 1.8804058e-3)):
        assert rates[step] == pytest.approx(rate, rel=2e-6) and damping[step] == pytest.approx(lam, rel=2e-6)
    assert rates[39 * 5004 - 2] == pytest.approx(2.5268528e-4, rel=2e-6)
    assert thor_schedule.get_thor_lr(10, 0.1, 1.0, 2, 10)[0] == pytest.approx(0.1 * (1 - 11 / 20))
