#!/usr/bin/env bash
# Installs a build into a temporary prefix, builds docs/examples against the installed package with warnings as errors, and runs them.
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
# A training algorithm of a library outside the tree: from C++, and from a settings file.
cp -r docs/examples/boost_lookahead "$temp/boost"
lines=$(wc -l <"$temp/boost/lookahead.cc")
[[ $lines -le 80 ]] || { echo "error: docs/examples/boost_lookahead/lookahead.cc has $lines lines, the bar is 80" >&2; exit 1; }
run cmake -S "$temp/boost" -B "$temp/boost-build" -DCMAKE_PREFIX_PATH="$temp/prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" \
  >"$temp/configure.log" || { cat "$temp/configure.log"; exit 1; }
run cmake --build "$temp/boost-build"
run "$temp/boost-build/train_lookahead"
SINDRI_LIBRARIES=$temp/boost-build/liblookahead.so "$temp/prefix/bin/sindri" boost explain --set boost.lookahead.enabled=true | grep -q "^1. lookahead" ||
  { echo "error: the library's algorithm is not known to the program" >&2; exit 1; }
cp -r docs/examples/own_optimizer "$temp/own"
run cmake -S "$temp/own" -B "$temp/own_build" -DCMAKE_PREFIX_PATH="$temp/prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >"$temp/configure.log" ||
  { cat "$temp/configure.log"; exit 1; }
run cmake --build "$temp/own_build"
(cd "$temp" && run "$temp/own_build/own_optimizer" "$temp/prefix/share/sindri/configs/digits.yaml" train.epochs=2 optimizer.momentum=0.9 lr.max=0.001 \
  train.run_dir=own_run && grep -q "name: signum" own_run/config.resolved.yaml && grep -q "schedule: inverse_root" own_run/config.resolved.yaml)
# A network and a kind of data of a library outside the tree, which the installed program trains from their settings file.
cp -r docs/examples/own_data "$temp/own_data"
lines=$(cat "$temp"/own_data/* | wc -l)
[[ $lines -le 100 ]] || { echo "error: docs/examples/own_data has $lines lines, the bar is 100" >&2; exit 1; }
run cmake -S "$temp/own_data" -B "$temp/own_data_build" -DCMAKE_PREFIX_PATH="$temp/prefix" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" \
  >"$temp/configure.log" || { cat "$temp/configure.log"; exit 1; }
run cmake --build "$temp/own_data_build"
(cd "$temp" && SINDRI_LIBRARIES=$temp/own_data_build/libown_data.so run "$temp/prefix/bin/sindri" train --config "$temp/own_data/bars.yaml" --quiet \
  --set train.run_dir=bars_run && grep -q "kind: bars" bars_run/config.resolved.yaml && grep -q "kernel: 5" bars_run/config.resolved.yaml)
# The installed program finds its library beside it, and tells the same version as the package.
version=$("$temp/prefix/bin/sindri" version)
grep -rqF "set(PACKAGE_VERSION \"${version#sindri }\")" "$temp/prefix" --include=SindriConfigVersion.cmake ||
  { echo "error: the program says '$version', the package has another version" >&2; exit 1; }
# From a folder without the sources: the settings and the digits are those of the installation.
(cd "$temp" && SINDRI_LIBRARIES=$temp/boost-build/liblookahead.so run "$temp/prefix/bin/sindri" train --config "$temp/prefix/share/sindri/configs/digits.yaml" \
  --set train.max_steps=3 --set boost.lookahead.enabled=true --quiet >"$temp/digits.log") || { cat "$temp/digits.log"; exit 1; }
(cd "$temp" && run "$temp/prefix/bin/sindri" train --config "$temp/prefix/share/sindri/configs/digits.yaml" --set train.max_steps=3 --quiet >"$temp/digits.log") ||
  { cat "$temp/digits.log"; exit 1; }
echo "package: $version, example built without warnings and trained"
