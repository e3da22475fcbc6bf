#!/usr/bin/env bash
# Builds Sindri and runs its tests. The last line is "N passed, N failed", over all test cases; the exit code is 0 if none failed.
#   scripts/test.sh [--fast] [--asan | --tsan] [--quick] [--no-deps] [--only NAME[,NAME]] [--jobs N]
# --fast: for the edit loop, at most 5 minutes after a small change: --quick --no-deps without the programs that start `sindri` and train
# whole networks (app, launch, measure, models), ops_sim, ops_cuda and cuda. Run all tests before you finish a change.
# --asan: with AddressSanitizer, UBSan and LeakSanitizer (preset asan). --tsan: with ThreadSanitizer (preset tsan, needs clang++ and its
# runtime). --quick: omits tests with Slow in their names, and two of the three seeds of ops_sim. --no-deps: assumes the packages are installed.
# --only: some test programs, e.g. core,train. python: the Python package's tests; ops_sim: the op suite on the simulated accelerator;
# ops_cuda: on the CUDA backend's host run; lab: several hosts on this machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=release quick=0 fast=0 deps=1 only="" jobs=$(nproc)
while [[ $# -gt 0 ]]; do
  case $1 in
    --asan) preset=asan ;;
    --tsan) preset=tsan ;;
    --quick) quick=1 ;;
    --fast) fast=1 quick=1 deps=0 ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    --no-deps) deps=0 ;;
    --only) only=${2:?--only needs names}; shift ;;
    -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "error: unknown argument $1" >&2; exit 2 ;;
  esac
  shift
done

passed=0 failed=0
step() { echo "== $* (at ${SECONDS}s)"; }
# count NAME COMMAND...: counts one check outside the test programs.
count() {
  local name=$1
  shift
  step "$name"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
}

if [[ $deps -eq 1 ]]; then
  step "dependencies"
  bash scripts/install_deps.sh --build-only
fi
if [[ -z $only ]]; then
  count "include rules: self-test" python3 scripts/check_includes.py --self-test
  count "results after a crash: self-test" python3 scripts/run_cases.py --self-test
  count "include rules" python3 scripts/check_includes.py
  count "import rules: self-test" python3 scripts/check_python_layers.py --self-test
  count "import rules" python3 scripts/check_python_layers.py
  count "prose: self-test" python3 scripts/check_prose.py --self-test
  count "prose" python3 scripts/check_prose.py
fi

step "build ($preset)"
IFS=, read -ra names <<<"$only"
with_python=0
if [[ $preset == release && ( -z $only || ,$only, == *,python,* ) ]]; then with_python=1; fi
targets=()
for name in "${names[@]}"; do
  case $name in
    python) targets+=(sindri_core sindri_program sindri_sim) ;;
    lab) targets+=(sindri_program lab_net overlap_bench) ;;
    ops_cuda) targets+=(ops_tests) ;;
    *) targets+=("${name%_sim}_tests") ;;
  esac
done
# Builds the program, tests and extension module together, so that every object is compiled once.
build_args=("$preset")
if [[ $with_python -eq 1 ]]; then build_args+=(--python); fi
bash scripts/build.sh "${build_args[@]}" "${targets[@]}"

# ctest's JUnit output does not list the cases inside a program, so each program writes GoogleTest's XML.
results=$PWD/build/$preset/test-results
rm -rf "$results"
mkdir -p "$results"
rm -f "build/$preset/Testing/Temporary/LastTest.log"  # of an earlier run: count_tests.py reads it to find programs without results
export GTEST_OUTPUT=xml:$results/ GTEST_COLOR=no
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
# When oneDNN 2.6 generates code for tiles (AMX), it reads one element past the end of a table, which the sanitizer's heap does not always map.
if [[ $preset == asan ]]; then export SINDRI_CPU_ISA=${SINDRI_CPU_ISA:-avx512_bf16}; fi
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.supp}
export SINDRI_CACHE_DIR=${SINDRI_CACHE_DIR:-$PWD/build/$preset/cache}  # keeps measured kernel choices out of the home folder
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
if [[ $quick -eq 1 ]]; then
  export GTEST_FILTER='-*Slow*'
fi
ctest_args=(--test-dir "build/$preset" --output-on-failure --parallel "$jobs" --timeout "${SINDRI_TEST_TIMEOUT:-1500}")
left_out=()  # prefixes of test names
if [[ $fast -eq 1 ]]; then left_out+=('(app|launch|measure|models|ops_sim|ops_cuda|cuda)\.'); fi
if [[ $quick -eq 1 ]]; then left_out+=('ops_sim\.[23]'); fi
if [[ ${#left_out[@]} -gt 0 ]]; then ctest_args+=(-E "^($(IFS='|'; echo "${left_out[*]}"))"); fi
if [[ -n $only ]]; then ctest_args+=(-R "^(${only//,/|})\\."); fi
step "tests ($preset)"
ctest_ok=1
if [[ $only != python && $only != lab ]]; then ctest "${ctest_args[@]}" || ctest_ok=0; fi

# The Python package: first the installed wheel, as users have it; then, from the build tree, the tests that the wheel alone cannot run. With --fast or --only
# all tests run from the build tree. pytest writes JUnit results next to GoogleTest's.
if [[ $with_python -eq 1 ]]; then
  python=$(bash scripts/python_env.sh)
  python_args=(-n "$jobs" --dist loadfile)
  if [[ $quick -eq 1 ]]; then python_args+=(-m "not slow"); fi
  if [[ -z $only && $fast -eq 0 ]]; then
    step "python, installed wheel"
    bash scripts/test_wheel.sh "$results/python_wheel.xml" "${python_args[@]}" || ctest_ok=0
    if [[ -s $results/python_wheel.xml ]]; then python_args+=(--passed-before "$results/python_wheel.xml"); fi
  fi
  step "python, build tree"
  env -u GTEST_OUTPUT PYTHONPATH=python "$python" -m pytest tests/python -q --in-tree -p no:cacheprovider --junitxml="$results/python.xml" "${python_args[@]}" || ctest_ok=0
fi

# Hosts simulated by network namespaces (tests/lab): real programs, one case at a time, because they measure times. Skipped without root.
if [[ $preset == release && $fast -eq 0 && ( -z $only || ,$only, == *,lab,* ) ]]; then
  step "lab"
  python=$(bash scripts/python_env.sh)
  env -u GTEST_OUTPUT "$python" -m pytest tests/lab -q -p no:cacheprovider --junitxml="$results/lab.xml" || ctest_ok=0
fi

if [[ -z $only && $fast -eq 0 && -x build/$preset/tests/ops_tests ]]; then
  step "op table"
  "build/$preset/tests/ops_tests" --op-table || { failed=$((failed + 1)); echo "FAILED: op table"; }
fi

if [[ -z $only && $fast -eq 0 && $preset == release ]]; then
  count "installed package" bash scripts/test_package.sh "build/$preset"
  count "API references" bash scripts/api_reference.sh
fi

# A program that crashed wrote no results and counts as one failure.
read -r cases_passed cases_failed cases_skipped < <(python3 scripts/count_tests.py "$results" "build/$preset")
passed=$((passed + cases_passed))
failed=$((failed + cases_failed))
if [[ $ctest_ok -eq 0 && $failed -eq 0 ]]; then failed=1; fi
step "done"
if [[ $fast -eq 1 ]]; then echo "omitted by --fast: app, launch, measure, models, ops_sim, ops_cuda, cuda, lab, slow cases, the installed package, API references"; fi
if [[ $cases_skipped -gt 0 ]]; then echo "$cases_skipped skipped (reasons above)"; fi
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
