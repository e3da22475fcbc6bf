#!/usr/bin/env bash
# Creates build/venv, the Python environment for building and testing the package, unless it exists, and prints its interpreter.
#   scripts/python_env.sh           PYTHON=python3.12 scripts/python_env.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$PWD/build/venv
packages=("pybind11>=3.0" numpy pytest pytest-xdist pyyaml mypy pdoc pillow)
if ! "$venv/bin/python" -c "import pybind11, numpy, pytest, xdist, yaml, mypy, pdoc, PIL" >/dev/null 2>&1; then
  echo "python_env: installing ${packages[*]} into build/venv" >&2
  # An existing environment is not cleared; missing packages are added.
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || "${PYTHON:-python3}" -m venv --clear "$venv" >&2
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
fi
echo "$venv/bin/python"
