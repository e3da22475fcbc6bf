#!/usr/bin/env bash
# Packs what scripts/build.sh has built, into build/packages, and prints the packages' paths and sizes.
#   scripts/package.sh wheel [--cuda]    a wheel of the Python package that carries its libraries: no compiler, no other Debian package is needed to run it
#   scripts/package.sh deb [--cuda]      Debian packages: libsindriX.Y, libsindri-mpi, libsindri-dev, sindri
# --cuda: also the CUDA backend, as the wheel sindri_cuda, whose dependencies are NVIDIA's wheels, or the Debian package libsindri-cuda. It needs CUDA's
# toolkit (scripts/install_deps.sh --cuda) and has code for compute capability 8.0, 9.0 and later; --cuda=90 has it for H100 and H200 alone.
# Missing build dependencies are installed and what is not built yet is built. The wheel is of the Python that the extension module was built for
# (PYTHON=python3.12 scripts/python_env.sh chooses another).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

cuda=()  # --cuda as it was given
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
  # Where Debian has its libraries. It stays set: `cmake --install` to another prefix finds them there too.
  grep -qs "^CMAKE_INSTALL_LIBDIR:[A-Z]*=$libraries$" "$build_dir/CMakeCache.txt" || cmake --preset release "-DCMAKE_INSTALL_LIBDIR=$libraries" >/dev/null
  bash scripts/build.sh release "${cuda[@]}" sindri_program "${cuda[@]:+sindri_cuda}"
  mkdir -p "$out"
  rm -f "$out"/*.deb
  # Times in the packages are those of the last commit, so that the same sources give the same bytes.
  local epoch
  epoch=$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)
  local components
  components=$(sed -nE 's/^set\(CPACK_COMPONENTS_ALL "(.*)"\)$/\1/p' "$build_dir/CPackConfig.cmake")
  if [[ ${#cuda[@]} -gt 0 ]]; then components+=";cuda"; fi
  SOURCE_DATE_EPOCH=$epoch cpack -D "CPACK_COMPONENTS_ALL=$components" --config "$build_dir/CPackConfig.cmake" -B "$out" >"$out/cpack.log" 2>&1 ||
    { cat "$out/cpack.log" >&2; exit 1; }
  rm -rf "$out/_CPack_Packages"
  # CPack has a script call ldconfig where a library is installed; the package's trigger does so once for many packages.
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
