#!/bin/sh
# Evaluates a checkpoint and prints "result: {...} ckpt= FILE", also to eval/log.txt.
#   sh run_eval.sh DATASET_PATH CHECKPOINT_PATH
# DEVICE_TARGET: Ascend (default), GPU or CPU. PYTHON and EXTRA: see run_distribute_train.sh.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: sh $(basename "$0") DATASET_PATH CHECKPOINT_PATH" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p eval
# shellcheck disable=SC2086  # EXTRA is several words
exec "${PYTHON:-python3}" -m sindri run -n 1 --with-parent --work-dir . --log-file eval/log.txt --env-file eval/env.log -- \
  "${PYTHON:-python3}" "$here/eval.py" --dataset_path "$(realpath -- "$1")" --checkpoint_path "$2" --device_target "${DEVICE_TARGET:-Ascend}" ${EXTRA:-}
