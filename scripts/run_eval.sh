#!/usr/bin/env bash
# Evaluates a checkpoint on one device. Prints "result: {...} ckpt=CHECKPOINT_PATH", also to eval/log.txt.
#   sh run_eval.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]
# DATASET_PATH: the images, one folder per class, or a folder with val/. Without CONFIG_PATH the settings are those of the run that wrote the checkpoint.
# Environment variables: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 2 || $# -gt 3 ]]; then usage "DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]"; fi
need_folder DATASET_PATH "$1"
need_file CHECKPOINT_PATH "$2"
data=$(absolute "$1")
config=${3:-${CONFIG_PATH:-}}
find_program
one_host
if [[ ${WANT_GPU:-0} == 1 ]]; then take_gpu; fi
words=(sindri eval --checkpoint "$2" --set "data.path=$data")
if [[ -n $config ]]; then
  need_file CONFIG_PATH "$config"
  words+=(--config "$(absolute "$config")")
fi
fresh_folder eval
if [[ ${DRY_RUN:-0} != 1 ]]; then mkdir -p eval; fi
launch eval -- -n 1 --work-dir . --log-file eval/log.txt --env-file eval/env.log
