// Embedding: rows of a table.
#include "sindri/nn/embedding.h"

#include <fmt/format.h>

#include <algorithm>

#include "sindri/core/error.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/shape.h"

namespace sindri::nn {

Embedding::Embedding(Options o) : Cell("Embedding"), options_(std::move(o)) {
  if (options_.vocab_size < 1) throw ValueError(fmt::format("Embedding: vocab_size must be given and at least 1, got {}", options_.vocab_size));
  if (options_.embedding_size < 1) throw ValueError(fmt::format("Embedding: embedding_size must be given and at least 1, got {}", options_.embedding_size));
  Tensor table = initializer(options_.embedding_table, {options_.vocab_size, options_.embedding_size});
  if (options_.padding_idx.has_value()) {
    const int64_t row = *options_.padding_idx;
    if (row < 0 || row >= options_.vocab_size) throw ValueError(fmt::format("Embedding: padding_idx {} is not in [0, {})", row, options_.vocab_size));
    std::fill_n(table.mutable_data<float>() + row * options_.embedding_size, options_.embedding_size, 0.0f);
  }
  table_ = &param("embedding_table", table);
}

Tensor Embedding::construct(const Tensor& ids) {
  if (!options_.use_one_hot) return ops::embedding(table_->value(), ids);
  Shape shape = ids.shape();
  shape.push_back(options_.embedding_size);
  const Tensor rows = ops::one_hot(ops::reshape(ids, {-1}), options_.vocab_size, 1, 0, table_->dtype());
  return ops::reshape(ops::matmul(rows, table_->value()), shape);
}

std::string Embedding::describe() const {
  return fmt::format("Embedding(vocab_size={}, embedding_size={}, use_one_hot={})", options_.vocab_size, options_.embedding_size, options_.use_one_hot);
}

}  // namespace sindri::nn
