# shellcheck shell=bash
# The body of run_node1.sh and run_node2.sh, which set SERVER_ID, and of the same scripts in python/examples/adasum; sourced, not run.
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"

# take_table: checks the rank table and sets table.
take_table() {
  table=${RANK_TABLE_FILE:-$PWD/rank_table_16pcs.json}
  if [[ ! -f $table ]]; then
    fail "RANK_TABLE_FILE=$table is not a file: copy $SCRIPTS_DIR/rank_table_16pcs.json to it and write the hosts' addresses in place of 10.*.*.*"
  fi
  table=$(absolute "$table")
  find_program
  "$program" ranktable check "$table" >/dev/null
}

# run_node AFTER...: runs the command in words with this server's ranks, one in each device<i>, then runs AFTER.
run_node() {
  launch "node$((SERVER_ID + 1))" "$@" -- --rank-table "$table" --work-dir "device{local}" --log-file train.log --env-file env.log
}

# fresh_devices: prepares the device<i> folders for a new run.
fresh_devices() {
  for folder in device[0-9]*; do
    if [[ $folder =~ ^device[0-9]+$ ]]; then fresh_folder "$folder"; fi
  done
}

# train_node DATASET_PATH [CONFIG_PATH]: runs sindri train, by default with Adasum and mixed precision.
train_node() {
  if [[ $# -lt 1 || $# -gt 2 ]]; then usage "DATASET_PATH [CONFIG_PATH]"; fi
  need_folder DATASET_PATH "$1"
  data=$(absolute "$1")
  take_config "${2:-${CONFIG_PATH:-}}" resnet50_imagenet2012_Adasum.yaml
  take_table
  fresh_devices
  training "$PWD/device0/run"
  # shellcheck disable=SC2154  # config: take_config
  echo "settings of $config: algorithms $(algorithms_of "$config"), amp_level $(sed -n 's/^  amp_level: *//p' "$config" | grep . || echo O0)"
  echo "============== Starting Training =============="
  run_node link_checkpoints device0 device0/run
}

# algorithms_of CONFIG: prints the training algorithms that it enables.
algorithms_of() {
  awk '/^[a-z]/ { boost = /^boost:/ } boost && /^  [a-z_]+:/ { name = $1; sub(":", "", name) } boost && /enabled: *true/ { out = out (out ? ", " : "") name } END { print out ? out : "none" }' "$1"
}
