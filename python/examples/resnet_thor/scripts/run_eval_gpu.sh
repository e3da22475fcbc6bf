#!/bin/sh
# Runs run_eval.sh with the GPU settings and, if Sindri has a backend for it, on the GPU.
#   sh run_eval_gpu.sh DATASET_PATH CHECKPOINT_PATH
DEVICE_TARGET=GPU
export DEVICE_TARGET
# shellcheck disable=SC1091  # the sourced script is checked, too
. "$(dirname "$0")/run_eval.sh"
