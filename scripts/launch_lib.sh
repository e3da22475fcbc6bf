# shellcheck shell=bash disable=SC2034  # variables that the sourcing scripts use
# Functions shared by the launch scripts; sourced, not run. The scripts are thin: each selects the ranks and their folders, and `sindri run` does the rest.
#
# They are written in bash. Each starts with a line of POSIX shell that runs it again under bash, so `sh SCRIPT` works even if sh is another shell.
#
# Environment variables that all of them read:
#   CONFIG_PATH        settings file of the run if the argument is missing; each script documents its default
#   SINDRI_*           any setting of Sindri (docs/settings.md): SINDRI_TRAIN__EPOCHS=3
#   SINDRI_PROGRAM     the sindri program (default: this tree's build, else the one in PATH)
#   PYTHON             the interpreter of scripts that train in Python (default: this tree's, else the one in PATH)
#   DRY_RUN=1          print the commands, start nothing
#   BACKGROUND=1       return immediately; NAME.pid holds the process that takes SIGTERM, NAME.out its output
#   MAX_RESTARTS=K     restart the job from its newest checkpoint after losing a rank, up to K times
# Relative paths start at the caller's working directory. Exit code: the job's; 2 for wrong arguments.

set -euo pipefail

SCRIPTS_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "error: $*" >&2
  exit 2
}

# usage TEXT: ends the script because of wrong arguments.
usage() {
  echo "usage: bash $(basename "$0") $*" >&2
  exit 2
}

need_folder() { if [[ ! -d $2 ]]; then fail "$1=$2 is not a directory"; fi; }
need_file() { if [[ ! -f $2 ]]; then fail "$1=$2 is not a file"; fi; }

absolute() { realpath -m -- "$1"; }

# Selects MindSpore's form of log lines (docs/settings.md, log.style), which the reference models' documents show. A value set by the caller takes precedence.
export SINDRI_LOG__STYLE=${SINDRI_LOG__STYLE:-mindspore}

