#!/usr/bin/env bash
# Runs the Python tests against the installed wheel, in an environment without any other part of Sindri, from a copy of the tracked
# files without a build. Tests that need sources, a compiler or the build tree are skipped; scripts/test.sh runs them from the tree.
#   scripts/test_wheel.sh RESULTS [pytest arguments]       RESULTS: the JUnit file to write
# build/venv-wheel is the environment and build/wheel-tree the copy. PACKAGED=1: uses the existing wheel in build/packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ $# -lt 1 || $1 == -h || $1 == --help ]]; then sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0; fi
results=$(realpath -m -- "$1")
shift

[[ ${PACKAGED:-0} == 1 ]] || bash scripts/package.sh wheel >/dev/null
wheel=$(find "$PWD/build/packages" -name 'sindri-*.whl')
base=$(bash scripts/python_env.sh) venv=$PWD/build/venv-wheel
if ! "$venv/bin/python" -c "import numpy, pytest, xdist, yaml, PIL" >/dev/null 2>&1; then
  "$base" -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check numpy pytest pytest-xdist pyyaml pillow
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --force-reinstall "$wheel"

# The tracked files, as for a user who has the sources and installed the wheel, but built nothing.
tree=$PWD/build/wheel-tree
rm -rf "$tree"
mkdir -p "$tree"
if git rev-parse --git-dir >/dev/null 2>&1; then git ls-files -z; else find . -path ./build -prune -o -path ./.git -prune -o -type f ! -name '*.so' -print0; fi |
  tar --null --files-from=- --ignore-failed-read -cf - | tar -C "$tree" -xf -
rm -rf "$tree/python/sindri"
if [[ -d ../shared ]]; then ln -sfn "$(realpath ../shared)" "$tree/../shared"; fi  # the datasets that some tests read

cd "$tree"
# The folder python now contains only the package `mindspore`. The deselected tests compare the Python package's sources.
of_sources=(test_docs.py::test_every_environment_variable_is_listed test_train_misc.py::test_the_package_says_what_is_missing
  test_numpy_forms.py::test_calls_that_work_here_give_what_numpy_gives)
env -u GTEST_OUTPUT PYTHONPATH="$tree/python" PATH="$venv/bin:$PATH" SINDRI_PROGRAM="$("$venv/bin/python" -P -c 'import sindri; print(sindri.__path__[0])')/bin/sindri" \
  "$venv/bin/python" -P -m pytest tests/python -q -p no:cacheprovider --junitxml="$results" "${of_sources[@]/#/--deselect=tests/python/}" "$@"
