#!/usr/bin/env bash
# Second stage of dimension-reduction training, from a checkpoint of the first stage and its snapshots. Rank i writes to device<i>_stage_2/; rank 0 writes its
# checkpoints to checkpoint_stage_2/ there.
#   bash run_stage_2.sh DATASET CKPT [PCA_MAT] [FLAGS...]
# DATASET: as for run_stage_1.sh. CKPT: the first stage's last checkpoint; the snapshots are in checkpoint_pca/ next to it. PCA_MAT: components as a .npy file.
# FLAGS: those of python/examples/dimension_reduce/train_stage_2.py. RANK_SIZE: number of ranks (8); other environment variables: launch_lib.sh.
if [ -z "${BASH_VERSION:-}" ]; then exec bash "$0" "$@"; fi  # also works as `sh SCRIPT`
source "$(dirname "${BASH_SOURCE[0]}")/run_stage.sh"
if [[ $# -lt 2 ]]; then usage "DATASET CKPT [PCA_MAT] [FLAGS...]"; fi
take_dataset "$1"
need_file CKPT "$2"
ckpt=$(absolute "$2")
shift 2
flags=(--pretrained_weight_path "$ckpt" --weight_load_dir "$(dirname "$ckpt")/checkpoint_pca")
if [[ -n ${1:-} && $1 != --* ]]; then
  need_file PCA_MAT "$1"
  flags+=(--pca_mat_path "$(absolute "$1")")
  shift
fi
run_stage 2 train_stage_2.py "${flags[@]}" "$@"
