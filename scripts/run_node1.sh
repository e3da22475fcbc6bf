#!/usr/bin/env bash
# Trains with the ranks of server 0 of rank_table_16pcs.json; run_node2.sh starts those of server 1 on the other host.
#   bash run_node1.sh DATASET_PATH [CONFIG_PATH]
# Without CONFIG_PATH: ResNet-50 with Adasum and amp_level O2 (configs/resnet50_imagenet2012_Adasum.yaml). The table is in the current folder, or is
# RANK_TABLE_FILE; it gives the number of ranks (RANK_SIZE, DEVICE_NUM). Rank i of this host runs in device<i>/ with train.log. A secret shared by both hosts
# (SINDRI_JOB_TOKEN) keeps strangers out. Other environment variables: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
export SERVER_ID=0
source "$(dirname "${BASH_SOURCE[0]}")/run_node.sh"
train_node "$@"
