#!/usr/bin/env bash
# Installs the Debian 12 packages needed to build and test Sindri, and nothing else. Without arguments it installs all of them.
# --build-only omits formatters and checkers. Installed packages are skipped; if none is missing, the network is not used.
# --cuda also checks for the requirements of scripts/build.sh --cuda that Debian does not have: the CUDA toolkit 13 and cuDNN 9's headers.
set -euo pipefail

usage() { echo "usage: scripts/install_deps.sh [--build-only | --cuda | --list]"; }

build_packages=(
  g++ cmake ninja-build ccache lld git pkg-config   # toolchain
  libdnnl-dev libeigen3-dev                         # CPU kernels
  libopencv-core-dev libopencv-imgproc-dev                                               # images: resizing, warping, colours
  libjpeg62-turbo-dev libpng-dev libwebp-dev libtiff-dev                                 # images: decoding
  libxxhash-dev libisal-dev zlib1g-dev                                                   # checkpoints, event files
  libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev                             # settings, program, text
  libcairo2-dev                                                                          # plots (includes a font)
  libgloo-dev                                                                            # gloo backend
  libgtest-dev libgmock-dev libbenchmark-dev python3                                     # tests
  libprotobuf-dev protobuf-compiler                                                      # tests: checks written files
  patchelf dpkg-dev                                                                      # packages
  python3-dev python3-venv                                                               # Python package
  libopenmpi-dev openmpi-bin                                                             # mpi backend
  iproute2                                                                               # tests of several hosts
  doxygen                                                                                # reference of the C++ library
)
format_packages=(clang-format clang-tidy shellcheck lintian mmdebstrap)  # the last two: scripts/package/test_bare.sh

# NVIDIA's repository has these packages. The machine's owner decides whether to add it.
check_cuda() {
  local nvcc release header found=""
  nvcc=$(command -v nvcc || true)
  for nvcc in "$nvcc" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
    if [[ -x $nvcc ]]; then break; fi
  done
  local repository="https://developer.nvidia.com/cuda-downloads (Linux, x86_64, Debian 12)"
  if [[ ! -x $nvcc ]]; then
    echo "error: nvcc was not found | fix: add NVIDIA's repository, $repository, then apt-get install cuda-toolkit-13-0; or set CUDA_HOME to a toolkit" >&2
    return 5
  fi
  release=$("$nvcc" --version | sed -nE 's/.*release ([0-9]+)\..*/\1/p')
  if [[ $release -lt 13 ]]; then
    echo "error: $nvcc is of CUDA $release, 13 is needed | fix: $repository, then apt-get install cuda-toolkit-13-0" >&2
    return 5
  fi
  for header in "${CUDNN_HOME:+$CUDNN_HOME/include/}cudnn_graph.h" "$(dirname "$nvcc")/../include/cudnn_graph.h" /usr/include/cudnn_graph.h /usr/local/include/cudnn_graph.h \
    /usr/include/x86_64-linux-gnu/cudnn_graph.h; do
    if [[ -f $header ]]; then found=$header; fi
  done
  if [[ -z $found ]]; then
    echo "error: cudnn_graph.h was not found | fix: $repository, then apt-get install libcudnn9-dev-cuda-13; or set CUDNN_HOME" >&2
    return 5
  fi
  echo "install_deps: CUDA toolkit $release ($nvcc), cuDNN's headers ($found)"
}

packages=("${build_packages[@]}" "${format_packages[@]}")
if [[ ${1:-} == --cuda ]]; then
  check_cuda
  shift
fi
case "${1:-}" in
  "") ;;
  --build-only) packages=("${build_packages[@]}") ;;
  --list) printf '%s\n' "${packages[@]}"; exit 0 ;;
  -h | --help) usage; exit 0 ;;
  *) usage >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "error: this script needs Debian's package tools (dpkg, apt-get); on other systems install the equivalents of:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 5
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [[ $state != installed* ]]; then missing+=("$package"); fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
  echo "install_deps: all ${#packages[@]} packages are installed"
  exit 0
fi
echo "install_deps: missing: ${missing[*]}"

if ! command -v apt-get >/dev/null; then
  echo "error: apt-get not found; install the packages above by hand" >&2
  exit 5
fi
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "error: installing packages needs root, and sudo was not found; run as root: apt-get install ${missing[*]}" >&2
    exit 5
  fi
  as_root=(sudo)
fi

# DEBIAN_FRONTEND goes through env because sudo drops it.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 "$@"; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }
# A missing or outdated package list makes the first attempt fail; the list is then downloaded again.
if ! apt install -s --no-install-recommends "${missing[@]}" >/dev/null 2>&1 || ! install; then
  apt update
  install
fi
echo "install_deps: installed ${#missing[@]} packages"
