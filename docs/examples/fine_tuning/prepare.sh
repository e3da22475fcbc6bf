#!/usr/bin/env bash
# Makes the data of docs/guide/fine_tuning.md: 20 classes of photographs from a sample of ImageNet that has one photograph per ImageNet class.
# Each line of kinds.txt lists the ImageNet classes of one new class. Every third photograph of a class is used for evaluation.
#
#   prepare.sh SAMPLES TARGET [FOLD]     SAMPLES/n01443537/n01443537_goldfish.JPEG -> TARGET/train/KIND/… and TARGET/val/KIND/…; FOLD: 0, 1 or 2
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: prepare.sh SAMPLES TARGET [FOLD]" >&2
  exit 2
fi
samples=$1 target=$2 fold=${3:-0}
here=$(dirname "${BASH_SOURCE[0]}")
while read -r kind names; do
  i=0
  for name in $names; do
    part="train"
    [ $((i % 3)) -eq "$fold" ] && part="val"
    mkdir -p "$target/$part/$kind"
    cp "$samples"/*/*_"$name".JPEG "$target/$part/$kind/"
    i=$((i + 1))
  done
done < "$here/kinds.txt"
echo "$target: $(find "$target/train" -type f | wc -l) photographs to train on, $(find "$target/val" -type f | wc -l) to judge by"
