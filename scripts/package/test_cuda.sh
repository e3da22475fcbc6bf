#!/usr/bin/env bash
# Tests the packages of the CUDA backend on a machine without a GPU; scripts/test_package.sh calls it.
#   scripts/package/test_cuda.sh wheel BUILD_DIR SINDRI_WHEEL CUDA_WHEEL   contents and requirements of the two wheels
#   scripts/package/test_cuda.sh cpu BUILD_DIR PREFIX                      the CPU packages equal those of a build without CUDA
#   scripts/package/test_cuda.sh installed BUILD_DIR PROGRAM PLUGIN        the installed program's messages about the driver, libraries and an incompatible plugin
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ $# -lt 3 || $1 == -h || $1 == --help ]]; then sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0; fi
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
fail() { echo "error: $*" >&2; exit 1; }
version=$(sed -nE 's/.*SINDRI_VERSION_STRING "(.*)"/\1/p' include/sindri/version.h)

test_wheel() {
  local cpu=$2 cuda=$3 architectures
  architectures=$(sed -n 's/^SINDRI_CUDA_ARCHITECTURES:STRING=//p' "$1/CMakeCache.txt")
  python3 - "$cpu" "$cuda" "$version" "$temp" "$architectures" <<'PYTHON'
import collections
import re
import struct
import subprocess
import sys
import zipfile
cpu, cuda, version = zipfile.ZipFile(sys.argv[1]), zipfile.ZipFile(sys.argv[2]), sys.argv[3]
info = f"sindri_cuda-{version}.dist-info"
files = sorted(cuda.namelist())
assert files == sorted(["sindri_cuda/libsindri_cuda.so", *(f"{info}/{f}" for f in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE"))]), files
assert not [f for f in cpu.namelist() if re.search(r"lib(sindri_cuda|cu|nv|nccl)[^/]*[.]so", f)]
def wants(wheel, info):
    return re.findall(r"^Requires-Dist: (.*)$", wheel.read(f"{info}/METADATA").decode(), re.MULTILINE)
requires = wants(cuda, info)
assert requires[0] == f"sindri=={version}" and all(r.startswith("nvidia-") for r in requires[1:]), requires
assert f'sindri-cuda=={version}; extra == "cuda"' in wants(cpu, f"sindri-{version}.dist-info")
# The oldest versions that the wheel requires are the oldest that the backend accepts.
with open("src/device/cuda/libraries.cc", encoding="utf-8") as f:
    facts = re.findall(r'\{"(\w+)",\s*\{"[^"]+"\},\s*(\d+),\s*(\d+),\s*"[^"]*",\s*"[^"]*",\s*"pip install ([\w-]+)', f.read())
assert len(facts) == 5, facts
for _, major, minor, package in facts:
    assert f"{package}>={major}.{minor},<{int(major) + 1}" in requires, (package, major, minor, requires)
# The libraries that the plugin needs belong to glibc, or are in the wheel of sindri.
plugin = cuda.extract("sindri_cuda/libsindri_cuda.so", sys.argv[4])
for name in subprocess.run(["patchelf", "--print-needed", plugin], check=True, stdout=subprocess.PIPE, text=True).stdout.split():
    assert f"sindri/lib/{name}" in cpu.namelist() or re.fullmatch(r"(libc|libm|libdl|librt|libpthread|ld-linux-x86-64)[.]so[.]\d+", name), name
# Every file of kernels has code for the architectures of the build. nvcc's containers have a header (magic, version, header size, size of the content), then
# parts. Each part has its kind (1: PTX, 2: machine code), the sizes of its header and content, and the architecture at byte 28.
with open(plugin, "rb") as f:
    image = f.read()
code = collections.Counter()
for at in (m.start() for m in re.finditer(rb"\x50\xed\x55\xba\x01\x00\x10\x00", image)):
    part, (size,) = at + 16, struct.unpack_from("<Q", image, at + 8)
    while part < at + 16 + size:
        kind, _, header, content = struct.unpack_from("<HHIQ", image, part)
        code[("virtual" if kind == 1 else "real", struct.unpack_from("<I", image, part + 28)[0])] += 1
        part += header + content
wanted = set()
for text in sys.argv[5].split(";"):
    number, _, kind = text.partition("-")
    wanted |= {(k, int(number)) for k in ([kind] if kind else ["real", "virtual"])}
assert set(code) == wanted and len(set(code.values())) == 1, f"the plugin has code for {dict(code)}, the build is for {sys.argv[5]}"
PYTHON
  local plugin=$temp/sindri_cuda/libsindri_cuda.so
  # shellcheck disable=SC2016  # the loader's variable
  [[ $(patchelf --print-rpath "$plugin") == '$ORIGIN/../sindri/lib' ]] || fail "the plugin's run path is $(patchelf --print-rpath "$plugin")"
  echo "wheel sindri_cuda: $(($(stat -c %s "$cuda") / 1000)) kB, code for $architectures"
}

# The same commands and sources give identical files, so nothing is compiled here. A tree is configured without CUDA, and its commands for the contents of the
# CPU packages are compared with those of the build.
test_cpu() {
  local build=$1 prefix=$2 off=$temp/off targets=(sindri sindri_program) settings=() name file
  for name in CMAKE_BUILD_TYPE CMAKE_INSTALL_LIBDIR SINDRI_PYTHON Python_EXECUTABLE SINDRI_WERROR; do
    settings+=("-D$name=$(sed -nE "s/^$name:[A-Z]*=//p" "$build/CMakeCache.txt")")
    if [[ ${settings[-1]} == *= ]]; then unset "settings[-1]"; fi
  done
  if grep -q '^SINDRI_PYTHON:BOOL=ON' "$build/CMakeCache.txt"; then targets+=(sindri_core); fi
  cmake -G Ninja -S . -B "$off" -DSINDRI_CUDA=OFF -DSINDRI_BUILD_TESTS=OFF "${settings[@]}" >"$temp/log" 2>&1 || { cat "$temp/log" >&2; fail "no build without CUDA"; }
  # Expected differences: the build folder, CMake's padding of run paths, which depends on the folder's length, and the commit of the last configuration.
  commands() { ninja -C "$1" -t commands "${targets[@]}" | sed -E "s#$1#BUILD#g; s#(rpath,BUILD):+#\1#g; s#-DSINDRI_COMMIT=[^ ]*##"; }
  commands "$off" >"$temp/off.commands"
  commands "$(realpath "$build")" >"$temp/on.commands"
  [[ $(wc -l <"$temp/off.commands") -gt 100 ]] || fail "there are no commands to compare"
  diff "$temp/off.commands" "$temp/on.commands" >"$temp/difference" || { head -c 3000 "$temp/difference" >&2; fail "with SINDRI_CUDA the CPU library is compiled differently"; }
  # Among the installed files only the plugin may use CUDA; the others neither need nor call NVIDIA's libraries.
  while IFS= read -r file; do
    ! readelf -d "$file" 2>/dev/null | grep NEEDED | grep -E '\[lib(sindri_cuda|cu|nv|nccl)[^]]*\.so' || fail "$file needs libraries of CUDA"
    ! nm -D --undefined-only "$file" 2>/dev/null | grep -E ' (cu|cuda|cudnn|cublas|cusolver|nvrtc|nccl)[A-Z]' || fail "$file calls CUDA"
  done < <(find "$prefix" -type f \( -name '*.so*' -o -path '*/bin/sindri' \) ! -name libsindri_cuda.so)
  echo "CPU packages: $(wc -l <"$temp/on.commands") commands, the same without CUDA"
}

# doctor [VARIABLE=VALUE...]: runs sindri doctor as on a machine without NVIDIA software: the dynamic loader does not know the toolkit's folder. With
# GOMP_SPINCOUNT set, the program does not start itself again.
doctor() {
  env -i HOME="$temp" PATH=/usr/bin:/bin GOMP_SPINCOUNT=3000 LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" "$@" /lib64/ld-linux-x86-64.so.2 --inhibit-cache "$program" doctor >"$temp/doctor" 2>&1 || true
}
says() { grep -qE -- "$1" "$temp/doctor" || { cat "$temp/doctor" >&2; fail "$program doctor does not print: $1"; }; }

test_installed() {
  local build=$1 stand_ins=$1/tests/cuda/stand_ins name file libraries=$temp/libraries original=$temp/original
  program=$2 plugin=$3
  # Without NVIDIA software, every line says how to install the missing part.
  doctor
  says "backend cuda: $version, .*libsindri_cuda.so"
  says "missing for GPU: there is no NVIDIA driver .*; install the driver of the GPU, version 580 or later"
  says "library CUDA driver: .*without it: no GPU can be used; install NVIDIA's driver 580 or later"
  for name in "cuDNN nvidia-cudnn-cu13" "cuBLASLt nvidia-cublas" "cuSOLVER nvidia-cusolver" "NVRTC nvidia-cuda-nvrtc" "NCCL nvidia-nccl-cu13"; do
    says "library ${name% *}: .*lib.* was not found in .*; without it: .*; pip install ${name#* }, or apt install"
  done
  # No NVRTC and no NCCL; the other libraries are found in a folder.
  mkdir "$libraries"
  for file in $(ldconfig -p | sed -nE 's/.* => (.*lib(cudnn|cublas|cusolver|cusparse|nvJitLink)[^/]*\.so\.[0-9]+)$/\1/p'); do ln -sf "$file" "$libraries/"; done
  doctor SINDRI_CUDA_LIBRARY_PATH="$libraries"
  for name in cuDNN cuBLASLt cuSOLVER; do says "library $name: [0-9.]+, $libraries/lib"; done
  for name in NVRTC NCCL; do says "library $name: .*lib.* was not found in .*; without it: .*; pip install nvidia-"; done
  # cuDNN, NVRTC, NCCL and the driver are too old.
  if [[ -d $stand_ins ]]; then
    doctor SINDRI_CUDA_LIBRARY_PATH="$stand_ins/cudnn_90100:$stand_ins/nvrtc_12090:$stand_ins/nccl_21700"
    says "library cuDNN: .* is cuDNN 9.1.0, required is 9.12 or later.*; pip install nvidia-cudnn-cu13"
    says "library NVRTC: .* is NVRTC 12.9, required is 13.0 or later.*; pip install nvidia-cuda-nvrtc"
    says "library NCCL: .* is NCCL 2.17.0, required is 2.18 or later.*; pip install nvidia-nccl-cu13"
    doctor LD_LIBRARY_PATH="$stand_ins/cuda_12040:${LD_LIBRARY_PATH:-}"
    says "missing for GPU: the NVIDIA driver is too old: it supports CUDA 12.4, this build needs 13.0; install driver version 580 or later"
  fi
  # With the GPU requested, and with the CPU.
  local code=0
  (cd "$temp" && "$program" train quickstart --device cuda --set train.run_dir="$temp/gpu") >"$temp/log" 2>&1 || code=$?
  if [[ $code -ne 2 ]] || ! grep -q "there is no NVIDIA driver" "$temp/log"; then cat "$temp/log" >&2; fail "--device cuda: exit code $code"; fi
  (cd "$temp" && LD_DEBUG=files LD_DEBUG_OUTPUT=$temp/loaded "$program" train quickstart --quiet --set train.max_steps=3 --set train.run_dir="$temp/cpu") >"$temp/log" 2>&1 ||
    { cat "$temp/log" >&2; fail "training on the CPU fails with the plugin installed"; }
  grep -qh "libsindri.so" "$temp"/loaded.* || fail "the dynamic loader did not say what it loads"
  ! grep -h "libsindri_cuda" "$temp"/loaded.* || fail "training on the CPU loads the plugin, on a machine without a driver"
  # A plugin of another version is rejected before its code runs; then one of another build.
  cp "$plugin" "$original"
  local other=${version//[0-9]/9}
  LC_ALL=C sed "s/_plugins_of_${version//./_}/_plugins_of_${other//./_}/; s/CUDA backend: $version/CUDA backend: $other/" "$original" >"$plugin"
  ! cmp -s "$plugin" "$original" || fail "the plugin contains no version"
  doctor
  says "missing for GPU: the CUDA backend .*libsindri_cuda.so has version $other, this is Sindri $version; install version $version of it"
  LC_ALL=C sed "s/16register_backend/16registeX_backend/" "$original" >"$plugin"
  doctor
  says "missing for GPU: the CUDA backend does not load: .*undefined symbol.*; install both from the same build"
  rm "$plugin"
  doctor
  says "missing for GPU: the CUDA backend .* is not installed; .*wheel sindri-cuda.*libsindri-cuda"
  cp "$original" "$plugin"
  echo "installed backend: driver, libraries and versions are reported ($program)"
}

part=$1
shift
"test_$part" "$@"
