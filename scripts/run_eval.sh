#!/usr/bin/env bash
# Evaluates a checkpoint in the folder eval/, with log.txt and env.log, and prints "result: {...} ckpt=...".
#   bash run_eval.sh DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]
# Without CONFIG_PATH the settings are those of the run that made the checkpoint. Settings from the environment: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 2 || $# -gt 3 ]]; then usage "DATASET_PATH CHECKPOINT_PATH [CONFIG_PATH]"; fi
need_folder DATASET_PATH "$1"
need_file CHECKPOINT_PATH "$2"
data=$(absolute "$1")
checkpoint=$(realpath -- "$2")  # of a link, the file in its run folder, where its settings are
config=${3:-${CONFIG_PATH:-}}
find_program
unset RANK_TABLE_FILE MINDSPORE_HCCL_CONFIG_PATH RANK_SIZE RANK_ID DEVICE_ID DEVICE_NUM SERVER_ID
words=(sindri eval --checkpoint "$checkpoint" --set "data.path=$data")
if [[ -n $config ]]; then
  need_file CONFIG_PATH "$config"
  words+=(--config "$(absolute "$config")")
fi
fresh_folder eval

# "name: value" lines as the one line that scripts of the reference models look for.
show_result() {
  awk -v q="'" -v checkpoint="$1" '/^[A-Za-z0-9_@.-]+: [-+0-9.einfa]+$/ { sub(/:$/, "", $1); text = text (text == "" ? "" : ", ") q $1 q ": " $2 }
    END { if (text != "") print "result: {" text "} ckpt=" checkpoint }' eval/log.txt
}

launch eval show_result "$2" -- -n 1 --work-dir eval --log-file log.txt --env-file env.log
