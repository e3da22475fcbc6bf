#!/usr/bin/env bash
# Creates the Python environments for `sindri benchmark --compare`, outside the tree, and prints the lines that set their variables.
#   scripts/peers.sh [FOLDER] [--only pytorch|mindspore]     (default folder: ~/.cache/sindri-peers)
# Installs PyTorch 2.15 and MindSpore 2.10 (which needs numpy<2) from PyPI, or the index that pip is configured for: PyPI's PyTorch includes
# gigabytes of CUDA libraries, the one from PIP_INDEX_URL=https://download.pytorch.org/whl/cpu does not. Environments that already work are kept.
#   eval "$(scripts/peers.sh)"      sets the variables in this shell
set -euo pipefail

folder=${XDG_CACHE_HOME:-$HOME/.cache}/sindri-peers only="pytorch mindspore"
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --only)
      only=${2:?--only needs pytorch or mindspore}
      [[ $only == pytorch || $only == mindspore ]] || { echo "error: --only: expected pytorch or mindspore, got '$only'" >&2; exit 2; }
      shift
      ;;
    -*) echo "error: unknown argument $1" >&2; exit 2 ;;
    *) folder=$1 ;;
  esac
  shift
done
python=${PYTHON:-python3}

# environment NAME MODULE PIP_ARGUMENTS...: creates FOLDER/NAME unless its Python can import MODULE.
environment() {
  local name=$1 module=$2
  shift 2
  if [[ -x $folder/$name/bin/python ]] && "$folder/$name/bin/python" -c "import $module" >/dev/null 2>&1; then
    echo "$name: kept $folder/$name" >&2
    return
  fi
  echo "$name: installing into $folder/$name" >&2
  "$python" -m venv --clear "$folder/$name" >&2
  "$folder/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@" >&2
  "$folder/$name/bin/python" -c "import $module" >/dev/null
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
for peer in $only; do
  if [[ $peer == pytorch ]]; then
    environment pytorch torch "torch==2.15.*" numpy
    echo "export SINDRI_PEERS_PYTHON=$folder/pytorch/bin/python"
  else
    environment mindspore mindspore "mindspore==2.10.*" "numpy<2"
    echo "export SINDRI_PEERS_PYTHON_MINDSPORE=$folder/mindspore/bin/python"
  fi
done
