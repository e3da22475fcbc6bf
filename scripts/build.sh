#!/usr/bin/env bash
# Configures and builds a preset of CMakePresets.json (default: release). Further arguments go to ninja, e.g. a target.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:-release}
if [[ $preset == -h || $preset == --help ]]; then
  echo "usage: scripts/build.sh [release|debug|asan|tsan] [ninja arguments]"
  exit 0
fi
shift || true
build_dir=build/$preset
# Compiler-cache hits in another checkout of the same tree.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
if [[ ! -f $build_dir/build.ninja ]]; then
  echo "+ cmake --preset $preset"
  cmake --preset "$preset"
fi
echo "+ ninja -C $build_dir $*"
exec ninja -C "$build_dir" "$@"
