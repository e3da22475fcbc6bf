#!/usr/bin/env bash
# Formats tracked C++ files with clang-format. --check changes nothing, also runs shellcheck and parses the Python files, and fails
# if a check fails. --tidy runs clang-tidy with build/release/compile_commands.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=${1:-format}
mapfile -t cxx < <(git ls-files '*.cc' '*.h' '*.cu')
mapfile -t shell < <(git ls-files '*.sh' .ci/run)
mapfile -t python < <(git ls-files '*.py')

need() {
  if ! command -v "$1" >/dev/null; then echo "error: $1 not found; run scripts/install_deps.sh" >&2; exit 5; fi
}
case $mode in
  format)
    need clang-format
    clang-format -i "${cxx[@]}"
    ;;
  --check)
    need clang-format
    status=0
    clang-format --dry-run --Werror "${cxx[@]}" || status=1
    if command -v shellcheck >/dev/null; then shellcheck "${shell[@]}" || status=1; else echo "format: shellcheck not found, scripts unchecked"; fi
    python3 -c 'import ast, sys; [ast.parse(open(f).read(), f) for f in sys.argv[1:]]' "${python[@]}" || status=1
    exit "$status"
    ;;
  --tidy)
    need clang-tidy
    if [[ ! -f build/release/compile_commands.json ]]; then echo "error: run scripts/build.sh first" >&2; exit 2; fi
    git ls-files 'src/*.cc' 'ops/*.cc' 'optim/*.cc' 'models/*.cc' 'dataset/*.cc' | xargs -P "$(nproc)" -n 4 clang-tidy -p build/release --quiet
    ;;
  *)
    echo "usage: scripts/format.sh [--check | --tidy]" >&2
    exit 2
    ;;
esac
