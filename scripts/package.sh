#!/usr/bin/env bash
# Packs the output of scripts/build.sh into build/packages, and prints the packages' paths and sizes.
#   scripts/package.sh wheel [--cuda]    a wheel of the Python package that includes its libraries: running it needs no compiler and no other Debian package
#   scripts/package.sh deb [--cuda]      Debian packages: libsindriX.Y, libsindri-mpi, libsindri-dev, sindri
# --cuda: also packs the CUDA backend, as the wheel sindri_cuda, which depends on NVIDIA's wheels, or as the Debian package libsindri-cuda. It needs the CUDA
# toolkit (scripts/install_deps.sh --cuda) and has code for compute capability 8.0, 9.0 and later; with --cuda=90, only for H100 and H200.
# Installs missing build dependencies and builds missing targets. The wheel is for the Python version that the extension module was built for
# (PYTHON=python3.12 scripts/python_env.sh selects another).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

cuda=()  # the --cuda option as given
out=$PWD/build/packages build_dir=build/release
show() { du -k --apparent-size "$@" | awk '{ print $2, $1 " KiB" }'; }

wheel() {
  bash scripts/build.sh release --python "${cuda[@]}" sindri_core sindri_program "${cuda[@]:+sindri_cuda}"
  local staged=$out/staged
  rm -rf "$staged" "$out"/*.whl
  mkdir -p "$staged"
  cmake --install "$build_dir" --prefix "$staged" --component python >/dev/null
  # The package's Python files; compiled modules come from the build.
  tar -C python --exclude=__pycache__ --exclude='*.so' --exclude=ops.pyi -cf - sindri | tar -C "$staged" -xf -
  cmake --install "$build_dir" --prefix "$staged" --component python >/dev/null
  python3 scripts/package/wheel.py "$staged" "$out"
  rm -rf "$staged"
  if [[ ${#cuda[@]} -gt 0 ]]; then python3 scripts/package/wheel.py --cuda "$build_dir/libsindri_cuda.so" "$out"; fi
  show "$out"/*.whl
}

deb() {
  local libraries
  libraries=lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  # Debian's library folder. The setting stays in the build: `cmake --install` to another prefix uses it, too.
  grep -qs "^CMAKE_INSTALL_LIBDIR:[A-Z]*=$libraries$" "$build_dir/CMakeCache.txt" || cmake --preset release "-DCMAKE_INSTALL_LIBDIR=$libraries" >/dev/null
  bash scripts/build.sh release "${cuda[@]}" sindri_program "${cuda[@]:+sindri_cuda}"
  mkdir -p "$out"
  rm -f "$out"/*.deb
  # Files in the packages have the time of the last commit, so the same sources give identical packages.
  local epoch
  epoch=$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)
  local components
  components=$(sed -nE 's/^set\(CPACK_COMPONENTS_ALL "(.*)"\)$/\1/p' "$build_dir/CPackConfig.cmake")
  if [[ ${#cuda[@]} -gt 0 ]]; then components+=";cuda"; fi
  SOURCE_DATE_EPOCH=$epoch cpack -D "CPACK_COMPONENTS_ALL=$components" --config "$build_dir/CPackConfig.cmake" -B "$out" >"$out/cpack.log" 2>&1 ||
    { cat "$out/cpack.log" >&2; exit 1; }
  rm -rf "$out/_CPack_Packages"
  # CPack's scripts call ldconfig for each installed library; the package's trigger does it once for many packages, so the scripts are removed.
  local file unpacked=$out/unpacked
  for file in "$out"/*.deb; do
    rm -rf "$unpacked"
    dpkg-deb -R "$file" "$unpacked"
    rm -f "$unpacked/DEBIAN/postinst" "$unpacked/DEBIAN/postrm"
    sort -k 2 -o "$unpacked/DEBIAN/md5sums" "$unpacked/DEBIAN/md5sums"
    find "$unpacked" -exec touch -h -d "@$epoch" {} +
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zxz -b "$unpacked" "$file" >/dev/null
  done
  rm -rf "$unpacked"
  show "$out"/*.deb
}

kind=${1:-}
if [[ ${2:-} == --cuda || ${2:-} == --cuda=?* ]]; then
  cuda=("$2")
elif [[ $# -gt 1 ]]; then
  kind=unknown
fi
case "$kind" in
  wheel | deb)
    bash scripts/install_deps.sh "${cuda[@]:+--cuda}" --build-only
    "$kind"
    ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac
