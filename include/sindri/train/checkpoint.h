// Checkpoints in MindSpore's .ckpt form: one protobuf message per tensor, checksums of every tensor, saved so that a crash at any
// moment leaves the previous file whole.
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

/// One entry: a tensor, a text, or bytes that only their writer understands (MindSpore 1.x's random_op; later MindSpore cannot load a
/// file that holds such an entry, so state of our own goes into UInt8 tensors instead).
struct SINDRI_API CheckpointEntry {
  enum Kind { kTensor, kText, kBytes };
  std::string name;
  Kind kind = kTensor;
  Tensor tensor;
  std::string data;  ///< UTF-8 text, or bytes
  /// "Int8", "Int16", "UInt16", "UInt32" or "UInt64" where the file's elements are of a type tensors do not have: `tensor` holds them in the
  /// next wider one (Int32, Int64). Empty otherwise.
  std::string stored_type = {};

  static CheckpointEntry of(std::string name, const Tensor& t);
  static CheckpointEntry text(std::string name, std::string value);
  /// Stored as MindSpore stores numbers: a scalar tensor of Int64 or Float64.
  static CheckpointEntry number(std::string name, int64_t value);
  static CheckpointEntry number(std::string name, double value);
};

/// Variants of the file form.
struct SaveOptions {
  /// Without trailer and integrity entry, with a .sum file beside it: for MindSpore 1.x and 2.0 (setting checkpoint.compat).
  bool compat_mindspore1 = false;
  /// Payloads above this are split into adjacent values of the same tag, as MindSpore does. Only tests change it.
  int64_t slice_bytes = int64_t{512} << 20;
  /// When set, the file holds what this makes of the plain bytes, block by block: encryption. Blocks have block_bytes, the last one less.
  /// Not beside compat_mindspore1 (ValueError), whose .sum file would describe the content in plain.
  std::function<std::string(std::string_view)> seal = nullptr;
  int64_t block_bytes = int64_t{64} << 20;
};

/// Writes all entries to `path` (".ckpt" is added when missing) and returns the final path once the file and its name are on
/// disk. The finished file is read-only (0400), as MindSpore's are. The number of entries and of bytes and a checksum per entry
/// lead the file, in a field that MindSpore does not know and passes over. Throws CheckpointError for
/// bad names or unsupported values, IoError when the disk refuses: then a previous file of that name is unchanged.
SINDRI_API std::string save_checkpoint(const std::vector<CheckpointEntry>& entries, const std::string& path, const SaveOptions& options = {});

/// A file's entries, and whether they were checked.
struct SINDRI_API LoadedCheckpoint {
  std::string path;
  std::vector<CheckpointEntry> entries;  ///< in file order, without the integrity entry
  bool verified = false;  ///< checksums were present; they are always checked
  std::string notice;  ///< "no integrity data" when the file carries none

  const CheckpointEntry* find(const std::string& name) const;
  /// Scalar and text entries. Throw CheckpointError when the entry is missing or of another kind.
  int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  const std::string& text(const std::string& name) const;
};

/// Reads a file tensor by tensor; memory stays near the size of the tensors. Every byte is treated as hostile. Throws
/// CheckpointError(kCheckpointCorrupt) with byte offset for damage, CheckpointError(kCheckpoint) for what Sindri cannot hold,
/// IoError when the file cannot be read. Messages call it `name`, or by its path when that is empty.
SINDRI_API LoadedCheckpoint load_checkpoint(const std::string& path, const std::string& name = "");

/// What became of the names of a network and of a checkpoint.
struct SINDRI_API LoadReport {
  /// An entry whose shape or type does not fit its parameter.
  struct Mismatch {
    std::string name, expected, found;
  };
  std::vector<std::string> loaded;
  std::vector<std::string> missing;  ///< in the network only
  std::vector<std::string> unexpected;  ///< in the checkpoint only
  std::vector<Mismatch> mismatched;  ///< in both, shape or dtype differ
  std::vector<std::string> state;  ///< in the checkpoint only, but plainly training state: optimizer slots, counters, texts
  std::string stripped_prefix;  ///< common prefix that had to be removed from the checkpoint's names, if any
  /// One line per name that was not loaded, with the nearest name of the other side.
  std::string table() const;
};

/// Assigns entries to parameters by name (MindSpore: load_param_into_net). A value is reshaped when only trailing dimensions of 1
/// differ. Strict: a missing, unexpected or mismatched name throws CheckpointError(kCheckpointMismatch) with the table, and
/// nothing is assigned. Otherwise names that fit are assigned, float widths are cast, and the report says what was left out.
/// When not a single name fits, one common dotted prefix is taken off the checkpoint's names and matching is tried again.
SINDRI_API LoadReport load_param_into_net(const std::vector<std::pair<std::string, Parameter*>>& params, const LoadedCheckpoint& checkpoint,
                                          bool strict = true);

/// "PREFIX-EPOCH_STEP.ckpt", both counted from 1, the step within its epoch.
SINDRI_API std::string checkpoint_file_name(const std::string& prefix, int64_t epoch, int64_t step);
/// Path of the checkpoint with the highest epoch and step in `folder` that verifies, among files named PREFIX-EPOCH_STEP.ckpt (any
/// prefix when empty); files without integrity data count only when none verifies. Damaged ones are skipped with a warning. Empty when
/// there is no file of that name. Throws CheckpointError(kCheckpointCorrupt) when all are damaged, and IoError when one that is newer than
/// the newest good one cannot be read: a training that went on without it would overwrite it. dec_key and dec_mode: of encrypted files (cipher.h).
SINDRI_API std::string find_newest_checkpoint(const std::string& folder, const std::string& prefix = "", const std::string& dec_key = "",
                                              const std::string& dec_mode = "AES-GCM");

}  // namespace sindri::train
