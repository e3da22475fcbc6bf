// Principal components of weight snapshots, and the file that stores them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <glob.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "sindri/boost/dim_reduce.h"
#include "sindri/core/error.h"
#include "sindri/core/log.h"
#include "sindri/ops/elementwise.h"
#include "sindri/ops/linalg.h"
#include "sindri/ops/matmul.h"
#include "sindri/ops/reduce.h"
#include "sindri/ops/shape.h"
#include "sindri/train/checkpoint.h"
#include "src/core/replaceable.h"
#include "src/train/atomic_file.h"

namespace sindri::boost {

namespace fs = std::filesystem;

int64_t column_count(const Columns& columns) {
  int64_t n = 0;
  for (const auto& [name, shape] : columns) n += shape.numel();
  return n;
}

std::vector<std::string> snapshot_files(const std::string& where) {
  std::vector<std::string> out;
  const std::string pattern = fs::is_directory(where) ? where + "/*.ckpt" : where;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; ++i) out.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  if (out.empty())
    throw ValueError(fmt::format("no file matches '{}'", pattern), "dim_reduce", "name the folder with the snapshots, or a pattern of their names");
  const auto key = [](const std::string& path) {
    static const std::regex form(R"(-(\d{1,15})_(\d{1,15})\.ckpt$)");
    std::smatch m;
    return std::regex_search(path, m, form) ? std::pair(std::stoll(m[1]), std::stoll(m[2])) : std::pair(-1LL, -1LL);
  };
  std::stable_sort(out.begin(), out.end(), [&](const std::string& a, const std::string& b) { return key(a) < key(b); });
  return out;
}

Columns snapshot_columns(const std::string& file) {
  const train::LoadedCheckpoint all = train::load_checkpoint(file);
  if (all.find("global_step") != nullptr || all.find("step_num") != nullptr)
    throw CheckpointError(ErrorCode::kCheckpointMismatch, "the file holds the state of a training run, not a network alone", file,
                          "name the network's settings (--config FILE), or use snapshots of weights");
  Columns out;
  for (const train::CheckpointEntry& e : all.entries) {
    const bool moving = e.name.ends_with("moving_mean") || e.name.ends_with("moving_variance");
    if (e.kind == train::CheckpointEntry::kTensor && is_floating(e.tensor.dtype()) && !moving) out.emplace_back(e.name, e.tensor.shape());
  }
  if (out.empty()) throw CheckpointError(ErrorCode::kCheckpointMismatch, "the file holds no weights", file, "name snapshots of a network");
  return out;
}

namespace {

using Rows = std::vector<std::vector<float>>;

// The weights of a checkpoint as one row.
std::vector<float> row_of(const std::string& file, const Columns& columns) {
  const train::LoadedCheckpoint all = train::load_checkpoint(file);
  std::vector<float> row;
  row.reserve(static_cast<size_t>(column_count(columns)));
  for (const auto& [name, shape] : columns) {
    const train::CheckpointEntry* e = all.find(name);
    if (e == nullptr || e->kind != train::CheckpointEntry::kTensor)
      throw CheckpointError(ErrorCode::kCheckpointMismatch, fmt::format("there is no weight '{}'", name), file,
                            "snapshots must be of the network that is trained");
    const bool one_number = shape.numel() == 1 && e->tensor.shape().numel() == 1;  // many programs store [] as [1]
    if (e->tensor.shape() != shape && !one_number)
      throw CheckpointError(ErrorCode::kCheckpointMismatch, fmt::format("'{}' is {}, the network's {}", name, e->tensor.shape().str(), shape.str()), file,
                            "snapshots must be of the network that is trained");
    for (const double v : e->tensor.to_vector<double>()) row.push_back(static_cast<float>(v));
  }
  for (const float v : row)
    if (!std::isfinite(v)) throw CheckpointError(ErrorCode::kCheckpointMismatch, "a weight is not finite", file, "omit this snapshot");
  return row;
}

// Reads rows minus the first file's row. Differences of weights are small compared with the weights, and so are the rounding errors of their products.
class Reader {
 public:
  Reader(const std::vector<std::string>& files, const Columns& columns) : files_(files), columns_(columns), first_(row_of(files[0], columns)) {}
  std::vector<float> operator()(size_t i) const {
    std::vector<float> row = i == 0 ? first_ : row_of(files_[i], columns_);
    for (size_t c = 0; c < row.size(); ++c) row[c] -= first_[c];
    return row;
  }

