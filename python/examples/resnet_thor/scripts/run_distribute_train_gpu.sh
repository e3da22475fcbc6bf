#!/bin/sh
# Trains with DEVICE_NUM ranks on this host, all in train_parallel/. Rank i writes log_<i>.txt and saves ckpt_<i>/resnet-EPOCH_STEP.ckpt there.
#   sh run_distribute_train_gpu.sh DATASET_PATH DEVICE_NUM
# PYTHON and EXTRA: see run_distribute_train.sh.
set -eu
if [ $# -ne 2 ]; then
  echo "usage: sh run_distribute_train_gpu.sh DATASET_PATH DEVICE_NUM" >&2
  exit 2
fi
data=$(realpath -- "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck disable=SC2086  # EXTRA is several words
exec "${PYTHON:-python3}" -m sindri run -n "$2" --with-parent --work-dir train_parallel --log-file "log_{rank}.txt" --env-file "env_{rank}.log" -- \
  "${PYTHON:-python3}" "$here/train.py" --run_distribute --device_num "$2" --dataset_path "$data" --device_target GPU ${EXTRA:-}
