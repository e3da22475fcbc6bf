#!/usr/bin/env bash
# run_eval.sh on a GPU. Without a GPU it prints a message and evaluates on the CPU; SINDRI_DEVICE_TARGET=GPU or CPU overrides this.
#   sh run_eval_gpu.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
export WANT_GPU=1
source "$(dirname "${BASH_SOURCE[0]}")/run_eval.sh"
