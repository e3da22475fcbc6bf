// The subspace of dimension-reduction training (boost/dim_reduce): principal components of weight snapshots, as a matrix and as a file.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"

namespace sindri::boost {

/// Names and shapes of the weights that the columns of a matrix stand for, in their order.
using Columns = std::vector<std::pair<std::string, Shape>>;
/// Numbers of all of them.
SINDRI_API int64_t column_count(const Columns& columns);

/// Directions of weight space, and what is known of where they come from.
struct Subspace {
  Tensor components;  ///< [k, n] float32, rows orthonormal, by falling variance; the component of largest magnitude of each is positive
  std::vector<double> ratios;  ///< of the variance, one per component; empty where they are not known (a file without its JSON)
  int64_t snapshots = 0;  ///< 0: likewise
};

/// Checkpoints of `where`, a folder (its *.ckpt) or a pattern of file names: by epoch and step where their names say them, else by name. Throws ValueError where
/// there is none.
SINDRI_API std::vector<std::string> snapshot_files(const std::string& where);
/// The trained weights of a snapshot that holds a network alone (CheckpointConfig's saved_network): its float tensors but batch norm's moving statistics, in their
/// order. Throws CheckpointError for the state of a training run, whose optimizer's tensors are told from weights only by the network's settings.
SINDRI_API Columns snapshot_columns(const std::string& file);
/// The k first principal components of the weights of these checkpoints (mean removed), by the eigenvectors of their Gram matrix in float64: 2·N²·n operations.
/// Weights are found by name. At most memory_mb of rows are held at a time; files are read again for the rest. Throws ValueError for k < 1, and where the files
/// span fewer than k directions; CheckpointError for a file without these weights, or with others.
SINDRI_API Subspace principal_components(const std::vector<std::string>& files, const Columns& columns, int64_t k, int64_t memory_mb = 4096);
/// NumPy's form, float32 [k, n] in C order, and beside it PATH.json with names, shapes, ratios. Whole or not at all.
SINDRI_API void save_subspace(const std::string& path, const Subspace& subspace, const Columns& columns);
/// Throws IoError where it cannot be read, ValueError for another type or order of elements, another number of columns, less than k rows (more are cut), rows that
/// are not orthonormal to 1e-3, and names or shapes in the JSON (which may be missing) that are others.
SINDRI_API Subspace load_subspace(const std::string& path, const Columns& columns, int64_t k);

}  // namespace sindri::boost
