#!/usr/bin/env bash
# Goes from a fresh clone to a trained network: installs packages, builds, and trains on the handwritten digits in dataset/digits.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "== 1/3 dependencies"
bash scripts/install_deps.sh --build-only
echo "== 2/3 build"
bash scripts/build.sh release sindri_program
echo "== 3/3 training"
echo "+ build/release/sindri train --config configs/digits.yaml"
build/release/sindri train --config configs/digits.yaml "$@"
echo
echo "To call it sindri, as the documents do, in this shell:"
echo "  export PATH=\"$PWD/build/release:\$PATH\""
echo "or install it: cmake --install build/release --prefix ~/.local"
