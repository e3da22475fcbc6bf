#!/usr/bin/env bash
# Trains with several ranks on this host's GPUs, by default ResNet-50 with THOR on ImageNet, all in the folder train_parallel/, with logs log_<rank>.txt.
# Each of its folders ckpt_<rank>/ has resnet-EPOCH_STEP.ckpt: rank 0 writes the file, and the ckpt_ folders are links to one folder.
#   sh run_distribute_train_gpu.sh DATASET_PATH [DEVICE_NUM] [CONFIG_PATH] [RESUME_CKPT]
# DATASET_PATH: the training images, one folder per class, or a folder with train/ and val/. DEVICE_NUM can also be set in the environment; default 8.
# CONFIG_PATH: default configs/resnet50_imagenet2012_Thor_GPU.yaml. Without a GPU it prints a message and trains on the CPU; SINDRI_DEVICE_TARGET=GPU or CPU
# overrides this. Other environment variables: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 1 || $# -gt 4 ]]; then usage "DATASET_PATH [DEVICE_NUM] [CONFIG_PATH] [RESUME_CKPT]"; fi
need_folder DATASET_PATH "$1"
data=$(absolute "$1")
device_num=${DEVICE_NUM:-8}
take_run resnet50_imagenet2012_Thor_GPU.yaml "${@:2}"
if [[ ! $device_num =~ ^[1-9][0-9]*$ ]]; then fail "DEVICE_NUM=$device_num is not a number from 1"; fi
find_program
one_host
take_gpu
fresh_folder train_parallel
training "$PWD/train_parallel/run"

link_ranks() {
  local rank
  if [[ ! -d train_parallel/run/checkpoints ]]; then return; fi
  for ((rank = 0; rank < device_num; rank++)); do
    if [[ ! -e train_parallel/ckpt_$rank ]]; then ln -s run/checkpoints "train_parallel/ckpt_$rank"; fi
  done
  link_checkpoints train_parallel train_parallel/run
}

launch train_parallel link_ranks -- -n "$device_num" --work-dir train_parallel --log-file "log_{rank}.txt" --env-file "env_{rank}.log"
