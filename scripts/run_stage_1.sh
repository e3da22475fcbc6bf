#!/usr/bin/env bash
# First stage of dimension-reduction training: trains and keeps snapshots of the weights. Rank i writes to device<i>_stage_1/; rank 0 writes its checkpoints to
# checkpoint_stage_1/ there.
#   bash run_stage_1.sh DATASET [FLAGS...]
# DATASET: a folder with train/ and with val/ or validation_preprocess/, each with one folder per class, or the word digits. ResNet-50 is trained at 224x224 with
# amp_level O2 and loss scale 1024. FLAGS, those of python/examples/dimension_reduce/train_stage_1.py, change these settings. RANK_SIZE: number of ranks (8);
# other environment variables: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/run_stage.sh"
if [[ $# -lt 1 ]]; then usage "DATASET [FLAGS...]"; fi
take_dataset "$1"
shift
run_stage 1 train_stage_1.py "$@"
