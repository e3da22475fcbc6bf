#!/usr/bin/env bash
# Trains with one rank, by default ResNet-50 with Momentum on ImageNet, in the folder train/ with log.txt and env.log.
#   sh run_standalone_train.sh DATASET_PATH [CONFIG_PATH] [RESUME_CKPT]
# CONFIG_PATH: default configs/resnet50_imagenet.yaml. Environment variables: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 1 || $# -gt 3 ]]; then usage "DATASET_PATH [CONFIG_PATH] [RESUME_CKPT]"; fi
need_folder DATASET_PATH "$1"
data=$(absolute "$1")
take_config "${2:-${CONFIG_PATH:-}}" resnet50_imagenet.yaml
take_resume "${3:-}"
find_program
fresh_folder train
training "$PWD/train/run"
launch train link_checkpoints train train/run -- -n 1 --work-dir train --log-file log.txt --env-file env.log
