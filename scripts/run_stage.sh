# shellcheck shell=bash disable=SC2034  # variables that the sourcing scripts use
# The body of run_stage_1.sh and run_stage_2.sh; sourced, not run.
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
ranks=${RANK_SIZE:-8}
if [[ ! $ranks =~ ^[1-9][0-9]*$ ]]; then fail "RANK_SIZE=$ranks is not a number of ranks"; fi

# take_dataset DATASET: sets data.
take_dataset() {
  data=$1
  if [[ $1 == digits ]]; then return; fi
  need_folder DATASET "$1"
  need_folder DATASET/train "$1/train"
  if [[ ! -d $1/val && ! -d $1/validation_preprocess && ! -d $1/test ]]; then fail "DATASET=$1 has no images to test with: val/, validation_preprocess/ or test/"; fi
  data=$(absolute "$1")
}

# run_stage NUMBER SCRIPT FLAGS...: runs one rank in each device<i>_stage_<NUMBER>.
run_stage() {
  local number=$1 script=$2
  shift 2
  find_program
  find_python
  for folder in device[0-9]*_stage_"$number"; do
    if [[ $folder =~ ^device[0-9]+_stage_$number$ ]]; then fresh_folder "$folder"; fi
  done
  words=("$python" "$(absolute "$SCRIPTS_DIR/..")/python/examples/dimension_reduce/$script" --data_path "$data" "$@")
  launch "stage_$number" -- -n "$ranks" --work-dir "device{local}_stage_$number" --log-file train.log --env-file env.log
}
