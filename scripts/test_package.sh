#!/usr/bin/env bash
# Installs a build into a temporary prefix, builds docs/examples against it and against the Debian packages with warnings as errors, and runs them.
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
for limit in "train_mlp/main.cc 40" "train_mlp/CMakeLists.txt 6" "boost_lookahead/lookahead.cc 80"; do
  read -r file most <<<"$limit"
  lines=$(wc -l <"docs/examples/$file")
  [[ $lines -le $most ]] || { echo "error: docs/examples/$file has $lines lines, the limit is $most" >&2; exit 1; }
done
lines=$(cat docs/examples/own_data/* | wc -l)
[[ $lines -le 100 ]] || { echo "error: docs/examples/own_data has $lines lines, the limit is 100" >&2; exit 1; }

# examples NAME PREFIX: builds the programs and libraries of docs/examples against the package under PREFIX, with warnings as errors, and runs them.
examples() {
  local prefix=$2 example sindri=$2/bin/sindri work=$temp/examples-$1
  mkdir -p "$work"
  for example in train_mlp boost_lookahead own_optimizer own_data; do
    # A copy, so that the example cannot use the source tree.
    cp -r "docs/examples/$example" "$work/$example"
    run cmake -G Ninja -S "$work/$example" -B "$work/$example/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror" >"$temp/configure.log" || { cat "$temp/configure.log"; exit 1; }
    run cmake --build "$work/$example/build" >"$temp/build.log" || { cat "$temp/build.log"; exit 1; }
  done
  cd "$work"
  run train_mlp/build/train_mlp
  [[ -s spirals.ckpt ]]
  # A training algorithm from a library outside the tree: used from C++ and from a settings file.
  run boost_lookahead/build/train_lookahead
  SINDRI_LIBRARIES=$work/boost_lookahead/build/liblookahead.so "$sindri" boost explain --set boost.lookahead.enabled=true | grep -q "^1. lookahead" ||
    { echo "error: the program does not know the library's algorithm" >&2; exit 1; }
  # From a folder without the sources: settings and digits come from the installation, under the names that the pages use.
  SINDRI_LIBRARIES=$work/boost_lookahead/build/liblookahead.so run "$sindri" train --config configs/digits.yaml \
    --set train.max_steps=3 --set boost.lookahead.enabled=true --quiet >"$temp/digits.log" || { cat "$temp/digits.log"; exit 1; }
  run own_optimizer/build/own_optimizer "$prefix/share/sindri/configs/digits.yaml" train.epochs=2 optimizer.momentum=0.9 lr.max=0.001 train.run_dir=own_run
  grep -q "name: signum" own_run/config.resolved.yaml && grep -q "schedule: inverse_root" own_run/config.resolved.yaml
  # A user's network and kind of data, which the installed program trains from their settings file.
  SINDRI_LIBRARIES=$work/own_data/build/libown_data.so run "$sindri" train --config own_data/bars.yaml --quiet --set train.run_dir=bars_run
  grep -q "kind: bars" bars_run/config.resolved.yaml && grep -q "kernel: 5" bars_run/config.resolved.yaml
  for words in "digits" "quickstart" "--config configs/digits.yaml"; do
    # shellcheck disable=SC2086  # words
    run "$sindri" train $words --set train.max_steps=3 --quiet >"$temp/digits.log" || { cat "$temp/digits.log"; exit 1; }
  done
  cd "$OLDPWD"
}
examples prefix "$temp/prefix"
# The CUDA backend, if it was built: packages with the architectures that it was compiled for.
cuda=()
if [[ -f $build_dir/libsindri_cuda.so && $build_dir == build/release ]]; then
  cuda=("--cuda=$(sed -n 's/^SINDRI_CUDA_ARCHITECTURES:STRING=//p' "$build_dir/CMakeCache.txt")")
  run bash scripts/package/test_cuda.sh cpu "$build_dir" "$temp/prefix"
  run bash scripts/package/test_cuda.sh installed "$build_dir" "$temp/prefix/bin/sindri" "$(find "$temp/prefix" -name libsindri_cuda.so)"
fi
# The installed program finds its library next to it and prints the package's version.
version=$("$temp/prefix/bin/sindri" version)
grep -rqF "set(PACKAGE_VERSION \"${version#sindri }\")" "$temp/prefix" --include=SindriConfigVersion.cmake ||
  { echo "error: the program prints '$version', the package has a different version" >&2; exit 1; }
# The launch scripts, the rank-table tools and msrun, with the installed program.
[[ $("$temp/prefix/bin/msrun" --help) == *--local_worker_num* ]] || { echo "error: msrun is not installed" >&2; exit 1; }
folder=$(cd "$temp" && "$temp/prefix/bin/sindri" scripts)
[[ $folder == "$temp/prefix/share/sindri/scripts" && -f $folder/rank_table_8pcs.json && -f $folder/../python/examples/adasum/training.py ]] ||
  { echo "error: the launch scripts or their files are not installed" >&2; exit 1; }
[[ -f $("$temp/prefix/bin/sindri" docs)/guide/python.md ]] || { echo "error: the documentation is not installed" >&2; exit 1; }
(cd "$temp" && PATH=$temp/prefix/bin:$PATH python3 "$folder/hccl_tools.py" --device_num "[0,2)" --server_ip 127.0.0.1 && mkdir imagenet &&
  PATH=$temp/prefix/bin:$PATH DRY_RUN=1 RANK_TABLE_FILE=hccl_2p_01_127.0.0.1.json run sh "$folder/run_node1.sh" imagenet) >"$temp/scripts.log" || { cat "$temp/scripts.log"; exit 1; }
# Files for pkg-config, man and bash.
pc=$(find "$temp/prefix" -name sindri.pc)
pkg() { PKG_CONFIG_PATH=${pc%/*} pkg-config "$@" sindri; }
[[ "sindri $(pkg --modversion)" == "$version" && -e $(pkg --variable=libdir)/libsindri.so && -e $(pkg --variable=includedir)/sindri/version.h ]] ||
  { echo "error: $pc has a different version, or folders without the library and its headers" >&2; exit 1; }
# The guide's program, built as a reader builds it, finds this prefix's library. A build configured for Debian's folders sets no run path.
[[ $pc == "$temp/prefix/lib/pkgconfig/sindri.pc" ]] || export LD_LIBRARY_PATH=${pc%/pkgconfig/*}
awk '/^```cpp/ { on = 1; next } /^```/ { on = 0 } on' docs/guide/cpp.md >"$temp/digits.cc"
# shellcheck disable=SC2046
run g++ -std=c++20 "$temp/digits.cc" $(pkg --cflags --libs) -o "$temp/digits"
"$temp/digits" | grep -q "^accuracy: 0.9" || { echo "error: the program of docs/guide/cpp.md does not train" >&2; exit 1; }
unset LD_LIBRARY_PATH
for page in sindri sindri-train sindri-manual; do
  : >"$temp/page.log"
  if command -v man >/dev/null; then LC_ALL=C.UTF-8 man -l --warnings=all "$temp/prefix/share/man/man1/$page.1.gz" >/dev/null 2>"$temp/page.log"; fi
  [[ -s $temp/prefix/share/man/man1/$page.1.gz && ! -s $temp/page.log ]] || { echo "error: the man page $page: $(cat "$temp/page.log")" >&2; exit 1; }
done
bash -n "$temp/prefix/share/bash-completion/completions/sindri"
# shellcheck disable=SC2016  # for the inner shell
[[ $(bash -c 'source "$1"; COMP_WORDS=(sindri train --pri) COMP_CWORD=2; _sindri; echo "${COMPREPLY[*]}"' _ "$temp/prefix/share/bash-completion/completions/sindri") == --print-config ]] ||
  { echo "error: bash does not complete --pri" >&2; exit 1; }
# The wheel: its size, the libraries that it needs from the machine, and that it runs from any folder. On a bare system: scripts/package/test_bare.sh.
if [[ -x build/venv/bin/python && $build_dir == build/release ]]; then
  run bash scripts/package.sh wheel "${cuda[@]}" >"$temp/wheel.log" || { cat "$temp/wheel.log"; exit 1; }
  wheel=$(find build/packages -name 'sindri-*.whl')
  [[ $(stat -c %s "$wheel") -le 60000000 ]] || { echo "error: $wheel is larger than 60 MB" >&2; exit 1; }
  run build/venv/bin/python -m pip install --quiet --no-index --no-deps --no-compile --target "$temp/site" "$wheel"
  outside=$(find "$temp/site/sindri" \( -name '*.so*' -o -path '*/bin/sindri' \) ! -name libsindri_mpi.so -exec ldd {} + | grep -v "$temp/site/sindri/" |
    awk '/=>/ { print $1 }' | sort -u | grep -vxE 'lib(c|m|dl|rt|pthread)\.so\.[0-9]+' || true)
  [[ -z $outside ]] || { echo "error: the wheel needs $outside" >&2; exit 1; }
  (cd "$temp" && PYTHONPATH=$temp/site run "$OLDPWD/build/venv/bin/python" "$OLDPWD/scripts/package/check_module.py") || exit 1
  [[ -x $temp/site/bin/msrun && -x $temp/site/sindri/share/sindri/scripts/run_stage_1.sh && -f $temp/site/sindri/share/sindri/python/examples/dimension_reduce/eval.py && -f $temp/site/sindri/share/sindri/docs/guide/python.md ]] ||
    { echo "error: the wheel lacks msrun, the launch scripts, the examples or the documentation" >&2; exit 1; }
  [[ $(PYTHONPATH=$temp/site build/venv/bin/python -m sindri map torch.nn.Linear) == "torch.nn.Linear -> sindri.nn.Dense"* ]] || { echo "error: the wheel's map does not work" >&2; exit 1; }
  [[ $(PYTHONPATH=$temp/site build/venv/bin/python -m sindri --version) == "$version" ]] || { echo "error: the wheel's program has no version or a different one" >&2; exit 1; }
  (cd "$temp" && PYTHONPATH=$temp/site run "$OLDPWD/build/venv/bin/python" -m sindri train quickstart --set train.max_steps=3 --quiet >"$temp/digits.log") ||
    { cat "$temp/digits.log"; exit 1; }
  if [[ ${#cuda[@]} -gt 0 ]]; then
    cuda_wheel=$(find build/packages -name 'sindri_cuda-*.whl')
    run bash scripts/package/test_cuda.sh wheel "$build_dir" "$wheel" "$cuda_wheel"
    run build/venv/bin/python -m pip install --quiet --no-index --no-deps --no-compile --target "$temp/site" "$cuda_wheel"
    run bash scripts/package/test_cuda.sh installed "$build_dir" "$temp/site/sindri/bin/sindri" "$temp/site/sindri_cuda/libsindri_cuda.so"
    # From Python: a missing GPU is an error if one is required, and the CPU still computes.
    PYTHONPATH=$temp/site SINDRI_STRICT_TARGET=1 build/venv/bin/python - <<'PYTHON'
import sindri as ms
try:
    ms.set_context(device_target="GPU")
except Exception as error:
    assert "there is no NVIDIA driver" in str(error), error
else:
    raise SystemExit("error: a GPU was found without a driver")
assert float(ms.Tensor([1.0, 2.0]).sum()) == 3
PYTHON
  fi
fi
# The Debian packages, unpacked: their dependencies, and that the program and examples work with the library and its private copies.
if command -v dpkg-shlibdeps >/dev/null && [[ $build_dir == build/release ]]; then
  run bash scripts/package.sh deb "${cuda[@]}" >"$temp/deb.log" || { cat "$temp/deb.log"; exit 1; }
  if [[ ${#cuda[@]} -gt 0 ]]; then
    package=$(find build/packages -name 'libsindri-cuda_*.deb')
    [[ $(dpkg-deb -f "$package" Depends) == *"libsindri0.1 (= ${version#sindri }-1)"* && $(dpkg-deb -f "$package" Recommends) == *libcudnn9-cuda-13* ]] ||
      { echo "error: $package depends on $(dpkg-deb -f "$package" Depends)" >&2; exit 1; }
    [[ $(dpkg-deb -c "$package" | grep -c '\.so') -eq 1 && $(dpkg-deb -c "$package") == *"/sindri/libsindri_cuda.so"*"/doc/libsindri-cuda/copyright"* ]] ||
      { echo "error: $package contains $(dpkg-deb -c "$package")" >&2; exit 1; }
  fi
  for package in build/packages/*.deb; do
    ! dpkg-deb -f "$package" Depends | grep -oE 'libopencv[^ ,]*|libgl[x1][^ ,]*' || { echo "error: $package must not depend on the packages above" >&2; exit 1; }
    dpkg-deb -x "$package" "$temp/debian"
  done
  library=$(find "$temp/debian/usr/lib" -name 'libsindri.so.*.*.*')
  outside=$(ldd "$library" | grep -E "libopencv|libGLX" | grep -v " => ${library%/*}/sindri/" || true)
  [[ -z $outside ]] || { echo "error: $library of the Debian package does not use its private copies: $outside" >&2; exit 1; }
  [[ -L $temp/debian/usr/bin/msrun && -x $temp/debian/usr/share/sindri/scripts/run_node1.sh && -f $temp/debian/usr/share/sindri/scripts/rank_table_16pcs.json && -f $temp/debian/usr/share/sindri/docs/errors.md ]] ||
    { echo "error: the Debian package lacks msrun, the launch scripts or the documentation" >&2; exit 1; }
  [[ $(LD_LIBRARY_PATH=${library%/*} "$temp/debian/usr/bin/sindri" --version) == "$version" ]] || { echo "error: Debian's program has no version or a different one" >&2; exit 1; }
  (
    export LD_LIBRARY_PATH=${library%/*}
    examples debian "$temp/debian/usr"
    if [[ ${#cuda[@]} -gt 0 ]]; then
      run bash scripts/package/test_cuda.sh installed "$build_dir" "$temp/debian/usr/bin/sindri" "${library%/*}/sindri/libsindri_cuda.so"
    fi
  )
fi
echo "package: $version, examples built without warnings and trained"
