#!/usr/bin/env bash
# Tests a GPU within ten minutes, the most valuable parts first. Run it in the folder that scripts/gpu_bundle.sh has packed. Every part runs separately with its own time
# limit; if a part fails or runs too long, that is recorded and the next part starts.
#   run.sh [--out FOLDER] [--rehearse] [--only PART[,PART]]
# FOLDER (default: results, or $OUT) gets results.jsonl, a line for each part (name, whether it passed, seconds, what it measured), and each part's log.
# --rehearse: the host run replaces the GPU, and parts that measure times are shortened: shows that no file is missing, and measures nothing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${OUT:-$here/results} rehearse=0 only=""
while [[ $# -gt 0 ]]; do
  case $1 in
    --out) out=${2:?--out needs a folder}; shift ;;
    --rehearse) rehearse=1 ;;
    --only) only=${2:?--only needs names of parts}; shift ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "error: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done
mkdir -p "$out"
results=$out/results.jsonl
: >"$results"
export SINDRI_CACHE_DIR=$out/cache
sindri=$here/sindri/bin/sindri
ops=$here/gpu_ops_tests
if [[ $rehearse -eq 1 ]]; then
  ops=$here/host_ops_tests
  export SINDRI_CUDA_PLUGIN=$here/libsindri_cuda_host.so
fi
export LD_LIBRARY_PATH=$here/sindri/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# NVIDIA's libraries in the machine's Python packages (PyTorch installs them).
if libraries=$(python3 - 2>/dev/null <<'PYTHON'
import glob, os, site, sys
places = site.getsitepackages() + [site.getusersitepackages()]
print(":".join(sorted({os.path.dirname(f) for p in places for f in glob.glob(os.path.join(p, "nvidia", "*", "lib", "*.so*"))})))
PYTHON
); then export SINDRI_CUDA_LIBRARY_PATH=${SINDRI_CUDA_LIBRARY_PATH:-$libraries}; fi

failed=0
# part NAME SECONDS COMMAND...: the text in braces that the command prints last is its measurement.
part() {
  local name=$1 limit=$2 begin status measured
  shift 2
  if [[ -n $only && ,$only, != *,$name,* ]]; then return; fi
  begin=$(date +%s.%N)
  timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1
  status=$?
  measured=$(grep -E '^\{.*\}$' "$out/$name.log" | tail -1)
  python3 - "$name" "$status" "$begin" "$(date +%s.%N)" "${measured:-null}" "$limit" >>"$results" <<'PYTHON'
import json, sys
name, status, begin, end, measured, limit = sys.argv[1:]
try:
    measured = json.loads(measured)
except ValueError:
    measured = {"text": measured}
print(json.dumps({"part": name, "passed": status == "0", "status": int(status), "seconds": round(float(end) - float(begin), 1), "limit": int(limit), "measured": measured}))
PYTHON
  tail -1 "$results"
  [[ $status -eq 0 ]] || failed=$((failed + 1))
}

# The suite in parallel shards: the host prepares samples while the GPU is mostly idle.
suite() {
  local shards=$1 filter=$2 folder passed=0 bad=0 status=0 pids=()
  folder=$(mktemp -d)
  for ((i = 0; i < shards; i++)); do
    SINDRI_TEST_DEVICE=cuda GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i GTEST_BRIEF=1 "$ops" --gtest_filter="$filter" >"$folder/$i.log" 2>&1 &
    pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  for ((i = 0; i < shards; i++)); do
    passed=$((passed + $(sed -nE 's/^\[  PASSED  \] ([0-9]+) tests?.*/\1/p' "$folder/$i.log")))
    bad=$((bad + $(grep -cE '^\[  FAILED  \].*\(' "$folder/$i.log")))
    grep -vE '^\[ +(OK|RUN) ' "$folder/$i.log" | head -400
  done
  echo "{\"passed\": $passed, \"failed\": $bad}"
  return $status
}

