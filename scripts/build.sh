#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json (default: release). Further arguments go to ninja, e.g. a target.
# --python (after the preset): also builds the Python extension module into python/sindri, so that PYTHONPATH=python runs the package. --cuda: requires the CUDA
# backend, libsindri_cuda.so, for GPUs of compute capability 8.0, 9.0 and later; without the option it is built if nvcc of CUDA 13 is found. --cuda=90 compiles
# only for H100 and H200, which takes less time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-release}
if [[ $preset == -h || $preset == --help ]]; then
  echo "usage: scripts/build.sh [release|debug|asan|tsan] [--python] [--cuda[=ARCHITECTURES]] [ninja arguments]"
  exit 0
fi
shift || true
build_dir=build/$preset
configure=()
while [[ ${1:-} == --python || ${1:-} == --cuda || ${1:-} == --cuda=* ]]; do
  if [[ $1 == --python ]]; then
    python=$(bash scripts/python_env.sh)
    grep -qs '^SINDRI_PYTHON:BOOL=ON' "$build_dir/CMakeCache.txt" || configure+=(-DSINDRI_PYTHON=ON "-DPython_EXECUTABLE=$python")
  else
    architectures="80-real;90-real;90-virtual"
    if [[ $1 == --cuda=?* ]]; then architectures=${1#--cuda=}; fi
    for setting in SINDRI_CUDA=ON "SINDRI_CUDA_ARCHITECTURES=$architectures"; do
      grep -qsxF "${setting/=/:STRING=}" "$build_dir/CMakeCache.txt" || configure+=("-D$setting")
    done
  fi
  shift
done
if [[ ! -f $build_dir/build.ninja || ${#configure[@]} -gt 0 ]]; then
  echo "+ cmake --preset $preset ${configure[*]}"
  cmake --preset "$preset" "${configure[@]}"
fi
echo "+ ninja -C $build_dir $*"
exec ninja -C "$build_dir" "$@"
