// Checkpoints in MindSpore's .ckpt format: one protobuf message and one checksum per tensor. A crash during a save leaves the
// previous file intact.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sindri/core/tensor.h"
#include "sindri/export.h"
#include "sindri/op/parameter.h"

namespace sindri::train {

/// An entry: a tensor, a text, or bytes that only their writer understands (MindSpore 1.x's random_op). Later versions of
/// MindSpore cannot load a file with a bytes entry, so Sindri's own state is stored in UInt8 tensors instead.
struct SINDRI_API CheckpointEntry {
  enum Kind { kTensor, kText, kBytes };
  std::string name;  ///< unique in the file
  Kind kind = kTensor;  ///< which of the fields below is set
  Tensor tensor;  ///< for kTensor
  std::string data;  ///< UTF-8 text, or bytes
  /// "Int8", "Int16", "UInt16", "UInt32" or "UInt64" if the file's elements have a type that tensors lack: `tensor` then holds
  /// them in the next wider type (Int32, Int64). Empty otherwise.
  std::string stored_type = {};

  /// A tensor entry.
  static CheckpointEntry of(std::string name, const Tensor& t);
  /// A text entry; `value` is UTF-8.
  static CheckpointEntry text(std::string name, std::string value);
  /// Stored as MindSpore stores numbers: a scalar tensor of Int64 or Float64.
  static CheckpointEntry number(std::string name, int64_t value);
  static CheckpointEntry number(std::string name, double value);
};

/// Variants of the file format.
struct SaveOptions {
  /// Omits trailer and integrity entry and writes a .sum file next to the checkpoint, for MindSpore 1.x and 2.0 (setting
  /// checkpoint.compat).
  bool compat_mindspore1 = false;
  /// Larger payloads are split into adjacent values of the same tag, as in MindSpore. Only tests change it.
  int64_t slice_bytes = int64_t{512} << 20;
  /// Encryption: if set, it is called for each block of the plain file, and the file holds its results. A block has block_bytes
  /// bytes, the last one fewer. Throws ValueError together with compat_mindspore1, whose .sum file would describe the plain
  /// content.
  std::function<std::string(std::string_view)> seal = nullptr;
  int64_t block_bytes = int64_t{64} << 20;  ///< plain bytes of a block, for `seal`
};

/// Writes all entries to `path` (".ckpt" is added if missing; MindSpore: save_checkpoint). Returns the final path once the file
/// and its name are on disk. The file is read-only (0400), as MindSpore's are. It starts with the number of entries, the number
/// of bytes and a checksum per entry, in a field that MindSpore does not know and skips. Throws CheckpointError for invalid names
/// and unsupported values, and IoError if writing fails; a previous file of that name is then unchanged.
SINDRI_API std::string save_checkpoint(const std::vector<CheckpointEntry>& entries, const std::string& path, const SaveOptions& options = {});

/// Contents of a file, and whether they were verified.
struct SINDRI_API LoadedCheckpoint {
  std::string path;
  std::vector<CheckpointEntry> entries;  ///< in file order, without the integrity entry
  bool verified = false;  ///< whether checksums were present; if so they were checked
  std::string notice;  ///< "no integrity data" if the file has none

  /// The entry of that name; null if there is none.
  const CheckpointEntry* find(const std::string& name) const;
  /// Scalar and text entries. These throw CheckpointError if the entry is missing or of another kind.
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  const std::string& text(const std::string& name) const;
};

/// Reads a file tensor by tensor, with memory close to the size of the tensors (MindSpore: load_checkpoint). No byte of the file
/// is trusted. Messages refer to the file as `name`, or by its path if `name` is empty. Throws
/// CheckpointError(kCheckpointCorrupt) with the byte offset of damage, CheckpointError(kCheckpoint) for content that Sindri
/// cannot represent, and IoError if the file cannot be read.
SINDRI_API LoadedCheckpoint load_checkpoint(const std::string& path, const std::string& name = "");

/// Result of matching a network's names with a checkpoint's.
struct SINDRI_API LoadReport {
  /// An entry whose shape or type does not match its parameter.
  struct Mismatch {
    std::string name, expected, found;  ///< name, and the parameter's and the entry's type and shape
  };
  std::vector<std::string> loaded;  ///< in both, and assigned
  std::vector<std::string> missing;  ///< in the network only
  std::vector<std::string> unexpected;  ///< in the checkpoint only
  std::vector<Mismatch> mismatched;  ///< in both, with another shape or dtype
  std::vector<std::string> state;  ///< in the checkpoint only, but recognisable as training state: optimizer slots, counters, text entries
  std::string stripped_prefix;  ///< common prefix removed from the checkpoint's names; empty if none
  /// One line per name that was not loaded, with the nearest name on the other side (checkpoint or network).
  std::string table() const;
};

/// Assigns entries to parameters by name (MindSpore: load_param_into_net). A value is reshaped if only trailing dimensions of 1
/// differ. If no name matches, a common dotted prefix is removed from the checkpoint's names and matching is tried again. Strict:
/// a missing, unexpected or mismatched name throws CheckpointError(kCheckpointMismatch) with the table, and nothing is assigned.
/// Otherwise matching names are assigned, float widths are cast, and the report lists the rest.
SINDRI_API LoadReport load_param_into_net(const std::vector<std::pair<std::string, Parameter*>>& params, const LoadedCheckpoint& checkpoint,
                                          bool strict = true);

/// "PREFIX-EPOCH_STEP.ckpt"; both are counted from 1, the step within its epoch.
SINDRI_API std::string checkpoint_file_name(const std::string& prefix, int64_t epoch, int64_t step);
/// Path of the verified checkpoint with the highest epoch and step in `folder`, among files named PREFIX-EPOCH_STEP.ckpt (any
/// prefix if empty). Files without integrity data count only if no file verifies; damaged files are skipped with a warning. Empty
/// if there is no file of that name. dec_key and dec_mode: key and mode of encrypted files (cipher.h). Throws
/// CheckpointError(kCheckpointCorrupt) if all are damaged. Throws IoError if a file newer than the newest good one cannot be
/// read: a run that continued without it would overwrite it.
SINDRI_API std::string find_newest_checkpoint(const std::string& folder, const std::string& prefix = "", const std::string& dec_key = "",
                                              const std::string& dec_mode = "AES-GCM");

}  // namespace sindri::train