 private:
  const std::vector<std::string>& files_;
  const Columns& columns_;
  std::vector<float> first_;
};

double product(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Products of all pairs of rows. At any time `held` rows are in memory, plus the row that they are multiplied by.
std::vector<double> gram_of(const Reader& read, size_t rows, size_t held) {
  std::vector<double> k(rows * rows, 0);
  for (size_t begin = 0; begin < rows; begin += held) {
    const size_t end = std::min(rows, begin + held);
    Rows block;
    for (size_t i = begin; i < end; ++i) block.push_back(read(i));
    for (size_t j = begin; j < rows; ++j) {
      const std::vector<float> other = j < end ? std::vector<float>() : read(j);
      for (size_t i = begin; i < std::min(j + 1, end); ++i) k[i * rows + j] = k[j * rows + i] = product(block[i - begin], j < end ? block[j - begin] : other);
    }
  }
  return k;
}

// The matrix of centred rows: K - row means - column means + mean.
void centre(std::vector<double>* k, size_t n) {
  std::vector<double> mean(n, 0);
  double all = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) mean[i] += (*k)[i * n + j] / static_cast<double>(n);
    all += mean[i] / static_cast<double>(n);
  }
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) (*k)[i * n + j] += all - mean[i] - mean[j];
}

// One pass of modified Gram-Schmidt: removes the overlap that rounding left in the rows' products.
void orthonormalize(Rows* rows) {
  for (size_t i = 0; i < rows->size(); ++i) {
    std::vector<float>& r = (*rows)[i];
    for (size_t j = 0; j < i; ++j) {
      const double d = product(r, (*rows)[j]);
      for (size_t c = 0; c < r.size(); ++c) r[c] = static_cast<float>(static_cast<double>(r[c]) - d * static_cast<double>((*rows)[j][c]));
    }
    const double norm = std::sqrt(product(r, r));
    const float largest = *std::max_element(r.begin(), r.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    const double scale = (largest < 0 ? -1 : 1) / norm;
    for (float& v : r) v = static_cast<float>(static_cast<double>(v) * scale);
  }
}

}  // namespace

Subspace principal_components(const std::vector<std::string>& files, const Columns& columns, int64_t k, int64_t memory_mb) {
  if (k < 1) throw ValueError(fmt::format("the number of components must be at least 1, got {}", k), "dim_reduce");
  if (files.size() < static_cast<size_t>(k))
    throw ValueError(fmt::format("{} snapshots are fewer than {} components", files.size(), k), "dim_reduce",
                     "keep more snapshots, or ask for fewer components");
  const size_t rows = files.size();
  const int64_t bytes = std::max<int64_t>(1, 4 * column_count(columns));
  const auto held =
      static_cast<size_t>(std::clamp<int64_t>(memory_mb * (int64_t{1} << 20) / bytes - static_cast<int64_t>(k) - 2, 1, static_cast<int64_t>(rows)));
  const Reader read(files, columns);
  std::vector<double> gram = gram_of(read, rows, held);
  centre(&gram, rows);
  const auto n = static_cast<int64_t>(rows);
  const auto [values, vectors] = ops::eigh(Tensor::from_values({n, n}, gram, DType::kFloat64));  // ascending
  const std::vector<double> w = values.to_vector<double>(), u = vectors.to_vector<double>();
  double all = 0;
  for (const double v : w) all += std::max(v, 0.0);
  int64_t usable = 0;
  for (const double v : w) usable += v > 1e-10 * w.back() && v > 0 ? 1 : 0;
  if (usable < k)
    throw ValueError(fmt::format("{} snapshots span {} directions, fewer than {} components", rows, usable, k), "dim_reduce",
                     "keep more snapshots (at least one more than components), or ask for fewer components");
  Subspace out;
  out.snapshots = n;
  Rows p(static_cast<size_t>(k), std::vector<float>(static_cast<size_t>(column_count(columns)), 0.0f));
  std::vector<std::vector<double>> weights(static_cast<size_t>(k));  // u / sqrt(eigenvalue); each column sums to 0, so the mean row cancels
  for (int64_t c = 0; c < k; ++c) {
    const auto at = static_cast<size_t>(n - 1 - c);
    out.ratios.push_back(w[at] / all);
    for (size_t r = 0; r < rows; ++r) weights[static_cast<size_t>(c)].push_back(u[r * rows + at] / std::sqrt(w[at]));
  }
  for (size_t r = 0; r < rows; ++r) {
    const std::vector<float> row = read(r);
    for (size_t c = 0; c < p.size(); ++c) {
      const auto by = static_cast<float>(weights[c][r]);
      for (size_t i = 0; i < row.size(); ++i) p[c][i] += by * row[i];
    }
  }
  orthonormalize(&p);
  std::vector<float> flat;
  flat.reserve(p.size() * p[0].size());
  for (const std::vector<float>& row : p) flat.insert(flat.end(), row.begin(), row.end());
  out.components = Tensor::from_vector<float>({k, column_count(columns)}, flat);
  return out;
}

