// Rows in memory (NumpySlices) or from a function (Generator).
#include <fmt/format.h>
#include <xxhash.h>

#include <chrono>
#include <mutex>

#include "dataset/node.h"
#include "sindri/core/log.h"
#include "src/core/fork.h"

namespace sindri::dataset {

namespace {

class SlicesSource : public Source {
 public:
  explicit SlicesSource(std::vector<std::pair<std::string, Tensor>> columns) : columns_(std::move(columns)) {
    if (columns_.empty()) throw ValueError("NumpySlicesDataset: expected at least one column, got none");
    for (auto& [name, t] : columns_) {
      if (!t.defined()) throw ValueError(fmt::format("NumpySlicesDataset: column '{}' is undefined", name));
      if (t.rank() < 1) throw ShapeError(fmt::format("NumpySlicesDataset: column '{}' is a scalar, it has no rows to slice", name));
      if (t.dim(0) != columns_[0].second.dim(0)) {
        throw ShapeError(
            fmt::format("NumpySlicesDataset: column '{}' has {} rows, column '{}' has {}", name, t.dim(0), columns_[0].first, columns_[0].second.dim(0)));
      }
      t = t.to({}).contiguous();
      Shape row = t.shape();
      row.erase(0);
      shapes_.push_back(row);
    }
  }
  std::string str() const override { return "NumpySlices"; }
  void open() override {
    for (const auto& [name, t] : columns_) {
      hash_ = XXH3_64bits_withSeed(name.data(), name.size(), hash_);
      if (t.nbytes() > 0) hash_ = XXH3_64bits_withSeed(t.raw_data(), static_cast<size_t>(t.nbytes()), hash_);
    }
  }
  int64_t rows() const override { return columns_[0].second.dim(0); }
  std::vector<ColumnInfo> columns() const override {
    std::vector<ColumnInfo> c;
    for (size_t i = 0; i < columns_.size(); ++i) c.push_back({columns_[i].first, columns_[i].second.dtype(), shapes_[i]});
    return c;
  }
  uint64_t listing_hash() const override { return hash_; }
  void read(uint64_t, int64_t row_id, Scratch&, std::span<Value> out) const override {
    for (size_t c = 0; c < out.size(); ++c) {
      out[c].dtype = columns_[c].second.dtype();
      out[c].shape = shapes_[c];
      out[c].data = static_cast<const uint8_t*>(columns_[c].second.raw_data()) + row_id * out[c].nbytes();
    }
  }
  std::string row_name(int64_t row_id) const override { return fmt::format("element {} of the arrays", row_id); }

 private:
  std::vector<std::pair<std::string, Tensor>> columns_;
  std::vector<Shape> shapes_;
  uint64_t hash_ = 0;
};

class GeneratorSource : public Source {
 public:
  explicit GeneratorSource(GeneratorDataset::Options o) : o_(std::move(o)) {
    if (o_.column_names.empty()) throw ValueError("GeneratorDataset: no column_names are given");
    if (static_cast<int>(static_cast<bool>(o_.row)) + static_cast<int>(static_cast<bool>(o_.row_of_pass)) + static_cast<int>(static_cast<bool>(o_.rows)) != 1)
      throw ValueError("GeneratorDataset: give one of row and row_of_pass (random access) and rows (sequential)");
    if (!o_.rows && !o_.size) throw ValueError("GeneratorDataset: row needs size, the number of rows");
    if (o_.size && *o_.size < 0) throw ValueError(fmt::format("GeneratorDataset: size must not be negative, got {}", *o_.size));
    if (!o_.column_types.empty() && o_.column_types.size() != o_.column_names.size())
      throw ValueError(fmt::format("GeneratorDataset: {} column_types for {} column_names", o_.column_types.size(), o_.column_names.size()));
  }
  std::string str() const override { return fmt::format("Generator({})", o_.rows ? "sequential" : "random access"); }

