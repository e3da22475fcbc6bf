// Cells that hold Cells, and Flatten.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sindri/nn/cell.h"

namespace sindri::nn {

/// Calls its Cells in sequence (MindSpore: nn.SequentialCell). Children are named "0", "1", … or as given. An empty
/// SequentialCell returns its input.
class SINDRI_API SequentialCell final : public Cell {
 public:
  /// Cells in order of their calls. Throws ValueError for a null Cell.
  explicit SequentialCell(std::vector<CellPtr> cells = {});
  /// Cells with names. Throws ValueError for a null Cell, and for a name that is empty, repeated or contains a dot.
  explicit SequentialCell(std::vector<std::pair<std::string, CellPtr>> cells);
  static std::shared_ptr<SequentialCell> make(std::vector<CellPtr> cells) { return std::make_shared<SequentialCell>(std::move(cells)); }
  /// Takes Cells of different classes: SequentialCell::make(nn::Flatten::make(), nn::Dense::make({…})).
  template <class... C> static std::shared_ptr<SequentialCell> make(std::shared_ptr<C>... cells) {
    return std::make_shared<SequentialCell>(std::vector<CellPtr>{CellPtr(std::move(cells))...});
  }
  Value construct_values(Span<const Value> in) override;
  std::string describe() const override;
  /// Adds a Cell at the end, named by its position.
  void append(CellPtr cell);
  /// Number of Cells.
  size_t size() const { return children().size(); }
  /// Cell at position i. Throws ValueError if i is out of range.
  CellPtr operator[](size_t i) const;
};

/// A list of Cells with children "0", "1", … (MindSpore: nn.CellList). Calling it throws ValueError.
class SINDRI_API CellList final : public Cell {
 public:
  /// Cells in order. Throws ValueError for a null Cell.
  explicit CellList(std::vector<CellPtr> cells = {});
  static std::shared_ptr<CellList> make(std::vector<CellPtr> cells = {}) { return std::make_shared<CellList>(std::move(cells)); }
  Value construct_values(Span<const Value> in) override;
  std::string describe() const override;
  /// Adds a Cell at the end, named by its position.
  void append(CellPtr cell);
  /// Adds several Cells at the end.
  void extend(const std::vector<CellPtr>& cells);
  /// Number of Cells.
  size_t size() const { return children().size(); }
  /// Cell at position i. Throws ValueError if i is out of range.
  CellPtr operator[](size_t i) const;
};

/// Options of Flatten: the dimensions to merge.
struct FlattenOptions {
  int64_t start_dim = 1, end_dim = -1;  ///< first and last dimension to merge; negative ones count from the end
};

/// Merges dimensions start_dim to end_dim; by default all but the first (MindSpore: nn.Flatten).
class SINDRI_API Flatten final : public Cell {
 public:
  using Options = FlattenOptions;
  explicit Flatten(Options o = {}) : Cell("Flatten"), options_(o) {}
  static std::shared_ptr<Flatten> make(Options o = {}) { return std::make_shared<Flatten>(o); }
  Tensor construct(const Tensor& x) override;

 private:
  Options options_;
};

}  // namespace sindri::nn
