# shellcheck shell=bash disable=SC2034  # variables that the sourcing scripts use
# The body of run_stage_1.sh and run_stage_2.sh; sourced, not run.
source "$(dirname "${BASH_SOURCE[0]}")/launch_lib.sh"
ranks=${RANK_SIZE:-8}
if [[ ! $ranks =~ ^[1-9][0-9]*$ ]]; then fail "RANK_SIZE=$ranks is not a number of ranks"; fi

# take_dataset DATASET: sets data_flags.
take_dataset() {
  data_flags=()
  if [[ $1 == digits ]]; then return; fi
  need_folder DATASET "$1"
  need_folder DATASET/train "$1/train"
  data_flags=(--data-path "$(absolute "$1")")
}

# run_stage NUMBER SCRIPT FLAGS...: one rank in each of device<i>_stage_<NUMBER>.
run_stage() {
  local number=$1 script=$2 python=${PYTHON:-} tree
  shift 2
  tree=$(absolute "$SCRIPTS_DIR/..")
  find_program
  if [[ -z $python && -x $tree/build/venv/bin/python ]]; then python=$tree/build/venv/bin/python; fi
  if [[ -d $tree/python/sindri ]] && compgen -G "$tree/python/sindri/_core*" >/dev/null; then export PYTHONPATH=$tree/python${PYTHONPATH:+:$PYTHONPATH}; fi
  for folder in device[0-9]*_stage_"$number"; do
    if [[ $folder =~ ^device[0-9]+_stage_$number$ ]]; then fresh_folder "$folder"; fi
  done
  if [[ $ranks != 1 ]]; then set -- "$@" --distribute; fi
  words=("${python:-python3}" "$tree/python/examples/dimension_reduce/$script" "$@")
  launch "stage_$number" -- -n "$ranks" --work-dir "device{local}_stage_$number" --log-file train.log --env-file env.log
}
