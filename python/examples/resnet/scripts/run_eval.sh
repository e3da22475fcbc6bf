#!/bin/sh
# Evaluates a checkpoint and prints "result: {...} ckpt= FILE", also to eval/log.txt.
#   sh run_eval.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]
# CONFIG_PATH: the settings of the checkpoint's training run (default: resnet50_imagenet2012_config.yaml). PYTHON and EXTRA: see
# run_distribute_train.sh.
set -eu
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  echo "usage: sh run_eval.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
config=$(realpath -- "${3:-$here/src/resnet50_imagenet2012_config.yaml}")
mkdir -p eval
# shellcheck disable=SC2086  # EXTRA is several words
exec "${PYTHON:-python3}" -m sindri run -n 1 --with-parent --work-dir . --log-file eval/log.txt --env-file eval/env.log -- \
  "${PYTHON:-python3}" "$here/eval.py" --config_path "$config" --data_path "$(realpath -- "$1")" --checkpoint_path "$2" ${EXTRA:-}
