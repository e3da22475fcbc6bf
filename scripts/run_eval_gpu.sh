#!/usr/bin/env bash
# run_eval.sh on a GPU; SINDRI_DEVICE_TARGET=CPU evaluates on the processor.
#   bash run_eval_gpu.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
export SINDRI_DEVICE_TARGET=${SINDRI_DEVICE_TARGET:-GPU}
source "$(dirname "${BASH_SOURCE[0]}")/run_eval.sh"
