// Embedding.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"

namespace sindri::nn {

/// Of Embedding: size of the table, initial values and the row for padding.
struct EmbeddingOptions {
  int64_t vocab_size = 0;  ///< required
  int64_t embedding_size = 0;  ///< required
  bool use_one_hot = false;  ///< compute by a product with one-hot rows
  Init embedding_table = "normal";
  std::optional<int64_t> padding_idx = std::nullopt;  ///< this row starts as zeros
};

/// ids of any shape -> ids.shape + [embedding_size]. Parameter embedding_table [vocab_size, embedding_size].
class SINDRI_API Embedding final : public Cell {
 public:
  using Options = EmbeddingOptions;
  explicit Embedding(Options o);
  static std::shared_ptr<Embedding> make(Options o) { return std::make_shared<Embedding>(std::move(o)); }
  Tensor construct(const Tensor& ids) override;
  std::string describe() const override;

 private:
  Options options_;
  Parameter* table_;
};

}  // namespace sindri::nn
