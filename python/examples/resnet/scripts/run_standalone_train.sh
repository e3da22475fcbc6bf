#!/bin/sh
# Trains with one rank in train/ and writes log.txt and env.log. Checkpoints are saved in train/checkpoint/.
#   sh run_standalone_train.sh DATASET_PATH [CONFIG_PATH]
# CONFIG_PATH: one of src/*_config.yaml (default: resnet50_imagenet2012_config.yaml). PYTHON and EXTRA: see run_distribute_train.sh.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: sh run_standalone_train.sh DATASET_PATH [CONFIG_PATH]" >&2
  exit 2
fi
data=$(realpath -- "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
config=$(realpath -- "${2:-$here/src/resnet50_imagenet2012_config.yaml}")
# shellcheck disable=SC2086  # EXTRA is several words
exec "${PYTHON:-python3}" -m sindri run -n 1 --with-parent --work-dir train --log-file log.txt --env-file env.log -- \
  "${PYTHON:-python3}" "$here/train.py" --config_path "$config" --data_path "$data" ${EXTRA:-}
