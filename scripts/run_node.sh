# shellcheck shell=bash
# The body of run_node1.sh and run_node2.sh, which set SERVER_ID; sourced, not run.
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
if [[ $# -lt 1 || $# -gt 2 ]]; then usage "DATASET_PATH [CONFIG_PATH]"; fi
need_folder DATASET_PATH "$1"
data=$(absolute "$1")
take_config "${2:-${CONFIG_PATH:-}}"
table=${RANK_TABLE_FILE:-$PWD/rank_table_16pcs.json}
need_file RANK_TABLE_FILE "$table"
table=$(absolute "$table")
find_program
"$program" ranktable check "$table" >/dev/null
for folder in device[0-9]*; do
  if [[ $folder =~ ^device[0-9]+$ ]]; then fresh_folder "$folder"; fi
done
training "$PWD/device0/run"
launch "node$((SERVER_ID + 1))" link_checkpoints device0 device0/run -- --rank-table "$table" --work-dir "device{local}" --log-file train.log --env-file env.log
