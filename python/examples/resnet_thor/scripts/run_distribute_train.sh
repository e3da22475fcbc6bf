#!/bin/sh
# Trains with DEVICE_NUM ranks of a rank table. Rank i runs in train_parallel<i>/ and writes log.txt, env.log and resnet-EPOCH_STEP.ckpt there.
#   sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH DEVICE_NUM
# PYTHON: the interpreter (default: python3). EXTRA: further arguments for train.py, such as EXTRA="--set epoch_size=2".
set -eu
if [ $# -ne 3 ]; then
  echo "usage: sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH DEVICE_NUM" >&2
  exit 2
fi
table=$(realpath -- "$1")
data=$(realpath -- "$2")
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck disable=SC2086  # EXTRA is several words
exec "${PYTHON:-python3}" -m sindri run -n "$3" --rank-table "$table" --with-parent --work-dir "train_parallel{local}" --log-file log.txt --env-file env.log -- \
  "${PYTHON:-python3}" "$here/train.py" --run_distribute --device_num "$3" --dataset_path "$data" --device_target Ascend ${EXTRA:-}
