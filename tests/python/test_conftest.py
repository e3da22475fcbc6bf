"""--passed-before: tests that passed in the first run are omitted; those that it skipped or that failed are not."""
import pathlib
import re
import subprocess
import sys

FILE = """
import pytest

class TestOf:
    @pytest.mark.parametrize("text", ["a", "b::c[d]"])
    def test_method(self, text):
        assert text

def test_passes():
    pass

def test_is_skipped():
    pytest.skip("needs more")

def test_fails():
    assert False
"""


def test_tests_that_passed_before_are_left_out(tmp_path):
    here = pathlib.Path(__file__).parent
    (tmp_path / "test_some.py").write_text(FILE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "--rootdir", str(tmp_path), "-c", "/dev/null", "--confcutdir", str(tmp_path),
               "-p", "conftest", "--junitxml", str(tmp_path / "results.xml"), str(tmp_path / "test_some.py")]
    env = {"PYTHONPATH": f"{here}:{':'.join(p for p in sys.path if p)}", "PATH": "/usr/bin:/bin"}
    first = subprocess.run(command, capture_output=True, text=True, check=False, env=env, cwd=tmp_path).stdout
    assert "3 passed" in first and "1 failed" in first and "1 skipped" in first, first
    (tmp_path / "results.xml").rename(tmp_path / "before.xml")
    second = subprocess.run([*command, "--passed-before", str(tmp_path / "before.xml")], capture_output=True, text=True, check=False, env=env, cwd=tmp_path).stdout
    assert re.search(r"1 failed, 1 skipped, 3 deselected", second), second
