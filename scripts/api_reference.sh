#!/usr/bin/env bash
# Writes the API references as HTML: build/api/cpp with Doxygen from the public headers' comments, build/api/python with pdoc from the docstrings of the public
# modules, and build/api/index.html, which links to both. Fails if a link is broken or a class of the headers has no description.
#   scripts/api_reference.sh [--out FOLDER]
# Needs Doxygen (scripts/install_deps.sh) and the extension module (scripts/build.sh release --python sindri_core).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=build/api
while [[ $# -gt 0 ]]; do
  case $1 in
    --out) out=${2:?--out needs a folder}; shift ;;
    -h | --help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "error: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
command -v doxygen >/dev/null || { echo "error: doxygen not found; run scripts/install_deps.sh" >&2; exit 5; }
python=$(bash scripts/python_env.sh)
rm -rf "$out/cpp" "$out/python"
mkdir -p "$out/cpp" "$out/python"

# Doxygen reports missing descriptions only with EXTRACT_ALL=NO, so they are checked first; then it writes the pages.
undocumented=$({ cat docs/api/Doxyfile; echo "EXTRACT_ALL=NO"; echo "WARN_IF_UNDOCUMENTED=YES"; echo "WARN_AS_ERROR=NO"; echo "GENERATE_HTML=NO"; } |
  doxygen - 2>&1 >/dev/null | grep -E "Compound .* is not documented" | sort -u || true)
if [[ -n $undocumented ]]; then
  echo "error: classes of the public headers without a description:" >&2
  echo "$undocumented" >&2
  exit 1
fi
{ cat docs/api/Doxyfile; echo "OUTPUT_DIRECTORY=$out/cpp"; } | doxygen - >/dev/null

# Modules are sorted by name; those that begin with an underscore are private.
PYTHONPATH=python "$python" -W ignore scripts/python_reference.py "$out/python"

cat >"$out/index.html" <<'HTML'
<!doctype html><meta charset="utf-8"><title>Sindri: API references</title>
<h1>Sindri: API references</h1>
<ul><li><a href="cpp/index.html">C++</a>: the headers of sindri/sindri.h</li><li><a href="python/index.html">Python</a>: the package sindri</li></ul>
HTML
echo "api_reference: $out/index.html"