namespace {

// Hash of the matrix file's bytes.
class FileHash {
 public:
  FileHash() { XXH64_reset(state_.get(), 0); }
  void add(const void* data, size_t bytes) {
    XXH64_update(state_.get(), data, bytes);
    bytes_ += static_cast<int64_t>(bytes);
  }
  nlohmann::ordered_json json() const { return {{"bytes", bytes_}, {"xxh64", fmt::format("{:016x}", XXH64_digest(state_.get()))}}; }

 private:
  std::unique_ptr<XXH64_state_t, XXH_errorcode (*)(XXH64_state_t*)> state_{XXH64_createState(), XXH64_freeState};
  int64_t bytes_ = 0;
};

// Hash of the side file without the entry that stores it.
std::string hash_of(nlohmann::ordered_json side) {
  side.erase("xxh64");
  const std::string text = side.dump();
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

}  // namespace

void save_subspace(const std::string& path, const Subspace& s, const Columns& columns) {
  check_replaceable(path, FileKind::kNpy, "matrix of components");
  check_replaceable(path + ".json", FileKind::kJson, "list of columns");
  std::string dict = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", s.components.dim(0), s.components.dim(1));
  dict.resize((10 + dict.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  dict += '\n';
  train::AtomicFile file(path, "matrix of components");
  const auto length = static_cast<uint16_t>(dict.size());
  const char head[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(length & 255), static_cast<char>(length >> 8)};
  FileHash hash;
  const auto write = [&](const void* data, int64_t bytes) {
    file.write(data, bytes);
    hash.add(data, static_cast<size_t>(bytes));
  };
  write(head, sizeof head);
  write(dict.data(), static_cast<int64_t>(dict.size()));
  write(s.components.raw_data(), s.components.nbytes());
  file.commit();
  nlohmann::ordered_json j = {{"components", s.components.dim(0)}, {"snapshots", s.snapshots}, {"ratios", s.ratios}};
  for (const auto& [name, shape] : columns) j["columns"].push_back({{"name", name}, {"shape", std::vector<int64_t>(shape.begin(), shape.end())}});
  j["matrix"] = hash.json();
  j["xxh64"] = hash_of(j);
  train::write_file_atomically(path + ".json", j.dump(1) + "\n", "names of columns");
}

namespace {

// The header of a NumPy file; the elements follow.
struct Npy {
  std::ifstream file;
  int64_t rows = 0, columns = 0;
  bool wide = false;  ///< float64
};

Npy open_npy(const std::string& path) {
  Npy out{.file = std::ifstream(path, std::ios::binary)};
  std::ifstream& file = out.file;
  if (!file) throw IoError("cannot read the matrix of components", path, "check the path");
  const auto bad = [&](const std::string& what) {
    return ValueError(fmt::format("{}: {}", path, what), "dim_reduce", "give a matrix that NumPy saved with np.save");
  };
  char head[12] = {};
  file.read(head, 10);
  if (!file || std::memcmp(head, "\x93NUMPY", 6) != 0) throw bad("this is not a .npy file");
  const auto byte = [&](int i) { return static_cast<uint32_t>(static_cast<uint8_t>(head[i])); };
  uint32_t length = byte(8) | byte(9) << 8;
  if (head[6] > 1) {
    file.read(head + 10, 2);
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > 1 << 20) throw bad("its header is too long");
  std::string dict(length, ' ');
  file.read(dict.data(), length);
  std::smatch m;
  if (!std::regex_search(dict, m, std::regex(R"('descr': *'([^']+)')"))) throw bad("its header has no type");
  if (m[1] != "<f4" && m[1] != "<f8") throw bad(fmt::format("its elements are {}, not float32 or float64", m[1].str()));
  out.wide = m[1] == "<f8";
  if (dict.find("'fortran_order': False") == std::string::npos) throw bad("it is in Fortran order");
  if (!std::regex_search(dict, m, std::regex(R"('shape': *\((\d{1,15}), *(\d{1,15}),? *\))"))) throw bad("it is not a matrix");
  out.rows = std::stoll(m[1]), out.columns = std::stoll(m[2]);
  const auto here = file.tellg();
  file.seekg(0, std::ios::end);
  const auto there = static_cast<int64_t>(file.tellg() - here);
  if (out.columns != 0 && out.rows > there / (out.wide ? 8 : 4) / out.columns)
    throw bad(fmt::format("it is too short for its shape ({}, {})", out.rows, out.columns));
  if (const int64_t size = out.rows * out.columns * (out.wide ? 8 : 4); there != size)
    throw bad(fmt::format("its shape ({}, {}) has {} bytes, there are {}", out.rows, out.columns, size, there));
  file.seekg(here);
  return out;
}

// Side files written before hashes were introduced contain neither of the two hashes.
void check_hashes(const std::string& path, const nlohmann::ordered_json& side) {
  if (!side.contains("matrix") && !side.contains("xxh64")) return;
  const auto damaged = [](const std::string& file, const char* what) {
    return CheckpointError(ErrorCode::kCheckpointCorrupt, what, file, "use another copy of the matrix and its .json, or compute it again");
  };
  if (!side.contains("matrix") || !side.contains("xxh64") || side["xxh64"] != hash_of(side)) throw damaged(path + ".json", "the names of columns are damaged");
  FileHash hash;
  std::ifstream file(path, std::ios::binary);
  std::string block(size_t{1} << 20, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) hash.add(block.data(), static_cast<size_t>(file.gcount()));
  if (file.bad()) throw IoError("cannot read the matrix of components to its end", path, "check the disk");
  if (hash.json() != side["matrix"]) throw damaged(path, "the matrix of components is not the one that was saved with its .json");
}

void check_columns(const std::string& path, const Columns& columns) {
  if (!train::file_exists(path + ".json", "names of columns")) return;
  const auto j = nlohmann::ordered_json::parse(train::read_small_file(path + ".json", int64_t{64} << 20, "names of columns"), nullptr, false);
  if (!j.is_object() || !j.contains("columns"))
    throw ValueError(path + ".json does not name columns", "dim_reduce", "compute the matrix again, or remove that file");
  const auto& listed = j["columns"];
  const auto is_name_and_shape = [](const nlohmann::ordered_json& c) {
    return c.is_object() && c.contains("name") && c["name"].is_string() && c.contains("shape") && c["shape"].is_array() &&
        std::all_of(c["shape"].begin(), c["shape"].end(), [](const nlohmann::ordered_json& n) { return n.is_number_integer(); });
  };
  if (!listed.is_array() || !std::all_of(listed.begin(), listed.end(), is_name_and_shape))
    throw ValueError(path + ".json does not name columns by `name` and `shape`", "dim_reduce", "compute the matrix again, or remove that file");
  check_hashes(path, j);
  for (size_t i = 0; i < std::max(listed.size(), columns.size()); ++i) {
    const std::string name = i < listed.size() ? listed[i].value("name", "") : "nothing", own = i < columns.size() ? columns[i].first : "nothing";
    const bool same_shape = i < listed.size() && i < columns.size() &&
        listed[i].value("shape", std::vector<int64_t>()) == std::vector<int64_t>(columns[i].second.begin(), columns[i].second.end());
    if (name != own || !same_shape)
      throw ValueError(fmt::format("{} belongs to another network: its weight {} is '{}', this network's '{}'{}", path, i, name, own,
                                   name == own ? " with another shape" : ""),
                       "dim_reduce", "compute it from this network's snapshots");
  }
}

}  // namespace

Subspace load_subspace(const std::string& path, const Columns& columns, int64_t k) {
  Npy npy = open_npy(path);
  check_columns(path, columns);
  const int64_t n = column_count(columns);
  if (npy.columns != n || npy.rows < k)
    throw ValueError(fmt::format("{} is ({}, {}); needed are {} rows of {} weights", path, npy.rows, npy.columns, k, n), "dim_reduce",
                     "compute it from this network's snapshots, or ask for fewer components");
  Subspace out;
  out.components = Tensor::zeros({k, n}, DType::kFloat32);
  auto* const values = static_cast<float*>(out.components.mutable_raw_data());
  std::vector<double> row(npy.wide ? static_cast<size_t>(n) : 0);
  for (int64_t r = 0; r < k; ++r) {
    npy.file.read(npy.wide ? reinterpret_cast<char*>(row.data()) : reinterpret_cast<char*>(values + r * n), n * (npy.wide ? 8 : 4));
    std::transform(row.begin(), row.end(), values + r * n, [](double v) { return static_cast<float>(v); });
  }
  if (!npy.file) throw IoError("cannot read the matrix of components to its end", path, "check the disk");
  const std::vector<double> products = ops::matmul(out.components, out.components, false, true).to_vector<double>();
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < k; ++j)
      if (!(std::abs(products[static_cast<size_t>(i * k + j)] - (i == j ? 1 : 0)) <= 1e-3))
        throw ValueError(fmt::format("rows {} and {} of {} are not orthonormal: their product is {:.4g}", i, j, path, products[static_cast<size_t>(i * k + j)]),
                         "dim_reduce", "give principal components");
  return out;
}

}  // namespace sindri::boost
