#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json (default: release). Further arguments go to ninja, e.g. a target.
# With --python behind the preset also the Python extension module, into python/sindri, so that PYTHONPATH=python runs the package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-release}
if [[ $preset == -h || $preset == --help ]]; then
  echo "usage: scripts/build.sh [release|debug|asan|tsan] [--python] [ninja arguments]"
  exit 0
fi
shift || true
build_dir=build/$preset
configure=()
if [[ ${1:-} == --python ]]; then
  shift
  python=$(bash scripts/python_env.sh)
  grep -qs '^SINDRI_PYTHON:BOOL=ON' "$build_dir/CMakeCache.txt" || configure=(-DSINDRI_PYTHON=ON "-DPython_EXECUTABLE=$python")
fi
if [[ ! -f $build_dir/build.ninja || ${#configure[@]} -gt 0 ]]; then
  echo "+ cmake --preset $preset ${configure[*]}"
  cmake --preset "$preset" "${configure[@]}"
fi
echo "+ ninja -C $build_dir $*"
exec ninja -C "$build_dir" "$@"
