#!/usr/bin/env bash
# Runs training.py with the ranks of server 0 of rank_table_16pcs.json; run_node2.sh starts those of server 1 on the other host.
#   bash run_node1.sh DATASET_PATH [FLAGS...]
# Replace 10.*.*.* in rank_table_16pcs.json with the hosts' addresses, the same on both. FLAGS: arguments of training.py. Rank i of this host runs in
# device<i>/ and writes train.log. For environment variables see scripts/launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
EXEC_PATH=$(pwd)
export RANK_TABLE_FILE=${RANK_TABLE_FILE:-${EXEC_PATH}/rank_table_16pcs.json}
export RANK_SIZE=${RANK_SIZE:-16}
export DEVICE_NUM=${DEVICE_NUM:-8}
export SERVER_ID=0
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# shellcheck disable=SC1091
source "$here/../../../scripts/run_node.sh"
if [[ $# -lt 1 ]]; then usage "DATASET_PATH [FLAGS...]"; fi
need_folder DATASET_PATH "$1"
need_folder DATASET_PATH/train "$1/train"
take_table
find_python
fresh_devices
# shellcheck disable=SC2154,SC2034  # python: find_python; words: launch
words=("$python" "$here/training.py" --data_path "$(absolute "$1")" "${@:2}")
run_node
