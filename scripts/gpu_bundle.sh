#!/usr/bin/env bash
# Packs the files that a machine with a GPU needs to run tests/gpu/run.sh (the program with its libraries, the CUDA backend, the op suite for GPUs, the script)
# into build/gpu_bundle and build/gpu_bundle.tar.xz. The machine needs glibc 2.36 or later, an NVIDIA driver 580 or later, and Python 3.
#   scripts/gpu_bundle.sh [--rehearse]
# --rehearse: also packs the host run, unpacks the archive in another folder and runs the script there with the host run instead of the GPU.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rehearse=0
case "${1:-}" in
  "") ;;
  --rehearse) rehearse=1 ;;
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "error: unknown argument $1" >&2; exit 2 ;;
esac
limit_kib=$((60 * 1024))
build=build/release out=build/gpu_bundle

# Without --cuda, which would add other architectures: tests/gpu/run.sh runs on H100 and H200.
bash scripts/build.sh release gpu_programs
rm -rf "$out"
mkdir -p "$out/sindri/bin" "$out/sindri/lib"
cp "$build/sindri" "$out/sindri/bin/"
cp -L "$build"/libsindri.so.?.? "$build/libsindri_cuda.so" "$out/sindri/lib/"
cp "$build/tests/gpu/gpu_ops_tests" "$build/tests/gpu/gpu_ceilings" tests/gpu/run.sh "$out/"
mkdir -p "$out/sindri/share/sindri"
cp -r dataset/digits configs "$out/sindri/share/sindri/"
git rev-parse HEAD >"$out/commit"
# Debian's libraries, which a machine may lack, under the names by which they are loaded.
python3 - "$out" <<'PYTHON'
import os, shutil, subprocess, sys
sys.path.insert(0, "scripts/package")
from libraries import libraries_of
out = sys.argv[1]
own = [os.path.join(out, p) for p in ("sindri/bin/sindri", "gpu_ops_tests", "gpu_ceilings")] + [os.path.join(out, "sindri/lib", f) for f in os.listdir(os.path.join(out, "sindri/lib"))]
for name, path in libraries_of(own).items():
    if not name.startswith("libsindri"):
        shutil.copy(path, os.path.join(out, "sindri/lib", name))
for folder, _, files in os.walk(out):
    for f in files:
        path = os.path.join(folder, f)
        with open(path, "rb") as opened:
            if opened.read(4) == b"\x7fELF":
                subprocess.run(["strip", "--strip-unneeded", path], check=True)
PYTHON
tar -C build -cf - gpu_bundle | xz -T0 -6 >build/gpu_bundle.tar.xz
size=$(du -k --apparent-size build/gpu_bundle.tar.xz | cut -f1)
echo "build/gpu_bundle.tar.xz $size KiB"
if [[ $size -gt $limit_kib ]]; then echo "error: the bundle has $size KiB, the limit is $limit_kib KiB" >&2; exit 1; fi

if [[ $rehearse -eq 1 ]]; then
  bash scripts/build.sh release ops_tests sindri_cuda_host
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  tar -C "$folder" -xf build/gpu_bundle.tar.xz
  cp "$build/tests/ops_tests" "$folder/gpu_bundle/host_ops_tests"
  cp "$build/tests/cuda_host/libsindri_cuda_host.so" "$folder/gpu_bundle/"
  "$folder/gpu_bundle/run.sh" --rehearse --out "$folder/results"
fi
