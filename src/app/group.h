// The ranks of a run, as the verbs see them: which rank this is, what rank 0 does for all, and how the others learn that one has failed.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "sindri/app/settings.h"
#include "sindri/comm/communicator.h"
#include "sindri/dataset/dataset.h"
#include "src/train/append_file.h"

namespace sindri::app {

class Group {
 public:
  /// Joins the ranks that this process was started with, and compares the settings with theirs. With dist.parallel_mode stand_alone, or if started alone, this
  /// is one rank and nothing below costs anything. The program leaves the ranks by comm::finalize(). Throws the same errors as comm::init, and
  /// CommError(kCommMismatch) if the settings differ.
  explicit Group(const Settings& settings);

  int rank() const { return several() ? world_->rank() : 0; }
  int size() const { return several() ? world_->size() : 1; }
  bool several() const { return world_ != nullptr && world_->size() > 1; }
  bool first() const { return rank() == 0; }
  /// Null for one rank.
  comm::Communicator* world() const { return several() ? world_ : nullptr; }
  /// Returns the device that this rank trains on if `asked` is the requested device. Several ranks on a host's GPUs get one each. A rank that is set to the CPU
  /// uses the CPU.
  Device device(Device asked, const Settings& settings) const;
  /// "[3/8 host]"
  std::string label() const;
  /// "8 ranks on 2 hosts (gloo)"
  std::string text() const;

  /// Runs `f` on rank 0 only and returns its text on every rank; an exception of `f` is thrown on every rank.
  std::string from_first(const char* what, const std::function<std::string()>& f) const;
  /// Returns the first signal that any rank has received, rank 0's before the others'; 0: none.
  int any_signal(int mine) const;
  /// Tells the other ranks why this rank ends, so that none of them waits for it. Has no effect for an error that all ranks have.
  void tell(const std::exception& e) const noexcept;

 private:
  comm::Communicator* world_ = nullptr;
};

/// The log of a rank other than 0: log_RANK.txt in the run folder, or in the working directory if its host cannot access that folder. Lines start with
/// Group::label. Lines that cannot be written are lost, and so are those before open() if the run is refused.
class RankLog {
 public:
  RankLog(const Group& group, const std::string& folder);
  /// Creates the file once the run starts.
  void open();
  void line(const std::string& text);

 private:
  std::string label_, path_, before_;
  std::unique_ptr<train::AppendFile> file_;
};

/// The rows of the data that a rank reads.
struct Parts {
  int64_t virtual_ranks = 1;  ///< virtual ranks that form the global batch
  int64_t first = 0, count = 1;  ///< this rank's first virtual rank, and the number of its virtual ranks
  int64_t rank = 0, ranks = 1;
};
/// `virtual_ranks`: 0 for as many as ranks. Throws CommError(kLayout) if the number of ranks does not divide it.
Parts parts_of(const Group& group, int64_t virtual_ranks);

}  // namespace sindri::app