  void open() override {
    if (o_.size) {
      rows_ = *o_.size;
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    auto next = o_.rows();
    GeneratorDataset::Row row;
    while (next(&row)) ++rows_;
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    log::info("data", fmt::format("GeneratorDataset: counted {} rows in {:.2f} s; give size to avoid this", rows_, s));
  }
  int64_t rows() const override { return rows_; }
  std::vector<ColumnInfo> columns() const override {
    // Shapes may vary between rows; only the requested types are known.
    std::vector<ColumnInfo> c;
    for (size_t i = 0; i < o_.column_names.size(); ++i) {
      ColumnInfo info{o_.column_names[i], o_.column_types.empty() ? DType::kUInt8 : o_.column_types[i], {}};
      info.rank_known = false;
      info.dtype_known = !o_.column_types.empty();
      c.push_back(info);
    }
    return c;
  }
  uint64_t listing_hash() const override { return 0; }
  void read(uint64_t pass, int64_t row_id, Scratch& scratch, std::span<Value> out) const override {
    GeneratorDataset::Row row;
    const auto make = [&] { return o_.row ? o_.row(row_id) : o_.row_of_pass(row_id, static_cast<int64_t>(pass)); };
    if (o_.num_parallel_workers <= 1) {
      const std::lock_guard lock(mutex_.get());  // one call at a time unless the caller declares the function thread-safe
      row = make();
    } else {
      row = make();
    }
    check(&row);
    for (size_t c = 0; c < out.size(); ++c) {
      scratch.tensors.push_back(row[c]);
      out[c] = {static_cast<const uint8_t*>(row[c].raw_data()), row[c].dtype(), row[c].shape()};
    }
  }
  std::function<bool(std::vector<Tensor>*)> open_pass(uint64_t) const override {
    auto next = o_.rows();
    return [this, next](std::vector<Tensor>* row) {
      if (!next(row)) return false;
      check(row);
      return true;
    };
  }
  std::string row_name(int64_t row_id) const override { return fmt::format("generated row {}", row_id); }
  bool native() const override { return false; }
  bool sequential() const override { return static_cast<bool>(o_.rows); }

 private:
  void check(GeneratorDataset::Row* row) const {
    if (row->size() != o_.column_names.size())
      throw ValueError(fmt::format("GeneratorDataset: the function returned {} values for {} column_names", row->size(), o_.column_names.size()));
    for (size_t c = 0; c < row->size(); ++c) {
      Tensor& t = (*row)[c];
      if (!t.defined()) throw ValueError(fmt::format("GeneratorDataset: column '{}' is an undefined tensor", o_.column_names[c]));
      t = t.contiguous();
      if (o_.column_types.empty() || t.dtype() == o_.column_types[c]) continue;
      t = transforms::TypeCast(o_.column_types[c])(t);
    }
  }
  GeneratorDataset::Options o_;
  mutable PerProcess<std::mutex> mutex_;
  int64_t rows_ = 0;
};

}  // namespace

Dataset::Ptr NumpySlicesDataset::make(Options o) {
  OrderSpec order = make_order("NumpySlicesDataset", o.num_samples, o.shuffle, o.sampler, o.num_shards, o.shard_id);
  return make_source(std::make_shared<SlicesSource>(std::move(o.columns)), std::move(order), o.num_parallel_workers);
}

Dataset::Ptr GeneratorDataset::make(Options o) {
  if (o.rows && (o.sampler || o.shuffle.value_or(false) || o.num_shards)) {
    throw ValueError("GeneratorDataset: a sequential source does not support a sampler, shuffle or shards", "",
                     "give row and size for random access, or mix rows with shuffle(buffer_size)");
  }
  const std::optional<bool> shuffle = o.rows ? std::optional<bool>(false) : o.shuffle;
  OrderSpec order = make_order("GeneratorDataset", o.num_samples, shuffle, o.sampler, o.num_shards, o.shard_id);
  const int workers = o.num_parallel_workers;
  return make_source(std::make_shared<GeneratorSource>(std::move(o)), std::move(order), workers);
}

}  // namespace sindri::dataset
