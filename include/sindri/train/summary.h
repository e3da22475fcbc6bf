// Event files in MindSpore's format: protobuf messages in TFRecord frames (mindspore-ai/mindspore:
// mindspore/ccsrc/utils/summary.proto, lineage.proto, anf_ir.proto).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sindri/export.h"

namespace sindri::train::summary {

/// CRC-32C (Castagnoli), and the form that TFRecord stores: rotated and offset, so that the checksum of data that holds checksums
/// stays well mixed.
SINDRI_API uint32_t crc32c(std::string_view data);
SINDRI_API uint32_t masked_crc32c(std::string_view data);

/// A Summary.Value of one number.
SINDRI_API std::string scalar_value(std::string_view tag, double value);
/// Elements of an array, in the widths of the file format.
using Elements = std::variant<std::span<const float>, std::span<const double>, std::span<const int64_t>>;
/// A Summary.Value of an array. `type` is the elements' NumPy name ("float16", with elements passed as float). Throws ValueError
/// for a type that the format lacks.
SINDRI_API std::string tensor_value(std::string_view tag, std::string_view type, const std::vector<int64_t>& shape, const Elements& elements);
/// A Summary.Value of the first image of [N, C, H, W] elements, with C = 1, 3 or 4, as PNG. Unless they are `bytes` (0 … 255),
/// elements are scaled to that range: from 0 … 1 if all lie within it, else from the smallest to the largest. Throws ValueError
/// for another shape.
SINDRI_API std::string image_value(std::string_view tag, const std::vector<int64_t>& shape, std::span<const double> elements, bool bytes);
/// A Summary.Value of the distribution of the elements, in equal bins; NaN and infinities are counted separately.
SINDRI_API std::string histogram_value(std::string_view tag, std::span<const double> elements);
/// A Summary.Value of a given LossLandscape message.
SINDRI_API std::string landscape_value(std::string_view tag, std::string_view message);
/// A Summary message of the given values.
SINDRI_API std::string summary(const std::vector<std::string>& values);

/// A parameter in a network's description.
struct GraphParameter {
  std::string name, type;  ///< type: NumPy's name
  std::vector<int64_t> shape;
};
/// A GraphProto that describes a network: one node per Cell, in the scope that its dotted name gives, and the parameters. `cells`
/// are pairs (dotted name, class); the outermost Cell's name is empty.
SINDRI_API std::string graph(const std::vector<std::pair<std::string, std::string>>& cells, const std::vector<GraphParameter>& parameters);

/// Facts: names with a number or a string each.
using Facts = std::vector<std::pair<std::string, std::variant<int64_t, double, std::string>>>;
/// The message of a plugin: "train_lineage", "eval_lineage", "custom_lineage_data" or "dataset_graph". Facts for which the
/// message has no field are omitted. Throws ValueError for another plugin.
SINDRI_API std::string lineage(std::string_view plugin, const Facts& facts);

/// An event file FOLDER/PREFIX.out.events.summary.SECONDS.HOSTSUFFIX, created with its first event. Only its owner can read it,
/// and it is read-only once closed.
class SINDRI_API EventFile {
 public:
  /// version: starts the file with an event that names the format. max_bytes: size limit, which the file never exceeds.
  EventFile(std::string folder, std::string prefix, std::string suffix, bool version, std::optional<int64_t> max_bytes);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;
  /// Appends an event of the plugin's kind: "graph", "explainer", "summary" or one of `lineage`. Returns false, and writes
  /// nothing, if the file would exceed its size limit. Throws IoError, and ValueError for another plugin.
  bool write(std::string_view plugin, std::string_view message, std::optional<int64_t> step = {});
  /// Closes the file. Throws IoError.
  void close();
  /// Path of the file; empty before the first event.
  const std::string& path() const { return path_; }

 private:
  void open();
  bool put(std::string_view event);
  std::string folder_, prefix_, suffix_, path_;
  bool version_, full_ = false;
  std::optional<int64_t> left_;
  int fd_ = -1;
};

}  // namespace sindri::train::summary
