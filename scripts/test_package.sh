#!/usr/bin/env bash
# Installs a build into a temporary prefix, builds docs/examples/train_mlp against the installed package with warnings as errors, and runs it.
#   scripts/test_package.sh [BUILD_DIR]     (default: build/release)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [[ ${1:-} == -h || ${1:-} == --help ]]; then sed -n '2,3s/^# \{0,1\}//p' "$0"; exit 0; fi
build_dir=${1:-build/release}
[[ -f $build_dir/cmake_install.cmake ]] || { echo "error: $build_dir is not a build folder; run scripts/build.sh first" >&2; exit 2; }

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
run() { echo "+ $*" >&2; "$@"; }

run cmake --install "$build_dir" --prefix "$temp/prefix" >"$temp/install.log" || { cat "$temp/install.log"; exit 1; }
# A copy, so that nothing of the example can come from the source tree.
cp -r docs/examples/train_mlp "$temp/example"
for limit in "main.cc 40" "CMakeLists.txt 6"; do
  read -r file most <<<"$limit"
  lines=$(wc -l <"$temp/example/$file")
  [[ $lines -le $most ]] || { echo "error: docs/examples/train_mlp/$file has $lines lines, the bar is $most" >&2; exit 1; }
done
run cmake -S "$temp/example" -B "$temp/build" -DCMAKE_PREFIX_PATH="$temp/prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >"$temp/configure.log" ||
  { cat "$temp/configure.log"; exit 1; }
run cmake --build "$temp/build"
(cd "$temp" && run "$temp/build/train_mlp" && [[ -s spirals.ckpt ]])
# The installed program finds its library beside it, and tells the same version as the package.
version=$("$temp/prefix/bin/sindri" version)
grep -rqF "set(PACKAGE_VERSION \"${version#sindri }\")" "$temp/prefix" --include=SindriConfigVersion.cmake ||
  { echo "error: the program says '$version', the package has another version" >&2; exit 1; }
# From a folder without the sources: the settings and the digits are those of the installation.
(cd "$temp" && run "$temp/prefix/bin/sindri" train --config "$temp/prefix/share/sindri/configs/digits.yaml" --set train.max_steps=3 --quiet >"$temp/digits.log") ||
  { cat "$temp/digits.log"; exit 1; }
echo "package: $version, example built without warnings and trained"
