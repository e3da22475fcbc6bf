#!/usr/bin/env bash
# Our training step beside PyTorch's on this machine, in turns; one JSON line each. Needs PyTorch's Python in SINDRI_PEERS_PYTHON.
#   SINDRI_PEERS_PYTHON=~/torch/bin/python bash tests/bench/compare.sh [ROUNDS] [SECONDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${SINDRI_PEERS_PYTHON:?set it to the python of an environment with torch and torchvision}
rounds=${1:-3} seconds=${2:-8}
export OMP_NUM_THREADS=2
for ((i = 0; i < rounds; i++)); do
  for job in "resnet50 16" "resnet20 128"; do
    read -r net batch <<<"$job"
    build/release/tests/step_bench "$net" "$batch" graph "$seconds"
    "$python" tests/bench/torch_step.py "$net" "$batch" eager "$seconds"
    "$python" tests/bench/torch_step.py "$net" "$batch" channels_last "$seconds"
  done
done