# take_run DEFAULT ARGUMENTS...: reads the arguments after the data: [DEVICE_NUM] [CONFIG_PATH] [RESUME_CKPT]. Sets device_num if a number is given, config
# (without the argument: DEFAULT in configs/) and resume_ckpt.
take_run() {
  local default=$1
  shift
  if [[ ${1:-} =~ ^[0-9]+$ ]]; then device_num=$1 && shift; fi
  if [[ $# -gt 2 ]]; then fail "$3 is one argument too many"; fi
  take_config "${1:-${CONFIG_PATH:-}}" "$default"
  take_resume "${2:-}"
}

# take_config FILE DEFAULT: sets config to FILE, or to DEFAULT in configs/ if FILE is empty.
take_config() {
  config=${1:-$SCRIPTS_DIR/../configs/${2:-resnet50_imagenet.yaml}}
  need_file CONFIG_PATH "$config"
  config=$(absolute "$config")
}

# find_program: sets program to the path of the sindri program.
find_program() {
  program=${SINDRI_PROGRAM:-}
  if [[ -z $program && -x $SCRIPTS_DIR/../build/release/sindri ]]; then program=$SCRIPTS_DIR/../build/release/sindri; fi
  if [[ -z $program ]]; then program=$(command -v sindri || true); fi
  if [[ -z $program || ! -x $program ]]; then fail "SINDRI_PROGRAM=$program is not a program: build Sindri with scripts/build.sh, or install it"; fi
  program=$(absolute "$program")
}

# one_host: unsets a rank table in the environment, which belongs to other launches. All ranks of this one run on this host.
one_host() { unset RANK_TABLE_FILE MINDSPORE_HCCL_CONFIG_PATH RANK_SIZE RANK_ID DEVICE_ID DEVICE_NUM SERVER_ID; }

# take_gpu: sets SINDRI_DEVICE_TARGET, unless it is set, to GPU if Sindri finds one, else to CPU.
take_gpu() {
  if [[ -z ${SINDRI_DEVICE_TARGET:-} ]]; then
    SINDRI_DEVICE_TARGET=GPU
    if ! "$program" doctor 2>&1 | grep -q "device_target GPU"; then
      SINDRI_DEVICE_TARGET=CPU
      echo "Sindri found no GPU: running on the CPU (SINDRI_DEVICE_TARGET=GPU makes this an error)" >&2
    fi
  fi
  export SINDRI_DEVICE_TARGET
}

# find_python: sets python, the interpreter for training scripts. It uses this tree's package if its extension module is built, else the installed package.
find_python() {
  local tree
  tree=$(absolute "$SCRIPTS_DIR/..")
  python=${PYTHON:-}
  if [[ -z $python && -x $tree/build/venv/bin/python ]]; then python=$tree/build/venv/bin/python; fi
  if [[ -z $python ]]; then python=$(command -v python || command -v python3 || true); fi
  if [[ -z $python ]]; then fail "no Python was found: set PYTHON to one that has the package sindri"; fi
  if compgen -G "$tree/python/sindri/_core*.so" >/dev/null; then export PYTHONPATH=$tree/python${PYTHONPATH:+:$PYTHONPATH}; fi
  if ! "$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("sindri") is None)'; then
    fail "$python has no package sindri: install the wheel, set PYTHON to a Python that has it, or build the sources with scripts/build.sh release --python"
  fi
}

# fresh_folder NAME: prepares NAME for a new run. A folder with checkpoints is moved to NAME.<time>, never deleted. A folder that no launch script created
# is not touched. Updates resume_ckpt if it was in a moved folder.
fresh_folder() {
  local name=$1 moved
  if [[ ! -e $name ]]; then return; fi
  if [[ ! -d $name ]]; then fail "$name exists and is not a folder"; fi
  if [[ -z $(ls -A -- "$name") ]]; then return; fi
  if ! compgen -G "$name/env*.log" >/dev/null; then fail "$name exists and is not of an earlier launch: start in another folder, or move it away"; fi
  if [[ ${DRY_RUN:-0} == 1 ]]; then return; fi
  if [[ -n $(find "$name" -name '*.ckpt' -print -quit) ]]; then
    moved=$name.$(date +%Y%m%d-%H%M%S)
    while [[ -e $moved ]]; do moved+=_; done
    local from
    from=$(absolute "$name")
    mv -- "$name" "$moved"
    echo "$name contains checkpoints: moved to $moved"
    if [[ ${resume_ckpt:-} == "$from"/* ]]; then resume_ckpt=$(absolute "$moved")${resume_ckpt#"$from"}; fi
  else
    rm -rf -- "$name"
  fi
}

# take_resume FILE: sets resume_ckpt, which may be empty.
take_resume() {
  resume_ckpt=""
  if [[ -n ${1:-} ]]; then
    need_file RESUME_CKPT "$1"
    resume_ckpt=$(realpath -- "$1")
  fi
}

# training RUN_DIR: sets words to the command of a training run with the run folder RUN_DIR.
training() {
  words=(sindri train --quiet --config "$config" --set "data.path=$data" --set "train.run_dir=$1")
  if [[ -n ${resume_ckpt:-} ]]; then words+=(--checkpoint "$resume_ckpt" --resume); fi
}

# link_checkpoints FOLDER RUN_DIR: links every checkpoint of the run as FOLDER/NAME.ckpt, where scripts for the reference models look for them.
link_checkpoints() {
  local file
  for file in "$2"/checkpoints/*.ckpt; do
    if [[ -e $file ]]; then ln -sf -- "$(realpath --relative-to "$1" -- "$file")" "$1/"; fi
  done
}

# wait_for_job PID: waits for the job, forwards signals to it, and returns its exit code.
wait_for_job() {
  local pid=$1 code last
  trap 'kill -INT "$pid" 2>/dev/null || true' INT
  trap 'kill -TERM "$pid" 2>/dev/null || true' TERM HUP
  while :; do
    wait "$pid" && code=0 || code=$?
    kill -0 "$pid" 2>/dev/null || break
  done
  wait "$pid" 2>/dev/null && last=0 || last=$?  # if a signal ended the first wait while the job was ending
  if [[ $last != 127 ]]; then code=$last; fi
  trap - INT TERM HUP
  return "$code"
}

# launch NAME AFTER... -- FLAGS...: runs sindri run FLAGS -- ${words[@]}, then the command AFTER, if given. BACKGROUND=1 names its files after NAME.
launch() {
  local name=$1 code pid
  shift
  local after=()
  while [[ $1 != -- ]]; do after+=("$1") && shift; done
  shift
  local line=("$program" run --bind core "$@")
  if [[ ${MAX_RESTARTS:-0} != 0 ]]; then line+=(--max-restarts "$MAX_RESTARTS"); fi
  if [[ ${DRY_RUN:-0} == 1 ]]; then line+=(--dry-run); fi
  if [[ ${BACKGROUND:-0} != 1 ]]; then line+=(--with-parent); fi
  line+=(-- "${words[@]}")
  echo "+ ${line[*]@Q}" >&2
  if [[ ${DRY_RUN:-0} == 1 ]]; then
    "${line[@]}"
    return
  fi
  if [[ ${BACKGROUND:-0} == 1 ]]; then
    (
      trap '' HUP
      set -m  # a separate process group: the terminal's signals do not reach the job
      "${line[@]}" &
      echo $! >"$name.pid"
      wait $! && code=0 || code=$?
      if [[ ${#after[@]} -gt 0 ]]; then "${after[@]}"; fi
      echo "exit code $code"
    ) >"$name.out" 2>&1 </dev/null &
    while [[ ! -s $name.pid ]] && kill -0 $! 2>/dev/null; do sleep 0.02; done
    echo "started in the background: process $(cat "$name.pid"), output $name.out"
    return
  fi
  set -m
  "${line[@]}" &
  pid=$!
  set +m
  wait_for_job "$pid" && code=0 || code=$?
  if [[ ${#after[@]} -gt 0 ]]; then "${after[@]}"; fi
  return "$code"
}
