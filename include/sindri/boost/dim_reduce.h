// The subspace of dimension-reduction training (boost/dim_reduce): principal components of weight snapshots, as a
// matrix and as a file.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::boost {

/// Names and shapes of the weights that a matrix's columns hold, in order.
using Columns = std::vector<std::pair<std::string, Shape>>;
/// Number of elements of all columns' weights.
SINDRI_API int64_t column_count(const Columns& columns);

/// Directions in weight space and where they come from.
struct Subspace {
  Tensor components;  ///< [k, n] float32, orthonormal rows by falling variance; the largest component of each by magnitude is positive
  std::vector<double> ratios;  ///< share of the variance per component; empty if unknown (a file without its JSON)
  int64_t snapshots = 0;  ///< number of snapshots; 0 if unknown
};

/// Checkpoints of `where`, a folder (its *.ckpt) or a pattern of file names, sorted by epoch and step if their names
/// contain them, else by name. Throws ValueError if there are none.
SINDRI_API std::vector<std::string> snapshot_files(const std::string& where);
/// The trained weights of a snapshot that holds only a network (CheckpointConfig's saved_network): its float tensors
/// without batch norm's moving statistics, in order. Throws CheckpointError for the state of a training run, in which
/// only the network's settings distinguish weights from the optimizer's tensors, and for a file without weights.
SINDRI_API Columns snapshot_columns(const std::string& file);
/// The first k principal components of the weights of these checkpoints (mean removed), from the eigenvectors of their
/// Gram matrix in float64: 2·N²·n operations for N files of n weights. Finds weights by name. Holds at most memory_mb
/// of rows at a time and reads files again for the rest. Throws ValueError for k < 1 and if the files span fewer than k
/// directions, CheckpointError for a file without these weights, with other shapes or with values that are not finite.
SINDRI_API Subspace principal_components(const std::vector<std::string>& files, const Columns& columns, int64_t k, int64_t memory_mb = 4096);
/// Writes the components in NumPy's format, float32 [k, n] in C order, and PATH.json with names, shapes, ratios and
/// checksums. Each file is written whole or not at all.
SINDRI_API void save_subspace(const std::string& path, const Subspace& subspace, const Columns& columns);
/// Reads k rows of a subspace; further rows are dropped. Throws IoError if the file cannot be read. Throws ValueError
/// for another element type or order, another number of columns, fewer than k rows, rows that are not orthonormal to
/// 1e-3, and other names or shapes in the JSON (which may be missing). Throws CheckpointError if a checksum in the JSON
/// does not match.
SINDRI_API Subspace load_subspace(const std::string& path, const Columns& columns, int64_t k);

}  // namespace sindri::boost
