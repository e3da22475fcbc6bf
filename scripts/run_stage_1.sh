#!/usr/bin/env bash
# First stage of dimension-reduction training: trains, and keeps snapshots of the weights. Rank i writes to device<i>_stage_1/, rank 0 its checkpoints to
# checkpoint_stage_1/ there.
#   bash run_stage_1.sh DATASET [FLAGS...]
# DATASET: a folder with train/ and test/ class folders, or the word digits. FLAGS: of python/examples/dimension_reduce/train_stage_1.py. RANK_SIZE: ranks (8);
# PYTHON: the interpreter; others: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/run_stage.sh"
if [[ $# -lt 1 ]]; then usage "DATASET [FLAGS...]"; fi
take_dataset "$1"
shift
run_stage 1 train_stage_1.py "${data_flags[@]}" "$@"