# Two runs, as captured graphs and kernel by kernel: all digits of the losses agree.
captured_equals_plain() {
  local settings=("$@") status=0
  rm -rf "$out/captured" "$out/plain"
  "$sindri" train "${settings[@]}" --device cuda --set "train.run_dir=$out/captured" || return 1
  SINDRI_CUDA_GRAPH=0 "$sindri" train "${settings[@]}" --device cuda --set "train.run_dir=$out/plain" || return 1
  python3 - "$out/captured" "$out/plain" <<'PYTHON' || status=1
import json, sys
def losses(folder):
    return [(r.get("step"), r["loss"]) for r in map(json.loads, open(folder + "/metrics.jsonl")) if "loss" in r]
a, b = losses(sys.argv[1]), losses(sys.argv[2])
print(json.dumps({"records": len(a), "same": a == b, "last_loss": a[-1][1] if a else None}))
sys.exit(0 if a and a == b else 1)
PYTHON
  return $status
}

# Sindri and PyTorch alternate on the same GPU. Without PyTorch, Sindri alone.
beside_pytorch() {
  local compare=()
  if python3 -c 'import torch' 2>/dev/null; then
    SINDRI_PEERS_PYTHON=$(command -v python3)
    export SINDRI_PEERS_PYTHON
    compare=(--compare pytorch)
  fi
  "$sindri" benchmark "$1" --device cuda --batch "$2" --precision "$3" --rounds 3 --seconds 2 "${compare[@]}" --json "$out/$1_$3.json" || return 1
  python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(json.dumps({"ratios": j.get("ratios"), "runs": [{k: r.get(k) for k in ("framework", "mode", "samples_per_second", "peak_memory_mb", "first_step_s")} for r in j.get("runs", [])]}))' \
    "$out/$1_$3.json"
}

sanitized() {
  command -v compute-sanitizer >/dev/null || { echo '{"skipped": "there is no compute-sanitizer"}'; return 0; }
  SINDRI_TEST_DEVICE=cuda compute-sanitizer --tool "$1" --error-exitcode 9 "$ops" --gtest_brief=1 --gtest_filter="$2"
}

export -f suite captured_equals_plain beside_pytorch sanitized
export ops sindri out here
quick='*OpSuite.InferAgreesWithRunAndRepeats/*'
part doctor 30 "$sindri" doctor
if [[ $rehearse -eq 0 ]]; then
  part clocks 10 nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,power.limit,temperature.gpu --format=csv
  part ceilings 40 "$here/gpu_ceilings"
fi
part ops_first 60 bash -c 'suite 4 "*OpSuite.InferAgreesWithRunAndRepeats/add_*:*OpSuite.InferAgreesWithRunAndRepeats/sum_*:*OpSuite.InferAgreesWithRunAndRepeats/conv2d_*"'
part ops 180 bash -c "suite 12 '$([[ $rehearse -eq 1 ]] && echo "$quick" || echo '*OpSuite*')'"
few=""
if [[ $rehearse -eq 1 ]]; then few="--set train.max_steps=3 --set train.batch_size=8"; fi
part train_digits 60 bash -c "captured_equals_plain quickstart $few"
if [[ $rehearse -eq 0 ]]; then
  part resnet50_float16 150 bash -c 'beside_pytorch resnet50 256 f16'
  part resnet50_bfloat16 120 bash -c 'beside_pytorch resnet50 256 bf16'
  part memcheck 90 bash -c 'sanitized memcheck "*OpSuite.InferAgreesWithRunAndRepeats/*"'
  part racecheck 60 bash -c 'sanitized racecheck "*OpSuite.InferAgreesWithRunAndRepeats/*sum*:*OpSuite.InferAgreesWithRunAndRepeats/*norm*"'
fi
if [[ $failed -eq 0 ]]; then echo "all parts passed; results are in $out"; else echo "$failed parts failed; their logs are in $out"; fi
[[ $failed -eq 0 ]]
