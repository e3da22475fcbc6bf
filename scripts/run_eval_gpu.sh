#!/usr/bin/env bash
# run_eval.sh on a GPU; without one it evaluates on the processor and says so. SINDRI_DEVICE_TARGET=GPU or CPU decides.
#   sh run_eval_gpu.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
export WANT_GPU=1
source "$(dirname "${BASH_SOURCE[0]}")/run_eval.sh"
