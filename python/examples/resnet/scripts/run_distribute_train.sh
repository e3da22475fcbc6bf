#!/bin/sh
# Trains with the ranks that a rank table lists for this host. Rank i runs in train_parallel<i>/, writes log.txt and env.log there
# and saves to checkpoint/ckpt_<i>/.
#   sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH [CONFIG_PATH]
# CONFIG_PATH: one of src/*_config.yaml (default: resnet50_imagenet2012_Ascend_config.yaml). PYTHON: the interpreter (default: python3). EXTRA: further settings
# for train.py, such as EXTRA="--epoch_size 2".
set -eu
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  echo "usage: sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH [CONFIG_PATH]" >&2
  exit 2
fi
table=$(realpath -- "$1")
data=$(realpath -- "$2")
here=$(cd "$(dirname "$0")/.." && pwd)
config=$(realpath -- "${3:-$here/src/resnet50_imagenet2012_Ascend_config.yaml}")
# shellcheck disable=SC2086  # EXTRA is several words
exec "${PYTHON:-python3}" -m sindri run --rank-table "$table" --with-parent --work-dir "train_parallel{local}" --log-file log.txt --env-file env.log -- \
  "${PYTHON:-python3}" "$here/train.py" --config_path "$config" --data_path "$data" --run_distribute True ${EXTRA:-}
