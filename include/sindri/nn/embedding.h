// Embedding layer.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "sindri/nn/cell.h"
#include "sindri/nn/initializer.h"

namespace sindri::nn {

/// Options of Embedding.
struct EmbeddingOptions {
  int64_t vocab_size = 0;  ///< rows of the table; required
  int64_t embedding_size = 0;  ///< width of a row; required
  bool use_one_hot = false;  ///< computes a product with one-hot rows instead of selecting rows
  Init embedding_table = "normal";  ///< initial values of the table
  std::optional<int64_t> padding_idx = std::nullopt;  ///< this row is initialised to zeros
};

/// Looks up rows of a table by integer ids (MindSpore: nn.Embedding). Shape: ids of any shape -> that shape with a
/// trailing dimension of embedding_size. Parameter embedding_table [vocab_size, embedding_size].
class SINDRI_API Embedding final : public Cell {
 public:
  using Options = EmbeddingOptions;
  /// Throws ValueError for missing options and a padding_idx outside the table.
  explicit Embedding(Options o);
  static std::shared_ptr<Embedding> make(Options o) { return std::make_shared<Embedding>(std::move(o)); }
  Tensor construct(const Tensor& ids) override;
  std::string describe() const override;

 private:
  Options options_;
  Parameter* table_;
};

}  // namespace sindri::nn
