#!/bin/sh
# run_eval.sh with the settings and, where there is one, the device of the GPU form.
#   sh run_eval_gpu.sh DATASET_PATH CHECKPOINT_PATH
DEVICE_TARGET=GPU
export DEVICE_TARGET
# shellcheck disable=SC1091  # the script next to this one is checked, too
. "$(dirname "$0")/run_eval.sh"
