// Running transforms of one column inside another one.
#pragma once

#include <string>

#include "dataset/row.h"
#include "dataset/transforms/pixel_op.h"
#include "sindri/dataset/augment.h"

namespace sindri::dataset {

/// The value behind all transforms of a chain; it lies in scratch.
Value run_chain(const vision::Chain& chain, RowCall& call, InnerDraws& draws, Value value);
ColumnInfo infer_chain(const vision::Chain& chain, ColumnInfo c);
/// What is known of a value that is one or the other.
ColumnInfo either_column(const ColumnInfo& a, const ColumnInfo& b);
/// Throws ValueError for an empty one, and for transforms of several columns.
void check_chain(const std::string& who, const vision::Chain& chain);
std::string chain_str(const vision::Chain& chain);

}  // namespace sindri::dataset
