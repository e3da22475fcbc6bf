#!/usr/bin/env bash
# Trains with several ranks on this host's GPUs, all in the folder train_parallel/, with checkpoints in ckpt_<rank>/ (rank 0 writes them; the others'
# folders are the same one) and logs log_<rank>.txt.
#   bash run_distribute_train_gpu.sh DATASET_PATH [DEVICE_NUM | CONFIG_PATH] [RESUME_CKPT]
# DEVICE_NUM also comes from the environment; default 8. SINDRI_DEVICE_TARGET=CPU trains on the processor. Other settings: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 1 || $# -gt 3 ]]; then usage "DATASET_PATH [DEVICE_NUM | CONFIG_PATH] [RESUME_CKPT]"; fi
need_folder DATASET_PATH "$1"
data=$(absolute "$1")
device_num=${DEVICE_NUM:-8}
take_third "${2:-}"
if [[ ! $device_num =~ ^[1-9][0-9]*$ ]]; then fail "DEVICE_NUM=$device_num is not a number from 1"; fi
take_resume "${3:-}"
find_program
# A table of the environment is of other launches; this one's ranks are all here.
unset RANK_TABLE_FILE MINDSPORE_HCCL_CONFIG_PATH RANK_SIZE RANK_ID DEVICE_ID DEVICE_NUM SERVER_ID
export SINDRI_DEVICE_TARGET=${SINDRI_DEVICE_TARGET:-GPU}
fresh_folder train_parallel
training "$PWD/train_parallel/run"

link_ranks() {
  local rank
  for ((rank = 0; rank < device_num; rank++)); do
    if [[ -d train_parallel/run/checkpoints && ! -e train_parallel/ckpt_$rank ]]; then ln -s run/checkpoints "train_parallel/ckpt_$rank"; fi
  done
}

launch train_parallel link_ranks -- -n "$device_num" --work-dir train_parallel --log-file "log_{rank}.txt" --env-file "env_{rank}.log"
