#!/usr/bin/env bash
# Trains with the ranks that a rank table lists for this server, by default ResNet-50 with THOR on ImageNet. Rank i runs in the folder train_parallel<i>/
# with log.txt and env.log. Rank 0 writes resnet-EPOCH_STEP.ckpt; on its server, each of these folders contains a link to it.
#   sh run_distribute_train.sh RANK_TABLE_FILE DATASET_PATH [DEVICE_NUM] [CONFIG_PATH] [RESUME_CKPT]
# DATASET_PATH: the training images, one folder per class, or a folder with train/ and val/. CONFIG_PATH: default
# configs/resnet50_imagenet2012_Thor_Ascend.yaml. SERVER_ID selects this server in the table if the addresses do not. Environment variables:
# launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 2 || $# -gt 5 ]]; then usage "RANK_TABLE_FILE DATASET_PATH [DEVICE_NUM] [CONFIG_PATH] [RESUME_CKPT]"; fi
need_file RANK_TABLE_FILE "$1"
need_folder DATASET_PATH "$2"
table=$(absolute "$1")
data=$(absolute "$2")
device_num=""
take_run resnet50_imagenet2012_Thor_Ascend.yaml "${@:3}"
find_program
"$program" ranktable check "$table" >/dev/null
for folder in train_parallel[0-9]*; do
  if [[ $folder =~ ^train_parallel[0-9]+$ ]]; then fresh_folder "$folder"; fi
done
training "$PWD/train_parallel0/run"
flags=(--rank-table "$table" --work-dir "train_parallel{local}" --log-file log.txt --env-file env.log)
if [[ -n $device_num ]]; then flags+=(-n "$device_num"); fi

link_ranks() {
  local folder
  for folder in train_parallel[0-9]*; do
    if [[ $folder =~ ^train_parallel[0-9]+$ ]]; then link_checkpoints "$folder" train_parallel0/run; fi
  done
}

launch train_parallel link_ranks -- "${flags[@]}"
