// Runs transforms of one column inside another transform.
#pragma once

#include <string>

#include "dataset/row.h"
#include "dataset/transforms/pixel_op.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

/// The value after all transforms of a chain, in scratch.
Value run_chain(const vision::Chain& chain, RowCall& call, InnerDraws& draws, Value value);
ColumnInfo infer_chain(const vision::Chain& chain, ColumnInfo c);
/// The common properties of a value that may be one or the other.
ColumnInfo either_column(const ColumnInfo& a, const ColumnInfo& b);
/// Throws ValueError for an empty chain, and for transforms of several columns.
void check_chain(const std::string& who, const vision::Chain& chain);
std::string chain_str(const vision::Chain& chain);

}  // namespace sindri::dataset
